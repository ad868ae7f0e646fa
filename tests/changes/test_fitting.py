"""Whether workflows fit what they call: a table of steps and callees, and laws over random schemas.

- Where nothing is said of a call, the call is accepted: of literals at once, of paths with every value that the
  declared schema allows.
- Where a path is called a misfit, no value that it may hold is accepted.
- Nothing is ever raised.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from changes.make import end, prompt, tool, workflow
from changes.schemas import anything, dice, document, instance
from pawl.canonical import digest_of
from pawl.changes.fitting import find_misfits, misfits
from pawl.ids import Name, Version
from pawl.problems import Fault, pointer
from pawl.procedures.call import check_call
from pawl.procedures.procedure import Procedure
from pawl.procedures.schema import compile_schema
from pawl.procedures.walk import walk

T = "orders/tool"
SEEDS = st.integers(min_value=0, max_value=2**40)


def named(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {**document, "name": name}


def takes(closed: bool = True, **properties: Any) -> dict[str, Any]:
    """Return an object schema; a name that ends in ``_`` is optional."""
    declared = {name.rstrip("_"): schema for name, schema in properties.items()}
    required = [name for name in properties if not name.endswith("_")]
    found = {"type": "object", "properties": declared, "required": required}
    return {**found, "additionalProperties": False} if closed else found


def calls(arguments: Any, *, inputs: Any = None, **step: Any) -> dict[str, Any]:
    """Return a workflow of one call."""
    kind = step.pop("kind", "tool")
    first = {"id": "one", kind: T, "with": arguments, "then": "done", **step}
    return workflow(first, end("done"), inputs=takes(order={"type": "string"}) if inputs is None else inputs)


def found(caller: Mapping[str, Any], *callees: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return code and place of everything that is said."""
    faults = misfits(caller, {callee["name"]: callee for callee in callees})
    return [(fault.code, pointer(fault.at)) for fault in faults]


