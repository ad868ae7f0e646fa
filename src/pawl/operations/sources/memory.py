"""What the files of a work tree read as before, by marks that show a change without opening them.

One SQLite memory under .pawl/, believed only by a key of this user (``io.memory``), and only by this very pawl: its
code, its Python and the libraries that judge. It says of each file that read well what it is called and what it comes
to; of bytes that have a fault it says nothing. Whatever is wrong with it costs time and nothing else.

It holds everything twice: file by file, for those that somebody asks for, and each kind as a *shelf*, whose columns are
read as a whole, since a large workspace has many files of which hardly any are asked for one by one.
"""

from __future__ import annotations

import importlib.util
import os
import sqlite3
import sys
import weakref
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pawl
from pawl._version import __version__
from pawl.errors import PawlError
from pawl.ids import Digest
from pawl.io.memory import Lost, Memory, open_memory
from pawl.operations.sources.files import UNMARKED, Known, Looked, PackedMark, split_marks
from pawl.workspace import Workspace

_SCHEMA = """
CREATE TABLE files (path TEXT PRIMARY KEY, kind TEXT NOT NULL, file TEXT NOT NULL, blob TEXT NOT NULL,
    name TEXT NOT NULL, digest TEXT NOT NULL, type TEXT NOT NULL, version TEXT, about TEXT, requires TEXT,
    document TEXT) STRICT;
CREATE TABLE columns (kind TEXT NOT NULL, name TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (kind, name)) STRICT
"""
_JUDGES = ("_ruamel_yaml", "cel_expr_python", "jinja2", "jsonschema_rs", "packaging", "pydantic_core")
"""Libraries that have a say in whether a file reads."""
_BETWEEN = "\0"
"""Between the values of a column, none of which holds it."""


class Row(NamedTuple):
    """One file that read well. ``file`` is the SHA-256 of its bytes, ``blob`` Git's name for them."""

    path: str
    kind: str
    """``procedure``, ``suite``, ``policy``, ``settings``, ``copy`` or ``recorded``."""
    file: str
    blob: str = ""
    name: str = ""
    digest: Digest = Digest("")
    type: str = ""
    """Of a procedure: its kind."""
    version: str | None = None
    """Of a procedure its version, of a suite the versions that it is for."""
    about: str | None = None
    requires: str | None = None
    """Of a procedure that requires others: what, as JSON."""


COLUMNS = {
    "procedure": ("path", "file", "blob", "name", "digest", "type", "version", "requires"),
    "suite": ("path", "file", "name", "about"),
    "policy": ("path", "file", "name"),
    "copy": ("path", "file"),
    "recorded": ("path", "file"),
}
"""What is read of all files of a kind at once. The first two are those of every kind."""
_SHELF = "SELECT name, data FROM columns WHERE kind = ?"


