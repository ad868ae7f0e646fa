"""SQLite's errors as ours: busy is a conflict, damage an integrity error, the rest is about the file or the caller."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pawl.errors import ConflictError, IntegrityError, InvalidError, UsageError

BUSY_SECONDS = 30.0
_RETRY_SECONDS = 0.01


def patiently(prepare: Callable[[], None]) -> None:
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
def reported(path: Path) -> Iterator[None]:
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
