"""Starter suites: every case they hold passes on the procedure they were made from, and none expects nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgets import examples
from conformance.make import prompt, tool, workflow
from pawl.conformance.judge import judge_case
from pawl.conformance.outcomes import CaseResult
from pawl.conformance.starter import MAX_CASES, starter_suite
from pawl.conformance.suites import Suite, read_suite
from pawl.errors import Faulty
from pawl.io import strict_yaml
from pawl.io.dump import yaml_bytes
from pawl.procedures.kinds import KINDS, starter
from pawl.procedures.procedure import Procedure
from pawl.procedures.read import read_procedure
from pawl.procedures.workflow import check_workflow, reachable_outcomes


def made(procedure: Procedure) -> Suite:
    """Return the starter suite, read back from its file."""
    return read_suite(strict_yaml.load(yaml_bytes(starter_suite(procedure))))


def judged(procedure: Procedure) -> list[CaseResult]:
    return [judge_case(case, procedure, observe=_nobody) for case in made(procedure).cases]


def _nobody(*_: object) -> Any:
    raise AssertionError("a starter never runs an implementation")


def not_passed(procedure: Procedure) -> list[CaseResult]:
    return [result for result in judged(procedure) if result.outcome != "passed"]


def test_a_tool_is_called_minimally_without_each_argument_and_with_wrong_types() -> None:
    schema = {
        "type": "object",
        "properties": {
            "order_id": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1},
            "any": True,
            "kind": {"$ref": "#/$defs/kind"},
        },
        "required": ["order_id", "kind"],
        "$defs": {"kind": {"type": ["string", "null"], "enum": ["refund", None]}},
    }
    about = tool(inputSchema=schema, binding={"python": "nowhere:nothing"})
    suite = starter_suite(about)
    assert (about.name, about.name) == (suite["suite"], suite["about"])
    minimal = {"order_id": "example", "kind": "refund"}
    assert [
        {"id": "minimal-call-is-accepted", "call": minimal, "assert": [{"type": "accepted"}]},
        {"id": "without-kind", "call": {"order_id": "example"}, "assert": [{"type": "rejected"}]},
        {"id": "without-order_id", "call": {"kind": "refund"}, "assert": [{"type": "rejected"}]},
        {"id": "wrong-type-order_id", "call": {**minimal, "order_id": 0.5}, "assert": [{"type": "rejected"}]},
        {"id": "wrong-type-limit", "call": {**minimal, "limit": "a text"}, "assert": [{"type": "rejected"}]},
        {"id": "wrong-type-kind", "call": {**minimal, "kind": 0.5}, "assert": [{"type": "rejected"}]},
    ] == suite["cases"]
    assert [] == not_passed(about)


def test_case_ids_are_unique_and_bounded() -> None:
    names = ["a b", "a-b", "é", "ü", "--", "x" * 300, "x" * 301]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": names}
    about = tool(inputSchema=schema)
    assert 15 == len(made(about).cases)
    many = {f"p{number}": {"type": "string"} for number in range(60)}
    assert MAX_CASES == len(made(tool(inputSchema={"type": "object", "properties": many, "required": [*many]})).cases)
    assert [] == not_passed(about)


def test_a_prompt_renders_minimally_and_not_without_each_input() -> None:
    inputs = {
        "type": "object",
        "properties": {
            "order_id": {"type": "string"},
            "locale": {"type": "string", "default": "en"},
            "note": {"type": "string"},
        },
        "required": ["order_id", "locale"],
    }
    about = prompt(inputs=inputs, messages=[{"role": "user", "content": "{{ order_id }} {{ locale }}"}])
    assert ["minimal-inputs-render", "without-order_id"] == [case.id for case in made(about).cases]
    assert [] == not_passed(about)


HARD: tuple[tuple[str, Procedure, str], ...] = (
    (
        "tool-with-a-hard-pattern",
        tool(
            inputSchema={
                "type": "object",
                "properties": {"word": {"type": "string", "pattern": "^\\p{Greek}+$"}, "n": {"type": "integer"}},
                "required": ["n", "word"],
            }
        ),
        "give an examples entry to inputSchema.properties.word",
    ),
    (
        "prompt-that-takes-nothing",
        prompt(inputs={"type": "object", "not": {}}),
        "give an examples entry to the root of inputs",
    ),
    ("prompt-over-its-budget", prompt(budget={"tokens": 1}), "with inputs that can be rendered"),
    ("workflow-with-impossible-inputs", workflow(inputs={"type": "object", "minProperties": 1}), "the root of inputs"),
)


@pytest.mark.parametrize(("about", "hint"), [row[1:] for row in HARD], ids=[row[0] for row in HARD])
def test_where_no_starter_can_be_made_the_author_is_told_what_to_do(about: Procedure, hint: str) -> None:
    with pytest.raises(Faulty) as refused:
        starter_suite(about)
    (fault,) = refused.value.faults
    assert "starter-impossible" == fault.code
    assert about.name in fault.message
    assert hint in (fault.hint or "")


def steps(*switch: tuple[str, str], then: str = "other", **more: Any) -> dict[str, Any]:
    """Return a workflow of one tool whose branches lead to ends of their own names."""
    ends = dict.fromkeys([*(target for _, target in switch), then])
    branches = [*({"when": when, "then": target} for when, target in switch), {"then": then}]
    made_steps = [{"id": "ask", "tool": "a/ask", "switch": branches}]
    return {
        "inputs": {"type": "object"},
        "steps": [*made_steps, *({"id": end, "end": {"outcome": end}} for end in ends)],
        **more,
    }


GUESSED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("one-step", {"steps": [{"id": "a", "tool": "a/b", "then": "z"}, {"id": "z", "end": {"outcome": "done"}}]}),
    ("only-an-end", {"steps": [{"id": "z", "end": {"outcome": "done"}}]}),
    ("true-or-not", steps(("result.ok", "good"))),
    ("not", steps(("!result.ok", "bad"))),
    ("texts", steps(('result.state == "open"', "opened"), ("result.state == 'closed'", "closed"))),
    ("numbers", steps(("result.total > 100", "high"), ("result.total < 10", "low"))),
    ("two-at-once", steps(('result.total >= 50 && result.state == "open"', "both"))),
    ("deep", steps(("result.order.risk.level == 'high'", "risky"))),
    ("the-whole-result", steps(('result == "yes"', "agreed"))),
    ("size", steps(("size(result.items) > 0", "some"))),
    ("has", steps(("has(result.error)", "failed"))),
    ("starts-with", steps(('result.text.startsWith("no")', "no"))),
    ("list", steps(("result.state in ['a', 'b']", "known"))),
    (
        "inputs",
        steps(
            ("inputs.amount > 100", "large"),
            inputs={
                "type": "object",
                "properties": {"amount": {"type": "number", "maximum": 500}},
                "required": ["amount"],
            },
        ),
    ),
    (
        "default-of-an-input",
        steps(
            ("inputs.mode == 'fast'", "fast"),
            inputs={"type": "object", "properties": {"mode": {"type": "string", "default": "slow"}}},
        ),
    ),
    (
        "a-loop",
        {
            "steps": [
                {"id": "ask", "tool": "a/ask", "then": "look"},
                {
                    "id": "look",
                    "tool": "a/look",
                    "switch": [{"when": "!result.done", "then": "ask"}, {"then": "done"}],
                },
                {"id": "done", "end": {"outcome": "done"}},
            ],
            "budget": {"max_steps": 10_000},
        },
    ),
    (
        "later-steps-read-earlier-results",
        {
            "steps": [
                {"id": "order", "tool": "a/order", "then": "judge"},
                {
                    "id": "judge",
                    "prompt": "a/judge",
                    "with": {"total": "${{ steps.order.total }}", "again": "${{ steps['order'].state }}"},
                    "switch": [{"when": "steps.order.total > 7 && result == 'yes'", "then": "paid"}, {"then": "not"}],
                },
                {"id": "paid", "end": {"outcome": "paid", "output": "${{ steps.order.state }}"}},
                {"id": "not", "end": {"outcome": "not-paid"}},
            ]
        },
    ),
    (
        "ten-switches",
        {
            "steps": [
                *(
                    {
                        "id": f"s{number}",
                        "tool": "a/b",
                        "switch": [
                            {"when": f"result.go == {number}", "then": f"s{number + 1}" if number < 9 else "end"},
                            {"then": f"out{number}"},
                        ],
                    }
                    for number in range(10)
                ),
                *({"id": f"out{number}", "end": {"outcome": f"out{number}"}} for number in range(10)),
                {"id": "end", "end": {"outcome": "end"}},
            ]
        },
    ),
)


@pytest.mark.parametrize("spec", [row[1] for row in GUESSED], ids=[row[0] for row in GUESSED])
def test_a_workflow_is_walked_to_each_outcome(spec: dict[str, Any]) -> None:
    spec = {"inputs": {"type": "object"}, **spec}
    assert () == check_workflow(spec, {})
    about = workflow(**{**spec, "budget": spec.get("budget", {"max_steps": 50})})
    suite = made(about)
    ends = [case.assertions[0].value for case in suite.cases]
    assert list(reachable_outcomes(spec)) == ends
    assert [] == not_passed(about)


def test_the_reference_workflow_has_a_case_for_each_outcome() -> None:
    assert ["ends-drafted", "ends-denied"] == [case.id for case in made(workflow()).cases]
    assert [] == not_passed(workflow())


def test_what_nobody_can_guess_is_left_to_fill_in_and_fails_until_then() -> None:
    spec = steps(("result.a * 7 == 91 && result.b == result.c + 'x'", "found"))
    about = workflow(**spec)
    suite = starter_suite(about)
    assert ["ends-found", "ends-other"] == [case["id"] for case in suite["cases"]]
    assert {"ask": "FILL IN: a result with which ask goes on to found"} == suite["cases"][0]["given"]
    assert ["ends-found"] == [result.id for result in not_passed(about)]


def test_an_endless_walk_is_given_up_soon() -> None:
    spec = {
        "inputs": {"type": "object"},
        "steps": [
            *(
                {
                    "id": f"s{number}",
                    "tool": "a/b",
                    "switch": [{"when": "result.a == 'x'", "then": "s0"}, {"then": f"s{number + 1}"}],
                }
                for number in range(199)
            ),
            {"id": "s199", "end": {"outcome": "out"}},
        ],
        "budget": {"max_steps": 10_000},
    }
    assert 1 == len(starter_suite(workflow(**spec))["cases"])


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_new_writes_has_a_starter_that_passes(kind: str) -> None:
    text = starter(kind, f"mine/{kind}")
    assert [] == not_passed(read_procedure(strict_yaml.load(text.encode())))


names = st.text(st.characters(codec="utf-8"), max_size=6)
parts = st.recursive(
    st.one_of(
        st.sampled_from([True, {}, {"type": "boolean"}, {"type": "null"}, {"type": ["string", "null"]}]),
        st.sampled_from([{"type": "string", "pattern": "^[a-f]{3}$"}, {"type": "string", "format": "email"}]),
        st.integers(0, 9).map(lambda low: {"type": "string", "minLength": low}),
        st.integers(-9, 9).map(lambda low: {"type": "integer", "minimum": low}),
        st.sampled_from(
            [{"enum": ["a", 1]}, {"const": [1]}, {"type": "string", "default": "d"}, {"$ref": "#/$defs/d"}]
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=2).map(lambda branches: {"anyOf": branches}),
        st.tuples(inner, st.integers(0, 2)).map(lambda of: {"type": "array", "items": of[0], "minItems": of[1]}),
        st.dictionaries(names, inner, max_size=2).map(
            lambda known: {"type": "object", "properties": known, "required": sorted(known)}
        ),
    ),
    max_leaves=5,
)


@examples(20)
@given(st.dictionaries(names, parts, max_size=4), st.integers(0, 4), st.booleans())
def test_every_case_of_a_starter_passes(known: dict[str, Any], count: int, closed: bool) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": known,
        "required": sorted(known)[:count],
        "$defs": {"d": {"type": "string"}},
        **({"additionalProperties": False} if closed else {}),
    }
    silent = [{"role": "user", "content": "Go."}]
    for about in (tool(inputSchema=schema), prompt(inputs=schema, messages=silent)):
        results = judged(about)
        assert [] == [result for result in results if result.outcome != "passed"]
        assert len(results) >= 1


ORDER_ID = {"type": "string", "pattern": "^[A-Z][0-9]+$"}
STRICT = tool(
    inputSchema={"type": "object", "properties": {"order_id": ORDER_ID}, "required": ["order_id"]},
    outputSchema={
        "type": "object",
        "properties": {"eligible": {"type": "boolean"}, "day": {"type": "string"}, "reason": {"type": "string"}},
        "required": ["eligible", "day"],
        "additionalProperties": False,
    },
)
ANSWERS_OBJECT = prompt(output={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]})


def test_a_walk_makes_calls_and_has_results_that_its_closure_takes() -> None:
    steps = [
        {
            "id": "look",
            "tool": STRICT.name,
            "with": {"order_id": "${{ inputs.order_id }}"},
            "switch": [{"when": "result.eligible && result.reason == 'late'", "then": "draft"}, {"then": "denied"}],
        },
        {
            "id": "draft",
            "prompt": ANSWERS_OBJECT.name,
            "with": {"order_id": "${{ inputs.order_id }}", "amount": "${{ inputs.amount }}"},
            "then": "drafted",
        },
        {"id": "drafted", "end": {"outcome": "drafted"}},
        {"id": "denied", "end": {"outcome": "denied"}},
    ]
    about = workflow(steps=steps)
    closure = {STRICT.name: STRICT, ANSWERS_OBJECT.name: ANSWERS_OBJECT}
    suite = read_suite(strict_yaml.load(yaml_bytes(starter_suite(about, closure))))
    results = [judge_case(case, about, observe=_nobody, closure=closure) for case in suite.cases]
    assert [(result.outcome, result.reasons) for result in results] == [("passed", ())] * 2
    assert (suite.cases[0].given or {})["look"]["reason"] == "late"
    alone = [judge_case(case, about, observe=_nobody, closure=closure) for case in made(about).cases]
    assert {result.outcome for result in alone} == {"errored"}  # the closure is what made the difference


def test_a_call_that_no_input_makes_right_is_left_to_a_person() -> None:
    closure = {STRICT.name: tool(inputSchema={"type": "object", "properties": {"x": True}, "required": ["x"]})}
    cases = starter_suite(workflow(), closure)["cases"]
    assert all("FILL IN" in str(case["given"]) for case in cases)
