"""The comparison ends, soon, on any schema that a file can hold; what it gives up on is major."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from budgets import sweep
from changes.make import highest
from pawl.changes.schemas import compare_schemas
from support import soon

TEXT = {"type": "string"}


def doubling(keyword: str, levels: int, leaf: Any) -> dict[str, Any]:
    """Return definitions in which every level uses the next one twice."""
    defs: dict[str, Any] = {
        f"d{level}": {keyword: [{"$ref": f"#/$defs/d{level + 1}"}, {"$ref": f"#/$defs/d{level + 1}"}]}
        for level in range(levels)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**defs, f"d{levels}": leaf}}


def doubling_names(levels: int, leaf: Any) -> dict[str, Any]:
    defs: dict[str, Any] = {
        f"d{level}": {"type": "object", "properties": {name: {"$ref": f"#/$defs/d{level + 1}"} for name in "ab"}}
        for level in range(levels)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**defs, f"d{levels}": leaf}}


def nested(wrap: Callable[[Any], Any], levels: int, leaf: Any) -> Any:
    found = leaf
    for _ in range(levels):
        found = wrap(found)
    return found


def knot(count: int, leaf: Any) -> dict[str, Any]:
    """Return definitions that all lead to one another."""
    defs = {
        f"d{n}": {
            "type": "object",
            "properties": {
                "a": {"$ref": f"#/$defs/d{(n * 7 + 1) % count}"},
                "b": {"$ref": f"#/$defs/d{(n * 11 + 3) % count}"},
                "c": leaf,
            },
        }
        for n in range(count)
    }
    return {"$ref": "#/$defs/d0", "$defs": defs}


def forms(count: int, limit: int) -> dict[str, Any]:
    return {
        "anyOf": [
            {"type": "object", "properties": {f"p{n % 4}": {"maxLength": n + limit}}, "required": [f"p{n % 4}"]}
            for n in range(count)
        ]
    }


def both(make: Callable[[Any], Any], old: Any, new: Any) -> tuple[Any, Any]:
    return make(old), make(new)


CASES: dict[str, tuple[Any, Any]] = {
    "doubling allOf": both(lambda leaf: doubling("allOf", 40, leaf), TEXT, {"type": "null"}),
    "doubling anyOf": both(lambda leaf: doubling("anyOf", 40, leaf), TEXT, {"type": "null"}),
    "doubling oneOf": both(lambda leaf: doubling("oneOf", 40, leaf), TEXT, {"type": "null"}),
    "doubling names": both(lambda leaf: doubling_names(40, leaf), TEXT, {"type": "null"}),
    "a knot": both(lambda most: knot(100, {"maxLength": most}), 5, 4),
    "deep items": both(lambda leaf: nested(lambda inner: {"items": inner}, 60, leaf), TEXT, {"type": "null"}),
    "deep not": both(lambda leaf: nested(lambda inner: {"not": inner}, 60, leaf), TEXT, {"type": "null"}),
    "deep allOf": both(lambda leaf: nested(lambda inner: {"allOf": [inner, {}]}, 60, leaf), TEXT, {"type": "null"}),
    "deep anyOf": both(
        lambda leaf: nested(lambda inner: {"anyOf": [inner, {"type": "array"}]}, 60, leaf), TEXT, {"const": 1}
    ),
    "many forms": both(lambda limit: forms(100, limit), 1, 0),
    "many patterns": both(lambda letter: {"patternProperties": {f"^{letter}{n}": TEXT for n in range(400)}}, "a", "b"),
    "a long enum": both(lambda first: {"enum": [f"v{n}" for n in range(first, 10_000)]}, 0, 1),
    "many members": both(lambda letter: {"allOf": [{"required": [f"{letter}{n}"]} for n in range(1_000)]}, "a", "b"),
    "many steps": both(lambda m: {"allOf": [{"multipleOf": 0.1234567 + n * 1e-7} for n in range(m)]}, 400, 401),
    "a length beyond memory": both(lambda least: {"type": "array", "minItems": least}, 10**9, 10**9 + 1),
    "unique and recursive": both(
        lambda least: {"type": "array", "uniqueItems": True, "minItems": least, "items": {"$ref": "#"}}, 3, 4
    ),
    "itself": both(lambda title: {"$ref": "#", "title": title}, "a", "b"),
    "its own negation": both(lambda title: {"not": {"$ref": "#"}, "title": title}, "a", "b"),
}


LONG = {"doubling names", "many forms", "many members"}
"""Those that take longest; each has shorter ones of its kind beside it."""


@pytest.mark.parametrize("name", sweep(CASES, *(set(CASES) - LONG)))
def test_it_ends(name: str) -> None:
    old, new = CASES[name]
    with soon(30.0):
        changes = compare_schemas(old, new, side="input")
    assert "major" == highest(changes)


def test_many_changes_are_cut_off_as_undecided() -> None:
    old, new = (
        {"type": "object", "properties": {f"n{n}": {"type": "string", "description": text} for n in range(2_100)}}
        for text in "ab"
    )
    changes = compare_schemas(old, new, side="input")
    assert {"schema-text", "undecided"} == {change.code for change in changes}
    assert "major" == highest(changes)
