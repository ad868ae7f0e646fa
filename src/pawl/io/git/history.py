"""What a branch's own history says of files that are only ever added: each commit that changed or removed one.

One ``git log`` over every commit that HEAD has behind it, with all parents of each merge: a merge that drops what one
of its parents held is a removal, whichever parent comes first. Ids, not contents, are compared, so nothing is fetched.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from pawl.io.git.process import run
from pawl.io.git.repository import REGULAR, Repository

_LOG = (
    "--no-replace-objects",
    *("log", "--topo-order", "--full-history", "--sparse", "-m", "--raw", "--no-abbrev", "-z", "--format=%H"),
    *("--no-renames", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--diff-filter=DMT", "HEAD", "--"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alteration:
    """One commit that changed or removed one file. ``name`` is from the repository's root, ``before`` and ``after`` are
    the ids of its contents; there is no ``after`` where it was removed."""

    commit: str
    name: str
    before: str
    after: str | None


def alterations(repository: Repository, folders: Sequence[PurePosixPath]) -> tuple[Alteration, ...]:
    """Return every change and removal of a file below some folders (from the root) that led to HEAD, newest first.

    What only became executable, or no longer is, has not changed. Raises ``InvalidError`` where Git cannot say.
    """
    names = [os.fsencode(str(folder)) for folder in folders]
    done = run(repository.root, *_LOG, *names, GIT_NO_LAZY_FETCH="1")
    return tuple(_read(iter(done.stdout.split(b"\x00"))))


def _read(pieces: Iterator[bytes]) -> Iterator[Alteration]:
    commit = ""
    for piece in pieces:
        text = piece.strip(b"\n")
        if not text.startswith(b":"):
            commit = text.decode("ascii") or commit
            continue
        old_mode, new_mode, before, after, _ = text[1:].decode("ascii").split()
        name = os.fsdecode(next(pieces))
        if before == after and {old_mode, new_mode} <= REGULAR:
            continue
        gone = not after.strip("0")
        yield Alteration(commit=commit, name=name, before=before, after=None if gone else after)
