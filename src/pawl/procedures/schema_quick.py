"""Values that surely fit a plain schema, seen without the engine that judges schemas.

Importing and compiling that engine takes longer than the rest of an agent's start, and most calls are right. So a yes
is given here where the schema uses only what stands below and nobody could read it otherwise; whatever is not a sure
yes, is left to the engine, and every no is the engine's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from typing import Any

_LARGEST = 2**53 - 1
"""Whole numbers up to here are the same in every reader of JSON."""
_MOST_DEPTH = 8


def surely_fits(schema: Any, value: Any) -> bool:
    """Whether ``value``, which JSON can hold, fits ``schema`` beyond doubt; False says nothing."""
    return _fits(schema, value, _MOST_DEPTH)


def _fits(schema: Any, value: Any, depth: int) -> bool:
    if type(schema) is not dict or depth == 0:
        return False
    kind = schema.get("type")
    judge = _TYPES.get(kind) if type(kind) is str else None
    if judge is None or not judge(value):
        return False
    for key, wanted in schema.items():
        check = _KEYWORDS.get(key)
        if check is None or not check(schema, wanted, value, depth):
            return False
    return True


def _is_number(value: Any) -> bool:
    return (type(value) is int and -_LARGEST <= value <= _LARGEST) or (type(value) is float and value - value == 0)


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: type(value) is str,
    "integer": lambda value: type(value) is int and _is_number(value),
    "number": _is_number,
    "boolean": lambda value: type(value) is bool,
    "object": lambda value: type(value) is dict,
    "array": lambda value: type(value) is list,
}
"""Whole floats are integers to the engine; here they are no sure yes."""


def _properties(_schema: Any, wanted: Any, value: Any, depth: int) -> bool:
    if type(wanted) is not dict or type(value) is not dict:
        return False
    return all(name not in value or _fits(inner, value[name], depth - 1) for name, inner in wanted.items())


def _required(_schema: Any, wanted: Any, value: Any, _depth: int) -> bool:
    return type(wanted) is list and type(value) is dict and all(type(name) is str and name in value for name in wanted)


def _closed(schema: Any, wanted: Any, value: Any, _depth: int) -> bool:
    known = schema.get("properties") or {}
    return wanted is False and type(known) is dict and type(value) is dict and value.keys() <= known.keys()


def _items(_schema: Any, wanted: Any, value: Any, depth: int) -> bool:
    return type(value) is list and all(_fits(wanted, item, depth - 1) for item in value)


def _enum(_schema: Any, wanted: Any, value: Any, _depth: int) -> bool:
    return type(wanted) is list and type(value) is str and value in wanted


def _length(_schema: Any, wanted: Any, value: Any) -> int | None:
    return len(value) if type(wanted) is int and wanted >= 0 and type(value) in {str, list} else None


def _at_least(schema: Any, wanted: Any, value: Any, _depth: int) -> bool:
    size = _length(schema, wanted, value)
    return size is not None and size >= wanted


def _at_most(schema: Any, wanted: Any, value: Any, _depth: int) -> bool:
    size = _length(schema, wanted, value)
    return size is not None and size <= wanted


def _bound(holds: Callable[[Any, Any], bool]) -> Callable[[Any, Any, Any, int], bool]:
    return lambda _schema, wanted, value, _depth: _is_number(wanted) and _is_number(value) and holds(value, wanted)


def _nothing(_schema: Any, _wanted: Any, _value: Any, _depth: int) -> bool:
    return True


_KEYWORDS: Mapping[str, Callable[[Any, Any, Any, int], bool]] = {
    "type": _nothing,
    "title": _nothing,
    "description": _nothing,
    "default": _nothing,
    "examples": _nothing,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _closed,
    "items": _items,
    "enum": _enum,
    "minLength": _at_least,
    "maxLength": _at_most,
    "minItems": _at_least,
    "maxItems": _at_most,
    "minimum": _bound(lambda value, wanted: bool(value >= wanted)),
    "maximum": _bound(lambda value, wanted: bool(value <= wanted)),
    "exclusiveMinimum": _bound(lambda value, wanted: bool(value > wanted)),
    "exclusiveMaximum": _bound(lambda value, wanted: bool(value < wanted)),
}
