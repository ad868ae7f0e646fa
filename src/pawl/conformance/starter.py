"""Starter suites: cases made from a procedure's own schemas, for people to go on from. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pawl.errors import Faulty
from pawl.problems import Fault
from pawl.procedures.examples import NoExampleError, example
from pawl.procedures.procedure import Procedure
from pawl.procedures.schema import closed, compile_schema, fill_defaults
from pawl.procedures.walk import Call, next_step
from pawl.procedures.workflow import reachable_outcomes

MAX_CASES = 40
MAX_CALLS = 200


def starter_suite(procedure: Procedure) -> dict[str, Any]:
    """Return the document of a suite about ``procedure``; raises ``Faulty`` where a person must write it.

    A minimal call is accepted and refused without each required argument; a workflow is walked to an end.
    """
    makers = {"tool": _tool_cases, "prompt": _prompt_cases, "workflow": _workflow_cases}
    cases = makers[procedure.kind](procedure)
    return {"suite": procedure.name, "about": procedure.name, "cases": cases[:MAX_CASES]}


def _tool_cases(procedure: Procedure) -> list[dict[str, Any]]:
    schema = procedure.spec["inputSchema"]
    call = _example(procedure, schema)
    cases = [{"id": "minimal-call-is-accepted", "call": call, "assert": [{"type": "accepted"}]}]
    validator = compile_schema(schema)
    for name in sorted(call):
        less = {key: value for key, value in call.items() if key != name}
        if not validator.is_valid(less):
            cases.append({"id": _case_id("without", name), "call": less, "assert": [{"type": "rejected"}]})
    return cases


def _prompt_cases(procedure: Procedure) -> list[dict[str, Any]]:
    schema = closed(procedure.spec.get("inputs") or {})
    inputs = _example(procedure, schema)
    validator = compile_schema(schema)
    cases = [{"id": "minimal-inputs-render", "inputs": inputs, "assert": [{"type": "accepted"}]}]
    for name in sorted(inputs):
        less = {key: value for key, value in inputs.items() if key != name}
        if not validator.is_valid(fill_defaults(schema, less)):
            cases.append({"id": _case_id("without", name), "inputs": less, "assert": [{"type": "rejected"}]})
    return cases


def _workflow_cases(procedure: Procedure) -> list[dict[str, Any]]:
    inputs = _example(procedure, closed(procedure.spec.get("inputs") or {}))
    cases = []
    for result in ({}, "a result", True, {"eligible": True, "ok": True, "found": True}):
        walked = _walked(procedure.spec, inputs, result)
        if walked is not None:
            given, path, outcome = walked
            seen = [{"type": "outcome", "value": outcome}, {"type": "path", "value": path}]
            case: dict[str, Any] = {"id": _case_id("ends", outcome), "inputs": inputs}
            case |= {"given": given} if given else {}
            cases.append({**case, "assert": seen})
    unique = {case["id"]: case for case in reversed(cases)}
    if not unique:
        outcomes = ", ".join(reachable_outcomes(procedure.spec))
        message = f"no results were guessed with which {procedure.name} comes to an end ({outcomes})"
        hint = "write a case with given: {STEP: RESULT} for the steps that are asked about in when"
        raise Faulty((Fault(code="starter-impossible", message=message, hint=hint),))
    return [unique[key] for key in sorted(unique)]


def _walked(
    spec: Mapping[str, Any], inputs: Mapping[str, Any], result: Any
) -> tuple[dict[str, Any], list[str], str] | None:
    """Walk with the same result for every call; None where it leads to no end."""
    results: list[tuple[str, Any]] = []
    for _ in range(MAX_CALLS):
        try:
            following = next_step(spec, inputs, results)
        except Faulty:
            return None
        if not isinstance(following, Call):
            given = dict(results)
            return given, [*(step for step, _ in results), following.step], following.outcome
        results.append((following.step, result))
    return None


def _example(procedure: Procedure, schema: Mapping[str, Any]) -> dict[str, Any]:
    try:
        made = example(schema)
    except NoExampleError as error:
        message = f"a starter for {procedure.name} cannot be made: {error}"
        hint = "give the schema an examples entry, or write the suite by hand"
        raise Faulty((Fault(code="starter-impossible", message=message, hint=hint),)) from None
    if not isinstance(made, dict):
        raise Faulty((Fault(code="starter-impossible", message=f"{procedure.name} takes no object"),))
    return made


def _case_id(word: str, name: str) -> str:
    safe = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "-" for char in name).strip("-._")
    return f"{word}-{safe or 'it'}"[:128]
