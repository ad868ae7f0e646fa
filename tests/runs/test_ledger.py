"""The ledger: what it keeps, what it refuses, and that it keeps it through kills, crowds and damage."""

from __future__ import annotations

import multiprocessing
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pawl.errors import ConflictError, IntegrityError, InvalidError, NotFoundError, PawlError, UsageError
from pawl.ids import Name, Ref, Version
from pawl.io import steps
from pawl.runs.ledger import Ledger
from pawl.runs.rows import RunStart, Use

DIGEST = "sha256:" + "0" * 64
DRAFT = Ref(Name("support/refund-draft"), Version("1.0.0"))


def moment(second: int) -> str:
    return f"2026-03-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"


def start(run_id: str, second: int = 0, version: str = "1.0.0", **fields: Any) -> RunStart:
    pins = {
        "support/refund-draft": {"version": version, "digest": DIGEST, "kind": "prompt"},
        "support/check": {"version": "2.1.0", "digest": DIGEST, "kind": "tool"},
    }
    values: dict[str, Any] = {
        "run_id": run_id,
        "channel": "production",
        "serial": 3,
        "snapshot": DIGEST,
        "policy": 1,
        "pins": pins,
        "agent": "support",
        "session": None,
        "started_at": moment(second),
    }
    return RunStart(**{**values, **fields})


def use(second: int = 0, version: str = "1.0.0", **fields: str) -> Use:
    values = {"kind": "prompt", "name": "support/refund-draft", "version": version, "digest": DIGEST}
    return Use(at=moment(second), **{**values, **fields})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "runs.db"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with Ledger(path) as made:
        yield made


def test_a_run_is_kept_as_it_was_told(ledger: Ledger, path: Path) -> None:
    told = start("r1", session="s-17", policy=None)
    ledger.start(told)
    assert (1, 2) == (
        ledger.use("r1", use(1)),
        ledger.use("r1", use(2, kind="tool", name="support/check", version="2.1.0")),
    )
    assert ledger.end("r1", "drafted", moment(9))
    with Ledger(path) as again:
        row = again.show("r1")
        assert row is not None
        assert told == RunStart(**{name: getattr(row, name) for name in RunStart.__dataclass_fields__})
        assert (moment(9), "drafted") == (row.ended_at, row.outcome)
        assert [(1, "support/refund-draft"), (2, "support/check")] == [(use.seq, use.name) for use in again.uses("r1")]
        assert again.show("r2") is None
        assert () == again.uses("r2")


def test_runs_with_the_same_pins_share_them(ledger: Ledger, path: Path) -> None:
    for number in range(5):
        ledger.start(start(f"r{number}", version="1.0.0" if number < 4 else "1.1.0"))
    with sqlite3.connect(path) as connection:
        assert (2, 4) == connection.execute(
            "SELECT (SELECT COUNT(*) FROM pin_sets), (SELECT COUNT(*) FROM pinned)"
        ).fetchone()
    connection.close()


def test_a_run_without_pins_can_use_nothing(ledger: Ledger) -> None:
    ledger.start(start("r1", pins={}))
    with pytest.raises(InvalidError, match="was started without"):
        ledger.use("r1", use())


