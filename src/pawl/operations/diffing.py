"""Diff: what changed between two sides, the bump that each change requires, and whom it concerns.

A side is a published version, the file in the work tree, or the file at a Git revision. Where only one name is given
the left side is the published version that the file follows: the highest final one that is not above it and was not
revoked. Without a name it is every procedure that differs: from REF, or from what is published.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pawl.canonical import sha256
from pawl.changes.bump import bump_ok, smallest_version
from pawl.changes.compare import compare
from pawl.changes.values import Comparison, highest
from pawl.changes.workflows import EffectsOf
from pawl.errors import Faulty, InvalidError, NotFoundError, PawlError, UsageError
from pawl.ids import Name, Ref, Version, parse_name
from pawl.operations.affected import Affected, affected_in
from pawl.operations.revisions import Revision, at_revision
from pawl.operations.session import Report, Session
from pawl.operations.sources import read_one
from pawl.operations.world import World, read_world
from pawl.policy.verdict import FINDINGS
from pawl.problems import Fault, Problem
from pawl.procedures.procedure import Procedure
from pawl.procedures.read import read_procedure
from pawl.registry.catalog import Catalog
from pawl.registry.versions import is_prerelease, newest_first, satisfies, version_key
from pawl.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two that are compared. ``promised``: callers rely on it, so the next number must say what changed."""

    procedure: Procedure
    where: str
    promised: bool = False

    def as_dict(self) -> dict[str, Any]:
        found = self.procedure
        return {"name": found.name, "version": found.version, "digest": found.digest, "where": self.where}


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
    return Report(status="unchanged" if data["state"] == "same" else "done", data={"base": reading.base(), **data})


@dataclass(frozen=True, slots=True)
class _Reading:
    """Finds and compares the sides of one command."""

    session: Session
    world: World
    revision: Revision | None
    _affected: Affected = field(init=False)
    _effects: EffectsOf = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_affected", affected_in(self.world))
        object.__setattr__(self, "_effects", effects_of(self.session.workspace, self.world.catalog))

    def base(self) -> dict[str, str] | None:
        return {"ref": self.revision.ref, "commit": self.revision.commit} if self.revision else None

    def row(self, name: Name, old: Side | None, new: Side | None) -> dict[str, Any]:
        """Return what changed from one side to the other, and whom it concerns."""
        version = new.procedure.version if new else None
        return {
            **change_row(name, old, new, self._effects),
            "pinned": self._affected.pinned(name),
            "used_by": self._affected.used_by(name, version),
        }

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
            return Report(status="failed", exit_code=FINDINGS, problems=tuple(problems), data=answer)
        return Report(status="done" if rows else "unchanged", data=answer)

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


def change_row(name: Name, old: Side | None, new: Side | None, effects: EffectsOf) -> dict[str, Any]:
    """Return one procedure's changes as JSON: kind, state, both sides, the bump, and every change.

    ``smallest`` is the lowest version number that would do and ``enough`` whether the new one does; both are null where
    no promise was made, or where the look goes back to a lower version.
    """
    some = new or old
    if some is None:
        raise NotFoundError(f"{name} is on neither side", code="name-unknown")
    comparison = _compared(old, new, effects) if old and new else Comparison(required="none", changes=())
    asked = old is not None and new is not None and old.promised and not _goes_back(old, new)
    return {
        "name": name,
        "kind": some.procedure.kind,
        "state": _state(old, new),
        "from": old.as_dict() if old else None,
        "to": new.as_dict() if new else None,
        **comparison.as_dict(),
        "smallest": smallest_version(old.procedure.version, comparison.required) if old and asked else None,
        "enough": bump_ok(old.procedure.version, new.procedure.version, comparison.required)
        if old and new and asked
        else None,
    }


def _compared(old: Side, new: Side, effects: EffectsOf) -> Comparison:
    try:
        return compare(old.procedure.document, new.procedure.document, effects_of=effects)
    except Faulty as error:
        problems = tuple(Problem(code=fault.code, message=fault.message, path=new.where) for fault in error.faults)
        raise InvalidError(f"{old.where} and {new.where} cannot be compared", problems=problems) from None


def _goes_back(old: Side, new: Side) -> bool:
    return version_key(new.procedure.version) < version_key(old.procedure.version) and new.promised


def _state(old: Side | None, new: Side | None) -> str:
    if old is None:
        return "added"
    if new is None:
        return "removed"
    return "same" if old.procedure == new.procedure else "changed"


def followed(catalog: Catalog, version: Version, name: Name, *, published: bool = False) -> Version:
    """Return the published version that ``version`` follows; with ``published`` it is not one that it could be itself.

    Where there is none below it, the newest is what there is to compare with.
    """
    known = {item.version: catalog.withdrawal(item.ref) for item in catalog.versions_of(name)}
    if published:
        known.pop(version, None)
    if not known:
        raise NotFoundError(
            f"{name} has never been published{' before' if published else ''}, so there is nothing to compare with",
            code="name-unknown",
            hint=f"compare with a Git revision: pawl diff {name} --base REF",
        )
    standing = [item for item, withdrawal in known.items() if not (withdrawal and withdrawal.level == "revoked")]
    finals = [item for item in standing if not is_prerelease(item)] or standing or list(known)
    below = [item for item in finals if version_key(item) <= version_key(version)]
    return newest_first(below or finals)[0]


def effects_of(workspace: Workspace, catalog: Catalog) -> EffectsOf:
    """Return what required procedures touch, at the newest final published version that a specifier allows."""

    def found(name: str, specifier: str) -> frozenset[str] | None:
        versions = {item.version: item for item in catalog.versions_of(Name(name))}
        for version in newest_first(versions):
            if not is_prerelease(version) and satisfies(version, specifier):
                effects = workspace.procedure(versions[version]).spec.get("effects")
                return None if effects is None else frozenset(effects)
        return None

    return found


def published_version(session: Session, world: World, name: Name, version: Version) -> Procedure:
    return session.workspace.procedure(world.published(Ref(name, version)))


def work_tree_version(session: Session, name: Name) -> Procedure:
    """Return what the file of a name holds; ``InvalidError`` if it is another one."""
    path = session.workspace.procedure_file(name)
    if not path.exists():
        raise NotFoundError(f"there is no {session.workspace.relative(path)}", code="name-unknown")

    def reader(document: Any) -> Procedure:
        procedure = read_procedure(document)
        if procedure.name != name:
            message = f"the name {procedure.name} is not the file's path, which is {name}"
            raise Faulty((Fault(code="name-not-path", message=message, at=("name",)),))
        return procedure

    return read_one(session.workspace, path, reader)
