"""Applying a plan: the only place that changes a workspace's registry and releases.

The record is the commit point. What a record speaks of is written before it, its projection and the Git commit after
it; a process killed in between leaves either nothing that counts, or a complete record that the next writing command
commits. Everything happens under one lock, and only if the journals still stand where the plan was made.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from pawl.canonical import sha256
from pawl.errors import ConflictError, IntegrityError, PawlError, UsageError
from pawl.ids import REGISTRY_JOURNAL, Channel
from pawl.io import git
from pawl.io.files import Lock, Writing, read_bounded, replace, sweep, sweep_ended
from pawl.problems import Problem
from pawl.registry.channels import projection_bytes
from pawl.registry.journal import MAX_RECORD_BYTES, Head
from pawl.releases.committing import commit_left_over, commit_records
from pawl.releases.plans import AppendRecord, FreezeVersion, Plan, Step, StoreEvidence, WriteProjection
from pawl.workspace import Workspace
from pawl.workspace.journal_files import RESTORE

LOCK_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What applying a plan left behind: the files it wrote, and the commit that holds them with its repository, if
    there is one."""

    files: tuple[str, ...]
    commit: str | None
    problems: tuple[Problem, ...] = ()
    repository: git.Repository | None = None


def apply(
    workspace: Workspace,
    plan: Plan,
    *,
    commit: bool,
    branch: str | None = None,
    repository: git.Repository | None = None,
) -> Applied:
    """Apply ``plan`` wholly or not at all.

    Raises ``ConflictError`` where a journal moved since the plan was made, ``UsageError`` where Git is on another
    branch than the journals are written on. ``commit`` says whether the files are committed where there is Git;
    ``repository`` is the one of the workspace where it was found already.
    """
    if plan.empty:
        return Applied(files=(), commit=None)
    if repository is None and (commit or branch):
        repository = git.find(workspace.root)
    if repository is None:
        return _apply(workspace, plan, None)
    _refuse_other_branch(repository, branch)
    with closing(repository):
        return _apply(workspace, plan, repository if commit else None)


def apply_left_over(workspace: Workspace, repository: git.Repository, *, branch: str | None) -> Applied:
    """Commit what earlier commands recorded and Git did not, where there is anything.

    Raises what ``apply`` raises where the lock is held or Git is on another branch.
    """
    _refuse_other_branch(repository, branch)
    workspace.make_private()
    with Lock(workspace.lock_file, timeout=LOCK_SECONDS):
        files, committed = commit_left_over(workspace, repository)
    names = tuple(path.relative_to(workspace.root.resolve()).as_posix() for path in files)
    return Applied(files=names, commit=committed.commit, problems=committed.problems)


def _refuse_other_branch(repository: git.Repository, branch: str | None) -> None:
    if branch and repository.branch() != branch:
        raise UsageError(
            f"journals are written on the branch {branch} only (registry.yaml), this is {repository.branch()}",
            code="wrong-branch",
            hint=f"git switch {branch}, or open a pull request that changes the files under procedures/",
        )


def _apply(workspace: Workspace, plan: Plan, repository: git.Repository | None) -> Applied:
    if repository is not None:
        repository.prepare(plan.message)  # it starts while files are looked at and written
    workspace.make_private()
    for step in plan.steps:
        workspace.to_write(path_of(workspace, step))
    with Lock(workspace.lock_file, timeout=LOCK_SECONDS):
        heads = _heads(workspace, plan)
        if repository is not None:
            _refuse_known(workspace, plan, repository)
        _sweep(workspace, plan, heads)
        files, problems = _carry_through(workspace, plan, heads)
        written = tuple(workspace.relative(path) for path in files)
        if repository is None:
            return Applied(files=written, commit=None, problems=problems)
        committed = commit_records(workspace, repository, files, plan)
        problems = (*problems, *committed.problems)
        return Applied(files=written, commit=committed.commit, problems=problems, repository=repository)


def _carry_through(
    workspace: Workspace, plan: Plan, heads: Mapping[str, Head]
) -> tuple[tuple[Path, ...], tuple[Problem, ...]]:
    """Return the files that were written. Once the record is there the change has happened, whatever fails after it:
    an error would make people ask again, and a second rollback would go back once more."""
    files = [path_of(workspace, step) for step in plan.steps]
    try:
        data = [_data_of(step) for step in plan.steps]
        _write(list(zip(plan.steps, files, data, strict=True)))
        if plan.record is not None:
            last = data[-1] if isinstance(plan.steps[-1], WriteProjection) else None
            workspace.appended(plan.record, sha256(last) if last is not None else None)
        files += _heal(workspace, heads, {*files})
    except (PawlError, OSError) as error:
        if not _recorded(workspace, plan):
            raise
        why = error.message if isinstance(error, PawlError) else error
        message = f"the change is recorded, and not all that follows from it could be written: {why}"
        hint = "the next writing command mends it"
        problem = Problem(code="not-finished", severity="warning", message=message, hint=hint)
        return tuple(dict.fromkeys(path for path in files if path.exists())), (problem,)
    return tuple(dict.fromkeys(files)), ()


