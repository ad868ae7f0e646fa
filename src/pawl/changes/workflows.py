"""Changes of workflows: outcomes, step ids, effects, guards and what decides between branches.

Conditions are ignored: the graph alone says what a walk can reach. Expressions are not compared, suites judge them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from pawl.changes.document_rules import Report
from pawl.changes.every import unknown
from pawl.changes.graphs import Graph, call_of, dominators, longest_walk, read_graph
from pawl.changes.renames import renamed, renames
from pawl.changes.schemas import compare_schemas
from pawl.changes.values import ABSENT, same
from pawl.problems import Place
from pawl.procedures.schema import closed

EffectsOf: TypeAlias = Callable[[str, str], frozenset[str] | None]
"""Name and version specifier -> the effects of the newest published version that fits; None if they are unknown."""
_AT: Place = ("spec",)
_STEPS: Place = ("spec", "steps")
_KNOWN = frozenset({"inputs", "steps", "budget"})
_KNOWN_STEP = frozenset({"id", "tool", "prompt", "workflow", "end", "with", "then", "switch"})


class Effects:
    """What the procedures that a workflow requires can touch."""

    def __init__(self, requires: Mapping[str, str], effects_of: EffectsOf | None) -> None:
        self.requires = requires
        self._effects_of = effects_of
        self._known: dict[str, frozenset[str] | None] = {}

    def of(self, name: str) -> frozenset[str] | None:
        """Return the effects of a required procedure; None is any."""
        if name not in self._known:
            specifier = self.requires.get(name)
            found = self._effects_of(name, specifier) if self._effects_of is not None and specifier else None
            self._known[name] = found
        return self._known[name]

    def of_step(self, step: Mapping[str, Any]) -> frozenset[str] | None:
        """Return the effects of a step; prompts and ends have none."""
        called = call_of(step)
        return frozenset() if called is None or called[0] == "prompt" else self.of(called[1])


def compare_workflows(
    report: Report, old: Mapping[str, Any], new: Mapping[str, Any], *, effects_of: EffectsOf | None
) -> None:
    """Report changes between two workflow documents."""
    before, after = old["spec"], new["spec"]
    inputs = (closed(before.get("inputs") or {}), closed(after.get("inputs") or {}))
    report.found += compare_schemas(*inputs, side="input", at=(*_AT, "inputs"))
    graphs = (read_graph(before), read_graph(after))
    effects = (Effects(old.get("requires") or {}, effects_of), Effects(new.get("requires") or {}, effects_of))
    _outcomes(report, *graphs)
    _ids(report, graphs, effects)
    _wider(report, graphs, effects)
    told = _guards(report, graphs, effects)
    _steps(report, *graphs, told=told)
    _budget(report, before, graphs[1])
    unknown(report, before, after, _KNOWN, _AT)


def _place(found: Graph, name: str) -> Place:
    index = next(index for index, step in enumerate(found.spec["steps"]) if step["id"] == name)
    return (*_STEPS, index)


def _outcomes(report: Report, old: Graph, new: Graph) -> None:
    for outcome in new.outcomes:
        if outcome not in old.outcomes:
            at = (*_place(new, new.ends(outcome)[0]), "end", "outcome")
            report.add("outcome-added", at, name=outcome, new=outcome)
    for outcome in old.outcomes:
        if outcome not in new.outcomes:
            at = (*_place(old, old.ends(outcome)[0]), "end", "outcome")
            report.add("outcome-removed", at, name=outcome, old=outcome)


def _ids(report: Report, graphs: tuple[Graph, Graph], effects: tuple[Effects, Effects]) -> None:
    old, new = graphs
    for name, step in new.steps.items():
        if name not in old.steps:
            wider = not _within(step, old, effects)
            report.add("step-added:wider" if wider else "step-added", _place(new, name), name=name, new=_what(step))
    for name, step in old.steps.items():
        if name not in new.steps:
            report.add("step-removed", _place(old, name), name=name, old=_what(step))
        elif call_of(step) != call_of(new.steps[name]):
            at = _place(new, name)
            report.add("step-target", at, name=name, old=_what(step), new=_what(new.steps[name]))


def _what(step: Mapping[str, Any]) -> str:
    called = call_of(step)
    return f"the end {step['end']['outcome']}" if called is None else f"the {called[0]} {called[1]}"


def _closure(effects: Effects) -> frozenset[str]:
    """Return every effect that something required is known to have."""
    return frozenset().union(*[effects.of(name) or frozenset() for name in effects.requires])


def _within(step: Mapping[str, Any], old: Graph, effects: tuple[Effects, Effects]) -> bool:
    """Whether a step can touch nothing that the old closure could not: by its effects, or by being called already."""
    touched = effects[1].of_step(step)
    if touched is not None:
        return touched <= _closure(effects[0])
    called = call_of(step)
    if called is None or called not in {call_of(other) for other in old.steps.values()}:
        return False
    return effects[0].requires.get(called[1]) == effects[1].requires.get(called[1])


def _wider(report: Report, graphs: tuple[Graph, Graph], effects: tuple[Effects, Effects]) -> None:
    """Report effects that a procedure which both versions call has gained with another specifier."""
    old, new = graphs
    known = _closure(effects[0])
    called = {call_of(step) for step in old.steps.values()} & {call_of(step) for step in new.steps.values()}
    for kind, name in sorted(pair for pair in called if pair is not None):
        before, after = effects[0].of(name), effects[1].of(name)
        if kind == "prompt" or after is None or before is None or after <= known:
            continue
        added = sorted(after - known)
        report.add("effects-added", ("requires", name), name=", ".join(added), old=sorted(before), new=sorted(after))


def _guards(report: Report, graphs: tuple[Graph, Graph], effects: tuple[Effects, Effects]) -> bool:
    """Report what was reached only through a step and now is reached around it; whether there was any.

    A step that only goes by another id still guards.
    """
    old, new = graphs
    if names := renames(old, new):
        old = read_graph(renamed(old.spec, names))
    before, after = dominators(old), dominators(new)
    guards = frozenset(old.calls())
    found = False
    for name in old.order:
        step = old.steps[name]
        touches = call_of(step) is not None and effects[0].of_step(step) != frozenset()
        if not touches or name not in after or call_of(new.steps[name]) is None:
            continue
        for guard in sorted((before[name] - {name}) & guards - after[name]):
            found = True
            report.add("guard-lost", _place(new, name), name=guard, new=f"the step {name}")
    for outcome in old.outcomes:
        if outcome not in new.outcomes:
            continue
        through = [
            frozenset.intersection(*[doms[end] for end in found_in.ends(outcome)])
            for doms, found_in in ((before, old), (after, new))
        ]
        for guard in sorted((through[0] & guards) - through[1]):
            found = True
            at = _place(new, new.ends(outcome)[0])
            report.add("guard-lost", at, name=guard, new=f"the outcome {outcome}")
    return found


def _steps(report: Report, old: Graph, new: Graph, *, told: bool) -> None:
    """Report what decides between branches, and what steps are given. ``told``: a lost guard says why targets moved."""
    if old.start != new.start and old.start in new.steps and new.start in old.steps and not told:
        report.add("branch-changed", (*_STEPS, 0), name="the start", old=old.start, new=new.start)
    for name, step in new.steps.items():
        before = old.steps.get(name)
        if before is None:
            continue
        at = _place(new, name)
        _following(report, at, before, step, _Moves(old, new, told))
        for key in ("with",):
            left, right = before.get(key) or {}, step.get(key) or {}
            if not same(left, right):
                report.add("step-arguments", (*at, key), name=f"the step {name}", old=left, new=right)
        _end(report, at, before, step)
        unknown(report, before, step, _KNOWN_STEP, at)


class _Moves:
    """Which steps are on one side only, so that what leads to them is told already."""

    def __init__(self, old: Graph, new: Graph, told: bool) -> None:
        self.gone = old.steps.keys() - new.steps.keys()
        self.come = new.steps.keys() - old.steps.keys()
        self.told = told

    def explains(self, left: list[Any], right: list[Any]) -> bool:
        return self.told or bool(self.gone & set(left)) or bool(self.come & set(right))


def _following(report: Report, at: Place, old: Mapping[str, Any], new: Mapping[str, Any], moves: _Moves) -> None:
    left, right = (
        [(branch.get("when"), branch["then"]) for branch in step.get("switch") or ()] or [(None, step.get("then"))]
        for step in (old, new)
    )
    if left == right:
        return
    asked = [when for when, _ in left] != [when for when, _ in right]
    targets = [target for _, target in left], [target for _, target in right]
    if asked or not moves.explains(*targets):
        key = "switch" if new.get("switch") is not None else "then"
        old_value, new_value = old.get("switch", old.get("then", ABSENT)), new.get(key, ABSENT)
        report.add("branch-changed", (*at, key), name=new["id"], old=old_value, new=new_value)


def _end(report: Report, at: Place, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    left, right = old.get("end"), new.get("end")
    if left is None or right is None:
        return
    if left["outcome"] != right["outcome"]:
        path = (*at, "end", "outcome")
        report.add("branch-changed", path, name=new["id"], old=left["outcome"], new=right["outcome"])
    outputs = left.get("output", ABSENT), right.get("output", ABSENT)
    if not same(*outputs):
        path = (*at, "end", "output")
        report.add("step-arguments", path, name=f"the end {new['id']}", old=outputs[0], new=outputs[1])


def _budget(report: Report, old: Mapping[str, Any], new: Graph) -> None:
    left, right = ((spec.get("budget") or {}).get("max_steps") for spec in (old, new.spec))
    if left == right:
        return
    at = (*_AT, "budget", "max_steps")
    before, after = (ABSENT if limit is None else limit for limit in (left, right))
    if right is None or (left is not None and right > left):
        report.add("budget-raised:workflow", at, old=before, new=after)
        return
    longest = longest_walk(new)
    fits = longest is not None and longest <= right
    report.add("budget-lowered:fits" if fits else "budget-lowered:walk", at, old=before, new=after)
