"""Diff: what changed between two versions, and the bump that each change requires."""

from __future__ import annotations

from pawl.changes.compare import compare
from pawl.changes.workflows import EffectsOf
from pawl.errors import NotFoundError, UsageError
from pawl.ids import Name, Ref, Version
from pawl.operations.session import Report, Session
from pawl.operations.sources import read_one
from pawl.operations.world import World, read_world
from pawl.procedures.procedure import Procedure
from pawl.procedures.read import read_procedure
from pawl.registry.catalog import Catalog
from pawl.registry.versions import is_prerelease, newest_first, satisfies
from pawl.workspace import Workspace


def diff(session: Session, old: tuple[Name, Version | None], new: tuple[Name, Version | None] | None) -> Report:
    """Report every change with the bump that it requires: between two versions, or from one to the work tree."""
    world = read_world(session.workspace)
    name, version = old
    other, other_version = new if new is not None else (name, None)
    if other != name:
        raise UsageError(f"{name} and {other} are two procedures: there is nothing to compare", code="names-differ")
    left = published_version(session, world, name, version or _newest(world, name))
    right = (
        published_version(session, world, name, other_version) if other_version else work_tree_version(session, name)
    )
    comparison = compare(left.document, right.document, effects_of=effects_of(session.workspace, world.catalog))
    return Report(
        status="unchanged" if comparison.required == "none" else "done",
        data={
            "from": {"name": left.name, "version": left.version, "digest": left.digest},
            "to": {
                "name": right.name,
                "version": right.version,
                "digest": right.digest,
                "where": str(right.ref) if other_version else f"{name} in the work tree",
            },
            **comparison.as_dict(),
        },
    )


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


def _newest(world: World, name: Name) -> Version:
    versions = [item.version for item in world.catalog.versions_of(name)]
    if not versions:
        raise NotFoundError(
            f"{name} has never been published, so there is nothing to compare with", code="name-unknown"
        )
    return newest_first(versions)[0]


def published_version(session: Session, world: World, name: Name, version: Version) -> Procedure:
    return session.workspace.procedure(world.published(Ref(name, version)))


def work_tree_version(session: Session, name: Name) -> Procedure:
    path = session.workspace.procedure_file(name)
    if not path.exists():
        raise NotFoundError(f"there is no {session.workspace.relative(path)}", code="name-unknown")
    return read_one(session.workspace, path, read_procedure)
