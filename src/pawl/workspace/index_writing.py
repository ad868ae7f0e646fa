"""The rows of the index: what each record changes, as the fold says it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from pawl.ids import REGISTRY_JOURNAL, Channel, Name
from pawl.io.memory import Lost
from pawl.registry.catalog import RegistryFold
from pawl.registry.channels_fold import ChannelFold, go_on
from pawl.registry.channels_projection import PARTS, joined, read_head, written
from pawl.registry.channels_state import Past
from pawl.registry.growing import Change, Joined, Longer, Overlay
from pawl.registry.journal import EMPTY, Head, Record
from pawl.registry.versions import is_prerelease
from pawl.workspace.index_pins import HELD_PINS, OF_PIECE, bounds, by_piece
from pawl.workspace.index_rows import Source, select
from pawl.workspace.index_states import CATALOG, catalog_from, channel_from
from pawl.workspace.index_versions import final_key

SCHEMA = """
CREATE TABLE journals (
  journal TEXT PRIMARY KEY, serial INTEGER NOT NULL, digest TEXT, folder TEXT, newest TEXT, projection TEXT,
  projected TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE records (
  journal TEXT NOT NULL, serial INTEGER NOT NULL, digest TEXT NOT NULL, at TEXT NOT NULL, anchor INTEGER,
  anchored TEXT,
  PRIMARY KEY (journal, serial)
) STRICT, WITHOUT ROWID;
CREATE TABLE held (
  journal TEXT NOT NULL, part TEXT NOT NULL, key TEXT NOT NULL, since INTEGER NOT NULL, until INTEGER,
  place INTEGER NOT NULL, text TEXT NOT NULL, pretty TEXT, PRIMARY KEY (journal, part, key, since)
) STRICT;
CREATE INDEX held_now ON held (journal, part, place) WHERE until IS NULL;
CREATE INDEX held_pins ON held (journal, key) WHERE until IS NULL AND part = 'pins';
CREATE TABLE pieces (
  journal TEXT NOT NULL, first TEXT NOT NULL, text TEXT NOT NULL, pretty TEXT NOT NULL, PRIMARY KEY (journal, first)
) STRICT;
CREATE TABLE added (
  id INTEGER PRIMARY KEY, journal TEXT NOT NULL, part TEXT NOT NULL, key TEXT NOT NULL, about TEXT,
  serial INTEGER NOT NULL, text TEXT NOT NULL
) STRICT;
CREATE INDEX added_by ON added (journal, part, key, id);
CREATE INDEX added_about ON added (journal, about) WHERE about IS NOT NULL;
CREATE TABLE needs (
  journal TEXT NOT NULL, wanted TEXT NOT NULL, name TEXT NOT NULL, since INTEGER NOT NULL, until INTEGER,
  PRIMARY KEY (journal, wanted, name, since)
) STRICT, WITHOUT ROWID;
CREATE TABLE finals (
  journal TEXT NOT NULL, name TEXT NOT NULL, sort TEXT NOT NULL, serial INTEGER NOT NULL,
  PRIMARY KEY (journal, name, sort)
) STRICT, WITHOUT ROWID
"""
_TABLES = ("journals", "records", "held", "pieces", "added", "needs", "finals")
_PIECE = 64
"""How many pins' JSON is kept in one piece: it is made again where one of them changes."""
_PLACES = 1 << 24
"""How many values of a part one record can put behind the others."""

Write = Callable[[Any], Any]


def forget_journal(connection: sqlite3.Connection, journal: str) -> None:
    """Remove every row of a journal."""
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table} WHERE journal = ?", (journal,))  # noqa: S608 - names from above


def go_on_with(
    connection: sqlite3.Connection, journal: str, known: Head, records: Sequence[Record], *, ours: bool = False
) -> None:
    """Fold records that follow ``known``, whose state the rows are; ``IntegrityError`` as the fold from the start.

    Of ``ours``, which were planned from these very rows, the state that they name is not worked out again.
    """
    source = Source(journal, known, lambda query, values: connection.execute(query, values).fetchall(), _never)
    notes = (
        _fold_registry(source, records) if journal == REGISTRY_JOURNAL else _fold_channel(source, records, ours=ours)
    )
    rows = _Rows(connection, journal)
    for record, changed in zip(records, notes, strict=True):
        rows.write(record, changed)
    rows.join(
        {str(change.key) for changed in notes for part, all_of in changed.held if part == "pins" for change in all_of}
    )


def _never() -> Any:
    raise Lost("rows that are being written cannot be folded anew")


class _Changed:
    """What one record changed: of parts by key, and rows that were added, each ``(part, key, about, JSON)``."""

    def __init__(self) -> None:
        self.held: list[tuple[str, list[Change[Any, Any]]]] = []
        self.added: list[tuple[str, str, str | None, Any]] = []


def _fold_registry(source: Source, records: Sequence[Record]) -> list[_Changed]:
    fold = RegistryFold(catalog_from(source))
    notes = []
    for record in records:
        fold.apply(record)
        changed = _Changed()
        changed.held = [("published", _changes(fold.published)), ("withdrawals", _changes(fold.withdrawals))]
        changed.held.append(
            ("policies", [Change(item.number, (item,), last=True) for item in fold.policies.additions()])
        )
        changed.added = [("authors", key, None, actor.as_dict()) for key, actor in fold.authors.additions()]
        fold.names.additions()
        notes.append(changed)
    return notes


