"""Short ways to documents and changes, for the tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pawl.changes.compare import compare
from pawl.changes.schemas import compare_schemas
from pawl.changes.values import Change, Comparison, Side
from pawl.problems import pointer


def tool(**spec: Any) -> dict[str, Any]:
    """Return a tool; ``inputSchema`` takes anything unless it is given."""
    return {
        "kind": "tool",
        "name": "orders/lookup",
        "version": "1.0.0",
        "spec": {"description": "Looks up an order.", "inputSchema": {"type": "object"}, **spec},
    }


def prompt(*contents: str, roles: Iterable[str] = (), **spec: Any) -> dict[str, Any]:
    """Return a prompt of user messages, or of messages with ``roles``."""
    given = tuple(roles) or ("user",) * len(contents)
    messages = [{"role": role, "content": content} for role, content in zip(given, contents, strict=True)]
    return {
        "kind": "prompt",
        "name": "orders/answer",
        "version": "1.0.0",
        "spec": {"messages": messages or [{"role": "user", "content": "Answer."}], **spec},
    }


def workflow(*steps: dict[str, Any], requires: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """Return a workflow."""
    return {
        "kind": "workflow",
        "name": "orders/refund",
        "version": "1.0.0",
        "requires": requires or {},
        "spec": {"steps": list(steps), **spec},
    }


def end(name: str, outcome: str | None = None) -> dict[str, Any]:
    return {"id": name, "end": {"outcome": outcome or name}}


def rows(changes: Iterable[Change]) -> set[tuple[str, str, str]]:
    """Return code, path and level of every change."""
    return {(change.code, pointer(change.path), change.level) for change in changes}


def codes(changes: Iterable[Change]) -> list[str]:
    return sorted(change.code for change in changes)


def schema_rows(old: Any, new: Any, side: Side = "input") -> set[tuple[str, str, str]]:
    return rows(compare_schemas(old, new, side=side))


def highest(changes: Iterable[Change]) -> str:
    levels = {change.level for change in changes}
    return next((level for level in ("major", "minor", "patch") if level in levels), "none")


def compared(old: dict[str, Any], new: dict[str, Any], **options: Any) -> Comparison:
    return compare(old, new, **options)
