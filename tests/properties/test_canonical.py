"""The quick ways to bytes give what rfc8785 and the standard library give, and refuse what those refuse."""

from __future__ import annotations

import enum
import json
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from pawl.canonical import canonical_bytes, record_bytes, record_text

TEXT = st.text(st.characters(), max_size=8) | st.sampled_from(
    ["\ue000", "\U0001f600", "\uffff", "\ud800", "\x7f", '"\\']
)
KEYS = TEXT | st.text("abAB_-", max_size=4)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.dictionaries(st.integers() | KEYS, inner, max_size=2)
        | st.tuples(inner, inner)
    ),
    max_leaves=12,
)


class Colour(str, enum.Enum):  # noqa: UP042 - what a str and an Enum at once is spelled as is the question
    RED = "red"


def outcome(form: Any, value: Any) -> bytes | type[Exception]:
    try:
        return bytes(form(value))
    except Exception as error:  # noqa: BLE001 - which one it is, is compared
        return type(error)


@given(VALUES)
@example({"\U0001f600": 1, "\ue000": 2})
@example([2**53 - 1, -(2**53) + 1, True, False, None])
@example([2**53])
@example(1e16)
@example(-0.0)
@example({"a": Colour.RED, "b": ("x",)})
@example({Colour.RED: 1})
@example({1: 2})
@example(["\ud800"])
@example({"a": object()})
@example("\u2028\x7f\x00")
def test_it_is_what_rfc8785_says(value: Any) -> None:
    assert outcome(canonical_bytes, value) == outcome(rfc8785.dumps, value)


def test_a_circle_ends() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(RecursionError):
        canonical_bytes(circle)


def _in_lines(value: Any) -> bytes:
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


@given(VALUES)
@example({"\U0001f600": 1, "\ue000": 2})
@example([[], {}, (), [[]], {"a": {}}])
@example([2**70, -1, 0, True, False, None, 1.5, -0.0, 1e16])
@example({"a": Colour.RED, "b": ("x",), "c": {"d": [1, {"e": "f\ng"}]}})
@example({Colour.RED: 1})
@example({1: 2})
@example({"a": 1, 2: 3})
@example({True: 1})
@example([float("nan")])
@example(["\ud800"])
@example({"a": object()})
@example({"a": {1, 2}})
def test_files_are_spelled_as_the_standard_library_does(value: Any) -> None:
    assert outcome(record_bytes, value) == outcome(_in_lines, value)


@given(VALUES, st.integers(min_value=0, max_value=3))
def test_inside_of_another_value_every_line_has_its_margin(value: Any, depth: int) -> None:
    def inside(value: Any) -> bytes:
        for _ in range(depth):
            value = [value]
        return _in_lines(value)

    def by_hand(value: Any) -> bytes:
        margins = ["  " * number for number in range(depth + 1)]
        opened, closed = "".join(f"[\n{margin}" for margin in margins[1:]), "".join(f"\n{m}]" for m in margins[-2::-1])
        return f"{opened}{record_text(value, margins[-1])}{closed}\n".encode()

    assert outcome(by_hand, value) == outcome(inside, value)


def test_a_circle_is_no_file() -> None:
    circle: dict[str, Any] = {}
    circle["itself"] = [circle]
    with pytest.raises(ValueError, match="Circular"):
        record_bytes(circle)
