"""A mark is the same as long as a file is, and one that was just written has none."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pawl.io.file_marks import SETTLED_NS, folder_mark, mark_of, same_mark

LATER = SETTLED_NS * 10


def rewritten(path: Path) -> None:
    path.write_bytes(b"two")


def rewritten_with_its_old_time(path: Path) -> None:
    before = path.stat()
    path.write_bytes(b"two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(b"one")
    other.replace(path)


@pytest.mark.parametrize("change", [rewritten, rewritten_with_its_old_time, replaced])
def test_a_change_is_seen(tmp_path: Path, change: Callable[[Path], None]) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one")
    first = same_mark(path.lstat())
    assert same_mark(path.lstat()) == first
    while same_mark(path.lstat()) == first:  # until the file system's clock has moved on
        change(path)
    assert mark_of(path.lstat(), time.time_ns() + LATER) == same_mark(path.lstat()) != first


def test_what_was_just_written_has_no_mark(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one")
    written = path.lstat().st_ctime_ns
    assert mark_of(path.lstat(), written) is None
    assert mark_of(path.lstat(), written + SETTLED_NS - 1) is None
    assert mark_of(path.lstat(), written + SETTLED_NS) == same_mark(path.lstat())


def test_what_is_no_file_has_no_mark(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    now = time.time_ns() + LATER
    assert mark_of(tmp_path.lstat(), now) is None
    assert mark_of(link.lstat(), now) is None
    assert folder_mark(link.lstat(), now) is None


def test_a_folders_mark_changes_with_its_names(tmp_path: Path) -> None:
    now = time.time_ns() + LATER
    first = folder_mark(tmp_path.lstat(), now)
    assert first is not None
    while folder_mark(tmp_path.lstat(), now) == first:
        (tmp_path / "new").touch()
        (tmp_path / "new").unlink()
