"""Diff: what changed between two sides, the bump that each change requires, and whom it concerns.

A side is a published version, the file in the work tree, or the file at a Git revision. Where only one name is given
the left side is the published version that the file follows: the highest final one that is not above it and was not
revoked. Without a name it is every procedure that differs: from REF, or from what is published.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pawl.canonical import sha256
from pawl.changes.values import highest
from pawl.errors import PawlError, UsageError
from pawl.ids import Name, Ref, Version, parse_name
from pawl.io.locating import problems_of
from pawl.operations.authoring.bumping import Ground, ground_of, reused, step_to
from pawl.operations.reviewing.affected import Affected, affected_in
from pawl.operations.reviewing.diffing import Side, change_row, followed, published_version, work_tree_version
from pawl.operations.reviewing.revisions import Revision, at_revision
from pawl.operations.session import Report, Session, Status
from pawl.operations.world import World, read_world
from pawl.policy.verdict import FINDINGS
from pawl.problems import Fault, Problem
from pawl.procedures.procedure import Procedure


def diff(
    session: Session,
    old: tuple[Name, Version | None] | None = None,
    new: tuple[Name, Version | None] | None = None,
    *,
    base: str | None = None,
) -> Report:
    """Report every change with the bump that it requires; see the module for what is compared with what."""
    if base is not None and new is not None:
        raise UsageError("--base takes the place of the left side, so one name goes with it", code="base-and-names")
    if old is not None and new is not None and old[0] != new[0]:
        raise UsageError(f"{old[0]} and {new[0]} are two procedures: there is nothing to compare", code="names-differ")
    revision = at_revision(session.workspace, base) if base is not None else None
    reading = _Reading(session, read_world(session.workspace), revision)
    if old is None:
        return reading.all()
    data = reading.row(old[0], *(reading.since_base(*old) if revision else reading.versions(*old, new)))
    status: Status = "unchanged" if data["state"] == "same" else "done"
    return Report(status=status, problems=tuple(reading.warnings), data={"base": reading.base(), **data})


@dataclass(frozen=True, slots=True)
class _Reading:
    """Finds and compares the sides of one command."""

    session: Session
    world: World
    revision: Revision | None
    warnings: list[Problem] = field(default_factory=list)
    """What was found on the way and refuses nothing."""
    _affected: Affected = field(init=False)
    _ground: Ground = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_affected", affected_in(self.world))
        object.__setattr__(self, "_ground", ground_of(self.session.workspace, self.world.catalog))

    def base(self) -> dict[str, str] | None:
        return {"ref": self.revision.ref, "commit": self.revision.commit} if self.revision else None

    def row(self, name: Name, old: Side | None, new: Side | None) -> dict[str, Any]:
        """Return what changed from one side to the other, and whom it concerns."""
        version = new.procedure.version if new else None
        return {
            **change_row(name, old, new, self._ground.effects),
            **(self._number(new.procedure) if new and not new.promised else {}),
            "pinned": self._affected.pinned(name),
            "used_by": self._affected.used_by(name, version),
        }

    def _number(self, here: Procedure) -> dict[str, Any]:
        """Return what check says of the number in a file: it is the next of what is published, whatever the left is."""
        published = self.world.catalog.published.get(here.ref)
        if published is not None:
            # what is published as it is here is judged like any other published version
            same = published.digest == here.digest
            return {} if same else {"smallest": reused(here, self._ground)[0], "enough": False}
        if not self.world.catalog.versions_of(here.name):
            return {}
        step = step_to(here, self._ground)
        self.warnings.extend(self._problems(here.name, step.warnings))
        return {"smallest": step.smallest, "enough": not step.faults}

    def _problems(self, name: Name, faults: Sequence[Fault]) -> tuple[Problem, ...]:
        workspace = self.session.workspace
        path = workspace.procedure_file(name)
        return problems_of(workspace.relative(path), workspace.read_source(path), faults) if faults else ()

    def versions(
        self, name: Name, version: Version | None, new: tuple[Name, Version | None] | None
    ) -> tuple[Side, Side]:
        right = self._published(name, new[1]) if new and new[1] else self._here(name)
        left = version or followed(self.world.catalog, right.procedure.version, name, published=bool(new and new[1]))
        return self._published(name, left), right

    def since_base(self, name: Name, version: Version | None) -> tuple[Side | None, Side | None]:
        left = self._there(name)
        if version is not None:
            return left, self._published(name, version)
        right = self._here(name) if left is None or self.session.workspace.procedure_file(name).exists() else None
        return left, right

    def all(self) -> Report:
        """Report every procedure that differs; a file that does not read is an error beside the others."""
        problems: list[Problem] = []
        rows: list[dict[str, Any]] = []
        for name, data in self._names():
            try:
                if not self._is_same(name, data):
                    left, right = self._sides(name, data)
                    if not (left and right and left.procedure == right.procedure):
                        rows.append(self.row(name, left, right))
            except PawlError as error:
                problems += error.problems
        answer = {
            "base": self.base(),
            "required": highest(row["required"] for row in rows),
            "procedures": rows,
        }
        if problems:
            told = (*problems, *self.warnings)
            return Report(status="failed", exit_code=FINDINGS, problems=told, data=answer)
        return Report(status="done" if rows else "unchanged", problems=tuple(self.warnings), data=answer)

    def _names(self) -> Iterator[tuple[Name, Path | None]]:
        """Yield every name of the work tree with its file, then those that only the revision has."""
        workspace = self.session.workspace
        here: dict[Name, Path] = {}
        for path in workspace.sources(workspace.procedures):
            name = path.relative_to(workspace.procedures).as_posix()
            if name.endswith(".yaml"):
                try:
                    here[parse_name(name.removesuffix(".yaml"))] = path
                except ValueError:
                    continue  # it holds no procedure whatever it says, which is what check is for
        for name in sorted({*here, *(self.revision.files if self.revision else ())}):
            yield Name(name), here.get(Name(name))

    def _is_same(self, name: Name, path: Path | None) -> bool:
        """Whether the bytes alone say that nothing changed."""
        if path is None:
            return False
        data = self.session.workspace.read_source(path)
        if self.revision:
            return self.revision.same(name, data)
        file = sha256(data)
        return any(item.file == file for item in self.world.catalog.versions_of(name))

    def _sides(self, name: Name, path: Path | None) -> tuple[Side | None, Side | None]:
        right = self._here(name) if path else None
        if self.revision:
            return self._there(name), right
        if right is None or not self.world.catalog.versions_of(name):
            return None, right
        return self._published(name, followed(self.world.catalog, right.procedure.version, name)), right

    def _published(self, name: Name, version: Version) -> Side:
        ref = Ref(name, version)
        return Side(procedure=published_version(self.session, self.world, name, version), where=str(ref), promised=True)

    def _here(self, name: Name) -> Side:
        return Side(procedure=work_tree_version(self.session, name), where=f"{name} in the work tree")

    def _there(self, name: Name) -> Side | None:
        if self.revision is None:
            return None
        found = self.revision.procedure(name)
        if found is None:
            return None
        published = self.world.catalog.published.get(found.ref)
        promised = published is not None and published.digest == found.digest
        return Side(procedure=found, where=f"{name} at {self.revision.ref}", promised=promised)
