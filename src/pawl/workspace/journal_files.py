"""The files of a journal: which records there are, and what they hold."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from pawl.errors import IntegrityError, PawlError
from pawl.io.files import read_bounded
from pawl.problems import Problem
from pawl.registry.journal import MAX_RECORD_BYTES, Head, Record, chain, damaged
from pawl.workspace.places import Places, is_record_name

RESTORE = "git restore --source=HEAD --staged --worktree releases registry; or git sparse-checkout add releases"
"""What brings records here that the last commit has."""


def serials_of(places: Places, journal: str) -> Sequence[int]:
    """Return the serials of a journal by the names of its files; ``IntegrityError`` for a name that is no record's."""
    try:
        found = os.listdir(places.journal_folder(journal))  # noqa: PTH208 - of thousands, names alone
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise damaged(journal, 1, f"releases/{journal} cannot be listed: {error.strerror}") from error
    if _is_whole(found):
        return range(1, len(found) + 1)
    names = [name for name in found if not name.startswith(".")]
    if _is_whole(names):
        return range(1, len(names) + 1)
    strange = sorted(name for name in names if not is_record_name(name))
    if strange:
        raise damaged(journal, len(names) - len(strange) + 1, f"{strange[0]} is no record of it")
    return sorted(int(name[:-5]) for name in names)


def lost(journal: str, knows: str) -> IntegrityError:
    """Return the error for a journal of which nothing is here, though ``knows`` (a sentence) tells of it."""
    message = f"releases/{journal}/ holds no record, and {knows}: the journal was removed or not checked out"
    problem = Problem(code="journal-damaged", message=message, hint=RESTORE, path=f"releases/{journal}/000001.json")
    return IntegrityError(message, problems=(problem,))


def _is_whole(names: Sequence[str]) -> bool:
    """Whether these are the names of records from 1 on without a gap; told without looking at each."""
    if not names or not re.fullmatch(r"(?:[0-9]{6}\.json\n)+", "\n".join((*names, ""))):
        return False
    return int(min(names)[:-5]) == 1 and int(max(names)[:-5]) == len(names)


def record_data(places: Places, journal: str, serial: int) -> bytes:
    """Return the bytes of a record; ``IntegrityError`` where they cannot be read."""
    try:
        return read_bounded(places.record_path(journal, serial), limit=MAX_RECORD_BYTES, root=places.root)
    except PawlError as error:
        raise damaged(journal, serial, error.message) from error


def chain_after(places: Places, journal: str, after: Head, serials: Iterable[int]) -> tuple[Record, ...]:
    """Return the records ``serials`` of a journal, which follow ``after``, checked; ``IntegrityError`` otherwise."""
    return chain(journal, ((serial, record_data(places, journal, serial)) for serial in serials), after)
