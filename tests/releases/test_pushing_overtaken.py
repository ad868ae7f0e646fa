"""A command that lost a race never moves anything from another version than the one that it was to move from."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from releases.test_pushing import before_each_push, followed, no_hook, state, tip
from support import Shop, git

__all__ = ["no_hook"]

NAME = "support/refund-draft"
VERSIONS = ("1.0.0", "1.0.1", "1.0.2", "1.0.3")
ON = ("--channel", "staging", "--reason")
BACK = ("rollback", NAME, *ON)


def _versions(shop: Shop) -> None:
    shop.adopt()
    for old, new in zip(("1.0.0", *VERSIONS), VERSIONS, strict=False):
        shop.edit("procedures/support/refund-draft.yaml", (f"version: {old}", f"version: {new}"))
        shop.edit("procedures/support/refund-draft.yaml", ("You draft refunds", f"You draft refunds, {new}"))
        shop.pawl("publish", NAME)
        if new != VERSIONS[-1]:
            shop.promote(f"{NAME}@{new}", to="staging")
    git(shop.root, "commit", "-q", "-a", "-m", "versions")


@pytest.fixture
def remote(shop: Shop, tmp_path: Path) -> Path:
    """A bare repository with four published versions, of which the third is live and the newest was never."""
    shop.reach(_versions)
    return followed(shop, tmp_path)


@pytest.fixture
def other(remote: Path, tmp_path: Path) -> Shop:
    root = tmp_path / "other"
    subprocess.run(["git", "clone", "-q", "--template=", str(remote), str(root)], check=True)
    return Shop(root)


def rivals(other: Shop, *commands: tuple[str, ...]) -> None:
    """Let somebody else run and push commands before the first push."""

    def act(turn: int) -> None:
        for words in commands if turn == 1 else ():
            other.pawl(*words, "--push")

    before_each_push(act)


def promote(version: str) -> tuple[str, ...]:
    return ("promote", f"{NAME}@{version}", "--to", "staging", "--reason", "r")


@pytest.mark.parametrize("reason", ["mine", "theirs"])
def test_two_rollbacks_at_the_same_moment_go_back_once(shop: Shop, remote: Path, other: Shop, reason: str) -> None:
    shop.write("notes.txt", "mine")
    started = state(shop)
    rivals(other, (*BACK, "theirs"))
    answer = shop.pawl(*BACK, reason, "--push", code=5)
    assert shop.codes(answer) == ["push-lost-race"]
    said = answer["problems"][0]["message"]
    assert f"moved {NAME} from 1.0.2 to 1.0.1 (rollback, staging 4)" in said
    assert said.endswith("nothing was changed")
    assert state(shop) == started
    assert tip(remote) == tip(other.root)
    assert other.version(NAME, "staging") == "1.0.1"
    other.pawl("verify")


@pytest.mark.parametrize(
    "words",
    [
        promote("1.0.3"),
        ("rollback", NAME, "--to", "1.0.0", *ON, "r"),
        ("remove", NAME, *ON, "r"),
    ],
    ids=lambda words: words[0],
)
def test_whatever_moves_from_another_version_than_at_first_stops(
    shop: Shop, remote: Path, other: Shop, words: tuple[str, ...]
) -> None:
    started = state(shop)
    rivals(other, (*BACK, "theirs"))
    assert shop.codes(shop.pawl(*words, "--push", code=5)) == ["push-lost-race"]
    assert state(shop) == started
    assert tip(remote) == tip(other.root)


def test_a_rollback_without_a_way_back_any_more_says_who_was_faster(shop: Shop, remote: Path, other: Shop) -> None:
    """Judged again it would be a refusal, or an error; neither is what happened."""
    started = state(shop)
    rivals(other, (*BACK, "once"), (*BACK, "twice"))
    answer = shop.pawl(*BACK, "mine", "--push", code=5)
    assert shop.codes(answer) == ["push-lost-race"]
    assert "(rollback, staging 5)" in answer["problems"][0]["message"]
    assert state(shop) == started
    assert tip(remote) == tip(other.root)


def test_an_attempt_that_fails_because_somebody_was_faster_says_who(shop: Shop, remote: Path, other: Shop) -> None:
    """The target is the live version by now and no earlier one, which alone would be an error of another kind."""
    started = state(shop)
    rivals(other, ("remove", NAME, *ON, "theirs"))
    answer = shop.pawl(*BACK, "mine", "--push", code=5)
    assert shop.codes(answer) == ["push-lost-race"]
    assert f"moved {NAME} from 1.0.2 to nothing (remove, staging 4)" in answer["problems"][0]["message"]
    assert state(shop) == started


def test_what_is_live_again_or_already_so_is_no_lost_race(shop: Shop, remote: Path, other: Shop) -> None:
    rivals(other, (*BACK, "theirs"), ("unreject", f"{NAME}@1.0.2", *ON, "theirs"), promote("1.0.2"))
    answer = shop.pawl(*promote("1.0.3"), "--push")
    assert (answer["pushed"]["tries"], answer["moves"][0]["from"]) == (2, "1.0.2")
    rivals(other, (*BACK, "theirs"))
    answer = shop.pawl("rollback", NAME, "--to", "1.0.2", *ON, "mine", "--push")
    assert (answer["status"], answer["pushed"]) == ("unchanged", None)
    assert tip(shop.root) == tip(remote) == tip(other.root)


def test_another_name_that_moved_is_no_lost_race(shop: Shop, remote: Path, other: Shop) -> None:
    rivals(other, ("publish",), ("promote", "support/refund@1.0.0", "--to", "staging", "--reason", "theirs"))
    answer = shop.pawl(*BACK, "mine", "--push")
    assert (answer["pushed"]["tries"], answer["moves"][0]["to"], answer["serial"]) == (2, "1.0.1", 5)
    assert tip(shop.root) == tip(remote)


def test_one_that_could_not_be_committed_the_second_time_is_to_be_taken_back(
    shop: Shop, remote: Path, other: Shop
) -> None:
    def act(turn: int) -> None:
        if turn == 1:
            other.pawl(*BACK, "theirs", "--push")
            git(shop.root, "config", "commit.gpgsign", "true")
            git(shop.root, "config", "gpg.program", "/nowhere/gpg")

    before_each_push(act)
    answer = shop.pawl(*BACK, "mine", "--push", code=1)
    assert (answer["status"], shop.codes(answer)) == ("done", ["not-pushed"])
    said = answer["problems"][-1]
    assert f"moved {NAME} from 1.0.2 to 1.0.1 (rollback, staging 4)" in said["message"]
    command = said["hint"].partition(": ")[2]
    subprocess.run(command.split(), cwd=shop.root, check=True, capture_output=True)
    assert tip(shop.root) == tip(remote) == tip(other.root)
    assert shop.version(NAME, "staging") == "1.0.1"
    assert git(shop.root, "status", "--porcelain") == ""
    shop.pawl("verify")
