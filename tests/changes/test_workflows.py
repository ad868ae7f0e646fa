"""Rules for workflows: outcomes, step ids, effects, guards, branches, budgets."""

from __future__ import annotations

from typing import Any

import pytest

from changes.make import compared, end, rows, workflow

REQUIRES = {"check": ">=1,<2", "pay": ">=1,<2", "log": ">=1,<2", "note": ">=1,<2"}
EFFECTS = {"check": frozenset({"orders:read"}), "pay": frozenset({"money:move"}), "log": frozenset({"orders:read"})}
STEPS = ("/spec/steps/0", "/spec/steps/1", "/spec/steps/2")


def effects_of(name: str, _specifier: str) -> frozenset[str] | None:
    return EFFECTS.get(name)


def call(name: str, then: str, *, kind: str = "tool", of: str = "", **more: Any) -> dict[str, Any]:
    return {"id": name, kind: of or name, "then": then, **more}


def choose(name: str, *branches: tuple[str | None, str]) -> dict[str, Any]:
    switch = [{"when": when, "then": then} if when else {"then": then} for when, then in branches]
    return {"id": name, "tool": name, "switch": switch}


def flow(*steps: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return workflow(*steps, requires=REQUIRES, **spec)


PLAIN = (call("check", "pay"), call("pay", "paid"), end("paid"))
ASKED = (choose("check", ("result.ok", "pay"), (None, "denied")), call("pay", "paid"), end("paid"), end("denied"))

CASES: list[tuple[str, dict[str, Any], dict[str, Any], set[tuple[str, str, str]]]] = [
    (
        "an end more",
        flow(*PLAIN),
        flow(*ASKED),
        {
            ("outcome-added", "/spec/steps/3/end/outcome", "major"),
            ("step-added", "/spec/steps/3", "minor"),
            ("branch-changed", "/spec/steps/0/switch", "minor"),
        },
    ),
    (
        "an end that nothing leads to any more",
        flow(*ASKED),
        flow(call("check", "pay"), *ASKED[1:]),
        {("outcome-removed", "/spec/steps/3/end/outcome", "minor"), ("branch-changed", "/spec/steps/0/then", "minor")},
    ),
    (
        "a step that touches nothing new",
        flow(*PLAIN),
        flow(call("check", "log"), call("log", "pay"), *PLAIN[1:]),
        {("step-added", "/spec/steps/1", "minor")},
    ),
    (
        "a prompt more",
        flow(*PLAIN),
        flow(call("check", "note"), call("note", "pay", kind="prompt"), *PLAIN[1:]),
        {("step-added", "/spec/steps/1", "minor")},
    ),
    (
        "a step that touches more",
        workflow(call("check", "paid"), end("paid"), requires={"check": ">=1,<2"}),
        workflow(*PLAIN, requires={"check": ">=1,<2", "pay": ">=1,<2"}),
        {("step-added", "/spec/steps/1", "major"), ("requires-added", "/requires/pay", "minor")},
    ),
    (
        "a step of unknown effects",
        flow(*PLAIN),
        flow(call("check", "odd"), call("odd", "pay", of="note"), *PLAIN[1:]),
        {("step-added", "/spec/steps/1", "major")},
    ),
    (
        "the same procedure once more touches nothing new, known or not",
        flow(call("note", "paid"), end("paid")),
        flow(call("note", "twice"), call("twice", "paid", of="note"), end("paid")),
        {("step-added", "/spec/steps/1", "minor")},
    ),
    (
        "a step is gone, and with it a guard",
        flow(*PLAIN),
        flow(*PLAIN[1:]),
        {
            ("step-removed", "/spec/steps/0", "major"),
            ("guard-lost", "/spec/steps/0", "major"),
            ("guard-lost", "/spec/steps/1", "major"),
        },
    ),
    (
        "a step calls another procedure",
        flow(*PLAIN),
        flow(call("check", "pay", of="log"), *PLAIN[1:]),
        {("step-target", "/spec/steps/0", "major")},
    ),
    (
        "a way around the check",
        flow(call("log", "check"), *PLAIN),
        flow(choose("log", ("inputs.fast", "pay"), (None, "check")), *PLAIN),
        {
            ("guard-lost", "/spec/steps/2", "major"),
            ("guard-lost", "/spec/steps/3", "major"),
            ("branch-changed", "/spec/steps/0/switch", "minor"),
        },
    ),
    (
        "a way around an end guards nothing",
        flow(choose("check", ("a", "denied"), (None, "pay")), call("pay", "paid"), end("paid"), end("denied")),
        flow(choose("check", ("a", "pay"), (None, "denied")), call("pay", "paid"), end("paid"), end("denied")),
        {("branch-changed", "/spec/steps/0/switch", "minor")},
    ),
    (
        "another condition",
        flow(*ASKED),
        flow(choose("check", ("result.fine", "pay"), (None, "denied")), *ASKED[1:]),
        {("branch-changed", "/spec/steps/0/switch", "minor")},
    ),
    (
        "other arguments",
        flow(*PLAIN),
        flow({**call("check", "pay"), "with": {"id": "${{ inputs.id }}"}}, *PLAIN[1:]),
        {("step-arguments", "/spec/steps/0/with", "minor")},
    ),
    (
        "another output",
        flow(*PLAIN),
        flow(*PLAIN[:2], {"id": "paid", "end": {"outcome": "paid", "output": {"a": 1}}}),
        {("step-arguments", "/spec/steps/2/end/output", "minor")},
    ),
    (
        "another start",
        flow(call("log", "paid"), call("check", "paid"), end("paid")),
        flow(call("check", "paid"), call("log", "paid"), end("paid")),
        {("guard-lost", "/spec/steps/2", "major")},
    ),
    ("the order of the file", flow(*PLAIN), flow(PLAIN[0], PLAIN[2], PLAIN[1]), set()),
    (
        "a higher budget",
        flow(*PLAIN, budget={"max_steps": 5}),
        flow(*PLAIN, budget={"max_steps": 6}),
        {("budget-raised", "/spec/budget/max_steps", "minor")},
    ),
    (
        "no budget",
        flow(*PLAIN, budget={"max_steps": 5}),
        flow(*PLAIN),
        {("budget-raised", "/spec/budget/max_steps", "minor")},
    ),
    (
        "a budget that the longest walk fits",
        flow(*PLAIN),
        flow(*PLAIN, budget={"max_steps": 2}),
        {("budget-lowered", "/spec/budget/max_steps", "minor")},
    ),
    (
        "a budget that cuts walks off",
        flow(*PLAIN),
        flow(*PLAIN, budget={"max_steps": 1}),
        {("budget-lowered", "/spec/budget/max_steps", "major")},
    ),
    (
        "a lower budget of a loop",
        flow(choose("check", ("a", "check"), (None, "paid")), end("paid"), budget={"max_steps": 9}),
        flow(choose("check", ("a", "check"), (None, "paid")), end("paid"), budget={"max_steps": 8}),
        {("budget-lowered", "/spec/budget/max_steps", "major")},
    ),
    (
        "an input more; the root is closed",
        flow(*PLAIN),
        flow(*PLAIN, inputs={"type": "object", "properties": {"a": {"type": "string"}}}),
        {("property-added", "/spec/inputs/properties/a", "minor")},
    ),
]


READ = {"of": "${{ steps.check.ok }}"}
LOOKED = {"of": "${{ steps.look.ok }}"}
GIVEN = (call("check", "pay"), {**call("pay", "paid"), "with": READ}, end("paid"))
RENAMED: list[tuple[str, dict[str, Any], dict[str, Any], set[str]]] = [
    (
        "a guard",
        flow(*PLAIN),
        flow(call("look", "pay", of="check"), *PLAIN[1:]),
        {"step-removed", "step-added"},
    ),
    (
        "a guard that others read",
        flow(*GIVEN),
        flow(call("look", "pay", of="check"), {**GIVEN[1], "with": LOOKED}, GIVEN[2]),
        {"step-removed", "step-added", "step-arguments"},
    ),
    (
        "every step, each speaking of the others",
        flow(*GIVEN),
        flow(
            call("look", "give", of="check"),
            {**call("give", "given", of="pay"), "with": {"of": "${{ steps.look.ok }}"}},
            end("given", "paid"),
        ),
        {"step-removed", "step-added"},
    ),
    (
        "a step that comes back to itself",
        flow(choose("check", ("a", "check"), (None, "paid")), end("paid"), budget={"max_steps": 9}),
        flow({**choose("check", ("a", "look"), (None, "paid")), "id": "look"}, end("paid"), budget={"max_steps": 9}),
        {"step-removed", "step-added"},
    ),
    (
        "and another target with it",
        flow(*PLAIN),
        flow(call("look", "pay", of="log"), *PLAIN[1:]),
        {"step-removed", "step-added", "guard-lost"},
    ),
    (
        "and other arguments with it: it is not known to be the same",
        flow(*PLAIN),
        flow({**call("look", "pay", of="check"), "with": {"a": 1}}, *PLAIN[1:]),
        {"step-removed", "step-added", "guard-lost"},
    ),
    (
        "and a way around it with it",
        flow(call("log", "check"), *PLAIN),
        flow(choose("log", ("a", "pay"), (None, "look")), call("look", "pay", of="check"), *PLAIN[1:]),
        {"step-removed", "step-added", "branch-changed", "guard-lost"},
    ),
    (
        "where two could be meant",
        flow(*PLAIN),
        flow(
            choose("log", ("a", "look"), (None, "seek")),
            *(call(x, "pay", of="check") for x in ("look", "seek")),
            *PLAIN[1:],
        ),
        {"step-removed", "step-added", "guard-lost"},
    ),
    (
        "a step that leads where nothing was",
        flow(*PLAIN),
        flow(call("look", "note", of="check"), call("note", "pay", kind="prompt"), *PLAIN[1:]),
        {"step-removed", "step-added", "guard-lost"},
    ),
]


@pytest.mark.parametrize(("old", "new", "expected"), [case[1:] for case in RENAMED], ids=[case[0] for case in RENAMED])
def test_a_renamed_step_is_a_major_change_and_guards_as_before(
    old: dict[str, Any], new: dict[str, Any], expected: set[str]
) -> None:
    found = compared(old, new, effects_of=effects_of)
    assert (expected, "major") == ({change.code for change in found.changes}, found.required)


@pytest.mark.parametrize(("old", "new", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_workflow(old: dict[str, Any], new: dict[str, Any], expected: set[tuple[str, str, str]]) -> None:
    assert expected == rows(compared(old, new, effects_of=effects_of).changes)


def test_a_guard_that_is_lost_is_named_with_what_it_guarded() -> None:
    old = flow(call("log", "check"), *PLAIN)
    new = flow(choose("log", ("inputs.fast", "pay"), (None, "check")), *PLAIN)
    reasons = [
        change.reason for change in compared(old, new, effects_of=effects_of).changes if change.code == "guard-lost"
    ]
    assert any("the step pay was reached only through check" in reason for reason in reasons)
    assert any("the outcome paid was reached only through check" in reason for reason in reasons)


def test_a_required_tool_that_now_touches_more() -> None:
    def newest(name: str, specifier: str) -> frozenset[str]:
        return EFFECTS.get(name, frozenset()) | (frozenset({"mail:send"}) if "3" in specifier else frozenset())

    old = flow(*PLAIN)
    new = {**old, "requires": {**REQUIRES, "check": ">=1,<3"}}
    found = rows(compared(old, new, effects_of=newest).changes)
    assert {("requires-widened", "/requires/check", "minor"), ("effects-added", "/requires/check", "major")} == found


def test_without_knowledge_of_effects_a_new_tool_is_major_and_a_new_prompt_is_not() -> None:
    old = flow(call("check", "paid"), end("paid"))
    for kind, level in (("tool", "major"), ("prompt", "minor")):
        new = flow(call("check", "log"), call("log", "paid", kind=kind), end("paid"))
        assert level == compared(old, new).required


def test_a_large_graph_ends_soon() -> None:
    steps = [
        {"id": f"s{n}", "tool": "check", "switch": [{"when": "result.a", "then": f"s{n + 2}"}, {"then": f"s{n + 1}"}]}
        for n in range(900)
    ]
    tail = [end("s900"), end("s901")]
    old = flow(*steps, *tail)
    new = flow(*[{**step, "switch": step["switch"][1:]} for step in steps[:450]], *steps[450:], *tail)
    assert {"branch-changed"} <= {change.code for change in compared(old, new, effects_of=effects_of).changes}
