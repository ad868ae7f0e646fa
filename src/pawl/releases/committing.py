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
LEFT_OVER = "pawl: what was recorded before"
"""The message of a commit that holds only what earlier commands left."""
_LATER = "the next writing command commits it"


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
        return Committed(commit=None, problems=(not_committed("the change is recorded", error),))
    return Committed(commit=commit, problems=_detached(repository, commit))


def commit_left_over(workspace: Workspace, repository: git.Repository) -> tuple[tuple[Path, ...], Committed]:
    """Commit what earlier commands recorded and Git did not; return its files too. The caller holds the lock.

    Without files there was nothing to commit.
    """
    files: tuple[Path, ...] = ()
    try:
        files = tuple(dict.fromkeys(_left_over(workspace, repository, None)))
        if not files:
            return (), Committed(commit=None)
        commit = _commit_with_patience(repository, files, LEFT_OVER)
    except (PawlError, OSError) as error:
        return files, Committed(commit=None, problems=(not_committed("an earlier change is recorded", error),))
    return files, Committed(commit=commit, problems=_detached(repository, commit))


def is_pending(workspace: Workspace, repository: git.Repository) -> bool:
    """Whether something may be recorded and not committed: one look at the newest record of each journal."""
    return bool(repository.unsettled([*_newest(workspace, None)]))


def not_held(workspace: Workspace, repository: git.Repository) -> tuple[Problem, ...]:
    """Return one warning where the last commit lacks the newest record of a journal; nothing is changed."""
    lacking: dict[str, str] = {}
    for journal in (REGISTRY_JOURNAL, *workspace.channels()):
        try:
            serial = workspace.head(journal).serial
        except PawlError:  # damage is told by who reads the journal
            continue
        where = workspace.relative(workspace.record_file(journal, serial))
        name = (workspace.root.resolve() / where).relative_to(repository.root).as_posix()
        if serial and not repository.holds(name):
            lacking[where] = f"releases/{journal} (record {serial})"
    if not lacking:
        return ()
    message = f"recorded, and Git has not committed it: {', '.join(lacking.values())}"
    hint = f"{_LATER}, also one that finds nothing to do: pawl publish; or commit releases and registry yourself"
    return (Problem(code="not-committed", severity="warning", message=message, path=next(iter(lacking)), hint=hint),)


def not_committed(what: str, error: PawlError | OSError) -> Problem:
    """Warn of ``what`` Git could not commit, with what is to be done first where the error tells."""
    if isinstance(error, PawlError):
        why, code, own = error.message, error.problems[0].code, error.problems[0].hint
    else:
        why, code, own = str(error), "", None
    if code == "git-branch-moved":  # to run the command again may be to do it twice
        hint = f"{_LATER}; or commit the listed files yourself"
    elif own:
        hint = f"{own}; then {_LATER}"
    else:
        hint = f"see what Git said: once that is mended, {_LATER}; or commit the listed files yourself"
    message = f"{what}, and Git could not commit it: {why}"
    return Problem(code="not-committed", severity="warning", message=message, hint=hint)


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


def _left_over(workspace: Workspace, repository: git.Repository, record: Record | None) -> Iterator[Path]:
    """Yield the files of complete records before ``record`` that were left uncommitted, in every journal."""
    newest = _newest(workspace, record)
    for path in repository.unsettled([*newest]):
        if repository.uncommitted([path]):
            yield from _uncommitted(workspace, repository, *newest[path])


def _newest(workspace: Workspace, record: Record | None) -> dict[Path, tuple[str, int]]:
    """Return the file of each journal's newest record before ``record``, with the journal and the serial."""
    newest: dict[Path, tuple[str, int]] = {}
    for journal in (REGISTRY_JOURNAL, *workspace.channels()):
        own = record if record is not None and journal == record.journal else None
        serial = own.serial - 1 if own else workspace.head(journal).serial
        if serial:
            newest[workspace.record_file(journal, serial)] = (journal, serial)
    return newest


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
