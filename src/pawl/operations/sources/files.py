"""The files below a source folder: each is looked at once, and opened where it shows a change.

The order, and what is passed over, are those of ``Workspace.sources``. What was known before is compared in bulk, since
there may be many files and nearly all of them are as they were: a folder that shows no change still holds the same
names, and whether its files changed is seen by looking at each. What is odd in any way (a link, a folder named like a
file, what cannot be looked at) shows a change at every look, and is for the careful reader to tell.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress, count
from operator import attrgetter, ne
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pawl.errors import InvalidError
from pawl.io.file_marks import folder_mark, mark_of

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
_FILE = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY

PackedMark: TypeAlias = bytes
"""What ``io.file_marks`` calls a mark, in a fixed length, so that those of many files are one piece of memory."""

_FORM = struct.Struct("=QQQqq")
_shown = attrgetter("st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")
UNMARKED: PackedMark = bytes(_FORM.size)
"""What no file shows: the mark of one that is to be opened, or of a folder that is to be listed."""


class Known(NamedTuple):
    """What was found before: files and folders in their order, with their marks one behind the other."""

    paths: Sequence[str]
    marks: bytes
    folders: Sequence[str]
    folder_marks: bytes


class Looked(NamedTuple):
    """What is there now. ``paths`` are from the workspace's root."""

    paths: Sequence[str]
    """Every file and link, in order; the very sequence that was known where no name came or went."""
    differing: Sequence[int]
    """The places among them of those that show another mark than was known."""
    folders: Mapping[str, PackedMark]
    """Every folder with its mark, believed if all of its files are known; none where nothing may be remembered."""


def look(root: Path, folder: Path, known: Known, *, notes: str | None = None) -> Looked:
    """Look at every file below a folder of a workspace, hidden ones passed over.

    ``notes`` is the ending of plain files that are text for people and no business of ours.
    """
    top = folder.relative_to(root).as_posix()
    if not _is_plain(root, folder):
        paths = [f"{here}/{name}" for here, names in _walked(root, top, notes) for name in names]
        return Looked(paths, range(len(paths)), {})
    if known.folders and not _differing(root, known.folders, known.folder_marks):
        folders = dict(zip(known.folders, split_marks(known.folder_marks), strict=True))
        return Looked(known.paths, _differing(root, known.paths, known.marks), folders)
    paths, folders = _listed_anew(root, top, known, notes)
    marks = dict(zip(known.paths, split_marks(known.marks), strict=True))
    return Looked(paths, _differing(root, paths, b"".join(marks.get(path, UNMARKED) for path in paths)), folders)


def split_marks(marks: bytes) -> Iterator[PackedMark]:
    """Yield each of many marks."""
    return (marks[start : start + _FORM.size] for start in range(0, len(marks), _FORM.size))


def packed(status: os.stat_result) -> PackedMark:
    """Return the mark that a file or folder has now; ``UNMARKED`` for times that no clock shows."""
    try:
        return _FORM.pack(*_shown(status))
    except struct.error:
        return UNMARKED


def settled(status: os.stat_result, now_ns: int) -> PackedMark:
    """Return the mark of a file looked at at ``now_ns``; ``UNMARKED`` where it may still change (``mark_of``)."""
    return packed(status) if mark_of(status, now_ns) is not None else UNMARKED


def _differing(root: Path, paths: Sequence[str], marks: bytes) -> list[int]:
    """Return the places of those that do not show their mark, or are not there. No step of it is Python's own."""
    looks = map(os.lstat, map(f"{root}/".__add__, paths))
    known = _FORM.iter_unpack(marks)
    try:
        return list(compress(count(), map(ne, map(_shown, looks), known)))
    except (OSError, ValueError):
        known = _FORM.iter_unpack(marks)
        shown = (_shown_at(f"{root}/{path}") for path in paths)
        return [place for place, (now, mark) in enumerate(zip(shown, known, strict=True)) if now != mark]


def _shown_at(path: str) -> tuple[int, ...] | None:
    try:
        found: tuple[int, ...] = _shown(os.lstat(path))
    except (OSError, ValueError):
        return None
    return found