class Shelf:
    """All files of one kind that read well, in the order in which they are read; a column is decoded where it is asked.

    A file may show another mark by now, and hold something else: this is what it was when it last read well.
    """

    def __init__(self, data: Mapping[str, bytes]) -> None:
        self._data = data
        self._columns: dict[str, list[str]] = {}

    def column(self, name: str) -> list[str]:
        """Return one thing about each file; the empty text where there is nothing to say."""
        if name not in self._columns:
            self._columns[name] = self._decoded(name) if self._data.get("path") else []
        return self._columns[name]

    @cached_property
    def known(self) -> Known:
        folder_marks = self._data.get("folder mark", b"")
        folders = self._decoded("folder") if folder_marks else []
        return Known(self.column("path"), self._data.get("mark", b""), folders, folder_marks)

    @property
    def folders(self) -> tuple[bytes, bytes]:
        """The folders with their marks, as they are written."""
        return self._data.get("folder", b""), self._data.get("folder mark", b"")

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each path."""
        paths = self.column("path")
        return dict(zip(paths, range(len(paths)), strict=True))

    def mark(self, place: int) -> PackedMark:
        return self._data["mark"][place * len(UNMARKED) : (place + 1) * len(UNMARKED)]

    @property
    def seal(self) -> bytes:
        return self._data.get("seal", b"")

    @property
    def sealed_by(self) -> str | None:
        """By whose word this is all that there should be; None where it is something else by now."""
        by = self.seal.decode().rpartition(" ")[0].rpartition(" ")[0]
        sealed = self.seal == seal_of(by, self._data.get("path", b""), self._data.get("file", b""))
        return by if sealed else None

    def _decoded(self, name: str) -> list[str]:
        return self._data[name].decode("utf-8", "surrogateescape").split(_BETWEEN)


def seal_of(by: str, paths: bytes, files: bytes) -> bytes:
    """Return what says that these files, as columns, are what there should be by the word of ``by``."""
    return f"{by} {sha256(paths).hexdigest()} {sha256(files).hexdigest()}".encode()


def column(values: Iterable[str]) -> bytes:
    """Return many values as one."""
    return _BETWEEN.join(values).encode("utf-8", "surrogateescape")


@dataclass(slots=True)
class _Change:
    """What is to be written of one kind."""

    found: Looked | None = None
    """All that there is: what is not among it is gone."""
    new: dict[str, tuple[Row, PackedMark, str | None]] = field(default_factory=dict)
    touched: dict[str, tuple[str, PackedMark]] = field(default_factory=dict)
    """New marks of files by their paths, with the bytes that they are about."""
    seal: bytes | None = None


class SourceMemory:
    """The files of one workspace, and what is to be written of them; without a memory it knows nothing."""

    def __init__(self, memory: Memory | None = None) -> None:
        self._memory = memory
        self._changes: dict[str, _Change] = {}
        if memory is not None:
            weakref.finalize(self, memory.close)

    def shelf(self, kind: str) -> Shelf:
        """Return all files of a kind."""
        return Shelf(dict(self._ask(_SHELF, kind)))

    def row(self, path: str, file: str | None = None) -> Row | None:
        """Return the row of one file, with ``file`` only that of these bytes."""
        found = self._ask("SELECT * FROM files WHERE path = ?", path)
        row = Row(*found[0][:-1]) if found else None
        return row if row is not None and file in {None, row.file} else None

    def document(self, row: Row) -> str | None:
        """Return the document that a file of these bytes was read as, in JSON."""
        found = self._ask("SELECT document FROM files WHERE path = ? AND file = ?", row.path, row.file)
        return found[0][0] if found else None

    def note(self, row: Row, mark: PackedMark, document: str | None) -> None:
        """Have a row written that is new, or says something else than before; without a document on its shelf alone."""
        with suppress(UnicodeEncodeError):  # a name that is no text
            row.path.encode("utf-8")
            self._change(row.kind).new[row.path] = (row, mark, document)

    def mark(self, kind: str, path: str, file: str, mark: PackedMark) -> None:
        """Have the mark of a file written that has the same bytes as before."""
        self._change(kind).touched[path] = (file, mark)

    def keep(self, kind: str, found: Looked, shelf: Shelf, seal: bytes | None = None) -> None:
        """Have it written that these are all files of a kind, and what seals them, unless the shelf says so already."""
        known = self._changes[kind].new.keys() | shelf.places.keys() if kind in self._changes else shelf.places
        marks = _folders(shelf, known, found)
        gone = len(shelf.places) > sum(path in shelf.places for path in found.paths)
        if gone or seal is not None or (column(marks), b"".join(marks.values())) != shelf.folders:
            change = self._change(kind)
            change.found, change.seal = found, seal

    def save(self) -> None:
        """Write what is new, in one step; nothing is written where nothing is."""
        if self._memory is not None and self._changes:
            with suppress(Lost), self._memory.writing() as connection:
                for kind, change in self._changes.items():
                    _write(connection, kind, change)
        self._changes.clear()

    def _change(self, kind: str) -> _Change:
        return self._changes.setdefault(kind, _Change())

    def _ask(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        if self._memory is None:
            return []
        with suppress(Lost, UnicodeEncodeError), self._memory.reading() as connection:
            return connection.execute(query, values).fetchall()
        return []


def _write(connection: sqlite3.Connection, kind: str, change: _Change) -> None:
    """Write a change over what the memory holds at this moment, which another process may have written."""
    new = [(*row, document) for row, _, document in change.new.values() if document is not None]
    places = ", ".join("?" for _ in (*Row._fields, "document"))
    connection.executemany(f"INSERT OR REPLACE INTO files VALUES ({places})", new)  # noqa: S608 - question marks
    if kind not in COLUMNS:
        return
    shelf = Shelf(dict(connection.execute(_SHELF, (kind,))))
    rows = _merged(shelf, kind, change)
    gone = [(path,) for path in shelf.column("path") if path not in rows]
    connection.executemany("DELETE FROM files WHERE path = ?", gone)
    values = zip(*(values for _, values in rows.values()), strict=True)
    data = dict(zip(COLUMNS[kind], map(column, values), strict=bool(rows)))
    data["mark"] = b"".join(mark for mark, _ in rows.values())
    folders = _folders(shelf, rows, change.found)
    data |= {
        "folder": column(folders),
        "folder mark": b"".join(folders.values()),
        "seal": shelf.seal if change.seal is None else change.seal,
    }
    connection.execute("DELETE FROM columns WHERE kind = ?", (kind,))
    connection.executemany("INSERT INTO columns VALUES (?, ?, ?)", [(kind, *item) for item in data.items()])


_Rows: TypeAlias = dict[str, tuple[PackedMark, tuple[str, ...]]]
"""Of each path the mark and the columns."""


def _merged(shelf: Shelf, kind: str, change: _Change) -> _Rows:
    columns = zip(*map(shelf.column, COLUMNS[kind]), strict=True)
    rows = {values[0]: (shelf.mark(place), values) for place, values in enumerate(columns)}
    for path, (file, mark) in change.touched.items():
        if path in rows and rows[path][1][1] == file:
            rows[path] = (mark, rows[path][1])
    for path, (row, mark, _) in change.new.items():
        rows[path] = (mark, tuple(getattr(row, name) or "" for name in COLUMNS[kind]))
    return rows if change.found is None else {path: rows[path] for path in change.found.paths if path in rows}


def _folders(shelf: Shelf, rows: Collection[str], found: Looked | None) -> dict[str, PackedMark]:
    """Return the marks of all folders, none of one that holds anything but files that are known."""
    if found is None:
        return dict(zip(shelf.known.folders, split_marks(shelf.known.folder_marks), strict=True))
    odd = {path.rpartition("/")[0] for path in found.paths if path not in rows}
    return {path: UNMARKED if path in odd else mark for path, mark in found.folders.items()}


def open_sources(workspace: Workspace) -> SourceMemory:
    """Return a workspace's memory of its files; one that knows nothing where there can be none."""
    with suppress(OSError, PawlError):
        return SourceMemory(open_memory(workspace.make_private() / "sources.db", schema=_SCHEMA, about=_about()))
    return SourceMemory()


@cache
def _about() -> str:
    """Return which pawl and which Python judge. A checkout of pawl that is edited is another pawl."""
    marks: list[str] = []
    waiting = [str(Path(pawl.__file__).parent)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    marks.append(f"{entry.path} {status.st_size} {status.st_mtime_ns}")
                elif entry.is_dir() and entry.name != "__pycache__":
                    waiting.append(entry.path)
    for name in _JUDGES:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            status = Path(spec.origin).stat()
            marks.append(f"{spec.origin} {status.st_size} {status.st_mtime_ns}")
    return f"pawl {__version__} {sys.version} {sha256(chr(10).join(sorted(marks)).encode()).hexdigest()}"
