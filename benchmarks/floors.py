"""The floors that several benchmarks share: what reading and a durable write cost by hand."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
from _ruamel_yaml import CParser

_SCHEMA = {
    "type": "object",
    "properties": {
        "order_id": {"type": "string", "description": "The order that the customer asks about."},
        "amount": {"type": "number", "minimum": 0},
    },
    "required": ["order_id", "amount"],
    "additionalProperties": False,
}
"""That of the benchmarks' prompts."""


def events(data: bytes) -> int:
    """Let libyaml read a file, without building anything; return how many events it has."""
    parser: Any = CParser(data)
    count = 1
    while type(parser.get_event()).__name__ != "StreamEndEvent":
        count += 1
    return count


def read_and_compile(path: Path) -> None:
    """Let libyaml read a procedure's file and jsonschema_rs compile the schema of its inputs, which is known."""
    events(path.read_bytes())
    jsonschema_rs.Draft202012Validator(_SCHEMA)


def git(root: Path, *words: str) -> str:
    """Run Git in a folder and return what it prints."""
    return subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, text=True).stdout


def start_repository(root: Path) -> None:
    """Make a folder a repository with everything in it committed."""
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.name", "Ada")
    git(root, "config", "user.email", "ada@example.invalid")
    git(root, "config", "gc.auto", "0")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")


def files_of_head(root: Path) -> int:
    """Return how many files the newest commit changed."""
    return len(git(root, "diff-tree", "--no-commit-id", "--name-only", "-r", "HEAD").splitlines())


class CommitByHand:
    """Writes files and commits them with ``git add`` and ``git commit``, as a person would.

    ``files`` is asked at each call: what the product wrote before, so that both commit as much.
    """

    def __init__(self, root: Path, files: Callable[[], Mapping[str, bytes]]) -> None:
        self._root = root
        self._files = files
        self._turn = 0

    def __call__(self) -> int:
        self._turn += 1
        names = []
        for name, data in self._files().items():
            path = self._root / "by-hand" / str(self._turn) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            names.append(path.relative_to(self._root).as_posix())
        git(self._root, "add", "--", *names)
        git(self._root, "commit", "-q", "-m", f"release {self._turn}", "--", *names)
        return len(names)


class InsertByHand:
    """Inserts files as rows of one durable SQLite transaction (WAL, synchronous FULL)."""

    def __init__(self, path: Path, files: Callable[[], Mapping[str, bytes]]) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT NOT NULL, data BLOB NOT NULL)")
        self._files = files

    def __call__(self) -> int:
        rows = list(self._files().items())
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany("INSERT INTO files (name, data) VALUES (?, ?)", rows)
        self._connection.execute("COMMIT")
        return len(rows)


class AppendByHand:
    """Appends lines to a file, each synced to disk before the next."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def __call__(self, *lines: bytes) -> int:
        for line in lines:
            os.write(self._descriptor, line)
            os.fdatasync(self._descriptor)
        return len(lines)
