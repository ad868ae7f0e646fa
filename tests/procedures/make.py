"""Documents to test with: small, valid, and easy to bend."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from pawl.errors import Faulty
from pawl.problems import Fault, Place
from pawl.procedures.procedure import Procedure
from pawl.procedures.read import read_procedure

GONE = object()
"""Takes a field away where a change is written down."""

PROMPT: Mapping[str, Any] = {
    "kind": "prompt",
    "name": "support/refund-draft",
    "version": "1.0.0",
    "summary": "Drafts a refund for a person to approve.",
    "owner": "payments",
    "labels": {"domain": "refunds", "risk": "high"},
    "requires": {},
    "changes": "First version.",
    "extensions": {},
    "spec": {
        "inputs": {
            "type": "object",
            "properties": {"order_id": {"type": "string"}, "amount": {"type": "number"}},
            "required": ["order_id", "amount"],
            "additionalProperties": False,
        },
        "template": "simple",
        "messages": [
            {"role": "system", "content": "..."},
            {"role": "user", "content": "Refund {{ amount }} for order {{ order_id }}."},
        ],
        "output": {"type": "object"},
        "model": {"name": "any", "temperature": 0},
        "budget": {"tokens": 1200},
    },
}
TOOL: Mapping[str, Any] = {
    "kind": "tool",
    "name": "support/check-eligibility",
    "version": "1.2.0rc1",
    "summary": "Says whether an order can be refunded.",
    "owner": "payments",
    "spec": {
        "title": "Check",
        "description": "Says whether an order can be refunded.",
        "inputSchema": {
            "type": "object",
            "properties": {"order_id": {"type": "string"}, "lines": {"type": "array", "items": {"type": "integer"}}},
            "required": ["order_id"],
            "additionalProperties": False,
        },
        "outputSchema": {"type": "object", "properties": {"eligible": {"type": "boolean"}}, "required": ["eligible"]},
        "annotations": {"readOnlyHint": True},
        "effects": ["orders:read"],
        "binding": {"python": "pkg.mod:func"},
    },
}
WORKFLOW: Mapping[str, Any] = {
    "kind": "workflow",
    "name": "support/refund",
    "version": "2.0.0",
    "summary": "From a request to a draft.",
    "owner": "payments",
    "requires": {"support/check-eligibility": ">=1,<2", "support/refund-draft": ">=1,<2"},
    "spec": {
        "inputs": {
            "type": "object",
            "properties": {"order_id": {"type": "string"}, "amount": {"type": "number"}},
            "required": ["order_id", "amount"],
        },
        "steps": [
            {
                "id": "eligibility",
                "tool": "support/check-eligibility",
                "with": {"order_id": "${{ inputs.order_id }}"},
                "switch": [{"when": "result.eligible", "then": "draft"}, {"then": "denied"}],
            },
            {
                "id": "draft",
                "prompt": "support/refund-draft",
                "with": {"order_id": "${{ inputs.order_id }}", "amount": "${{ inputs.amount }}"},
                "then": "drafted",
            },
            {"id": "drafted", "end": {"outcome": "drafted"}},
            {"id": "denied", "end": {"outcome": "denied"}},
        ],
        "budget": {"max_steps": 12},
    },
}
DOCUMENTS: Mapping[str, Mapping[str, Any]] = {"prompt": PROMPT, "tool": TOOL, "workflow": WORKFLOW}


def changed(document: Mapping[str, Any], *changes: tuple[Place, Any]) -> dict[str, Any]:
    """Return a copy of a document with other values at some places; ``GONE`` takes one away."""
    made: dict[str, Any] = deepcopy(dict(document))
    for at, value in changes:
        here: Any = made
        for part in at[:-1]:
            here = here[part]
        if value is GONE:
            del here[at[-1]]
        else:
            here[at[-1]] = value
    return made


def faults_of(document: Any) -> tuple[Fault, ...]:
    """Return the faults that reading a document finds; none if it reads."""
    try:
        read_procedure(document)
    except Faulty as error:
        return error.faults
    return ()


def prompt(content: str, *, template: str = "simple", **spec: Any) -> Procedure:
    """Return a prompt of one message."""
    messages = [{"role": "user", "content": content}]
    whole = {"template": template, "messages": messages, **spec}
    return read_procedure({"kind": "prompt", "name": "a", "version": "1.0.0", "spec": whole})


def open_inputs(*names: str) -> dict[str, Any]:
    """Return inputs that are all required and may be anything."""
    return {"type": "object", "properties": dict.fromkeys(names, True), "required": list(names)}
