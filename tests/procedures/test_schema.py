"""Values against schemas: what fits, the sentences for what does not, defaults, and closed roots."""

from __future__ import annotations

import datetime
import decimal
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pawl.problems import Place
from pawl.procedures.schema import closed, compile_schema, fill_defaults
from support import soon

OBJECT = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2},
        "size": {"type": ["integer", "null"]},
        "state": {"enum": ["open", "closed", 3, None]},
        "kind": {"const": "order"},
        "lines": {
            "type": "array",
            "items": {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]},
        },
        "either": {"anyOf": [{"type": "string"}, {"type": "number"}]},
        "one": {"oneOf": [{"type": "number"}, {"type": "integer"}]},
        "no": {"not": {"type": "string"}},
    },
    "required": ["name"],
    "additionalProperties": False,
}
WRONG: list[tuple[Any, str, Place, str]] = [
    ([], "other", (), "expected a mapping, found a list"),
    ({}, "missing", (), "name is missing"),
    ({"name": "ab", "x": 1}, "undeclared", ("x",), "x is not declared"),
    ({"name": 3}, "other", ("name",), "name: expected a text, found the number 3"),
    ({"name": "a"}, "other", ("name",), 'name: "a" is shorter than 2 characters'),
    (
        {"name": "ab", "size": "1"},
        "other",
        ("size",),
        "size: expected a whole number or nothing (null), found the text '1'",
    ),
    ({"name": "ab", "size": True}, "other", ("size",), "size: expected a whole number or nothing (null), found true"),
    (
        {"name": "ab", "state": "x"},
        "other",
        ("state",),
        "state: expected one of open, closed, 3, nothing; found the text 'x'",
    ),
    ({"name": "ab", "kind": 1}, "other", ("kind",), "kind: expected order, found the number 1"),
    ({"name": "ab", "lines": [{"n": 1}, {}]}, "missing", ("lines", 1), "n is missing in lines.1"),
    ({"name": "ab", "either": []}, "other", ("either",), "either: a list fits none of the alternatives"),
    (
        {"name": "ab", "one": 1},
        "other",
        ("one",),
        "one: the number 1 fits more than one of the alternatives, and exactly one is allowed",
    ),
    ({"name": "ab", "no": "x"}, "other", ("no",), "no: the text 'x' is excluded here"),
]


@pytest.mark.parametrize(("value", "code", "at", "message"), WRONG)
def test_sentences_for_people(value: Any, code: str, at: Place, message: str) -> None:
    found = compile_schema(OBJECT).faults(value, code="other", missing="missing", undeclared="undeclared")
    assert [(fault.code, fault.at, fault.message) for fault in found] == [(code, at, message)]


def test_all_faults_at_their_places() -> None:
    value = {"size": "a", "lines": [{"n": "x"}, 3], "more": 1, "most": 2}
    places = {fault.at for fault in compile_schema(OBJECT).faults(value, at=("inputs",))}
    assert places == {
        ("inputs",),
        ("inputs", "size"),
        ("inputs", "lines", 0, "n"),
        ("inputs", "lines", 1),
        ("inputs", "more"),
        ("inputs", "most"),
    }


def test_a_flood_of_faults_is_cut() -> None:
    assert len(compile_schema({"items": {"type": "string"}}).faults(list(range(1_000)))) == 50


NOT_JSON: list[Any] = [
    float("nan"),
    float("inf"),
    "\ud800",
    {"\udfff": 1},
    {1: 2},
    {None: 1},
    b"x",
    {1, 2},
    datetime.date(2026, 1, 1),
    decimal.Decimal(1),
    object(),
    MappingProxyType({}),
    [[float("-inf")]],
]


@pytest.mark.parametrize("value", NOT_JSON, ids=lambda value: type(value).__name__)
def test_what_is_not_json_fits_no_schema(value: Any) -> None:
    everything = compile_schema(True)
    assert not everything.is_valid(value)
    (fault,) = everything.faults({"a": [value]})
    assert fault.code == "value-invalid"
    assert fault.at[:2] == ("a", 0)


def test_values_without_a_bottom() -> None:
    round_and_round: list[Any] = []
    round_and_round.append(round_and_round)
    deep: Any = 1
    for _ in range(5_000):
        deep = {"a": deep}
    for value in (round_and_round, deep):
        (fault,) = compile_schema(True).faults(value)
        assert "deeper than 64 levels" in fault.message


