"""The ledger of runs: SQLite in WAL mode, durable when a call returns.

- A start, a use, several uses together and an end are one transaction each, synced to disk before the call returns.
- A run keeps the pins of its start and can use nothing else; runs with the same pins share them in the file.
- Input values are never stored.
- With each run stands the newest serial of its channel that a checkpoint of it saw, and whether it was let pass there:
  so that whoever stops something sees how far that has got. Every use is a checkpoint.
- Many processes may share one file, and several threads one ledger.
- Times are RFC 3339 in UTC to the second, so that they order as text.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

from pawl.errors import ConflictError, IntegrityError, InvalidError, NotFoundError
from pawl.ids import Ref
from pawl.io.files import make_folders
from pawl.io.steps import step
from pawl.runs.rows import Affected, Checkpoint, Pins, RunRow, RunStart, Use, UseRow
from pawl.runs.sqlite_errors import BUSY_SECONDS, patiently, reported

SCHEMA_VERSION = 3
MAX_LOG_PAGES = 4_000
"""How long the write-ahead log may get, in pages of 4 KiB, before the commit that fills it writes it back."""
_REMEMBERED = 64
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
    started_at TEXT NOT NULL, ended_at TEXT, outcome TEXT,
    checked_at TEXT, checked_serial INTEGER, stopped INTEGER
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
_CHECKED = ("checked_at TEXT", "checked_serial INTEGER", "stopped INTEGER")
"""What version 3 knows of a run beside version 2."""
Key = TypeVar("Key")
Item = TypeVar("Item")
_COLUMNS = (
    "run_id, channel, serial, snapshot, policy, agent, session, started_at, ended_at, outcome,"
    " checked_at, checked_serial, stopped"
)
_RUNS = f"SELECT pin_set, {_COLUMNS} FROM runs"  # noqa: S608 - constants alone


class Ledger:
    """An open ledger; ``with`` closes it. The file is made where there is none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._sets: dict[str, int] = {}
        """The digest of pins -> their number, of those that are in the file."""
        self._known: dict[int, Mapping[str, Mapping[str, str]]] = {}
        with reported(path):
            make_folders(path.parent)
            if path.exists() and not path.is_file():
                raise InvalidError(f"{path} is no regular file, so it is no ledger", code="ledger-unusable")
            # one lock of our own around every statement, so that a run can be used from a pool of threads
            self._connection = sqlite3.connect(
                path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        try:
            with reported(path):
                patiently(self._prepare)
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
        pins = run.pins if isinstance(run.pins, Pins) else Pins(run.pins)
        with self._transaction("ledger.start"):
            pin_set = self._sets.get(pins.digest) or self._pin_set(pins)
            row = (run.run_id, run.channel, run.serial, run.snapshot, run.policy, pin_set)
            made = self._connection.execute(
                "INSERT INTO runs (run_id, channel, serial, snapshot, policy, pin_set, agent, session, started_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run_id) DO NOTHING",
                (*row, run.agent, run.session, run.started_at),
            )
            if not made.rowcount:
                raise ConflictError(f"there is a run {run.run_id[:100]} already", code="run-exists")
        _remember(self._sets, pins.digest, pin_set)

    def use(self, run_id: str, use: Use, *, serial: int | None = None) -> int:
        """Record a use in an open run and return its number; ``InvalidError`` for what is not the run's own pin.

        ``serial`` is the one that the channel has now: the use is a checkpoint that let the run pass.
        """
        return self.use_all(run_id, (use,), serial=serial)

    def use_all(self, run_id: str, uses: Sequence[Use], *, serial: int | None = None) -> int:
        """Record uses in an open run, all or none, and return the number of the last; see :meth:`use`."""
        with self._transaction("ledger.use"):
            pins = self._open_pins(run_id)
            for use in uses:
                _check_pinned(run_id, pins.get(use.name), use)
            (last,) = self._connection.execute(
                "SELECT COALESCE(MAX(seq), 0) FROM uses WHERE run_id = ?", (run_id,)
            ).fetchone()
            rows = [
                (run_id, seq, use.at, use.kind, use.name, use.version, use.digest)
                for seq, use in enumerate(uses, last + 1)
            ]
            self._connection.executemany("INSERT INTO uses VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            if serial is not None and uses:
                self._check(run_id, Checkpoint(at=uses[-1].at, serial=serial, stopped=False))
        number: int = last + len(rows)
        return number

    def _open_pins(self, run_id: str) -> Mapping[str, Mapping[str, str]]:
        found = self._connection.execute("SELECT pin_set, ended_at FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        if found is None or found[1] is not None:
            return self._open_run(run_id).pins  # which says what is wrong
        pin_set: int = found[0]
        if pin_set not in self._known:
            _remember(self._known, pin_set, self._pins(pin_set))
        return self._known[pin_set]

    def checkpoint(self, run_id: str, checkpoint: Checkpoint) -> None:
        """Record that an open run came to a checkpoint."""
        with self._transaction("ledger.checkpoint"):
            self._open_run(run_id)
            self._check(run_id, checkpoint)

    def _check(self, run_id: str, checkpoint: Checkpoint) -> None:
        self._connection.execute(
            "UPDATE runs SET checked_at = ?, checked_serial = ?, stopped = ? WHERE run_id = ?",
            (checkpoint.at, checkpoint.serial, int(checkpoint.stopped), run_id),
        )

    def end(self, run_id: str, outcome: str, at: str) -> bool:
        """Record how a run ended; False where it ended so before, ``ConflictError`` where it ended otherwise."""
        with self._transaction("ledger.end"):
            ended = self._connection.execute(
                "UPDATE runs SET ended_at = ?, outcome = ? WHERE run_id = ? AND ended_at IS NULL", (at, outcome, run_id)
            )
            if not ended.rowcount:
                run = self._known_run(run_id)
                if run.outcome != outcome:
                    raise _ended(run)
                return False
        return True

    def open_run(self, run_id: str) -> RunRow:
        """Return a run that has not ended; ``NotFoundError`` or ``ConflictError`` otherwise."""
        return self._open_run(run_id)

    def show(self, run_id: str) -> RunRow | None:
        """Return a run, or None where none was started under this id."""
        return next(iter(self._rows(f"{_RUNS} WHERE run_id = :run_id", {"run_id": run_id})), None)

    def uses(self, run_id: str) -> tuple[UseRow, ...]:
        """Return what a run used, in order."""
        with self._lock, reported(self._path):
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
        tests = {
            "agent = :agent": agent is not None,
            "channel = :channel": channel is not None,
            "ended_at IS NULL": open_only,
        }
        where = " AND ".join(test for test, wanted in tests.items() if wanted) or "TRUE"
        query = f"{_RUNS} WHERE {where} ORDER BY started_at DESC, rowid DESC LIMIT :limit"
        return self._rows(query, {"agent": agent, "channel": channel, "limit": max(limit, 0)})

    def open_with(self, channel: str, name: str, version: str | None, *, limit: int) -> tuple[RunRow, ...]:
        """Return the open runs on a channel that have a name pinned, at any version or at one, oldest first."""
        pinned = "SELECT pin_set FROM pinned WHERE name = :name AND (:version IS NULL OR version = :version)"
        where = f"ended_at IS NULL AND channel = :channel AND pin_set IN ({pinned})"
        values = {"channel": channel, "name": name, "version": version, "limit": max(limit, 0)}
        return self._rows(f"{_RUNS} WHERE {where} ORDER BY started_at, rowid LIMIT :limit", values)

    def affected(self, ref: Ref, *, since: str | None = None, until: str | None = None) -> Affected:
        """Return the runs that used a version from ``since`` on and before ``until``, and those that only had it.

        ``pinned_only`` are runs that were under way in that time; together the two are all that could have used it.
        """
        used = (
            "SELECT run_id FROM uses WHERE name = :name AND version = :version"
            " AND (:since IS NULL OR at >= :since) AND (:until IS NULL OR at < :until)"
        )
        pinned = "SELECT pin_set FROM pinned WHERE name = :name AND version = :version"
        under_way = (
            "(:until IS NULL OR started_at < :until) AND (:since IS NULL OR ended_at IS NULL OR ended_at >= :since)"
            f" AND run_id NOT IN ({used})"
        )
        order = "ORDER BY started_at, rowid"
        values = {"name": ref.name, "version": ref.version, "since": since, "until": until}
        with self._lock, self._moment():
            return Affected(
                used=self._rows(f"{_RUNS} WHERE run_id IN ({used}) {order}", values),
                pinned_only=self._rows(f"{_RUNS} WHERE pin_set IN ({pinned}) AND {under_way} {order}", values),
            )

    def _rows(self, query: str, values: Mapping[str, Any]) -> tuple[RunRow, ...]:
        with self._lock, reported(self._path):
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

    def _pin_set(self, pins: Pins) -> int:
        found = self._connection.execute("SELECT pin_set FROM pin_sets WHERE digest = ?", (pins.digest,)).fetchone()
        if found:
            known: int = found[0]
            return known
        row = (pins.digest, pins.text)
        made = self._connection.execute("INSERT INTO pin_sets (digest, pins) VALUES (?, ?)", row).lastrowid
        self._connection.executemany(
            "INSERT INTO pinned VALUES (?, ?, ?)", [(made, name, pin["version"]) for name, pin in pins.items()]
        )
        number: int = made or 0
        return number

    def _prepare(self) -> None:
        # FULL in WAL mode: a commit is on the disk when it returns, not only in the system's cache
        # The log is written back by one commit in hundreds, and when the ledger is closed
        log = f"wal_autocheckpoint = {MAX_LOG_PAGES}"
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", log):
            self._connection.execute(f"PRAGMA {pragma}")
        if self._version() == 0:
            with self._transaction("ledger.create"):
                if self._version() == 0:
                    self._create()
        if self._version() == 2:
            with self._transaction("ledger.migrate"):
                if self._version() == 2:
                    self._migrate()
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

    def _migrate(self) -> None:
        """Bring a ledger of version 2 up to date: columns are added, nothing else changes."""
        for column in _CHECKED:
            self._connection.execute(f"ALTER TABLE runs ADD COLUMN {column}")
        self._connection.execute("PRAGMA user_version = 3")

    def _version(self) -> int:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        number: int = version
        return number

    @contextmanager
    def _moment(self) -> Iterator[None]:
        """Let several reads see one state."""
        with reported(self._path):
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def _transaction(self, name: str) -> Iterator[None]:
        with self._lock, reported(self._path):
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


def _check_pinned(run_id: str, pin: Mapping[str, str] | None, use: Use) -> None:
    if pin is not None and (use.version, use.digest, use.kind) == (pin["version"], pin["digest"], pin["kind"]):
        return
    message = f"the run {run_id} was started without the {use.kind} {use.name}@{use.version}"
    hint = f"it has {use.name}@{pin['version']}" if pin else "start another run on the channel as it is now"
    raise InvalidError(message, code="run-not-pinned", hint=hint)


def _remember(known: dict[Key, Item], key: Key, item: Item) -> None:
    if len(known) >= _REMEMBERED:
        known.clear()
    known[key] = item
