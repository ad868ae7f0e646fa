"""Calls that fail, one after the other: no crash, never half a change, and without the fault the same command works."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from people import become
from releases.calls import Act, Child, Point, child
from releases.commands import COMMANDS, EVERY, STEP, Bases, Command, State, needs_no_repair, outcomes, state, words_for
from support import Shop

NEEDS_ROOM = frozenset({"open", "write", "write-rest", "pwrite", "fsync", "link", "rename", "replace", "mkdir", "sql"})
OPENS = frozenset({"open", "connect", "scandir", "listdir", "start"})
Fails = Callable[[Point], bool]


def fails(point: Point, number: int) -> None:
    """Raise what the call would raise for an error number."""
    if point.call in {"sql", "connect"}:
        said = {errno.ENOSPC: "database or disk is full", errno.EROFS: "attempt to write a readonly database"}
        raise sqlite3.OperationalError(said.get(number, "disk I/O error"))
    raise OSError(number, os.strerror(number), point.about)


def once(turn: int, number: int, which: Fails) -> Act:
    """Let the ``turn``-th of some calls fail."""
    return _failing(turn, number, which, stays=False)


def from_then_on(turn: int, number: int, which: Fails) -> Act:
    """Let the ``turn``-th of some calls fail, and every one after it."""
    return _failing(turn, number, which, stays=True)


def _failing(turn: int, number: int, which: Fails, *, stays: bool) -> Act:
    count = 0

    def act(_: int, point: Point) -> None:
        nonlocal count
        if which(point):
            count += 1
            if count == turn or (stays and count > turn):
                fails(point, number)

    return act


def changes(point: Point) -> bool:
    return point.changes and point.call not in {"started", "waited", "start"} and point.about != "close"


def needs_room(point: Point) -> bool:
    return changes(point) and point.call in NEEDS_ROOM


def full(turn: int, _: Path) -> Act:
    return once(turn, errno.ENOSPC, needs_room)


def full_from_then_on(turn: int, _: Path) -> Act:
    return from_then_on(turn, errno.ENOSPC, needs_room)


def broken(turn: int, _: Path) -> Act:
    return once(turn, errno.EIO, changes)


def read_only_from_then_on(turn: int, _: Path) -> Act:
    """As Linux mounts a file system anew after an error."""
    return from_then_on(turn, errno.EROFS, lambda point: changes(point) and point.call not in {"fsync", "flock"})


def no_handles(turn: int, root: Path) -> Act:
    return from_then_on(
        turn, errno.EMFILE, lambda point: point.call in OPENS and (point.call == "start" or str(root) in point.about)
    )


def private_folder_gone(turn: int, root: Path) -> Act:
    count = 0

    def act(_: int, point: Point) -> str | None:
        nonlocal count
        count += changes(point)
        if count != turn or not changes(point):
            return None
        shutil.rmtree(root / ".pawl", ignore_errors=True)
        return "gone"

    return act


KINDS: Mapping[str, Callable[[int, Path], Act]] = {
    "full": full,
    "full from then on": full_from_then_on,
    "broken": broken,
    "read-only from then on": read_only_from_then_on,
    "no handles": no_handles,
    "no .pawl": private_folder_gone,
}


def judged(shop: Shop, command: Command, ended: Child, expected: tuple[State, State], where: str) -> None:
    """Look at how a hindered command ended, then take the hindrance away and go on."""
    assert ended.code is not None, where
    assert ended.code not in {70, 99}, f"{where}\n{ended.out}{ended.err}"
    before, after = expected
    found = state(shop.root)
    happened = ended.code == command.code
    if not happened and command.writes_one_file and found == after:
        return  # it is in its place, and whether it would be after a power cut could not be made sure
    assert found == (after if happened else before), f"{where}: {ended.code}\n{ended.out}{ended.err}"
    assert shop.codes(shop.pawl("verify")) == [], where
    if not happened:
        shop.pawl(*words_for(shop, command.words), code=command.code)
        assert state(shop.root) == after, where
    shop.pawl(*command.further)
    needs_no_repair(shop, where)


def hindered_everywhere(bases: Bases, name: str, patched: pytest.MonkeyPatch, *, step: int = STEP) -> int:
    """Hinder a command at points, by every kind of fault or by one kind after the other; return how often."""
    command = COMMANDS[name]
    become(patched, command.who)
    expected = outcomes(bases, command)
    tries, left, rounds = 0, [kind for kind in KINDS if not (kind == "no .pawl" and command.in_ledger)], 0
    while left:
        turn = 1 + rounds * step
        rounds += 1
        for kind in tuple(left) if EVERY else (left[rounds % len(left)],):
            shop = bases.copy(command.base, in_git=command.in_git)
            ended = child(shop.root, words_for(shop, command.words), KINDS[kind](turn, shop.root))
            if ended.hit:
                judged(shop, command, ended, expected, f"{kind} at {turn}")
                tries += 1
            else:
                assert ended.code == command.code
                left.remove(kind)
            bases.dropped(shop)
    return tries


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_hindered_at_every_point(bases: Bases, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    tries = hindered_everywhere(bases, name, monkeypatch)
    print(f"{name}: hindered {tries} times")  # noqa: T201 - shown by pytest -rP
    assert tries * STEP > 4


def test_the_end_of_a_run_hindered_at_every_point(bases: Bases, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hindered_everywhere(bases, "run-end", monkeypatch, step=1) > 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", COMMANDS if EVERY else ["halt", "publish", "promote-stored", "rollback", "snapshot", "run-use"]
)
def test_every_file_that_cannot_be_read_is_named(bases: Bases, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    unreadable_everywhere(bases, name, monkeypatch)


def unreadable_everywhere(bases: Bases, name: str, patched: pytest.MonkeyPatch) -> None:
    """Let each look at a file that people or journals own fail: it is named and nothing is written, or it did not
    matter to what the command does."""
    command = COMMANDS[name]
    become(patched, command.who)
    before, after = outcomes(bases, command)
    shop = bases.copy(command.base, in_git=command.in_git)
    kept = ("procedures", "conformance", "registry", "releases")

    def looks(point: Point) -> bool:
        path = point.about.removeprefix(f"{shop.root}/")
        return not point.changes and path.startswith(kept) and ".pawl-tmp" not in path

    turn, hit = 1 - STEP, True
    while hit:
        turn += STEP
        ended = child(shop.root, words_for(shop, command.words), once(turn, errno.EIO, looks))
        hit = ended.hit
        where = f"{turn}: {ended.points[-1]}\n{ended.out}{ended.err}"
        assert ended.code not in {70, 99}, where
        found, happened = state(shop.root), ended.code == command.code
        refused = ended.answer is not None and ended.answer["status"] == "refused"
        if refused and not happened:  # a suite that does not read is a reason to refuse, and refusals are records
            assert pins(found) == pins(before), where
        else:
            assert found == (after if happened else before), where
        if not happened:
            assert "Input/output error" in ended.out or refused or ended.code == 6, where
            assert any(name in ended.out for name in kept), where
            assert [*shop.root.rglob(".pawl-tmp-*")] == [], where
        if happened or refused:
            bases.dropped(shop)
            shop = bases.copy(command.base, in_git=command.in_git)
    assert turn > 5


def pins(said: State) -> State:
    return {what: value for what, value in said.items() if what.startswith("pins")}


GIT_FAILURES: Mapping[str, tuple[str, ...]] = {
    "killed before it did anything": ("sh", "-c", "kill -9 $$"),
    "killed when it had done it": ("sh", "-c", '"$@"; kill -9 $$', "sh"),
    "says no": ("sh", "-c", "echo 'fatal: no' >&2; exit 128"),
    "is not there": ("/nonexistent/git",),
}


@pytest.mark.slow
@pytest.mark.parametrize("how", GIT_FAILURES)
@pytest.mark.parametrize("name", ["promote", "rollback"])
def test_git_fails_at_every_call(bases: Bases, monkeypatch: pytest.MonkeyPatch, name: str, how: str) -> None:
    command, instead = COMMANDS[name], GIT_FAILURES[how]
    expected = outcomes(bases, command)
    turn, hit = 0, True
    while hit:
        turn += 1
        shop = bases.copy(command.base, in_git=True)
        ended = child(shop.root, words_for(shop, command.words), git_replaced(turn, instead))
        hit = ended.hit
        judged(shop, command, ended, expected, f"git {how} at {turn}")
        bases.dropped(shop)
    assert turn > 3


def git_replaced(turn: int, instead: tuple[str, ...]) -> Act:
    """Start something else instead of the ``turn``-th Git; see ``GIT_FAILURES``."""
    count = 0

    def act(_: int, point: Point) -> tuple[str, ...] | None:
        nonlocal count
        if point.call != "start" or not point.about.startswith("git"):
            return None
        count += 1
        if count != turn:
            return None
        return instead

    return act