def _fold_channel(source: Source, records: Sequence[Record], *, ours: bool) -> list[_Changed]:
    channel = Channel(source.journal)
    fold = ChannelFold(channel, channel_from(source))
    notes: list[_Changed] = []

    def note(_: Record) -> None:
        changed = _Changed()
        changed.held = [(part, _changes(getattr(fold, part))) for part in (*PARTS, "moved")]
        changed.added = [*_past(fold.past), *_evidence(fold.evidence)]
        notes.append(changed)

    go_on(fold, records, note, vouched=ours)
    return notes


def _changes(part: Any) -> list[Change[Any, Any]]:
    assert isinstance(part, Overlay)  # noqa: S101 - folds that are laid over a state are made of these
    return part.changes()


def _past(past: Joined[Name, Past]) -> Iterable[tuple[str, str, str | None, Any]]:
    return (("past", name, item.pin.digest, item.pin.as_dict()) for name, item in past.additions())


def _evidence(rows: Longer[Mapping[str, Any]]) -> Iterable[tuple[str, str, str | None, Any]]:
    return (("evidence", row["key"]["subject"], None, row) for row in rows.additions())


class _Rows:
    """Writes the rows of one journal."""

    def __init__(self, connection: sqlite3.Connection, journal: str) -> None:
        self._do = connection.execute
        self._journal = journal

    def write(self, record: Record, changed: _Changed) -> None:
        serial = record.serial
        anchor = read_head(record.body["registry"]) if self._journal != REGISTRY_JOURNAL else EMPTY
        head = (self._journal, serial, record.digest, record.at, anchor.serial, anchor.digest)
        self._do("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", head)
        place = serial * _PLACES
        for part, changes in changed.held:
            for change in changes:
                place += 1
                self._hold(part, serial, place, change)
        for part, key, about, value in changed.added:
            row = (self._journal, part, key, about, serial, written(value, "compact"))
            self._do("INSERT INTO added VALUES (NULL, ?, ?, ?, ?, ?, ?)", row)

    def join(self, names: Collection[str]) -> None:
        """Make the pieces again in which pins were changed."""
        rows = self._do("SELECT first FROM pieces WHERE journal = ? ORDER BY first", (self._journal,)).fetchall()
        firsts = [row[0] for row in rows]
        for place in by_piece(firsts, names):
            low, high = bounds(firsts, place)
            query = select("key, text, pretty", HELD_PINS, OF_PIECE, "ORDER BY key")
            pins = self._do(query, {"journal": self._journal, "low": low, "high": high}).fetchall()
            if firsts:
                self._do("DELETE FROM pieces WHERE journal = ? AND first = ?", (self._journal, firsts[place]))
            size = _PIECE if len(pins) > 2 * _PIECE else max(len(pins), 1)
            for start in range(0, len(pins), size):
                self._put_piece(pins[start : start + size])

    def _put_piece(self, pins: Sequence[tuple[str, str, str]]) -> None:
        text = joined({key: text for key, text, _ in pins}, "compact")
        pretty = joined({key: pretty for key, _, pretty in pins}, "pretty")
        self._do("INSERT INTO pieces VALUES (?, ?, ?, ?)", (self._journal, pins[0][0], text, pretty))

    def _hold(self, part: str, serial: int, place: int, change: Change[Any, Any]) -> None:
        key, at = str(change.key), (self._journal, part, str(change.key))
        where = "journal = ? AND part = ? AND key = ? AND until IS NULL"
        before = self._do(f"SELECT place, since, text FROM held WHERE {where} ORDER BY since DESC", at).fetchone()  # noqa: S608
        if before is not None:
            self._do(
                "UPDATE held SET until = ? WHERE journal = ? AND part = ? AND key = ? AND since = ?",
                (serial, *at, before[1]),
            )
            if part == "pins":
                self._need_no_more(serial, key, before[1], before[2])
        for value in change.value:
            json_value = _WRITE[part](value)
            pretty = written(json_value, "pretty") if part in PARTS else None
            here = place if before is None or change.last else before[0]
            row = (*at, serial, here, written(json_value, "compact"), pretty)
            self._do("INSERT INTO held VALUES (?, ?, ?, ?, NULL, ?, ?, ?)", row)
            if part == "published" and not is_prerelease(value.version):
                final = (self._journal, value.name, final_key(value.version), serial)
                self._do("INSERT INTO finals VALUES (?, ?, ?, ?)", final)
            for wanted in value.requires if part == "pins" else ():
                self._do("INSERT INTO needs VALUES (?, ?, ?, ?, NULL)", (self._journal, wanted, key, serial))

    def _need_no_more(self, serial: int, name: str, since: int, text: str) -> None:
        for wanted in json.loads(text)["requires"]:
            where = "journal = ? AND wanted = ? AND name = ? AND since = ?"
            self._do(f"UPDATE needs SET until = ? WHERE {where}", (serial, self._journal, wanted, name, since))  # noqa: S608


_WRITE: Mapping[str, Write] = {
    **{name: part.write for name, part in PARTS.items()},
    **{name: form.write for name, form in CATALOG.items()},
    "moved": lambda at: at,
}
