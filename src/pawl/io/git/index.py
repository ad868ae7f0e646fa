"""The index of a work tree: whether it can be had, and entries that follow what was committed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence

from pawl.errors import ConflictError, InvalidError
from pawl.io.git.place import Place
from pawl.io.git.process import ANY_END, run, why
from pawl.io.git.settings import Settings
from pawl.io.git.staged import Hidden, Staged
from pawl.io.steps import step

INDEX_LOCK_SECONDS = 2.0
"""How long another Git process may hold the index before we give up: editors look at the state all the time."""

UPDATE = ("update-index", "--add", "--remove", "-z", "--stdin")
"""Entries become what the work tree holds now, through the filters that attributes name, as ``git add`` does it."""

_SHOWN = ("ls-files", "-z", "-v", "--stage", "--")
_MOST_ARGUMENTS = 100_000

_UNFINISHED = {"MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert"}


def refuse_unfinished(place: Place) -> None:
    """Raise ``ConflictError`` in the middle of a merge: a commit would end it with half of its changes."""
    for file, action in _UNFINISHED.items():
        if (place.git_dir / file).exists():
            message = f"a {action} is unfinished in this work tree, nothing is committed into it"
            raise ConflictError(message, code="git-unfinished", hint=f"finish or abort the {action} first")


def wait_for_index(place: Place) -> None:
    """Wait while somebody else holds the index; raises ``ConflictError`` after ``INDEX_LOCK_SECONDS``."""
    deadline = time.monotonic() + INDEX_LOCK_SECONDS
    while (place.git_dir / "index.lock").exists():
        if time.monotonic() >= deadline:
            raise _held(place)
        time.sleep(0.05)


def follow(place: Place, settings: Settings, names: Sequence[bytes]) -> None:
    """Make the entries of these files what the work tree holds, also where Git was told to look away from one.

    A file that is there loses its ``assume-unchanged`` or ``skip-worktree``: with the mark Git would keep the entry of
    before, or drop it, and the next commit would undo this one. The marks of files that are not there stay.
    Raises ``ConflictError`` if somebody else holds the index, ``InvalidError`` if Git cannot write it.
    """
    deadline = time.monotonic() + INDEX_LOCK_SECONDS
    while True:
        step("git.update-index")
        update = _update(_hidden(place, settings, names))
        done = run(place.root, *update, stdin=b"\x00".join([*names, b""]), answers=ANY_END)
        if not done.returncode:
            return
        if b"index.lock" not in done.stderr:
            raise InvalidError(f"Git could not write the index: {why(done)}", code="git-failed")
        if time.monotonic() >= deadline:
            raise _held(place)
        time.sleep(0.05)


def _update(hidden: Sequence[Hidden]) -> tuple[str | bytes, ...]:
    """Return the command; an entry that is put in the place of a hidden one is like any other, and then updated."""
    if not hidden:
        return UPDATE
    shown = (word for entry in hidden for word in ("--cacheinfo", entry.told()))
    return ("-c", "core.ignoreStat=false", *UPDATE[:-2], *shown, *UPDATE[-2:])


def _hidden(place: Place, settings: Settings, names: Sequence[bytes]) -> tuple[Hidden, ...]:
    """Return the entries of files that are there, and that Git is told to look away from."""
    there = [name for name in names if os.path.lexists(place.root / os.fsdecode(name))]
    staged = Staged(place, settings.digest_size)
    return tuple(staged.hidden(there) if staged.whole else _shown(place, there))


def _shown(place: Place, names: Sequence[bytes]) -> Iterator[Hidden]:
    """As ``Staged.hidden``, by asking Git."""
    if not names:
        return
    asked = names if sum(map(len, names)) <= _MOST_ARGUMENTS else ()
    wanted = frozenset(names)
    for row in run(place.root, *_SHOWN, *asked).stdout.split(b"\x00"):
        about, _, name = row.partition(b"\t")
        if name in wanted:
            tag, mode, blob, stage = about.decode("ascii").split()
            if (tag.islower() or tag == "S") and stage == "0":
                yield Hidden(mode, blob, name)


def _held(place: Place) -> ConflictError:
    message = f"another Git process holds the index of {place.root}; nothing was committed"
    hint = f"wait for it to end; if none runs, remove {place.git_dir / 'index.lock'}"
    return ConflictError(message, code="git-index-locked", hint=hint)
