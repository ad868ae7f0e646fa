"""Killed before calls that change something: all old or all new, and the next command needs no repair.

The end of a run is killed before each of them, every other command before one in ``STEP``, or with PAWL_CRASHES before
each as well.
"""

from __future__ import annotations

import pytest

from people import become
from releases.calls import Child, child, kill_at
from releases.commands import COMMANDS, EVERY, STEP, Bases, Command, State, needs_no_repair, outcomes, state, words_for
from support import Shop

IN_GIT = ("adopt", "publish", "promote", "rollback", "halt")
"""Where Git's own steps are killed too; the others commit in the same way, and are killed outside of Git."""


def tried(shop: Shop, command: Command, turn: int, expected: tuple[State, State], *, other_first: bool) -> bool:
    """Kill the command before one point and look at everything; False where it ended before that point."""
    words = words_for(shop, command.words)
    killed = child(shop.root, words, kill_at(turn))
    if killed.code is not None:
        assert killed.code == command.code, killed.err
        return False
    where = f"before {killed.points[-1]}"
    left_behind_nothing_held(shop, where)
    before, after = expected
    assert shop.codes(shop.pawl("verify")) == [], where
    found = state(shop.root)
    assert found in (before, after), where
    if acknowledged(killed):
        assert found == after, where
    if other_first and "--no-commit" not in words:
        shop.pawl(*command.further)
    ends_otherwise = found == after and command.code_again is not None
    shop.pawl(*words, code=command.code_again or 0 if ends_otherwise else command.code)
    if not other_first:
        if not command.repeats or found == before:
            assert state(shop.root) == after, where
        shop.pawl(*command.further)
    needs_no_repair(shop, where)
    return True


def acknowledged(killed: Child) -> bool:
    """Whether the killed command had said that it was done."""
    answer = killed.answer
    return answer is not None and answer["status"] in {"done", "unchanged"}


def left_behind_nothing_held(shop: Shop, where: str) -> None:
    git_folder = shop.root / ".git"
    assert [*git_folder.rglob("*.lock")] == [], where


def killed_everywhere(
    bases: Bases, name: str, patched: pytest.MonkeyPatch, *, in_git: bool, other_first: bool = False, step: int = STEP
) -> None:
    command = COMMANDS[name]
    become(patched, command.who)
    expected = outcomes(bases, command)
    tries, going_on = 0, True
    while going_on:
        turn = 1 + tries * step
        tries += 1
        shop = bases.copy(command.base, in_git=in_git or command.in_git)
        going_on = tried(shop, command, turn, expected, other_first=other_first)
        bases.dropped(shop)
    print(f"{name}: killed at {tries - 1} points")  # noqa: T201 - shown by pytest -rP
    assert turn > 4


def test_the_end_of_a_run_killed_at_every_point(bases: Bases, monkeypatch: pytest.MonkeyPatch) -> None:
    killed_everywhere(bases, "run-end", monkeypatch, in_git=False, step=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS if EVERY else IN_GIT)
def test_killed_at_every_point_with_git(bases: Bases, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    killed_everywhere(bases, name, monkeypatch, in_git=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in COMMANDS if EVERY or name not in IN_GIT])
def test_killed_at_every_point_without_git(bases: Bases, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    killed_everywhere(bases, name, monkeypatch, in_git=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS if EVERY else ["publish", "promote", "rollback"])
def test_another_command_mends_as_well(bases: Bases, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    killed_everywhere(bases, name, monkeypatch, in_git=EVERY, other_first=True)
