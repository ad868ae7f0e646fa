"""Starter suites: cases made from a procedure's own schemas, for people to go on from. Pure.

Every case was judged before it is given out, so a new suite passes. The exception is a way through a workflow that
nobody could guess results for: its case says what to fill in, and passes only when someone did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pawl.conformance.starter_values import suited_inputs
from pawl.conformance.starter_walks import MAX_PATH, input_variants, outcome_walks, way_to
from pawl.errors import Faulty
from pawl.ids import Name
from pawl.problems import Fault
from pawl.procedures.examples import NoExampleError, example
from pawl.procedures.procedure import Procedure
from pawl.procedures.render import render
from pawl.procedures.schema import Validator, closed, compile_schema, fill_defaults
from pawl.procedures.schema_tree import resolve_pointer
from pawl.procedures.workflow import reachable_outcomes

MAX_CASES = 40
MAX_WRONG_TYPES = 15
"""Arguments of a wrong type; the cases without a required argument come first."""
_OF_TYPE: tuple[tuple[str, Any], ...] = (
    ("string", "a text"),
    ("number", 0.5),
    ("boolean", True),
    ("array", []),
    ("object", {}),
    ("null", None),
)
_ID_SIGNS = "._-"

Case = dict[str, Any]


def starter_suite(procedure: Procedure, closure: Mapping[Name, Procedure] | None = None) -> dict[str, Any]:
    """Return the document of a suite about ``procedure``; raises ``Faulty`` where a person must write it.

    A minimal call or minimal inputs are accepted and refused without each required part, calls also with each argument
    of a wrong type; a workflow is walked to each outcome that results can be guessed for, with calls and results that
    go with ``closure``: what it requires, by name.
    """
    made = _MAKERS[procedure.kind](procedure, closure or {})
    cases = [_numbered(case, turn) for turn, case in _turns(made)]
    return {"suite": procedure.name, "about": procedure.name, "cases": cases[:MAX_CASES]}


def _turns(cases: Iterator[Case]) -> Iterator[tuple[int, Case]]:
    seen: dict[str, int] = {}
    for case in cases:
        seen[case["id"]] = seen.get(case["id"], 0) + 1
        yield seen[case["id"]], case


def _numbered(case: Case, turn: int) -> Case:
    return case if turn == 1 else {**case, "id": f"{case['id'][:120]}.{turn}"}


def _tool_cases(procedure: Procedure, _: Mapping[Name, Procedure]) -> Iterator[Case]:
    schema = procedure.spec["inputSchema"]
    call = _example(procedure, schema, "inputSchema")
    validator = compile_schema(schema)
    yield {"id": "minimal-call-is-accepted", "call": call, "assert": [{"type": "accepted"}]}
    for name, less in _without_each(call):
        if not validator.is_valid(less):
            yield {"id": _case_id("without", name), "call": less, "assert": [{"type": "rejected"}]}
    for name, wrong in _wrong_types(schema, call, validator):
        yield {"id": _case_id("wrong-type", name), "call": wrong, "assert": [{"type": "rejected"}]}


def _prompt_cases(procedure: Procedure, _: Mapping[Name, Procedure]) -> Iterator[Case]:
    schema = closed(procedure.spec.get("inputs") or {})
    inputs = _example(procedure, schema, "inputs")
    try:
        render(procedure, inputs)
    except Faulty as error:
        message = f"a starter for {procedure.name} cannot be made: with minimal inputs {error}"
        raise _impossible(message, "write the suite by hand, with inputs that can be rendered") from None
    yield {"id": "minimal-inputs-render", "inputs": inputs, "assert": [{"type": "accepted"}]}
    validator = compile_schema(schema)
    for name, less in _without_each(inputs):
        if not validator.is_valid(fill_defaults(schema, less)):
            yield {"id": _case_id("without", name), "inputs": less, "assert": [{"type": "rejected"}]}


def _workflow_cases(procedure: Procedure, closure: Mapping[Name, Procedure]) -> Iterator[Case]:
    spec = procedure.spec
    schema = closed(spec.get("inputs") or {})
    inputs = dict(suited_inputs(spec, schema, _example(procedure, schema, "inputs"), closure))
    found = outcome_walks(spec, input_variants(spec, schema, inputs), closure)
    for outcome in reachable_outcomes(spec):
        case: Case = {"id": _case_id("ends", outcome)}
        expected: list[dict[str, Any]] = [{"type": "outcome", "value": outcome}]
        if outcome in found:
            walked = found[outcome]
            case["inputs"], given = walked.inputs, walked.given
            expected += [{"type": "path", "value": list(walked.path)}] if len(walked.path) <= MAX_PATH else []
        else:
            case["inputs"] = inputs
            way = way_to(spec, outcome)
            given = {step: f"FILL IN: a result with which {step} goes on to {target}" for step, target in way}
        case |= {"given": given} if given else {}
        yield {**case, "assert": expected}


_MAKERS: Mapping[str, Callable[[Procedure, Mapping[Name, Procedure]], Iterator[Case]]] = {
    "prompt": _prompt_cases,
    "tool": _tool_cases,
    "workflow": _workflow_cases,
}


def _without_each(values: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in sorted(values):
        yield name, {key: value for key, value in values.items() if key != name}


def _wrong_types(
    schema: Mapping[str, Any], call: Mapping[str, Any], validator: Validator
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the call with one argument of a type that its property does not have, where that is refused."""
    properties = schema.get("properties")
    made = 0
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        types = _types(inner, schema)
        wrong = [{**call, name: value} for kind, value in _OF_TYPE if types and kind not in types]
        refused = next((changed for changed in wrong if not validator.is_valid(changed)), None)
        if refused is not None and made < MAX_WRONG_TYPES:
            made += 1
            yield name, refused


