"""The index of a work tree: whether it can be had, and entries that follow what was committed."""

from __future__ import annotations

import time
from collections.abc import Sequence

from pawl.errors import ConflictError, InvalidError
from pawl.io.git.place import Place
from pawl.io.git.process import ANY_END, run, why
from pawl.io.steps import step

INDEX_LOCK_SECONDS = 2.0
"""How long another Git process may hold the index before we give up: editors look at the state all the time."""

UPDATE = ("update-index", "--add", "--remove", "-z", "--stdin")
"""Entries become what the work tree holds now, through the filters that attributes name, as ``git add`` does it."""

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


def follow(place: Place, names: Sequence[bytes]) -> None:
    """Make the entries of these files what the work tree holds.

    Raises ``ConflictError`` if somebody else holds the index, ``InvalidError`` if Git cannot write it.
    """
    deadline = time.monotonic() + INDEX_LOCK_SECONDS
    while True:
        step("git.update-index")
        done = run(place.root, *UPDATE, stdin=b"\x00".join([*names, b""]), answers=ANY_END)
        if not done.returncode:
            return
        if b"index.lock" not in done.stderr:
            raise InvalidError(f"Git could not write the index: {why(done)}", code="git-failed")
        if time.monotonic() >= deadline:
            raise _held(place)
        time.sleep(0.05)


def _held(place: Place) -> ConflictError:
    message = f"another Git process holds the index of {place.root}; nothing was committed"
    hint = f"wait for it to end; if none runs, remove {place.git_dir / 'index.lock'}"
    return ConflictError(message, code="git-index-locked", hint=hint)
