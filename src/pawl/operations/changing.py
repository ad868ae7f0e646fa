"""Diff and bump: what changed between two versions, and the next version number in a procedure's file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from pawl.errors import InvalidError, NotFoundError
from pawl.ids import Name, Ref, Version
from pawl.io.edit import set_scalar
from pawl.io.files import replace
from pawl.operations.session import Report, Session
from pawl.operations.sources import read_one
from pawl.operations.world import World, read_world
from pawl.procedures.difference import differences
from pawl.procedures.procedure import Procedure
from pawl.procedures.read import read_procedure
from pawl.registry.versions import is_prerelease, newest_first

Part: TypeAlias = Literal["major", "minor", "patch"]
PARTS: tuple[Part, ...] = ("major", "minor", "patch")


def diff(session: Session, old: tuple[Name, Version | None], new: tuple[Name, Version | None] | None) -> Report:
    """Report every difference: between two versions, or from a version (the newest without one) to the work tree."""
    world = read_world(session.workspace)
    name, version = old
    if new is None:
        left = _version(session, world, name, version or _newest(world, name))
        right, right_name = _work_tree(session, name), f"{name} in the work tree"
    else:
        left = _version(session, world, name, version or _newest(world, name))
        right = _version(session, world, new[0], new[1]) if new[1] else _work_tree(session, new[0])
        right_name = str(right.ref) if new[1] else f"{new[0]} in the work tree"
    rows = [item.as_dict() for item in differences(left.document, right.document)]
    same = left.digest == right.digest
    return Report(
        status="unchanged" if same else "done",
        data={
            "from": {"name": left.name, "version": left.version, "digest": left.digest},
            "to": {"name": right.name, "version": right.version, "digest": right.digest, "where": right_name},
            "required": "none" if same else "at-least-patch",
            "changes": rows,
        },
    )


def bump(session: Session, name: Name, part: Part, to: Version | None) -> Report:
    """Set the version in a procedure's file: ``to``, or the next one of ``part`` above the highest published final one.

    Comments and layout of the file stay.
    """
    world = read_world(session.workspace)
    procedure = _work_tree(session, name)
    path = session.workspace.procedure_file(name)
    finals = [item.version for item in world.catalog.versions_of(name) if not is_prerelease(item.version)]
    base = newest_first(finals)[0] if finals else None
    version = to or (next_version(base, part) if base else procedure.version)
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
    replace(path, set_scalar(session.workspace.read_source(path), ("version",), version))
    return Report(status="done", data=data)


def next_version(base: Version, part: Part) -> Version:
    """Return the next version above a final one."""
    numbers = [int(number) for number in base.split(".")]
    place = PARTS.index(part)
    raised = [*numbers[:place], numbers[place] + 1, *([0] * (2 - place))]
    return Version(".".join(str(number) for number in raised))


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
