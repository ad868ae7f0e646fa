"""What a check says of each procedure that changed: every change, the number it asks for, and whom it concerns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pawl.ids import Name
from pawl.operations.authoring.bumping import Ground, Step
from pawl.operations.reviewing.affected import affected_in
from pawl.operations.reviewing.diffing import Side, change_row
from pawl.operations.reviewing.scope import Change, Scope
from pawl.operations.sources import Sources
from pawl.operations.world import World
from pawl.problems import Problem

HIDDEN = "(not shown: the file seems to hold a secret)"


def change_rows(
    world: World, scope: Scope, sources: Sources, steps: Mapping[Name, Step], ground: Ground
) -> list[dict[str, Any]]:
    """Return a row for everything that differs from the base, or without a base for every version that is new.

    ``changes`` are those since the base; ``published``, ``required``, ``smallest`` and ``enough`` are about the way
    from the published version that a new one follows, because that is what its number promises.
    """
    users = affected_in(world)
    changes = scope.changed.values() if scope.revision else _since_published(sources, steps, ground)
    rows = []
    for change in changes:
        row = change_row(change.name, _side(change, scope.label), _side(change), ground.effects)
        step = steps.get(change.name) if change.new else None
        row |= {
            "published": step.base.version if step and step.base else None,
            "required": step.comparison.required if step and step.comparison else "none",
            "smallest": step.smallest if step else None,
            "enough": not (step and step.faults),
            "pinned": users.pinned(change.name),
            "used_by": users.used_by(change.name, change.new.version if change.new else None),
        }
        rows.append(row)
    return rows


def without_secrets(rows: Iterable[dict[str, Any]], found: Iterable[Problem]) -> list[dict[str, Any]]:
    """Return the rows without the values of files in which a secret was found: reports go to places that keep them."""
    telling = {problem.path for problem in found if problem.code == "prompt-secret"}
    return [_veiled(row) if f"procedures/{row['name']}.yaml" in telling else row for row in rows]


def _veiled(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "changes": [_without_values(change) for change in row["changes"]]}


def _without_values(change: Mapping[str, Any]) -> dict[str, Any]:
    hidden = dict.fromkeys({"old", "new", "witness"} & change.keys(), HIDDEN)
    return {**change, **hidden, "reason": f"{change['code']} {HIDDEN}"}


def _since_published(sources: Sources, steps: Mapping[Name, Step], ground: Ground) -> Iterator[Change]:
    for name, step in steps.items():
        old = ground.read(step.base) if step.base else None
        yield Change(name=name, old=old, new=sources.procedures[name].value)


def _side(change: Change, label: str | None = None) -> Side | None:
    """Return the side before, where a label is given, or the one after."""
    if label is None:
        return Side(procedure=change.new, where=f"{change.name} in the work tree") if change.new else None
    if change.old is None:
        return None
    return Side(procedure=change.old, where=f"{change.name} at {label}" if label else str(change.old.ref))