def _types(schema: Any, root: Mapping[str, Any]) -> frozenset[str]:
    if isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str):
        node = resolve_pointer(root, schema["$ref"])
        schema = node.schema if node is not None else schema
    named = schema.get("type") if isinstance(schema, Mapping) else None
    types = {named} if isinstance(named, str) else set(named) if isinstance(named, list) else set()
    return frozenset(types | ({"number"} if "integer" in types else set()))


def _example(procedure: Procedure, schema: Mapping[str, Any], field: str) -> dict[str, Any]:
    try:
        made = example(schema)
    except NoExampleError as error:
        message = f"a starter for {procedure.name} cannot be made: {error}"
        raise _impossible(message, _hint(schema, field), at=("spec", field)) from None
    if not isinstance(made, dict):
        message = f"a starter for {procedure.name} cannot be made: it takes no object"
        raise _impossible(message, _hint(schema, field), at=("spec", field))
    return made


def _hint(schema: Mapping[str, Any], field: str) -> str:
    """Say where an example is missing: at each required part for which none is found, or at the root."""
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    hard = [name for name in schema.get("required") or () if name in known and not _can(known[name], schema)]
    where = ", ".join(f"{field}.properties.{name}" for name in hard[:10]) or f"the root of {field}"
    return f"give an examples entry to {where}, or write the suite by hand"


def _can(schema: Any, root: Mapping[str, Any]) -> bool:
    if not isinstance(schema, Mapping):
        return schema is not False
    definitions = {key: root[key] for key in ("$schema", "$defs", "definitions") if key in root}
    try:
        example({**definitions, **schema})
    except ValueError:
        return False
    return True


def _impossible(message: str, hint: str, at: tuple[str, ...] = ()) -> Faulty:
    return Faulty((Fault(code="starter-impossible", message=message, hint=hint, at=at),))


def _case_id(word: str, name: str) -> str:
    safe = "".join(sign if sign.isascii() and (sign.isalnum() or sign in _ID_SIGNS) else "-" for sign in name)
    return f"{word}-{safe.strip('-._') or 'it'}"[:120].rstrip(_ID_SIGNS)
