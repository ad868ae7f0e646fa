"""Bumps: what a version number must be after what changed, and setting it in the file.

A new version is held against the highest published final one below it. Where a higher one of the same X is out already,
the way on to it must keep the promise too, because a range that takes the new version reaches the higher one. Revoked
versions are no ground to stand on; yanked and deprecated ones are, callers still have them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal, TypeAlias

from pawl.changes.bump import Neighbours, bump_ok, final_of, neighbours, smallest_version
from pawl.changes.compare import compare
from pawl.changes.values import Comparison, Level
from pawl.changes.workflows import EffectsOf
from pawl.errors import Faulty, InvalidError
from pawl.ids import MAX_NUMBER, Name, Ref, Version
from pawl.io.edit import set_scalar
from pawl.io.files import replace as replace_file
from pawl.io.files import sweep_ended
from pawl.io.locating import problems_of
from pawl.operations.reviewing.diffing import effects_of, work_tree_version
from pawl.operations.session import Report, Session
from pawl.operations.world import read_world
from pawl.problems import Fault, Problem, pointer
from pawl.procedures.procedure import Procedure
from pawl.registry.catalog import Catalog, Published
from pawl.registry.versions import newest_first
from pawl.workspace import Workspace

Part: TypeAlias = Literal["major", "minor", "patch"]
PARTS: tuple[Part, ...] = ("major", "minor", "patch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The way from what is published to one new version.

    ``comparison`` is with ``base``, or with the newest where nothing is below. ``smallest`` is the lowest number that
    would do; None where nothing is asked, or no number is left. ``faults`` refuse, ``warnings`` do not.
    """

    base: Published | None
    comparison: Comparison | None
    smallest: Version | None
    faults: tuple[Fault, ...]
    warnings: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What is published, how to read it, and what it touches: of the work tree, or of a Git revision."""

    catalog: Catalog
    read: Callable[[Published], Procedure]
    effects: EffectsOf

    def compare(self, old: Procedure, new: Procedure) -> Comparison:
        try:
            return compare(old.document, new.document, effects_of=self.effects)
        except Faulty as error:
            problems = tuple(Problem(code=fault.code, message=fault.message) for fault in error.faults)
            raise InvalidError(f"{old.ref} and {new.ref} cannot be compared", problems=problems) from None


def ground_of(workspace: Workspace, catalog: Catalog) -> Ground:
    """Return the ground that the work tree's own registry is."""
    return Ground(catalog=catalog, read=workspace.procedure, effects=effects_of(workspace, catalog))


def step_to(procedure: Procedure, ground: Ground) -> Step:
    """Return how a version that is not published yet follows from those that are."""
    finals = _Finals(procedure.name, ground.catalog)
    newest = finals.newest()
    if newest is None:
        return Step(base=None, comparison=None, smallest=None, faults=())
    near = finals.near(procedure.version)
    base = finals[near.base] if near.base else None
    comparison = ground.compare(ground.read(base or newest), procedure)
    later = finals[near.later] if near.later else None
    onward = ground.compare(procedure, ground.read(later)) if later else None
    short = base is not None and not bump_ok(base.version, procedure.version, comparison.required)
    breaks = later is not None and onward and not bump_ok(procedure.version, later.version, onward.required)
    wrong = short or breaks or near.final is not None
    smallest = _lowest(procedure, base, comparison.required, ground) if base or wrong else None
    advice = _Advice(procedure, smallest, above_all(procedure, ground) if wrong or base is None else None)
    faults: list[Fault] = []
    if near.final is not None:
        faults.append(_too_late(advice, near.final))
    if base is not None and short:
        faults.append(_too_small(advice, base.version, comparison))
    if later is not None and onward is not None and breaks:
        faults.append(_breaks_later(advice, later.version, onward))
    below = base is None and near.final is None
    warnings = (_below(advice, finals.oldest(), comparison),) if below else ()
    return Step(base=base, comparison=comparison, smallest=smallest, faults=tuple(faults), warnings=warnings)


def reused(procedure: Procedure, ground: Ground) -> tuple[Version | None, Fault]:
    """Return the lowest number for content that differs from what is published under its version, and the fault.

    The fault says the same whichever registry it was seen in, as far as the number that is right there does.
    """
    published = ground.catalog.published[procedure.ref]
    smallest = above = above_all(procedure, ground)
    if published.version in _Finals(procedure.name, ground.catalog):
        required = ground.compare(ground.read(published), procedure).required
        smallest = _lowest(procedure, published, required, ground)
    message = f"{procedure.ref} is published with other content; a published version never changes"
    hint = _Advice(procedure, smallest, above).hint()
    return smallest, Fault(code="version-reused", message=message, at=("version",), hint=hint)


