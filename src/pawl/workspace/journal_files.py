"""The files of a journal: which records there are, and their bytes. Nothing is believed here."""

from __future__ import annotations

import os

from pawl.errors import PawlError
from pawl.io.files import read_bounded
from pawl.registry.journal import MAX_RECORD_BYTES, damaged
from pawl.workspace.places import Places, is_record_name


def serials_of(places: Places, journal: str) -> list[int]:
    """Return the serials of a journal by the names of its files; ``IntegrityError`` for a name that is no record's."""
    folder = places.releases / journal
    try:
        names = [entry.name for entry in os.scandir(folder) if not entry.name.startswith(".")]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise damaged(journal, 1, f"releases/{journal} cannot be listed: {error.strerror}") from error
    serials = sorted(int(name[:-5]) for name in names if is_record_name(name))
    strange = sorted(name for name in names if not is_record_name(name))
    if strange:
        raise damaged(journal, len(serials) + 1, f"{strange[0]} is no record of it")
    return serials


def record_data(places: Places, journal: str, serial: int) -> bytes:
    """Return the bytes of a record; ``IntegrityError`` where they cannot be read."""
    try:
        return read_bounded(places.record_file(journal, serial), limit=MAX_RECORD_BYTES, root=places.root)
    except PawlError as error:
        raise damaged(journal, serial, error.message) from error