WITH = "/spec/steps/0/with"
TEXT, NUMBER, WHOLE = {"type": "string"}, {"type": "number"}, {"type": "integer"}
ORDER = "${{ inputs.order }}"
EITHER = {"anyOf": [takes(a=TEXT), takes(b=NUMBER)]}
ARGUMENTS: list[tuple[str, Any, Any, Any, list[tuple[str, str]]]] = [
    # what, with, inputs (None: order is a text), inputSchema, what is said
    ("a path that fits", {"order": ORDER}, None, takes(order=TEXT), []),
    ("a literal that fits", {"n": 3}, None, takes(n=WHOLE), []),
    ("a literal of another type", {"n": "three"}, None, takes(n=WHOLE), [("call-misfit", f"{WITH}/n")]),
    ("a literal among paths", {"n": 0, "order": ORDER}, None, takes(n={"minimum": 1}, order=TEXT),
     [("call-misfit", f"{WITH}/n")]),
    ("an undeclared name", {"order": ORDER, "x": 1}, None, takes(order=TEXT), [("call-misfit", f"{WITH}/x")]),
    ("an undeclared name alone", {"x": 1}, None, takes(), [("call-misfit", f"{WITH}/x")]),
    ("an undeclared name, open", {"order": ORDER, "x": 1}, None, takes(False, order=TEXT), []),
    ("a missing argument", {"order": ORDER}, None, takes(order=TEXT, currency=TEXT), [("call-incomplete", WITH)]),
    ("a missing argument alone", {}, None, takes(order=TEXT), [("call-incomplete", WITH)]),
    ("disjoint types", {"order": ORDER}, None, takes(order=NUMBER), [("call-misfit", f"{WITH}/order")]),
    ("disjoint lists", {"order": ORDER}, takes(order={"enum": ["a", "b"]}), takes(order={"enum": ["c"]}),
     [("call-misfit", f"{WITH}/order")]),
    ("a narrower taker", {"order": ORDER}, None, takes(order={"type": "string", "minLength": 1}),
     [("call-doubtful", f"{WITH}/order")]),
    ("a wider taker", {"order": ORDER}, takes(order={"enum": ["a"]}), takes(order=TEXT), []),
    ("number for integer", {"order": ORDER}, takes(order=NUMBER), takes(order=WHOLE),
     [("call-doubtful", f"{WITH}/order")]),
    ("integer for number", {"order": ORDER}, takes(order=WHOLE), takes(order=NUMBER), []),
    ("an input of any type", {"order": ORDER}, takes(order={}), takes(order=TEXT),
     [("call-doubtful", f"{WITH}/order")]),
    ("or null", {"order": ORDER}, takes(order={"type": ["string", "null"]}), takes(order=TEXT),
     [("call-doubtful", f"{WITH}/order")]),
    ("an optional input is told elsewhere", {"order": ORDER}, takes(order_=TEXT), takes(order=TEXT), []),
    ("a path into a mapping", {"order": "${{ inputs.order.id }}"}, takes(order=takes(id=NUMBER)), takes(order=TEXT),
     [("call-misfit", f"{WITH}/order")]),
    ("all inputs", {"all": "${{ inputs }}"}, None, takes(all=takes(order=TEXT)), []),
    ("all inputs, misfit", {"all": "${{ inputs }}"}, None, takes(all=TEXT), [("call-misfit", f"{WITH}/all")]),
    ("another expression says nothing", {"order": "${{ inputs.order + 'x' }}"}, None, takes(order=NUMBER), []),
    ("expressions in a text are a text", {"order": "no ${{ inputs.order }}"}, None, takes(order=NUMBER),
     [("call-misfit", f"{WITH}/order")]),
    ("and maybe the right one", {"order": "no ${{ inputs.order }}"}, None, takes(order={"pattern": "^n"}), []),
    ("inside a mapping", {"q": {"order": ORDER, "n": 1}}, None, takes(q=takes(order=TEXT, n=WHOLE)), []),
    ("inside a mapping, missing", {"q": {"order": ORDER}}, None, takes(q=takes(order=TEXT, n=WHOLE)),
     [("call-incomplete", f"{WITH}/q")]),
    ("inside a mapping, undeclared", {"q": {"order": ORDER, "x": 1}}, None, takes(q=takes(order=TEXT)),
     [("call-misfit", f"{WITH}/q/x")]),
    ("a mapping for a text", {"q": {"order": ORDER}}, None, takes(q=TEXT), [("call-misfit", f"{WITH}/q")]),
    ("inside a list", {"q": [1, ORDER]}, None, takes(q={"type": "array", "items": NUMBER}),
     [("call-misfit", f"{WITH}/q/1")]),
    ("a list that is too long", {"q": [ORDER, ORDER]}, None, takes(q={"type": "array", "maxItems": 1}),
     [("call-misfit", f"{WITH}/q")]),
    ("a list for a mapping", {"q": [ORDER]}, None, takes(q={"type": "object"}), [("call-misfit", f"{WITH}/q")]),
    ("one alternative fits", {"a": ORDER}, None, EITHER, []),
    ("no alternative fits", {"b": ORDER}, None, EITHER, [("call-misfit", f"{WITH}/b")]),
    ("a needed partner is there", {"a": ORDER, "b": 1}, None,
     {"type": "object", "dependentRequired": {"a": ["b"]}}, []),
    ("a needed partner is not", {"a": ORDER}, None,
     {"type": "object", "dependentRequired": {"a": ["b"]}}, [("call-incomplete", WITH)]),
    ("one of two names", {"a": ORDER}, None,
     {**takes(a_=TEXT, b_=TEXT), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, []),
    ("both of which are too many", {"a": ORDER, "b": "x"}, None,
     {**takes(a_=TEXT, b_=TEXT), "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, [("call-incomplete", WITH)]),
    ("a condition on values", {"a": ORDER}, None,
     {**takes(a_=TEXT), "if": {"properties": {"a": {"const": "x"}}}, "then": {"required": ["b"]}},
     [("call-doubtful", WITH)]),
    ("a condition on values of which nothing is known", {"a": "${{ inputs.order + 'x' }}"}, None,
     {**takes(a_=TEXT), "if": {"properties": {"a": {"const": "x"}}}, "then": {"required": ["b"]}}, []),
    ("too many names", {"a": ORDER, "b": 1}, None, {"type": "object", "maxProperties": 1}, [("call-misfit", WITH)]),
    ("typed rest", {"a": ORDER}, None, {"type": "object", "additionalProperties": NUMBER},
     [("call-misfit", f"{WITH}/a")]),
    ("behind references", {"a": ORDER}, None,
     {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": NUMBER}},
     [("call-misfit", f"{WITH}/a")]),
    ("of draft-07", {"a": ORDER}, None,
     {"$schema": "http://json-schema.org/draft-07/schema#", **takes(a={"$ref": "#/definitions/n"}),
      "definitions": {"n": NUMBER}},
     [("call-misfit", f"{WITH}/a")]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "inputs", "schema", "said"), [row[1:] for row in ARGUMENTS], ids=[row[0] for row in ARGUMENTS]
)
def test_arguments(arguments: Any, inputs: Any, schema: Any, said: list[tuple[str, str]]) -> None:
    assert found(calls(arguments, inputs=inputs), named(tool(inputSchema=schema), T)) == said


CALLS: list[tuple[str, dict[str, Any], dict[str, Any], list[tuple[str, str]]]] = [
    ("a prompt's inputs are closed", calls({"x": 1}, kind="prompt"), prompt("a", inputs={"properties": {"a": TEXT}}),
     [("call-misfit", f"{WITH}/x")]),
    ("a tool's are not", calls({"x": 1}), tool(), []),
    ("a prompt input that is not given", calls({}, kind="prompt"), prompt("a", inputs=takes(a=TEXT)),
     [("call-incomplete", WITH)]),
    ("one with a default is filled in", calls({"b": ORDER}, kind="prompt"),
     prompt("a", inputs=takes(a={"type": "string", "default": "x"}, b=TEXT)), []),
    ("a tool's default is not", calls({"b": ORDER}),
     tool(inputSchema=takes(a={"type": "string", "default": "x"}, b=TEXT)), [("call-incomplete", WITH)]),
    ("a workflow's inputs", calls({"a": ORDER}, kind="workflow"), workflow(end("e"), inputs=takes(a=NUMBER)),
     [("call-misfit", f"{WITH}/a")]),
    ("without inputs", calls({"a": ORDER}, kind="workflow"), workflow(end("e")), [("call-misfit", f"{WITH}/a")]),
    ("a prompt where a tool is called", calls({}), prompt("a", inputs=takes(a=TEXT)),
     [("call-wrong-kind", "/spec/steps/0/tool")]),
]  # fmt: skip


@pytest.mark.parametrize(("caller", "callee", "said"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS])
def test_kinds(caller: dict[str, Any], callee: dict[str, Any], said: list[tuple[str, str]]) -> None:
    assert found(caller, named(callee, T)) == said


def test_a_step_without_with() -> None:
    step = {"id": "one", "tool": T, "then": "done"}
    assert found(workflow(step, end("done")), named(tool(inputSchema=takes(a=TEXT)), T)) == [
        ("call-incomplete", "/spec/steps/0")
    ]


OUT = takes(ok={"type": "boolean"}, note_=TEXT, more_=takes(deep=NUMBER))
READS: list[tuple[str, str, Any, list[str]]] = [
    # what, expression in a switch, outputSchema, what is said
    ("declared", "result.ok", OUT, []),
    ("never given", "result.fine", OUT, ["result-misfit"]),
    ("by brackets", "result['fine'] == 1", OUT, ["result-misfit"]),
    ("not declared, open", "result.fine", takes(False, ok=TEXT), ["result-doubtful"]),
    ("no mapping at all", "result.ok", TEXT, ["result-misfit"]),
    ("perhaps absent", "result.note == 'x'", OUT, ["result-doubtful"]),
    ("asked for", "has(result.note) && result.note == 'x'", OUT, []),
    ("asked for in another way", "'note' in result && result.note == 'x'", OUT, []),
    ("asked for, never given", "has(result.fine) && result.fine == 'x'", OUT, []),
    ("deep", "has(result.more) && result.more.deep > 1", OUT, []),
    ("deep, never given", "has(result.more) && result.more.wide > 1", OUT, ["result-misfit"]),
    ("deep, not asked for", "result.more.deep > 1", OUT, ["result-doubtful"]),
    ("or null", "result.ok", {"anyOf": [OUT, {"type": "null"}]}, ["result-doubtful"]),
    ("in some alternatives", "result.a", {"anyOf": [takes(a=TEXT), takes(b=TEXT)]}, ["result-doubtful"]),
    ("in all alternatives", "result.a", {"anyOf": [takes(a=TEXT), takes(a=NUMBER)]}, []),
    ("in none", "result.c", {"anyOf": [takes(a=TEXT), takes(b=TEXT)]}, ["result-misfit"]),
    ("behind a condition", "result.c", {"type": "object", "if": {"required": ["a"]}, "then": takes(False, c=TEXT)}, []),
    ("a typed map", "result.c", {"type": "object", "additionalProperties": TEXT}, ["result-doubtful"]),
    ("nothing promised", "result.whatever", None, []),
    ("hidden by a loop", "inputs.order.exists(result, result.fine == 1)", OUT, []),
    ("through steps", "steps.one.fine", OUT, ["result-misfit"]),
]


@pytest.mark.parametrize(("when", "schema", "said"), [row[1:] for row in READS], ids=[row[0] for row in READS])
def test_results_in_conditions(when: str, schema: Any, said: list[str]) -> None:
    branches = [{"when": when, "then": "done"}, {"then": "done"}]
    step = {"id": "one", "tool": T, "switch": branches}
    callee = named(tool() if schema is None else tool(outputSchema=schema), T)
    caller = workflow(step, end("done"), inputs=takes(order={"type": "array"}))
    assert found(caller, callee) == [(code, "/spec/steps/0/switch/0/when") for code in said]


def test_results_as_arguments_and_at_the_end() -> None:
    first = {"id": "one", "tool": T, "then": "two"}
    arguments = {"a": "${{ steps.one.ok }}", "b": "${{ steps.one.fine }}", "c": "${{ steps.one }}"}
    second = {"id": "two", "prompt": "orders/say", "with": arguments, "then": "done"}
    last = {"id": "done", "end": {"outcome": "done", "output": {"x": "${{ result.z }}", "y": "${{ steps.one.z }}"}}}
    say = named(prompt("a", inputs=takes(a=TEXT, b=TEXT, c=OUT), output=takes(y=TEXT)), "orders/say")
    caller = workflow(first, second, last)
    said = find_misfits(caller, {T: named(tool(outputSchema=OUT), T), "orders/say": say})
    assert [(item.fault.code, pointer(item.fault.at), sorted(item.callees)) for item in said] == [
        ("call-misfit", "/spec/steps/1/with/a", ["orders/say", T]),
        ("result-misfit", "/spec/steps/1/with/b", [T]),
        ("result-misfit", "/spec/steps/2/end/output/x", ["orders/say"]),
        ("result-misfit", "/spec/steps/2/end/output/y", [T]),
    ]
    assert "orders/tool@1.0.0 gives" in said[0].fault.message


def test_what_is_said_names_step_callee_and_consequence() -> None:
    (fault,) = misfits(calls({"order": ORDER}), {T: named(tool(inputSchema=takes(order=TEXT, unit=TEXT)), T)})
    assert fault == Fault(
        code="call-incomplete",
        message="the step one gives orders/tool@1.0.0 no unit, which it requires: the call is refused",
        at=("spec", "steps", 0, "with"),
    )


def test_nothing_is_said_of_what_is_unknown_or_never_called() -> None:
    caller = calls({"x": 1})
    assert misfits(caller, {}) == ()
    assert misfits(tool(), {T: tool()}) == ()
    lost = {"id": "lost", "tool": T, "with": {"x": 1}, "then": "done"}
    assert found(workflow(end("done"), lost), named(tool(inputSchema=takes()), T)) == []


def test_a_circle_of_references_ends() -> None:
    schema = {"type": "object", "properties": {"order": {"$ref": "#/$defs/a"}}}
    tree = {"a": {"type": ["object", "string"], "additionalProperties": {"$ref": "#/$defs/a"}}}
    inputs = {**schema, "$defs": tree, "required": ["order"]}
    assert found(calls({"order": ORDER}, inputs=inputs), named(tool(inputSchema=inputs), T)) == []


def procedure(document: Mapping[str, Any]) -> Procedure:
    name, version = Name(document["name"]), Version(document["version"])
    return Procedure(kind="tool", name=name, version=version, document=document, digest=digest_of(document))


def compiles(*schemas: Any) -> bool:
    try:
        return all(compile_schema(schema) is not None for schema in schemas)
    except ValueError:
        return False


@given(SEEDS)
def test_literals_of_which_nothing_is_said_are_accepted_and_others_are_not(seed: int) -> None:
    rng = dice(seed)
    schema = {**document(rng, 2), "type": "object"}
    if not compiles(schema):
        return
    callee = named(tool(inputSchema=schema), T)
    for _ in range(8):
        made = instance(rng, schema, schema)
        arguments = made if isinstance(made, dict) else {"a": anything(rng, 2)}
        said = misfits(calls(arguments), {T: callee})
        assert (said == ()) == (check_call(procedure(callee), arguments) == ())


def _paths(rng: Random) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    inputs, wanted = document(rng, 2), document(rng, 2)
    wanted = inputs if rng.random() < 0.15 else wanted
    held = {"inputs": inputs.pop("$defs", {}), "wanted": dict(wanted).pop("$defs", {})}
    wanted = {key: value for key, value in wanted.items() if key != "$defs"}
    taken = {**takes(a=wanted, b=WHOLE), "$defs": held["wanted"]}
    given_inputs = {**takes(order=inputs), "$defs": held["inputs"]}
    caller = calls({"a": ORDER, "b": 1}, inputs=given_inputs)
    return caller, given_inputs, named(tool(inputSchema=taken), T)


@given(SEEDS)
def test_paths_keep_what_is_said_of_them(seed: int) -> None:
    rng = dice(seed)
    caller, inputs, callee = _paths(rng)
    if not compiles(inputs, callee["spec"]["inputSchema"]):
        return
    said = {fault.code for fault in misfits(caller, {T: callee})}
    assert said <= {"call-misfit", "call-doubtful"}
    judge = compile_schema(inputs)
    for _ in range(40):
        values = {"order": instance(rng, inputs["properties"]["order"], inputs)}
        if not judge.is_valid(values):
            continue
        (call,) = walk(caller["spec"], values, {"one": None}).calls
        refused = check_call(procedure(callee), call.arguments) != ()
        assert said != set() or not refused
        assert "call-misfit" not in said or refused


def test_the_laws_are_no_empty_ones() -> None:
    """Of the random pairs above, many are fitting, many are not and many are in doubt."""
    seen = [frozenset(fault.code for fault in misfits(caller, {T: callee}))
            for seed in range(300) for caller, _, callee in [_paths(dice(seed))]]  # fmt: skip
    for wanted in (frozenset[str](), frozenset({"call-misfit"}), frozenset({"call-doubtful"})):
        assert seen.count(wanted) > 20
