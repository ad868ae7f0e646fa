"""Snapshots: one self-contained file with everything that a channel serves; what agents load.

A snapshot says of every pin either what is served, with its document, or that it is withheld and why, without one. It
is sealed like a record: its digest covers every byte of the file. Reading fails closed: another channel, an unknown
format or a changed byte is refused, and nothing of it is used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pawl.canonical import record_bytes, sha256
from pawl.errors import IntegrityError, InvalidError, why_unreadable
from pawl.ids import Channel, Digest, Name, Serial, Version
from pawl.problems import Problem

FORMAT = 1
MAX_BYTES = 512 * 1024 * 1024
_ZEROS = "sha256:" + "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Withheld:
    """Why a pin is not served. ``exit_code`` is what the command line answers for it."""

    code: str
    message: str
    exit_code: int
    hint: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {"code": self.code, "message": self.message, "exit_code": self.exit_code, "hint": self.hint}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entry:
    """One pin of a channel: served with its document, or withheld without it."""

    kind: str
    name: Name
    version: Version
    digest: Digest
    requires: Mapping[Name, str]
    warnings: tuple[str, ...] = ()
    document: Mapping[str, Any] | None = None
    withheld: Withheld | None = None

    def as_dict(self) -> dict[str, Any]:
        row: dict[str, Any] = {
            "kind": self.kind,
            "version": self.version,
            "digest": self.digest,
            "requires": dict(self.requires),
            "warnings": list(self.warnings),
        }
        if self.withheld is not None:
            return {**row, "withheld": self.withheld.as_dict()}
        return {**row, "document": self.document}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Snapshot:
    """What a channel serves at one serial. Moments are RFC 3339 in UTC to the second."""

    channel: Channel
    serial: Serial
    head: Digest | None
    policy: int | None
    created: str
    expires: str | None
    entries: Mapping[Name, Entry]
    revoked: Mapping[str, str]
    """Every revoked version of the channel's names, pinned or not -> the reason: open runs may still hold one."""
    digest: Digest

    def stale(self, now: str) -> bool:
        """Whether it has expired at ``now``; the very moment counts as past."""
        return self.expires is not None and self.expires <= now


def snapshot_bytes(
    *,
    channel: Channel,
    serial: Serial,
    head: Digest | None,
    policy: int | None,
    created: str,
    expires: str | None,
    entries: Mapping[Name, Entry],
    revoked: Mapping[str, str],
) -> bytes:
    """Return the sealed file."""
    blank = record_bytes(
        {
            "format": FORMAT,
            "channel": channel,
            "serial": serial,
            "head": head,
            "policy": policy,
            "created": created,
            "expires": expires,
            "procedures": {name: entry.as_dict() for name, entry in entries.items()},
            "revoked": dict(revoked),
            "digest": _ZEROS,
        }
    )
    at = _seal_place(blank)
    return blank[:at] + sha256(blank).encode("ascii") + blank[at + len(_ZEROS) :]


def read_snapshot(data: bytes, *, channel: Channel | None) -> Snapshot:
    """Return the snapshot in ``data``; ``IntegrityError`` for a changed byte, ``InvalidError`` for another channel."""
    try:
        fields = json.loads(data)
        digest = fields["digest"]
        at = _seal_place(data)
        if not isinstance(digest, str) or len(digest) != len(_ZEROS) or data[at : at + len(_ZEROS)] != digest.encode():
            raise ValueError("its seal is not where it belongs")  # noqa: TRY301 - one way out for all
        if sha256(data[:at] + _ZEROS.encode() + data[at + len(_ZEROS) :]) != digest:
            raise ValueError("its bytes do not match its digest")  # noqa: TRY301
        if fields["format"] != FORMAT:
            raise InvalidError(f"the snapshot has format {fields['format']!r}, this pawl reads {FORMAT}")
        snapshot = Snapshot(
            channel=Channel(fields["channel"]),
            serial=Serial(fields["serial"]),
            head=fields["head"],
            policy=fields["policy"],
            created=fields["created"],
            expires=fields["expires"],
            entries=MappingProxyType({Name(name): _entry(name, row) for name, row in fields["procedures"].items()}),
            revoked=MappingProxyType(fields["revoked"]),
            digest=Digest(digest),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        message = f"the snapshot is damaged: {why_unreadable(error)}"
        hint = "make it again: pawl snapshot CHANNEL --out FILE"
        raise IntegrityError(
            message, problems=(Problem(code="snapshot-damaged", message=message, hint=hint),)
        ) from error
    if channel is not None and snapshot.channel != channel:
        raise InvalidError(
            f"the snapshot is of the channel {snapshot.channel}, not of {channel}", code="snapshot-other-channel"
        )
    return snapshot


def _seal_place(data: bytes) -> int:
    """Return where the digest's text begins: keys are sorted, so it is the one at the outermost level."""
    mark = b'\n  "digest": "'
    at = data.find(mark)
    if at < 0 or data.find(mark, at + 1) >= 0:
        raise ValueError("it has no seal, or more than one")
    return at + len(mark)


def _entry(name: str, row: Mapping[str, Any]) -> Entry:
    withheld = row.get("withheld")
    return Entry(
        kind=row["kind"],
        name=Name(name),
        version=row["version"],
        digest=row["digest"],
        requires=row["requires"],
        warnings=tuple(row["warnings"]),
        document=None if withheld else row["document"],
        withheld=Withheld(**withheld) if withheld else None,
    )
