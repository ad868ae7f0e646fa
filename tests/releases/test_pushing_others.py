"""A push that fails while others write in the same checkout: what they did stays, all of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from pawl.errors import InvalidError
from pawl.io import steps
from pawl.io.git import remote as git_remote
from pawl.io.git.process import start
from pawl.operations import pushing
from releases.test_pushing import HALT, PROMOTE, before_each_push, no_hook, other, remote, state, tip
from support import Shop, git

__all__ = ["no_hook", "other", "remote"]

FREEZE = ("freeze", "production", "--reason", "theirs", "--until", "2099-01-01")


@pytest.fixture
def waiting(shop: Shop, remote: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A remote behind an SSH that does what it is told, as somebody else in this checkout, and then cannot connect."""
    program = tmp_path / "ssh"

    def tell(*lines: str, on: str = "receive-pack") -> None:
        script = f"""#!/bin/sh
exec 2>>{tmp_path}/said
unset $(env | sed -n 's/^\\(GIT_[A-Z_]*\\)=.*/\\1/p')
for last in "$@"; do :; done
case "$last" in *{on}*) cd '{shop.root}' && {{ {" && ".join(lines)}; }} >&2; exit 255;; esac
exec sh -c "$last"
"""
        program.write_text(script, encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    monkeypatch.setenv("GIT_SSH", str(program))
    monkeypatch.setenv("GIT_SSH_VARIANT", "simple")
    git(shop.root, "remote", "set-url", "origin", f"ssh://host.invalid{remote}".replace(" ", "%20"))
    return tell


@pytest.mark.parametrize("on", ["upload-pack", "receive-pack"])
def test_a_commit_of_a_person_stays(shop: Shop, waiting: Callable[..., None], on: str) -> None:
    started = tip(shop.root)
    waiting("echo mine > notes.txt", "git add notes.txt", "git commit -qm notes -- notes.txt", on=on)
    answer = shop.pawl(*PROMOTE, "--push", code=1 if on == "upload-pack" else 5)
    assert git(shop.root, "log", "--format=%s", "-1") == "notes\n"
    assert shop.read("notes.txt") == "mine\n"
    assert git(shop.root, "status", "--porcelain") == ""
    if on == "upload-pack":  # nothing was made, so nothing is taken back
        assert shop.codes(answer) == ["push-unreachable"]
        assert tip(shop.root, "HEAD^") == started
    else:
        assert shop.codes(answer) == ["push-not-taken-back", "push-unreachable"]
        assert "nothing was changed" not in str(answer)
        assert tip(shop.root, "HEAD^^") == started
        assert shop.version("support/refund", "staging") == "1.0.0"
    shop.pawl("verify")


@pytest.mark.parametrize("committed", [True, False])
def test_a_record_of_another_command_stays(shop: Shop, remote: Path, committed: bool) -> None:
    def somebody(_: int) -> None:
        shop.pawl(*FREEZE, *(() if committed else ("--no-commit",)))
        remote.rename(remote.with_name("away"))

    before_each_push(somebody)
    answer = shop.pawl(*PROMOTE, "--push", code=5)
    assert shop.codes(answer) == ["push-not-taken-back", "push-unreachable"]
    assert shop.files("releases/production").keys() == {"releases/production/000001.json"}
    assert shop.version("support/refund", "staging") == "1.0.0"
    shop.pawl("verify")
    steps.hook = None
    remote.with_name("away").rename(remote)
    shop.pawl(*HALT, "--push")
    assert tip(remote) == tip(shop.root)
    assert git(shop.root, "status", "--porcelain") == ""


def test_a_record_left_uncommitted_just_before_stays(shop: Shop, remote: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look = pushing._Side.uncommitted
    turns: list[int] = []

    def then_somebody(side: pushing._Side) -> dict[Path, bytes]:
        found = look(side)
        if not turns:
            turns.append(1)
            shop.pawl(*FREEZE, "--no-commit")
        return found

    monkeypatch.setattr(pushing._Side, "uncommitted", then_somebody)
    before_each_push(lambda _: remote.rename(remote.with_name("away")))
    started = tip(shop.root)
    assert shop.codes(shop.pawl(*PROMOTE, "--push", code=1)) == ["push-unreachable"]
    assert tip(shop.root) == started
    assert shop.files("releases/production").keys() == {"releases/production/000001.json"}
    assert not (shop.root / "releases" / "staging" / "000001.json").exists()


def test_an_edit_of_another_file_stays(shop: Shop, waiting: Callable[..., None]) -> None:
    started = tip(shop.root)
    waiting("echo '# mine' >> registry/registry.yaml", "echo new > new.txt", "git add new.txt")
    assert shop.codes(shop.pawl(*PROMOTE, "--push", code=1)) == ["push-unreachable"]
    assert tip(shop.root) == started
    assert sorted(git(shop.root, "status", "--porcelain").splitlines()) == [" M registry/registry.yaml", "A  new.txt"]
    assert shop.read("registry/registry.yaml").endswith("# mine\n")


@pytest.mark.parametrize("staged", [False, True])
def test_an_edit_of_a_file_of_the_commit_keeps_the_commit(
    shop: Shop, waiting: Callable[..., None], staged: bool
) -> None:
    started = tip(shop.root)
    name = "registry/channels/staging.json"
    waiting(f"echo >> {name}", *(["git add -A"] if staged else []))
    answer = shop.pawl(*PROMOTE, "--push", code=5)
    assert shop.codes(answer) == ["push-not-taken-back", "push-unreachable"]
    assert name in answer["problems"][0]["message"]
    assert tip(shop.root, "HEAD^") == started
    assert git(shop.root, "status", "--porcelain") == (f"M  {name}\n" if staged else f" M {name}\n")


def test_another_branch_checked_out_meanwhile_stays(shop: Shop, waiting: Callable[..., None]) -> None:
    waiting("git switch -qc side")
    answer = shop.pawl(*PROMOTE, "--push", code=5)
    assert shop.codes(answer) == ["push-not-taken-back", "push-unreachable"]
    assert git(shop.root, "branch", "--show-current") == "side\n"
    assert tip(shop.root, "side") == tip(shop.root, "main")
    assert git(shop.root, "status", "--porcelain") == ""


def test_a_step_forward_is_undone_or_said_to_stay(shop: Shop, remote: Path, other: Shop) -> None:
    other.write("theirs.txt", "theirs")
    git(other.root, "add", "theirs.txt")
    git(other.root, "commit", "-qm", "theirs")
    git(other.root, "push", "-q")
    started = state(shop)
    before_each_push(lambda _: remote.rename(remote.with_name("away")))
    assert shop.codes(shop.pawl(*PROMOTE, "--push", code=1)) == ["push-unreachable"]
    assert state(shop) == started

    remote.with_name("away").rename(remote)

    def edit(_: int) -> None:
        shop.write("theirs.txt", "edited")
        remote.rename(remote.with_name("away"))

    before_each_push(edit)
    answer = shop.pawl(*PROMOTE, "--push", code=1)
    assert (shop.codes(answer, "error"), shop.codes(answer, "warning")) == (
        ["push-unreachable"],
        ["push-not-taken-back"],
    )
    assert tip(shop.root) == tip(other.root)
    assert git(shop.root, "status", "--porcelain") == " M theirs.txt\n"
    assert not (shop.root / "releases" / "staging").exists()


def test_both_commits_pushed_by_another_command_here(shop: Shop, remote: Path) -> None:
    before_each_push(lambda turn: shop.pawl(*FREEZE, "--push") if turn == 1 else None)
    answer = shop.pawl(*PROMOTE, "--push")
    assert answer["pushed"]["tries"] == 1
    assert tip(remote) == tip(shop.root) != answer["pushed"]["commit"]


def test_what_a_hanging_git_started_is_ended_with_it(
    shop: Shop, waiting: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_remote, "NETWORK_SECONDS", 2)
    pids, pipe = tmp_path / "pids", tmp_path / "alive"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    waiting(f"exec 7>'{pipe}'", f"echo $$ > '{pids}'", "sleep 300", on="upload-pack")
    answer = shop.pawl(*PROMOTE, "--push", code=1)
    assert shop.codes(answer) == ["push-unreachable"]
    assert pids.exists()
    os.set_blocking(reading, True)
    assert os.read(reading, 1) == b""  # comes only when the last that held the other end is gone
    os.close(reading)


def test_a_git_that_was_killed_is_named(shop: Shop) -> None:
    with start(shop.root, "-c", "a.b=c", "cat-file", "--batch") as running:
        running._process.kill()
        with pytest.raises(InvalidError, match=r"git cat-file was ended by signal 9") as caught:
            running.result()
    assert caught.value.hint == "run the command again"
