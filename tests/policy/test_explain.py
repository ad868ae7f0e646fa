"""What a refusal says differs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.policy.explain import MAX_LENGTH, describe_absent, explain_difference
from pawl.policy.scanning import conjuncts, paths, quantifier
from policy.make import context, procedure

STEPS = [{"id": "draft", "prompt": "support/refund-draft"}, {"id": "drafted", "end": {"outcome": "drafted"}}]
FLOW = procedure(spec={"steps": STEPS, "budget": {"max_steps": 200}}, tags=[])
CALLS = 'has(s.tool) && s.tool == "support/check-eligibility"'

EXPLAINED: list[tuple[str, str]] = [
    (
        f"procedure.spec.steps.exists(s, {CALLS})",
        f"nothing in procedure.spec.steps (draft, drafted) meets `{CALLS}`",
    ),
    (
        "procedure.spec.steps.all(s, has(s.prompt))",
        "in procedure.spec.steps, drafted must meet `has(s.prompt)`",
    ),
    (
        "!procedure.spec.steps.exists(s, has(s.prompt))",
        "in procedure.spec.steps, draft must not meet `has(s.prompt)`",
    ),
    ("procedure.tags.exists(t, t == 'x')", "procedure.tags is empty"),
    ('procedure.owner == ""', '`procedure.owner == ""` is false: procedure.owner is "payments"'),
    (
        'procedure.kind == "workflow" && procedure.spec.budget.max_steps <= 100',
        "`procedure.spec.budget.max_steps <= 100` is false: procedure.spec.budget.max_steps is 200",
    ),
    (
        "(has(procedure.summary) && (channel == 'staging'))",
        (
            "`has(procedure.summary)` is false: procedure.summary is absent; "
            "`channel == 'staging'` is false: channel is \"production\""
        ),
    ),
    (
        "has(procedure.spec.limits) && procedure.spec.limits.max == 1",
        "`has(procedure.spec.limits)` is false: procedure.spec.limits is absent",
    ),
    (
        "procedure.owner == 'a' || procedure.owner == 'b && c'",
        "`procedure.owner == 'a' || procedure.owner == 'b && c'` is false: procedure.owner is \"payments\"",
    ),
    ('procedure.spec.steps[0].id == "x"', 'procedure.spec.steps[0].id is "draft"'),
    ('procedure["owner"] == "x"', 'procedure["owner"] is "payments"'),
    ('procedure.owner.startsWith("x")', 'procedure.owner is "payments"'),
    ("current != null", "current is null (nothing is pinned yet)"),
    ("closure.exists(p, p.kind == 'tool')", "nothing in closure (support/refund@1.0.0) meets `p.kind == 'tool'`"),
    ("size(closure) == 2", "closure is support/refund@1.0.0"),
    ("actor.verified", "actor.verified is false"),
    ("false", "`false` is false"),
]


@pytest.mark.parametrize(("require", "expected"), EXPLAINED)
def test_a_refusal_says_what_differs(require: str, expected: str) -> None:
    assert expected in explain_difference(require, context(FLOW).values())


def test_only_what_does_not_hold_is_told() -> None:
    said = explain_difference('procedure.kind == "workflow" && procedure.owner == "x"', context(FLOW).values())
    assert "workflow" not in said


def test_what_a_false_condition_guards_is_not_told() -> None:
    said = explain_difference("has(procedure.summary) && procedure.summary.matches('x')", context(FLOW).values())
    assert said == "`has(procedure.summary)` is false: procedure.summary is absent"


def test_what_is_absent_is_named_at_its_first_missing_step() -> None:
    values = context(FLOW).values()
    assert describe_absent("procedure.spec.limits.max.x == procedure.sumary", values) == (
        "procedure.spec.limits is absent, procedure.sumary is absent"
    )
    assert describe_absent("procedure.owner == 'procedure.nothing'", values) == ""
    assert describe_absent("procedure.owner in ['procedure.nothing', '[procedure.x']", values) == ""


CONJUNCTS: list[tuple[str, list[str]]] = [
    ("a", ["a"]),
    ("a && b", ["a", "b"]),
    ("(a && (b && c)) && d", ["a", "b", "c", "d"]),
    ("a && b || c", ["a && b || c"]),
    ("a && (b || c)", ["a", "b || c"]),
    ("a && b ? c : d", ["a && b ? c : d"]),
    ("a == '&&' && f(b && c)", ["a == '&&'", "f(b && c)"]),
    ('a == "\\"&&" && b', ['a == "\\"&&"', "b"]),
    ("a // && x\n && b", ["a // && x", "b"]),
    ("(a) && (b)", ["(a)", "(b)"]),
    ("'''&&''' == a && b", ["'''&&''' == a", "b"]),
    ("((", ["(("]),
    ("", [""]),
]


@pytest.mark.parametrize(("expression", "expected"), CONJUNCTS)
def test_conditions_are_split_where_all_must_hold(expression: str, expected: list[str]) -> None:
    assert [part.strip("()") for part in expected] == [part.strip("()") for part in conjuncts(expression)]


def test_the_name_of_a_method_is_no_path() -> None:
    assert [path.text for path in paths("procedure.owner.size() == size(current)")] == ["procedure.owner", "current"]
    assert paths("s.procedure.owner == myprocedure.x") == ()
    assert quantifier("procedure.a.exists(s, s) && procedure.b.exists(s, s)") is None
    assert quantifier("procedure.a.filter(x, x).exists(s, s)") is None


def test_an_explanation_is_bounded() -> None:
    steps: list[dict[str, Any]] = [{"id": f"step-{number}" * 20} for number in range(1000)]
    values = context(procedure(spec={"steps": steps, "text": "x" * 100_000})).values()
    for require in (
        "procedure.spec.steps.all(s, has(s.tool))",
        " && ".join(f'procedure.spec.text == "{number}"' for number in range(100)),
        "procedure.spec.steps.exists(s, " + " && ".join(["has(s.tool)"] * 100) + ")",
    ):
        assert len(explain_difference(require, values)) <= MAX_LENGTH


pieces = st.sampled_from(
    [
        "procedure",
        ".spec",
        ".steps",
        ".exists(s, ",
        "(",
        ")",
        "[",
        "]",
        "&&",
        "||",
        "?",
        ":",
        '"',
        "'",
        "!",
        " ",
        "s",
        "1",
        "//",
        "\n",
    ]
)


@given(st.lists(pieces, max_size=25).map("".join) | st.text(max_size=40))
def test_an_explanation_never_raises(expression: str) -> None:
    values = context(FLOW).values()
    assert explain_difference(expression, values)
    describe_absent(expression, values)
    assert "".join(conjuncts(expression)) is not None
