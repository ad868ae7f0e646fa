"""CEL expressions: what compiles, what it gives, and that nothing hostile gets through, hangs or eats the memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from threading import Thread
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgets import examples
from pawl.errors import Faulty
from pawl.procedures.expression_cost import MAX_BYTES, MAX_WORK, cost_of, regex_size
from pawl.procedures.expression_tree import read_tree, with_ordered_loops
from pawl.procedures.expressions import Expression, ExpressionError, Read, Want, compile_expression
from pawl.procedures.plain import Measure, to_plain
from support import soon

VARIABLES = {"inputs": "map", "result": "dyn", "xs": "list", "s": "string", "now": "timestamp"}
NOW = datetime(2026, 12, 15, 12, 30, tzinfo=UTC)
INPUTS: Mapping[str, Any] = {
    "one": 1,
    "float": 1.0,
    "none": None,
    "yes": True,
    "text": "x",
    "list": [1, 2, {"k": True}],
    "map": {"a": {"b": 1}},
}
VALUES: Mapping[str, Any] = {"inputs": INPUTS, "result": {"eligible": True}, "xs": [1, 2, 3], "s": "abc", "now": NOW}


def compiled(text: str, want: Want = "any") -> Expression:
    return compile_expression(text, variables=VARIABLES, want=want)


def value_of(text: str, values: Mapping[str, Any] = VALUES, want: Want = "any") -> Any:
    return compiled(text, want).evaluate(values)


def fault_of(text: str, want: Want = "any") -> tuple[str, str]:
    with pytest.raises(Faulty) as caught:
        compiled(text, want)
    return caught.value.faults[0].code, caught.value.faults[0].message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 1", 2),
        ("7 / 2", 3),
        ("-5 % 3", -2),
        ("9007199254740993", 9007199254740993),
        ("1u", 1),
        ("1.0", 1.0),
        ("inputs.float", 1.0),
        ("inputs.one == inputs.float", True),
        ("dyn(1) in [1.0]", True),
        ("inputs.none", None),
        ("inputs.none == null", True),
        ("has(inputs.none)", True),
        ("has(inputs.nothing)", False),
        ("inputs.list", [1, 2, {"k": True}]),
        ("inputs.list[2].k", True),
        ("inputs['map'].a", {"b": 1}),
        ("{'b': 1, 'a': [1u, 2.5]}", {"a": [1, 2.5], "b": 1}),
        ("xs.map(x, x * 2)", [2, 4, 6]),
        ("xs.filter(x, x > 1).size()", 2),
        ("xs.map(x, x > 1, x + 1)", [3, 4]),
        ("inputs.list.map(x, type(x) == int)", [True, True, False]),
        ("inputs.map.exists(k, k == 'a')", True),
        ("[[1, 2].map(x, [1, 2].map(y, x * y))]", [[[1, 2], [2, 4]]]),
        ("{'a': xs.map(x, x)}.a[0]", 1),
        ("'a' + inputs.text", "ax"),
        ("'é'.size()", 1),
        ("true || inputs.nothing", True),
        ("s.matches('^a.c$')", True),
        ("string(now)", "2026-12-15T12:30:00Z"),
        ("now.getHours()", 12),
        ("now.getHours('UTC')", 12),
        ("now.getHours('+01:00')", 13),
        ("now > timestamp('2026-12-15T00:00:00Z')", True),
        ("google.protobuf.BoolValue{value: true}", True),
    ],
)
def test_values_are_plain_and_of_their_type(text: str, expected: Any) -> None:
    found = value_of(text)
    assert (expected, type(expected)) == (found, type(found))
    assert expected == json.loads(json.dumps(found))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("inputs.nothing", "nothing"),
        ("inputs.one.more", "SELECT"),
        ("inputs.list[9]", "index"),
        ("inputs.one / 0", "zero"),
        ("9223372036854775807 + inputs.one", "overflow"),
        ("inputs.float + 1", "overload"),
        ("inputs.none + 1", "overload"),
        ("inputs.nothing || false", "nothing"),
        ("inputs.one ? 1 : 2", "overload"),
        ("int(1e300)", "range"),
        ("timestamp('9999-12-31T23:59:59Z') + duration('1h')", "overflow"),
        ("{'a': 1, 'a': 2}", "duplicate"),
        ("{1: 2}", "key"),
        ("1.0 / 0.0", "inf"),
        ("0.0 / 0.0", "nan"),
        ("b'x'", "bytearray"),
        ("now", "datetime"),
        ("duration('1h')", "timedelta"),
        ("type(1)", "Type"),
        ("inputs.map.map(k, k)", "no order"),
        ("inputs.map.filter(k, true).size() == 1", "no order"),
        ("xs.exists(x, x.y)", "SELECT"),
    ],
)
def test_what_has_no_value_is_an_error(text: str, says: str) -> None:
    with pytest.raises(ExpressionError, match=f"(?i){says}"):
        value_of(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("inputs.one", "a whole number"),
        ("inputs.float", "a number"),
        ("inputs.text", "a text"),
        ("inputs.none", "null"),
        ("inputs.list", "a list"),
        ("inputs.map", "a mapping"),
        ("inputs.nothing", "nothing"),
        ("inputs.nothing == 1", "nothing"),
        ("xs.all(x, x.nothing)", "SELECT"),
    ],
)
def test_only_true_and_false_answer_a_condition(text: str, found: str) -> None:
    with pytest.raises(ExpressionError, match=found):
        value_of(text, want="bool")


def test_a_condition_is_exactly_true_or_false() -> None:
    assert value_of("inputs.yes", want="bool") is True
    assert value_of("!inputs.yes", want="bool") is False


@pytest.mark.parametrize("text", ["1", "'true'", "[true]", "inputs", "null", "now", "size(xs)", "{'a': true}"])
def test_a_condition_of_another_type_does_not_compile(text: str) -> None:
    assert fault_of(text, "bool")[0] == "expression-not-bool"


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("", "expression-invalid", "read"),
        ("'a' + ", "expression-invalid", "column 7"),
        ("1 +\n  * 2", "expression-invalid", "line 2"),
        ("1 + 'a'", "expression-invalid", "overload"),
        ("1 == 1.0", "expression-invalid", "overload"),
        ("nobody", "expression-unknown-name", "nobody"),
        ("nobody.knows(1)", "expression-unknown-name", "nobody"),
        ("xs.all(x, y)", "expression-unknown-name", "y"),
        ("inputs.map(k, k)", "expression-invalid", "no order"),
        ("{'a': 1}.filter(k, true)", "expression-invalid", "no order"),
        ("s.matches(s)", "expression-invalid", "as a text"),
        ("s.matches('(')", "expression-invalid", "regular expression"),
        ("s.matches('a{1,1000}')", "expression-invalid", "longer"),
        ("s.matches('" + "a" * 401 + "')", "expression-invalid", "longer"),
        ("now.getHours('Europe/Paris')", "expression-invalid", "machine"),
        ("now.getDayOfWeek(s)", "expression-invalid", "machine"),
        ("inputs.\0", "expression-invalid", "control"),
        ("'\ud800'", "expression-invalid", "control"),
        ("1" * 4_097, "expression-too-long", "4096"),
        ("(" * 200 + "1" + ")" * 200, "expression-too-deep", "32"),
        ("[" * 4_000, "expression-too-deep", "32"),
        ("!" * 4_000 + "true", "expression-too-deep", "32"),
        ("-" * 4_000 + "1", "expression-too-deep", "32"),
        ("1" + "+1" * 1_000, "expression-too-deep", "32"),
        ("inputs" + ".a" * 1_000, "expression-too-deep", "32"),
        ("true" + "?true:true" * 100, "expression-too-deep", "32"),
        ("size(" * 600 + "xs" + ")" * 600, "expression-too-deep", "32"),
        ("xs.all(a, " * 4 + "true" + ")" * 4, "expression-too-deep", "3 deep"),
    ],
    ids=range(28),
)
def test_what_does_not_compile(text: str, code: str, says: str) -> None:
    found, message = fault_of(text)
    assert (code, True) == (found, says in message), message


def test_conditions_beside_each_other_are_no_nesting() -> None:
    assert value_of("&&".join(["xs.all(x, x > 0)"] * 20), want="bool") is True


NUMBERS = list(range(9_000))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("xs.map(x, x).size()", {"xs": NUMBERS}),
        ("xs.all(x, xs == xs)", {"xs": NUMBERS}),
        ("xs.all(x, x in xs)", {"xs": NUMBERS}),
        ("xs.all(a, xs.all(b, a >= 0 && b >= 0))", {"xs": NUMBERS}),
        ("xs.map(x, s + s + s + s).size()", {"xs": NUMBERS, "s": "a" * 100_000}),
        ("xs.map(x, s)", {"xs": NUMBERS, "s": "a" * 1_000_000}),
        ("[s + s].map(a, [a + a].map(b, [b + b].map(c, c + c)))", {"s": "a" * 8_000_000}),
        ("[" + "s + " * 20 + "s].size()", {"s": "a" * 8_000_000}),
        ("s.contains(inputs.p)", {"s": "a" * 1_000_000, "inputs": {"p": "a" * 500_000 + "b"}}),
        ("xs.all(x, !s.matches('a{1,300}'))", {"xs": NUMBERS, "s": "b"}),
        ("xs.exists(x, s.matches('(a*)*(b+)+c'))", {"xs": NUMBERS, "s": "ab" * 100_000}),
        ("xs.all(x, [s, s, s].map(y, s + y).size() > 0)", {"xs": NUMBERS, "s": "a" * 100_000}),
        ("inputs.deep == inputs.deep && xs.all(x, inputs == inputs)", {"xs": NUMBERS, "inputs": {"deep": NUMBERS}}),
    ],
)
def test_what_could_take_long_is_not_begun(text: str, values: Mapping[str, Any]) -> None:
    with soon(), pytest.raises(ExpressionError):
        value_of(text, values)


def test_rules_over_large_closures_are_affordable() -> None:
    closure = [{"name": f"team/p{number}", "spec": {"text": "word " * 4_000}} for number in range(100)]
    text = (
        "xs.exists(p, p.name == inputs.name && p.spec.text.matches('(?i)refund') && p.spec.text.contains(inputs.name))"
    )
    assert value_of(text, {"xs": closure, "inputs": {"name": "team/p7"}}, "bool") is False
    assert value_of("xs.map(p, p.name).size()", {"xs": closure}) == 100
    assert value_of("xs.filter(p, p.name.startsWith('team/')).map(p, p.name + '!')[3]", {"xs": closure}) == "team/p3!"


def test_patterns_that_keep_many_positions_are_counted() -> None:
    text = "abbaababb" * 30_000
    with pytest.raises(ExpressionError, match="too long"):
        value_of("s.matches('a.{150}b.{150}c')", {"s": text * 4})
    assert value_of("s.matches('refund|return')", {"s": text * 4}) is False


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*(a|a)*b", "(.*)*(.*)*x", "(a{0,9}){0,9}b"])
def test_patterns_are_linear(pattern: str) -> None:
    with soon():
        assert value_of(f"s.matches('{pattern}')", {"s": "a" * 200_000 + "!"}, "bool") is False


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"a": "x\0y"}, r"U\+0000"),
        ({"x\0y": 1}, r"U\+0000"),
        ({"a": "\ud800"}, "surrogate"),
        ({"a": 2**63}, "64 bits"),
        ({"a": -(2**63) - 1}, "64 bits"),
        ({"a": float("nan")}, "nan"),
        ({"a": float("inf")}, "inf"),
        ({"a": b"x"}, "bytes"),
        ({"a": {1, 2}}, "set"),
        ({"a": object()}, "object"),
        ({"a": NOW}, "datetime"),
        ({1: 2}, "no text"),
        ({"a": [[]] * 200_000}, "parts"),
    ],
)
def test_values_that_are_no_json_do_not_go_in(value: Any, says: str) -> None:
    with pytest.raises(ExpressionError, match=says):
        value_of("inputs == inputs", {"inputs": value})


def test_values_that_go_round_do_not_go_in() -> None:
    circle: dict[str, Any] = {}
    circle["a"] = circle
    with pytest.raises(ExpressionError, match="deeper"):
        value_of("inputs.a", {"inputs": circle})


@pytest.mark.parametrize(
    "values",
    [{}, {"inputs": []}, {"inputs": None}, {"inputs": "x"}, {"now": datetime(2026, 1, 1)}, {"now": "x"}],  # noqa: DTZ001
)
def test_variables_that_are_absent_or_of_another_type(values: Mapping[str, Any]) -> None:
    with pytest.raises(ExpressionError):
        value_of("now > now" if "now" in values else "inputs.a", values)


def test_what_is_not_spoken_of_is_not_looked_at() -> None:
    assert value_of("inputs.one", {**VALUES, "xs": object(), "result": "\0", "unknown": {1, 2}}) == 1


def test_read_only_and_foreign_values_come_out_as_plain_ones() -> None:
    class Text(str):
        __slots__ = ()

    values = {"inputs": MappingProxyType({"a": (1, MappingProxyType({"b": Text("x")})), "t": True})}
    found = value_of("inputs", values)
    assert {"a": [1, {"b": "x"}], "t": True} == found
    assert [dict, list, dict, str] == [type(found), type(found["a"]), type(found["a"][1]), type(found["a"][1]["b"])]


def test_nothing_given_is_changed_or_shared() -> None:
    inputs = {"a": [1, {"b": 2}]}
    found = value_of("inputs", {"inputs": inputs})
    found["a"][1]["b"] = 3
    assert {"a": [1, {"b": 2}]} == inputs


def test_names_that_are_read_and_asked_for() -> None:
    text = (
        "has(inputs.a) && inputs.b == 1 && 'c' in inputs && inputs['d'].e && has(inputs.f.g)"
        " && xs.all(inputs, inputs.hidden) && result"
    )
    found = compiled(text, "bool")
    assert frozenset({"inputs", "xs", "result"}) == found.uses
    assert {Read("inputs", name) for name in "bdf"} == found.reads
    assert {Read("inputs", name) for name in "ac"} == found.asks


def test_compiled_once() -> None:
    assert compiled("inputs.one + 1") is compiled("inputs.one + 1")
    assert compiled("inputs.yes", "bool") is not compiled("inputs.yes", "any")


def test_the_same_in_many_threads() -> None:
    found: list[Any] = []

    def ask() -> None:
        found.extend(value_of("xs.map(x, x * x)", {"xs": list(range(50))}) for _ in range(50))

    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [[number * number for number in range(50)]] * 400 == found


def test_the_same_in_every_process() -> None:
    """The library's own order of a mapping's entries differs between processes."""
    program = (
        "from pawl.procedures.expressions import compile_expression as c\n"
        "import json\n"
        "values = {'inputs': {letter: [1] for letter in 'abcdefghij'}}\n"
        'print(json.dumps(c(\'{"x": inputs, "y": {"b": 1, "a": 2, "c": 3}}\', variables={\'inputs\': \'map\'},'
        " want='any').evaluate(values)))"
    )
    runs = [subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout for _ in range(3)]
    assert 1 == len(set(runs))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), inner, max_size=4)
    ),
    max_leaves=12,
)


def same(left: Any, right: Any) -> bool:
    """Return whether two values are equal and of the same types all through."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


