"""Comparing two schemas: the walk, and the check that what it found explains what the inclusions show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pawl.changes.describe import describe
from pawl.changes.effort import Effort
from pawl.changes.forms import Forms
from pawl.changes.inclusion import Inclusion
from pawl.changes.judge import Judge
from pawl.changes.source import Document, Spot
from pawl.changes.values import ABSENT, Change, Side, same
from pawl.changes.walk import Finding, Here, Walk
from pawl.changes.witness import Sampler, Witnesses
from pawl.problems import Place

_DIALECT = "$schema"


def compare_schemas(old: Any, new: Any, *, side: Side, at: Place = (), headers: bool = False) -> tuple[Change, ...]:
    """Return what changed between two schemas that stand at ``at``; ``Faulty`` for what is no schema.

    ``headers``: whether ``x-mcp-header`` has the meaning that MCP gives it.
    """
    if same(old, new):
        return ()
    left, right = Document(old, at), Document(new, at)
    forms = Forms(Judge(Effort()))
    inclusion = Inclusion(forms)
    witnesses = Witnesses(Sampler(forms), left.schema, right.schema)
    walk = Walk(side, inclusion, witnesses, describe, headers=headers)
    here = Here(left.schema, right.schema)
    try:
        walk.place(here)
        _finish(walk, here, left, right)
    except RecursionError:
        walk.emit(Here(left.schema, right.schema), Finding(key="undecided", spot=Spot(at), keyword="the schema"))
    return tuple(walk.found)


def _finish(walk: Walk, here: Here, old: Document, new: Document) -> None:
    inclusion = walk.inclusion
    inclusion.above = 0
    grew = not inclusion.holds(here.new, here.old)
    grew_why = inclusion.why
    shrank = not inclusion.holds(here.old, here.new, claim=True)
    shrank_why = inclusion.why
    _dialect(walk, here, old, new, differs=grew or shrank)
    levels = {change.level for change in walk.found}
    broken, moved = (shrank, grew) if walk.side == "input" else (grew, shrank)
    why, other = (shrank_why, grew_why) if walk.side == "input" else (grew_why, shrank_why)
    if broken and "major" not in levels:
        spot = why.spot if why is not None else Spot(old.base)
        walk.emit(here, Finding(key="undecided", spot=spot, keyword=why.keyword if why else "the schema"))
    elif moved and not levels & {"major", "minor"}:
        spot = other.spot if other is not None else Spot(old.base)
        finding = Finding(key="undecided:growth", spot=spot, keyword=other.keyword if other else "the schema")
        walk.emit(here, finding)
    if not walk.found:
        moved_only = old.references != new.references or old.definitions != new.definitions
        walk.emit(here, Finding(key="ref-moved" if moved_only else "schema-respelled", spot=Spot(old.base)))


def _dialect(walk: Walk, here: Here, old: Document, new: Document, *, differs: bool) -> None:
    left, right = (_named(document.root) for document in (old, new))
    if left == right:
        return
    key = "dialect-changed:meaning" if differs and old.dialect != new.dialect else "dialect-changed"
    spot = Spot((*old.base, _DIALECT))
    walk.emit(here, Finding(key=key, spot=spot, old=left, new=right, name=_DIALECT))


def _named(root: Any) -> Any:
    return root.get(_DIALECT, ABSENT) if isinstance(root, Mapping) else ABSENT
