"""Which Git processes a command starts, and that none of them outlives it, however it ends."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pawl.io.files import Lock
from pawl.workspace import Workspace
from support import FIRST, Shop, git, in_process

PROMOTE = ("promote", *FIRST, "--to", "staging", "--reason", "a release")


@pytest.fixture
def ready(tmp_path: Path) -> Shop:
    """Two versions published; no copy of a set-up, which has packs, and those are read by one more process."""
    root = tmp_path / "shop"
    root.mkdir()
    shop = Shop(root)
    shop.start_in_git()
    shop.adopt()
    shop.pawl("publish")
    return shop


@pytest.fixture
def started(ready: Shop, monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Return the processes that were started so far."""
    found: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen.__init__

    def init(self: subprocess.Popen[bytes], *words: object, **more: object) -> None:
        real(self, *words, **more)  # type: ignore[call-overload]
        found.append(self)

    monkeypatch.setattr(subprocess.Popen, "__init__", init)
    return found


def commands(started: list[subprocess.Popen[bytes]]) -> list[str]:
    """Return what Git was started for, sorted."""
    known = {"var", "update-ref", "update-index", "cat-file", "hash-object", "status", "rev-parse", "write-tree"}
    return sorted(str(word) for process in started for word in process.args if word in known)  # type: ignore[union-attr]


def none_is_left(started: list[subprocess.Popen[bytes]]) -> bool:
    """Whether each process was ended and waited for."""
    return all(process.returncode is not None for process in started)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (PROMOTE, ["update-index", "update-ref", "var"]),
        (("freeze", "staging", "--reason", "x", "--until", "2090-01-01"), ["update-index", "update-ref", "var"]),
        ((*PROMOTE, "--dry-run"), ["var"]),
        ((*PROMOTE, "--no-commit"), ["var"]),
        (("publish",), ["var"]),
        (("list",), []),
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else "",
)
def test_what_a_command_starts(
    ready: Shop, started: list[subprocess.Popen[bytes]], words: tuple[str, ...], wanted: list[str]
) -> None:
    ready.pawl(*words)
    assert (commands(started), none_is_left(started)) == (wanted, True)


def test_publishing_starts_no_more_and_notes_its_source_by_itself(
    ready: Shop, started: list[subprocess.Popen[bytes]]
) -> None:
    ready.edit("procedures/support/refund-draft.yaml", ("version: 1.0.0", "version: 1.0.1"))
    assert ready.codes(ready.pawl("publish"), "note") == ["source-uncommitted"]
    assert (commands(started), none_is_left(started)) == (["update-index", "update-ref", "var"], True)


@pytest.mark.parametrize("mark", ["skip-worktree", "assume-unchanged"])
def test_a_projection_that_git_is_told_to_look_away_from_is_committed_and_stays_so(
    ready: Shop, started: list[subprocess.Popen[bytes]], mark: str
) -> None:
    ready.pawl(*PROMOTE)
    projection = "registry/channels/staging.json"
    git(ready.root, "update-index", f"--{mark}", projection)
    started.clear()
    commit = ready.pawl("halt", "support/refund", "--channel", "staging", "--reason", "a defect")["commit"]
    assert commands(started) == ["update-index", "update-ref", "var"]
    assert git(ready.root, "status", "--porcelain") == ""
    ready.write("users.txt", "the user's own\n")
    git(ready.root, "add", "users.txt")
    git(ready.root, "commit", "-q", "-m", "the user's next")
    assert git(ready.root, "diff", "--name-only", commit, "HEAD") == "users.txt\n"
    ready.pawl("verify")


def _lock_is_held(_shop: Shop, patched: pytest.MonkeyPatch) -> None:
    patched.setattr("pawl.releases.applying.LOCK_SECONDS", 0.05)


def _branch_is_another(shop: Shop, _patched: pytest.MonkeyPatch) -> None:
    shop.edit("registry/registry.yaml", ("format: 1", "format: 1\nbranch: main"))
    git(shop.root, "switch", "-q", "-c", "side")


def _index_is_held(shop: Shop, patched: pytest.MonkeyPatch) -> None:
    patched.setattr("pawl.io.git.index.INDEX_LOCK_SECONDS", 0.05)
    (shop.root / ".git" / "index.lock").touch()


def _objects_are_packed(shop: Shop, _patched: pytest.MonkeyPatch) -> None:
    git(shop.root, "gc", "-q", "--prune=now")


@pytest.mark.parametrize(
    ("trouble", "codes"),
    [
        (_lock_is_held, ["locked"]),
        (_branch_is_another, ["wrong-branch"]),
        (_index_is_held, ["not-committed"]),
        (_objects_are_packed, []),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_no_process_is_left_however_a_command_ends(
    ready: Shop,
    started: list[subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
    trouble: Callable[[Shop, pytest.MonkeyPatch], None],
    codes: list[str],
) -> None:
    trouble(ready, monkeypatch)
    started.clear()
    workspace = Workspace(ready.root)
    if trouble is _lock_is_held:
        with Lock(workspace.lock_file, timeout=1):
            ended = in_process("-C", str(ready.root), *PROMOTE, "-o", "json")
    else:
        ended = in_process("-C", str(ready.root), *PROMOTE, "-o", "json")
    answer = json.loads(ended.out)
    found = [row["code"] for row in answer["problems"] if row["severity"] != "note"]
    assert found == codes
    assert started
    assert none_is_left(started)
