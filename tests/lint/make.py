"""Procedures to lint: small, clean, and easy to bend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pawl.lint.check import lint_procedure
from pawl.lint.profiles import Profile
from pawl.lint.settings import LintSettings
from pawl.problems import Fault
from pawl.procedures.procedure import Procedure
from pawl.procedures.read import read_procedure

HEAD = {"version": "1.0.0", "summary": "Checks.", "owner": "payments"}
CLOSED: Mapping[str, Any] = {"type": "object", "additionalProperties": False}


def tool(path: str = "orders/check", *, schema: Mapping[str, Any] | None = None, **spec: Any) -> Procedure:
    """Return a tool; ``schema`` is laid over an empty, closed input schema."""
    whole = {"description": "Checks an order.", "inputSchema": {**CLOSED, **(schema or {})}, **spec}
    return read_procedure({**HEAD, "kind": "tool", "name": path, "spec": whole})


def prompt(*messages: tuple[str, str], names: Iterable[str] = (), **spec: Any) -> Procedure:
    """Return a prompt of messages, as role and content, whose inputs are all required texts."""
    inputs = {**CLOSED, "properties": {name: {"type": "string"} for name in names}, "required": list(names)}
    listed = [{"role": role, "content": content} for role, content in messages]
    whole = {"inputs": inputs, "messages": listed, **spec}
    return read_procedure({**HEAD, "kind": "prompt", "name": "orders/draft", "spec": whole})


def found(procedure: Procedure, *profiles: Profile, prefixes: tuple[str, ...] = ()) -> tuple[Fault, ...]:
    return lint_procedure(procedure, LintSettings(profiles=profiles, prefixes=prefixes))


def codes(procedure: Procedure, *profiles: Profile, prefixes: tuple[str, ...] = ()) -> list[str]:
    return [fault.code for fault in found(procedure, *profiles, prefixes=prefixes)]
