"""Calls of tools: whether arguments and results fit the pinned schemas, and what clients are told of a tool."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pawl.problems import Fault
from pawl.procedures.procedure import Procedure
from pawl.procedures.schema import Validator, compile_schema, not_json
from pawl.procedures.schema_quick import surely_fits
from pawl.procedures.words import shown

DEFAULT_HINTS: Mapping[str, bool] = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": False,
    "openWorldHint": True,
}
"""MCP's defaults for hints that are absent (specification 2026-07-28, ToolAnnotations)."""


def check_call(tool: Procedure, arguments: Any) -> tuple[Fault, ...]:
    """Return everything that is wrong with the arguments of a call, each at its place in them."""
    if not isinstance(arguments, Mapping):
        message = f"expected the arguments of a call, which are a mapping, found {shown(arguments)}"
        return (Fault(code="call-invalid", message=message),)
    given = dict(arguments)
    if not_json(given) is None and surely_fits(tool.spec["inputSchema"], given):
        return ()
    return _validator(tool, "inputSchema").faults(given, code="call-invalid")


def check_result(tool: Procedure, result: Any) -> tuple[Fault, ...]:
    """Return everything that is wrong with a result; nothing where the tool promises no output schema."""
    if tool.spec.get("outputSchema") is None:
        return ()
    if not_json(result) is None and surely_fits(tool.spec["outputSchema"], result):
        return ()
    return _validator(tool, "outputSchema").faults(result, code="result-invalid")


def exported_name(tool: Procedure) -> str:
    """Return the name under which clients know the tool."""
    name: str = tool.spec.get("name") or tool.name.rpartition("/")[2]
    return name


def effective_hints(annotations: Mapping[str, Any] | None) -> dict[str, bool]:
    """Return every hint of a tool's annotations with its effective value."""
    given = annotations or {}
    return {name: default if given.get(name) is None else bool(given[name]) for name, default in DEFAULT_HINTS.items()}


@lru_cache(maxsize=256)
def _validator(tool: Procedure, which: str) -> Validator:
    return compile_schema(tool.spec[which])
