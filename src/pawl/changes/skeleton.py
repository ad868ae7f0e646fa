"""What a schema evaluates in place: its skeleton, and the schemas that it hands parts of the instance to.

``unevaluated*`` looks at what its siblings have evaluated, branch by branch. Two sets of siblings surely evaluate the
same if their skeletons are equal and what hangs on them means the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pawl.changes.source import TEXT, Schema, Source, keywords
from pawl.changes.values import keyed

MAX_NESTED = 32
_IN_PLACE = ("not", "if", "then", "else")
_IN_PLACE_MANY = ("allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies")
_PARTS = ("items", "additionalProperties", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties")
_PART_MAPS = ("properties", "patternProperties")
_NOTHING_SAID: Mapping[str, Any] = {
    "required": [],
    "uniqueItems": False,
    "minLength": 0,
    "minItems": 0,
    "minProperties": 0,
}


def skeleton(source: Source, parts: list[tuple[str, Schema]], depth: int = 0) -> Any:
    """Return the skeleton of a schema, and put the schemas that hang on it into ``parts``, each under a name."""
    if isinstance(source.raw, bool) or depth > MAX_NESTED:
        return source.raw if depth <= MAX_NESTED else {"too deep": list(source.at)}
    found: dict[str, Any] = {}
    for keyword in sorted(keywords(source)):
        name = keyword.name
        if name in TEXT or name == "default" or name.startswith("x-") or _NOTHING_SAID.get(name) == keyword.value:
            continue
        found["enum" if name == "const" else name] = _of_keyword(source.child(*keyword.suffix), name, parts, depth)
    return found["$ref"] if found.keys() == {"$ref"} else found


def _of_keyword(held: Source, name: str, parts: list[tuple[str, Schema]], depth: int) -> Any:
    raw = held.raw
    if name == "$ref":
        target = Source(held.document, held.at[:-1], held.use[:-1], {"$ref": raw}).target()
        return raw if target is None else skeleton(target, parts, depth + 1)
    hung = _PART_MAPS if isinstance(raw, Mapping) else ("prefixItems",)
    if name in _PARTS:
        return _hung(held, parts)
    if name in hung:
        return {str(key): _hung(held.child(key), parts) for key in _keys(raw)}
    if name in _IN_PLACE:
        return skeleton(held, parts, depth + 1)
    if name in _IN_PLACE_MANY:
        return {
            str(key): sorted(raw[key])
            if name == "dependencies" and isinstance(raw[key], list)
            else skeleton(held.child(key), parts, depth + 1)
            for key in _keys(raw)
        }
    return _plain(name, raw)


def _plain(name: str, raw: Any) -> Any:
    """Return what a keyword without schemas says, the same for the same meaning."""
    if name == "type":
        return [raw] if isinstance(raw, str) else sorted(raw)
    if name in ("enum", "const"):
        return sorted(keyed(raw if name == "enum" else (raw,)))
    return sorted(raw) if name == "required" else raw


def _keys(raw: Mapping[str, Any] | list[Any]) -> list[Any]:
    return sorted(raw) if isinstance(raw, Mapping) else list(range(len(raw)))


def _hung(source: Source, parts: list[tuple[str, Schema]]) -> str:
    name = f"part {len(parts)}"
    parts.append((name, (source,)))
    return name
