"""--push against real bare repositories: it gets there, or everything is as it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from budgets import sweep
from gits import git_in_front
from pawl.io import steps
from pawl.io.git import remote as git_remote
from support import FIRST, Shop, git, in_process

HALT = ("halt", "support/refund", "--channel", "staging", "--reason", "stop")
PROMOTE = ("promote", *FIRST, "--to", "staging", "--reason", "a release")


@pytest.fixture(autouse=True)
def no_hook() -> Iterator[None]:
    steps.hook = None
    yield
    steps.hook = None


@pytest.fixture
def remote(shop: Shop, tmp_path: Path) -> Path:
    """A bare repository that the shop's branch follows, with two versions published and nothing released."""
    shop.publish_first()
    return followed(shop, tmp_path)


def followed(shop: Shop, tmp_path: Path) -> Path:
    """Make a bare repository that the shop's branch follows."""
    bare = tmp_path / "bare remote.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(bare)], check=True)
    git(shop.root, "remote", "add", "origin", str(bare))
    git(shop.root, "push", "-q", "-u", "origin", "main")
    return bare


@pytest.fixture
def other(remote: Path, tmp_path: Path) -> Shop:
    """Another clone, of somebody who pushes as well."""
    root = tmp_path / "other"
    subprocess.run(["git", "clone", "-q", "--template=", str(remote), str(root)], check=True)
    return Shop(root)


def tip(root: Path, rev: str = "refs/heads/main") -> str:
    return git(root, "rev-parse", rev).strip()


def state(shop: Shop) -> tuple[Any, ...]:
    """Everything of one side that must be as it was."""
    status = git(shop.root, "status", "--porcelain", "--untracked-files=all")
    return tip(shop.root), git(shop.root, "ls-files", "-s"), status, shop.files("registry", "releases", "procedures")


def before_each_push(act: Callable[[int], object]) -> None:
    """Do something just before the n-th push of this process, and not before those of ``act`` itself."""
    turn = 0

    def hook(name: str) -> None:
        nonlocal turn
        if name == "git.push":
            turn += 1
            steps.hook = None
            act(turn)
            steps.hook = hook

    steps.hook = hook


def test_a_release_gets_to_the_remote(shop: Shop, remote: Path) -> None:
    answer = shop.pawl(*PROMOTE, "--push")
    commit = tip(shop.root)
    assert answer["pushed"] == {"remote": "origin", "branch": "main", "commit": commit, "tries": 1}
    assert answer["commit"] == commit == tip(remote)
    again = shop.pawl(*PROMOTE, "--push")
    assert (again["status"], again["pushed"]) == ("unchanged", None)
    assert f"pushed {tip(shop.root)[:12]} to origin main" not in in_process("-C", str(shop.root), "status").out
    assert "pushed nothing" in in_process("-C", str(shop.root), *PROMOTE, "--push").out


ON = ("--channel", "staging", "--reason", "r")
WRITING: list[tuple[tuple[str, ...], int]] = [
    (("publish",), 0),
    (("rollback", "support/refund", *ON), 3),
    (("remove", *[ref.partition("@")[0] for ref in FIRST], *ON), 0),
    (HALT, 0),
    (("resume", "support/refund-draft", *ON), 0),
    (("reject", FIRST[0], *ON), 0),
    (("unreject", FIRST[0], *ON), 0),
    (("freeze", "staging", "--reason", "r", "--until", "2099-01-01"), 0),
    (("unfreeze", "staging", "--reason", "r"), 0),
    (("approve", FIRST[0], *ON), 8),
    (("yank", FIRST[0], "--reason", "r"), 0),
    (("policy", "adopt", "--reason", "r", "--again"), 0),
    (("drill", "staging"), 1),
]
"""Commands on a channel with a halt and nothing earlier, and how each ends; what it recorded is pushed all the same."""


