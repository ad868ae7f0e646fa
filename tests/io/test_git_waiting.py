"""The end of a Git process is waited for, also where the system has no descriptors of processes."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from pawl.io.git.process import run, start


def _none(_pid: int) -> int:
    raise OSError(errno.ENOSYS, "no such call")


@pytest.fixture(params=["descriptors", "an old kernel", "another system"])
def waiting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "an old kernel":
        monkeypatch.setattr(os, "pidfd_open", _none, raising=False)
    elif request.param == "another system":
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    return str(request.param)


def test_a_process_that_ends_is_waited_for(root: Path, waiting: str) -> None:
    assert run(root, "rev-parse", "--is-inside-work-tree").stdout == b"true\n"
    assert run(root, "rev-parse", "--verify", "HEAD", answers=(0, 128)).returncode == 128


def test_a_process_that_does_not_end_is_given_up(root: Path, waiting: str) -> None:
    command = ("-c", "alias.forever=!exec >/dev/null 2>&1; exec sleep 60", "forever")
    with start(root, *command, alone=True) as running:
        assert running.result_within(0.3) is None
