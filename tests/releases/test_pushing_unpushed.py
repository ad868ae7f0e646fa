"""--push where this side has commits that the remote lacks, or records that Git could not commit."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pawl.io.git import index
from releases.test_pushing import HALT, PROMOTE, no_hook, other, remote, state, tip
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


def follow(shop: Shop, answer: dict[str, Any]) -> list[str]:
    """Do what the hint of a refused push says, as the shell does it, and return the commands."""
    commands = re.findall(r"git [^;,]*?(?=[;,]| for the commits)", answer["problems"][0]["hint"])
    for command in commands:
        subprocess.run(command, shell=True, check=True, cwd=shop.root, capture_output=True)  # noqa: S602 - as people do
    return commands


def test_commits_without_records_are_rebased(shop: Shop, remote: Path, other: Shop) -> None:
    own_commit(other, "theirs.txt")
    git(other.root, "push", "-q")
    own_commit(shop)
    shop.write("notes.txt", "mine, not committed")
    started = state(shop)
    answer = shop.pawl(*PROMOTE, "--push", code=5)
    assert shop.codes(answer) == ["push-parted"]
    assert "reset" not in answer["problems"][0]["hint"]
    assert state(shop) == started
    git(shop.root, "commit", "-q", "-a", "-m", "the rest")
    assert follow(shop, answer) == ["git pull --rebase"]
    assert shop.pawl(*PROMOTE, "--push")["pushed"]["commit"] == tip(remote)
    assert shop.read("notes.txt") == "mine, not committed"


def test_what_a_reset_would_lose_is_kept_and_named(shop: Shop, remote: Path, other: Shop) -> None:
    other.pawl(*PROMOTE[:-1], "theirs", "--push")
    first = own_commit(shop)
    shop.pawl(*PROMOTE)
    record = tip(shop.root)
    second = own_commit(shop, "more.txt")
    shop.edit("registry/registry.yaml", ("format: 1", "format: 1 # mine, not committed"))
    answer = shop.pawl(*HALT, "--push", code=5)
    assert shop.codes(answer) == ["push-parted"]
    subject = git(shop.root, "log", "-1", "--format=%s", record).strip()
    assert answer["problems"][0]["hint"].endswith(f"whose records are lost: {record[:12]} {subject}")
    keep, pick = follow(shop, answer)
    assert keep == f"git branch -f kept-{second[:12]} && git reset --keep {tip(remote)[:12]}"
    assert pick == f"git cherry-pick {first[:12]} {second[:12]}"
    assert tip(shop.root, f"kept-{second[:12]}") == second
    assert (shop.read("notes.txt"), shop.read("more.txt")) == ("mine", "mine")
    assert "mine, not committed" in shop.read("registry/registry.yaml")
    assert shop.pawl(*HALT, "--push")["pushed"]["commit"] == tip(remote)
    shop.pawl("verify")


def test_many_lost_records_are_counted(shop: Shop, remote: Path, other: Shop) -> None:
    own_commit(other)
    git(other.root, "push", "-q")
    for day in range(1, 8):
        shop.pawl("freeze", "staging", "--reason", "r", "--until", f"2099-01-0{day}")
    answer = shop.pawl(*PROMOTE, "--push", code=5)
    assert answer["problems"][0]["hint"].endswith("; and 2 more")
    assert "cherry-pick" not in answer["problems"][0]["hint"]


def test_a_record_in_the_way_is_put_aside_and_nothing_else(shop: Shop, remote: Path, other: Shop) -> None:
    other.pawl(*PROMOTE[:-1], "theirs", "--push")
    shop.pawl(*PROMOTE, "--no-commit")
    shop.write("notes.txt", "mine")
    git(shop.root, "add", "notes.txt")
    shop.edit("registry/registry.yaml", ("format: 1", "format: 1 # mine"))
    started = state(shop)
    answer = shop.pawl(*PROMOTE, "--push", code=5)
    assert shop.codes(answer) == ["push-blocked"]
    assert state(shop) == started
    (stash,) = follow(shop, answer)
    assert stash.startswith("git stash push --include-untracked -- releases registry/")
    assert shop.read("notes.txt") == "mine"
    assert "# mine" in shop.read("registry/registry.yaml")
    assert shop.pawl(*PROMOTE, "--push")["status"] == "unchanged"
    assert tip(shop.root) == tip(remote)
    assert "releases/staging/000001.json" in git(shop.root, "stash", "show", "--include-untracked", "--name-only")
    shop.pawl("verify")


def test_what_an_earlier_command_left_and_cannot_be_committed_now_is_not_told_as_pushed(
    shop: Shop, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tip(remote)
    _branch_lock(shop, monkeypatch)
    shop.pawl(*PROMOTE)
    answer = shop.pawl(*PROMOTE, "--push", code=1)
    assert (answer["status"], shop.codes(answer)) == ("unchanged", ["not-pushed"])
    assert "run the command again" in answer["problems"][-1]["hint"]
    assert (answer["pushed"], tip(remote)) == (None, there)
    _mend(shop)
    answer = shop.pawl(*PROMOTE, "--push")
    assert answer["status"] == "unchanged"
    assert answer["pushed"]["commit"] == tip(remote) == tip(shop.root) != there
    assert git(shop.root, "status", "--porcelain") == ""
