"""Frozen copies in check: each is looked at, those that show no change are not read, and no edit is missed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from pawl.io import file_marks
from pawl.operations.reviewing import frozen_copies
from pawl.operations.sources.files import packed
from pawl.operations.sources.memory import Row, open_sources
from pawl.registry.catalog import Published
from pawl.workspace import Workspace
from support import Shop

COPY = "registry/versions/support/refund/1.0.0.yaml"
TICK_NS = 12_000_000
"""More than the step in which file systems of Linux keep times, in nanoseconds."""


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_marks, "SETTLED_NS", TICK_NS)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every version whose copy is read."""
    seen: list[str] = []
    is_right = frozen_copies._is_right

    def noted(workspace: Workspace, version: Published) -> bool:
        seen.append(str(version.ref))
        return is_right(workspace, version)

    monkeypatch.setattr(frozen_copies, "_is_right", noted)
    return seen


@pytest.fixture
def frozen(shop: Shop) -> Shop:
    """A shop whose versions were published and looked at, and whose files have settled."""
    shop.publish_first()
    time.sleep(2 * TICK_NS / 1e9)
    shop.pawl("check")
    return shop


def sneak(path: Path) -> None:
    """Change a byte and keep size and time."""
    before = path.stat()
    data = path.read_bytes()
    path.write_bytes(data.replace(b"support", b"supporT", 1))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size


def test_only_copies_that_changed_are_read_again(frozen: Shop, read: list[str]) -> None:
    frozen.pawl("check")
    assert read == []
    os.utime(frozen.root / COPY)
    frozen.pawl("check")
    assert read == ["support/refund@1.0.0"]


def test_an_edit_that_keeps_size_and_time_is_seen(frozen: Shop) -> None:
    sneak(frozen.root / COPY)
    told = frozen.pawl("check", code=6)
    assert [(problem["code"], problem["path"]) for problem in told["problems"]] == [("frozen-changed", COPY)]
    assert told == frozen.pawl("check", code=6)  # it is not remembered as right


def test_a_copy_that_is_gone_is_told(frozen: Shop) -> None:
    (frozen.root / COPY).unlink()
    assert "frozen-changed" in frozen.codes(frozen.pawl("check", code=6))


def test_a_file_that_no_record_speaks_of_is_told_each_time(frozen: Shop) -> None:
    frozen.write("registry/versions/support/refund/9.0.0.yaml", "kind: tool\n")
    for _ in range(2):
        problems = frozen.pawl("check")["problems"]
        assert "file-unrecorded" in {problem["code"] for problem in problems}


def test_a_mark_of_other_bytes_than_those_published_counts_for_nothing(frozen: Shop, read: list[str]) -> None:
    workspace = Workspace(frozen.root)
    memory = open_sources(workspace)
    mark = packed((frozen.root / COPY).stat())
    memory.note(Row(COPY, "copy", "sha256:" + "0" * 64), mark, None)
    memory.save()
    frozen.pawl("check")
    assert read == ["support/refund@1.0.0"]
