"""Whether somebody edited what only pawl writes: frozen versions and journals.

Every frozen copy is held against its digest, unless it was and its file shows no change since. With a base, the records
and copies that stood there already must still be what they were, chained anew or not; without one every journal is read
from its start, whatever an index knows of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from pawl.ids import REGISTRY_JOURNAL
from pawl.operations.reviewing.frozen_copies import Frozen, look_at_copies
from pawl.operations.reviewing.revisions import Revision
from pawl.operations.session import Session
from pawl.operations.world import World
from pawl.problems import Problem

_STORED = ("releases/", "registry/versions/")


def tampered(session: Session, world: World, revision: Revision | None, paths: frozenset[str]) -> Frozen:
    """Return an error for each file that is not what was recorded, and a warning for each that no record speaks of.

    With a base, ``paths`` are the files that differ from it: those that stood there may not. ``IntegrityError`` for a
    journal that is damaged.
    """
    frozen = look_at_copies(session.workspace, world.catalog)
    if revision is None:
        for journal in (REGISTRY_JOURNAL, *session.workspace.channels()):
            session.workspace.journal(journal)
        return frozen
    named = {problem.path for problem in frozen.problems}
    more = (problem for problem in _rewritten(session, revision, paths) if problem.path not in named)
    return frozen._replace(problems=(*frozen.problems, *more))


def _rewritten(session: Session, revision: Revision, paths: frozenset[str]) -> Iterator[Problem]:
    workspace = session.workspace
    stored = frozenset(path for path in paths if path.startswith(_STORED))
    if not stored:
        return  # and Git need not list what it holds, which may be long
    held = frozenset(revision.held(workspace.releases)) | frozenset(revision.held(workspace.versions))
    for where in sorted(stored & held):
        gone = not (workspace.root / where).exists()
        yield not_as_held(where, revision.ref, revision.commit[:12], gone=gone)


def not_as_held(where: str, held_by: str, rev: str, *, gone: bool) -> Problem:
    """Return the error for a record or a frozen version that is not what Git holds; ``rev`` is for the command."""
    message = f"{where} is not what {held_by} holds{', and gone here' if gone else ''}; what was recorded never changes"
    code = "frozen-changed" if where.startswith("registry/") else "journal-damaged"
    return Problem(code=code, message=message, path=where, hint=f"restore it: git checkout {rev} -- {where}")
