"""The index: the fold of every journal at its newest record, so that no command folds what was folded before.

Records are chained by their digests, so what a journal comes to at a record follows from that record's digest alone,
whatever happens to older files. The index holds it under that digest. Whoever asks has looked at the newest record
itself; what came after the record that the index knows is folded on, and where anything does not fit (another digest,
a lower serial, a memory that cannot be believed or written) the caller folds the journal from its beginning, as if
there were no index, and whatever is wrong is found there.

- A folder of records whose mark is that of when it was listed has the same names in it; a newest record with the same
  mark has the same bytes. What has no such mark is listed and read; bytes that hash to the known digest are the record
  of that digest, and are not parsed.
- Whoever appends a record under the lock tells it, and it is folded on without a look. The next look reads its bytes.
- Rows say from which record on they hold and until which. A state that somebody still reads stays readable.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pawl._version import __version__
from pawl.errors import PawlError
from pawl.ids import REGISTRY_JOURNAL, Channel, Digest, Serial
from pawl.io.file_marks import Mark, mark_of, same_mark
from pawl.io.memory import Lost, Memory, open_memory
from pawl.registry.catalog import fold_registry
from pawl.registry.channels_fold import fold_channel
from pawl.registry.journal import EMPTY, Head, Record, damaged, is_sealed_by, unseal
from pawl.workspace.index_rows import Source
from pawl.workspace.index_writing import SCHEMA, forget_journal, go_on_with
from pawl.workspace.journal_files import chain_after, record_data, serials_of
from pawl.workspace.places import Places

_PAUSE_SECONDS = 1.0
"""How long an index that failed is not asked again."""
_NOT_TO_BE_HAD = (Lost, PawlError, sqlite3.Error, OSError, ValueError, KeyError, TypeError, AttributeError)


class _Seen(NamedTuple):
    """A journal as it was looked at: its newest record, and the marks of when that was so."""

    head: Head
    folder: Mark | None
    newest: Mark | None
    projection: Mark | None = None
    """Of the channel's projection, where that was found to be the one of this head."""
    projected: Digest | None = None
    """The digest of the bytes that are the channel's projection at this head."""


