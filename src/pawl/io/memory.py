"""Memories: SQLite files that save work, below a workspace's .pawl/, and may be deleted at any time.

A memory is believed only where it bears a mark that a key of this user on this machine makes, so that a repository or
an archive that brings the file along is not: its rows would say what journals and files mean, and nobody judged them.
Whatever is wrong with one (another mark, another form, damage, a folder that cannot be written, a lock that is held)
costs the time it would have saved and nothing else: it is made anew, or done without.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

BUSY_SECONDS = 0.5
"""How long another process may write before this one goes on without a memory."""

_KEY_BYTES = 32


class Lost(Exception):  # noqa: N818 - what it says: the memory cannot be used any more
    """A memory failed while it was used; whoever asked it goes on without."""


class Memory:
    """One open memory; ``with`` closes it. Every failure inside ``reading`` and ``writing`` is a ``Lost``."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._written = 0

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the connection; what is asked within sees one state of the memory."""
        with self._transaction("BEGIN"):
            yield self._connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the connection as its only writer; all that is written within counts, or none of it."""
        self._written += 1
        with self._transaction("BEGIN IMMEDIATE"):
            yield self._connection

    def ask(self, query: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Return the rows of one query, which sees one state of the memory by itself."""
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise Lost(str(error)) from error

    def moment(self) -> tuple[int, int]:
        """Return what is another value after any change of the memory, by whomever.

        Where it is the same before and after something was asked, nothing came between.
        """
        return self.ask("PRAGMA data_version", {})[0][0], self._written

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        try:
            self._connection.execute(begin)
            try:
                yield
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise Lost(str(error)) from error

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self._connection.close()


def open_memory(path: Path, *, schema: str, about: str) -> Memory | None:
    """Return the memory at ``path``, made anew where it cannot be believed; None where there can be none.

    ``schema`` is the SQL that makes its tables. ``about`` says what its rows were judged by: with another text they
    count for nothing. The folder must exist and be the workspace's own; links are refused.
    """
    key = _key()
    if key is None or path.is_symlink() or path.parent.is_symlink():
        return None
    said = "\0".join((os.path.realpath(path), schema, about))
    mark = hmac.new(key, said.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()
    for _ in range(2):
        connection = None
        try:
            connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            # in WAL mode: whole after a power cut, perhaps without its newest rows. The file does not remember it
            connection.execute("PRAGMA synchronous = NORMAL")
            if _bears(connection, mark) or _made(connection, mark, schema):
                return Memory(connection)
            connection.close()
            forget(path)
        except sqlite3.OperationalError:  # locked, read-only, no space: not for us to mend
            _close(connection)
            return None
        except sqlite3.Error:
            _close(connection)
            forget(path)
        except OSError:
            return None
    return None


def forget(path: Path) -> None:
    """Remove a memory with all that belongs to it."""
    for ending in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{ending}").unlink(missing_ok=True)


def _bears(connection: sqlite3.Connection, mark: str) -> bool:
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'believed'").fetchone():
        return False
    found = connection.execute("SELECT mark FROM believed").fetchone()
    return found is not None and hmac.compare_digest(str(found[0]), mark)


def _made(connection: sqlite3.Connection, mark: str, schema: str) -> bool:
    """Make an empty file a memory; False where it is not empty."""
    if connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
        return False
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("SELECT 1 FROM sqlite_schema").fetchone():  # another process was first
        connection.execute("ROLLBACK")
        return _bears(connection, mark)
    for statement in schema.split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.execute("CREATE TABLE believed (mark TEXT NOT NULL) STRICT")
    connection.execute("INSERT INTO believed VALUES (?)", (mark,))
    connection.execute("COMMIT")
    return True


def _close(connection: sqlite3.Connection | None) -> None:
    if connection is not None:
        with suppress(sqlite3.Error):
            connection.close()


def _key() -> bytes | None:
    """Return this user's key, made where there is none; None where it cannot be kept from others."""
    folder = _folder()
    if folder is None:
        return None
    path = folder / "key"
    with suppress(OSError, ValueError):
        return _read_key(path) or _make_key(path)
    return None


def _folder() -> Path | None:
    """Return where caches of this user are, as the XDG Base Directory Specification says."""
    given, home = os.environ.get("XDG_CACHE_HOME", ""), os.environ.get("HOME", "")
    base = given if given.startswith("/") else f"{home}/.cache" if home.startswith("/") else ""
    return Path(base, "pawl") if base else None


def _read_key(path: Path) -> bytes | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
            raise PermissionError(f"{path} is not this user's alone")
        data = file.read(_KEY_BYTES + 1)
    if len(data) != _KEY_BYTES:
        raise ValueError(f"{path} is no key")
    return data


def _make_key(path: Path) -> bytes | None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f"key-{os.getpid()}-{os.urandom(6).hex()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(os.urandom(_KEY_BYTES))
        with suppress(FileExistsError):  # another process was first, and its key holds
            path.hardlink_to(temporary)
    finally:
        temporary.unlink(missing_ok=True)
    return _read_key(path)
