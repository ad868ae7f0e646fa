"""The ledger of runs: SQLite in WAL mode, durable when a call returns.

A start, a use and an end are one transaction each, synced to disk before the call returns. A run keeps the pins of its
start; input values are never stored. Many processes may share one file.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pawl.errors import ConflictError, IntegrityError, InvalidError, NotFoundError
from pawl.ids import Ref
from pawl.io.steps import step

SCHEMA_VERSION = 1
BUSY_SECONDS = 30.0
_SCHEMA = """
CREATE TABLE runs (
    run_id TEXT PRIMARY KEY, channel TEXT NOT NULL, serial INTEGER NOT NULL, snapshot TEXT NOT NULL, policy INTEGER,
    pins TEXT NOT NULL, agent TEXT NOT NULL, session TEXT, started_at TEXT NOT NULL, ended_at TEXT, outcome TEXT
) STRICT;
CREATE TABLE uses (
    run_id TEXT NOT NULL REFERENCES runs(run_id), seq INTEGER NOT NULL, at TEXT NOT NULL, kind TEXT NOT NULL,
    name TEXT NOT NULL, version TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX uses_by_version ON uses (name, version, run_id);
CREATE TABLE pinned (
    name TEXT NOT NULL, version TEXT NOT NULL, run_id TEXT NOT NULL REFERENCES runs(run_id),
    PRIMARY KEY (name, version, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_start ON runs (started_at);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStart:
    """What is known when a run starts. ``pins``: name -> version, digest, kind. Times are RFC 3339 in UTC."""

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
    """An open ledger; ``with`` closes it. Not for several threads at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with _reported(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            with _reported(path):
                self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def start(self, run: RunStart) -> None:
        """Record the start of a run; ``ConflictError`` where its id is taken."""
        pins = json.dumps({name: dict(pin) for name, pin in run.pins.items()}, sort_keys=True)
        row = (
            run.run_id,
            run.channel,
            run.serial,
            run.snapshot,
            run.policy,
            pins,
            run.agent,
            run.session,
            run.started_at,
        )
        with self._transaction("ledger.start"):
            try:
                self._connection.execute(
                    "INSERT INTO runs (run_id, channel, serial, snapshot, policy, pins, agent, session, started_at)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    row,
                )
            except sqlite3.IntegrityError:
                raise ConflictError(f"there is a run {run.run_id} already", code="run-exists") from None
            self._connection.executemany(
                "INSERT INTO pinned (name, version, run_id) VALUES (?, ?, ?)",
                [(name, pin["version"], run.run_id) for name, pin in run.pins.items()],
            )

    def use(self, run_id: str, use: Use) -> int:
        """Record a use in an open run and return its number."""
        with self._transaction("ledger.use"):
            self._open_run(run_id)
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
            run = self.show(run_id)
            if run is None:
                raise _unknown(run_id)
            if run.ended_at is not None:
                if run.outcome == outcome:
                    return False
                raise ConflictError(f"the run {run_id} ended as {run.outcome} at {run.ended_at}", code="run-ended")
            self._connection.execute(
                "UPDATE runs SET ended_at = ?, outcome = ? WHERE run_id = ?", (at, outcome, run_id)
            )
        return True

    def open_run(self, run_id: str) -> RunRow:
        """Return a run that has not ended; ``NotFoundError`` or ``ConflictError`` otherwise."""
        with _reported(self._path):
            return self._open_run(run_id)

    def show(self, run_id: str) -> RunRow | None:
        with _reported(self._path):
            row = self._connection.execute(f"SELECT {_COLUMNS} FROM runs WHERE run_id = ?", (run_id,)).fetchone()  # noqa: S608
        return _run(row, self._path) if row else None

    def uses(self, run_id: str) -> tuple[UseRow, ...]:
        """Return what a run used, in order."""
        with _reported(self._path):
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
        where = "(?1 IS NULL OR agent = ?1) AND (?2 IS NULL OR channel = ?2) AND (NOT ?3 OR ended_at IS NULL)"
        query = f"SELECT {_COLUMNS} FROM runs WHERE {where} ORDER BY started_at DESC, rowid DESC LIMIT ?4"  # noqa: S608
        return self._rows(query, (agent, channel, open_only, limit))

    def affected(self, ref: Ref, *, since: str | None = None, until: str | None = None) -> Affected:
        """Return the runs that used a version from ``since`` on and before ``until``, and those that only had it."""
        used = (
            "SELECT run_id FROM uses WHERE name = ?1 AND version = ?2"
            " AND (?3 IS NULL OR at >= ?3) AND (?4 IS NULL OR at < ?4)"
        )
        ever = "SELECT run_id FROM uses WHERE name = ?1 AND version = ?2"
        pinned = "SELECT run_id FROM pinned WHERE name = ?1 AND version = ?2"
        within = "(?3 IS NULL OR started_at >= ?3) AND (?4 IS NULL OR started_at < ?4)"
        head, tail = f"SELECT {_COLUMNS} FROM runs WHERE", "ORDER BY started_at, rowid"  # noqa: S608 - constants
        values = (ref.name, ref.version, since, until)
        return Affected(
            used=self._rows(f"{head} run_id IN ({used}) {tail}", values),
            pinned_only=self._rows(
                f"{head} run_id IN ({pinned}) AND run_id NOT IN ({ever}) AND {within} {tail}", values
            ),
        )

    def _rows(self, query: str, values: tuple[Any, ...]) -> tuple[RunRow, ...]:
        with _reported(self._path):
            rows = self._connection.execute(query, values).fetchall()
        return tuple(_run(row, self._path) for row in rows)

    def _open_run(self, run_id: str) -> RunRow:
        run = self.show(run_id)
        if run is None:
            raise _unknown(run_id)
        if run.ended_at is not None:
            raise ConflictError(f"the run {run_id} ended as {run.outcome} at {run.ended_at}", code="run-ended")
        return run

    def _prepare(self) -> None:
        # FULL in WAL mode: a commit is on the disk when it returns, not only in the system's cache
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            self._connection.execute(f"PRAGMA {pragma}")
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            with self._transaction("ledger.create"):
                (version,) = self._connection.execute("PRAGMA user_version").fetchone()
                if version == 0:
                    for statement in _SCHEMA.split(";"):
                        self._connection.execute(statement)
                    self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
                    version = SCHEMA_VERSION
        if version != SCHEMA_VERSION:
            raise InvalidError(
                f"{self._path} is a ledger of version {version}, this pawl reads {SCHEMA_VERSION}",
                code="ledger-version",
            )

    @contextmanager
    def _transaction(self, name: str) -> Iterator[None]:
        with _reported(self._path):
            step(f"{name}.begin")
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            step(f"{name}.commit")
            self._connection.execute("COMMIT")
            step(f"{name}.committed")


_COLUMNS = "run_id, channel, serial, snapshot, policy, pins, agent, session, started_at, ended_at, outcome"


def _run(row: tuple[Any, ...], path: Path) -> RunRow:
    fields = dict(zip(_COLUMNS.split(", "), row, strict=True))
    try:
        fields["pins"] = json.loads(fields["pins"])
    except ValueError:
        raise IntegrityError(f"the ledger {path} is damaged: the pins of {fields['run_id']} do not read") from None
    return RunRow(**fields)


def _unknown(run_id: str) -> NotFoundError:
    return NotFoundError(
        f"there is no run {run_id[:100]}",
        code="run-unknown",
        hint="pawl runs list shows them; pawl run start makes one",
    )


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours: busy is a conflict, damage an integrity error, the rest about the file."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise ConflictError(f"the ledger {path} is in use", code="ledger-busy", hint="try again") from error
        raise InvalidError(f"the ledger {path} cannot be used: {error}", code="ledger-unusable") from error
    except sqlite3.DatabaseError as error:
        message = f"the ledger {path} is damaged: {error}"
        raise IntegrityError(
            message, code="ledger-damaged", hint="restore it from a backup, or move it away"
        ) from error
    except OSError as error:
        raise InvalidError(f"the ledger {path} cannot be used: {error.strerror}", code="ledger-unusable") from error
