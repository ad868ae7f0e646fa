"""What is found in the fixed text of prompts, in every kind of template, and in rendered messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lint.make import codes, found, prompt
from pawl.lint.check import lint_procedure
from pawl.lint.literal import literal_of
from pawl.lint.prompts import rendered_faults
from pawl.lint.settings import LintSettings
from pawl.procedures.render import render
from pawl.procedures.tokens import Counter, estimate

X = frozenset({"x"})


@pytest.mark.parametrize(
    ("kind", "content", "always", "blank", "ends_blank"),
    [
        ("simple", "a {{ x }} b {{ y }}", "a  b {{ y }}", False, False),
        ("simple", "{{ x }} ", " ", False, True),
        ("simple", "{{ x }}", "", False, False),
        ("simple", "a\n{{x}}", "a\n", False, False),
        ("simple", "", "", True, False),
        ("simple", " \n", " \n", True, True),
        ("none", "{{ x }}\n", "{{ x }}\n", False, True),
        ("none", "", "", True, False),
        ("jinja2", "a {{ x }} b", "a  b", False, False),
        ("jinja2", "a {% if x %}b{% endif %} ", "a  ", False, True),
        ("jinja2", "{% if x %}b {% endif %}", "", False, False),
        ("jinja2", "{% if x %}b{% endif %}\n", "", False, False),
        ("jinja2", "{# x #} ", " ", True, True),
        ("jinja2", "{{ x }}", "", False, False),
        ("jinja2", "{% raw %}{{ x }}{% endraw %}", "{{ x }}", False, False),
        ("jinja2", "", "", True, False),
    ],
)
def test_what_is_fixed(kind: str, content: str, always: str, blank: bool, ends_blank: bool) -> None:
    fixed = literal_of(content, kind=kind, declared=X)
    assert (fixed.always, fixed.blank, fixed.ends_blank) == (always, blank, ends_blank)


@given(st.text(alphabet="ab {}%\nx", max_size=40), st.sampled_from(["simple", "none"]), st.text(max_size=5))
def test_fixed_text_is_never_more_than_what_is_rendered(content: str, kind: str, value: str) -> None:
    fixed = literal_of(content, kind=kind, declared=X)
    shown = render(prompt(("user", content), names=["x"], template=kind), {"x": value}).messages[0]["content"]
    assert estimate(fixed.always) <= estimate(shown)
    assert not shown.strip() or not fixed.blank
    assert not fixed.ends_blank or shown[-1].isspace()


TEMPLATE_CASES = [
    ("{{ x }} {{ y }}", "simple", ["prompt-placeholder-unknown"]),
    ("{{ x }} {{ x.id }}", "simple", ["prompt-placeholder-unknown"]),
    ("{{ x }} {{ x[0] }}", "simple", ["prompt-placeholder-unknown"]),
    ("{{ x }} {{x|upper}}", "simple", ["prompt-placeholder-unknown"]),
    ("{{ x }} {% if x %}", "simple", ["prompt-placeholder-unknown"]),
    ("{{ x }} {%- if not x %}", "simple", ["prompt-placeholder-unknown"]),
    ("{{ x }} {% for a in x %}", "simple", ["prompt-placeholder-unknown"]),
    ("{{ x }} {{ y.id }} {% if y %} {{ 1 }} {x} {{}}", "simple", []),
    ("{{ x.id }}", "jinja2", []),
    ("{{ x }}", "none", ["prompt-input-unused"]),
    ("{{ x }}", "simple", []),
    ("X", "simple", ["prompt-input-unused"]),
]


@pytest.mark.parametrize(("content", "kind", "wanted"), TEMPLATE_CASES)
def test_what_looks_like_an_input(content: str, kind: str, wanted: list[str]) -> None:
    assert codes(prompt(("user", content), names=["x"], template=kind)) == wanted


@pytest.mark.parametrize(
    ("messages", "wanted"),
    [
        ([("user", "a "), ("assistant", "b")], ["prompt-trailing-blank"]),
        ([("user", "a\t\nb"), ("assistant", "b")], ["prompt-trailing-blank"]),
        ([("user", "a\n\n"), ("assistant", "b")], []),
        ([("assistant", "b "), ("user", "a")], ["prompt-trailing-blank"]),
        ([("user", "a"), ("assistant", "b\n")], ["prompt-trailing-space"]),
        ([("user", "a"), ("assistant", "b \nc ")], ["prompt-trailing-space", "prompt-trailing-blank"]),
        ([("user", "a"), ("assistant", "b\u00a0")], ["prompt-trailing-space"]),
        ([("user", "a"), ("assistant", " ")], ["prompt-blank-part"]),
        ([("user", "\n"), ("user", "a")], ["prompt-blank-part"]),
        ([("user", "a"), ("system", "b"), ("system", "c")], ["prompt-role-order"]),
    ],
)
def test_white_space_and_roles(messages: list[tuple[str, str]], wanted: list[str]) -> None:
    assert sorted(codes(prompt(*messages))) == sorted(wanted)


def test_lines_that_end_in_blanks_are_told_in_one_finding() -> None:
    (fault,) = found(prompt(("user", "a \nb\nc\t\nd ")))
    assert fault.message.startswith("lines 1, 3, 4 of this text end in blanks")
    assert fault.at == ("spec", "messages", 0, "content")


@pytest.mark.parametrize(("tokens", "wanted"), [(3, ["prompt-budget"]), (4, [])])
def test_the_fixed_text_is_held_against_the_budget(tokens: int, wanted: list[str]) -> None:
    """As rendering counts: each message by itself, a third of its bytes, rounded up."""
    assert codes(prompt(("system", "1234"), ("user", "567é{{ x }}"), names=["x"], budget={"tokens": tokens})) == wanted


def test_the_budget_can_be_counted_exactly() -> None:
    words = Counter(count=lambda text: len(text.split()), method="exact", encoding="words", package="test")
    procedure = prompt(("user", "one two three {{ x }}"), names=["x"], budget={"tokens": 3})
    assert [fault.code for fault in lint_procedure(procedure, LintSettings())] == ["prompt-budget"]
    assert lint_procedure(procedure, LintSettings(), counters=(words,)) == ()
    tight = prompt(("user", "one two three {{ x }}"), names=["x"], budget={"tokens": 2})
    (fault,) = lint_procedure(tight, LintSettings(), counters=(words,))
    assert "3 tokens (counted with words)" in fault.message


@pytest.mark.parametrize(
    ("messages", "wanted"),
    [
        ([("user", "a")], []),
        ([("user", " ")], [("prompt-blank-part", 0)]),
        ([("user", "a"), ("assistant", "b ")], [("prompt-trailing-space", 1)]),
        ([("assistant", "b "), ("user", "a ")], []),
        ([("system", ""), ("assistant", "")], [("prompt-blank-part", 0), ("prompt-blank-part", 1)]),
    ],
)
def test_rendered_messages(messages: list[tuple[str, str]], wanted: list[tuple[str, int]]) -> None:
    rendered = [{"role": role, "content": content} for role, content in messages]
    assert [(fault.code, fault.at) for fault in rendered_faults(rendered, {})] == [
        (code, ("spec", "messages", index, "content")) for code, index in wanted
    ]
    assert {fault.severity for fault in rendered_faults(rendered, {})} <= {"error"}


def test_only_the_schema_of_an_answer_is_looked_at_for_being_open() -> None:
    odd = {"type": "object", "properties": {"a b": {"const": 1}}, "anyOf": [{}]}
    procedure = prompt(("user", "a"), output=odd)
    assert codes(procedure, "openai", "gemini") == ["schema-open-object"]
    (fault,) = found(procedure, "openai-strict")
    assert (fault.severity, fault.at) == ("error", ("spec", "output"))
