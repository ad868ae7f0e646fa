"""The small part of Jinja2 that templates may use, and everything that they may not."""

from __future__ import annotations

import time
from typing import Any

import pytest

from pawl.errors import Faulty
from pawl.procedures.read import warnings
from pawl.procedures.render import render
from pawl.procedures.template import check_template
from procedures.make import open_inputs, prompt

NAMES = frozenset({"a", "b", "xs"})
RENDERED: list[tuple[str, Any, str]] = [
    ("{{ a }}", "x", "x"),
    ("{% if a %}yes{% else %}no{% endif %}", [], "no"),
    ("{% for x in a %}{{ loop.index }}{{ x }}{% if not loop.last %}, {% endif %}{% endfor %}", ["p", "q"], "1p, 2q"),
    ("{{ a.items }}", {"items": 3}, "3"),
    ("{{ a['b c'][0] }}", {"b c": ["x"]}, "x"),
    ("{{ a[1] }}", [1, 2], "2"),
    ("{{ a|trim }}", 1.0, "1"),
    ("{{ a|upper }}", [1, "a", True], '[1,"A",TRUE]'),
    ("{{ a ~ a }}", [1, "a"], '[1,"a"][1,"a"]'),
    ("{{ a ~ '-' ~ 1 }}", True, "true-1"),
    ("{% if a is string %}t{% elif a is number %}n{% endif %}", 3, "n"),
    ("{% if a is none %}none{% endif %}", None, "none"),
    ("{{ a|upper|trim }}", " x ", "X"),
    ("{{ a|join(', ') }}", ["x", 1, True], "x, 1, true"),
    ("{{ a|tojson }}", {"k": "é<'"}, '{"k":"é<\'"}'),
    ("{{ a|tojson }}", "x", '"x"'),
    ("{{ a|length }}", "four", "4"),
    ("{{ a|replace('x', 'y') }}", "xax", "yay"),
    ("{{ a|indent(2) }}", "p\nq", "p\n  q"),
    ("{{ a|sort|join }}", ["b", "a"], "ab"),
    ("{{ a|unique|join }}", ["b", "a", "b"], "ba"),
    ("{{ a|first }}{{ a|last }}", [1, 2], "12"),
    ("{{ a|round(1) }}", 1.25, "1.2"),
    ("{% if a %}\nx\n{% endif %}\n", 1, "x\n"),
    ("{{ a }}\n", 1, "1\n"),
]
FORBIDDEN = [
    "{% include 'a' %}",
    "{% import 'a' as m %}",
    "{% from 'a' import m %}",
    "{% extends 'a' %}",
    "{% block x %}{% endblock %}",
    "{% macro m() %}{% endmacro %}",
    "{% call a() %}{% endcall %}",
    "{% set x = 1 %}",
    "{% filter upper %}x{% endfilter %}",
    "{% with x = 1 %}{% endwith %}",
    "{% autoescape true %}{% endautoescape %}",
    "{{ a[-1] }}",
    "{{ a() }}",
    "{{ a.upper() }}",
    "{{ range(9) }}",
    "{{ a.__class__ }}",
    "{{ a['__class__'] }}",
    "{{ a|attr('x') }}",
    "{{ a|random }}",
    "{{ a|format(1) }}",
    "{{ a|map('upper') }}",
    "{{ a|sort(attribute='x') }}",
    "{{ a|join(*xs) }}",
    "{{ a|pprint }}",
    "{{ 1 + 1 }}",
    "{{ 'a' * 1000000000 }}",
    "{{ 2 ** 9 }}",
    "{{ a[1:2] }}",
    "{{ {'a': 1} }}",
    "{{ 'y' if a else 'n' }}",
    "{{ a is divisibleby 3 }}",
    "{{ 123456789 }}",
    "{{ self }}",
    "{% for x in [1, 2] %}{% endfor %}",
    "{% for x in xs recursive %}{% endfor %}",
    "{% for x in xs %}{{ loop.length }}{% endfor %}",
    "{% for x in xs %}{{ loop.cycle }}{% endfor %}",
    "a\r\nb",
]
SYNTAX = [
    "{{ a",
    "{% if a %}",
    "{% endif %}",
    "{% do x %}",
    "{{ a| }}",
    "{{ }}",
    "{% for %}",
    "{{ " + "(" * 5_000 + "a" + ")" * 5_000 + " }}",
    "{{ " + "not " * 5_000 + "a }}",
    "{% if a %}" * 120 + "{% endif %}" * 120,
    "{% for x in xs %}" * 60 + "{% endfor %}" * 60,
]
UNGUARDED = [
    ("{{ a }}", True),
    ("{% if a %}{% endif %}", True),
    ("{% for x in a %}{% endfor %}", True),
    ("{{ a.b }}", True),
    ("{{ a|upper }}", True),
    ("{% if b is defined %}{{ a }}{% endif %}", True),
    ("{% if a is defined or b %}{{ a }}{% endif %}", True),
    ("{% if a is defined %}{% else %}{{ a }}{% endif %}", True),
    ("{{ a|default(b) }}", True),
    ("{% if a is defined %}{{ a }}{% endif %}", False),
    ("{% if b is defined and a is defined %}{{ a }}{{ b }}{% endif %}", False),
    ("{% if a is defined and a %}x{% endif %}", False),
    ("{{ a|default('x') }}", False),
    ("{{ a is defined }}", False),
]