@given(JSON)
def test_every_json_value_goes_through_unchanged(value: Any) -> None:
    assert same(value, value_of("result", {"result": value}))
    assert same([value], value_of("xs.map(x, x)", {"xs": [value]}))


TOKENS = [
    *("inputs", "xs", "s", "result", "now", "1", "0", "2.5", "'a'", "true", "null", "x", "9223372036854775807"),
    *("+", "-", "*", "/", "%", "==", "!=", "<", "in", "&&", "||", "!", "?", ":", ".", ",", "(", ")", "[", "]"),
    *("{", "}", ".a", ".map(x,", ".all(x,", ".exists(x,", ".filter(x,", "size(", "has(", "string(", "dyn("),
    *(".matches(", ".contains(", "timestamp(", "b'a'", "1u", "//", "'", '"', "\\", "\n", "é", "`a`", "?.", "@in"),
]


@given(st.lists(st.sampled_from(TOKENS), max_size=24).map(" ".join), st.sampled_from(["bool", "any"]))
@examples(80)
def test_any_text_has_a_value_or_one_of_our_errors(text: str, want: Want) -> None:
    with suppress(Faulty, ExpressionError):
        found = value_of(text, want=want)
        assert found is True or found is False or want == "any"
        assert same(found, to_plain(found, Measure()))


