"""The ledger of runs: SQLite in WAL mode, durable when a call returns.

- A start, a use and an end are one transaction each, synced to disk before the call returns.
- A run keeps the pins of its start and can use nothing else; runs with the same pins share them in the file.
- Input values are never stored.
- Many processes may share one file, and several threads one ledger.
- Times are RFC 3339 in UTC to the second, so that they order as text.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pawl.errors import ConflictError, IntegrityError, InvalidError, NotFoundError, UsageError
from pawl.ids import Ref
from pawl.io.steps import step

SCHEMA_VERSION = 2
BUSY_SECONDS = 30.0
_RETRY_SECONDS = 0.01
_SCHEMA = """
CREATE TABLE pin_sets (
    pin_set INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, pins TEXT NOT NULL
) STRICT;
CREATE TABLE pinned (
    pin_set INTEGER NOT NULL REFERENCES pin_sets(pin_set), name TEXT NOT NULL, version TEXT NOT NULL,
    PRIMARY KEY (pin_set, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX pinned_by_version ON pinned (name, version, pin_set);
CREATE TABLE runs (
    run_id TEXT PRIMARY KEY, channel TEXT NOT NULL, serial INTEGER NOT NULL, snapshot TEXT NOT NULL, policy INTEGER,
    pin_set INTEGER NOT NULL REFERENCES pin_sets(pin_set), agent TEXT NOT NULL, session TEXT,
    started_at TEXT NOT NULL, ended_at TEXT, outcome TEXT
) STRICT;
CREATE INDEX runs_by_start ON runs (started_at);
CREATE INDEX runs_by_pins ON runs (pin_set, started_at);
CREATE INDEX runs_open ON runs (started_at) WHERE ended_at IS NULL;
CREATE TABLE uses (
    run_id TEXT NOT NULL REFERENCES runs(run_id), seq INTEGER NOT NULL, at TEXT NOT NULL, kind TEXT NOT NULL,
    name TEXT NOT NULL, version TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX uses_by_version ON uses (name, version, at);
"""
_COLUMNS = "run_id, channel, serial, snapshot, policy, agent, session, started_at, ended_at, outcome"
_RUNS = f"SELECT pin_set, {_COLUMNS} FROM runs"  # noqa: S608 - constants alone


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStart:
    """What is known when a run starts. ``pins``: name -> version, digest, kind."""

    run_id: str
    channel: str
    serial: int
    snapshot: str
    policy: int | None
    pins: Mapping[str, Mapping[str, str]]
    agent: str
    session: str | None
    started_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One use of one version in a run."""

    at: str
    kind: str
    name: str
    version: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UseRow(Use):
    """A use as it was recorded; ``seq`` counts from 1 within its run."""

    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow(RunStart):
    """A run as it was recorded; without ``ended_at`` it is unfinished."""

    ended_at: str | None
    outcome: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """The runs that used a version, and those that had it pinned and did not use it."""

    used: tuple[RunRow, ...]
    pinned_only: tuple[RunRow, ...]


class Ledger:
    """An open ledger; ``with`` closes it. The file is made where there is none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        with _reported(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            # one lock of our own around every statement, so that a run can be used from a pool of threads
            self._connection = sqlite3.connect(
                path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        try:
            with _reported(path):
                _patiently(self._prepare)
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def start(self, run: RunStart) -> None:
        """Record the start of a run; ``ConflictError`` where its id is taken."""
        with self._transaction("ledger.start"):
            if self._connection.execute("SELECT 1 FROM runs WHERE run_id = ?", (run.run_id,)).fetchone():
                raise ConflictError(f"there is a run {run.run_id[:100]} already", code="run-exists")
            row = (run.run_id, run.channel, run.serial, run.snapshot, run.policy, self._pin_set(run.pins))
            self._connection.execute(
                "INSERT INTO runs (run_id, channel, serial, snapshot, policy, pin_set, agent, session, started_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, run.agent, run.session, run.started_at),
            )

    def use(self, run_id: str, use: Use) -> int:
        """Record a use in an open run and return its number; ``InvalidError`` for what is not the run's own pin."""
        with self._transaction("ledger.use"):
            pin = self._open_run(run_id).pins.get(use.name)
            if pin is None or (use.version, use.digest, use.kind) != (pin["version"], pin["digest"], pin["kind"]):
                message = f"the run {run_id} was started without the {use.kind} {use.name}@{use.version}"
                hint = f"it has {use.name}@{pin['version']}" if pin else "start another run on the channel as it is now"
                raise InvalidError(message, code="run-not-pinned", hint=hint)
            (last,) = self._connection.execute(
                "SELECT COALESCE(MAX(seq), 0) FROM uses WHERE run_id = ?", (run_id,)
            ).fetchone()
            row = (run_id, last + 1, use.at, use.kind, use.name, use.version, use.digest)
            self._connection.execute("INSERT INTO uses VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        number: int = last + 1
        return number

    def end(self, run_id: str, outcome: str, at: str) -> bool:
        """Record how a run ended; False where it ended so before, ``ConflictError`` where it ended otherwise."""
        with self._transaction("ledger.end"):
            run = self._known_run(run_id)
            if run.ended_at is not None:
                if run.outcome == outcome:
                    return False
                raise _ended(run)
            self._connection.execute(
                "UPDATE runs SET ended_at = ?, outcome = ? WHERE run_id = ?", (at, outcome, run_id)
            )
        return True

    def open_run(self, run_id: str) -> RunRow:
        """Return a run that has not ended; ``NotFoundError`` or ``ConflictError`` otherwise."""
        return self._open_run(run_id)

    def show(self, run_id: str) -> RunRow | None:
        """Return a run, or None where none was started under this id."""
        return next(iter(self._rows(f"{_RUNS} WHERE run_id = ?1", (run_id,))), None)

    def uses(self, run_id: str) -> tuple[UseRow, ...]:
        """Return what a run used, in order."""
        with self._lock, _reported(self._path):
            rows = self._connection.execute(
                "SELECT seq, at, kind, name, version, digest FROM uses WHERE run_id = ? ORDER BY seq", (run_id,)
            ).fetchall()
        return tuple(
            UseRow(seq=seq, at=at, kind=kind, name=name, version=version, digest=digest)
            for seq, at, kind, name, version, digest in rows
        )

    def runs(
        self, *, agent: str | None = None, channel: str | None = None, open_only: bool = False, limit: int = 100
    ) -> tuple[RunRow, ...]:
        """Return runs, newest first."""
        tests = {"agent = ?1": agent is not None, "channel = ?2": channel is not None, "ended_at IS NULL": open_only}
        where = " AND ".join(test for test, wanted in tests.items() if wanted) or "TRUE"
        query = f"{_RUNS} WHERE {where} ORDER BY started_at DESC, rowid DESC LIMIT ?3"
        return self._rows(query, (agent, channel, max(limit, 0)))

    def affected(self, ref: Ref, *, since: str | None = None, until: str | None = None) -> Affected:
        """Return the runs that used a version from ``since`` on and before ``until``, and those that only had it.

        ``pinned_only`` are runs that were under way in that time; together the two are all that could have used it.
        """
        used = (
            "SELECT run_id FROM uses WHERE name = ?1 AND version = ?2"
            " AND (?3 IS NULL OR at >= ?3) AND (?4 IS NULL OR at < ?4)"
        )
        pinned = "SELECT pin_set FROM pinned WHERE name = ?1 AND version = ?2"
        under_way = (
            "(?4 IS NULL OR started_at < ?4) AND (?3 IS NULL OR ended_at IS NULL OR ended_at >= ?3)"
            f" AND run_id NOT IN ({used})"
        )
        order = "ORDER BY started_at, rowid"
        values = (ref.name, ref.version, since, until)
        with self._lock, self._moment():
            return Affected(
                used=self._rows(f"{_RUNS} WHERE run_id IN ({used}) {order}", values),
                pinned_only=self._rows(f"{_RUNS} WHERE pin_set IN ({pinned}) AND {under_way} {order}", values),
            )

    def _rows(self, query: str, values: tuple[Any, ...]) -> tuple[RunRow, ...]:
        with self._lock, _reported(self._path):
            rows = self._connection.execute(query, values).fetchall()
            pins = {pin_set: self._pins(pin_set) for pin_set in {row[0] for row in rows}}
        names = _COLUMNS.split(", ")
        return tuple(RunRow(pins=pins[row[0]], **dict(zip(names, row[1:], strict=True))) for row in rows)

    def _pins(self, pin_set: int) -> Mapping[str, Mapping[str, str]]:
        found = self._connection.execute("SELECT pins FROM pin_sets WHERE pin_set = ?", (pin_set,)).fetchone()
        try:
            pins: Mapping[str, Mapping[str, str]] = json.loads(found[0] if found else "")
        except ValueError:
            message = f"the ledger {self._path} is damaged: the pins of some runs do not read"
            raise IntegrityError(message, code="ledger-damaged") from None
        return pins

    def _known_run(self, run_id: str) -> RunRow:
        run = self.show(run_id)
        if run is None:
            message = f"there is no run {run_id[:100]}"
            raise NotFoundError(message, code="run-unknown", hint="pawl runs list shows them; pawl run start makes one")
        return run

    def _open_run(self, run_id: str) -> RunRow:
        run = self._known_run(run_id)
        if run.ended_at is not None:
            raise _ended(run)
        return run

    def _pin_set(self, pins: Mapping[str, Mapping[str, str]]) -> int:
        text = json.dumps({name: dict(pin) for name, pin in pins.items()}, sort_keys=True)
        digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
        found = self._connection.execute("SELECT pin_set FROM pin_sets WHERE digest = ?", (digest,)).fetchone()
        if found:
            known: int = found[0]
            return known
        made = self._connection.execute("INSERT INTO pin_sets (digest, pins) VALUES (?, ?)", (digest, text)).lastrowid
        self._connection.executemany(
            "INSERT INTO pinned VALUES (?, ?, ?)", [(made, name, pin["version"]) for name, pin in pins.items()]
        )
        number: int = made or 0
        return number

    def _prepare(self) -> None:
        # FULL in WAL mode: a commit is on the disk when it returns, not only in the system's cache
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            self._connection.execute(f"PRAGMA {pragma}")
        if self._version() == 0:
            with self._transaction("ledger.create"):
                if self._version() == 0:
                    self._create()
        version = self._version()
        if version != SCHEMA_VERSION:
            message = f"{self._path} is a ledger of version {version}, this pawl reads {SCHEMA_VERSION}"
            raise InvalidError(message, code="ledger-version", hint="move it away to start a new one")

    def _create(self) -> None:
        if self._connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
            raise InvalidError(f"{self._path} is the database of something else", code="ledger-version")
        for statement in _SCHEMA.split(";"):
            self._connection.execute(statement)
        self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _version(self) -> int:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        number: int = version
        return number

    @contextmanager
    def _moment(self) -> Iterator[None]:
        """Let several reads see one state."""
        with _reported(self._path):
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def _transaction(self, name: str) -> Iterator[None]:
        with self._lock, _reported(self._path):
            step(f"{name}.begin")
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                step(f"{name}.commit")
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            step(f"{name}.committed")


def _ended(run: RunRow) -> ConflictError:
    return ConflictError(f"the run {run.run_id} ended as {run.outcome} at {run.ended_at}", code="run-ended")


def _patiently(prepare: Callable[[], None]) -> None:
    """Call again while others hold the file: SQLite gives up at once where two processes switch it to WAL."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            prepare()
        except (sqlite3.OperationalError, ConflictError) as error:
            busy = isinstance(error, ConflictError) or _is_busy(error)
            if not busy or time.monotonic() >= deadline:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return


def _is_busy(error: sqlite3.Error) -> bool:
    # errors of the Python module itself have no code
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours: busy is a conflict, damage an integrity error, the rest about file or caller."""
    try:
        yield
    except sqlite3.ProgrammingError as error:
        raise UsageError(f"the ledger {path} was closed before: {error}", code="ledger-closed") from error
    except sqlite3.OperationalError as error:
        if _is_busy(error):
            raise ConflictError(f"the ledger {path} is in use", code="ledger-busy", hint="try again") from error
        if not hasattr(error, "sqlite_errorcode"):  # a text in the file that is no UTF-8
            raise _damaged(path, error) from error
        raise InvalidError(f"the ledger {path} cannot be used: {error}", code="ledger-unusable") from error
    except sqlite3.DatabaseError as error:
        raise _damaged(path, error) from error
    except OSError as error:
        raise InvalidError(f"the ledger {path} cannot be used: {error.strerror}", code="ledger-unusable") from error
    except (UnicodeEncodeError, OverflowError) as error:
        raise InvalidError(f"the ledger cannot hold a value: {error}", code="ledger-value") from error


def _damaged(path: Path, error: sqlite3.Error) -> IntegrityError:
    message = f"the ledger {path} is damaged: {error}"
    return IntegrityError(message, code="ledger-damaged", hint="restore it from a backup, or move it away")
