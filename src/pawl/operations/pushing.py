"""A command that pushes: the newest state of the remote, the command on it, a push of exactly that branch.

Journals are never merged. If somebody else pushed in between, what the command committed is taken back, and the whole
command runs again on their state: it judges again, and may come to another answer. What it would move must still be
where the first attempt found it, or it stops. Then, after ``TRIES`` lost races, and where the remote cannot be reached
or refuses, everything here is as it was before the command. Nothing is ever forced.

No lock is held while the remote is waited for, so others may write here meanwhile. What is taken back is therefore only
what this command did itself, under the lock, and only while it is the last thing that happened; else all of it stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Any

from pawl.errors import ConflictError, InvalidError, PawlError, UsageError
from pawl.io import git
from pawl.io.files import Lock
from pawl.io.files import replace as replace_file
from pawl.io.git.place import Place
from pawl.io.git.remote import (
    Pushed,
    Upstream,
    changed_between,
    contains,
    fast_forward,
    lacking,
    parents_of,
    stays_here,
    take_back,
)
from pawl.operations.overtaken import overtaken
from pawl.operations.session import Report
from pawl.problems import Problem
from pawl.workspace import Workspace

TRIES = 3
LOCK_SECONDS = 20.0
SHOWN = 5
"""How many lost commits a hint names one by one."""
_AS_BEFORE = "; nothing was changed"


def with_push(workspace: Workspace, attempt: Callable[[], Report]) -> Report:
    """Run a command so that its commit gets to the remote, and return its report with ``pushed``.

    ``attempt`` runs the whole command and reads everything anew. Raises ``ConflictError`` after ``TRIES`` lost races,
    where somebody moved meanwhile what was to be moved, where this branch and the remote's have parted and where what
    lost cannot be taken back; ``InvalidError`` where there is no remote, or none that answers.
    """
    side = _open(workspace)
    first: Report | None = None
    for tries in range(1, TRIES + 1):
        with side.taking_back():
            tip = side.catch_up()
        before, held = side.head(), side.uncommitted()
        report = attempt() if first is None else side.again(attempt, first)
        made = side.made(report, before, held)
        if _missed(report):
            return _told(report, None, _not_pushed(report, overtaken(workspace, first, report) if first else None))
        if first is not None:
            side.refuse_overtaken(first, report, made)
        first = first or report
        commit = made.new if made else side.head()
        if commit is None or not _to_push(report, commit, before, tip):
            return _told(report, None)
        with side.taking_back(made):
            if side.pushed(commit, tip, made):
                return _told(report, side.row(commit, tries))
        if made:
            side.undo(made)
    with side.taking_back():
        message = f"{side.upstream.shown} moved {TRIES} times while this was judged and pushed{_AS_BEFORE}"
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
class _Move:
    """A step of the branch from ``old`` (None: no commit) to ``new`` that this command made, and nobody else.

    ``written`` are the files that came with it, by their names from the repository's root; ``held`` are the records
    and frozen files that no commit held before it.
    """

    old: str | None
    new: str
    written: frozenset[str]
    held: Mapping[Path, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """This side of the remote: the workspace, its repository and what its branch follows."""

    workspace: Workspace
    repository: git.Repository
    upstream: Upstream
    forwards: list[_Move] = field(default_factory=list)
    """The steps forward to the remote's state, oldest first."""

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
                raise self._parted(head, tip)
            held = self.uncommitted()
            fast_forward(self._place, tip, self._out_of_the_way(held))
            written = frozenset(changed_between(self._place, head, tip))
            self.forwards.append(_Move(old=head, new=tip, written=written, held=held))
        return tip

    def made(self, report: Report, before: str | None, held: Mapping[Path, bytes]) -> _Move | None:
        """Return the step that an attempt made by its own commit; None if it made none, or somebody else made it."""
        commit = report.data.get("commit")
        if not commit or commit == before:
            return None
        parents = parents_of(self._place, commit)
        old = parents[0] if parents else None
        names = changed_between(self._place, old, commit)
        folders, root = self._folders(), self.repository.root
        ours = all(any((root / name).is_relative_to(folder) for folder in folders) for name in names)
        if len(parents) > 1 or not ours:  # somebody committed the record, with more, before the command could
            return None
        written = {self._name(self.workspace.root / file) for file in report.data.get("files", ())}
        return _Move(old=old, new=commit, written=frozenset(written.intersection(names)), held=held)

    def again(self, attempt: Callable[[], Report], first: Report) -> Report:
        """Run one more attempt; one that fails because somebody was faster says who."""
        try:
            return attempt()
        except PawlError:
            self.refuse_overtaken(first, None, None)
            raise

    def refuse_overtaken(self, first: Report, again: Report | None, made: _Move | None) -> None:
        """Take back an attempt that moves what somebody moved since the first one, and raise ``ConflictError``."""
        if said := overtaken(self.workspace, first, again):
            with self.taking_back(made):
                hint = "git pull, look at what is live now, and run the command again only if it is still wanted"
                raise ConflictError(f"{said} before this was pushed{_AS_BEFORE}", code="push-lost-race", hint=hint)

    def pushed(self, commit: str, tip: str | None, made: _Move | None) -> bool:
        """Push, and return whether the commit is there by this push; False if somebody else was faster."""
        pushed = self.upstream.push(commit)
        if pushed.there and made:
            return False  # somebody did the very same in the same second, and their push was the first
        return pushed.done or self.arrived(commit, tip, pushed, made=made is not None)

    def arrived(self, commit: str, tip: str | None, pushed: Pushed, *, made: bool) -> bool:
        """Whether a push that Git calls failed is there all the same; False if somebody else was faster.

        A commit that was ``made`` just now, that the remote said no to and that is there, is somebody else's.
        Raises ``InvalidError`` where the remote refused or could not be reached.
        """
        now = self.upstream.tip()
        if now not in {None, tip, commit}:
            self.upstream.fetch(now or "")
        if now == commit or (now is not None and now != tip and contains(self._place, now, commit)):
            return not (made and pushed.rejected) or self._is_built_on(commit, now)
        if now != tip or pushed.raced:
            return False
        if pushed.rejected:
            message = f"{self.upstream.shown} refused the push: {pushed.said}{_AS_BEFORE}"
            raise InvalidError(message, code="push-refused", hint="ask whoever looks after the remote; nothing is lost")
        message = f"the push to {self.upstream.shown} did not get there: {pushed.said}{_AS_BEFORE}"
        raise InvalidError(message, code="push-unreachable", hint="run the command again")

    def uncommitted(self) -> dict[Path, bytes]:
        """Return the records and frozen files that no commit holds yet: they are somebody's, and stay."""
        paths = self.repository.uncommitted([folder for folder in self._folders() if folder.exists()])
        return {path: path.read_bytes() for path in paths if path.is_file()}

    @contextmanager
    def taking_back(self, made: _Move | None = None) -> Iterator[None]:
        """On an error, undo ``made`` and the steps forward; where something stays, the error says so.

        The steps forward are of the remote's own history, so that one that stays is a warning and no conflict.
        """
        try:
            yield
        except PawlError as error:
            try:
                if made:
                    self.undo(made)
            except ConflictError as stays:
                stays.problems = (*stays.problems, *_without_promise(error.problems))
                raise stays from error
            try:
                while self.forwards:
                    self.undo(self.forwards[-1])
                    self.forwards.pop()
            except ConflictError as stays:
                warnings = tuple(replace(problem, severity="warning") for problem in stays.problems)
                error.problems = (*_without_promise(error.problems), *warnings)
            raise

    def undo(self, move: _Move) -> None:
        """Take one step back with its files, if it is the last one and all of them are as it left them.

        Raises ``ConflictError`` where anything of somebody else's came after it; then all of it stays.
        """
        try:
            with self._locked():
                names = changed_between(self._place, move.old, move.new)
                self._refuse_others(move, names)
                held = {self._name(path): data for path, data in move.held.items()}
                kept = {name for name in names if name in held or name not in move.written}
                take_back(self._place, self.upstream.branch, move.old, move.new, kept, self._rank)
                for name in move.written & held.keys():
                    path = self.repository.root / name
                    if not path.is_file() or path.read_bytes() != held[name]:
                        replace_file(path, held[name])
        except (PawlError, OSError) as error:
            if isinstance(error, ConflictError) and error.problems[0].code == "push-not-taken-back":
                raise
            raise stays_here(move.new, str(error)) from error

    def _refuse_others(self, move: _Move, names: Iterable[str]) -> None:
        """Raise ``ConflictError`` if somebody built on a step or changed its files; the caller holds the lock."""
        if self.repository.branch() != self.upstream.branch.removeprefix("refs/heads/"):
            raise stays_here(move.new, "another branch was checked out meanwhile")
        if self.head() != move.new:
            raise stays_here(move.new, "the branch was moved meanwhile")
        changed = self.repository.uncommitted([self.repository.root / name for name in names])
        later = [path for path in self.uncommitted() if path not in move.held and self._is_record(path)]
        if found := sorted({self._name(path) for path in (*changed, *later)}):
            raise stays_here(move.new, f"somebody changed or added meanwhile: {', '.join(found)}")

    def _is_built_on(self, commit: str, now: str) -> bool:
        """Whether what the remote has now was built on a commit here: another command here pushed both."""
        head = self.head()
        return head is not None and now != commit and contains(self._place, head, now)

    def _name(self, path: Path) -> str:
        """Return a file's name from the repository's root, which has no links in it."""
        full = path.parent.resolve() / path.name
        return full.relative_to(self.repository.root).as_posix()

    @property
    def _place(self) -> Place:
        return self.upstream.place

    def _rank(self, name: str) -> int:
        """Return the turn of a file: what a record speaks of goes after the record, as nothing else may be left."""
        path = self.repository.root / name
        if path.is_relative_to(self.workspace.projections):
            return 0
        return 1 if self._is_record(path) else 2

    def _is_record(self, path: Path) -> bool:
        return path.is_relative_to(self.workspace.releases) and not path.is_relative_to(self.workspace.evidence)

    def _locked(self) -> Lock:
        self.workspace.make_private()
        return Lock(self.workspace.lock_file, timeout=LOCK_SECONDS)

    def _folders(self) -> tuple[Path, ...]:
        """Return the folders in which all is written by pawl alone."""
        return self.workspace.releases, self.workspace.versions, self.workspace.projections

    def _out_of_the_way(self, held: Iterable[Path]) -> str:
        """Return what to do where this side cannot move forward: nothing of it may lose what somebody wrote."""
        said = "commit or move away what is in the way"
        paths = tuple(held)
        folders = [folder for folder in self._folders() if any(path.is_relative_to(folder) for path in paths)]
        if not folders:
            return said
        names = " ".join(self.workspace.relative(folder) for folder in folders)
        stash = f"in the workspace: git stash push --include-untracked -- {names}"
        return f"{said}; where that is a record of a command that was killed, {stash}; then run that command again"

    def _parted(self, head: str, tip: str) -> ConflictError:
        """Return the error where both sides have commits: its hint keeps all that this side alone has."""
        here = self.upstream.branch.removeprefix("refs/heads/")
        there = f"{self.upstream.shown}/{self.upstream.ref.removeprefix('refs/heads/')}"
        message = f"{here} and {there} have parted: each has commits that the other does not; nothing was changed"
        lost = lacking(self._place, tip, head, [self._name(folder) for folder in self._folders()])
        if not lost:
            hint = "none of the commits here holds a record: git pull --rebase, and run the command again"
            return ConflictError(message, code="push-parted", hint=hint)
        others = [commit for commit, _ in lacking(self._place, tip, head) if commit not in dict(lost)]
        back = f"git cherry-pick {' '.join(others)} for the commits without records; then " if others else ""
        more = f"; and {len(lost) - SHOWN} more" if len(lost) > SHOWN else ""
        records = "; ".join(f"{commit} {subject}" for commit, subject in lost[:SHOWN]) + more
        hint = (
            f"journals are never merged: git branch -f kept-{head[:12]} && git reset --keep {tip[:12]}; then {back}"
            f"run the commands again whose records are lost: {records}"
        )
        return ConflictError(message, code="push-parted", hint=hint)


