"""Holding a journal against what somebody kept of it elsewhere: a snapshot, a copy of a projection, or one record.

Each names a serial and the digest of the record there. A journal that was cut off behind it, or written again, no
longer has that record, however well it fits itself.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pawl.errors import InvalidError, PawlError
from pawl.ids import REGISTRY_JOURNAL, parse_channel, parse_digest
from pawl.io.files import read_bounded
from pawl.problems import Problem
from pawl.registry.journal import unseal
from pawl.registry.snapshot import MAX_BYTES, read_snapshot
from pawl.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """That a journal had a record with this digest at this serial."""

    journal: str
    serial: int
    digest: str


def read_anchor(path: Path) -> Anchor | None:
    """Return what a kept file knows of its journal, or None where it was made before the first record.

    Raises ``IntegrityError`` for a snapshot or a record with a changed byte, ``InvalidError`` for any other file.
    """
    data = read_bounded(path, limit=MAX_BYTES)
    try:
        fields = json.loads(data)
        if "procedures" in fields:
            snapshot = read_snapshot(data, channel=None)
            return _anchor(snapshot.channel, snapshot.serial, snapshot.head)
        if "journal" in fields:
            record = unseal(data, journal=_journal(fields["journal"]), serial=int(fields["serial"]))
            return _anchor(record.journal, record.serial, record.digest)
        return _anchor(fields["channel"], fields["serial"], fields["head"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        message = f"{path} is no snapshot, no record, and no copy of a file of registry/channels/"
        raise InvalidError(message, code="anchor-unreadable") from error


def anchor_problem(workspace: Workspace, path: Path, anchor: Anchor) -> Problem | None:
    """Return an error where the journal no longer has the record that was kept; None too where it cannot be read,
    which is told by itself."""
    try:
        records = workspace.journal(anchor.journal)
    except PawlError:
        return None
    where = f"releases/{anchor.journal}"
    hint = f"restore {where}/ from Git: git log -- {where}"
    if anchor.serial > len(records):
        message = f"{where}/ ends at record {len(records)}, and {path} knows of record {anchor.serial}: it was cut off"
        return Problem(code="journal-truncated", message=message, path=where, hint=hint)
    record = records[anchor.serial - 1]
    if record.digest != anchor.digest:
        message = f"record {anchor.serial} of {where}/ is {record.digest}, {path} knows it as {anchor.digest}"
        file = workspace.relative(workspace.record_file(anchor.journal, anchor.serial))
        return Problem(code="journal-forked", message=message, path=file, hint=hint)
    return None


def _anchor(journal: Any, serial: Any, digest: Any) -> Anchor | None:
    if serial == 0 and digest is None:
        return None
    if type(serial) is not int or serial < 1:
        raise ValueError("a serial counts from 1")
    return Anchor(journal=_journal(journal), serial=serial, digest=parse_digest(digest))


def _journal(name: str) -> str:
    return name if name == REGISTRY_JOURNAL else parse_channel(name)