def bump(session: Session, name: Name, part: Part | None, to: Version | None) -> Report:
    """Set the version in a procedure's file. Comments and layout of the file stay.

    Without ``part`` and ``to`` it is the lowest above every published one that the changes allow; a number in the file
    that is high enough already stays. ``part`` raises that part of the highest published version. A number that was
    asked for is set whether or not it is right, with a warning if it is not.
    """
    world = read_world(session.workspace)
    catalog, workspace = world.catalog, session.workspace
    ground = ground_of(workspace, catalog)
    procedure = work_tree_version(session, name)
    path = workspace.procedure_file(name)
    newest = _Finals(name, catalog).newest()
    version = to or _wanted(procedure, part, ground)
    data: Mapping[str, Any] = {
        "name": name,
        "from": procedure.version,
        "to": version,
        "base": newest.version if newest else None,
        "path": workspace.relative(path),
    }
    if version != procedure.version and Ref(name, version) in catalog.published:
        _, fault = reused(replace(procedure, version=version), ground)
        message = f"{name}@{version} is published already"
        raise InvalidError(message, code="version-reused", hint=fault.hint)
    source = workspace.read_source(path)
    new = set_scalar(source, ("version",), version) if version != procedure.version else source
    warned = problems_of(workspace.relative(path), new, _doubts(procedure, version, ground))
    if version == procedure.version:
        return Report(status="unchanged", problems=warned, data=data)
    sweep_ended(path.parent)
    replace_file(workspace.to_write(path), new)
    return Report(status="done", problems=warned, data=data)


def _doubts(procedure: Procedure, version: Version, ground: Ground) -> list[Fault]:
    """Return as warnings why a number will be refused."""
    published = ground.catalog.published.get(Ref(procedure.name, version))
    if published is None:
        step = step_to(replace(procedure, version=version), ground)
        found = (*step.faults, *step.warnings)
    else:
        found = () if published.digest == procedure.digest else (reused(procedure, ground)[1],)
    return [replace(fault, severity="warning") for fault in found]


def _wanted(procedure: Procedure, part: Part | None, ground: Ground) -> Version:
    catalog = ground.catalog
    published = catalog.published.get(procedure.ref)
    highest = _highest(procedure.name, catalog)
    if part is not None:
        wanted = smallest_version(highest, part) if highest else procedure.version
    elif published.digest == procedure.digest if published else not step_to(procedure, ground).faults:
        wanted = procedure.version
    else:
        wanted = above_all(procedure, ground)
    if wanted is None:
        raise no_number(procedure.name)
    return wanted


def no_number(name: Name) -> InvalidError:
    """Return the error for a procedure whose numbers are used up."""
    message = f"{name} has no higher version number left that its changes could take: none is above {MAX_NUMBER}"
    return InvalidError(message, code="bump-too-small", hint="publish what comes next under another name")


@dataclass(frozen=True, slots=True)
class _Finals:
    """The final versions of a name that may still be given out: those that are not revoked."""

    name: Name
    catalog: Catalog

    def __contains__(self, version: Version) -> bool:
        ref = Ref(self.name, version)
        return ref in self.catalog.published and version == final_of(version) and not self._is_revoked(version)

    def __getitem__(self, version: Version) -> Published:
        return self.catalog.published[Ref(self.name, version)]

    def near(self, version: Version) -> Neighbours:
        """Return what a version that is not among them stands between."""
        final = final_of(version)
        around = [*self._first(self._below(final)), *self._first(self._above(final))]
        return neighbours(version, [*around, final] if final in self else around)

    def newest(self) -> Published | None:
        found = self._first(self._below(None))
        return self[found[0]] if found else None

    def oldest(self) -> Version:
        """Return the lowest; there must be one."""
        return next(self._above(None))

    def _below(self, version: Version | None) -> Iterator[Version]:
        return (item for item in self.catalog.finals(self.name).below(version) if not self._is_revoked(item))

    def _above(self, version: Version | None) -> Iterator[Version]:
        return (item for item in self.catalog.finals(self.name).above(version) if not self._is_revoked(item))

    def _first(self, versions: Iterator[Version]) -> list[Version]:
        return list(islice(versions, 1))

    def _is_revoked(self, version: Version) -> bool:
        withdrawal = self.catalog.withdrawal(Ref(self.name, version))
        return withdrawal is not None and withdrawal.level == "revoked"


def _highest(name: Name, catalog: Catalog) -> Version | None:
    """Return the highest final number that is taken, be it revoked."""
    return next(catalog.finals(name).below(None), None)