def _to_push(report: Report, commit: str, before: str | None, tip: str | None) -> bool:
    """Whether there is something to push: a refusal is a record too, and so is what an earlier command left here."""
    if report.status in {"would", "would-refuse"} or commit == tip:
        return False
    return commit != before or report.exit_code == 0


def _missed(report: Report) -> bool:
    return any(problem.code == "not-committed" for problem in report.problems)


def _told(report: Report, row: Mapping[str, Any] | None, missed: Problem | None = None) -> Report:
    data = {**report.data, "pushed": row}
    if missed is None:
        return replace(report, data=data)
    # the record stands, so it is done; what was asked for is not, and whoever reads the exit code alone must hear of it
    return replace(report, data=data, exit_code=report.exit_code or 1, problems=(*report.problems, missed))


def _not_pushed(report: Report, faster: str | None) -> Problem:
    """Return the problem of a record that Git could not commit; ``faster`` says who moved first what it moved."""
    if report.status == "unchanged":
        message = "what earlier commands recorded is not committed, and so nothing was pushed"
        return Problem(code="not-pushed", message=message, hint="once what Git said is mended, run the command again")
    files = " ".join(quote(file) for file in report.data.get("files", ()))
    message = f"recorded here, not committed and not pushed; do not repeat the command. Its files: {files}"
    if faster:
        hint = f"in the workspace, to take it back: git stash push --include-untracked -- {files}"
        return Problem(code="not-pushed", message=f"{faster} before this; it is {message}", hint=hint)
    hint = (
        f"in the workspace: git add -- {files} && git commit -m 'what pawl recorded' -- {files} && git push; "
        "or the next other writing command with --push does it"
    )
    return Problem(code="not-pushed", message=message, hint=hint)


def _without_promise(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return problems that do not say that all is as before."""
    return tuple(replace(problem, message=problem.message.removesuffix(_AS_BEFORE)) for problem in problems)
