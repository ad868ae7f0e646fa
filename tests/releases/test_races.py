"""Two at once: both judge the same state, one of them moves it, and the other is told and has written nothing."""

from __future__ import annotations

import errno
import multiprocessing
import shutil
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

from pawl.errors import ConflictError
from pawl.ids import Channel
from pawl.io import steps
from pawl.operations import writing
from pawl.registry.journal import Actor
from pawl.releases.applying import apply
from pawl.releases.planning import Stamp, plan_intervention
from pawl.workspace import Workspace
from support import FIRST, SECOND, Shop, git, in_process

Words = tuple[str, ...]
CONTEXT = multiprocessing.get_context("fork")
ON: Words = ("--channel", "staging", "--reason", "race")


def _child(words: Words, barrier: Barrier, ended: Any) -> None:
    """Run a command that waits for its rival between judging and applying."""

    def waits(*values: Any, **more: Any) -> Any:
        barrier.wait(120)
        return apply(*values, **more)

    writing.apply = waits  # type: ignore[attr-defined]
    ended.put((words, in_process(*words).code))


def race(shop: Shop, *rivals: Words) -> dict[Words, list[int]]:
    """Let commands race from the very same state and return the exit codes of each."""
    barrier, ended = CONTEXT.Barrier(len(rivals)), CONTEXT.SimpleQueue()
    children = [
        CONTEXT.Process(target=_child, args=(("-C", str(shop.root), *words, "-o", "json"), barrier, ended))
        for words in rivals
    ]
    for child in children:
        child.start()
    for child in children:
        child.join(300)
        assert child.exitcode == 0
    found: dict[Words, list[int]] = {}
    for _ in children:
        words, code = ended.get()
        found.setdefault(words[2:-2], []).append(code)
    return found


PROMOTE: Words = ("promote", *FIRST, "--to", "staging", "--reason", "race")
RACES: list[tuple[str, Words, Words, bool | None]] = [
    ("the same promotion twice", PROMOTE, PROMOTE, True),
    # whoever promotes a part of what the other did has lost nothing
    ("a promotion and a part of it", PROMOTE, ("promote", FIRST[1], "--to", "staging", "--reason", "race"), None),
    ("a promotion and a rejection", PROMOTE, ("reject", FIRST[0], *ON), False),
    # a withdrawal after the promotion is a life like any other; a promotion after the withdrawal is not
    ("a promotion and a withdrawal", PROMOTE, ("yank", FIRST[0], "--reason", "race"), None),
    ("two rejections", ("reject", FIRST[0], *ON), ("reject", FIRST[1], *ON), False),
]


@pytest.mark.parametrize(("_", "one", "other", "same"), RACES, ids=[row[0] for row in RACES])
def test_one_wins(shop: Shop, _: str, one: Words, other: Words, same: bool | None) -> None:
    shop.publish_first()
    before = shop.files()
    codes = sorted(code for codes in race(shop, one, other).values() for code in codes)
    assert codes in {True: ([0, 0],), False: ([0, 5],), None: ([0, 0], [0, 5])}[same]
    records = [name for name in {*shop.files()} - {*before} if name.startswith("releases") and "evidence" not in name]
    both = one[0] != other[0] and codes == [0, 0]
    assert len(records) == (2 if both else 1)
    assert shop.pawl("verify")["problems"] == []
    assert git(shop.root, "status", "--porcelain", "registry", "releases") == ""


def test_of_many_exactly_one_wins(shop: Shop) -> None:
    shop.publish_first()
    rivals: list[Words] = [("reject", FIRST[0], "--channel", "staging", "--reason", f"r{turn}") for turn in range(5)]
    codes = sorted(code for codes in race(shop, *rivals).values() for code in codes)
    assert codes == [0, 5, 5, 5, 5]
    assert len(shop.pawl("history", "staging")["records"]) == 1


def test_what_touches_different_journals_goes_side_by_side(released: Shop) -> None:
    """Channel records name the registry's head, so only channels that read the same registry can be side by side."""
    halts: list[Words] = [("halt", "support/refund", "--channel", name, "--reason", "race") for name in
                          ("staging", "production")]  # fmt: skip
    assert [code for codes in race(released, *halts).values() for code in codes] == [0, 0]
    assert released.pawl("verify")["problems"] == []


def test_a_plan_is_applied_once(released: Shop) -> None:
    workspace = Workspace(released.root)
    state, catalog = workspace.channel(Channel("staging")), workspace.catalog()
    stamp = Stamp(actor=Actor(name="Ada"), at="2026-03-01T12:00:00Z", reason="twice")
    body = {"name": "support/refund", "version": None}
    plan = plan_intervention("halt", body, state=state, catalog=catalog, stamp=stamp, what="it")
    apply(workspace, plan, commit=False)
    after = released.files()
    with pytest.raises(ConflictError) as lost:
        apply(workspace, plan, commit=False)
    assert "moved from record 1 to 2" in lost.value.message
    assert released.files() == after


def test_the_registry_that_was_judged_on_must_not_move_either(released: Shop) -> None:
    workspace = Workspace(released.root)
    state, catalog = workspace.channel(Channel("staging")), workspace.catalog()
    stamp = Stamp(actor=Actor(name="Ada"), at="2026-03-01T12:00:00Z", reason="late")
    body = {"name": "support/refund", "version": None}
    plan = plan_intervention("halt", body, state=state, catalog=catalog, stamp=stamp, what="it")
    released.pawl("deprecate", FIRST[0], "--reason", "meanwhile")
    before = released.files()
    with pytest.raises(ConflictError):
        apply(workspace, plan, commit=True)
    assert released.files() == before


class Failing:
    """A disk that is full at one step, and has room again after it."""

    def __init__(self, turn: int) -> None:
        self.turn, self.count = turn, 0

    def __call__(self, name: str) -> None:
        self.count += 1
        if self.count == self.turn:
            raise OSError(errno.ENOSPC, f"no space left at {name}")


def prepared(shop: Shop, word: str) -> Words:
    shop.publish_first()
    if word == "promote":
        return PROMOTE
    shop.promote(*FIRST, to="staging")
    shop.second()
    if word == "publish":
        return ("publish",)
    shop.pawl("publish")
    shop.promote(*SECOND, to="staging")
    return ("rollback", "support/refund", *ON)


@pytest.mark.slow
@pytest.mark.parametrize("word", ["publish", "promote", "rollback"])
def test_a_full_disk_at_any_step_leaves_nothing_half(plain_shop: Shop, tmp_path: Path, word: str) -> None:
    """One step fails, each in its turn: the state is wholly old or wholly new, and the next try needs no repair."""
    words = prepared(plain_shop, word)
    turn, ended_well = 0, False
    records = {"publish": 1, "promote": 1, "rollback": 3}[word]
    while not ended_well:
        turn += 1
        shop = Shop(tmp_path / str(turn))
        shutil.copytree(plain_shop.root, shop.root)
        failing = Failing(turn)
        steps.hook = failing
        try:
            ended = in_process("-C", str(shop.root), *words, "-o", "json")
        finally:
            steps.hook = None
        ended_well = failing.count < turn
        assert ended.code != 70, ended.out
        assert shop.codes(shop.pawl("verify")) == []
        if ended.code:  # nothing happened, so nothing was recorded, and asking again does it
            assert shop.pawl(*words)["status"] == "done"
        assert shop.pawl("yank", "support/refund-draft@1.0.0", "--reason", "a further command")["status"] == "done"
        assert shop.pawl("verify")["problems"] == []
        assert len(shop.pawl("history", "staging")["records"]) == records
        shutil.rmtree(shop.root)
    assert turn > 5
