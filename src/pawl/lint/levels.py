"""How deep the values of a schema go when its references are expanded, and where it contains itself.

A level is one step into a value: to a property, to an item, to a value behind a free name. Each schema is looked at
once, without recursion, since chains of references can be thousands long; a reference that goes round adds no level.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pawl.problems import Place
from pawl.procedures.schema_graph import IN_PLACE, Graph
from pawl.procedures.schema_tree import Node, children

_ASIDE = frozenset({"$defs", "definitions", "contentSchema", "propertyNames"})
"""What stands here is no part of a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """The longest way into a value with the place of its end, and the places of references that go round."""

    depth: int
    path: str
    deepest: Place
    cycles: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class _Step:
    node: Node
    word: str
    """What the step is called in a path; empty where it stays at the same value."""


@dataclass(slots=True)
class _Frame:
    node: Node
    steps: Iterator[_Step]
    depth: int = 0
    best: _Step | None = None
    taken: _Step | None = None


def levels_of(graph: Graph) -> Levels:
    """Return how deep a schema goes."""
    done: dict[Place, _Frame] = {}
    open_places: set[Place] = {()}
    cycles: list[Place] = []
    stack = [_frame(graph.nodes[()], graph)]
    while stack:
        frame = stack[-1]
        if frame.taken is not None:
            below = done.get(frame.taken.node.at)
            depth = (below.depth if below else 0) + bool(frame.taken.word)
            if depth > frame.depth:
                frame.depth, frame.best = depth, frame.taken
        frame.taken = next(frame.steps, None)
        if frame.taken is None:
            done[frame.node.at] = frame
            open_places.discard(frame.node.at)
            stack.pop()
        elif frame.taken.node.at in open_places:
            cycles.append((*frame.node.at, "$ref") if "$ref" in frame.node.schema else frame.node.at)
            frame.taken = None
        elif frame.taken.node.at not in done:
            open_places.add(frame.taken.node.at)
            stack.append(_frame(frame.taken.node, graph))
    return _longest(done, tuple(cycles))


def _frame(node: Node, graph: Graph) -> _Frame:
    return _Frame(node=node, steps=_steps(node, graph))


def _longest(done: dict[Place, _Frame], cycles: tuple[Place, ...]) -> Levels:
    words: list[str] = []
    here = done[()]
    while here.best is not None:
        words += [here.best.word] if here.best.word else []
        following = done.get(here.best.node.at)
        if following is None:
            break
        here = following
    path = ".".join(words).replace(".[]", "[]")
    return Levels(depth=done[()].depth, path=path, deepest=here.node.at, cycles=cycles)


def _steps(node: Node, graph: Graph) -> Iterator[_Step]:
    target = graph.target(node)
    if target is not None:
        yield _Step(target, "")
    for child in children(node):
        edge = str(child.at[len(node.at)])
        if edge not in _ASIDE:
            yield _Step(child, "" if edge in IN_PLACE else _word(edge, child.at[-1]))


def _word(edge: str, last: str | int) -> str:
    if edge in {"properties", "patternProperties"}:
        return str(last)[:64] or '""'
    return "[]" if "tems" in edge or edge == "contains" else "*"
