"""Inclusion: recursion that holds, recursion that does not, and limits beyond which nothing is shown."""

from __future__ import annotations

from typing import Any

import pytest

from pawl.changes.effort import Effort
from pawl.changes.forms import Forms
from pawl.changes.inclusion import MAX_PAIRS, Inclusion
from pawl.changes.judge import Judge
from pawl.changes.source import Document

TEXT = {"type": "string"}


def holds(left: Any, right: Any, *, claim: bool = False) -> bool:
    inclusion = Inclusion(Forms(Judge(Effort())))
    return inclusion.holds(Document(left).schema, Document(right).schema, claim=claim)


def tree(leaf: Any, **more: Any) -> dict[str, Any]:
    node = {"type": "object", "properties": {"value": leaf, "next": {"$ref": "#/$defs/node"}}, **more}
    return {"$ref": "#/$defs/node", "$defs": {"node": node}}


def unrolled(leaf: Any, inner: Any) -> dict[str, Any]:
    """Return the same list with its first node written out."""
    first = {"type": "object", "properties": {"value": leaf, "next": {"$ref": "#/$defs/node"}}}
    node = {"type": "object", "properties": {"value": inner, "next": {"$ref": "#/$defs/node"}}}
    return {**first, "$defs": {"node": node}}


def test_a_recursive_schema_is_within_one_that_is_wider_everywhere() -> None:
    assert holds(tree({"const": "a"}), tree(TEXT))
    assert not holds(tree(TEXT), tree({"const": "a"}))


def test_what_differs_deep_in_a_cycle_is_found() -> None:
    assert holds(unrolled(TEXT, TEXT), tree(TEXT))
    assert holds(tree(TEXT), unrolled(TEXT, TEXT))
    assert not holds(unrolled({"const": "a"}, TEXT), tree({"const": "a"}))
    assert not holds(tree(TEXT), unrolled(TEXT, {"const": "a"}))


def test_what_leaned_on_an_assumption_that_failed_is_forgotten() -> None:
    """The pair (b, b) holds only if (a, a) does, and (a, a) fails later, by its other property."""

    def knot(leaf: Any) -> dict[str, Any]:
        a = {"type": "object", "properties": {"b": {"$ref": "#/$defs/b"}, "leaf": leaf}}
        b = {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}
        return {
            "type": "object",
            "properties": {"x": {"$ref": "#/$defs/a"}, "y": {"$ref": "#/$defs/b"}},
            "$defs": {"a": a, "b": b},
        }

    inclusion = Inclusion(Forms(Judge(Effort())))
    old, new = Document(knot(TEXT)), Document(knot({"const": "a"}))
    source = {side: document.schema[0] for side, document in (("old", old), ("new", new))}
    assert not inclusion.holds(old.schema, new.schema)
    for name in ("y", "x"):
        left, right = ((source[side].child("properties", name),) for side in ("old", "new"))
        assert not inclusion.holds(left, right)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
        {"not": {"$ref": "#"}},
        {"type": "object", "if": {"$ref": "#"}, "then": {"required": ["a"]}},
    ],
)
def test_a_cycle_that_consumes_nothing_is_never_assumed(schema: dict[str, Any]) -> None:
    assert not holds(schema, {**schema, "title": "another text, so that it is compared at all"})


def test_names_that_are_added_beside_an_open_object_are_forgiven_in_a_claim_only() -> None:
    old, new = {"type": "object"}, {"type": "object", "properties": {"a": TEXT}}
    assert holds(old, new, claim=True)
    assert not holds(old, new)


def test_a_name_that_another_form_had_already_is_not_forgiven() -> None:
    known = {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}
    old = {"anyOf": [{"type": "object", "title": "any"}, known]}
    assert not holds(old, {"anyOf": [{"type": "object", "additionalProperties": False}, known]}, claim=True)


def chain(length: int, leaf: Any) -> dict[str, Any]:
    found = leaf
    for _ in range(length):
        found = {"type": "array", "items": found}
    return dict(found)


def test_the_depth_is_bounded() -> None:
    assert holds(chain(60, {"const": "a"}), chain(60, TEXT))
    links = {f"d{n}": {"type": "array", "items": {"$ref": f"#/$defs/d{n + 1}"}} for n in range(80)}
    deep = {"$ref": "#/$defs/d0", "$defs": {**links, "d80": {"const": "a"}}}
    assert not holds(deep, {**deep, "$defs": {**links, "d80": TEXT}})


def test_the_number_of_pairs_is_bounded() -> None:
    old, new = (
        Document({"type": "object", "properties": {name: {"minLength": least} for name in "abc"}}) for least in (2, 1)
    )
    assert Inclusion(Forms(Judge(Effort()))).holds(old.schema, new.schema)
    assert not Inclusion(Forms(Judge(Effort())), pairs=MAX_PAIRS - 2).holds(old.schema, new.schema)
    assert not Inclusion(Forms(Judge(Effort(20)))).holds(old.schema, new.schema)


INCLUDED = [
    ({"type": "integer", "minimum": 2, "maximum": 4}, {"enum": [1, 2, 3, 4]}),
    ({"const": {"a": "x", "b": 1}}, {"type": "object", "properties": {"a": TEXT}, "required": ["b"]}),
    ({"type": "number", "multipleOf": 0.2}, {"type": "number", "multipleOf": 0.1}),
    ({"type": "array", "maxItems": 1}, {"type": "array", "uniqueItems": True}),
    ({"type": "array", "items": False}, {"type": "array", "items": TEXT, "maxItems": 1}),
    (
        {"type": "object", "properties": {"a": TEXT}, "additionalProperties": False},
        {"type": "object", "maxProperties": 1},
    ),
    ({"type": "object", "required": ["a", "b"]}, {"type": "object", "minProperties": 2}),
    ({"type": "string", "pattern": "a", "maxLength": 3}, {"type": "string", "pattern": "a"}),
    ({"type": "string", "not": {"const": "a"}, "minLength": 1}, {"type": "string", "not": {"enum": ["a"]}}),
    (False, TEXT),
    ({"type": "number", "minimum": 2, "maximum": 1}, TEXT),
    ({"type": "object", "properties": {"a": False}, "required": ["a"]}, TEXT),
]


@pytest.mark.parametrize(("left", "right"), INCLUDED)
def test_within(left: Any, right: Any) -> None:
    assert holds(left, right)
    assert not holds(right, left)


APART = [
    ({"type": "string"}, {"type": "string", "pattern": "^"}),
    ({"type": "number"}, {"anyOf": [{"type": "number", "maximum": 5}, {"type": "number", "minimum": 3}]}),
    (
        {"type": "object", "patternProperties": {"^a": TEXT}},
        {"type": "object", "patternProperties": {"^a": {"const": "a"}}},
    ),
    ({"type": "object", "additionalProperties": TEXT}, {"type": "object", "patternProperties": {"^a": {"const": "a"}}}),
    ({"enum": ["a", "b"]}, {"const": "a"}),
    (True, {"type": ["string", "number", "object", "array", "boolean"]}),
]


@pytest.mark.parametrize(("left", "right"), APART)
def test_not_shown_to_be_within(left: Any, right: Any) -> None:
    assert not holds(left, right)
