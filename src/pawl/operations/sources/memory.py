"""What the files of a work tree read as before, by marks that show a change without opening them.

One SQLite memory under .pawl/, believed only by a key of this user (``io.memory``), and only by this very pawl: its
code, its Python and the libraries that judge. It says of each file that read well what it is called and what it comes
to; a file with a fault is never in it. Whatever is wrong with it costs time and nothing else.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import weakref
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pawl
from pawl._version import __version__
from pawl.errors import PawlError
from pawl.ids import Digest
from pawl.io.file_marks import Mark
from pawl.io.memory import Lost, Memory, open_memory
from pawl.workspace import Workspace

_SCHEMA = """
CREATE TABLE files (path TEXT PRIMARY KEY, kind TEXT NOT NULL, mark TEXT NOT NULL, file TEXT NOT NULL,
    blob TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL, type TEXT NOT NULL, version TEXT, about TEXT,
    requires TEXT) STRICT;
CREATE TABLE documents (path TEXT PRIMARY KEY, file TEXT NOT NULL, document TEXT NOT NULL) STRICT;
CREATE TABLE copies (path TEXT PRIMARY KEY, mark TEXT NOT NULL, file TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE folders (path TEXT PRIMARY KEY, mark TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE seals (about TEXT PRIMARY KEY, seal TEXT NOT NULL) STRICT
"""
_JUDGES = ("_ruamel_yaml", "cel_expr_python", "jinja2", "jsonschema_rs", "packaging", "pydantic_core")
"""Libraries that have a say in whether a file reads."""


class Row(NamedTuple):
    """One file that read well. ``file`` is the SHA-256 of its bytes, ``blob`` Git's name for them."""

    path: str
    kind: str
    """``procedure``, ``suite``, ``policy`` or ``settings``."""
    mark: Mark
    file: str
    blob: str
    name: str
    digest: Digest
    type: str
    """Of a procedure: its kind."""
    version: str | None
    """Of a procedure its version, of a suite the versions that it is for."""
    about: str | None
    requires: str | None
    """Of a procedure that requires others: what, as JSON."""


PATH, KIND, MARK, FILE, BLOB, NAME, DIGEST, TYPE, VERSION, ABOUT, REQUIRES = range(11)
"""Places in a row, for those who look at many as plain tuples."""


class SourceMemory:
    """The rows of one workspace, and what is to be written among them; without a memory it knows nothing."""

    def __init__(self, memory: Memory | None = None) -> None:
        self._memory = memory
        self._new: dict[str, tuple[Row, str]] = {}
        self._gone: set[str] = set()
        self._touched: dict[str, Mark] = {}
        if memory is not None:
            weakref.finalize(self, memory.close)

    def rows(self, kind: str) -> dict[str, tuple[Any, ...]]:
        """Return every row of a kind by its path, as plain tuples in the order of ``Row``."""
        found = self._ask("SELECT * FROM files WHERE kind = ?", kind)
        return {row[0]: row for row in found}

    def row(self, path: str) -> Row | None:
        """Return the row of one file."""
        found = self._ask("SELECT * FROM files WHERE path = ?", path)
        return Row(*found[0]) if found else None

    def document(self, row: Row) -> str | None:
        """Return the document that a file of these bytes was read as, in JSON."""
        found = self._ask("SELECT document FROM documents WHERE path = ? AND file = ?", row.path, row.file)
        return found[0][0] if found else None

    def copies(self) -> Mapping[str, tuple[Mark, str]]:
        """Return the marks of frozen copies with the SHA-256 of their bytes, by their paths and in their order."""
        rows = self._ask("SELECT path, mark, file FROM copies ORDER BY path")
        return {path: (mark, file) for path, mark, file in rows}

    def folders(self) -> dict[str, Mark]:
        """Return the marks of the folders of frozen copies; empty for one that is to be listed."""
        return dict(self._ask("SELECT path, mark FROM folders"))

    def seal(self) -> str | None:
        """Return what the frozen copies were sealed with when they were written."""
        found = self._ask("SELECT seal FROM seals WHERE about = 'copies'")
        return found[0][0] if found else None

    def note(self, row: Row, document: str) -> None:
        """Have a row written that is new, or says something else than before."""
        self._new[row.path] = (row, document)

    def mark(self, path: str, mark: Mark) -> None:
        """Have the mark of a file written that was touched and has the same bytes."""
        self._touched[path] = mark

    def miss(self, paths: Iterable[str]) -> None:
        """Have rows taken out of files that are gone or changed."""
        self._gone.update(paths)

    def save(self) -> None:
        """Write what is new, in one step; nothing is written where nothing is."""
        if self._memory is None or not (self._new or self._gone or self._touched):
            return
        gone = [(path,) for path in self._gone - self._new.keys()]
        rows = [row for row, _ in self._new.values()]
        documents = [(row.path, row.file, document) for row, document in self._new.values()]
        with suppress(Lost), self._memory.writing() as connection:
            connection.executemany("DELETE FROM files WHERE path = ?", gone)
            connection.executemany("DELETE FROM documents WHERE path = ?", gone)
            places = ", ".join("?" for _ in Row._fields)
            connection.executemany(f"INSERT OR REPLACE INTO files VALUES ({places})", rows)  # noqa: S608 - question marks
            connection.executemany("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", documents)
            touched = [(mark, path) for path, mark in self._touched.items()]
            connection.executemany("UPDATE files SET mark = ? WHERE path = ?", touched)
        self._new.clear()
        self._gone.clear()
        self._touched.clear()

    def save_folders(self, marks: Mapping[str, Mark]) -> None:
        """Write the marks of all folders of frozen copies."""
        if self._memory is None:
            return
        with suppress(Lost), self._memory.writing() as connection:
            connection.execute("DELETE FROM folders")
            connection.executemany("INSERT INTO folders VALUES (?, ?)", list(marks.items()))

    def save_copies(
        self, new: Collection[tuple[str, Mark, str]], gone: Collection[str], seal: str | None = None
    ) -> None:
        """Write marks of frozen copies that were read and found as they were recorded, and what seals all of them."""
        if self._memory is None or not (new or gone or seal):
            return
        with suppress(Lost), self._memory.writing() as connection:
            connection.executemany("DELETE FROM copies WHERE path = ?", [(path,) for path in gone])
            connection.executemany("INSERT OR REPLACE INTO copies VALUES (?, ?, ?)", list(new))
            if seal is not None:
                connection.execute("INSERT OR REPLACE INTO seals VALUES ('copies', ?)", (seal,))

    def _ask(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        if self._memory is None:
            return []
        with suppress(Lost), self._memory.reading() as connection:
            return connection.execute(query, values).fetchall()
        return []


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