def _listed_anew(root: Path, top: str, known: Known, notes: str | None) -> tuple[list[str], dict[str, PackedMark]]:
    """Return the files and the folders that are there; folders that show no change are not listed."""
    marks = dict(zip(known.folders, split_marks(known.folder_marks), strict=True))
    held, inner = _by_folder(known.paths), _by_folder(known.folders)
    paths: list[str] = []
    found: dict[str, PackedMark] = {}
    waiting = [top]
    while waiting:
        here = waiting.pop()
        now = time.time_ns()
        try:
            status = os.lstat(f"{root}/{here}")
        except OSError as error:
            _refuse_unless_gone(root, here, error)
            continue
        mark = marks.get(here, UNMARKED)
        if mark != UNMARKED and mark == packed(status):
            found[here] = mark
            paths += held.get(here, ())
            waiting += reversed(inner.get(here, ()))
        elif (listed := _listed(root, here, notes)) is not None:
            names, folders = listed
            found[here] = packed(status) if folder_mark(status, now) is not None else UNMARKED
            paths += [f"{here}/{name}" for name in names]
            waiting += [f"{here}/{name}" for name in reversed(folders)]
    return paths, found


def _by_folder(paths: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(path.rpartition("/")[0], []).append(path)
    return found


def _walked(root: Path, top: str, notes: str | None) -> Iterator[tuple[str, list[str]]]:
    """Yield each folder with the names of its files."""
    waiting = [top]
    while waiting:
        here = waiting.pop()
        if (listed := _listed(root, here, notes)) is not None:
            names, folders = listed
            yield here, names
            waiting += [f"{here}/{name}" for name in reversed(folders)]


def _refuse_unless_gone(root: Path, here: str, error: OSError) -> None:
    """Raise ``InvalidError`` for a folder that is there and cannot be listed: it must not pass for an empty one."""
    if error.errno not in _GONE:
        raise InvalidError(f"cannot read {root}/{here}: {error.strerror}", code="cannot-read") from error


def read_quickly(path: str, limit: int) -> tuple[bytes, PackedMark] | None:
    """Return the bytes of a plain file of at most ``limit`` bytes, and its mark; None where anything is odd."""
    now = time.time_ns()
    try:
        looked = os.lstat(path)
        if not stat.S_ISREG(looked.st_mode) or looked.st_size > limit:
            return None
        handle = os.open(path, _FILE)
    except OSError:
        return None
    try:
        status = os.fstat(handle)
        data = os.read(handle, status.st_size + 1)
        if not stat.S_ISREG(status.st_mode) or len(data) != status.st_size or len(data) > limit:
            return None
        return data, settled(status, now)
    except OSError:
        return None
    finally:
        os.close(handle)


def _is_plain(root: Path, folder: Path) -> bool:
    """Whether no link leads to a folder: what is behind one can change without a trace in its files."""
    parts = folder.relative_to(root).parts
    return not any(root.joinpath(*parts[:length]).is_symlink() for length in range(1, len(parts) + 1))


def _listed(root: Path, here: str, notes: str | None) -> tuple[list[str], list[str]] | None:
    """Return the names of files and of folders to go into; None for a folder that is not there."""
    try:
        handle = os.open(f"{root}/{here}", _FOLDER)
    except OSError as error:
        _refuse_unless_gone(root, here, error)
        return None
    try:
        return _names(handle, notes)
    except OSError as error:
        raise InvalidError(f"cannot read {root}/{here}: {error.strerror}", code="cannot-read") from error
    finally:
        os.close(handle)


def _names(handle: int, notes: str | None) -> tuple[list[str], list[str]]:
    names: list[str] = []
    folders: list[str] = []
    with os.scandir(handle) as entries:
        for entry in entries:
            name = entry.name
            if name.startswith(".") or (notes and name.endswith(notes) and entry.is_file(follow_symlinks=False)):
                continue
            goes_into = entry.is_dir(follow_symlinks=False) and not name.endswith(".yaml")
            (folders if goes_into else names).append(name)
    return sorted(names), sorted(folders)
