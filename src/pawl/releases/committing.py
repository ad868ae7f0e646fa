"""Committing what a plan wrote: exactly its files, and those of complete records that an earlier command left behind.

The record is there already when this begins. A Git that cannot commit is therefore a warning and no error: the next
writing command commits what is missing here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pawl.errors import ConflictError, PawlError
from pawl.ids import REGISTRY_JOURNAL, Channel, parse_ref
from pawl.io import git
from pawl.problems import Problem
from pawl.registry.journal import Record
from pawl.releases.plans import Plan
from pawl.workspace import Workspace

COMMIT_TRIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """The commit that holds the files, or None with a warning that says why there is none."""

    commit: str | None
    problems: tuple[Problem, ...] = ()


def commit_records(workspace: Workspace, repository: git.Repository, files: Sequence[Path], plan: Plan) -> Committed:
    """Commit ``files`` as one, with what killed commands left uncommitted; the caller holds the workspace's lock."""
    record = plan.record
    try:
        before = tuple(_left_over(workspace, repository, record)) if record else ()
        commit = _commit_with_patience(repository, (*before, *files), plan.message)
    except (PawlError, OSError) as error:
        why = error.message if isinstance(error, PawlError) else error
        message = f"the change is recorded, and Git could not commit it: {why}"
        hint = "the next writing command commits it; or commit the listed files yourself"
        problem = Problem(code="not-committed", severity="warning", message=message, hint=hint)
        return Committed(commit=None, problems=(problem,))
    return Committed(commit=commit, problems=_detached(repository, commit))


def _detached(repository: git.Repository, commit: str) -> tuple[Problem, ...]:
    """Warn where no branch holds the commit: the next checkout of another one leaves it behind."""
    try:
        if repository.branch() is not None:
            return ()
    except PawlError:  # the commit is there, and which branch holds it cannot be seen now
        return ()
    message = f"HEAD is detached: no branch holds the commit {commit[:12]}, which is lost once another is checked out"
    hint = "git switch -c NAME keeps it"
    return (Problem(code="detached-head", severity="warning", message=message, hint=hint),)


def _commit_with_patience(repository: git.Repository, paths: Sequence[Path], message: str) -> str:
    """Somebody else's commit may move the branch meanwhile; the journals are under our lock, so ours still fits."""
    for turn in range(COMMIT_TRIES):
        try:
            return repository.commit(paths, message)
        except ConflictError:
            if turn == COMMIT_TRIES - 1:
                raise
    raise AssertionError("unreachable: the loop returns or raises")


def _left_over(workspace: Workspace, repository: git.Repository, record: Record) -> Iterator[Path]:
    """Yield the files of complete records that an earlier command left uncommitted, in every journal."""
    newest: dict[Path, tuple[str, int]] = {}
    for journal in (REGISTRY_JOURNAL, *workspace.channels()):
        serial = record.serial - 1 if journal == record.journal else workspace.head(journal).serial
        if serial:
            newest[workspace.record_file(journal, serial)] = (journal, serial)
    for path in repository.unsettled([*newest]):
        if repository.uncommitted([path]):
            yield from _uncommitted(workspace, repository, *newest[path])


def _uncommitted(workspace: Workspace, repository: git.Repository, journal: str, last: int) -> Iterator[Path]:
    records = workspace.journal(journal)[:last]
    wanted = [workspace.record_file(journal, item.serial) for item in records]
    for item in records:
        wanted += files_of(workspace, item)
    if journal != REGISTRY_JOURNAL:
        wanted.append(workspace.projection_file(Channel(journal)))
    yield from repository.uncommitted([path for path in wanted if path.exists()])


def files_of(workspace: Workspace, record: Record) -> Iterator[Path]:
    """Yield the files that a record speaks of: frozen versions and evidence."""
    for row in record.body.get("published", ()):
        yield workspace.frozen_file(parse_ref(f"{row['name']}@{row['version']}"))
    for row in record.body.get("evidence", ()):
        yield workspace.evidence / row["file"]
