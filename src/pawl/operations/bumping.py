"""Bumps: what a version number must be after what changed, and setting it in the file.

A new version is held against the highest published final one below it. Where a higher one of the same X is out already,
the way on to it must keep the promise too, because a range that takes the new version reaches the higher one. Revoked
versions are no ground to stand on; yanked and deprecated ones are, callers still have them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pawl.changes.bump import bump_ok, neighbours, smallest_version
from pawl.changes.compare import compare
from pawl.changes.values import Comparison, Level
from pawl.changes.workflows import EffectsOf
from pawl.errors import InvalidError
from pawl.ids import Name, Ref, Version
from pawl.io.edit import set_scalar
from pawl.io.files import replace
from pawl.operations.diffing import effects_of, work_tree_version
from pawl.operations.session import Report, Session
from pawl.operations.world import read_world
from pawl.problems import Fault, pointer
from pawl.procedures.procedure import Procedure
from pawl.registry.catalog import Catalog, Published
from pawl.registry.versions import is_prerelease, newest_first
from pawl.workspace import Workspace

Part: TypeAlias = Literal["major", "minor", "patch"]
PARTS: tuple[Part, ...] = ("major", "minor", "patch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The way from what is published to one new version. ``smallest`` is the lowest number that would do for it."""

    base: Published | None
    comparison: Comparison | None
    smallest: Version | None
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What is published, how to read it, and what it touches: of the work tree, or of a Git revision."""

    catalog: Catalog
    read: Callable[[Published], Procedure]
    effects: EffectsOf

    def compare(self, old: Procedure, new: Procedure) -> Comparison:
        return compare(old.document, new.document, effects_of=self.effects)


def ground_of(workspace: Workspace, catalog: Catalog) -> Ground:
    """Return the ground that the work tree's own registry is."""
    return Ground(catalog=catalog, read=workspace.procedure, effects=effects_of(workspace, catalog))


def step_to(procedure: Procedure, ground: Ground) -> Step:
    """Return how a version that is not published yet follows from those that are."""
    finals = _finals(procedure.name, ground.catalog)
    near = neighbours(procedure.version, finals)
    faults: list[Fault] = []
    if near.final is not None:
        faults.append(_too_late(procedure, near.final, finals))
    base = finals[near.base] if near.base else None
    comparison = ground.compare(ground.read(base), procedure) if base else None
    smallest = _lowest(procedure.name, base, comparison.required, ground.catalog) if base and comparison else None
    if base and comparison and not bump_ok(base.version, procedure.version, comparison.required):
        faults.append(_too_small(procedure, base.version, comparison, smallest))
    if near.later is not None:
        onward = ground.compare(procedure, ground.read(finals[near.later]))
        if not bump_ok(procedure.version, near.later, onward.required):
            faults.append(_breaks_later(procedure, near.later, onward, above_all(procedure, ground)))
    return Step(base=base, comparison=comparison, smallest=smallest, faults=tuple(faults))


def bump(session: Session, name: Name, part: Part | None, to: Version | None) -> Report:
    """Set the version in a procedure's file. Comments and layout of the file stay.

    Without ``part`` and ``to`` it is the lowest above every published one that the changes allow; a number in the file
    that is high enough already stays. ``part`` raises that part of the highest published version.
    """
    world = read_world(session.workspace)
    catalog, workspace = world.catalog, session.workspace
    ground = ground_of(workspace, catalog)
    procedure = work_tree_version(session, name)
    path = workspace.procedure_file(name)
    finals = _finals(name, catalog)
    base = newest_first(finals)[0] if finals else None
    version = to or _wanted(procedure, part, ground)
    data: Mapping[str, Any] = {
        "name": name,
        "from": procedure.version,
        "to": version,
        "base": base,
        "path": workspace.relative(path),
    }
    if version == procedure.version:
        return Report(status="unchanged", data=data)
    if Ref(name, version) in catalog.published:
        raise InvalidError(f"{name}@{version} is published already", code="version-reused", hint="choose a higher one")
    replace(workspace.to_write(path), set_scalar(workspace.read_source(path), ("version",), version))
    return Report(status="done", data=data)