def _halted(shop: Shop) -> None:
    shop.publish_first()
    shop.pawl(*PROMOTE)
    shop.pawl("halt", "support/refund-draft", *ON)


BY_LINE = {" ".join(words[:2]): (words, code) for words, code in WRITING}
CHOSEN = (f"reject {FIRST[0]}", "rollback support/refund", f"approve {FIRST[0]}", "policy adopt", "drill staging")


@pytest.mark.parametrize("line", sweep(BY_LINE, *CHOSEN))
def test_every_writing_command_can_push(shop: Shop, tmp_path: Path, line: str) -> None:
    words, code = BY_LINE[line]
    shop.reach(_halted)
    remote = followed(shop, tmp_path)
    git(shop.root, "push", "-q", "--force", "origin", "HEAD~2:main")  # so that there is something to push
    head = tip(shop.root)
    answer = shop.pawl(*words, "--push", code=code)
    if tip(shop.root) != head or not code:
        assert answer["pushed"]["commit"] == tip(remote) == tip(shop.root)
    else:
        assert answer.get("pushed") is None


def test_a_refusal_is_a_record_and_pushed_too(shop: Shop, remote: Path) -> None:
    answer = shop.pawl(*PROMOTE[:-4], "--to", "production", "--reason", "r", "--push", code=3)
    assert answer["pushed"]["commit"] == tip(remote) == tip(shop.root)


def test_it_begins_at_the_newest_state_of_the_remote(shop: Shop, remote: Path, other: Shop) -> None:
    other.pawl(*PROMOTE, "--push")
    edited = shop.write("notes.txt", "mine")
    answer = shop.pawl(*HALT, "--push")
    assert answer["serial"] == 2
    assert tip(remote) == tip(shop.root)
    assert git(shop.root, "rev-list", "--merges", "HEAD") == ""
    assert edited.read_text(encoding="utf-8") == "mine"


def test_a_lost_race_is_judged_again_on_the_new_state(shop: Shop, remote: Path, other: Shop) -> None:
    shop.write("notes.txt", "mine")
    git(shop.root, "add", "notes.txt")

    def rival(turn: int) -> None:
        if turn == 1:
            other.pawl(*PROMOTE, "--push")

    before_each_push(rival)
    answer = shop.pawl("freeze", "staging", "--until", "2099-01-01", "--reason", "r", "--push")
    assert (answer["serial"], answer["pushed"]["tries"]) == (2, 2)
    assert answer["pushed"]["commit"] == tip(remote) == tip(shop.root)
    assert git(shop.root, "status", "--porcelain") == "A  notes.txt\n"
    assert shop.version("support/refund", "staging") == "1.0.0"
    shop.pawl("verify")
    other.pawl("publish", "--push")
    other.pawl("verify")
    assert tip(other.root) == tip(remote)


def test_after_a_lost_race_the_answer_can_be_another(shop: Shop, remote: Path, other: Shop) -> None:
    before_each_push(lambda turn: other.pawl(*PROMOTE, "--push") if turn == 1 else None)
    answer = shop.pawl(*PROMOTE, "--push")
    assert (answer["status"], answer["pushed"]) == ("unchanged", None)
    assert tip(shop.root) == tip(remote) == tip(other.root)


@pytest.mark.parametrize("left", [pytest.param(False, marks=pytest.mark.slow), True])
def test_three_lost_races_leave_everything_as_it_was(shop: Shop, remote: Path, other: Shop, left: bool) -> None:
    if left:
        shop.pawl("freeze", "production", "--until", "2099-01-01", "--reason", "kept here", "--no-commit")
    shop.write("registry/registry.yaml", shop.read("registry/registry.yaml") + "\n")
    shop.write("staged", "x")
    git(shop.root, "add", "staged")
    started = state(shop)

    def rival(turn: int) -> None:
        git(other.root, "commit", "-q", "--allow-empty", "-m", f"theirs {turn}")
        other.write(f"file-{turn}", "x")
        git(other.root, "add", f"file-{turn}")
        git(other.root, "commit", "-q", "-m", "a file")
        git(other.root, "push", "-q")

    before_each_push(rival)
    answer = shop.pawl(*PROMOTE, "--push", code=5)
    assert shop.codes(answer) == ["push-lost-race"]
    assert state(shop) == started
    assert tip(remote) == tip(other.root)
    shop.pawl("verify")
    steps.hook = None
    done = shop.pawl(*PROMOTE, "--push")
    assert done["pushed"]["tries"] == 1
    assert shop.codes(shop.pawl("verify"), "error") == []


