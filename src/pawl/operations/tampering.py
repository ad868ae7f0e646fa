"""Whether somebody edited what only pawl writes: frozen versions and journals.

Chains and projections are checked whenever they are read. Here every frozen copy is held against its digest; with a
base, the records and copies that stood there already must still be what they were, chained anew or not.
"""

from __future__ import annotations

from collections.abc import Iterator

from pawl.errors import IntegrityError
from pawl.ids import Ref
from pawl.operations.revisions import Revision
from pawl.operations.session import Session
from pawl.operations.world import World
from pawl.problems import Problem


def tampered(session: Session, world: World, revision: Revision | None) -> tuple[Problem, ...]:
    """Return an error for each file that is not what was recorded, and a warning for each that no record speaks of.

    With a base only what differs from it is looked at: the rest was looked at when it got there.
    """
    paths = None if revision is None else frozenset(revision.changed_paths())
    found = [*_frozen(session, world, paths)]
    if revision is not None and paths is not None:
        named = {problem.path for problem in found}
        found += [problem for problem in _rewritten(session, revision, paths) if problem.path not in named]
    return tuple(found)


def _frozen(session: Session, world: World, paths: frozenset[str] | None) -> Iterator[Problem]:
    workspace = session.workspace
    for version in world.catalog.published.values():
        if paths is not None and workspace.relative(workspace.frozen_file(version.ref)) not in paths:
            continue
        try:
            workspace.frozen(version)
        except IntegrityError as error:
            yield from error.problems
    for ref, path in workspace.frozen_refs():
        where = workspace.relative(path)
        if (paths is None or where in paths) and not _recorded(ref, world):
            message = f"no record speaks of {where}, so it counts for nothing"
            hint = "versions are frozen by: pawl publish"
            yield Problem(code="file-unrecorded", severity="warning", message=message, path=where, hint=hint)


def _recorded(ref: Ref | None, world: World) -> bool:
    return ref is not None and ref in world.catalog.published


def _rewritten(session: Session, revision: Revision, paths: frozenset[str]) -> Iterator[Problem]:
    workspace = session.workspace
    held = frozenset(revision.held(workspace.releases)) | frozenset(revision.held(workspace.versions))
    for where in sorted(paths & held):
        gone = "" if (workspace.root / where).exists() else ", and gone here"
        message = f"{where} is not what {revision.ref} holds{gone}; what was recorded never changes"
        hint = f"restore it: git checkout {revision.commit[:12]} -- {where}"
        code = "frozen-changed" if where.startswith("registry/") else "journal-damaged"
        yield Problem(code=code, message=message, path=where, hint=hint)