def _wanted(procedure: Procedure, part: Part | None, ground: Ground) -> Version:
    catalog = ground.catalog
    published = catalog.published.get(procedure.ref)
    highest = _highest(procedure.name, catalog)
    if part is not None:
        return smallest_version(highest, part) if highest else procedure.version
    if published is not None and published.digest == procedure.digest:
        return procedure.version
    if published is None and not step_to(procedure, ground).faults:
        return procedure.version
    return above_all(procedure, ground) or procedure.version


def _finals(name: Name, catalog: Catalog) -> dict[Version, Published]:
    found = {}
    for item in catalog.versions_of(name):
        withdrawal = catalog.withdrawal(item.ref)
        if not is_prerelease(item.version) and not (withdrawal and withdrawal.level == "revoked"):
            found[item.version] = item
    return found


def _highest(name: Name, catalog: Catalog) -> Version | None:
    """Return the highest final number that is taken, be it revoked."""
    versions = [item.version for item in catalog.versions_of(name) if not is_prerelease(item.version)]
    return newest_first(versions)[0] if versions else None


def _lowest(name: Name, base: Published, required: Level, catalog: Catalog) -> Version:
    """Return the lowest free number above ``base`` that is high enough."""
    version = smallest_version(base.version, required)
    while Ref(name, version) in catalog.published and version != base.version:
        version = smallest_version(version, "patch")
    return version


def above_all(procedure: Procedure, ground: Ground) -> Version | None:
    """Return the lowest number above every published final one that the changes against the newest allow.

    It is ``None`` where no final version is published.
    """
    catalog = ground.catalog
    finals, highest = _finals(procedure.name, catalog), _highest(procedure.name, catalog)
    if highest is None:
        return None
    if not finals:
        return smallest_version(highest, "patch")
    newest = newest_first(finals)[0]
    required = ground.compare(ground.read(finals[newest]), procedure).required
    wanted = smallest_version(newest, required)
    return wanted if newest_first((highest, wanted))[0] != highest else smallest_version(highest, "patch")


def _too_small(procedure: Procedure, base: Version, comparison: Comparison, smallest: Version | None) -> Fault:
    gravest = [change for change in comparison.changes if change.level == comparison.required]
    why = f": {pointer(gravest[0].path) or '/'}: {gravest[0].code}, {gravest[0].reason}" if gravest else ""
    more = f" (and {len(gravest) - 1} more)" if len(gravest) > 1 else ""
    return Fault(
        code="bump-too-small",
        message=(
            f"{procedure.name} {base} -> {procedure.version} promises too little: the change is "
            f"{comparison.required}, so the lowest version is {smallest}{why}{more}"
        ),
        at=("version",),
        hint=f"pawl bump {procedure.name} sets it; pawl diff {procedure.name}@{base} shows every change",
    )


def _too_late(procedure: Procedure, final: Version, finals: Mapping[Version, Published]) -> Fault:
    return Fault(
        code="version-not-higher",
        message=f"{procedure.version} is a pre-release of {final}, which is published already",
        at=("version",),
        hint=f"choose a version above {newest_first(finals)[0]}",
    )


def _breaks_later(procedure: Procedure, later: Version, onward: Comparison, above: Version | None) -> Fault:
    change = next((change for change in onward.changes if change.level == onward.required), None)
    why = f": {pointer(change.path) or '/'}: {change.code}, {change.reason}" if change else ""
    return Fault(
        code="bump-too-small",
        message=(
            f"{procedure.version} comes before {later}, which is out already, and the way from one to the other is "
            f"{onward.required}{why}; a range that takes {procedure.version} reaches {later}"
        ),
        at=("version",),
        hint=f"publish it as {above}" if above else None,
    )
