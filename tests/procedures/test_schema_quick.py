"""A quick yes is always the engine's yes as well."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.procedures.schema import compile_schema
from pawl.procedures.schema_quick import surely_fits

INPUTS = {
    "type": "object",
    "properties": {
        "order_id": {"type": "string", "minLength": 1, "maxLength": 4, "description": "The order."},
        "amount": {"type": "number", "minimum": 0, "exclusiveMaximum": 100},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "maxItems": 2},
        "urgent": {"type": "boolean", "default": False},
    },
    "required": ["order_id"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "value",
    [
        {"order_id": "A1"},
        {"order_id": "A1", "amount": 0, "tags": [], "urgent": True},
        {"order_id": "ÄÖ\U0001d4b31", "amount": 99.5, "tags": ["a", "b"]},
    ],
)
def test_right_calls_are_a_yes(value: dict[str, Any]) -> None:
    assert surely_fits(INPUTS, value)
    assert compile_schema(INPUTS).is_valid(value)


@pytest.mark.parametrize(
    "change",
    [
        {"order_id": ""}, {"order_id": "12345"}, {"order_id": 7}, {"amount": -1}, {"amount": 100}, {"amount": True},
        {"amount": "1"}, {"amount": 2**60}, {"tags": ["c"]}, {"tags": ["a"] * 3}, {"tags": "a"}, {"urgent": 1},
        {"more": 1},
    ],
)  # fmt: skip
def test_anything_else_is_no_yes(change: dict[str, Any]) -> None:
    assert not surely_fits(INPUTS, {"order_id": "A1", **change})
    assert not surely_fits(INPUTS, {})


@pytest.mark.parametrize(
    "schema",
    [
        True, {}, {"type": ["string"]}, {"type": "string", "pattern": "a"}, {"type": "string", "format": "date"},
        {"type": "string", "minLength": -1}, {"type": "string", "minLength": True}, {"type": "text"},
        {"type": "string", "enum": "abc"}, {"$ref": "#/$defs/a", "type": "string"},
    ],
)  # fmt: skip
def test_a_schema_that_says_more_is_left_to_the_engine(schema: Any) -> None:
    assert not surely_fits(schema, "abc")


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner), max_leaves=6
)
NUMBERS = st.integers(-3, 3) | st.floats(-3, 3, allow_nan=False)
SCHEMAS = st.recursive(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "integer", "number", "boolean", "object", "array", "null"])},
        optional={
            "minimum": NUMBERS,
            "maximum": NUMBERS,
            "exclusiveMinimum": NUMBERS,
            "exclusiveMaximum": NUMBERS,
            "minLength": st.integers(0, 3),
            "maxLength": st.integers(0, 3),
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(0, 2),
            "enum": st.lists(st.text("ab", max_size=2), min_size=1, max_size=3),
            "pattern": st.just("^a"),
            "const": st.just("a"),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {"type": st.sampled_from(["object", "array"])},
        optional={
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            "required": st.lists(st.sampled_from("abc"), unique=True, max_size=2),
            "additionalProperties": st.just(False),
            "items": inner,
        },
    ),
    max_leaves=4,
)


@given(schema=SCHEMAS, value=VALUES)
def test_no_quick_yes_is_the_engines_no(schema: dict[str, Any], value: Any) -> None:
    if surely_fits(schema, value):
        assert compile_schema(schema).is_valid(value)