LOSING = (
    "git.take-back",
    *(
        pytest.param(name, marks=pytest.mark.slow)
        for name in ("git.push", "git.ls-remote", "git.restore", "git.fetch", "git.fast-forward", "git.update-ref")
    ),
)

RIVAL = ("freeze", "staging", "--reason", "theirs")


def killed_while_losing(shop: Shop, other: Shop, name: str, turn: int) -> bool:
    """Run a command that loses its first race, in a child that is killed at the n-th step of a name."""
    child = os.fork()
    if child == 0:
        seen: list[str] = []

        def hook(step: str) -> None:
            seen.append(step)
            if seen.count(name) == turn and step == name:
                os.kill(os.getpid(), signal.SIGKILL)
            if step == "git.push" and seen.count(step) == 1:
                steps.hook = None
                in_process("-C", str(other.root), *RIVAL, "--until", f"20{90 + turn}-01-01", "--push")
                steps.hook = hook

        steps.hook = hook
        in_process("-C", str(shop.root), *HALT[:-1], "mine", "--push")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


@pytest.mark.parametrize("name", LOSING)
def test_killed_while_it_loses_a_race(shop: Shop, remote: Path, other: Shop, name: str) -> None:
    shop.pawl(*PROMOTE, "--push")
    killed = 0
    for turn in (1, 2):
        killed += killed_while_losing(shop, other, name, turn)
        assert shop.pawl("verify")["exit_code"] == 0
        following = ("freeze", "production", "--reason", "next", "--until", f"20{90 + turn}-02-02", "--push")
        ended = in_process("-C", str(shop.root), *following, "-o", "json")
        answer = json.loads(ended.out)
        if ended.code:
            assert (ended.code, *shop.codes(answer)) in {(5, "push-parted"), (5, "push-blocked")}
            git(shop.root, "reset", "-q", "--hard", "origin/main")
            shop.pawl(*following)
        assert git(shop.root, "status", "--porcelain") == ""
        assert tip(shop.root) == tip(remote)
        shop.pawl("verify")
        in_process("-C", str(other.root), "resume", "support/refund", *ON, "--push")  # for the next turn to halt it
    assert killed


def test_a_remote_that_cannot_be_reached(shop: Shop, remote: Path) -> None:
    started = state(shop)
    remote.rename(remote.with_name("away"))
    assert shop.codes(shop.pawl(*PROMOTE, "--push", code=1)) == ["push-unreachable"]
    assert state(shop) == started
    remote.with_name("away").rename(remote)
    before_each_push(lambda _: remote.rename(remote.with_name("away")))
    assert shop.codes(shop.pawl(*PROMOTE, "--push", code=1)) == ["push-unreachable"]
    steps.hook = None
    assert state(shop) == started
    remote.with_name("away").rename(remote)
    assert shop.pawl(*PROMOTE, "--push")["pushed"]["commit"] == tip(remote)


def test_a_password_in_the_address_is_not_shown(shop: Shop, remote: Path) -> None:
    git(shop.root, "config", "branch.main.remote", "https://ada:hunter2@localhost:1/x.git")
    answer = shop.pawl(*PROMOTE, "--push", code=1)
    assert shop.codes(answer) == ["push-unreachable"]
    assert "hunter2" not in str(answer)


