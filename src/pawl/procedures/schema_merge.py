"""Putting two schemas into one that asks for both, as far as that can be said without allOf: a help for guessing.

Exact for bounds, types, enumerations and required names; for any other keyword the right one stands in for both. So a
guess made from the result is still to be judged by the two schemas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def merged(left: Mapping[str, Any], right: Any) -> dict[str, Any]:
    """Return a schema that asks for what both ask for; ``right`` may be true."""
    made = dict(left)
    if not isinstance(right, Mapping):
        return made
    for key, value in right.items():
        made[key] = _COMBINE[key](made[key], value) if key in made and key in _COMBINE else value
    return made


def _both(left: Any, right: Any) -> Any:
    if not isinstance(left, Mapping) or not isinstance(right, Mapping):
        return left if right is True else right
    made = dict(left)
    for name, schema in right.items():
        made[name] = merged(left[name], schema) if name in left and isinstance(left[name], Mapping) else schema
    return made


def _largest(left: Any, right: Any) -> Any:
    return max(left, right) if isinstance(left, int | float) and isinstance(right, int | float) else right


def _smallest(left: Any, right: Any) -> Any:
    return min(left, right) if isinstance(left, int | float) and isinstance(right, int | float) else right


def _union(left: Any, right: Any) -> Any:
    return [*dict.fromkeys((*left, *right))] if isinstance(left, list) and isinstance(right, list) else right


def _common(left: Any, right: Any) -> Any:
    return [value for value in left if value in right] if isinstance(left, list) and isinstance(right, list) else right


def _types(left: Any, right: Any) -> Any:
    one, other = ([named] if isinstance(named, str) else named for named in (left, right))
    if not isinstance(one, list) or not isinstance(other, list):
        return right
    pairs = (("integer" if {a, b} == {"integer", "number"} else a if a == b else None) for a in one for b in other)
    return [*dict.fromkeys(name for name in pairs if name)] or right


_COMBINE: Mapping[str, Callable[[Any, Any], Any]] = {
    "$defs": _both,
    "definitions": _both,
    "enum": _common,
    "exclusiveMaximum": _smallest,
    "exclusiveMinimum": _largest,
    "maxItems": _smallest,
    "maxLength": _smallest,
    "maxProperties": _smallest,
    "maximum": _smallest,
    "minItems": _largest,
    "minLength": _largest,
    "minProperties": _largest,
    "minimum": _largest,
    "patternProperties": _both,
    "properties": _both,
    "required": _union,
    "type": _types,
}