WRONG_ORDER: tuple[tuple[str, Callable[[Ledger], object], type[PawlError], str], ...] = (
    ("use-before-start", lambda ledger: ledger.use("never", use()), NotFoundError, "run-unknown"),
    ("end-before-start", lambda ledger: ledger.end("never", "ok", moment(0)), NotFoundError, "run-unknown"),
    ("open-before-start", lambda ledger: ledger.open_run("never"), NotFoundError, "run-unknown"),
    ("start-twice", lambda ledger: ledger.start(start("open")), ConflictError, "run-exists"),
    ("start-what-ended", lambda ledger: ledger.start(start("ended")), ConflictError, "run-exists"),
    ("use-after-end", lambda ledger: ledger.use("ended", use()), ConflictError, "run-ended"),
    ("open-after-end", lambda ledger: ledger.open_run("ended"), ConflictError, "run-ended"),
    ("end-otherwise", lambda ledger: ledger.end("ended", "error", moment(9)), ConflictError, "run-ended"),
    ("use-of-another-version", lambda ledger: ledger.use("open", use(version="1.1.0")), InvalidError, "run-not-pinned"),
    ("use-of-another-name", lambda ledger: ledger.use("open", use(name="other")), InvalidError, "run-not-pinned"),
    ("use-of-other-bytes", lambda ledger: ledger.use("open", use(digest="sha256:1")), InvalidError, "run-not-pinned"),
    ("use-as-another-kind", lambda ledger: ledger.use("open", use(kind="tool")), InvalidError, "run-not-pinned"),
    ("undecodable-text", lambda ledger: ledger.start(start("r", agent="\udcff")), InvalidError, "ledger-value"),
    ("undecodable-pin", lambda ledger: ledger.end("\udcff", "ok", moment(0)), InvalidError, "ledger-value"),
    ("number-too-large", lambda ledger: ledger.start(start("r", serial=2**70)), InvalidError, "ledger-value"),
)


@pytest.mark.parametrize(("act", "kind", "code"), [row[1:] for row in WRONG_ORDER], ids=[row[0] for row in WRONG_ORDER])
def test_what_does_not_fit_is_refused_and_changes_nothing(
    ledger: Ledger, act: Callable[[Ledger], object], kind: type[PawlError], code: str
) -> None:
    ledger.start(start("open"))
    ledger.start(start("ended"))
    ledger.use("ended", use())
    ledger.end("ended", "ok", moment(5))
    before = [(run, ledger.uses(run.run_id)) for run in ledger.runs()]
    with pytest.raises(kind) as refused:
        act(ledger)
    assert code == refused.value.problems[0].code
    assert before == [(run, ledger.uses(run.run_id)) for run in ledger.runs()]
    assert 1 == ledger.use("open", use()), "and the ledger still works"


def test_the_same_end_again_changes_nothing(ledger: Ledger) -> None:
    ledger.start(start("r1"))
    assert [True, False] == [ledger.end("r1", "ok", moment(second)) for second in (5, 9)]
    row = ledger.show("r1")
    assert row is not None
    assert moment(5) == row.ended_at


LISTED: tuple[tuple[dict[str, Any], str], ...] = (
    ({}, "r4 r3 r2 r1"),
    ({"agent": "support"}, "r4 r2 r1"),
    ({"agent": "nobody"}, ""),
    ({"channel": "staging"}, "r3 r2"),
    ({"open_only": True}, "r4 r3 r1"),
    ({"limit": 2}, "r4 r3"),
    ({"limit": 0}, ""),
    ({"agent": "support", "channel": "production", "open_only": True, "limit": 1}, "r4"),
)


@pytest.mark.parametrize(("filters", "expected"), LISTED, ids=lambda value: str(value)[:60])
def test_runs_are_listed_newest_first(ledger: Ledger, filters: dict[str, Any], expected: str) -> None:
    for number, agent, channel in (
        (1, "support", "production"),
        (2, "support", "staging"),
        (3, "billing", "staging"),
        (4, "support", "production"),
    ):
        ledger.start(start(f"r{number}", 7 if number > 3 else number, agent=agent, channel=channel))
    ledger.end("r2", "ok", moment(8))
    assert expected.split() == [run.run_id for run in ledger.runs(**filters)]


AFFECTED: tuple[tuple[str, int | None, int | None, str, str], ...] = (
    ("ever", None, None, "late-use used-and-ended", "had-it still-open"),
    ("after-the-ended-ones", 60, None, "late-use", "still-open"),
    ("at-the-second-of-a-use", 10, 11, "used-and-ended", "had-it late-use still-open"),
    ("until-excludes-its-second", 9, 10, "", "had-it late-use still-open used-and-ended"),
    ("at-the-second-of-an-end", 20, 21, "", "had-it late-use still-open used-and-ended"),
    ("before-anything", None, 0, "", ""),
)