class Index:
    """The index of one workspace, opened when it is asked first. Threads may share it."""

    def __init__(self) -> None:
        self._places = Places(Path())
        self._memory: Memory | None = None
        self._process = 0
        self._not_before = 0.0
        self._lock = threading.RLock()
        self._seen: dict[str, _Seen] = {}
        self._sources: dict[str, Source] = {}
        self._left: list[Memory] = []
        """What a forked process was born with, which it must neither use nor close."""

    def of(self, root: Path) -> Index:
        """Return the index as that of the workspace in ``root``, which stays the same one."""
        if self._places.root is not root:
            self._places = Places(root)
        return self

    def source(self, journal: str) -> Source | None:
        """Return the fold of a journal as it is on disk now; None where it has to be folded without an index."""
        with self._lock:
            memory = self._open()
            if memory is None:
                return None
            try:
                return self._source(memory, journal)
            except _NOT_TO_BE_HAD as error:
                self._fails(error)
                return None

    def known(self, journal: str, head: Head) -> Source | None:
        """Return the fold of a journal as it was looked at last, if that was at ``head``; nothing is looked at."""
        source = self._sources.get(journal)
        return source if source is not None and source.head == head else None

    def appended(self, record: Record, projected: Digest | None) -> None:
        """Fold on a record that was appended just now, by whoever holds the lock.

        ``projected`` is the digest of its channel's projection, where that was written too.

        Nothing is looked at: the next look reads the record, and where anything is not as it was meant to be, that
        look finds it.
        """
        with self._lock:
            memory, seen = self._memory, self._seen.get(record.journal)
            if memory is None or self._process != os.getpid():
                return
            if seen is None or (seen.head.serial + 1, seen.head.digest) != (record.serial, record.previous):
                return
            try:
                folder = same_mark(os.lstat(self._places.journal_folder(record.journal)))
                with memory.writing() as connection:
                    known = _known(connection, record.journal)
                    if known is None or known.head != seen.head:
                        return
                    go_on_with(connection, record.journal, seen.head, [record], ours=True)
                    found = _Seen(record.head, folder, None, None, projected)
                    _put(connection, record.journal, found)
                self._seen[record.journal] = found
            except _NOT_TO_BE_HAD as error:
                self._fails(error)

    def has_projection(self, source: Source, mark: Mark) -> bool:
        """Whether a channel's projection with this mark was found to be that of the source's head."""
        seen = self._seen.get(source.journal)
        return seen is not None and seen.head == source.head and seen.projection == mark

    def is_projection(self, source: Source, digest: Digest) -> bool:
        """Whether bytes with this digest are known to be the projection of the source's head."""
        seen = self._seen.get(source.journal)
        return seen is not None and seen.head == source.head and seen.projected == digest

    def found_projection(self, source: Source, digest: Digest, mark: Mark | None) -> None:
        """Remember which bytes are the projection of the source's head, and the mark of the file that has them."""
        with self._lock:
            seen = self._seen.get(source.journal)
            if seen is None or seen.head != source.head or self._memory is None:
                return
            self._seen[source.journal] = seen._replace(projection=mark, projected=digest)
            try:
                self._remember(self._memory, source.journal, seen, self._seen[source.journal])
            except _NOT_TO_BE_HAD as error:
                self._fails(error)

    def _fails(self, error: Exception) -> None:
        if isinstance(error, Lost | sqlite3.Error | OSError):
            self._not_before = time.monotonic() + _PAUSE_SECONDS

    def _open(self) -> Memory | None:
        if self._memory is not None and self._process != os.getpid():
            self._left.append(self._memory)
            self._memory = None
            self._sources.clear()
        if time.monotonic() < self._not_before:
            return None
        if self._memory is None:
            try:
                folder = self._places.make_private()
            except (OSError, PawlError):
                return None
            self._memory = open_memory(folder / "index.db", schema=SCHEMA, about=__version__)
            self._process = os.getpid()
            if self._memory is None:
                self._not_before = time.monotonic() + _PAUSE_SECONDS
            else:
                # not __del__: what lies in a circle is finalized in any order, and the connection would be first
                weakref.finalize(self, _close, self._memory, self._process)
        return self._memory

    def _source(self, memory: Memory, journal: str) -> Source | None:
        seen = self._seen.get(journal)
        if seen is None or not _same(self._places, journal, seen):
            if seen is None:
                with memory.reading() as connection:
                    seen = _known(connection, journal)
            seen = self._look(memory, journal, seen)
            self._seen[journal] = seen
        source = self._sources.get(journal)
        if source is None or source.head != seen.head:
            source = self._sources[journal] = self._made(memory, journal, seen.head)
        return source

    def _look(self, memory: Memory, journal: str, known: _Seen | None) -> _Seen:
        """Return the journal as it is now, with its fold in the memory; raises where that cannot be."""
        if known is not None and _same(self._places, journal, known):
            return known
        found = _looked_at(self._places, journal, known)
        if known is None or known.head != found.head:
            with memory.writing() as connection:
                known = _known(connection, journal)
                if known is None or known.head != found.head:
                    _bring_up(connection, self._places, journal, known.head if known else EMPTY, found)
        else:
            found = found._replace(projection=known.projection, projected=known.projected)
            self._remember(memory, journal, known, found)
        return found

    def _remember(self, memory: Memory, journal: str, before: _Seen, seen: _Seen) -> None:
        if before != seen:
            with memory.writing() as connection:
                connection.execute(
                    "UPDATE journals SET folder = ?, newest = ?, projection = ?, projected = ?"
                    " WHERE journal = ? AND serial = ? AND digest IS ?",
                    (*seen[1:], journal, seen.head.serial, seen.head.digest),
                )

    def _made(self, memory: Memory, journal: str, head: Head) -> Source:
        held: tuple[int, int] | None = None
        """When the head was found in the memory; its rows are those of the head while nothing was written since."""

        def ask(query: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
            nonlocal held
            with self._lock:
                if self._process != os.getpid():
                    raise Lost("this process was forked from the one that opened it")
                if held is not None:
                    rows = memory.ask(query, values)
                    if memory.moment() == held:
                        return rows
                with memory.reading() as connection:
                    if head.serial and not _holds(connection, journal, head):
                        raise Lost(f"the journal {journal} is another one now")
                    held = memory.moment()
                    return connection.execute(query, values).fetchall()

        return Source(journal, head, ask, lambda: self._folded(journal, head))

    def _folded(self, journal: str, head: Head) -> Any:
        """Return what the files of a journal come to at ``head``, whatever came after it."""
        serials = range(1, head.serial + 1)
        records = chain_after(self._places, journal, EMPTY, serials)
        if records and records[-1].head != head:
            raise damaged(journal, head.serial, "it was written again while it was read")
        return fold_registry(records) if journal == REGISTRY_JOURNAL else fold_channel(Channel(journal), records)


def _close(memory: Memory, process: int) -> None:
    if process == os.getpid():  # a forked process must not touch it
        memory.close()


def _known(connection: sqlite3.Connection, journal: str) -> _Seen | None:
    query = "SELECT serial, digest, folder, newest, projection, projected FROM journals WHERE journal = ?"
    row = connection.execute(query, (journal,)).fetchone()
    if row is None:
        return None
    head = Head(serial=Serial(row[0]), digest=Digest(row[1]) if row[1] is not None else None)
    return _Seen(head, *row[2:])


def _holds(connection: sqlite3.Connection, journal: str, head: Head) -> bool:
    query = "SELECT 1 FROM records WHERE journal = ? AND serial = ? AND digest = ?"
    return connection.execute(query, (journal, head.serial, head.digest)).fetchone() is not None


def _same(places: Places, journal: str, seen: _Seen) -> bool:
    """Whether neither the folder nor its newest record was touched since it was looked at, and no record came."""
    if seen.folder is None or seen.newest is None:
        return False
    try:
        folder = os.lstat(places.journal_folder(journal))
        newest = os.lstat(places.record_path(journal, seen.head.serial))
    except OSError:
        return False
    if same_mark(folder) != seen.folder or same_mark(newest) != seen.newest:
        return False
    return not os.path.lexists(places.record_path(journal, seen.head.serial + 1))


def _looked_at(places: Places, journal: str, known: _Seen | None) -> _Seen:
    """Return a journal by its names and its newest record; ``IntegrityError`` where either is not as it should be.

    Names are listed where the folder changed since ``known``. A change within the same tick of its clock cannot hide a
    record: whether there is one more is asked in any case, and the newest one is read.
    """
    now = time.time_ns()
    try:
        folder = same_mark(os.lstat(places.journal_folder(journal)))
    except FileNotFoundError:
        return _Seen(head=EMPTY, folder=None, newest=None)
    serial = known.head.serial if known is not None and known.folder == folder else 0
    if not serial or os.path.lexists(places.record_path(journal, serial + 1)):
        serials = serials_of(places, journal)
        if not serials:
            return _Seen(head=EMPTY, folder=None, newest=None)
        if serials[0] != 1 or serials[-1] != len(serials):
            raise damaged(journal, len(serials), "a record before it is missing")
        serial = serials[-1]
    newest = os.lstat(places.record_path(journal, serial))
    data = record_data(places, journal, serial)
    if known is not None and known.head.serial == serial and is_sealed_by(data, known.head.digest):
        head = known.head
    else:
        head = unseal(data, journal=journal, serial=serial).head
    return _Seen(head=head, folder=folder, newest=mark_of(newest, now))


def _bring_up(connection: sqlite3.Connection, places: Places, journal: str, known: Head, found: _Seen) -> None:
    """Fold the records after ``known`` into the rows, all of them where they do not follow it."""
    head = found.head
    records = _following(places, journal, known, head)
    if records is None:
        forget_journal(connection, journal)
        known, records = EMPTY, _following(places, journal, EMPTY, head)
    if records is None or (records and records[-1].head != head):
        raise Lost(f"the journal {journal} does not hold together, or moved while it was read")
    if records:
        go_on_with(connection, journal, known, records)
    _put(connection, journal, found)


def _put(connection: sqlite3.Connection, journal: str, found: _Seen) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO journals VALUES (?, ?, ?, ?, ?, ?, ?)",
        (journal, found.head.serial, found.head.digest, *found[1:]),
    )


def _following(places: Places, journal: str, known: Head, head: Head) -> tuple[Record, ...] | None:
    """Return the records after ``known`` up to ``head``; None where they do not follow it."""
    if known.serial > head.serial or (known.serial == head.serial and known != head):
        return None
    try:
        return chain_after(places, journal, known, range(known.serial + 1, head.serial + 1))
    except PawlError:
        return None
