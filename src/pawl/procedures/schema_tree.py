"""A JSON Schema as a tree: its dialect, the schemas inside it, and where its references lead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pawl.problems import Place
from pawl.values import dataclass

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from typing import Any

DIALECTS = {
    "https://json-schema.org/draft/2020-12/schema": "2020-12",
    "http://json-schema.org/draft-07/schema": "draft-07",
    "http://json-schema.org/draft-07/schema#": "draft-07",
}
MAX_DEPTH = 64
MAX_NODES = 20_000
SUBSCHEMA = frozenset(
    {
        "additionalProperties",
        "propertyNames",
        "items",
        "contains",
        "not",
        "if",
        "then",
        "else",
        "unevaluatedItems",
        "unevaluatedProperties",
        "additionalItems",
        "contentSchema",
    }
)
SUBSCHEMAS_LIST = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
SUBSCHEMAS_MAP = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One schema inside a schema, and where it stands."""

    schema: Any
    at: Place


def dialect_of(schema: Any) -> str:
    """Return the dialect of a schema; 2020-12 where none is said, or none that is known."""
    named = schema.get("$schema") if isinstance(schema, Mapping) else None
    return DIALECTS.get(named, "2020-12") if isinstance(named, str) else "2020-12"


def walk_schema(schema: Any) -> Iterator[Node]:
    """Yield a schema and every schema below it; ``OverflowError`` beyond the limits on depth and number."""
    waiting: list[tuple[Node, int]] = [(Node(schema, ()), 0)]
    count = 0
    while waiting:
        node, depth = waiting.pop()
        count += 1
        if depth > MAX_DEPTH or count > MAX_NODES:
            raise OverflowError(f"the schema is deeper than {MAX_DEPTH} levels or has more than {MAX_NODES} parts")
        yield node
        waiting.extend((child, depth + 1) for child in children(node))


def children(node: Node) -> Iterator[Node]:
    """Yield the schemas directly below a schema."""
    if not isinstance(node.schema, Mapping):
        return
    for key, value in node.schema.items():
        if key in SUBSCHEMA and not isinstance(value, list):
            yield Node(value, (*node.at, key))
        elif (key in SUBSCHEMAS_LIST or key == "items") and isinstance(value, list):
            yield from (Node(item, (*node.at, key, index)) for index, item in enumerate(value))
        elif key in SUBSCHEMAS_MAP and isinstance(value, Mapping):
            yield from (Node(item, (*node.at, key, name)) for name, item in value.items())
        elif key == "dependencies" and isinstance(value, Mapping):
            yield from (Node(item, (*node.at, key, name)) for name, item in value.items() if not isinstance(item, list))


def resolve_pointer(root: Mapping[str, Any], reference: str) -> Node | None:
    """Return what a reference into the same schema points to, or None; anchors are looked up by name."""
    text = reference.removeprefix("#")
    if text and not text.startswith("/"):
        named = (node for node in walk_schema(root) if isinstance(node.schema, Mapping))
        return next((node for node in named if node.schema.get("$anchor") == text), None)
    here: Any = root
    at: list[str | int] = []
    for part in text.split("/")[1:]:
        key = _unescaped(part)
        if isinstance(here, Mapping) and key in here:
            here = here[key]
            at.append(key)
        elif isinstance(here, list) and key.isascii() and key.isdigit() and len(key) < 9 and int(key) < len(here):
            here = here[int(key)]
            at.append(int(key))
        else:
            return None
    return Node(here, tuple(at)) if isinstance(here, Mapping | bool) else None


def _unescaped(part: str) -> str:
    if "%" in part:
        from urllib.parse import unquote  # noqa: PLC0415 - slow to import, and seldom needed

        part = unquote(part)
    return part.replace("~1", "/").replace("~0", "~")
