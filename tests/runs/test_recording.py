"""The ledger of a channel that is open: kept open, not shared with children, and uses in a group."""

from __future__ import annotations

import contextvars
import gc
import multiprocessing
import os
import signal
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import pawl
from pawl.io import steps
from pawl.runs import ledger as ledger_module
from pawl.runs.ledger import Ledger
from pawl.runs.rows import RunRow, UseRow
from support import Shop

INPUTS = {"order_id": "A1", "amount": 20}
DRAFT = "support/refund-draft"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def channel(released: Shop, path: Path) -> pawl.ChannelHandle:
    snapshot = released.root / "production.json"
    released.pawl("snapshot", "production", "--out", str(snapshot))
    return pawl.open("production", snapshot=snapshot, ledger=path)


def rows(path: Path) -> tuple[RunRow, ...]:
    with Ledger(path) as ledger:
        return ledger.runs(limit=10_000)


def uses(path: Path, run: pawl.Run) -> tuple[UseRow, ...]:
    with Ledger(path) as ledger:
        return ledger.uses(run.id)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The files that SQLite was asked to open."""
    found: list[object] = []
    connect = sqlite3.connect

    def counting(database: Path, **options: object) -> sqlite3.Connection:
        found.append(database)
        return connect(database, **options)  # type: ignore[call-overload,no-any-return]

    monkeypatch.setattr("pawl.runs.ledger.sqlite3.connect", counting)
    return found


def test_many_runs_open_the_file_once(channel: pawl.ChannelHandle, path: Path, opened: list[object]) -> None:
    for _ in range(5):
        with channel.run(agent="support") as run:
            run.prompt(DRAFT, **INPUTS)
            run.end("ok")
    assert len(opened) == 1
    with channel.reload().run(agent="support"):
        pass
    assert len(opened) == 1
    assert [row.outcome for row in rows(path)] == ["unknown", *["ok"] * 5]


def test_leaving_with_closes_the_file_and_a_later_run_opens_it(channel: pawl.ChannelHandle, path: Path) -> None:
    log = path.with_name("runs.db-wal")
    with channel as handle, handle.run(agent="support") as run:
        assert log.exists()
        run.end("ok")
    assert not log.exists()
    with channel.run(agent="support") as run:
        run.end("ok")
    assert len(rows(path)) == 2


def test_a_handle_that_nobody_holds_closes_the_file(released: Shop, path: Path) -> None:
    run = pawl.open("production", workspace=released.root, ledger=path).run(agent="support")
    log = path.with_name("runs.db-wal")
    gc.collect()
    assert log.exists(), "the run holds it"
    run.end("ok")
    del run
    gc.collect()
    assert not log.exists()


def test_a_ledger_that_was_moved_away_is_started_anew(channel: pawl.ChannelHandle, path: Path) -> None:
    with channel.run(agent="support") as first:
        first.end("ok")
    path.rename(path.with_name("old.db"))
    with channel.run(agent="support") as second:
        second.end("ok")
    assert [row.run_id for row in rows(path)] == [second.id]


def test_a_child_opens_its_own(channel: pawl.ChannelHandle, path: Path, opened: list[object]) -> None:
    with channel.run(agent="parent") as run:
        child = os.fork()
        if child == 0:  # pragma: no cover - it never comes back
            code = 1
            try:
                with channel.run(agent="child") as own:
                    own.prompt(DRAFT, **INPUTS)
                    own.end("ok")
                code = 0 if len(opened) == 2 else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        run.prompt(DRAFT, **INPUTS)
        run.end("ok")
    assert len(opened) == 1
    assert sorted((row.agent, row.outcome) for row in rows(path)) == [("child", "ok"), ("parent", "ok")]


def _agent(channel: pawl.ChannelHandle, worker: int) -> None:
    for _ in range(10):
        with channel.run(agent=f"worker-{worker}") as run:
            run.prompt(DRAFT, **INPUTS)
            run.end("ok")


def test_children_and_threads_of_one_handle_lose_nothing(channel: pawl.ChannelHandle, path: Path) -> None:
    with channel.run(agent="parent") as run:
        context = multiprocessing.get_context("fork")
        children = [context.Process(target=_agent, args=(channel, worker)) for worker in range(3)]
        threads = [threading.Thread(target=_agent, args=(channel, worker)) for worker in range(3, 6)]
        for child in children:
            child.start()
        for thread in threads:
            thread.start()
        for child in children:
            child.join()
        for thread in threads:
            thread.join()
        run.end("ok")
    assert [child.exitcode for child in children] == [0] * 3
    done = rows(path)
    assert (len(done), {row.outcome for row in done}) == (61, {"ok"})


def test_the_log_stays_within_its_bound(
    channel: pawl.ChannelHandle, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "MAX_LOG_PAGES", 20)
    for _ in range(40):
        with channel.run(agent="support") as run:
            run.end("ok")
    assert path.with_name("runs.db-wal").stat().st_size < 40 * 4_200


# Uses in a group


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []

    def note(name: str) -> None:
        if name.endswith(".committed"):
            found.append(name)

    monkeypatch.setattr(steps, "hook", note)
    return found


def test_a_group_is_one_transaction(channel: pawl.ChannelHandle, path: Path, commits: list[str]) -> None:
    with channel.run(agent="support") as run:
        commits.clear()
        with run.group():
            run.prompt(DRAFT, **INPUTS)
            with run.group():
                run.workflow("support/refund")
            assert uses(path, run) == ()
            run.prompt(DRAFT, **INPUTS)
        assert commits == ["ledger.use.committed"]
        assert [(use.seq, use.name) for use in uses(path, run)] == [
            (1, DRAFT),
            (2, "support/refund"),
            (3, DRAFT),
        ]
        run.prompt(DRAFT, **INPUTS)
        assert len(uses(path, run)) == 4
        with run.group():
            pass
        run.end("ok")
    assert commits == ["ledger.use.committed"] * 2 + ["ledger.end.committed"]


def test_what_was_used_before_a_group_failed_is_recorded(channel: pawl.ChannelHandle, path: Path) -> None:
    run = channel.run(agent="support")

    def step() -> None:
        with run.group():
            run.prompt(DRAFT, **INPUTS)
            run.prompt("support/nothing")

    with pytest.raises(pawl.NotFoundError):
        step()
    assert [use.name for use in uses(path, run)] == [DRAFT]


def test_an_end_inside_a_group_comes_after_its_uses(channel: pawl.ChannelHandle, path: Path) -> None:
    with channel.run(agent="support") as run, run.group():
        run.prompt(DRAFT, **INPUTS)
        run.end("ok")
    assert [use.name for use in uses(path, run)] == [DRAFT]
    assert [row.outcome for row in rows(path)] == ["ok"]


def _elsewhere(act: Callable[[], object], *, inherit: bool) -> None:
    """Act in another thread, which knows of this one's groups where it inherits the context."""
    context = contextvars.copy_context() if inherit else contextvars.Context()
    thread = threading.Thread(target=context.run, args=(act,))
    thread.start()
    thread.join()


