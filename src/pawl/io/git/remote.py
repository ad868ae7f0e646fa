"""A branch and the one on a remote that it follows: fetched, pushed without force, and taken back.

A remote that does not answer within ``NETWORK_SECONDS`` is unreachable. Whether a push arrived is asked of the remote
and never read from what Git says, but for the reason that is shown.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import groupby

from pawl.errors import ConflictError, InvalidError
from pawl.io.git.place import Place
from pawl.io.git.process import ANY_END, run, start, why
from pawl.io.git.settings import Settings
from pawl.io.steps import step

NETWORK_SECONDS = 120
"""How long one fetch or push may take."""

_FETCH = ("--quiet", "--no-tags", "--no-prune", "--no-recurse-submodules", "--no-auto-maintenance")
_PUSH = ("--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no")
_SOMEBODY_ELSE = re.compile(
    r"fetch first|non-fast-forward|stale info|lock|failed to update ref|incorrect old value|already exists",
    re.IGNORECASE,
)
_SECRET = re.compile(r"(?<=://)[^/@\s]*@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """What a push came to.

    ``there`` says that the remote had this very commit before, ``rejected`` that it said no, ``raced`` that somebody
    else was at the branch.
    """

    done: bool
    there: bool = False
    rejected: bool
    raced: bool
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """The branch ``ref`` of ``remote`` that the branch ``branch`` here follows; both are whole names of references."""

    place: Place
    remote: str
    ref: str
    branch: str

    @property
    def shown(self) -> str:
        """The remote for people: its name, or its address without a password."""
        return _SECRET.sub("", self.remote)

    def tip(self) -> str | None:
        """Return the commit of the branch there, None if there is no such branch; raises ``InvalidError``."""
        step("git.ls-remote")
        done = _network(self.place, "ls-remote", "--quiet", self.remote, self.ref)
        if done is None or done.returncode:
            raise self._unreachable(done)
        for line in done.stdout.splitlines():
            commit, _, name = line.partition(b"\t")
            if name == os.fsencode(self.ref):
                return commit.decode("ascii", "replace")
        return None

    def fetch(self, commit: str) -> None:
        """Bring a commit of the branch here unless it is here; raises ``InvalidError``."""
        if self._has(commit):
            return
        step("git.fetch")
        done = _network(self.place, "fetch", *_FETCH, "--no-write-fetch-head", self.remote, self.ref)
        if done is None or done.returncode or not self._has(commit):
            raise self._unreachable(done)

    def push(self, commit: str) -> Pushed:
        """Push a commit to the branch there, only forward; hooks of this side are not run."""
        step("git.push")
        done = _network(self.place, "push", *_PUSH, self.remote, f"{commit}:{self.ref}")
        if done is None:
            return Pushed(done=False, rejected=False, raced=False, said=f"no answer in {NETWORK_SECONDS} seconds")
        lines = done.stdout.decode("utf-8", "replace").splitlines()
        rows = [line for line in lines if line.startswith("!\t")]
        there = any(line.startswith("=\t") for line in lines)
        said = rows[0].rpartition("\t")[2] if rows else why(done)
        raced = any(_SOMEBODY_ELSE.search(row) for row in rows)
        return Pushed(
            done=not done.returncode, there=there, rejected=bool(rows), raced=raced, said=_SECRET.sub("", said)
        )

    def _has(self, commit: str) -> bool:
        return not run(self.place.root, "cat-file", "-e", f"{commit}^{{commit}}", answers=ANY_END).returncode

    def _unreachable(self, done: subprocess.CompletedProcess[bytes] | None) -> InvalidError:
        said = _SECRET.sub("", why(done)) if done else f"no answer in {NETWORK_SECONDS} seconds"
        hint = "look with: git fetch; then run the command again"
        return InvalidError(f"{self.shown} could not be reached: {said}", code="push-unreachable", hint=hint)


def upstream(place: Place, settings: Settings, branch: str) -> Upstream | None:
    """Return what the branch, named in short, follows on a remote; None if Git was not told."""
    remote = settings.config.get(f"branch.{branch}.remote", "")
    ref = settings.config.get(f"branch.{branch}.merge", "")
    if not remote or remote == "." or remote.startswith("-") or not ref.startswith("refs/heads/"):
        return None
    return Upstream(place=place, remote=remote, ref=ref, branch=f"refs/heads/{branch}")


def contains(place: Place, newer: str, older: str) -> bool:
    """Whether a commit is another one or was built on it."""
    return not run(place.root, "merge-base", "--is-ancestor", older, newer, answers=(0, 1)).returncode


def lacking(place: Place, there: str, here: str, paths: Sequence[str] = ()) -> tuple[tuple[str, str], ...]:
    """Return the commits of ``here`` that ``there`` lacks, oldest first, each in short with its subject.

    With ``paths``, relative to the root, only those that touch one of them; merges are left out.
    """
    options = ("--reverse", "--no-merges", "--abbrev=12", "--format=%h %s", "--no-show-signature", "--no-color")
    done = run(place.root, "log", *options, f"{there}..{here}", "--", *paths)
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return tuple((commit, subject) for commit, _, subject in (line.partition(" ") for line in lines))


def fast_forward(place: Place, commit: str, hint: str) -> None:
    """Move branch, index and work tree forward; raises ``ConflictError`` with ``hint`` if changes are in the way."""
    step("git.fast-forward")
    options = ("--ff-only", "--quiet", "--no-stat", "--no-autostash")
    done = run(place.root, "merge", *options, commit, answers=ANY_END)
    if done.returncode:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())[:400] or "Git ended without a word"
        message = f"the remote is ahead, and this work tree cannot follow: {said}"
        raise ConflictError(message, code="push-blocked", hint=hint)


def parents_of(place: Place, commit: str) -> tuple[str, ...]:
    """Return the commits that a commit was built on; a shallow clone's oldest has none."""
    done = run(place.root, "rev-list", "--max-count=1", "--parents", commit, "--")
    return tuple(done.stdout.decode("ascii").split()[1:])


