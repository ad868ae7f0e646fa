"""Killed at each named step: the state is wholly old or wholly new, and the next command needs no repair."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from pawl.cli.main import run
from pawl.io import steps
from support import FIRST, SECOND, Shop, git


def killed_at(shop: Shop, words: tuple[str, ...], turn: int) -> bool:
    """Run a command in a child that kills itself before its ``turn``-th step; False where it ended before that."""
    child = os.fork()
    if child == 0:  # pragma: no cover - it never comes back
        count = 0

        def hook(_: str) -> None:
            nonlocal count
            count += 1
            if count == turn:
                os.kill(os.getpid(), signal.SIGKILL)

        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        steps.hook = hook
        try:
            run(["-C", str(shop.root), *words, "-o", "json"])
        except SystemExit as ended:
            os._exit(ended.code if isinstance(ended.code, int) else 0)
        os._exit(99)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def adopt(shop: Shop) -> tuple[str, ...]:
    return ("policy", "adopt", "--reason", "rules")


def publish(shop: Shop) -> tuple[str, ...]:
    shop.adopt()
    return ("publish",)


def promote(shop: Shop) -> tuple[str, ...]:
    shop.adopt()
    shop.pawl("publish")
    return ("promote", *FIRST, "--to", "staging", "--reason", "first")


def rollback(shop: Shop) -> tuple[str, ...]:
    shop.release_first()
    shop.second()
    shop.pawl("publish")
    shop.promote(*SECOND, to="staging")
    return ("rollback", "support/refund", "--to", "1.0.0", "--channel", "staging", "--reason", "worse")


@pytest.mark.slow
@pytest.mark.parametrize("prepare", [adopt, publish, promote, rollback])
def test_killed_at_every_step(shop: Shop, prepare: Callable[[Shop], tuple[str, ...]]) -> None:
    words = prepare(shop)
    start = git(shop.root, "rev-parse", "HEAD").strip()
    before = shop.files()
    turn = 0
    while True:
        turn += 1
        git(shop.root, "reset", "-q", "--hard", start)
        git(shop.root, "clean", "-qfd", "registry", "releases")
        assert shop.files() == before
        if not killed_at(shop, words, turn):
            break
        assert "error" not in {problem["severity"] for problem in shop.pawl("verify")["problems"]}
        again = shop.pawl(*words)
        assert again["status"] in {"done", "unchanged"}, again
        shop.pawl("publish")
        if git(
            shop.root, "status", "--porcelain", "registry", "releases"
        ):  # all was done: any further record commits it
            shop.pawl("yank", "support/refund@1.0.0", "--reason", "a further command")
        assert git(shop.root, "status", "--porcelain", "registry", "releases") == "", f"killed before step {turn}"
        assert {problem["code"] for problem in shop.pawl("verify")["problems"]} == set()
    assert turn > 5
