"""Workflows as graphs: every fault with its place, and that no JSON makes the check fail otherwise."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pawl.problems import Place
from pawl.procedures.workflow import MAX_STEPS, check_workflow, graph, has_loop, reachable, reachable_outcomes
from support import soon

INPUTS = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "note": {"type": "string"}, "limit": {"type": "integer", "default": 3}},
    "required": ["id"],
}


def spec_of(*steps: Any, inputs: Any = INPUTS, **more: Any) -> dict[str, Any]:
    return {"inputs": inputs, "steps": list(steps), **more}


def call(name: str, then: Any = "done", **more: Any) -> dict[str, Any]:
    follows = {"then": then} if isinstance(then, str) else {"switch": then}
    return {"id": name, "tool": "a/tool", **follows, **more}


def end(name: str = "done", outcome: str = "done", **more: Any) -> dict[str, Any]:
    return {"id": name, "end": {"outcome": outcome, **more}}


def found(spec: Any) -> list[tuple[str, Place]]:
    return [(fault.code, fault.at) for fault in check_workflow(spec, {})]


REFUND = spec_of(
    call("look", [{"when": "result.eligible && inputs.limit > 0", "then": "draft"}, {"then": "denied"}]),
    {
        "id": "draft",
        "prompt": "a/prompt",
        "with": {"id": "${{ inputs.id }}", "why": "${{ steps.look.why }}"},
        "then": "done",
    },
    end(output={"text": "${{ result.text }}", "all": ["${{ steps.draft }}"]}),
    end("denied", "denied"),
)

SOUND: Mapping[str, dict[str, Any]] = {
    "refund": REFUND,
    "only an end": spec_of(end(output="${{ inputs.id }}")),
    "loop": spec_of(
        call("a", [{"when": "has(steps.b) && steps.b.more", "then": "b"}, {"then": "done"}]),
        call("b", "a", **{"with": {"x": "${{ steps.a.x }}"}}),
        end(),
        budget={"max_steps": 5},
    ),
    "own result in its own switch": spec_of(
        call("a", [{"when": "steps.a == result", "then": "done"}, {"then": "done"}]), end()
    ),
    "asked for": spec_of(call("a", **{"with": {"x": "${{ has(inputs.note) ? inputs.note : '' }}"}}), end()),
    "asked for elsewhere": spec_of(
        call("a", [{"when": "'note' in inputs", "then": "b"}, {"then": "done"}]),
        call("b", **{"with": {"x": "${{ inputs.note }}"}}),
        end(),
    ),
    "braces and texts": spec_of(
        call(
            "a",
            **{
                "with": {
                    "x": "${{ {'a': {'b': '}}'}} }} and ${{ \"${{\" }}",
                    "y": "}} { }} ${ {{",
                    "z": "${{ r'\\d}}' }}",
                }
            },
        ),
        end(),
    ),
    "open inputs": spec_of(
        call("a", **{"with": {"x": "${{ inputs.any }}"}}), end(), inputs={"additionalProperties": True}
    ),
    "composed inputs": spec_of(
        call("a", **{"with": {"x": "${{ inputs.any }}"}}), end(), inputs={"allOf": [{"properties": {"any": {}}}]}
    ),
    "names in a loop are its own": spec_of(
        call("a", **{"with": {"x": "${{ [{'q': 1}].map(inputs, inputs.q) }}"}}), end()
    ),
    "no budget without a loop": spec_of(call("a", [{"when": "result", "then": "b"}, {"then": "b"}]), call("b"), end()),
}


@pytest.mark.parametrize("name", SOUND)
def test_sound(name: str) -> None:
    assert [] == found(SOUND[name])


def at(*place: str | int) -> Place:
    return ("steps", *place)


FAULTS: list[tuple[str, Any, list[tuple[str, Place]]]] = [
    ("no mapping", [], [("workflow-steps", ("steps",))]),
    ("no steps", {}, [("workflow-steps", ("steps",))]),
    ("steps as a mapping", {"steps": {}}, [("workflow-steps", ("steps",))]),
    ("steps as a text", {"steps": "ab"}, [("workflow-steps", ("steps",))]),
    ("a step as a text", {"steps": ["a"]}, [("workflow-steps", ("steps",))]),
    ("empty", spec_of(), [("workflow-steps", ("steps",))]),
    ("too many", spec_of(*[end(f"e{number}") for number in range(MAX_STEPS + 1)]), [("workflow-steps", ("steps",))]),
    ("no id", spec_of({"end": {"outcome": "x"}}), [("workflow-step", at(0))]),
    ("id no text", spec_of({"id": [], "end": {"outcome": "x"}}), [("workflow-step", at(0))]),
    ("twice", spec_of(call("a"), end(), end()), [("workflow-step-twice", at(2, "id"))]),
    ("nothing to do", spec_of({"id": "a", "then": "done"}, end()), [("workflow-step", at(0))]),
    ("two things", spec_of(call("a", prompt="a/b"), end()), [("workflow-step", at(0))]),
    ("call and end", spec_of(call("a", end={"outcome": "x"}), end()), [("workflow-step", at(0))]),
    ("name no text", spec_of(call("a", tool=5), end()), [("workflow-step", at(0, "tool"))]),
    ("with a list", spec_of(call("a", **{"with": []}), end()), [("workflow-step", at(0, "with"))]),
    ("nothing follows", spec_of({"id": "a", "tool": "a/b"}, end()), [("workflow-next", at(0))]),
    ("then and switch", spec_of(call("a", switch=[{"then": "done"}]), end()), [("workflow-next", at(0))]),
    ("then no text", spec_of({"id": "a", "tool": "a/b", "then": ["done"]}, end()), [("workflow-next", at(0, "then"))]),
    ("end followed", spec_of({**end(), "then": "done"}), [("workflow-end", at(0, "then"))]),
    ("end with arguments", spec_of({**end(), "with": {}}), [("workflow-end", at(0, "with"))]),
    ("end a text", spec_of({"id": "a", "end": "done"}), [("workflow-end", at(0, "end"))]),
    ("no outcome", spec_of({"id": "a", "end": {}}), [("workflow-end", at(0, "end"))]),
    ("outcome empty", spec_of(end(outcome="")), [("workflow-end", at(0, "end", "outcome"))]),
    ("outcome computed", spec_of(end(outcome="${{ inputs.id }}")), [("workflow-end", at(0, "end", "outcome"))]),
    ("switch a mapping", spec_of(call("a", {"then": "done"}), end()), [("workflow-switch", at(0, "switch"))]),
    ("switch empty", spec_of(call("a", []), end()), [("workflow-switch", at(0, "switch"))]),
    ("branch a text", spec_of(call("a", ["done"]), end()), [("workflow-switch", at(0, "switch", 0))]),
    ("branch to nowhere", spec_of(call("a", [{"when": "true"}]), end()), [("workflow-switch", at(0, "switch", 0))]),
    (
        "no default",
        spec_of(call("a", [{"when": "result", "then": "done"}]), end()),
        [("workflow-switch-default", at(0, "switch", 0))],
    ),
    (
        "default first",
        spec_of(call("a", [{"then": "done"}, {"then": "done"}]), end()),
        [("workflow-switch", at(0, "switch", 0))],
    ),
    ("no such target", spec_of(call("a", "b"), end()), [("workflow-target", at(0, "then"))]),
    (
        "no such target in a branch",
        spec_of(call("a", [{"when": "true", "then": "done"}, {"then": "b"}]), end()),
        [("workflow-target", at(0, "switch", 1, "then"))],
    ),
    ("unreachable", spec_of(call("a"), call("b"), end()), [("workflow-unreachable", at(1))]),
    (
        "no end",
        spec_of(
            call("a", [{"when": "result", "then": "b"}, {"then": "done"}]),
            call("b", "b"),
            end(),
            budget={"max_steps": 9},
        ),
        [("workflow-no-end", at(1))],
    ),
    (
        "loop without budget",
        spec_of(call("a", [{"when": "result", "then": "a"}, {"then": "done"}]), end()),
        [("workflow-loop-unbounded", ("steps",))],
    ),
    (
        "budget too small",
        spec_of(call("a", "b"), call("b"), end(), budget={"max_steps": 1}),
        [("workflow-budget", ("budget", "max_steps"))],
    ),
    ("budget a text", spec_of(end(), budget="x"), [("workflow-budget", ("budget",))]),
    ("budget true", spec_of(end(), budget={"max_steps": True}), [("workflow-budget", ("budget", "max_steps"))]),
    ("budget nothing", spec_of(end(), budget={"max_steps": 0}), [("workflow-budget", ("budget", "max_steps"))]),
    (
        "when no text",
        spec_of(call("a", [{"when": 1, "then": "done"}, {"then": "done"}]), end()),
        [("expression-invalid", at(0, "switch", 0, "when"))],
    ),
    (
        "when in braces",
        spec_of(call("a", [{"when": "${{ result }}", "then": "done"}, {"then": "done"}]), end()),
        [("expression-invalid", at(0, "switch", 0, "when"))],
    ),
    (
        "when no condition",
        spec_of(call("a", [{"when": "'yes'", "then": "done"}, {"then": "done"}]), end()),
        [("expression-not-bool", at(0, "switch", 0, "when"))],
    ),
    (
        "unreadable",
        spec_of(call("a", **{"with": {"x": [{"y": "${{ 1 + }}"}]}}), end()),
        [("expression-invalid", at(0, "with", "x", 0, "y"))],
    ),
    (
        "unclosed",
        spec_of(call("a", **{"with": {"x": "${{ inputs.id"}}), end()),
        [("expression-invalid", at(0, "with", "x"))],
    ),
    (
        "unclosed text",
        spec_of(call("a", **{"with": {"x": "${{ 'a }}"}}), end()),
        [("expression-invalid", at(0, "with", "x"))],
    ),
    (
        "nothing inside",
        spec_of(call("a", **{"with": {"x": "a ${{  }}"}}), end()),
        [("expression-invalid", at(0, "with", "x"))],
    ),
    (
        "in a key",
        spec_of(call("a", **{"with": {"${{ 'x' }}": 1}}), end()),
        [("expression-invalid", at(0, "with", "${{ 'x' }}"))],
    ),
    (
        "result before it is there",
        spec_of(call("a", **{"with": {"x": "${{ result }}"}}), end()),
        [("expression-unknown-name", at(0, "with", "x"))],
    ),
    ("result of nothing", spec_of(end(output="${{ result }}")), [("expression-unknown-name", at(0, "end", "output"))]),
    (
        "no such input",
        spec_of(call("a", **{"with": {"x": "${{ inputs.other }}"}}), end()),
        [("expression-unknown-name", at(0, "with", "x"))],
    ),
    (
        "no such input asked for",
        spec_of(call("a", [{"when": "has(inputs.other)", "then": "done"}, {"then": "done"}]), end()),
        [("expression-unknown-name", at(0, "switch", 0, "when"))],
    ),
    (
        "inputs of none",
        spec_of(call("a", **{"with": {"x": "${{ inputs.id }}"}}), end(), inputs=None),
        [("expression-unknown-name", at(0, "with", "x"))],
    ),
    (
        "optional input",
        spec_of(call("a", **{"with": {"x": "${{ inputs['note'] }}"}}), end()),
        [("workflow-unguarded", at(0, "with", "x"))],
    ),
    (
        "no such step",
        spec_of(call("a", **{"with": {"x": "${{ steps.b.x }}"}}), end()),
        [("expression-unknown-name", at(0, "with", "x"))],
    ),
    (
        "an end's result",
        spec_of(call("a", **{"with": {"x": "${{ steps.done }}"}}), end()),
        [("expression-unknown-name", at(0, "with", "x"))],
    ),
    (
        "own result too early",
        spec_of(call("a", **{"with": {"x": "${{ steps.a }}"}}), end()),
        [("expression-unknown-name", at(0, "with", "x"))],
    ),
    (
        "result of a later step",
        spec_of(call("a", "b", **{"with": {"x": "${{ steps.b }}"}}), call("b"), end()),
        [("expression-unknown-name", at(0, "with", "x"))],
    ),
    (
        "result of a step that can be gone around",
        spec_of(
            call("a", [{"when": "result", "then": "b"}, {"then": "c"}]),
            call("b", "c"),
            call("c", **{"with": {"x": "${{ steps.b.x }}"}}),
            end(),
        ),
        [("workflow-unguarded", at(2, "with", "x"))],
    ),
    (
        "every fault at once",
        spec_of(
            call("a", "nowhere", **{"with": {"x": "${{ 1 + }}", "y": "${{ nobody }}"}}), call("a", []), {"id": "b"}
        ),
        [
            ("workflow-step-twice", at(1, "id")),
            ("workflow-switch", at(1, "switch")),
            ("workflow-step", at(2)),
            ("expression-invalid", at(0, "with", "x")),
            ("expression-unknown-name", at(0, "with", "y")),
        ],
    ),
]


@pytest.mark.parametrize(("spec", "expected"), [case[1:] for case in FAULTS], ids=[case[0] for case in FAULTS])
def test_every_fault_and_its_place(spec: Any, expected: list[tuple[str, Place]]) -> None:
    assert expected == found(spec)


def test_only_what_may_be_meant_is_a_warning() -> None:
    warned = {
        code
        for _, spec, _ in FAULTS
        for fault in check_workflow(spec, {})
        if fault.severity == "warning"
        for code in [fault.code]
    }
    assert {"workflow-unreachable", "workflow-unguarded"} == warned


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["a", "b", "done", "${{ inputs.a }}", "${{", "result.x", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["id", "tool", "prompt", "with", "then", "switch", "when", "end", "outcome", "output", "max_steps"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
STEP = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from(["a", "b", "c"]) | JSON,
        "tool": st.just("x/y") | JSON,
        "workflow": JSON,
        "then": st.sampled_from(["a", "b", "c"]) | JSON,
        "switch": st.lists(
            st.fixed_dictionaries({"then": st.sampled_from(["a", "c"]) | JSON}, optional={"when": JSON}), max_size=3
        )
        | JSON,
        "end": st.just({"outcome": "x"}) | JSON,
        "with": JSON,
    },
)


@given(
    st.fixed_dictionaries({}, optional={"inputs": JSON, "steps": st.lists(STEP, max_size=4) | JSON, "budget": JSON})
    | JSON
)
def test_any_json_has_faults_or_a_graph(spec: Any) -> None:
    before = copy.deepcopy(spec)
    faults = check_workflow(spec, {})
    assert before == spec
    assert all(fault.message and (fault.at or fault.code) for fault in faults)
    if not any(fault.severity == "error" for fault in faults):
        assert set(reachable(spec)) <= set(graph(spec))
        assert reachable_outcomes(spec)


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a workflow of a few steps, any of which can follow any."""
    names = [f"s{number}" for number in range(draw(st.integers(1, 6)))]
    steps: list[dict[str, Any]] = []
    for name in names:
        following = draw(st.lists(st.sampled_from(names), max_size=3))
        if following:
            branches: list[dict[str, str]] = [{"when": "result", "then": target} for target in following]
            steps.append(call(name, [*branches[:-1], {"then": following[-1]}]))
        else:
            steps.append(end(name, f"outcome-{name}"))
    return spec_of(*steps)


