"""Whether at most one branch of a ``oneOf`` can hold, so that ``anyOf`` says the same.

Told by what the branches say plainly: other types, other constants, or a required property with other constants.
Whatever cannot be told so counts as overlapping.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from pawl.procedures.schema_graph import Graph
from pawl.procedures.schema_tree import Node

_Key: TypeAlias = tuple[str, Any]
MAX_BRANCHES = 64
MAX_HOPS = 16


def disjoint(branches: Iterable[Node], graph: Graph) -> bool:
    """Return whether no value can fit two of the branches."""
    schemas = [_target(node, graph) for node in branches]
    if not 0 < len(schemas) <= MAX_BRANCHES:
        return False
    return (
        _apart([_types(schema) for schema in schemas])
        or _apart([_constants(schema) for schema in schemas])
        or any(_apart([_of_property(schema, name) for schema in schemas]) for name in _shared(schemas))
    )


def _target(node: Node, graph: Graph) -> Mapping[str, Any]:
    for _ in range(MAX_HOPS):
        target = graph.target(node)
        if target is None:
            break
        node = target
    return node.schema if isinstance(node.schema, Mapping) else {}


def _apart(sets: list[frozenset[_Key] | None]) -> bool:
    seen: set[_Key] = set()
    for each in sets:
        if each is None or not seen.isdisjoint(each):
            return False
        seen |= each
    return True


def _types(schema: Mapping[str, Any]) -> frozenset[_Key] | None:
    kinds = schema.get("type")
    words = [kinds] if isinstance(kinds, str) else kinds
    if not isinstance(words, list):
        return None
    return frozenset(("type", "number" if word == "integer" else word) for word in words)


def _constants(schema: Mapping[str, Any]) -> frozenset[_Key] | None:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(values, list):
        return None
    keys = [_key(value) for value in values]
    return None if None in keys else frozenset(key for key in keys if key is not None)


def _key(value: Any) -> _Key | None:
    """Return what JSON Schema compares: 1 and 1.0 are the same, 1 and true are not."""
    if isinstance(value, bool) or value is None:
        return ("word", value)
    if isinstance(value, int | float):
        return ("number", float(value))
    return ("text", value) if isinstance(value, str) else None


def _shared(schemas: list[Mapping[str, Any]]) -> list[str]:
    """Return the properties that every branch, each of which is an object, requires."""
    if any(schema.get("type") != "object" for schema in schemas):
        return []
    required = [frozenset(schema.get("required") or ()) for schema in schemas]
    return sorted(frozenset.intersection(*required))


def _of_property(schema: Mapping[str, Any], name: str) -> frozenset[_Key] | None:
    properties = schema.get("properties")
    inner = properties.get(name) if isinstance(properties, Mapping) else None
    return _constants(inner) if isinstance(inner, Mapping) else None
