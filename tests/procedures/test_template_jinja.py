"""The small part of Jinja2 that templates may use, and everything that they may not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgets import examples
from pawl.errors import Faulty
from pawl.procedures.read_faults import warnings
from pawl.procedures.render import render
from pawl.procedures.template import TEMPLATES, check_template
from pawl.procedures.template_filters import FILTERS
from procedures.make import open_inputs, prompt
from support import soon

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
    ("{{ a|round(1, 'ceil') }}", 1.21, "1.3"),
    ("{{ a|round(2, method='floor') }}", 1.239, "1.23"),
    ("{{ ['x', 'y']|join(a) }}", [1], "x[1]y"),
    ("{{ 'x1y'|replace(a, true) }}", 1, "xtruey"),
    ("{{ '1x1'|trim(a) }}", 1, "x"),
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
    "{% for x in xs %}{{ loop }}{% endfor %}",
    "{% for x in xs %}{{ loop ~ x }}{% endfor %}",
    "{% for x in xs %}{{ [loop]|tojson }}{% endfor %}",
    "{% for x in xs %}{{ loop[a] }}{% endfor %}",
    "{% for x in xs %}{{ loop.__init__ }}{% endfor %}",
    "{% for x in xs %}{{ loop.changed(x) }}{% endfor %}",
    "{{ xs|sort(false, false, 'x') }}",
    "{{ xs|join(',', 'x') }}",
    "{{ xs|join(',', d='x') }}",
    "{{ xs|join(attribute='x') }}",
    "{{ a|replace('x') }}",
    "{{ a|replace('x', 'y', 1) }}",
    "{{ a|tojson(2) }}",
    "{{ a|upper(b) }}",
    "{{ a|default(**xs) }}",
    "{{ a is defined(b) }}",
    "{{ a|_charged }}",
    "{{ xs|_counted(1) }}",
    "{{ a|safe }}",
    "{{ a|groupby('x') }}",
    "{{ a|batch(9) }}",
    "{{ a|center(999) }}",
    "{{ a|urlize }}",
    "{{ a.__init__.__globals__ }}",
    "{{ ''.__class__.__mro__ }}",
    "{{ cycler.__init__ }}",
    "{{ lipsum(9) }}",
    "{{ namespace(x=1) }}",
    "{{ dict(a=1) }}",
    "{{ super() }}",
    "{{ -a }}",
    "{{ a % b }}",
    "{{ a // b }}",
    "{{ a is callable }}",
    "{{ a is sameas b }}",
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
    ("{{ a|default(default_value=b) }}", True),
    ("{{ a|default('x') }}", False),
    ("{{ a|default(default_value='x') }}", False),
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


def test_faults_are_named_in_the_order_of_the_text() -> None:
    text = "x\n{% autoescape true %}{% endautoescape %}\n{{ 'y' if a else b() }}"
    found = check_template(text, kind="jinja2", declared=NAMES, guaranteed=NAMES, at=())
    assert [fault.message for fault in found] == [
        "line 1: scope is not allowed in a template",
        "line 2: autoescape is not allowed in a template",
        "line 3: an inline if is not allowed in a template",
        "line 3: a call is not allowed in a template",
    ]


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
    ("{{ [" + "b," * 5_000 + "] }}", {"b": "x" * 1_000_000}),
    ("{{ " + "b ~ " * 63 + "b }}", {"b": "x" * 4_000_000}),
    ("{% for x in a %}" + "{% if b.c.d is defined %}{% endif %}" * 1_000 + "{% endfor %}", {"a": MANY, "b": {"c": {}}}),
    ("{% for x in a %}" + "{{ b }}" * 3_000 + "{% endfor %}", {"a": MANY, "b": ""}),
    ("{% for x in a if " + "b and " * 90 + "b %}{% endfor %}", {"a": MANY, "b": True}),
    ("{% for x in a %}{% if a|unique %}{% endif %}{% endfor %}", {"a": MANY}),
    ("{{ a" + "|replace('x', 'xxxxxxxxxx')" * 20 + " }}", {"a": "x"}),
    ("{{ 'x'" + "|replace('x', 'xxxxxxxxxx')" * 20 + " }}", {}),
    ("{{ a|replace('', a)|length }}", {"a": "x" * 10_000}),
]


LONGEST = ("{% for x in a %}{% if b.c.d", "{% for x in a %}{% if a|unique", "{% for x in a %}{{ b }}{{ b }}")
"""How those begin that take a second each until they are stopped."""


@pytest.mark.parametrize(
    ("text", "inputs"),
    [pytest.param(*bomb, marks=[pytest.mark.slow] if bomb[0].startswith(LONGEST) else []) for bomb in BOMBS],
    ids=[text[:60] for text, _ in BOMBS],
)
def test_bombs_are_stopped(text: str, inputs: dict[str, Any]) -> None:
    procedure = prompt(text, template="jinja2", inputs=open_inputs(*inputs))
    with soon(20.0), pytest.raises(Faulty) as stopped:
        render(procedure, inputs)
    assert [fault.code for fault in stopped.value.faults] == ["template-bounds"]


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
        ("{{ 1.5|round(a) }}", 10**15),
        ("{{ 1.5|round(a, 'floor') }}", 10**15),
        ("{{ 1.5|round(a, 'ceil') }}", -400),
        ("{{ 1.5|round(1, a) }}", "__class__"),
        ("{{ a|round(15, 'floor') }}", 2.5e300),
        ("{{ 'x'|indent(a) }}", [1]),
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


PIECES = (
    *("{{ ", " }}", "{% ", " %}", "{%- ", "{#", "#}", "if ", "for x in ", "endif", "endfor", "else", "elif ", "raw"),
    *("a", "b", "xs", "x", "loop", "loop.index", ".items", ".__class__", "[0]", "['k']", "(", ")", "|", "~", "==", ","),
    *("join", "length", "sort", "default", "replace", "indent", "round", "unique", "first", "tojson", "trim", "upper"),
    *(" is ", "defined", "string", " in ", " and ", " not ", "'t'", "1.5", "999", "none", "true", "\n", " ", "="),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
SOURCES = st.lists(st.sampled_from(PIECES), max_size=14).map("".join) | st.builds(
    "{{{{ {}{} }}}}".format,
    st.sampled_from(["a", "xs", "[a, b]", "(a ~ b)", "a.items", "b[0]", "1", "'t'", "none"]),
    st.lists(
        st.sampled_from(
            [
                *(f"|{name}" for name in FILTERS),
                "|replace(a, b)",
                "|join(a)",
                "|indent(b)",
                "|round(a, 'floor')",
                "|trim(a)",
            ]
        ),
        max_size=4,
    ).map("".join),
)


@examples(100)
@given(text=SOURCES, values=st.fixed_dictionaries({"a": VALUES, "b": VALUES, "xs": VALUES}))
def test_any_template_and_value_give_a_text_or_faults(text: str, values: dict[str, Any]) -> None:
    if check_template(text, kind="jinja2", declared=NAMES, guaranteed=NAMES, at=()):
        return
    found: set[str] = set()
    try:
        TEMPLATES["jinja2"].render(text, NAMES, values)
    except Faulty as refused:
        found = {fault.code for fault in refused.faults}
    assert found <= {"template-value", "template-bounds"}
