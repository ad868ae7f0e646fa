"""Whether somebody edited what only pawl writes: frozen versions and journals.

Chains and projections are checked whenever they are read. Here every frozen copy is held against its digest; with a
base, the records and copies that stood there already must still be what they were, chained anew or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pawl.errors import IntegrityError
from pawl.ids import Ref
from pawl.operations.revisions import Revision
from pawl.operations.session import Session
from pawl.operations.world import World
from pawl.problems import Problem
from pawl.registry.catalog import Published
from pawl.workspace import Workspace


def tampered(session: Session, world: World, revision: Revision | None, paths: frozenset[str]) -> tuple[Problem, ...]:
    """Return an error for each file that is not what was recorded, and a warning for each that no record speaks of.

    With a base only ``paths``, which differ from it, are looked at: the rest was looked at when it got there.
    """
    found = [*_frozen(session, world, None if revision is None else paths)]
    if revision is not None:
        named = {problem.path for problem in found}
        found += [problem for problem in _rewritten(session, revision, paths) if problem.path not in named]
    return tuple(found)


def _frozen(session: Session, world: World, paths: frozenset[str] | None) -> Iterator[Problem]:
    workspace, published = session.workspace, world.catalog.published
    copies = _copies(workspace, paths)
    for version in published.values() if paths is None else _recorded(copies, world):
        try:
            workspace.frozen(version)
        except IntegrityError as error:
            yield from error.problems
    for where, ref in copies.items():
        if ref not in published:
            message = f"no record speaks of {where}, so it counts for nothing"
            hint = "versions are frozen by: pawl publish"
            yield Problem(code="file-unrecorded", severity="warning", message=message, path=where, hint=hint)


def _copies(workspace: Workspace, paths: frozenset[str] | None) -> dict[str, Ref | None]:
    """Return the frozen copies to look at, those that are gone too where ``paths`` says that they changed."""
    if paths is None:
        return {workspace.relative(path): ref for ref, path in workspace.frozen_refs()}
    below = f"{workspace.relative(workspace.versions)}/"
    return {where: workspace.frozen_ref(where) for where in sorted(paths) if where.startswith(below)}


def _recorded(copies: Mapping[str, Ref | None], world: World) -> Iterator[Published]:
    for ref in copies.values():
        if ref is not None and ref in world.catalog.published:
            yield world.catalog.published[ref]


def _rewritten(session: Session, revision: Revision, paths: frozenset[str]) -> Iterator[Problem]:
    workspace = session.workspace
    held = frozenset(revision.held(workspace.releases)) | frozenset(revision.held(workspace.versions))
    for where in sorted(paths & held):
        gone = "" if (workspace.root / where).exists() else ", and gone here"
        message = f"{where} is not what {revision.ref} holds{gone}; what was recorded never changes"
        hint = f"restore it: git checkout {revision.commit[:12]} -- {where}"
        code = "frozen-changed" if where.startswith("registry/") else "journal-damaged"
        yield Problem(code=code, message=message, path=where, hint=hint)
