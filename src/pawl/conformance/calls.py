"""The calls that a workflow case makes, beside the versions that the workflow requires.

A call that the required version refuses is a fault of the workflow. A scripted result that it could never return is a
fault of the suite: whatever the walk does with it says nothing. What is not in the closure is passed over; that it is
missing is told elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from pawl.conformance.plain import parse_json
from pawl.ids import Name
from pawl.problems import Fault
from pawl.procedures.call import check_call, check_result
from pawl.procedures.procedure import Procedure
from pawl.procedures.render import check_prompt_inputs
from pawl.procedures.schema import Validator, compile_schema, fill_defaults
from pawl.procedures.walk import Call, check_inputs
from pawl.procedures.workflow import CALLS

MAX_TOLD = 20
"""Calls of one walk that are told of; a loop can make thousands."""


def refused_calls(calls: Iterable[Call], closure: Mapping[Name, Procedure]) -> tuple[str, ...]:
    """Return a sentence for each call that what is called refuses."""
    found: dict[str, None] = {}
    for call in calls:
        callee = closure.get(Name(call.name))
        for why in _refusals(call, callee) if callee is not None and len(found) < MAX_TOLD else ():
            found[f"step {call.step} calls {callee.ref if callee else call.name}, which refuses it: {why}"] = None
    return tuple(found)


def _refusals(call: Call, callee: Procedure) -> Iterator[str]:
    if callee.kind != call.kind:
        yield f"it is a {callee.kind}, and the step calls a {call.kind}"
        return
    yield from (fault.message for fault in _call_faults(callee, call.arguments))


def _call_faults(callee: Procedure, arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
    match callee.kind:
        case "tool":
            return check_call(callee, arguments)
        case "prompt":
            return check_prompt_inputs(callee, arguments)
        case _:
            return check_inputs(callee.spec, fill_defaults(callee.spec.get("inputs") or {}, arguments))


def impossible_results(
    spec: Mapping[str, Any], given: Mapping[str, Any], closure: Mapping[Name, Procedure]
) -> tuple[str, ...]:
    """Return a sentence for each scripted result that the version which is called can never return."""
    found: list[str] = []
    for step in spec["steps"]:
        called = next(((kind, step[kind]) for kind in CALLS if step.get(kind) is not None), None)
        callee = closure.get(Name(called[1])) if called is not None else None
        if callee is not None and called is not None and callee.kind == called[0] and step["id"] in given:
            faults = _result_faults(callee, given[step["id"]])
            found += (
                f"given for step {step['id']} can never be returned by {callee.ref}: {fault.message}"
                for fault in faults[:1]
            )
    return tuple(found)


def can_return(callee: Procedure, result: Any) -> bool:
    """Whether a version can return a result; one that promises nothing can return anything."""
    return not _result_faults(callee, result)


def refuses_argument(callee: Procedure, name: str, value: Any) -> bool:
    """Whether a version refuses one argument, whatever stands beside it."""
    return any(fault.at[:1] == (name,) for fault in _call_faults(callee, {name: value}))


def _result_faults(callee: Procedure, result: Any) -> tuple[Fault, ...]:
    if callee.kind == "tool":
        return check_result(callee, result)
    return answer_faults(callee, result) if callee.kind == "prompt" else ()


def answer_faults(prompt: Procedure, answer: Any) -> tuple[Fault, ...]:
    """Return what is wrong with an answer to a prompt; nothing where the prompt promises no output.

    A recorded answer is text: what it spells is judged where the text itself is not what the schema wants.
    """
    validator = _output_validator(prompt)
    faults = validator.faults(answer) if validator else ()
    if validator and faults and isinstance(answer, str):
        try:
            return validator.faults(parse_json(answer))
        except ValueError as error:
            return (*faults, Fault(code="answer-no-json", message=f"and as JSON it does not read: {error}"))
    return faults


@lru_cache(maxsize=256)
def _output_validator(procedure: Procedure) -> Validator | None:
    schema = procedure.spec.get("output")
    return None if schema is None else compile_schema(schema)
