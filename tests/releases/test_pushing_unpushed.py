"""--push where this side has commits that the remote lacks, or records that Git could not commit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pawl.io.git import index
from releases.test_pushing import PROMOTE, no_hook, other, remote, tip
from support import Shop, git

__all__ = ["no_hook", "other", "remote"]


def own_commit(shop: Shop, name: str = "notes.txt") -> str:
    """Commit a file that is no record, and return the commit."""
    shop.write(name, "mine")
    git(shop.root, "add", name)
    git(shop.root, "commit", "-q", "-m", f"my {name}", "--", name)
    return tip(shop.root)


def _index_lock(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "INDEX_LOCK_SECONDS", 0.01)
    shop.write(".git/index.lock", "")


def _branch_lock(shop: Shop, _: pytest.MonkeyPatch) -> None:
    shop.write(".git/refs/heads/main.lock", "")


def _no_key(shop: Shop, _: pytest.MonkeyPatch) -> None:
    git(shop.root, "config", "commit.gpgsign", "true")
    git(shop.root, "config", "gpg.program", "/nowhere/gpg")


def _mend(shop: Shop) -> None:
    for name in (".git/index.lock", ".git/refs/heads/main.lock"):
        (shop.root / name).unlink(missing_ok=True)
    git(shop.root, "config", "commit.gpgsign", "false")


@pytest.mark.parametrize("damage", [_index_lock, _branch_lock, _no_key])
@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (PROMOTE, "done", 1),
        pytest.param((*PROMOTE[:-4], "--to", "production", "--reason", "r"), "refused", 3, marks=pytest.mark.slow),
    ],
)
def test_what_was_not_committed_is_not_told_as_pushed(
    shop: Shop,
    remote: Path,
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[Shop, pytest.MonkeyPatch], None],
    words: tuple[str, ...],
    status: str,
    code: int,
) -> None:
    own_commit(shop)
    there = tip(remote)
    damage(shop, monkeypatch)
    answer = shop.pawl(*words, "--push", code=code)
    assert (answer["status"], answer["pushed"], answer["commit"]) == (status, None, None)
    assert "not-committed" in shop.codes(answer, "warning")
    assert shop.codes(answer)[-1] == "not-pushed"
    assert tip(remote) == there
    _mend(shop)
    shop.pawl("freeze", "production", "--reason", "r", "--until", "2099-01-01", "--push")
    assert tip(remote) == tip(shop.root)
    assert git(shop.root, "status", "--porcelain") == ""
