"""Written YAML: it reads back equal, in one fixed form."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from budgets import examples
from pawl.errors import InvalidError
from pawl.io.dump import yaml_bytes
from pawl.io.strict_yaml import load

LINES = st.lists(st.text(" \t#:-ab|<>=é\u2028", max_size=6), max_size=5).map("\n".join)
STRINGS = st.text(st.characters(exclude_categories=["Cs"])) | LINES
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | STRINGS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STRINGS, inner, max_size=4),
    max_leaves=15,
)


def same(one: Any, other: Any) -> bool:
    """Equality that tells 1 from 1.0 and True, and minds the order of keys."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return repr(one) == repr(other)


@examples(80)
@given(st.dictionaries(STRINGS, VALUES, max_size=5))
@example({"a": "x\n"})
@example({"a": "x\ny", "b": "x\ny\n", "c": "x\ny\n\n\n", "d": 1})
@example({"a": "\n\nx\n", "b": " x\ny", "c": "x\n \n", "d": "x\n  y\n"})
@example({"a": ["x\ny\n\n", {"b": ["c\nd\n\n"]}]})
@example({"": {"": {"": ""}}})
@example({"k" * 2000: {"a": 1}, "é" * 600: ["x"], "?": 1})
@example({"true": 1, "null": 2, "1": 3, "<<": 4, "~": 5, "a b": 6, "-": 7, "%": 8, "---": 9})
@example({"a": [[[]], [{}], [{"b": [1, [2]]}]]})
@example({"a": ["---", "...", "- x", "{{ x }}", "yes", "012", "1.10", "\x00\x7f\x85\ufeff\uffff\U0001f600"]})
@example({"a": "<<<<<<< HEAD\n=======\n>>>>>>> b\n", "<<<<<<< x": 1})
def test_it_reads_back_equal(document: dict[str, Any]) -> None:
    data = yaml_bytes(document)
    assert data.endswith(b"\n")
    assert b"\r" not in data
    assert same(load(data), document)


def test_the_form_is_fixed() -> None:
    document = {
        "kind": "prompt",
        "version": "1.10.0",
        "labels": {},
        "spec": {
            "messages": [{"role": "user", "content": "one\n\n  two\n"}, {"role": "user", "content": 'say "no"'}],
            "numbers": [1, 1.0, -0.5, True, None, []],
            "$ref": "#/x",
            "odd key": "ends open\nhere",
        },
    }
    assert yaml_bytes(document).decode() == (
        'kind: "prompt"\n'
        'version: "1.10.0"\n'
        "labels: {}\n"
        "spec:\n"
        "  messages:\n"
        '    - role: "user"\n'
        "      content: |\n"
        "        one\n"
        "\n"
        "          two\n"
        '    - role: "user"\n'
        '      content: "say \\"no\\""\n'
        "  numbers:\n"
        "    - 1\n"
        "    - 1.0\n"
        "    - -0.5\n"
        "    - true\n"
        "    - null\n"
        "    - []\n"
        '  $ref: "#/x"\n'
        '  "odd key": |-\n'
        "    ends open\n"
        "    here\n"
    )


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 2**53, -(2**53), "\ud800", {1: 2}, {"\udc00": 1}, {1, 2}, b"x", object()]
)
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        yaml_bytes({"a": value})


def test_what_could_not_be_read_again_is_refused() -> None:
    deep: Any = 1
    for _ in range(63):
        deep = [deep]
    assert load(yaml_bytes({"a": deep})) == {"a": deep}
    with pytest.raises(InvalidError) as caught:
        yaml_bytes({"a": [deep]})
    assert caught.value.problems[0].code == "too-deep"
    with pytest.raises(InvalidError) as caught:
        yaml_bytes({"a": "x" * 262_144})
    assert caught.value.problems[0].code == "too-large"
