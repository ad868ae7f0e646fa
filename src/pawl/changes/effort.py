"""What a comparison may cost, and what a validator's answer would cost: so that everything ends in bounded time.

The validator of calls tries every branch anew wherever a schema is used, so a short schema of references can cost it
any time at all. The weight of a schema says how many parts it can come to visit for a value; what is too heavy is not
asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pawl.changes.source import Document, Source
from pawl.problems import Place
from pawl.procedures.schema_tree import resolve_pointer

MAX_EFFORT = 400_000
MAX_WEIGHT = 200_000
_IN_PLACE = ("not", "if", "then", "else")
_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_INSIDE = ("additionalProperties", "items", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties")


@dataclass(slots=True)
class Effort:
    """What one comparison may still cost; counted in steps of some microseconds."""

    left: int = MAX_EFFORT

    def spend(self, steps: int) -> bool:
        """Take ``steps``; whether there was something left."""
        self.left -= steps
        return self.left > 0


class Weights:
    """How many parts of a document's schemas a value of some depth and width can make a validator visit."""

    def __init__(self, document: Document) -> None:
        self.root = document.root
        self._known: dict[tuple[Place, int, int], int] = {}

    def of(self, source: Source, value: Any) -> int:
        """Return the weight of a value under a schema; at most a little above ``MAX_WEIGHT``."""
        depth, width = _extent(value)
        return self._weight(source.raw, source.at, depth, width, 0)

    def _weight(self, raw: Any, at: Place, depth: int, width: int, level: int) -> int:
        if not isinstance(raw, Mapping):
            return 1
        key = (at, depth, width)
        if key not in self._known:
            self._known[key] = MAX_WEIGHT  # a schema within itself, or one too deep to look at
            if level < 100:
                self._known[key] = self._sum(raw, at, depth, width, level)
        return self._known[key]

    def _sum(self, raw: Mapping[str, Any], at: Place, depth: int, width: int, level: int) -> int:
        total = 1
        for inner, place in self._in_place(raw, at):
            total += self._weight(inner, place, depth, width, level + 1)
            if total >= MAX_WEIGHT:
                return MAX_WEIGHT
        for inner, place, times in _below(raw, at, width) if depth > 0 else ():
            total += times * self._weight(inner, place, depth - 1, width, level + 1)
            if total >= MAX_WEIGHT:
                return MAX_WEIGHT
        return total

    def _in_place(self, raw: Mapping[str, Any], at: Place) -> Iterator[tuple[Any, Place]]:
        for name in _IN_PLACE:
            if name in raw:
                yield raw[name], (*at, name)
        for name in _IN_PLACE_LISTS:
            for index, inner in enumerate(raw.get(name, ())):
                yield inner, (*at, name, index)
        for name in ("dependentSchemas", "dependencies"):
            for key, inner in raw.get(name, {}).items():
                yield inner, (*at, name, key)
        if isinstance(raw.get("$ref"), str):
            found = resolve_pointer(self.root, raw["$ref"])
            if found is not None:
                yield found.schema, found.at


def _below(raw: Mapping[str, Any], at: Place, width: int) -> Iterator[tuple[Any, Place, int]]:
    for name in ("properties", "patternProperties"):
        for key, inner in raw.get(name, {}).items():
            yield inner, (*at, name, key), 1 if name == "properties" else width
    for name in _INSIDE:
        if isinstance(raw.get(name), Mapping):
            yield raw[name], (*at, name), width
    for name in ("prefixItems", "items"):
        held = raw.get(name)
        for index, inner in enumerate(held if isinstance(held, list) else ()):
            yield inner, (*at, name, index), 1


def _extent(value: Any) -> tuple[int, int]:
    """Return how deep and how wide a value is."""
    if not isinstance(value, Mapping | list):
        return 0, 0
    parts = [_extent(inner) for inner in (value.values() if isinstance(value, Mapping) else value)]
    deepest = max((depth for depth, _ in parts), default=0)
    return deepest + 1, max(len(value), *(width for _, width in parts), 0)
