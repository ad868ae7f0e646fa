"""A command that pushes: the newest state of the remote, the command on it, a push of exactly that branch.

Journals are never merged. If somebody else pushed in between, what the command committed is taken back, and the whole
command runs again on their state: it judges again, and may come to another answer. After ``TRIES`` lost races, and
where the remote cannot be reached or refuses, everything here is as it was before the command. Nothing is ever forced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pawl.errors import ConflictError, InvalidError, PawlError, UsageError
from pawl.io import git
from pawl.io.files import Lock
from pawl.io.files import replace as replace_file
from pawl.io.git_place import Place
from pawl.io.git_remote import Pushed, Upstream, changed_between, contains, fast_forward, take_back
from pawl.operations.session import Report
from pawl.problems import Problem
from pawl.workspace import Workspace

TRIES = 3
LOCK_SECONDS = 20.0


def with_push(workspace: Workspace, attempt: Callable[[], Report]) -> Report:
    """Run a command so that its commit gets to the remote, and return its report with ``pushed``.

    ``attempt`` runs the whole command and reads everything anew. Raises ``ConflictError`` after ``TRIES`` lost races or
    where this branch and the remote's have parted, ``InvalidError`` where there is no remote, or none that answers.
    """
    side = _open(workspace)
    started = side.head()
    for tries in range(1, TRIES + 1):
        try:
            tip = side.catch_up()
        except PawlError:
            side.go_back(started, {})
            raise
        before, held = side.head(), side.uncommitted()
        report = attempt()
        commit = side.head()
        if commit is None or not _to_push(report, commit, before, tip):
            return _told(report, None, missed=_missed(report))
        pushed = side.upstream.push(commit)
        # somebody did the very same in the same second, and their push was the first: what is there then is theirs
        twin = pushed.there and commit != before
        try:
            arrived = not twin and (pushed.done or side.arrived(commit, tip, pushed, made=commit != before))
        except PawlError:
            side.go_back(started, held)
            raise
        if arrived:
            return _told(report, side.row(commit, tries))
        side.go_back(before, held)
    side.go_back(started, held)
    message = f"{side.upstream.shown} moved {TRIES} times while this was judged and pushed; nothing was changed"
    raise ConflictError(message, code="push-lost-race", hint="run the command again")


def _open(workspace: Workspace) -> _Side:
    repository = git.find(workspace.root)
    if repository is None:
        raise UsageError("--push needs Git, and this is no repository", code="push-without-git")
    upstream = repository.upstream()
    if upstream is None:
        branch = repository.branch()
        hint = f"git push -u REMOTE {branch}, once" if branch else "git switch BRANCH first"
        message = f"--push needs a branch that follows one of a remote; {branch or 'a detached HEAD'} does not"
        raise InvalidError(message, code="no-upstream", hint=hint)
    return _Side(workspace=workspace, repository=repository, upstream=upstream)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """This side of the remote: the workspace, its repository and what its branch follows."""

    workspace: Workspace
    repository: git.Repository
    upstream: Upstream

    def head(self) -> str | None:
        return self.repository.head()

    def row(self, commit: str, tries: int) -> Mapping[str, Any]:
        branch = self.upstream.ref.removeprefix("refs/heads/")
        return {"remote": self.upstream.shown, "branch": branch, "commit": commit, "tries": tries}

    def catch_up(self) -> str | None:
        """Move to the remote's newest commit, unless this side is ahead; return that commit, None if there is none."""
        tip = self.upstream.tip()
        if tip is None or tip == self.head():
            return tip
        self.upstream.fetch(tip)
        with self._locked():
            head = self.head()
            if head is not None and contains(self._place, head, tip):
                return tip
            if head is not None and not contains(self._place, tip, head):
                raise self._parted()
            fast_forward(self._place, tip)
        return tip

    def arrived(self, commit: str, tip: str | None, pushed: Pushed, *, made: bool) -> bool:
        """Whether a push that Git calls failed is there all the same; False if somebody else was faster.

        A commit that was ``made`` just now, that the remote said no to and that is there, is somebody else's.
        Raises ``InvalidError`` where the remote refused or could not be reached.
        """
        now = self.upstream.tip()
        if now not in {None, tip, commit}:
            self.upstream.fetch(now or "")
        if now == commit or (now is not None and now != tip and contains(self._place, now, commit)):
            return not (made and pushed.rejected)
        if now != tip or pushed.raced:
            return False
        if pushed.rejected:
            message = f"{self.upstream.shown} refused the push: {pushed.said}; nothing was changed"
            raise InvalidError(message, code="push-refused", hint="ask whoever looks after the remote; nothing is lost")
        message = f"the push to {self.upstream.shown} did not get there: {pushed.said}; nothing was changed"
        raise InvalidError(message, code="push-unreachable", hint="run the command again")

    def uncommitted(self) -> dict[Path, bytes]:
        """Return the records and frozen files that no commit holds yet: they are somebody's, and stay."""
        folders = [self.workspace.releases, self.workspace.versions, self.workspace.projections]
        paths = self.repository.uncommitted([folder for folder in folders if folder.exists()])
        return {path: path.read_bytes() for path in paths if path.is_file()}

    def go_back(self, old: str | None, held: Mapping[Path, bytes]) -> None:
        """Take back every commit since ``old`` with its files; those that were there before as they were."""
        with self._locked():
            new = self.head()
            if new is None or new == old:
                return
            kept = {path.relative_to(self.repository.root).as_posix() for path in held}
            names = [self.repository.root / name for name in changed_between(self._place, old, new)]
            # what somebody has changed since stays as they have it
            kept |= {path.relative_to(self.repository.root).as_posix() for path in self.repository.uncommitted(names)}
            take_back(self._place, self.upstream.branch, old, new, kept, self._rank)
            for path, data in held.items():
                if not path.is_file() or path.read_bytes() != data:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    replace_file(path, data)

    @property
    def _place(self) -> Place:
        return self.upstream.place

    def _rank(self, name: str) -> int:
        """Return the turn of a file: what a record speaks of goes after the record, as nothing else may be left."""
        path = self.repository.root / name
        if path.is_relative_to(self.workspace.projections):
            return 0
        is_record = path.is_relative_to(self.workspace.releases) and not path.is_relative_to(self.workspace.evidence)
        return 1 if is_record else 2

    def _locked(self) -> Lock:
        self.workspace.make_private()
        return Lock(self.workspace.lock_file, timeout=LOCK_SECONDS)

    def _parted(self) -> ConflictError:
        here = self.upstream.branch.removeprefix("refs/heads/")
        there = f"{self.upstream.shown}/{self.upstream.ref.removeprefix('refs/heads/')}"
        message = f"{here} and {there} have parted: each has commits that the other does not; nothing was changed"
        hint = f"journals are never merged: git reset --hard {there}, and run the commands again whose records are lost"
        return ConflictError(message, code="push-parted", hint=hint)


def _to_push(report: Report, commit: str, before: str | None, tip: str | None) -> bool:
    """Whether there is something to push: a refusal is a record too, and so is what an earlier command left here."""
    if report.status in {"would", "would-refuse"} or commit == tip:
        return False
    return commit != before or report.exit_code == 0


def _missed(report: Report) -> bool:
    return any(problem.code == "not-committed" for problem in report.problems)


def _told(report: Report, row: Mapping[str, Any] | None, *, missed: bool = False) -> Report:
    data = {**report.data, "pushed": row}
    if not missed:
        return replace(report, data=data)
    message = "the change is recorded here and not committed, so it was not pushed"
    hint = "the next writing command with --push commits and pushes it"
    problem = Problem(code="not-pushed", severity="warning", message=message, hint=hint)
    return replace(report, data=data, problems=(*report.problems, problem))
