"""Walks: the next call or the end, as a function of what happened, and paths that need no CEL."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from budgets import examples
from pawl.errors import Faulty
from pawl.procedures.expressions import ExpressionError, compile_expression
from pawl.procedures.interpolation import MAX_TEXT, Embedded, expressions_in, interpolate, pieces
from pawl.procedures.walk import Call, End, Walk, check_inputs, evaluate_in_walk, next_step, walk
from pawl.procedures.words import as_text
from pawl.procedures.workflow import VARIABLES, check_workflow

REFUND: Mapping[str, Any] = {
    "inputs": {
        "type": "object",
        "properties": {
            "order_id": {"type": "string"},
            "amount": {"type": "number"},
            "limit": {"type": "number", "default": 50},
        },
        "required": ["order_id", "amount"],
    },
    "steps": [
        {
            "id": "eligibility",
            "tool": "support/check-eligibility",
            "with": {"order_id": "${{ inputs.order_id }}"},
            "switch": [
                {"when": "result.eligible && inputs.amount <= inputs.limit", "then": "draft"},
                {"when": "result.retry", "then": "eligibility"},
                {"then": "denied"},
            ],
        },
        {
            "id": "draft",
            "prompt": "support/refund-draft",
            "with": {
                "order_id": "${{ inputs.order_id }}",
                "amount": "${{ inputs.amount }}",
                "note": "order ${{ inputs }}",
            },
            "then": "drafted",
        },
        {
            "id": "drafted",
            "end": {"outcome": "drafted", "output": {"text": "${{ result.text }}", "was": "${{ steps.eligibility }}"}},
        },
        {"id": "denied", "end": {"outcome": "denied"}},
    ],
    "budget": {"max_steps": 4},
}
INPUTS = {"order_id": "A1", "amount": 20}
YES, AGAIN, NO = {"eligible": True}, {"eligible": False, "retry": True}, {"eligible": False, "retry": False}


def codes(spec: Mapping[str, Any], inputs: Any, results: Any) -> list[str]:
    with pytest.raises(Faulty) as caught:
        next_step(spec, inputs, results)
    return [fault.code for fault in caught.value.faults]


def one(step: Mapping[str, Any], *, output: Any = None) -> dict[str, Any]:
    """Return a workflow of one call and one end."""
    end = {"outcome": "done"} if output is None else {"outcome": "done", "output": output}
    return {"steps": [{"id": "a", "tool": "x/y", "then": "z", **step}, {"id": "z", "end": end}]}


def test_the_example_is_sound() -> None:
    assert () == check_workflow(REFUND, {})


def test_from_the_first_call_to_the_end() -> None:
    first = next_step(REFUND, INPUTS, ())
    assert (
        Call(step="eligibility", kind="tool", name="support/check-eligibility", arguments={"order_id": "A1"}) == first
    )
    second = next_step(REFUND, INPUTS, [("eligibility", YES)])
    note = 'order {"amount":20,"limit":50,"order_id":"A1"}'
    arguments = {"order_id": "A1", "amount": 20, "note": note}
    assert Call(step="draft", kind="prompt", name="support/refund-draft", arguments=arguments) == second
    last = next_step(REFUND, INPUTS, [("eligibility", YES), ("draft", {"text": "Dear"})])
    assert End(step="drafted", outcome="drafted", output={"text": "Dear", "was": YES}) == last


@pytest.mark.parametrize(
    ("inputs", "results", "expected"),
    [
        (INPUTS, [YES], "draft"),
        ({**INPUTS, "amount": 51}, [{"eligible": True, "retry": False}], "denied"),
        ({**INPUTS, "amount": 51, "limit": 60}, [YES], "draft"),
        (INPUTS, [NO], "denied"),
        (INPUTS, [AGAIN], "eligibility"),
        (INPUTS, [AGAIN, AGAIN, AGAIN, NO], "denied"),
    ],
)
def test_branches_and_loops(inputs: Any, results: list[Any], expected: str) -> None:
    assert expected == next_step(REFUND, inputs, [("eligibility", result) for result in results]).step


@pytest.mark.parametrize(
    ("inputs", "results", "code"),
    [
        (INPUTS, [("draft", {})], "walk-unknown-result"),
        (INPUTS, [("nobody", {})], "walk-unknown-result"),
        (INPUTS, [("eligibility", YES), ("eligibility", YES)], "walk-unknown-result"),
        (INPUTS, [("eligibility", NO), ("draft", {})], "walk-ended"),
        (INPUTS, [("eligibility", YES), ("draft", {"text": ""}), ("drafted", {})], "walk-ended"),
        (INPUTS, [("eligibility", AGAIN)] * 4, "walk-budget"),
        (INPUTS, [("eligibility", AGAIN)] * 5, "walk-budget"),
        (INPUTS, [("eligibility", {})], "walk-expression"),
        (INPUTS, [("eligibility", None)], "walk-expression"),
        (INPUTS, [("eligibility", {"eligible": "true"})], "walk-expression"),
        (INPUTS, [("eligibility", {"eligible": False, "retry": 1})], "walk-expression"),
        (INPUTS, [("eligibility", YES), ("draft", {})], "walk-expression"),
        (INPUTS, [("eligibility", {"eligible": {1, 2}})], "walk-unknown-result"),
        (INPUTS, [("eligibility", {"eligible": True, "x": float("nan")})], "walk-unknown-result"),
        (INPUTS, [("eligibility", {"eligible": True, "x": "\ud800"})], "walk-unknown-result"),
        (INPUTS, [("eligibility", {"eligible": True, "x": 2**64})], "walk-unknown-result"),
        ({}, [], "walk-expression"),
        ({"order_id": object()}, [], "input-invalid"),
        ([], [], "input-invalid"),
        (None, [], "input-invalid"),
    ],
)
def test_what_cannot_go_on(inputs: Any, results: Any, code: str) -> None:
    assert [code] == codes(REFUND, inputs, results)


def test_ends_are_no_step_of_the_budget() -> None:
    assert "denied" == next_step(REFUND, INPUTS, [("eligibility", AGAIN)] * 3 + [("eligibility", NO)]).step


def test_the_newest_result_counts() -> None:
    spec = {
        "steps": [
            {"id": "a", "tool": "x/y", "with": {"n": "${{ has(steps.a) ? steps.a.n : 0 }}"}, "then": "b"},
            {"id": "b", "tool": "x/y", "switch": [{"when": "steps.a.n < 3", "then": "a"}, {"then": "z"}]},
            {"id": "z", "end": {"outcome": "done", "output": ["${{ steps.a.n }}", "${{ result }}"]}},
        ],
        "budget": {"max_steps": 9},
    }
    results: list[tuple[str, Any]] = []
    asked: list[Any] = []
    for number in (1, 2, 3):
        following = next_step(spec, {}, results)
        assert isinstance(following, Call)
        asked.append(following.arguments["n"])
        results += [("a", {"n": number}), ("b", f"b{number}")]
    assert [0, 1, 2] == asked
    assert End(step="z", outcome="done", output=[3, "b3"]) == next_step(spec, {}, results)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${{ inputs.n }}", 1),
        ("${{inputs.n}}", 1),
        ("${{ inputs.f }}", 1.0),
        ("${{ inputs.none }}", None),
        ("${{ inputs.list }}", [1, {"b": "x", "a": 2.5}]),
        ("${{ inputs }}!", '{"f":1,"list":[1,{"a":2.5,"b":"x"}],"n":1,"none":null,"t":"}}\\n","yes":true}!'),
        ("n is ${{ inputs.n }}", "n is 1"),
        (" ${{ inputs.n }}", " 1"),
        ("${{ inputs.f }} ${{ inputs.yes }} ${{ inputs.none }}", "1 true null"),
        ("${{ inputs.t }}${{ inputs.t }}", "}}\n}}\n"),
        ("${{ {'a': {'b': inputs.n}} }}", {"a": {"b": 1}}),
        ("${{ {'a': {'b': '}}'}}}}", {"a": {"b": "}}"}}),
        ("${{ '${{' }}", "${{"),
        ('${{ "it\'s }}" }}', "it's }}"),
        ("${{ '''a }}' b''' }}", "a }}' b"),
        ("${{ '\\'}}' }}", "'}}"),
        ("${{ [1, 2].map(x, x + inputs.n) }}", [2, 3]),
        ("}} {{ $ { } ${", "}} {{ $ { } ${"),
        ({"a": [{"b": "${{ inputs.n }}"}], "c": None, "d": 1.5}, {"a": [{"b": 1}], "c": None, "d": 1.5}),
    ],
)
def test_values_with_expressions(text: Any, expected: Any) -> None:
    inputs = {"n": 1, "f": 1.0, "none": None, "yes": True, "t": "}}\n", "list": [1, {"b": "x", "a": 2.5}]}
    following = next_step(one({"with": {"x": text}}), inputs, ())
    assert isinstance(following, Call)
    assert json.dumps(expected) == json.dumps(following.arguments["x"])
    end = next_step(one({}, output={"x": text}), inputs, [("a", None)])
    assert isinstance(end, End)
    assert json.dumps({"x": expected}) == json.dumps(end.output)


@pytest.mark.parametrize(
    "text",
    ["${{ inputs.n", "${{ }}", "${{ 'a }}", "${{ nobody }}", "${{ inputs.m }}", "${{ result }}", "a ${{ inputs.big }}"],
)
def test_values_that_cannot_be_filled(text: str) -> None:
    inputs = {"n": 1, "big": [2**60]}
    assert ["walk-expression"] == codes(one({"with": {"x": text}}), inputs, ())


def test_texts_do_not_grow_without_bound() -> None:
    spec = one({"with": {str(number): "a ${{ inputs.x }}" for number in range(10)}})
    assert ["walk-expression"] == codes(spec, {"x": "x" * (MAX_TEXT // 5)}, ())


def test_values_are_not_shared_and_not_changed() -> None:
    inputs = {"x": {"y": [1]}}
    results = (("a", MappingProxyType({"r": (1, 2)})),)
    spec = one({"with": {"x": "${{ inputs.x }}", "all": "${{ inputs }}", "fixed": [1]}}, output="${{ result }}")
    before = copy.deepcopy((spec, inputs))
    following = next_step(spec, MappingProxyType(inputs), ())
    assert isinstance(following, Call)
    following.arguments["x"]["y"].append(2)
    following.arguments["all"]["x"]["y"].append(3)
    following.arguments["fixed"].append(4)
    assert before == (spec, inputs)
    end = next_step(spec, inputs, results)
    assert isinstance(end, End)
    assert {"r": [1, 2]} == end.output


def test_walk_to_the_end_with_scripted_results() -> None:
    walked = walk(REFUND, INPUTS, {"eligibility": YES, "draft": {"text": "Dear"}, "unused": 1})
    assert isinstance(walked, Walk)
    assert (("eligibility", "draft", "drafted"), "drafted") == (walked.path, walked.outcome)
    assert ["support/check-eligibility", "support/refund-draft"] == [made.name for made in walked.calls]
    assert {"text": "Dear", "was": YES} == walked.output


@pytest.mark.parametrize(
    ("given_results", "code"),
    [
        ({}, "walk-no-result"),
        ({"eligibility": YES}, "walk-no-result"),
        ({"eligibility": AGAIN}, "walk-budget"),
        ({"eligibility": {1}}, "walk-unknown-result"),
    ],
)
def test_scripts_that_lead_to_no_end(given_results: Any, code: str) -> None:
    with pytest.raises(Faulty) as caught:
        walk(REFUND, INPUTS, given_results)
    assert [code] == [fault.code for fault in caught.value.faults]
    if code == "walk-no-result":
        assert caught.value.faults[0].hint is not None


def test_an_end_alone() -> None:
    spec = {"steps": [{"id": "z", "end": {"outcome": "done", "output": "${{ inputs.x }}"}}]}
    assert Walk(path=("z",), calls=(), outcome="done", output=1) == walk(spec, {"x": 1}, {})
    assert ["walk-expression"] == codes(
        {"steps": [{"id": "z", "end": {"outcome": "x", "output": "${{ result }}"}}]}, {}, ()
    )


def test_workflows_are_called_too() -> None:
    spec = {"steps": [{"id": "a", "workflow": "x/other", "then": "z"}, {"id": "z", "end": {"outcome": "done"}}]}
    assert Call(step="a", kind="workflow", name="x/other", arguments={}) == next_step(spec, {}, ())


def test_inputs_are_closed_and_checked() -> None:
    assert () == check_inputs(REFUND, INPUTS)
    wrong: tuple[Any, ...] = ({}, {**INPUTS, "more": 1}, {**INPUTS, "amount": "20"}, [])
    for inputs in wrong:
        assert check_inputs(REFUND, inputs)


@given(st.lists(st.sampled_from([YES, AGAIN, NO]), max_size=6))
def test_stepwise_and_whole_walks_agree(results: list[Any]) -> None:
    """The same results one by one and as a script lead to the same calls; the function has no memory."""
    given_results = {"eligibility": results[0] if results else YES, "draft": {"text": "Dear"}}

    def stepwise() -> Any:
        results: list[tuple[str, Any]] = []
        calls: list[Call] = []
        while isinstance(following := next_step(REFUND, INPUTS, tuple(results)), Call):
            calls.append(following)
            results.append((following.step, given_results[following.step]))
        return tuple(calls), following.outcome, following.output

    def whole() -> Any:
        walked = walk(REFUND, INPUTS, given_results)
        return walked.calls, walked.outcome, walked.output

    assert ended(stepwise) == ended(whole)


def ended(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except Faulty as error:
        return [fault.code for fault in error.faults]


NAMES = [
    "a",
    "b",
    "size",
    "map",
    "_x",
    "A9",
    "in",
    "true",
    "null",
    "for",
    "package",
    "as",
    "has",
    "type",
    "inputs",
    "e",
]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("aé✓ ", max_size=4)
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=20,
)
MAPPINGS = st.dictionaries(st.sampled_from(NAMES), JSON, max_size=6)
PATHS = st.builds(
    lambda root, fields, sep: root + "".join(sep + field for field in fields),
    st.sampled_from(["inputs", "result", "steps", "nobody", ".inputs"]),
    st.lists(st.sampled_from([*NAMES, "é", "0", "a-b", "", "`a`"]), max_size=4)
    | st.integers(20, 40).map(lambda length: ["a"] * length),
    st.sampled_from([".", ".", ".", " . ", "\n."]),
)


def outcome(evaluate: Any) -> tuple[str, Any]:
    try:
        value = evaluate()
    except (Faulty, ExpressionError):
        return "error", None
    return "value", json.dumps(value, sort_keys=True)


@given(PATHS, MAPPINGS, JSON, MAPPINGS, st.sampled_from(["bool", "any"]))
@example("inputs.a", {"a": 1}, None, {}, "bool")
@example("inputs.a", {"a": True}, None, {}, "bool")
@example("inputs.a", {"a": -0.0}, None, {}, "any")
@example("inputs", {}, None, {}, "any")
@example("inputs", {}, None, {}, "bool")
@example("result.a.b", {}, {"a": {"b": 1.0}}, {}, "any")
@example("result.a.b", {}, {"a": [{"b": 1}]}, {}, "any")
@example("inputs" + ".a" * 31, {}, None, {}, "any")
@examples(100)
def test_paths_mean_without_cel_what_they_mean_in_cel(
    path: str, inputs: Any, result: Any, steps: Any, want: Any
) -> None:
    values = {"inputs": inputs, "result": result, "steps": steps}
    expected = outcome(lambda: compile_expression(path, variables=VARIABLES, want=want).evaluate(values))
    assert expected == outcome(lambda: evaluate_in_walk(path, values, variables=VARIABLES, want=want))


@pytest.mark.parametrize("length", range(1, 40))
def test_paths_of_any_length(length: int) -> None:
    value: Any = 1
    for _ in range(length):
        value = {"a": value}
    path = "inputs" + ".a" * length
    expected = outcome(lambda: compile_expression(path, variables=VARIABLES, want="any").evaluate({"inputs": value}))
    assert expected == outcome(lambda: evaluate_in_walk(path, {"inputs": value}, variables=VARIABLES, want="any"))


@given(st.text("${}' \"\\a\n[]()", max_size=30))
@examples(100)
def test_any_text_is_taken_apart_without_loss(text: str) -> None:
    try:
        parts = pieces(text)
    except ValueError:
        assert "${{" in text
        return
    assert text.count("${{") >= sum(isinstance(part, Embedded) for part in parts)
    if not any(isinstance(part, Embedded) for part in parts):
        assert text == "".join(part for part in parts if isinstance(part, str))
    assert [part.text for part in parts if isinstance(part, Embedded)] == [found for found, _ in expressions_in(text)]


@given(JSON)
def test_values_without_expressions_stay_as_they_are(value: Any) -> None:
    assert value == interpolate(value, lambda _: pytest.fail("nothing to evaluate"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        (1, "1"),
        (1.0, "1"),
        (True, "true"),
        (None, "null"),
        ([1, "a"], '[1,"a"]'),
        ({"b": 1, "a": "é"}, '{"a":"é","b":1}'),
    ],
)
def test_values_as_text(value: Any, text: str) -> None:
    assert text == as_text(value)


def test_walks_of_plain_paths_load_no_cel() -> None:
    program = (
        "import json, sys\n"
        "from pawl.procedures.walk import next_step\n"
        "spec = {'steps': [{'id': 'a', 'tool': 'x/y', 'with': {'i': '${{ inputs.i }}', 't': 'n ${{ inputs.i }}'},"
        " 'switch': [{'when': 'result.ok', 'then': 'z'}, {'then': 'a'}]}, {'id': 'z', 'end': {'outcome': 'done'}}]}\n"
        "assert next_step(spec, {'i': 1}, []).arguments == {'i': 1, 't': 'n 1'}\n"
        "assert next_step(spec, {'i': 1}, [('a', {'ok': True})]).outcome == 'done'\n"
        "heavy = {'cel_expr_python', 'pydantic', 'jinja2', 'jsonschema', 'jsonschema_rs', 'ruamel', 'git', 'rfc8785'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert b"[]\n" == subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