@pytest.mark.parametrize(
    ("since", "until", "used", "pinned"), [row[1:] for row in AFFECTED], ids=[r[0] for r in AFFECTED]
)
def test_affected_runs_by_incident(
    ledger: Ledger, since: int | None, until: int | None, used: str, pinned: str
) -> None:
    for run_id in ("used-and-ended", "had-it", "late-use", "still-open"):
        ledger.start(start(run_id, 0))
    ledger.start(start("other-version", 0, version="1.1.0"))
    ledger.use("other-version", use(10, version="1.1.0"))
    ledger.use("used-and-ended", use(10))
    ledger.use("used-and-ended", use(12))
    ledger.use("late-use", use(100))
    for run_id in ("used-and-ended", "had-it"):
        ledger.end(run_id, "ok", moment(20))
    found = ledger.affected(
        DRAFT, since=None if since is None else moment(since), until=None if until is None else moment(until)
    )
    assert (used.split(), pinned.split()) == (
        sorted(run.run_id for run in found.used),
        sorted(run.run_id for run in found.pinned_only),
    )


def _crowd(path: Path, number: int, ready: Any) -> None:
    ready.wait()
    for turn in range(12):
        with Ledger(path) as ledger:
            run_id = f"{number}-{turn}"
            ledger.start(start(run_id, turn))
            ledger.use(run_id, use(turn))
            ledger.use("shared", use(turn))
            ledger.end(run_id, "ok", moment(turn))


def test_eight_processes_write_one_new_ledger(path: Path) -> None:
    spawn = multiprocessing.get_context("fork")
    ready = spawn.Barrier(9)
    crowd = [spawn.Process(target=_crowd, args=(path, number, ready)) for number in range(8)]
    for process in crowd:
        process.start()
    with Ledger(path) as ledger:
        ledger.start(start("shared"))
        ready.wait()
        for process in crowd:
            process.join(300)
        assert [0] * 8 == [process.exitcode for process in crowd]
        assert 8 * 12 == len([run for run in ledger.runs(limit=1_000) if run.outcome == "ok"])
        assert list(range(1, 8 * 12 + 1)) == [row.seq for row in ledger.uses("shared")]


