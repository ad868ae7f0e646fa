"""Differences: the two sides that are compared, what changed from one to the other, and which bump that requires.

A side is a published version, the file in the work tree, or the file at a Git revision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pawl.changes.bump import bump_ok, smallest_version
from pawl.changes.compare import compare
from pawl.changes.values import Comparison
from pawl.changes.workflows import EffectsOf
from pawl.errors import Faulty, InvalidError, NotFoundError
from pawl.ids import Name, Ref, Version
from pawl.operations.session import Session
from pawl.operations.sources import read_one
from pawl.operations.world import World
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
