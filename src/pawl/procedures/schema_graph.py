"""A schema as a graph: which schemas apply to the same value, what they declare, and how much work they make.

Edges *in place* lead to schemas that judge the same value: ``allOf`` and its kin, and ``$ref``. All other edges look
into the value. Everything here walks without recursion, since a chain of references can be thousands long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from pawl.problems import Place
from pawl.procedures.schema_tree import Node, children, resolve_pointer

IN_PLACE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"})
_ANY_PROPERTY = frozenset({"additionalProperties", "unevaluatedProperties", "patternProperties"})
_ANY_ITEM = frozenset({"items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"})
_CEILING = 1_000_000_000
_VISITS = 200_000
"""Visits that looking for declarations may cost for one schema; beyond, nothing is said of them."""


class Graph:
    """The nodes of one schema by their places, with the targets of references looked up once."""

    def __init__(self, root: Mapping[str, Any], nodes: Iterable[Node]) -> None:
        self.nodes = {node.at: node for node in nodes}
        self._children: dict[Place, tuple[Node, ...]] = {}
        self.refers = False
        """Whether any of its parts has a reference."""
        self._root = root
        self._targets: dict[str, Node | None] = {}
        self._anchors: dict[str, Node] = {}
        self._declared: dict[Place, set[str] | None] = {}
        self._visits = 0
        for node in self.nodes.values():
            if not isinstance(node.schema, dict | Mapping):
                continue
            self.refers = self.refers or "$ref" in node.schema
            name = node.schema.get("$anchor")
            if isinstance(name, str):
                self._anchors.setdefault(name, node)

    def target(self, node: Node) -> Node | None:
        """Return the schema that a node's ``$ref`` points to: one of the schema's own parts, or None."""
        reference = node.schema.get("$ref") if isinstance(node.schema, dict | Mapping) else None
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        if reference not in self._targets:
            if reference[1:] and not reference.startswith("#/"):
                found = self._anchors.get(reference[1:])
            else:
                pointed = resolve_pointer(self._root, reference)
                found = self.nodes.get(pointed.at) if pointed is not None else None
            self._targets[reference] = found
        return self._targets[reference]

    def children(self, node: Node) -> tuple[Node, ...]:
        """Return the schemas directly below a schema, which are looked for once."""
        if node.at not in self._children:
            self._children[node.at] = tuple(children(node))
        return self._children[node.at]

    def in_place(self, node: Node) -> list[Node]:
        """Return the schemas that judge the same value because this one does."""
        target = self.target(node)
        inner = [child for child in self.children(node) if child.at[len(node.at)] in IN_PLACE]
        return inner if target is None else [*inner, target]

    def declared(self, node: Node) -> set[str] | None:
        """Return the properties that are declared where ``node`` judges; None where patterns could declare any."""
        start = node
        while start.at and (upper := self._encloser(start)) is not None:
            start = upper
        if start.at not in self._declared:
            self._declared[start.at] = self._declared_from(start)
        return self._declared[start.at]

    def _declared_from(self, start: Node) -> set[str] | None:
        found: set[str] = set()
        seen: set[Place] = set()
        waiting = [start]
        while waiting:
            here = waiting.pop()
            if here.at in seen or not isinstance(here.schema, Mapping):
                continue
            seen.add(here.at)
            self._visits += 1
            if "patternProperties" in here.schema or self._visits > _VISITS:
                return None
            properties = here.schema.get("properties")
            found |= set(properties) if isinstance(properties, Mapping) else set()
            waiting += self.in_place(here)
        return found

    def _encloser(self, node: Node) -> Node | None:
        """Return the nearest schema around this one, if both judge the same value."""
        for cut in (2, 1):
            at = node.at[:-cut]
            if len(node.at) > cut - 1 and at in self.nodes and node.at[len(at)] in IN_PLACE:
                return self.nodes[at]
        return None

    def circle(self) -> Place | None:
        """Return the place of a reference that leads back to itself in place, or None."""
        state: dict[Place, bool] = {}
        for start in self.nodes.values():
            waiting = [(start, False)]
            while waiting:
                here, done = waiting.pop()
                if done:
                    state[here.at] = True
                elif here.at not in state:
                    state[here.at] = False
                    waiting.append((here, True))
                    target = self.target(here)
                    if target is not None and state.get(target.at) is False:
                        return here.at
                    waiting += [(following, False) for following in self.in_place(here)]
        return None

    def work(self) -> int:
        """Return how often, at most, schemas are applied to one part of one value; there must be no circle in place.

        Where parts recur the validator remembers what it found, so going round counts once.
        """
        total: dict[Place, int] = {}
        slots: dict[Place, Counter[str]] = {}
        begun: set[Place] = set()
        waiting = [(self.nodes[()], False)]
        while waiting:
            here, done = waiting.pop()
            inner = self.in_place(here)
            consuming = [child for child in self.children(here) if child.at[len(here.at)] not in IN_PLACE]
            if not done:
                if here.at not in begun:
                    begun.add(here.at)
                    waiting.append((here, True))
                    waiting += [(following, False) for following in (*inner, *consuming)]
                continue
            merged: Counter[str] = Counter()
            for child in inner:
                merged.update(slots.get(child.at, Counter()))
            for child in consuming:
                slot = _slot(child.at[len(here.at) :])
                if slot is not None:
                    merged[slot] += total.get(child.at, 1)
            slots[here.at] = merged
            any_property = merged["*"]
            counts = (count + (any_property if name.startswith(".") else 0) for name, count in merged.items())
            below = max(counts, default=0)
            in_place = 1 + sum(total.get(child.at, 1) for child in inner)
            total[here.at] = min(max(in_place, below), _CEILING)
        return total[()]


def _slot(tail: Place) -> str | None:
    """Return which parts of a value a consuming edge looks at: one property, any property, items, or none."""
    key = str(tail[0])
    if key == "properties":
        return f".{tail[1]}"
    if key in _ANY_PROPERTY:
        return "*"
    if key in _ANY_ITEM:
        return "[]"
    return "names" if key == "propertyNames" else None