@pytest.mark.parametrize(
    ("schema", "value", "valid"),
    [
        ({"type": "integer"}, 1.0, True),
        ({"type": "integer"}, 1.5, False),
        ({"type": "integer"}, True, False),
        ({"type": "integer"}, 2**70, True),
        ({"enum": [1]}, 1.0, True),
        ({"const": False}, 0, False),
        ({"pattern": "^a$"}, "a\n", False),
        ({"pattern": r"^\d$"}, "٣", False),
        ({"pattern": "a"}, "xay", True),
        ({"maxLength": 1}, "😀", True),
        ({"multipleOf": 0.1}, 0.3, True),
        ({"uniqueItems": True}, [1, 1.0], False),
        ({"uniqueItems": True}, [1, True], True),
        ({"format": "email"}, "no", True),
        ({"items": {"type": "integer"}}, (1, 2), True),
    ],
)
def test_who_judges_and_how(schema: dict[str, Any], value: Any, valid: bool) -> None:
    assert compile_schema(schema).is_valid(value) is valid


NESTED = {
    "$defs": {
        "e": {
            "oneOf": [
                {"type": "object", "properties": {"not": {"$ref": "#/$defs/e"}}, "required": ["not"]},
                {"properties": {"not": {"$ref": "#/$defs/e"}, "op": {"const": "x"}}, "required": ["op"]},
            ]
        }
    },
    "$ref": "#/$defs/e",
}


@pytest.mark.parametrize("depth", [1, 5, 20, 60])
def test_reasons_for_deep_values_in_recursive_schemas_are_affordable(depth: int) -> None:
    value: Any = {"op": "y"}
    for _ in range(depth):
        value = {"not": value, "op": "y"}
    with soon():
        assert len(compile_schema(NESTED).faults(value)) == 1


def test_hostile_patterns_do_not_hang() -> None:
    validator = compile_schema({"pattern": "^(a+)+$"})
    with soon():
        assert not validator.is_valid("a" * 50_000 + "b")


@pytest.mark.parametrize(
    "schema", [{"type": 3}, {"pattern": "("}, {"$ref": "#/x"}, {"$ref": "http://a.invalid"}, [], 3]
)
def test_what_does_not_compile(schema: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        compile_schema(schema)


@pytest.mark.parametrize(
    ("schema", "value", "valid"),
    [
        ({}, {}, True),
        ({}, {"a": 1}, False),
        ({"properties": {"a": True}}, {"a": 1, "b": 1}, False),
        ({"properties": {"a": True}, "additionalProperties": True}, {"b": 1}, True),
        ({"additionalProperties": {"type": "string"}}, {"b": "x"}, True),
        ({"unevaluatedProperties": True}, {"b": "x"}, True),
        ({"allOf": [{"properties": {"a": True}}]}, {"a": 1}, True),
        ({"allOf": [{"properties": {"a": True}}]}, {"b": 1}, False),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"a": True}}}}, {"b": 1}, False),
        ({"patternProperties": {"^x": True}}, {"x1": 1}, True),
        ({"patternProperties": {"^x": True}}, {"y": 1}, False),
        ({"properties": {"a": {"type": "object"}}}, {"a": {"b": 1}}, True),
    ],
)
def test_inputs_are_closed_at_the_root(schema: dict[str, Any], value: Any, valid: bool) -> None:
    assert compile_schema(schema, closed_root=True).is_valid(value) is valid


def test_closing_changes_nothing_of_what_it_was_given() -> None:
    schema: dict[str, Any] = {"properties": {"a": True}}
    closed(schema)
    assert schema == {"properties": {"a": True}}


def test_defaults_are_filled_and_never_shared() -> None:
    inner = {"type": "object", "properties": {"b": {"default": [1]}}}
    schema = {"properties": {"a": inner, "c": {"default": {"x": 1}}, "d": True, "e": {"type": "object", **inner}}}
    given_value: dict[str, Any] = {"a": {}, "c": None}
    filled = fill_defaults(schema, given_value)
    assert filled == {"a": {"b": [1]}, "c": None}
    assert given_value == {"a": {}, "c": None}
    filled["a"]["b"].append(2)
    assert fill_defaults(schema, {"a": {}})["a"] == {"b": [1]}


@pytest.mark.parametrize("value", [None, 3, "a", [{}]])
def test_defaults_of_what_is_no_mapping(value: Any) -> None:
    assert fill_defaults({"properties": {"a": {"default": 1}}}, value) == value


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0]) | st.sampled_from(["", "a", "ab"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)
SCHEMAS = st.recursive(
    st.booleans() | st.fixed_dictionaries({"type": st.sampled_from(["string", "integer", "object", "array", "null"])}),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "required": st.lists(st.sampled_from("ab"), unique=True),
            "additionalProperties": inner,
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "enum": st.lists(VALUES, min_size=1, max_size=2),
            "minLength": st.integers(0, 2),
            "minimum": st.integers(-2, 2),
            "uniqueItems": st.booleans(),
            "unevaluatedProperties": inner,
        },
    ),
    max_leaves=8,
)


@given(SCHEMAS, VALUES)
def test_two_judges_agree(schema: Any, value: Any) -> None:
    validator = compile_schema(schema)
    assert validator.is_valid(value) is Draft202012Validator(schema).is_valid(value)
    assert bool(validator.faults(value)) is not validator.is_valid(value)
