"""What a workflow's graph promises: outcomes that can be reached, and steps that nothing gets around."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pawl.procedures.workflow import CALLS, graph, has_loop, reachable, reachable_outcomes


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """A workflow's steps that a walk can come to, and what each is."""

    spec: Mapping[str, Any]
    steps: Mapping[str, Mapping[str, Any]]
    edges: Mapping[str, tuple[str, ...]]
    order: tuple[str, ...]
    outcomes: tuple[str, ...]

    @property
    def start(self) -> str:
        first: str = self.spec["steps"][0]["id"]
        return first

    def calls(self) -> tuple[str, ...]:
        """Return the steps that call something; ends are no guards."""
        return tuple(name for name in self.order if call_of(self.steps[name]) is not None)

    def ends(self, outcome: str) -> tuple[str, ...]:
        """Return the steps that end with an outcome."""
        return tuple(name for name in self.order if (self.steps[name].get("end") or {}).get("outcome") == outcome)


def read_graph(spec: Mapping[str, Any]) -> Graph:
    return Graph(
        spec=spec,
        steps={step["id"]: step for step in spec["steps"]},
        edges=graph(spec),
        order=reachable(spec),
        outcomes=reachable_outcomes(spec),
    )


def call_of(step: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the kind and the name of what a step calls; None for an end."""
    return next(((kind, step[kind]) for kind in CALLS if step.get(kind) is not None), None)


def dominators(found: Graph) -> dict[str, frozenset[str]]:
    """Return step -> the steps that every walk to it goes through, itself included."""
    index = {name: number for number, name in enumerate(found.order)}
    before: dict[str, list[int]] = {name: [] for name in found.order}
    for name in found.order:
        for target in found.edges[name]:
            before[target].append(index[name])
    every = (1 << len(found.order)) - 1
    masks = [every] * len(found.order)
    masks[index[found.start]] = 1 << index[found.start]
    changed = True
    while changed:
        changed = False
        for name in found.order:
            if name == found.start:
                continue
            mask = every
            for number in before[name]:
                mask &= masks[number]
            mask |= 1 << index[name]
            if mask != masks[index[name]]:
                masks[index[name]] = mask
                changed = True
    return {
        name: frozenset(other for other, number in index.items() if masks[index[name]] >> number & 1)
        for name in found.order
    }


def longest_walk(found: Graph) -> int | None:
    """Return the most calls of a walk; None if a loop can make any number."""
    if has_loop(found.spec):
        return None
    longest: dict[str, int] = {}
    waiting = [(found.start, False)]
    while waiting:
        name, done = waiting.pop()
        if done:
            counts = 1 if call_of(found.steps[name]) is not None else 0
            longest[name] = counts + max((longest[target] for target in found.edges[name]), default=0)
        elif name not in longest:
            waiting.append((name, True))
            waiting.extend((target, False) for target in found.edges[name] if target not in longest)
    return longest[found.start]