def test_eight_processes_make_one_ledger_at_once(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("fork")
    for turn in range(4):
        ready = spawn.Barrier(8)
        path = tmp_path / f"{turn}.db"
        crowd = [spawn.Process(target=_first, args=(path, number, ready)) for number in range(8)]
        for process in crowd:
            process.start()
        for process in crowd:
            process.join(300)
        assert [0] * 8 == [process.exitcode for process in crowd]
        with Ledger(path) as ledger:
            assert 8 == len(ledger.runs())


def _first(path: Path, number: int, ready: Any) -> None:
    ready.wait()
    with Ledger(path) as ledger:
        ledger.start(start(f"r{number}"))


def test_threads_share_one_ledger(ledger: Ledger) -> None:
    ledger.start(start("r1"))
    threads = [threading.Thread(target=lambda: [ledger.use("r1", use()) for _ in range(10)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(range(1, 41)) == [row.seq for row in ledger.uses("r1")]


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from pawl.io import steps
from runs.test_ledger import Ledger, moment, start, use

def hook(name):
    if name == {at!r}:
        os.kill(os.getpid(), signal.SIGKILL)

steps.hook = hook
ledger = Ledger(Path({path!r}))
ledger.start(start("r1"))
print("started", flush=True)
ledger.use("r1", use(1))
print("used", flush=True)
ledger.end("r1", "ok", moment(2))
print("ended", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
ACTS = ("start", "use", "end")


@pytest.mark.parametrize(
    ("at", "returned"),
    [
        *((f"ledger.create.{name}", ()) for name in ("begin", "commit", "committed")),
        *(
            pytest.param(f"ledger.{act}.{name}", ACTS[:at], marks=pytest.mark.slow if act != "use" else ())
            for at, act in enumerate(ACTS)
            for name in ("begin", "commit", "committed")
        ),
        ("never", ACTS),
    ],
)
def test_a_killed_process_loses_nothing_that_returned(path: Path, at: str, returned: tuple[str, ...]) -> None:
    code = KILLED.format(tests=str(Path(__file__).parent.parent), at=at, path=str(path))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert -signal.SIGKILL == done.returncode, done.stderr
    words = {"start": "started", "use": "used", "end": "ended"}
    assert [words[act] for act in returned] == done.stdout.split()
    there = set(returned) | ({at.split(".")[1]} if at.endswith("committed") else set())
    with Ledger(path) as ledger:
        row = ledger.show("r1")
        assert ("start" in there) == (row is not None)
        assert ("use" in there) == bool(ledger.uses("r1"))
        assert ("end" in there) == (row is not None and row.ended_at is not None)
        ledger.start(start("r2"))


def test_a_write_that_fails_leaves_the_ledger_usable(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        if name == "ledger.use.commit":
            raise OSError(28, "No space left on device")

    ledger.start(start("r1"))
    monkeypatch.setattr(steps, "hook", fail)
    with pytest.raises(InvalidError, match="No space left") as refused:
        ledger.use("r1", use())
    assert "ledger-unusable" == refused.value.problems[0].code
    monkeypatch.setattr(steps, "hook", None)
    assert () == ledger.uses("r1")
    assert 1 == ledger.use("r1", use())


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[:16] = b"x" * 16
    path.write_bytes(data)


def _tear(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:4096])


def _no_json(path: Path) -> None:
    _execute(path, "UPDATE pin_sets SET pins = '{'")


def _no_text(path: Path) -> None:
    _execute(path, "UPDATE runs SET agent = CAST(X'ff' AS TEXT)")


def _execute(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize("damage", [_flip, _tear, _no_json, _no_text])
def test_damage_is_said_to_be_damage(path: Path, damage: Callable[[Path], None]) -> None:
    with Ledger(path) as ledger:
        ledger.start(start("r1"))
    damage(path)
    with pytest.raises(IntegrityError) as found, Ledger(path) as ledger:
        ledger.runs()
    assert "ledger-damaged" == found.value.problems[0].code


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("CREATE TABLE orders (id TEXT)", "database of something else"),
        ("PRAGMA user_version = 1", "version 1"),
        ("PRAGMA user_version = 99", "version 99"),
    ],
)
def test_another_database_is_left_alone(tmp_path: Path, statement: str, expected: str) -> None:
    path = tmp_path / "other.db"
    _execute(path, statement)
    with pytest.raises(InvalidError, match=expected) as refused:
        Ledger(path)
    assert "ledger-version" == refused.value.problems[0].code
    connection = sqlite3.connect(path)
    assert ("runs",) not in connection.execute("SELECT name FROM sqlite_schema").fetchall()
    connection.close()


def test_a_ledger_that_cannot_be_opened_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    for path in (tmp_path, tmp_path / "file" / "runs.db"):
        with pytest.raises(InvalidError) as refused:
            Ledger(path)
        assert "ledger-unusable" == refused.value.problems[0].code


def test_a_ledger_held_by_others_is_busy(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("ledger", "sqlite_errors"):
        monkeypatch.setattr(f"pawl.runs.{module}.BUSY_SECONDS", 0.05)
    with Ledger(path) as ledger:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ConflictError) as refused:
            ledger.start(start("r1"))
        other.execute("ROLLBACK")
        other.close()
        assert "ledger-busy" == refused.value.problems[0].code
        ledger.start(start("r1"))


def test_a_closed_ledger_says_so(path: Path) -> None:
    ledger = Ledger(path)
    ledger.close()
    ledger.close()
    for act in (lambda: ledger.start(start("r1")), lambda: ledger.affected(DRAFT), ledger.runs):
        with pytest.raises(UsageError) as refused:
            act()
        assert "ledger-closed" == refused.value.problems[0].code


def test_a_start_does_not_change_with_its_caller(ledger: Ledger) -> None:
    pins = {"a": {"version": "1.0.0", "digest": DIGEST, "kind": "tool"}}
    ledger.start(replace(start("r1"), pins=pins))
    pins["a"]["version"] = "9.9.9"
    row = ledger.show("r1")
    assert row is not None
    assert "1.0.0" == row.pins["a"]["version"]
