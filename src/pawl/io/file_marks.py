"""Marks: what the system says of a file, by which a change of it is seen without reading it.

The same test as Git's index makes: size, inode and both times to the nanosecond. The time of the last change of the
inode is in it, which no program can set. A file that was touched within the last moments before it was looked at has
no mark, since a second change could fall into the same tick of the file system's clock.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from typing import TypeAlias

Mark: TypeAlias = str
"""Two marks of one path are equal where nothing was written to the file in between."""

SETTLED_NS = 2_000_000_000
"""How old a change must be: file systems keep times in steps of up to two seconds."""


def mark_of(status: os.stat_result, now_ns: int) -> Mark | None:
    """Return the mark of a regular file looked at when the clock said ``now_ns``; None where it may still change.

    Take ``now_ns`` before the file is read, and the status from ``fstat`` of what is read or from ``lstat``, so that
    whatever happens after it is a change that the next look sees.
    """
    if not stat.S_ISREG(status.st_mode):
        return None
    newest = max(status.st_mtime_ns, status.st_ctime_ns)
    if newest > now_ns - SETTLED_NS:  # also a time that is still to come
        return None
    return same_mark(status)


def same_mark(status: os.stat_result) -> Mark:
    """Return the mark that a file has now, to be compared with one that was taken before."""
    return f"{status.st_dev:x}.{status.st_ino:x}.{status.st_size:x}.{status.st_mtime_ns:x}.{status.st_ctime_ns:x}"


def folder_mark(status: os.stat_result, now_ns: int) -> Mark | None:
    """Return the mark of a folder, which changes with any name that comes, goes or changes directly in it."""
    newest = max(status.st_mtime_ns, status.st_ctime_ns)
    if not stat.S_ISDIR(status.st_mode) or newest > now_ns - SETTLED_NS:
        return None
    return same_mark(status)