def naive_walks(spec: Mapping[str, Any], length: int) -> list[list[str]]:
    edges = graph(spec)
    walks = [[spec["steps"][0]["id"]]]
    every = list(walks)
    for _ in range(length):
        walks = [[*walk, target] for walk in walks for target in edges[walk[-1]]]
        every += walks
    return every


@given(graphs())
def test_the_graph_is_what_walks_can_do(spec: dict[str, Any]) -> None:
    walks = naive_walks(spec, len(spec["steps"]))
    seen = {step for walk in walks for step in walk}
    outcomes = {step["id"]: step["end"]["outcome"] for step in spec["steps"] if "end" in step}
    assert seen == set(reachable(spec))
    assert {outcomes[step] for step in seen & set(outcomes)} == set(reachable_outcomes(spec))
    assert any(len(set(walk)) < len(walk) for walk in walks) == has_loop(spec)


@given(graphs(), st.integers(0, 5), st.integers(0, 5))
def test_unguarded_results_are_those_that_walks_can_lack(spec: dict[str, Any], reader: int, read: int) -> None:
    steps = spec["steps"]
    assume(reader < len(steps) and read < len(steps) and "end" not in steps[reader] and "end" not in steps[read])
    here, there = steps[reader]["id"], steps[read]["id"]
    steps[reader]["with"] = {"x": f"${{{{ steps.{there}.x }}}}"}
    walks = [walk[:-1] for walk in naive_walks(spec, len(steps) + 1) if walk[-1] == here]
    assume(walks)
    codes = {code for code, place in found({**spec, "budget": {"max_steps": 100}}) if place[:3] == at(reader, "with")}
    having = [there in walk for walk in walks]
    if all(having):
        assert set() == codes
    elif any(having):
        assert {"workflow-unguarded"} == codes
    elif codes:
        assert {"expression-unknown-name"} == codes or here == there


def test_large_workflows_are_checked_soon() -> None:
    names = [f"s{number}" for number in range(MAX_STEPS - 1)]
    following = [*names[1:], "done"]
    steps = [
        call(name, [{"when": f"steps.{names[index // 2]}.x == {index}", "then": names[0]}, {"then": after}])
        for index, (name, after) in enumerate(zip(names, following, strict=True))
    ]
    with soon():
        assert [] == found(spec_of(*steps, end(), budget={"max_steps": 10_000}))
