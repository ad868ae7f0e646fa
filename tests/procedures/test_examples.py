"""Examples of schemas: found where one can be, right where found, and never after endless work."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgets import examples
from pawl.procedures.examples import NoExampleError, example
from pawl.procedures.pattern_example import matching_texts
from pawl.procedures.schema import compile_schema
from pawl.procedures.schema_check import check_schema
from support import soon


def having(schema: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}, "required": ["a"], **more}


EXACT: tuple[tuple[str, dict[str, Any], Any], ...] = (
    ("nothing-required", {"type": "object", "properties": {"a": {"type": "string"}}}, {}),
    ("text", having({"type": "string"}), {"a": "example"}),
    ("first-of-enum", having({"enum": ["b", "c"]}), {"a": "b"}),
    ("const", having({"const": 7}), {"a": 7}),
    ("default", having({"type": "string", "default": "en"}), {"a": "en"}),
    ("examples-before-default", having({"type": "string", "default": "en", "examples": ["de"]}), {"a": "de"}),
    ("wrong-default", having({"type": "integer", "default": "en"}), {"a": 1}),
    ("root-examples", having({"type": "string"}, examples=[{"a": "A1"}]), {"a": "A1"}),
    ("boolean", having({"type": "boolean"}), {"a": True}),
    ("null", having({"type": "null"}), {"a": None}),
    ("nested", having(having({"type": "integer", "minimum": 5})), {"a": {"a": 5}}),
    ("date", having({"type": "string", "format": "date"}), {"a": "2026-01-01"}),
    ("empty-list", having({"type": "array", "items": {"type": "string"}}), {"a": []}),
    ("two-items", having({"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 2}), {"a": [1, 1]}),
    (
        "different-items",
        having({"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 3, "uniqueItems": True}),
        {"a": [1, 2, 3]},
    ),
    (
        "reference",
        having({"$ref": "#/$defs/id"}, **{"$defs": {"id": {"type": "string", "minLength": 9}}}),
        {"a": "exampleee"},
    ),
    (
        "reference-beside-a-bound",
        having({"$ref": "#/$defs/n", "minimum": 8}, **{"$defs": {"n": {"type": "integer"}}}),
        {"a": 8},
    ),
    (
        "tree",
        having({"$ref": "#/$defs/t"}, **{"$defs": {"t": having({"type": ["null", "object"]})}}),
        {"a": {"a": None}},
    ),
    (
        "first-workable-branch",
        having({"anyOf": [{"type": "string", "minLength": 2, "maxLength": 1}, {"type": "integer"}]}),
        {"a": 1},
    ),
    (
        "one-of-required",
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        {"a": "example"},
    ),
    (
        "all-of",
        {"type": "object", "allOf": [having({"type": "integer", "minimum": 3}), having({"minimum": 6})]},
        {"a": 6},
    ),
)


@pytest.mark.parametrize(("schema", "expected"), [row[1:] for row in EXACT], ids=[row[0] for row in EXACT])
def test_the_smallest_instance_is_made(schema: dict[str, Any], expected: Any) -> None:
    assert expected == example(schema)


FOUND: tuple[tuple[str, dict[str, Any]], ...] = (
    ("open-interval", {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.01}),
    ("whole-number-between-fractions", {"type": "integer", "minimum": 2.5, "maximum": 3.5}),
    ("multiple", {"type": "integer", "multipleOf": 7, "minimum": 30}),
    ("multiple-of-cents", {"type": "number", "multipleOf": 0.25, "exclusiveMinimum": 4}),
    ("below-zero", {"type": "integer", "maximum": -4}),
    ("short", {"type": "string", "maxLength": 1}),
    ("nothing", {"type": "string", "maxLength": 0}),
    ("pattern", {"type": "string", "pattern": "^[A-Z]{2}-\\d{4}$"}),
    ("pattern-and-length", {"type": "string", "pattern": "^[a-z]+$", "minLength": 12}),
    ("pattern-and-shortness", {"type": "string", "pattern": "^[a-z]*$", "maxLength": 1}),
    ("phone", {"type": "string", "pattern": "^\\+?[1-9]\\d{1,14}$"}),
    ("slug", {"type": "string", "pattern": "^[a-z0-9]+(?:-[a-z0-9]+)*$"}),
    ("date-by-pattern", {"type": "string", "pattern": "^\\d{4}-\\d{2}-\\d{2}$"}),
    ("at-least-two-properties", {"type": "object", "minProperties": 2}),
    (
        "named-by-pattern",
        {
            "type": "object",
            "minProperties": 1,
            "patternProperties": {"^x-": {"type": "integer"}},
            "additionalProperties": False,
        },
    ),
    ("names-of-a-kind", {"type": "object", "minProperties": 2, "propertyNames": {"pattern": "^k[0-9]+$"}}),
    (
        "required-by-another",
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
            "required": ["a"],
            "dependentRequired": {"a": ["b"]},
        },
    ),
    (
        "if-then",
        {
            "type": "object",
            "properties": {"a": {"enum": ["x", "y"]}, "b": {"type": "string"}},
            "required": ["a"],
            "if": {"properties": {"a": {"const": "x"}}},
            "then": {"required": ["b"]},
        },
    ),
    ("not", {"not": {"type": "string"}}),
    ("contains", {"type": "array", "contains": {"const": 7}, "minContains": 2}),
    (
        "tuple",
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False, "minItems": 2},
    ),
    ("type-list", {"type": ["integer", "string"], "minimum": 4, "minLength": 3}),
    ("no-type", {"minimum": 7}),
    (
        "not-empty-and-one-of-few",
        {
            "type": "object",
            "properties": {"a": {"type": "object", "minProperties": 1, "properties": {"x": {"type": "string"}}}},
            "required": ["a"],
        },
    ),
    ("number-beyond-the-digits-of-json", {"type": "number", "minimum": 1e300}),
    ("tiny-step", {"type": "number", "multipleOf": 5e-324, "maximum": 1e308}),
)


@pytest.mark.parametrize("schema", [row[1] for row in FOUND], ids=[row[0] for row in FOUND])
@pytest.mark.parametrize("dialect", ["2020-12", "draft-07"])
def test_an_instance_is_found(schema: dict[str, Any], dialect: str) -> None:
    if dialect == "draft-07" and not {"prefixItems", "dependentRequired", "minContains"} & set(schema):
        schema = {"$schema": "http://json-schema.org/draft-07/schema#", **schema}
    assert compile_schema(schema).is_valid(example(schema))
    assert compile_schema(having(schema)).is_valid(example(having(schema)))


def test_draft_07_lists_of_items() -> None:
    items = [{"type": "string"}, {"type": "integer"}]
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "array", "items": items, "minItems": 3}
    assert ["example", 1] == example(schema)[:2]


BOTH = {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}, "required": ["a", "b"]}
DEEP: dict[str, Any] = {"type": "string", "pattern": "^(?:a|b){3}c$", "maxLength": 2}
for _ in range(20):
    DEEP = having(DEEP)
IMPOSSIBLE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("false", having(False)),
    ("empty-enum-of-two", having({"allOf": [{"enum": [1]}, {"enum": [2]}]})),
    ("endless-instance", BOTH),
    ("too-short-for-its-pattern", DEEP),
    ("hard-pattern", having({"type": "string", "pattern": "^\\p{Greek}{3}$"})),
    ("everything-refused", {"type": "object", "not": {}}),
    ("many-branches", {"anyOf": [{"allOf": [{"anyOf": [{"not": {}}] * 30}] * 3}] * 30}),
)


@pytest.mark.parametrize("schema", [row[1] for row in IMPOSSIBLE], ids=[row[0] for row in IMPOSSIBLE])
def test_where_none_is_found_that_is_said_soon(schema: dict[str, Any]) -> None:
    with soon(), pytest.raises(NoExampleError):
        example(schema)


PATTERNS: tuple[tuple[str, str], ...] = (
    ("abc", "abc"),
    ("^a|b$", "a"),
    ("[^a]", "A"),
    ("[]x]", "x"),
    ("[\\w.-]+", "a"),
    ("[a\\-z]", "a"),
    ("(?P<year>\\d{4})", "1111"),
    ("(?:ab){2,3}?", "abab"),
    ("a?b*c+", "c"),
    ("\\.\\\\\\/", ".\\/"),
)


@pytest.mark.parametrize(("pattern", "first"), PATTERNS)
def test_patterns_that_are_understood(pattern: str, first: str) -> None:
    texts = list(matching_texts(pattern))
    assert first == texts[0]
    validator = compile_schema({"pattern": pattern})
    assert all(validator.is_valid(text) for text in texts)


@pytest.mark.parametrize("pattern", ["x{2", "(?i)a", "(?=a)", "(", ")", "[a", "\\", "\\p{L}", "*", "(" * 100])
def test_patterns_that_are_not(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        list(matching_texts(pattern))


@given(st.text(alphabet="ab1()[]{}|*+?^$\\.-,dw:", max_size=14))
def test_no_pattern_does_harm(pattern: str) -> None:
    try:
        texts = list(matching_texts(pattern))
    except ValueError:
        return
    assert max(map(len, texts), default=0) <= 1_000


names = st.sampled_from(["a", "b", "c"])
scalars = st.one_of(
    st.just({"type": "boolean"}),
    st.just({"type": "null"}),
    st.lists(st.sampled_from([1, "x", None, False]), min_size=1, max_size=3, unique_by=str).map(
        lambda held: {"enum": held}
    ),
    st.builds(
        lambda low, more: {"type": "integer", "minimum": low, "maximum": low + more},
        st.integers(-9, 9),
        st.integers(0, 3),
    ),
    st.builds(
        lambda low, step: {"type": "number", "exclusiveMinimum": low, "multipleOf": step},
        st.integers(-9, 9),
        st.sampled_from([0.5, 2, 3]),
    ),
    st.builds(
        lambda low, more: {"type": "string", "minLength": low, "maxLength": low + more},
        st.integers(0, 12),
        st.integers(0, 3),
    ),
    st.sampled_from(["^[a-z]{2}$", "^x-", "\\d+", "^(?:GET|POST) /"]).map(
        lambda text: {"type": "string", "pattern": text}
    ),
)


def larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    objects = st.builds(
        lambda known, count, closed: {
            "type": "object",
            "properties": known,
            "required": sorted(known)[:count],
            **({"additionalProperties": False} if closed else {}),
        },
        st.dictionaries(names, inner, max_size=3),
        st.integers(0, 3),
        st.booleans(),
    )
    arrays = st.builds(
        lambda item, least: {"type": "array", "items": item, "minItems": least}, inner, st.integers(0, 3)
    )
    choices = st.lists(inner, min_size=1, max_size=3).map(lambda branches: {"anyOf": branches})
    referring = inner.map(lambda part: {"allOf": [part], "description": "the same"})
    return st.one_of(objects, arrays, choices, referring)


schemas = st.recursive(scalars, larger, max_leaves=8)


@examples(40)
@given(schemas)
def test_what_can_be_met_is_met(schema: dict[str, Any]) -> None:
    assert () == check_schema(schema)
    assert compile_schema(schema).is_valid(example(schema))
    moved = {**having({"$ref": "#/$defs/part"}), "$defs": {"part": schema}}
    assert compile_schema(moved).is_valid(example(moved))
