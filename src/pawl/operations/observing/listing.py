"""List: which procedures are published, found by what is said of them.

Rows are kept in a memory below .pawl/ for as long as every journal ends with the record that it ended with, from which
all before it follows. What a document says of itself is read once for each digest.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from pawl._version import __version__
from pawl.errors import PawlError
from pawl.ids import REGISTRY_JOURNAL
from pawl.io.memory import Lost, Memory, open_memory
from pawl.operations.session import Report, Session
from pawl.operations.world import World, read_world
from pawl.registry.catalog import Published
from pawl.registry.versions import newest_first
from pawl.workspace import Workspace

_SCHEMA = """
CREATE TABLE kept (state TEXT NOT NULL, documents INTEGER NOT NULL) STRICT;
CREATE TABLE listed (
    name TEXT PRIMARY KEY, kind TEXT NOT NULL, row TEXT NOT NULL,
    digest TEXT NOT NULL, owner TEXT, labels TEXT, words TEXT, said TEXT
) STRICT, WITHOUT ROWID
"""
"""``documents``: whether what the documents say is there too; ``row`` and ``said`` are JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is looked for; all of it must fit, and nothing wanted fits everything.

    ``names``: parts of the name. ``text``: words, each in the name, the kind, the summary, the owner or a label, in
    any case. ``labels``: pairs of a key and its exact value.
    """

    names: Sequence[str] = ()
    kind: str | None = None
    text: str = ""
    owner: str | None = None
    labels: Sequence[tuple[str, str]] = ()

    @property
    def of_documents(self) -> bool:
        """Whether more is asked than journals know."""
        return bool(self.text.split() or self.owner is not None or self.labels)


def list_published(session: Session, wanted: Wanted) -> Report:
    """Report every published procedure that fits, with its newest version and its pins.

    Where something of the documents is wanted, rows say owner, summary and labels of the newest version too.
    """
    workspace = session.workspace
    memory = _memory(workspace)
    if memory is not None:
        try:
            with closing(memory):
                return _report(_found(memory, workspace, wanted))
        except Lost:
            pass
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
        return _report(_found(Memory(connection), workspace, wanted))


def _report(rows: list[dict[str, Any]]) -> Report:
    return Report(status="done", data={"procedures": rows})


def _memory(workspace: Workspace) -> Memory | None:
    try:
        return open_memory(workspace.make_private() / "listed.db", schema=_SCHEMA, about=__version__)
    except (OSError, PawlError):
        return None


def _found(memory: Memory, workspace: Workspace, wanted: Wanted) -> list[dict[str, Any]]:
    if not workspace.head(REGISTRY_JOURNAL).serial:
        read_world(workspace)  # raises where there were records and what is kept is of a time before them
    state = _state(workspace)
    with memory.reading() as rows:
        kept = rows.execute("SELECT state, documents FROM kept").fetchone()
        if kept is not None and kept[0] == state and (kept[1] or not wanted.of_documents):
            return _select(rows, wanted)
        told = {row[0]: row for row in rows.execute("SELECT digest, owner, labels, words, said FROM listed") if row[4]}
    listed = list(_listed(read_world(workspace), workspace, told, read=wanted.of_documents))
    with memory.writing() as rows:
        rows.execute("DELETE FROM listed")
        rows.executemany("INSERT INTO listed VALUES (?, ?, ?, ?, ?, ?, ?, ?)", listed)
        rows.execute("DELETE FROM kept")
        rows.execute("INSERT INTO kept VALUES (?, ?)", (state, all(row[-1] is not None for row in listed)))
        return _select(rows, wanted)


def _state(workspace: Workspace) -> str:
    """Return the newest record of every journal, looked at before the journals are read for the rows."""
    journals = (REGISTRY_JOURNAL, *workspace.known_channels())
    return json.dumps({journal: workspace.head(journal).digest for journal in journals})


def _newest(world: World) -> Iterator[tuple[Published, int]]:
    """Yield the newest version of every name, and how many there are."""
    for versions in world.catalog.names.values():
        by_number = {item.version: item for item in versions}
        yield by_number[newest_first(by_number)[0]], len(by_number)


def _listed(
    world: World, workspace: Workspace, told: Mapping[str, tuple[str | None, ...]], *, read: bool
) -> Iterator[tuple[str | None, ...]]:
    """Yield a row for every name; ``told`` is what documents said before, ``read`` whether to read the others."""
    for newest, count in _newest(world):
        states = world.channels.items()
        pins = {channel: state.pins[newest.name].version for channel, state in states if newest.name in state.pins}
        row = {"name": newest.name, "kind": newest.kind, "newest": newest.version, "versions": count, "pins": pins}
        said = told.get(newest.digest)
        if said is None:
            said = _said(newest, workspace.procedure(newest).document) if read else (newest.digest, *[None] * 4)
        yield newest.name, newest.kind, json.dumps(row), *said


def _said(version: Published, document: Any) -> tuple[str, ...]:
    owner, summary = str(document.get("owner") or ""), str(document.get("summary") or "")
    labels = {str(key): str(value) for key, value in (document.get("labels") or {}).items()}
    words = (version.name, version.kind, summary, owner, *(f"{key}={value}" for key, value in labels.items()))
    row = {"owner": owner, "summary": summary, "labels": labels}
    pairs = "".join(_pair(key, value) for key, value in labels.items())
    return version.digest, owner, pairs, "\n".join(words).casefold(), json.dumps(row)


def _pair(key: str, value: str) -> str:
    """Return a label as a line of its own, so that no part of one is taken for another."""
    return f"\n{json.dumps([key, value])}\n"


def _select(rows: sqlite3.Connection, wanted: Wanted) -> list[dict[str, Any]]:
    columns = "row, said" if wanted.of_documents else "row"
    tests, values = _conditions(wanted)
    where = f" WHERE {' AND '.join(tests)}" if tests else ""
    query = f"SELECT {columns} FROM listed{where} ORDER BY name"  # noqa: S608 - all values are parameters
    return list(_joined(rows.execute(query, values).fetchall()))


def _conditions(wanted: Wanted) -> tuple[list[str], list[str]]:
    tests = ["instr(name, ?) > 0"] * len(wanted.names)
    values = list(wanted.names)
    if wanted.kind is not None:
        tests.append("kind = ?")
        values.append(wanted.kind)
    for word in wanted.text.split():
        tests.append("instr(words, ?) > 0")
        values.append(word.casefold())
    if wanted.owner is not None:
        tests.append("owner = ?")
        values.append(wanted.owner)
    for key, value in wanted.labels:
        tests.append("instr(labels, ?) > 0")
        values.append(_pair(key, value))
    return tests, values


def _joined(found: Iterable[tuple[str, ...]]) -> Iterator[dict[str, Any]]:
    # one call for all of them: thousands of rows are mostly the price of calls
    parts = zip(*found, strict=True)
    columns = [json.loads(f"[{','.join(part)}]") for part in parts]
    for row in zip(*columns, strict=True):
        yield {key: value for part in row for key, value in part.items()}