def _lowest(procedure: Procedure, base: Published | None, required: Level, ground: Ground) -> Version | None:
    """Return the lowest free number above ``base`` that would not be refused, else the lowest above all."""
    version = smallest_version(base.version, required) if base else None
    while version is not None and Ref(procedure.name, version) in ground.catalog.published:
        version = smallest_version(version, "patch")
    if base is not None and version is not None and _holds(procedure, version, base, ground):
        return version
    return above_all(procedure, ground)


def _holds(procedure: Procedure, version: Version, base: Published, ground: Ground) -> bool:
    """Whether a number that is high enough above ``base`` is so for everything that is published."""
    finals = _Finals(procedure.name, ground.catalog)
    near = finals.near(version)
    if near.base and near.base != base.version:
        required = ground.compare(ground.read(finals[near.base]), procedure).required
        if not bump_ok(near.base, version, required):
            return False
    if near.later is None:
        return True
    onward = ground.compare(procedure, ground.read(finals[near.later]))
    return bump_ok(version, near.later, onward.required)


def above_all(procedure: Procedure, ground: Ground) -> Version | None:
    """Return the lowest number above every published final one that the changes against the newest allow.

    Where only pre-releases are published it is the final version that the highest leads to. None where nothing is
    published, or no number is left.
    """
    catalog = ground.catalog
    newest, highest = _Finals(procedure.name, catalog).newest(), _highest(procedure.name, catalog)
    if highest is None:
        known = newest_first(item.version for item in catalog.versions_of(procedure.name))
        return smallest_version(known[0], "patch") if known else None
    if newest is None:
        return smallest_version(highest, "patch")
    wanted = smallest_version(newest.version, ground.compare(ground.read(newest), procedure).required)
    if wanted is None or newest_first((highest, wanted))[0] != highest:
        return wanted
    return smallest_version(highest, "patch")


@dataclass(frozen=True, slots=True)
class _Advice:
    """What is said of a number: which would be right, and what sets it. ``above`` is what bump would choose."""

    procedure: Procedure
    smallest: Version | None
    above: Version | None

    def lowest(self) -> str:
        if self.smallest is None:
            return f"and no number is left, since none is above {MAX_NUMBER}"
        return f"so the lowest version is {self.smallest}"

    def hint(self, more: str = "") -> str:
        name = self.procedure.name
        if self.smallest is None:
            return "publish it under another name: no higher number is left" + more
        chosen = "" if self.smallest == self.above else f" --to {self.smallest}"
        return f"the lowest right version is {self.smallest}: pawl bump {name}{chosen} sets it{more}"


def _too_small(advice: _Advice, base: Version, comparison: Comparison) -> Fault:
    procedure = advice.procedure
    gravest = [change for change in comparison.changes if change.level == comparison.required]
    why = f": {pointer(gravest[0].path) or '/'}: {gravest[0].code}, {gravest[0].reason}" if gravest else ""
    more = f" (and {len(gravest) - 1} more)" if len(gravest) > 1 else ""
    return Fault(
        code="bump-too-small",
        message=(
            f"{procedure.name} {base} -> {procedure.version} promises too little: the change is "
            f"{comparison.required}, {advice.lowest()}{why}{more}"
        ),
        at=("version",),
        hint=advice.hint(f"; pawl diff {procedure.name}@{base} shows every change"),
    )


def _too_late(advice: _Advice, final: Version) -> Fault:
    return Fault(
        code="version-not-higher",
        message=f"{advice.procedure.version} is a pre-release of {final}, which is published already",
        at=("version",),
        hint=advice.hint(),
    )


def _breaks_later(advice: _Advice, later: Version, onward: Comparison) -> Fault:
    version = advice.procedure.version
    change = next((change for change in onward.changes if change.level == onward.required), None)
    why = f": {pointer(change.path) or '/'}: {change.code}, {change.reason}" if change else ""
    return Fault(
        code="bump-too-small",
        message=(
            f"{version} comes before {later}, which is out already, and the way from one to the other is "
            f"{onward.required}{why}; a range that takes {version} reaches {later}, {advice.lowest()}"
        ),
        at=("version",),
        hint=advice.hint(),
    )


def _below(advice: _Advice, first: Version, comparison: Comparison) -> Fault:
    name, above = advice.procedure.name, advice.above
    meant = f"; if it is to be the next version: pawl bump {name} --to {above}" if above else ""
    return Fault(
        code="version-below-published",
        severity="warning",
        message=(
            f"{advice.procedure.version} is below everything published of {name}, which starts at {first}; "
            f"against the newest the change is {comparison.required}"
        ),
        at=("version",),
        hint=f"an old line may be mended so{meant}",
    )
