"""The files below a source folder, looked at once each and opened where they must be, relative to their own folder.

The order, and what is passed over, are those of ``Workspace.sources``. What is odd in any way (a link, a folder named
like a file, what cannot be looked at) comes without a status, and is for the careful reader to tell.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pawl.io.file_marks import Mark, mark_of

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


class Seen(NamedTuple):
    """One file. ``path`` is from the workspace's root; ``status`` is there for plain files alone."""

    path: str
    name: str
    folder: int
    """The open folder, until the next file is asked for."""
    status: os.stat_result | None


def files_below(root: Path, folder: Path) -> Iterator[Seen]:
    """Yield every file and link below a folder of a workspace, hidden ones passed over."""
    plain = _is_plain(root, folder)
    waiting = [folder.relative_to(root).as_posix()]
    while waiting:
        here = waiting.pop()
        try:
            handle = os.open(f"{root}/{here}", _FOLDER)
        except OSError:
            continue  # what is not there, or cannot be listed, holds nothing
        try:
            names, folders, odd = _listed(handle)
            for name in names:
                status = _status(name, handle) if plain and name not in odd else None
                yield Seen(f"{here}/{name}", name, handle, status)
        finally:
            os.close(handle)
        waiting += [f"{here}/{name}" for name in reversed(folders)]


def read_quickly(seen: Seen, limit: int) -> tuple[bytes, Mark | None] | None:
    """Return the bytes of a plain file of at most ``limit`` bytes, and its mark; None where anything is odd."""
    if seen.status is None or seen.status.st_size > limit:
        return None
    now = time.time_ns()
    try:
        handle = os.open(seen.name, _FILE, dir_fd=seen.folder)
    except OSError:
        return None
    try:
        status = os.fstat(handle)
        data = os.read(handle, status.st_size + 1)
        if not stat.S_ISREG(status.st_mode) or len(data) != status.st_size or len(data) > limit:
            return None
        return data, mark_of(status, now)
    except OSError:
        return None
    finally:
        os.close(handle)


def _is_plain(root: Path, folder: Path) -> bool:
    """Whether no link leads to a folder: what is behind one can change without a trace in its files."""
    parts = folder.relative_to(root).parts
    return not any(root.joinpath(*parts[:length]).is_symlink() for length in range(1, len(parts) + 1))


def _listed(handle: int) -> tuple[list[str], list[str], set[str]]:
    """Return the names of files, of folders to go into, and which of the first are odd."""
    names: list[str] = []
    folders: list[str] = []
    odd: set[str] = set()
    with os.scandir(handle) as entries:
        for entry in entries:
            name = entry.name
            if name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False) and not name.endswith(".yaml"):
                folders.append(name)
                continue
            names.append(name)
            if not entry.is_file(follow_symlinks=False):
                odd.add(name)
    return sorted(names), sorted(folders), odd


def _status(name: str, handle: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=handle, follow_symlinks=False)
    except OSError:
        return None
