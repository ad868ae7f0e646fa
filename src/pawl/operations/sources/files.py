"""The files below a source folder, looked at once each and opened where they must be, relative to their own folder.

The order, and what is passed over, are those of ``Workspace.sources``. What is odd in any way (a link, a folder named
like a file, what cannot be looked at) comes without a status, and is for the careful reader to tell.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pawl.errors import InvalidError
from pawl.io.file_marks import Mark, folder_mark, mark_of, same_mark

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
_FILE = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


class Seen(NamedTuple):
    """One file. ``path`` is from the workspace's root; ``status`` is there for plain files alone."""

    path: str
    name: str
    folder: int
    """The open folder, until the next file is asked for."""
    status: os.stat_result | None


class Folders:
    """Folders that held nothing but certain files when they were marked; one that shows no change still does.

    Whether their files changed is seen by looking at each, as everywhere.
    """

    def __init__(self, marks: dict[str, Mark], paths: Iterable[str]) -> None:
        """``marks`` are those of all folders, empty for one to be listed; ``paths`` those of all files in them."""
        self.marks = marks
        self.changed = False
        self._paths = paths
        self._held: dict[str, list[str]] | None = None
        self._inner: dict[str, list[str]] = {}

    def inside(self, here: str) -> tuple[list[str], list[str]]:
        """Return the paths of the files and of the folders in a folder."""
        if self._held is None:
            self._held = _by_folder(self._paths)
            self._inner = _by_folder(self.marks)
        return self._held.get(here, []), self._inner.get(here, [])

    def note(self, here: str, mark: Mark | None, files: list[str]) -> None:
        """Keep the mark of a folder that was listed, if it holds exactly the files that are known."""
        mark = mark if mark is not None and files == sorted(self.inside(here)[0]) else ""
        self.changed |= self.marks.get(here) != mark
        self.marks[here] = mark


def _by_folder(paths: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(path.rpartition("/")[0], []).append(path)
    return found


def files_of(root: Path, folder: Path, known: Folders) -> Iterator[tuple[str, os.stat_result | None]]:
    """Yield the paths of the same files as ``files_below``, each with its status; folders that are known not listed."""
    if not _is_plain(root, folder):
        yield from ((seen.path, None) for seen in files_below(root, folder))
        return
    waiting = [folder.relative_to(root).as_posix()]
    while waiting:
        here = waiting.pop()
        now = time.time_ns()
        try:
            status = os.lstat(f"{root}/{here}")
        except OSError as error:
            _refuse_unless_gone(root, here, error)
            continue
        mark = known.marks.get(here)
        if mark and mark == same_mark(status):
            files, inner = known.inside(here)
            yield from ((path, _looked_at(f"{root}/{path}")) for path in files)
            waiting += inner
            continue
        listed = _files_in(root, here)
        if listed is None:
            continue
        names, folders, odd = listed
        known.note(here, None if odd else folder_mark(status, now), [f"{here}/{name}" for name in names])
        yield from ((f"{here}/{name}", None if name in odd else _looked_at(f"{root}/{here}/{name}")) for name in names)
        waiting += [f"{here}/{name}" for name in folders]


def _files_in(root: Path, here: str) -> tuple[list[str], list[str], set[str]] | None:
    handle = _opened(root, here)
    if handle is None:
        return None
    try:
        return _listed(root, here, handle)
    finally:
        os.close(handle)


def _opened(root: Path, here: str) -> int | None:
    """Return a folder to be listed; None for one that is not there."""
    try:
        return os.open(f"{root}/{here}", _FOLDER)
    except OSError as error:
        _refuse_unless_gone(root, here, error)
        return None


def _refuse_unless_gone(root: Path, here: str, error: OSError) -> None:
    """Raise ``InvalidError`` for a folder that is there and cannot be listed: it must not pass for an empty one."""
    if error.errno not in _GONE:
        raise InvalidError(f"cannot read {root}/{here}: {error.strerror}", code="cannot-read") from error


def _looked_at(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def files_below(root: Path, folder: Path) -> Iterator[Seen]:
    """Yield every file and link below a folder of a workspace, hidden ones passed over."""
    plain = _is_plain(root, folder)
    waiting = [folder.relative_to(root).as_posix()]
    while waiting:
        here = waiting.pop()
        handle = _opened(root, here)
        if handle is None:
            continue
        try:
            names, folders, odd = _listed(root, here, handle)
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


def _listed(root: Path, here: str, handle: int) -> tuple[list[str], list[str], set[str]]:
    """Return the names of files, of folders to go into, and which of the first are odd."""
    try:
        return _names(handle)
    except OSError as error:
        raise InvalidError(f"cannot read {root}/{here}: {error.strerror}", code="cannot-read") from error


def _names(handle: int) -> tuple[list[str], list[str], set[str]]:
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
