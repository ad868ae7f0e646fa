"""The index killed, hindered and shared while it is written: the answers stay those of the fold."""

from __future__ import annotations

import errno
import multiprocessing
import shutil
import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pawl.ids import REGISTRY_JOURNAL, Name
from pawl.registry.catalog import fold_registry
from pawl.registry.channels import fold_channel
from pawl.releases.planning import pin_of
from pawl.workspace import Workspace
from properties.test_index import NAMES, STAGING, Life, catalog_answers, channel_answers, compare
from registry.make import pin, publication
from releases.calls import Act, Child, Point, child, kill_at, nothing

CONTEXT = multiprocessing.get_context("fork")
READERS, RECORDS = 4, 25


def publish(life: Life, name: str, version: str) -> None:
    life.write(REGISTRY_JOURNAL, "publish", {"published": [publication(pin(name, version)).as_dict()]})


def move(life: Life, name: str, version: str) -> None:
    state = fold_channel(STAGING, life.records(STAGING))
    before, after = state.pins.get(Name(name)), pin_of(publication(pin(name, version)))

    def row(item: Any) -> Any:
        return item and {key: value for key, value in item.as_dict().items() if key != "since"}

    moves = [{"name": name, "kind": "tool", "from": row(before), "to": row(after)}]
    life.write(STAGING, "promote", {"moves": moves, "verdict": {}, "policy": None})


@pytest.fixture
def life(tmp_path: Path) -> Life:
    """Two journals with records that an index knows, and some that it does not know yet."""
    made = Life(tmp_path / "w")
    for name in NAMES:
        publish(made, name, "1.0.0")
        move(made, name, "1.0.0")
    compare(made)
    for name in NAMES:
        publish(made, name, "2.0.0")
        move(made, name, "2.0.0")
    assert [len(made.records(journal)) for journal in (REGISTRY_JOURNAL, STAGING)] == [6, 6]
    return made


def read(root: Path) -> None:
    workspace = Workspace(root)
    catalog_answers(workspace.catalog())
    channel_answers(workspace.channel(STAGING))


def ended(life: Life, act: Act) -> Child:
    return child(life.root, (), act, run_it=partial(read, life.root))


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_killed_before_each_statement_and_write_it_is_gone_on_with_or_made_anew(
    life: Life, tmp_path: Path, *, known: bool
) -> None:
    if not known:
        shutil.rmtree(life.root / ".pawl", ignore_errors=True)
    before, turn = tmp_path / "before", 0
    shutil.copytree(life.root, before)
    while True:
        turn += 1
        killed = ended(life, kill_at(turn))
        life.long_lived = Workspace(life.root)
        compare(life)
        if killed.code is not None:
            break
        shutil.rmtree(life.root, ignore_errors=True)
        shutil.copytree(before, life.root)
    assert killed.code == 0, killed.err
    assert turn > 20


@pytest.mark.parametrize(
    "number", [errno.ENOSPC, *(pytest.param(number, marks=pytest.mark.slow) for number in (errno.EROFS, errno.EIO))]
)
def test_where_nothing_can_be_written_from_some_moment_on_the_answers_are_there(life: Life, number: int) -> None:
    points = ended(life, nothing).points
    shutil.rmtree(life.root / ".pawl")
    changing = [place for place, point in enumerate(points, start=1) if point.changes]
    for first in changing[:: max(1, len(changing) // 12)]:

        def act(count: int, point: Point, first: int = first) -> None:
            if count >= first and point.changes and point.about != "close":
                if point.call in {"sql", "connect"}:
                    raise sqlite3.OperationalError("attempt to write a readonly database")
                raise OSError(number, "hindered", point.about)

        hindered = ended(life, act)
        assert hindered.code == 0, hindered.err
        compare(life)
        shutil.rmtree(life.root / ".pawl", ignore_errors=True)


def _follow(root: Path, last: int, seed: int) -> None:
    """Read both states until the journals have ended, each held against the fold of as many records."""
    workspace = Workspace(root)
    while True:
        if seed % 2:
            workspace = Workspace(root)
        catalog, state = workspace.catalog(), workspace.channel(STAGING)
        files = Workspace(root)
        records, moves = files.journal(REGISTRY_JOURNAL), files.journal(STAGING)
        assert catalog_answers(catalog) == catalog_answers(fold_registry(records[: catalog.head.serial]))
        assert channel_answers(state) == channel_answers(fold_channel(STAGING, moves[: state.head.serial]))
        if catalog.head.serial == last:
            return


def test_processes_that_build_and_read_one_index_at_once_say_what_the_fold_says(tmp_path: Path) -> None:
    life = Life(tmp_path / "w")
    readers = [CONTEXT.Process(target=_follow, args=(life.root, RECORDS, seed)) for seed in range(READERS)]
    for reader in readers:
        reader.start()
    for number in range(RECORDS):
        name = NAMES[number % len(NAMES)]
        publish(life, name, f"{number + 1}.0.0")
        move(life, name, f"{number + 1}.0.0")
    for reader in readers:
        reader.join(timeout=120)
    assert [reader.exitcode for reader in readers] == [0] * READERS
    compare(life)
    assert (life.root / ".pawl" / "index.db").exists()
