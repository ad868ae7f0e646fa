"""Judging cases: a table per kind of procedure, from case to outcome."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.make import TOOL_SPEC, WORKFLOW_SPEC, procedure, prompt, suite, tool, workflow
from pawl.conformance.judge import judge_case
from pawl.conformance.outcomes import CaseResult, NotReturned, Observation, Returned
from pawl.ids import Name
from pawl.procedures.procedure import Procedure

ORDER = {"order_id": "A1", "amount": 20}
BOUND = {"binding": {"python": "shop:look"}}


def judged(
    procedure: Procedure, *assertions: dict[str, Any], sees: Observation | None = None, **case: Any
) -> CaseResult:
    """Judge one case; running an implementation without ``sees`` is a failure of the test."""
    read = suite(procedure.name, {"id": "one", "assert": list(assertions), **case})

    def observe(binding: Any, arguments: Any) -> Observation:
        assert sees is not None, f"{binding} was run with {arguments}"
        return sees

    return judge_case(read.cases[0], procedure, observe=observe)


def of(name: str, value: Any = ..., **fields: Any) -> dict[str, Any]:
    return {"type": name, **({} if value is ... else {"value": value}), **fields}


PROMPTS: list[tuple[dict[str, Any], list[dict[str, Any]], str, str]] = [
    ({"inputs": ORDER}, [of("contains", "order A1"), of("contains", "{braces} and {{ other }}")], "passed", ""),
    ({"inputs": ORDER}, [of("accepted")], "passed", ""),
    ({"inputs": ORDER}, [of("rejected")], "failed", "rejected: it is accepted"),
    ({"inputs": ORDER}, [of("equals", "Refund 20 for order A1.", role="user")], "passed", ""),
    ({"inputs": ORDER}, [of("contains", "A2")], "failed", 'contains "A2"'),
    ({"inputs": {"order_id": "A1"}}, [of("rejected")], "passed", ""),
    ({}, [of("rejected")], "passed", ""),
    ({"inputs": {"order_id": "A1"}}, [of("accepted")], "failed", "amount"),
    ({"inputs": {"order_id": "A1"}}, [of("rejected"), of("contains", "A1")], "failed", "it is refused"),
    ({"inputs": {"order_id": "A1"}}, [of("not-contains", "A1")], "failed", "it is refused"),
    ({"inputs": {**ORDER, "more": 1}}, [of("rejected")], "passed", ""),
    ({"inputs": ORDER}, [of("llm-rubric", "is kind")], "inconclusive", "needs a model"),
    ({"inputs": ORDER}, [of("llm-rubric", "is kind"), of("contains", "A2")], "failed", "A2"),
    ({"inputs": ORDER}, [of("outcome", "drafted")], "failed", "only a workflow has one"),
    ({"answer": "Dear Ada"}, [of("contains", "Ada"), of("accepted")], "passed", ""),
    ({"answer": "Dear Ada"}, [of("contains", "order")], "failed", "order"),
    ({"answer": {"b": 1, "a": 2}}, [of("contains", '{"a":2,"b":1}'), of("equals", {"a": 2, "b": 1})], "passed", ""),
    ({"answer": "Dear Ada", "inputs": ORDER}, [of("not-contains", "A1")], "passed", ""),
    ({"answer": "Dear Ada", "inputs": {}}, [of("contains", "Ada")], "failed", "beside the answer are refused"),
    ({"answer": "Dear Ada", "inputs": {}}, [of("rejected")], "failed", "beside the answer are refused"),
    ({"answer": "x"}, [of("contains", "x", role="user")], "failed", "there are none"),
    ({"call": {}}, [of("accepted")], "errored", "a prompt case has no call"),
    ({"inputs": {}, "given": {}}, [of("accepted")], "errored", "a prompt case has no given"),
]


@pytest.mark.parametrize(("case", "assertions", "outcome", "reason"), PROMPTS)
def test_prompt_cases(case: dict[str, Any], assertions: list[dict[str, Any]], outcome: str, reason: str) -> None:
    result = judged(prompt(), *assertions, **case)

    assert result.outcome == outcome, result.reasons
    assert reason in "; ".join(result.reasons)
    assert (result.outcome == "passed") == (not result.reasons)


ANSWERS: list[tuple[Any, str, str]] = [
    ({"draft": "x"}, "accepted", "passed"),
    ('{"draft": "x"}', "accepted", "passed"),
    ({"draft": 1}, "rejected", "passed"),
    ('{"draft": 1}', "rejected", "passed"),
    ("no json", "rejected", "passed"),
    ("no json", "accepted", "failed"),
]


@pytest.mark.parametrize(("answer", "name", "outcome"), ANSWERS)
def test_an_answer_is_judged_by_the_output_schema(answer: Any, name: str, outcome: str) -> None:
    schema = {"type": "object", "properties": {"draft": {"type": "string"}}, "required": ["draft"]}

    assert judged(prompt(output=schema), of(name), answer=answer).outcome == outcome


def test_an_answer_that_breaks_the_output_schema_fails_every_other_assertion() -> None:
    result = judged(prompt(output={"type": "object"}), of("contains", "text"), answer="some text")

    assert result.outcome == "failed"


@pytest.mark.parametrize("name", ["accepted", "rejected", "not-accepted", "not-rejected"])
def test_a_rendering_over_the_budget_fails_whatever_is_asserted(name: str) -> None:
    result = judged(prompt(budget={"tokens": 5}), of(name), inputs=ORDER)

    assert result.outcome == "failed"
    assert "5" in result.reasons[0]


TRUE = Returned(value={"eligible": True})
TOOLS: list[tuple[dict[str, Any], Any, list[dict[str, Any]], Observation | None, str, str]] = [
    ({}, {"order_id": "A1"}, [of("accepted")], None, "passed", ""),
    ({}, {"order_id": 7}, [of("rejected")], None, "passed", ""),
    ({}, {"order_id": 7}, [of("accepted")], None, "failed", "order_id"),
    ({}, 7, [of("rejected")], None, "passed", ""),
    ({}, None, [of("rejected")], None, "passed", ""),
    (BOUND, {"order_id": "A1"}, [of("accepted")], None, "passed", ""),
    (BOUND, {"order_id": 7}, [of("equals", {})], None, "failed", "it is refused"),
    ({}, {"order_id": "A1"}, [of("equals", {"eligible": True})], None, "skipped", "has no binding"),
    ({}, {"order_id": "A1"}, [of("rejected"), of("equals", 1)], None, "failed", "rejected: it is accepted"),
    (BOUND, {"order_id": "A1"}, [of("equals", {"eligible": True}), of("accepted")], TRUE, "passed", ""),
    (BOUND, {"order_id": "A1"}, [of("contains", '"eligible":true')], TRUE, "passed", ""),
    (BOUND, {"order_id": "A1"}, [of("equals", {"eligible": False})], TRUE, "failed", "it is"),
    (BOUND, {"order_id": "A1"}, [of("contains", "x")], Returned(value={"x": 1}), "failed", "outputSchema"),
    (
        BOUND,
        {"order_id": "A1"},
        [of("contains", "x")],
        NotReturned(outcome="errored", reason="it raised"),
        "errored",
        "it raised",
    ),
    (
        BOUND,
        {"order_id": "A1"},
        [of("contains", "x")],
        NotReturned(outcome="skipped", reason="switched off"),
        "skipped",
        "switched off",
    ),
    (BOUND, {"order_id": "A1"}, [of("llm-rubric", "x")], None, "inconclusive", "needs a model"),
    (BOUND, {"order_id": "A1"}, [of("outcome", "x")], TRUE, "failed", "only a workflow has one"),
]


@pytest.mark.parametrize("row", TOOLS)
def test_tool_cases(row: tuple[dict[str, Any], Any, list[dict[str, Any]], Observation | None, str, str]) -> None:
    spec, call, assertions, sees, outcome, reason = row
    result = judged(tool(**spec), *assertions, sees=sees, call=call)

    assert result.outcome == outcome, result.reasons
    assert reason in "; ".join(result.reasons)


def test_a_tool_case_needs_a_call() -> None:
    assert judged(tool(), of("accepted")).reasons == ("a tool case needs a call: the arguments",)
    assert judged(tool(), of("accepted"), inputs={}).outcome == "errored"


YES = {"eligibility": {"eligible": True}, "draft": "Dear Ada"}
NO = {"eligibility": {"eligible": False}}
WORKFLOWS: list[tuple[dict[str, Any], list[dict[str, Any]], str, str]] = [
    ({"inputs": ORDER, "given": YES}, [of("outcome", "drafted")], "passed", ""),
    ({"inputs": ORDER, "given": NO}, [of("outcome", "denied"), of("path", ["eligibility", "denied"])], "passed", ""),
    ({"inputs": ORDER, "given": NO}, [of("outcome", "drafted")], "failed", 'ends as "denied"'),
    ({"inputs": ORDER, "given": NO}, [of("path", ["denied"])], "failed", "eligibility > denied"),
    ({"inputs": ORDER, "given": YES}, [of("equals", {"order": "A1"}), of("contains", "A1")], "passed", ""),
    ({"inputs": ORDER, "given": NO}, [of("equals", None)], "failed", "the end denied gives no output"),
    ({"inputs": ORDER, "given": NO}, [of("not-contains", "x")], "failed", "the end denied gives no output"),
    ({"inputs": ORDER, "given": YES}, [of("accepted")], "passed", ""),
    ({"inputs": {"order_id": 1}}, [of("rejected")], "passed", ""),
    ({"inputs": {**ORDER, "more": 1}}, [of("rejected")], "passed", ""),
    ({"inputs": {}}, [of("outcome", "denied")], "failed", "it is refused"),
    ({"inputs": ORDER, "given": {}}, [of("outcome", "denied")], "errored", "eligibility"),
    ({"inputs": ORDER, "given": {"eligibility": {"eligible": True}}}, [of("outcome", "drafted")], "errored", "draft"),
    ({"inputs": ORDER, "given": {**NO, "nowhere": 1}}, [of("outcome", "denied")], "errored", "given names nowhere"),
    ({"inputs": ORDER, "given": {**NO, "denied": 1}}, [of("outcome", "denied")], "errored", "which is an end"),
    (
        {"inputs": ORDER, "given": YES},
        [
            of("trajectory:tool-args-match", {"name": "support/check-eligibility", "args": {"order_id": "A1"}}),
            of("trajectory:tool-used", "support/check-eligibility"),
            of("trajectory:step-count", 2),
        ],
        "passed",
        "",
    ),
]


@pytest.mark.parametrize(("case", "assertions", "outcome", "reason"), WORKFLOWS)
def test_workflow_cases(case: dict[str, Any], assertions: list[dict[str, Any]], outcome: str, reason: str) -> None:
    result = judged(workflow(), *assertions, **case)

    assert result.outcome == outcome, result.reasons
    assert reason in "; ".join(result.reasons)


def test_a_walk_without_an_end_in_its_budget_fails() -> None:
    steps = [
        {"id": "again", "tool": "a", "switch": [{"when": "result.done", "then": "done"}, {"then": "again"}]},
        {"id": "done", "end": {"outcome": "done"}},
    ]
    result = judged(
        workflow(steps=steps, inputs={"type": "object"}), of("outcome", "done"), given={"again": {"done": False}}
    )

    assert result.outcome == "failed", result.reasons


def test_a_branch_that_cannot_be_decided_fails() -> None:
    result = judged(workflow(), of("outcome", "denied"), inputs=ORDER, given={"eligibility": {"eligible": "yes"}})

    assert result.outcome == "failed", result.reasons


def test_defaults_of_a_workflow_are_filled() -> None:
    inputs = {**WORKFLOW_SPEC["inputs"]}
    inputs["properties"] = {**inputs["properties"], "amount": {"type": "number", "default": 5}}
    inputs["required"] = ["order_id"]
    result = judged(
        workflow(inputs=inputs),
        of("trajectory:tool-used", "support/check-eligibility"),
        of("outcome", "drafted"),
        inputs={"order_id": "A1"},
        given=YES,
    )

    assert result.outcome == "passed", result.reasons


def test_an_unknown_kind_is_errored() -> None:
    assert judged(procedure("ritual", "a", {}), of("accepted")).outcome == "errored"


def test_a_schema_that_does_not_compile_makes_its_case_errored() -> None:
    result = judged(prompt(output={"type": "no such type"}), of("accepted"), answer="x")

    assert result.outcome == "errored"
    assert "could not be judged" in result.reasons[0]


CLOSURE: dict[str, Procedure] = {"support/check-eligibility": tool(), "support/refund-draft": prompt()}


def _with(**changed: Procedure | None) -> dict[str, Procedure]:
    """Return the closure with another tool or prompt in it, or without."""
    names = {"tool": "support/check-eligibility", "prompt": "support/refund-draft"}
    found = {**CLOSURE, **{names[kind]: item for kind, item in changed.items() if item is not None}}
    return {name: item for name, item in found.items() if changed.get(item.kind, item) is not None}


NEEDS_MORE = tool(inputSchema={**TOOL_SPEC["inputSchema"], "required": ["order_id", "unit"],
                               "properties": {"order_id": {"type": "string"}, "unit": {"type": "string"}}})  # fmt: skip
ANSWERS_OBJECT = prompt(output={"type": "object", "required": ["draft"]})
CALLS: list[tuple[str, dict[str, Procedure], dict[str, Any], dict[str, Any], str, str]] = [
    # what, closure, case, assertion, outcome, reason
    ("all fits", CLOSURE, {"given": YES}, of("outcome", "drafted"), "passed", ""),
    ("nothing is known of what is called", {}, {"given": YES}, of("outcome", "drafted"), "passed", ""),
    ("a tool wants more", _with(tool=NEEDS_MORE), {"given": YES}, of("outcome", "drafted"), "failed",
     "step eligibility calls support/check-eligibility@1.0.0, which refuses it: unit is missing"),
    ("a prompt wants less", _with(prompt=prompt(inputs={"properties": {"order_id": {}}})), {"given": YES},
     of("outcome", "drafted"), "failed", "step draft calls support/refund-draft@1.0.0, which refuses it: amount is"),
    ("which this walk does not call", _with(prompt=prompt(inputs={"properties": {"order_id": {}}})),
     {"given": NO}, of("outcome", "denied"), "passed", ""),
    ("a prompt fills its default in", _with(prompt=prompt(inputs={"properties": {"order_id": {}, "amount": {},
     "tone": {"default": "kind"}}, "required": ["tone"]})), {"given": YES}, of("outcome", "drafted"), "passed", ""),
    ("another kind", {**CLOSURE, "support/refund-draft": tool()}, {"given": YES}, of("outcome", "drafted"), "failed",
     "it is a tool, and the step calls a prompt"),
    ("a value that the tool refuses", _with(tool=tool(inputSchema={"type": "object", "properties": {"order_id": {
     "type": "string", "minLength": 3}}})), {"given": YES}, of("outcome", "drafted"), "failed", "order_id: "),
    ("a result that cannot be", CLOSURE, {"given": {"eligibility": {"eligible": "yes"}}}, of("outcome", "denied"),
     "errored", "given for step eligibility can never be returned by support/check-eligibility@1.0.0: eligible: "),
    ("also of a step that is not come to", _with(prompt=ANSWERS_OBJECT), {"given": {**NO, "draft": 1}},
     of("outcome", "denied"), "errored", "given for step draft can never be returned by support/refund-draft@1.0.0"),
    ("an answer as JSON", _with(prompt=ANSWERS_OBJECT), {"given": {**YES, "draft": {"draft": "x"}}},
     of("outcome", "drafted"), "passed", ""),
    ("an answer as text that is JSON", _with(prompt=ANSWERS_OBJECT), {"given": {**YES, "draft": '{"draft": "x"}'}},
     of("outcome", "drafted"), "passed", ""),
    ("refused inputs call nothing", _with(tool=NEEDS_MORE), {"inputs": {}, "given": YES}, of("rejected"), "passed", ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("closure", "case", "wanted", "outcome", "reason"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS]
)
def test_a_walk_makes_calls_that_its_closure_takes(
    closure: dict[str, Procedure], case: dict[str, Any], wanted: dict[str, Any], outcome: str, reason: str
) -> None:
    read = suite("support/refund", {"id": "one", "assert": [wanted], "inputs": ORDER, **case})
    names = {Name(name): item for name, item in closure.items()}
    result = judge_case(read.cases[0], workflow(), observe=_nobody, closure=names)
    assert result.outcome == outcome, result.reasons
    assert reason in "; ".join(result.reasons)


def test_a_workflow_that_is_called_takes_its_own_inputs() -> None:
    inner = procedure("workflow", "support/inner", {"inputs": {"properties": {"n": {"type": "number"}}}, "steps": []})
    steps = [
        {"id": "in", "workflow": "support/inner", "with": {"m": 1}, "then": "e"},
        {"id": "e", "end": {"outcome": "x"}},
    ]
    read = suite("support/refund", {"id": "one", "assert": [of("outcome", "x")], "given": {"in": 1}})
    result = judge_case(read.cases[0], workflow(steps=steps, inputs={}), observe=_nobody, closure={inner.name: inner})
    assert result.reasons == ("step in calls support/inner@1.0.0, which refuses it: m is not declared",)


def _nobody(binding: Any, arguments: Any) -> Observation:
    raise AssertionError(f"{binding} was run with {arguments}")