def changed_between(place: Place, old: str | None, new: str) -> tuple[str, ...]:
    """Return the files that differ between two commits, relative to the root."""
    done = run(place.root, "diff-tree", "-r", "-z", "--name-only", "--no-renames", old or _empty(new), new)
    return tuple(os.fsdecode(name) for name in done.stdout.split(b"\x00") if name)


def take_back(
    place: Place, branch: str, old: str | None, new: str, kept: Collection[str], rank: Callable[[str], int]
) -> None:
    """Move a branch from ``new`` back to ``old`` (None: to no commit), and its files with it, lowest ``rank`` first.

    The files ``kept`` stay as they are in the work tree. What others staged stays. Raises ``ConflictError`` if somebody
    built on ``new``, or if Git cannot write the files; the branch then is where it was.
    """
    names = changed_between(place, old, new)
    step("git.take-back")
    note = ("-m", "pawl: taken back")
    moved = (branch, old, new) if old else ("-d", branch, new)
    done = run(place.root, "update-ref", *note, *moved, answers=ANY_END)
    if done.returncode:
        raise stays_here(new, why(done))
    source = f"--source={old or _empty(new)}"
    written = [name for name in names if name not in kept]
    groups = [list(group) for _, group in groupby(sorted(written, key=rank), key=rank)]
    steps: list[tuple[tuple[str, ...], list[str]]] = [(("--staged", "--worktree"), group) for group in groups]
    steps.append((("--staged",), [name for name in names if name in kept]))
    for how, group in steps:
        if group:
            step("git.restore")
            stdin = b"\x00".join([*map(os.fsencode, group), b""])
            options = ("--pathspec-from-file=-", "--pathspec-file-nul")
            done = run(place.root, "restore", source, *how, *options, stdin=stdin, answers=ANY_END)
            if done.returncode:
                run(place.root, "update-ref", *note, branch, new, old or "0" * len(new), answers=ANY_END)
                raise stays_here(new, why(done))


def stays_here(new: str, said: str) -> ConflictError:
    """Return the error for a commit that was to be taken back and stays, with the reason ``said``."""
    message = f"the commit {new[:12]} was not pushed and could not be taken back: {said}"
    hint = "nothing is lost: once that is mended, any command with --push pushes it, or says what to do"
    return ConflictError(message, code="push-not-taken-back", hint=hint)


def _empty(like: str) -> str:
    """Return the id of the tree without entries, which every repository knows, in the digest of ``like``."""
    algorithm = "sha256" if len(like) == 64 else "sha1"
    return hashlib.new(algorithm, b"tree 0\x00", usedforsecurity=False).hexdigest()


def _network(place: Place, *arguments: str) -> subprocess.CompletedProcess[bytes] | None:
    """Run Git against a remote without asking anybody anything; None if it did not end in time.

    It has a session of its own: SSH finds no terminal to ask at, and is ended together with Git.
    """
    with start(place.root, *arguments, answers=ANY_END, alone=True, GIT_TERMINAL_PROMPT="0") as running:
        return running.result_within(NETWORK_SECONDS)
