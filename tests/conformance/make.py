"""Small builders for the tests of conformance."""

from __future__ import annotations

from typing import Any

from pawl.canonical import digest_of
from pawl.conformance.assertions import Assertion, split
from pawl.conformance.outcomes import CaseResult, Outcome, SuiteResult
from pawl.conformance.plain import ABSENT
from pawl.conformance.suites import Suite, read_suite
from pawl.ids import Name, Version
from pawl.procedures.procedure import Procedure

PROMPT_SPEC: dict[str, Any] = {
    "inputs": {
        "type": "object",
        "properties": {"order_id": {"type": "string"}, "amount": {"type": "number"}},
        "required": ["order_id", "amount"],
        "additionalProperties": False,
    },
    "messages": [
        {"role": "system", "content": "Keep {braces} and {{ other }} as they are."},
        {"role": "user", "content": "Refund {{ amount }} for order {{ order_id }}."},
    ],
}
TOOL_SPEC: dict[str, Any] = {
    "description": "Says whether an order can be refunded.",
    "inputSchema": {
        "type": "object",
        "properties": {"order_id": {"type": "string"}},
        "required": ["order_id"],
        "additionalProperties": False,
    },
    "outputSchema": {"type": "object", "properties": {"eligible": {"type": "boolean"}}, "required": ["eligible"]},
    "annotations": {"readOnlyHint": True},
    "effects": ["orders:read"],
}
WORKFLOW_SPEC: dict[str, Any] = {
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
        {"id": "drafted", "end": {"outcome": "drafted", "output": {"order": "${{ inputs.order_id }}"}}},
        {"id": "denied", "end": {"outcome": "denied"}},
    ],
    "budget": {"max_steps": 6},
}


def procedure(kind: str, name: str, spec: dict[str, Any], version: str = "1.0.0") -> Procedure:
    document: dict[str, Any] = {"kind": kind, "name": name, "version": version, "spec": spec}
    return Procedure(
        kind=kind, name=Name(name), version=Version(version), document=document, digest=digest_of(document)
    )


def prompt(**spec: Any) -> Procedure:
    return procedure("prompt", "support/refund-draft", {**PROMPT_SPEC, **spec})


def tool(**spec: Any) -> Procedure:
    return procedure("tool", "support/check-eligibility", {**TOOL_SPEC, **spec})


def workflow(**spec: Any) -> Procedure:
    return procedure("workflow", "support/refund", {**WORKFLOW_SPEC, **spec})


def suite(about: str, *cases: dict[str, Any], name: str = "house", **fields: Any) -> Suite:
    return read_suite({"suite": name, "about": about, "cases": list(cases), **fields})


def assertion(name: str, value: Any = ABSENT, **fields: Any) -> Assertion:
    bare, negated = split(name)
    return Assertion(type=bare, negated=negated, value=value, **fields)


def result_of(of: Suite, about: Procedure, *outcomes: Outcome, partial: bool = False) -> SuiteResult:
    """Return a result with these outcomes for the first cases of a suite."""
    return SuiteResult(
        suite=of.name,
        suite_digest=of.digest,
        about=about.ref,
        subject=about.digest,
        cases=tuple(
            CaseResult(id=case.id, outcome=outcome, reasons=() if outcome == "passed" else ("because",))
            for case, outcome in zip(of.cases, outcomes, strict=False)
        ),
        partial=partial,
    )
