"""Claims are backed: a witness is valid on one side only, by the validator that checks calls."""

from __future__ import annotations

from typing import Any

import pytest

from pawl.changes.schemas import compare_schemas
from pawl.changes.values import ABSENT, Change
from pawl.procedures.schema import compile_schema

TEXT = {"type": "string"}


def obj(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


LOST = [
    (obj(a=TEXT), {**obj(a=TEXT), "required": ["a"]}, {}),
    ({**obj(a=TEXT), "required": ["a"]}, {**obj(a={"const": "b"}), "required": ["a"]}, {"a": "x"}),
    (obj(a={"type": "number"}), obj(a={"type": "integer"}), {"a": 0.5}),
    (obj(a={"type": "integer", "maximum": 9}), obj(a={"type": "integer", "maximum": 8}), {"a": 9}),
    (obj(a={**TEXT, "maxLength": 4}), obj(a={**TEXT, "maxLength": 2}), {"a": "xxx"}),
    (
        obj(a={"type": "array", "items": obj(b=TEXT)}),
        obj(a={"type": "array", "items": {**obj(b=TEXT), "additionalProperties": False}}),
        {"a": [{"extra": None}]},
    ),
    (obj(a={"enum": ["a", "b"]}), obj(a={"enum": ["a"]}), {"a": "b"}),
    (obj(a=TEXT), obj(a={**TEXT, "pattern": "^[0-9]+$"}), {"a": "x"}),
    (obj(a=TEXT, b=TEXT), {**obj(a=TEXT, b=TEXT), "dependentRequired": {"a": ["b"]}}, {"a": "x"}),
    ({"type": "array"}, {"type": "array", "uniqueItems": True}, [None, None]),
    (
        {"type": "object", "additionalProperties": TEXT},
        {"type": "object", "additionalProperties": {"const": "a"}},
        {"extra": "x"},
    ),
    ({"anyOf": [TEXT, {"type": "array"}]}, {"anyOf": [TEXT, {"type": "null"}]}, []),
]


@pytest.mark.parametrize(("old", "new", "witness"), LOST)
def test_the_witness_of_a_narrowing_is_small(old: Any, new: Any, witness: Any) -> None:
    (change,) = (change for change in compare_schemas(old, new, side="input") if change.level == "major")
    assert ("witness", witness) == (change.proof, change.witness)
    assert compile_schema(old).is_valid(witness)
    assert not compile_schema(new).is_valid(witness)


@pytest.mark.parametrize(("old", "new", "witness"), LOST)
def test_the_witness_of_a_widening_is_valid_under_the_new_side(old: Any, new: Any, witness: Any) -> None:
    changes = compare_schemas(new, old, side="output")
    (change,) = (change for change in changes if change.level == "major")
    assert ("witness", witness) == (change.proof, change.witness)


def only(changes: tuple[Change, ...], code: str) -> Change:
    (change,) = (change for change in changes if change.code == code)
    return change


def test_a_vanished_name_is_shown_in_use() -> None:
    old = {**obj(a=TEXT, b={"type": "integer"}), "required": ["a"]}
    change = only(compare_schemas(old, {**obj(a=TEXT), "required": ["a"]}, side="input"), "property-removed")
    assert ("usage", {"a": "x", "b": 1}) == (change.proof, change.witness)


def test_a_format_has_no_witness_and_stays_major() -> None:
    change = only(compare_schemas(TEXT, {**TEXT, "format": "email"}, side="input"), "format-added")
    assert ("rule", ABSENT, "major") == (change.proof, change.witness, change.level)


def test_what_cannot_be_decided_says_so() -> None:
    old, new = ({**TEXT, "not": {"maxLength": limit}} for limit in (1, 2))
    change = only(compare_schemas(old, new, side="input"), "condition-changed")
    assert ("undecided", ("undecided",), ("not",)) == (change.proof, change.flags, change.path)
    assert "not" in change.reason


def test_a_name_added_beside_an_open_object_needs_no_witness() -> None:
    change = only(compare_schemas(obj(), obj(a=TEXT), side="input"), "property-added")
    assert ("rule", ABSENT) == (change.proof, change.witness)
    assert ("implementers",) == change.breaks