def _recorded(workspace: Workspace, plan: Plan) -> bool:
    """Whether the record is there. Where it cannot be read now, it is ours if it exists: there was none when the lock
    was taken, and a record appears whole."""
    record = plan.record
    if record is None:
        return False
    path = workspace.record_file(record.journal, record.serial)
    try:
        return read_bounded(path, limit=MAX_RECORD_BYTES) == record.data
    except PawlError:
        return os.path.lexists(path)


def _heads(workspace: Workspace, plan: Plan) -> Mapping[str, Head]:
    """Return where each journal ends, looked at once under the lock; ``ConflictError`` for another end than planned."""
    heads = {}
    for journal in dict.fromkeys((*plan.expects, REGISTRY_JOURNAL, *workspace.channels())):
        found = heads[journal] = workspace.head(journal)
        expected = plan.expects.get(journal, found)
        if found != expected:
            raise ConflictError(
                f"the journal {journal} moved from record {expected.serial} to {found.serial}; nothing was written",
                hint="look at it with pawl history, and run the command again",
            )
    return heads


def _refuse_known(workspace: Workspace, plan: Plan, repository: git.Repository) -> None:
    """Refuse a plan whose record the last commit has already: here the journal lacks its end, or all of it."""
    record = plan.record
    if record is None:
        return
    where = workspace.relative(workspace.record_file(record.journal, record.serial))
    name = (workspace.root.resolve() / where).relative_to(repository.root).as_posix()
    known = False
    with suppress(PawlError):  # a Git that fails is told of by the commit
        known = repository.holds(name)
    if known:
        message = f"the last commit has record {record.serial} of the journal {record.journal}, and {where} is not here"
        problem = Problem(code="journal-damaged", message=message, path=where, hint=RESTORE)
        raise IntegrityError(message, problems=(problem,))


def _heal(workspace: Workspace, heads: Mapping[str, Head], written: Collection[Path]) -> Iterator[Path]:
    """Write each projection again that is missing or behind its journal, as a killed command leaves it.

    That of the plan's own channel was ``written`` just now.
    """
    for channel in map(Channel, heads.keys() - {REGISTRY_JOURNAL}):
        path, serial = workspace.projection_file(channel), heads[channel].serial
        if serial and path not in written and not _ends_with_serial(path, serial):
            replace(workspace.to_write(path), projection_bytes(workspace.channel(channel)), named=False)
            yield path


def _ends_with_serial(path: Path, serial: int) -> bool:
    """Whether a projection is that of a serial: its keys are sorted, so the serial stands at its end."""
    end = f'  "serial": {serial}\n}}\n'.encode()
    try:
        if not path.is_file():  # a pipe would be waited for
            return False
        with path.open("rb") as file:
            file.seek(-len(end), os.SEEK_END)
            return file.read() == end
    except OSError:
        return False


def _sweep(workspace: Workspace, plan: Plan, heads: Mapping[str, Head]) -> None:
    """Remove what killed commands were writing in the folders of journals and of this plan."""
    journals = {Path(workspace.journal_folder(name)): name for name in heads}
    for folder in dict.fromkeys(
        [workspace.projections, *journals, *(path_of(workspace, step).parent for step in plan.steps)]
    ):
        if folder in journals and _is_tidy(workspace, journals[folder], heads[journals[folder]].serial):
            continue
        sweep(folder)
    sweep_ended(workspace.private)  # what is kept there is written under no lock


def _is_tidy(workspace: Workspace, journal: str, serial: int) -> bool:
    """Whether nothing came into a journal's folder since its newest record was there under one name alone.

    To take the other name away, with which it was written, changed the record and the folder last. Long journals are
    long to list, and few were ever left half-written.
    """
    try:
        newest = os.lstat(workspace.record_path(journal, serial))
        folder = workspace.journal_folder(journal)
        return newest.st_nlink == 1 and os.lstat(folder).st_mtime_ns <= newest.st_ctime_ns
    except OSError:
        return False


def path_of(workspace: Workspace, step: Step) -> Path:
    """Return the file that a step writes."""
    match step:
        case FreezeVersion():
            return workspace.frozen_file(step.ref)
        case StoreEvidence():
            return workspace.evidence / step.name
        case AppendRecord():
            return workspace.record_file(step.record.journal, step.record.serial)
        case WriteProjection():
            return workspace.projection_file(step.state.channel)
        case _:
            assert_never(step)


def _data_of(step: Step) -> bytes:
    match step:
        case FreezeVersion() | StoreEvidence():
            return step.data
        case AppendRecord():
            return step.record.data
        case WriteProjection():
            return projection_bytes(step.state)
        case _:
            assert_never(step)


def _write(steps: Sequence[tuple[Step, Path, bytes]]) -> None:
    """Write the files of steps in their order: what stands before the record is on disk before it appears.

    No record speaks yet of what is frozen or stored, so whatever a killed command left there is replaced. A projection
    is put into its place last, and its name is not waited for: the one that a power cut brings back is behind the
    record, and written again.
    """
    with Writing() as writing:
        for step, path, data in steps:
            writing.stage(path, data, new=isinstance(step, AppendRecord))
        writing.sync()
        for step, path, _ in steps:
            if isinstance(step, AppendRecord):
                writing.sync()
                writing.create(path)
                writing.sync()
            else:
                writing.replace(path)