def test_a_remote_that_gives_no_answer(
    shop: Shop, remote: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_remote, "NETWORK_SECONDS", 0.5)
    calls = git_in_front(tmp_path / "front", monkeypatch, "case \"$said\" in *' push '*) sleep 60;; esac")
    started = state(shop)
    assert shop.codes(shop.pawl(*PROMOTE, "--push", code=1)) == ["push-unreachable"]
    calls.stop()
    assert state(shop) == started


def test_a_hook_of_the_remote_that_refuses(shop: Shop, remote: Path) -> None:
    hook = remote / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho not today >&2\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    started = state(shop)
    answer = shop.pawl(*PROMOTE, "--push", code=1)
    assert shop.codes(answer) == ["push-refused"]
    assert "pre-receive hook declined" in answer["problems"][0]["message"]
    assert state(shop) == started
    hook.unlink()
    assert shop.pawl(*PROMOTE, "--push")["pushed"]["tries"] == 1


@pytest.mark.parametrize("arrives", [False, True])
def test_a_killed_push(
    shop: Shop, remote: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arrives: bool
) -> None:
    started = state(shop)
    first = '/usr/bin/env -u GIT_DIR "$real" "$@" >/dev/null 2>&1; ' if arrives else ""
    rule = f"case \"$said\" in *' push '*) {first}kill -9 $$;; esac".replace("$real", str(_real_git()))
    calls = git_in_front(tmp_path / "front", monkeypatch, rule)
    answer = shop.pawl(*PROMOTE, "--push", code=0 if arrives else 1)
    calls.stop()
    if arrives:
        assert answer["pushed"]["commit"] == tip(remote) == tip(shop.root)
    else:
        assert shop.codes(answer) == ["push-unreachable"]
        assert state(shop) == started
        assert shop.pawl(*PROMOTE, "--push")["pushed"]["commit"] == tip(remote)


def _real_git() -> Path:
    import shutil  # noqa: PLC0415 - where it is before something stands in front of it

    return Path(shutil.which("git") or "git")


