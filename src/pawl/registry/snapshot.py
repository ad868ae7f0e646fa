"""Snapshots: one self-contained file with everything that a channel serves; what agents load.

A snapshot says of every pin either what is served, with its document, or that it is withheld and why, without one. It
is sealed like a record: its digest covers every byte of the file. Reading fails closed: another channel, an unknown
format or a changed byte is refused, and nothing of it is used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from pawl.errors import IntegrityError, InvalidError, why_unreadable
from pawl.problems import Problem
from pawl.values import dataclass

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from typing import Any

    from pawl.ids import Channel, Digest, Name, Serial, Version

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


class Entries(Mapping["Name", Entry]):
    """The pins of a snapshot by name; each entry is made when it is asked for first."""

    __slots__ = ("_made", "_rows")

    def __init__(self, rows: Mapping[Name, Mapping[str, Any]]) -> None:
        self._rows = rows
        self._made: dict[Name, Entry] = {}

    def __getitem__(self, name: Name) -> Entry:
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = _entry(name, self._rows[name])
        return made

    def __iter__(self) -> Iterator[Name]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Snapshot:
    """What a channel serves at one serial. Moments are RFC 3339 in UTC to the second."""

    channel: Channel
    serial: Serial
    head: Digest | None
    policy: int | None
    created: str
    expires: str | None
    deadline: float | None
    """``expires`` in seconds since 1970; from that very moment on it is stale."""
    entries: Mapping[Name, Entry]
    revoked: Mapping[str, str]
    """Every revoked version of the channel's names, pinned or not -> the reason: open runs may still hold one."""
    digest: Digest

    def stale(self, now: float) -> bool:
        """Whether it has expired at ``now``, in seconds since 1970; the very moment counts as past."""
        return self.deadline is not None and now >= self.deadline


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
    from pawl.canonical import record_bytes, sha256  # noqa: PLC0415 - readers of snapshots do not need it

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
        if len(data) > MAX_BYTES:
            raise ValueError(f"it has more than {MAX_BYTES} bytes")  # noqa: TRY301 - one way out for all
        fields = json.loads(data)
        _check_seal(data, fields["digest"])
        if fields["format"] != FORMAT:
            raise InvalidError(f"the snapshot has format {fields['format']!r}, this pawl reads {FORMAT}")
        _check_shape(fields)
        snapshot = Snapshot(
            channel=fields["channel"],
            serial=fields["serial"],
            head=fields["head"],
            policy=fields["policy"],
            created=fields["created"],
            expires=fields["expires"],
            deadline=None if fields["expires"] is None else _seconds(fields["expires"]),
            entries=Entries(fields["procedures"]),
            revoked=MappingProxyType(fields["revoked"]),
            digest=fields["digest"],
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


def _check_seal(data: bytes, digest: Any) -> None:
    at = _seal_place(data)
    after = at + len(_ZEROS)
    if not isinstance(digest, str) or len(digest) != len(_ZEROS) or data[at:after] != digest.encode():
        raise ValueError("its seal is not where it belongs")
    bytes_of = memoryview(data)
    seen = hashlib.sha256(bytes_of[:at])
    seen.update(_ZEROS.encode())
    seen.update(bytes_of[after:])
    if f"sha256:{seen.hexdigest()}" != digest:
        raise ValueError("its bytes do not match its digest")


_SHARED = frozenset({"kind", "version", "digest", "requires", "warnings"})
_SERVED = _SHARED | {"document"}
_WITHHELD = _SHARED | {"withheld"}


def _check_shape(fields: Mapping[str, Any]) -> None:
    """Every part has its shape, so that nothing of a file is used that is not whole; entries are made later."""
    if type(fields["serial"]) is not int or type(fields["revoked"]) is not dict:
        raise TypeError
    if not _is_text(fields["channel"], fields["created"], *fields["revoked"].values()):
        raise TypeError
    for row in fields["procedures"].values():
        keys = row.keys()
        if keys == _WITHHELD:
            held = Withheld(**row["withheld"])
            whole = type(held.exit_code) is int and _is_text(held.code, held.message)
        else:
            whole = keys == _SERVED and type(row["document"]) is dict and type(row["document"].get("spec")) is dict
        if not (whole and _is_text(row["kind"], row["version"], row["digest"]) and type(row["requires"]) is dict):
            raise TypeError
        if type(row["warnings"]) is not list or not _is_text(*row["warnings"], *row["requires"].values()):
            raise TypeError


def _is_text(*values: Any) -> bool:
    return {str}.issuperset(map(type, values))


def _seconds(moment: str) -> float:
    from datetime import datetime  # noqa: PLC0415 - most snapshots have no end

    parsed = datetime.fromisoformat(moment)
    if parsed.tzinfo is None:
        raise ValueError(f"its end {moment!r} has no time zone")
    return parsed.timestamp()


def _seal_place(data: bytes) -> int:
    """Return where the digest's text begins: keys are sorted, so it is the one at the outermost level."""
    mark = b'\n  "digest": "'
    at = data.find(mark)
    if at < 0 or data.find(mark, at + 1) >= 0:
        raise ValueError("it has no seal, or more than one")
    return at + len(mark)


def _entry(name: Name, row: Mapping[str, Any]) -> Entry:
    withheld = row.get("withheld")
    return Entry(
        kind=row["kind"],
        name=name,
        version=row["version"],
        digest=row["digest"],
        requires=row["requires"],
        warnings=tuple(row["warnings"]),
        document=None if withheld else row["document"],
        withheld=Withheld(**withheld) if withheld else None,
    )