def test_a_group_holds_for_its_own_thread_and_those_that_it_began(channel: pawl.ChannelHandle, path: Path) -> None:
    with channel.run(agent="support") as run:
        with run.group():
            _elsewhere(lambda: run.prompt(DRAFT, **INPUTS), inherit=False)
            assert len(uses(path, run)) == 1
            _elsewhere(lambda: run.prompt(DRAFT, **INPUTS), inherit=True)
            assert len(uses(path, run)) == 1
            outlives = contextvars.copy_context()
        assert len(uses(path, run)) == 2
        outlives.run(lambda: run.prompt(DRAFT, **INPUTS))
        assert len(uses(path, run)) == 3
        run.end("ok")


def test_groups_of_two_runs_do_not_mix(channel: pawl.ChannelHandle, path: Path) -> None:
    with channel.run(agent="a") as one, channel.run(agent="b") as two:
        with one.group():
            two.prompt(DRAFT, **INPUTS)
            assert (len(uses(path, one)), len(uses(path, two))) == (0, 1)
            one.prompt(DRAFT, **INPUTS)
        assert (len(uses(path, one)), len(uses(path, two))) == (1, 1)
        one.end("ok")
        two.end("ok")


def test_without_a_ledger_a_group_is_nothing(released: Shop) -> None:
    snapshot = released.root / "production.json"
    released.pawl("snapshot", "production", "--out", str(snapshot))
    with pawl.open("production", snapshot=snapshot).run(agent="support") as run, run.group():
        assert run.prompt(DRAFT, **INPUTS)


def test_a_kill_inside_a_group_leaves_an_open_run_and_none_of_its_uses(channel: pawl.ChannelHandle, path: Path) -> None:
    child = os.fork()
    if child == 0:  # pragma: no cover - it never comes back
        run = channel.run(agent="support")
        run.prompt(DRAFT, **INPUTS)
        with run.group():
            run.workflow("support/refund")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (row,) = rows(path)
    assert row.ended_at is None
    with Ledger(path) as ledger:
        assert [use.name for use in ledger.uses(row.run_id)] == [DRAFT]