def codes(text: str, guaranteed: frozenset[str] = NAMES) -> list[str]:
    found = check_template(text, kind="jinja2", declared=NAMES, guaranteed=guaranteed, at=("x",))
    assert all(fault.at == ("x",) for fault in found)
    return [fault.code for fault in found]


@pytest.mark.parametrize(("text", "value", "expected"), RENDERED)
def test_what_is_allowed(text: str, value: Any, expected: str) -> None:
    procedure = prompt(text, template="jinja2", inputs=open_inputs("a"))
    assert render(procedure, {"a": value}).messages[0]["content"] == expected


@pytest.mark.parametrize("text", FORBIDDEN)
def test_what_is_forbidden(text: str) -> None:
    assert set(codes(text)) == {"template-forbidden"}


@pytest.mark.parametrize("text", SYNTAX, ids=lambda text: text[:20])
def test_what_does_not_read(text: str) -> None:
    assert codes(text) == ["template-syntax"]


def test_a_template_of_very_many_parts_is_refused() -> None:
    assert codes("{{ a }}" * 10_000) == ["template-bounds"]


def test_every_fault_of_a_template_with_its_line() -> None:
    found = check_template("{{ a() }}\n{{ b + 1 }}", kind="jinja2", declared=NAMES, guaranteed=NAMES, at=())
    assert {fault.message.partition(":")[0] for fault in found} == {"line 1", "line 2"}


def test_names_must_be_declared() -> None:
    assert codes("{{ zz }}{% for q in xs %}{{ q }}{% endfor %}{{ q }}") == ["template-undeclared"] * 2


@pytest.mark.parametrize(("text", "refused"), UNGUARDED)
def test_optional_inputs_are_guarded(text: str, refused: bool) -> None:
    assert bool(codes(text, frozenset({"xs"}))) is refused
    if refused:
        assert set(codes(text, frozenset({"xs"}))) == {"prompt-input-unguarded"}


MANY = [1] * 90_000
BOMBS: list[tuple[str, dict[str, Any]]] = [
    ("{% for x in a %}{% for y in a %}{{ x }}{% endfor %}{% endfor %}", {"a": MANY}),
    ("{% for x in a %}{{ b }}{% endfor %}", {"a": MANY, "b": "x" * 1_000}),
    ("{% for x in a %}{% if 'y' in b %}{% endif %}{% endfor %}", {"a": MANY, "b": "x" * 1_000_000}),
    (
        "{% for x in a %}{% if b == xs %}{% endif %}{% endfor %}",
        {"a": MANY, "b": [MANY[:99]] * 99, "xs": [MANY[:99]] * 99},
    ),
    ("{% for x in a %}{% if b|upper|length == 1 %}{% endif %}{% endfor %}", {"a": MANY, "b": "x" * 1_000_000}),
    ("{% for x in a %}{% if b ~ b is number %}{% endif %}{% endfor %}", {"a": MANY, "b": "x" * 1_000_000}),
    ("{{ a|replace('x', b)|replace('x', b)|length }}", {"a": "x" * 10_000, "b": "x" * 10_000}),
    ("{{ xs|join(b)|length }}", {"xs": MANY, "b": "x" * 10_000}),
    ("{{ b|indent(1000)|length }}", {"b": "\n" * 100_000}),
]


@pytest.mark.parametrize(("text", "inputs"), BOMBS, ids=[text for text, _ in BOMBS])
def test_bombs_are_stopped(text: str, inputs: dict[str, Any]) -> None:
    procedure = prompt(text, template="jinja2", inputs=open_inputs(*inputs))
    begun = time.perf_counter()
    with pytest.raises(Faulty) as stopped:
        render(procedure, inputs)
    assert [fault.code for fault in stopped.value.faults] == ["template-bounds"]
    assert time.perf_counter() - begun < 5


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{ a.b }}", {}),
        ("{{ a.b.c }}", {"b": {}}),
        ("{{ a.upper }}", "x"),
        ("{{ a[0] }}", "x"),
        ("{{ a[5] }}", [1]),
        ("{% for x in a %}{% endfor %}", "text"),
        ("{% for x in a %}{% endfor %}", {"k": 1}),
        ("{{ a|sort|join }}", [1, "x"]),
        ("{{ a|join }}", 3),
        ("{{ a|length }}", 3),
        ("{{ a|round }}", "x"),
        ("{% if a < 1 %}{% endif %}", "x"),
        ("{{ a|first }}", []),
    ],
)
def test_values_that_a_template_cannot_take_are_faults(text: str, value: Any) -> None:
    procedure = prompt(text, template="jinja2", inputs=open_inputs("a"))
    with pytest.raises(Faulty) as refused:
        render(procedure, {"a": value})
    assert {fault.code for fault in refused.value.faults} <= {"template-value", "template-bounds"}


def test_values_are_not_templates() -> None:
    procedure = prompt("{{ a }}", template="jinja2", inputs=open_inputs("a"))
    assert render(procedure, {"a": "{{ 7*7 }}{% include 'x' %}"}).messages[0]["content"] == "{{ 7*7 }}{% include 'x' %}"


def test_unused_inputs_are_seen() -> None:
    procedure = prompt("{% if a %}x{% endif %}", template="jinja2", inputs=open_inputs("a", "b"))
    assert [fault.code for fault in warnings(procedure)] == ["prompt-input-unused", "summary-missing", "owner-missing"]