@pytest.mark.parametrize("words", ["update-ref", "update-index"])
def test_a_commit_that_failed_is_pushed_by_the_next_command(
    shop: Shop, remote: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    there = tip(remote)
    rule = f"case \"$said\" in *' {words} -z '*|*' {words} --add '*) kill -9 $$;; esac"
    calls = git_in_front(tmp_path / "front", monkeypatch, rule)
    answer = shop.pawl(*PROMOTE, "--push", code=1)
    calls.stop()
    assert (answer["status"], shop.codes(answer, "warning")) == ("done", ["not-committed"])
    assert shop.codes(answer, "error") == ["not-pushed"]
    said = answer["problems"][-1]
    assert "do not repeat" in said["message"]
    assert all(file in said["message"] and file in said["hint"] for file in answer["files"])
    assert (answer["pushed"], tip(remote)) == (None, there)
    shop.pawl("verify")
    shop.pawl(*HALT, "--push")
    assert tip(remote) == tip(shop.root)
    assert git(shop.root, "status", "--porcelain") == ""


def test_what_was_not_pushed_before_goes_along(shop: Shop, remote: Path) -> None:
    shop.pawl(*PROMOTE)
    assert shop.pawl(*PROMOTE, "--push")["pushed"]["commit"] == tip(shop.root) == tip(remote)


def test_branches_that_parted_are_refused(shop: Shop, remote: Path, other: Shop) -> None:
    other.pawl(*PROMOTE[:-1], "theirs", "--push")
    shop.pawl(*PROMOTE)
    started = state(shop)
    answer = shop.pawl(*HALT, "--push", code=5)
    assert shop.codes(answer) == ["push-parted"]
    assert f"git reset --keep {tip(remote)[:12]}" in answer["problems"][0]["hint"]
    assert state(shop) == started


def test_a_work_tree_that_cannot_follow_is_refused(shop: Shop, remote: Path, other: Shop) -> None:
    other.edit("registry/registry.yaml", ("format: 1", "format: 1 # theirs"))
    git(other.root, "commit", "-q", "-a", "-m", "theirs")
    git(other.root, "push", "-q")
    shop.edit("registry/registry.yaml", ("format: 1", "format: 1 # mine"))
    started = state(shop)
    answer = shop.pawl(*PROMOTE, "--push", code=5)
    assert shop.codes(answer) == ["push-blocked"]
    assert "registry/registry.yaml" in answer["problems"][0]["message"]
    assert state(shop) == started


def test_without_anything_to_push_to(shop: Shop, plain_dir: Path) -> None:
    assert shop.codes(shop.pawl("publish", "--push", code=1)) == ["no-upstream"]
    git(shop.root, "config", "branch.main.remote", "--upload-pack=touch owned")
    git(shop.root, "config", "branch.main.merge", "refs/heads/main")
    assert shop.codes(shop.pawl("publish", "--push", code=1)) == ["no-upstream"]
    git(shop.root, "checkout", "-q", "--detach")
    assert shop.codes(shop.pawl("publish", "--push", code=1)) == ["no-upstream"]
    outside = Shop(plain_dir)
    outside.start()
    assert outside.codes(outside.pawl("publish", "--push", code=2)) == ["push-without-git"]
    ended = in_process("-C", str(plain_dir), "publish", "--push", "--no-commit")
    assert (ended.code, "--no-commit" in ended.err) == (2, True)


@pytest.fixture
def plain_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "plain"
    folder.mkdir()
    return folder


def test_a_dry_run_neither_fetches_nor_pushes(shop: Shop, remote: Path, other: Shop) -> None:
    other.pawl(*PROMOTE, "--push")
    started = state(shop)
    assert shop.pawl(*PROMOTE, "--dry-run", "--push")["status"] == "would"
    assert state(shop) == started


def test_the_first_push_to_an_empty_remote_and_back(shop: Shop, tmp_path: Path) -> None:
    bare = tmp_path / "empty.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "trunk", str(bare)], check=True)
    git(shop.root, "remote", "add", "origin", str(bare))
    git(shop.root, "config", "branch.main.remote", "origin")
    git(shop.root, "config", "branch.main.merge", "refs/heads/trunk")
    shop.adopt()
    answer = shop.pawl("publish", "--push")
    assert answer["pushed"]["branch"] == "trunk"
    assert tip(bare, "trunk") == tip(shop.root)


def test_a_branch_without_commits_is_taken_back_to_none(tmp_path: Path, shop: Shop) -> None:
    root, bare = tmp_path / "unborn", tmp_path / "refusing.git"
    root.mkdir()
    for words in (
        ["init", "-q", "-b", "main", str(root)],
        ["init", "-q", "--bare", "-b", "main", str(bare)],
    ):
        subprocess.run(["git", *words], check=True)
    hook = bare / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    unborn = Shop(root)
    unborn.start()
    git(root, "config", "branch.main.remote", str(bare))
    git(root, "config", "branch.main.merge", "refs/heads/main")
    started = unborn.files()
    assert unborn.codes(unborn.pawl("publish", "--push", code=1)) == ["push-refused"]
    assert unborn.files() == started
    assert git(root, "status", "--porcelain=v2", "--branch").splitlines()[0] == "# branch.oid (initial)"


def test_linked_work_trees_and_shallow_clones_push(shop: Shop, remote: Path, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{remote}", str(shallow)], check=True)
    assert Shop(shallow).pawl(*PROMOTE, "--push")["pushed"]["commit"] == tip(remote)
    linked = tmp_path / "linked tree"
    git(shop.root, "worktree", "add", "-q", "--track", "-b", "side", str(linked), "origin/main")
    answer = Shop(linked).pawl(*HALT, "--push")
    assert answer["pushed"]["branch"] == "main"
    assert answer["pushed"]["commit"] == tip(remote) == tip(shop.root, "side")
