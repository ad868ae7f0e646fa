"""Bump: the version number that a procedure's file must have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from pawl.changes.bump import smallest_version
from pawl.changes.compare import compare
from pawl.errors import InvalidError
from pawl.ids import Name, Ref, Version
from pawl.io.edit import set_scalar
from pawl.io.files import replace
from pawl.operations.diffing import effects_of, published_version, work_tree_version
from pawl.operations.session import Report, Session
from pawl.operations.world import read_world
from pawl.registry.versions import is_prerelease, newest_first

Part: TypeAlias = Literal["major", "minor", "patch"]
PARTS: tuple[Part, ...] = ("major", "minor", "patch")


def bump(session: Session, name: Name, part: Part | None, to: Version | None) -> Report:
    """Set the version in a procedure's file: ``to``, or the lowest above the highest published final one.

    It is raised by ``part``, or without one by what the changes require. Comments and layout of the file stay.
    """
    world = read_world(session.workspace)
    procedure = work_tree_version(session, name)
    path = session.workspace.procedure_file(name)
    finals = [item.version for item in world.catalog.versions_of(name) if not is_prerelease(item.version)]
    base = newest_first(finals)[0] if finals else None
    version = to or procedure.version
    if to is None and base is not None:
        published = published_version(session, world, name, base)
        required = compare(
            published.document, procedure.document, effects_of=effects_of(session.workspace, world.catalog)
        ).required
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
