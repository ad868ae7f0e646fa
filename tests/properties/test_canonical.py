"""The quick way to canonical bytes gives what rfc8785 gives, for every value, and refuses what that refuses."""

from __future__ import annotations

import enum
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from pawl.canonical import canonical_bytes

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
