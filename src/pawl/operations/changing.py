"""Diff and bump: what changed between two versions, and the version number that a procedure's file must have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from pawl.changes.bump import smallest_version
from pawl.changes.compare import compare
from pawl.changes.workflows import EffectsOf
from pawl.errors import InvalidError, NotFoundError, UsageError
from pawl.ids import Name, Ref, Version
from pawl.io.edit import set_scalar
from pawl.io.files import replace
from pawl.operations.session import Report, Session
from pawl.operations.sources import read_one
from pawl.operations.world import World, read_world
from pawl.procedures.procedure import Procedure
from pawl.procedures.read import read_procedure
from pawl.registry.versions import is_prerelease, newest_first, satisfies

Part: TypeAlias = Literal["major", "minor", "patch"]
PARTS: tuple[Part, ...] = ("major", "minor", "patch")


def diff(session: Session, old: tuple[Name, Version | None], new: tuple[Name, Version | None] | None) -> Report:
    """Report every change with the bump that it requires: between two versions, or from one to the work tree."""
    world = read_world(session.workspace)
    name, version = old
    other, other_version = new if new is not None else (name, None)
    if other != name:
        raise UsageError(f"{name} and {other} are two procedures: there is nothing to compare", code="names-differ")
    left = _version(session, world, name, version or _newest(world, name))
    right = _version(session, world, name, other_version) if other_version else _work_tree(session, name)
    comparison = compare(left.document, right.document, effects_of=_effects(session, world))
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


def bump(session: Session, name: Name, part: Part | None, to: Version | None) -> Report:
    """Set the version in a procedure's file: ``to``, or the lowest above the highest published final one.

    It is raised by ``part``, or without one by what the changes require. Comments and layout of the file stay.
    """
    world = read_world(session.workspace)
    procedure = _work_tree(session, name)
    path = session.workspace.procedure_file(name)
    finals = [item.version for item in world.catalog.versions_of(name) if not is_prerelease(item.version)]
    base = newest_first(finals)[0] if finals else None
    version = to or procedure.version
    if to is None and base is not None:
        published = _version(session, world, name, base)
        required = compare(published.document, procedure.document, effects_of=_effects(session, world)).required
        version = smallest_version(base, part or required)
    data: Mapping[str, Any] = {
        "name": name,
        "from": procedure.version,
        "to": version,
        "base": base,
        "path": session.workspace.relative(path),
    }
    if version == procedure.version:
        return Report(status="unchanged", data=data)
    if Ref(name, version) in world.catalog.published:
        raise InvalidError(f"{name}@{version} is published already", code="version-reused", hint="choose a higher one")
    replace(session.workspace.to_write(path), set_scalar(session.workspace.read_source(path), ("version",), version))
    return Report(status="done", data=data)


def _effects(session: Session, world: World) -> EffectsOf:
    """Return what required procedures touch, at the newest final published version that a specifier allows."""

    def effects_of(name: str, specifier: str) -> frozenset[str] | None:
        versions = {item.version: item for item in world.catalog.versions_of(Name(name))}
        for version in newest_first(versions):
            if not is_prerelease(version) and satisfies(version, specifier):
                effects = session.workspace.procedure(versions[version]).spec.get("effects")
                return None if effects is None else frozenset(effects)
        return None

    return effects_of


def _newest(world: World, name: Name) -> Version:
    versions = [item.version for item in world.catalog.versions_of(name)]
    if not versions:
        raise NotFoundError(
            f"{name} has never been published, so there is nothing to compare with", code="name-unknown"
        )
    return newest_first(versions)[0]


def _version(session: Session, world: World, name: Name, version: Version) -> Procedure:
    return session.workspace.procedure(world.published(Ref(name, version)))


def _work_tree(session: Session, name: Name) -> Procedure:
    path = session.workspace.procedure_file(name)
    if not path.exists():
        raise NotFoundError(f"there is no {session.workspace.relative(path)}", code="name-unknown")
    return read_one(session.workspace, path, read_procedure)