def test_a_form_that_is_not_known_is_refused() -> None:
    serialized = compiled("xs.map(x, x + 1.5)").compiled.serialize()
    for end in range(0, len(serialized), 7):
        with pytest.raises(ValueError, match=r"."):
            read_tree(serialized[:end])
    assert with_ordered_loops(b"") == b""


def test_costs_grow_with_what_is_done() -> None:
    def cost(text: str, length: int) -> float:
        measure = Measure()
        to_plain([0] * length, measure)
        return cost_of(compiled(text).tree, {"xs": measure}, whole_result=False).work

    assert cost("xs.all(x, x > 0)", 1_000) < 20 * cost("xs.all(x, x > 0)", 100)
    assert cost("xs.all(x, xs == xs)", 1_000) > 50 * cost("xs.all(x, xs == xs)", 100)
    assert cost("xs.all(x, x > 0)", 1_000) < MAX_WORK / 100
    assert MAX_BYTES < 1 << 30


@pytest.mark.parametrize(
    ("pattern", "size"), [("abc", 3), ("a{3}", 7), ("a{1,20}", 27), ("a{7,}", 12), ("a{99999999999}", 14 + 999999999)]
)
def test_sizes_of_patterns(pattern: str, size: int) -> None:
    assert size == regex_size(pattern)
