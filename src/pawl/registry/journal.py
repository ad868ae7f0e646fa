"""Hash-chained journals: what a record is, how it is sealed, and how a chain is checked.

Rules of a journal:

- Records are numbered from 1 without a gap; the number is the file's name and stands in the record.
- ``previous`` is the digest of the record before; the first one has none.
- ``digest`` is the SHA-256 of the record's own file with those 64 digits written as zeros, so it covers every byte.
- A record is never changed or removed. Whatever does not fit is an :class:`IntegrityError` that names the record.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pawl.canonical import record_bytes, sha256
from pawl.errors import IntegrityError, why_unreadable
from pawl.ids import Digest, Serial
from pawl.problems import Problem
from pawl.values import dataclass, replace

FORMAT = 1
MAX_RECORD_BYTES = 64 * 1024 * 1024
_ZEROS = "sha256:" + "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who did something: Git's user, or the operating system's where there is no Git."""

    name: str
    email: str | None = None
    verified: bool = False

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "email": self.email, "verified": self.verified}

    def __str__(self) -> str:
        return f"{self.name} <{self.email}>" if self.email else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The newest record of a journal; serial 0 and no digest where there is none."""

    serial: Serial
    digest: Digest | None

    def as_dict(self) -> dict[str, Any]:
        return {"serial": self.serial, "digest": self.digest}


EMPTY = Head(serial=Serial(0), digest=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One sealed record. ``body`` holds what belongs to its action."""

    journal: str
    serial: Serial
    action: str
    at: str
    actor: Actor
    reason: str | None
    body: Mapping[str, Any]
    previous: Digest | None
    digest: Digest
    data: bytes

    @property
    def head(self) -> Head:
        return Head(serial=self.serial, digest=self.digest)


def draft(
    *, journal: str, after: Head, action: str, at: str, actor: Actor, reason: str | None, body: Mapping[str, Any]
) -> Record:
    """Return what would follow ``after``, for a fold to apply: not sealed, so without bytes and a digest of its own."""
    return Record(
        journal=journal,
        serial=Serial(after.serial + 1),
        action=action,
        at=at,
        actor=actor,
        reason=reason,
        body=body,
        previous=after.digest,
        digest=Digest(_ZEROS),
        data=b"",
    )


def seal(
    *, journal: str, after: Head, action: str, at: str, actor: Actor, reason: str | None, body: Mapping[str, Any]
) -> Record:
    """Return the record that follows ``after``. ``at`` is RFC 3339 in UTC; ``body`` is JSON."""
    unsealed = draft(journal=journal, after=after, action=action, at=at, actor=actor, reason=reason, body=body)
    fields: dict[str, Any] = {
        **body,
        "format": FORMAT,
        "journal": journal,
        "serial": unsealed.serial,
        "action": action,
        "at": at,
        "actor": actor.as_dict(),
        "reason": reason,
        "previous": after.digest,
        "digest": _ZEROS,
    }
    blank = record_bytes(fields)
    digest = sha256(blank)
    return replace(unsealed, digest=digest, data=blank.replace(_ZEROS.encode(), digest.encode(), 1))


_ENVELOPE = frozenset({"format", "journal", "serial", "action", "at", "actor", "reason", "previous", "digest"})


def unseal(data: bytes, *, journal: str, serial: int) -> Record:
    """Return the record in ``data`` or raise ``IntegrityError`` if one byte of it is not as it was sealed."""
    try:
        fields = json.loads(data)
        digest = fields["digest"]
        if not isinstance(digest, str) or data.count(digest.encode()) != 1:
            raise ValueError("the digest must stand in the record exactly once")  # noqa: TRY301 - one way out for all
        if sha256(data.replace(digest.encode(), _ZEROS.encode(), 1)) != digest:
            raise ValueError("the bytes do not match the record's digest")  # noqa: TRY301
        if fields["format"] != FORMAT or fields["journal"] != journal or fields["serial"] != serial:
            raise ValueError(  # noqa: TRY301
                f"it says format {fields['format']!r}, journal {fields['journal']!r}, serial {fields['serial']!r}"
            )
        actor = fields["actor"]
        return Record(
            journal=journal,
            serial=Serial(serial),
            action=fields["action"],
            at=fields["at"],
            actor=Actor(name=actor["name"], email=actor["email"], verified=actor["verified"]),
            reason=fields["reason"],
            body={key: value for key, value in fields.items() if key not in _ENVELOPE},
            previous=fields["previous"],
            digest=Digest(digest),
            data=data,
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise damaged(journal, serial, why_unreadable(error)) from error


def is_sealed_by(data: bytes, digest: Digest | None) -> bool:
    """Whether these are the bytes of the record with this digest, which was unsealed before; they are not parsed."""
    if digest is None:
        return False
    mark = digest.encode()
    return data.count(mark) == 1 and sha256(data.replace(mark, _ZEROS.encode(), 1)) == digest


def chain(journal: str, files: Iterable[tuple[int, bytes]], after: Head = EMPTY) -> tuple[Record, ...]:
    """Return the records of a journal that follow ``after``, of a whole one if nobody says, given (serial, bytes) in
    order; ``IntegrityError`` at the first misfit."""
    records: list[Record] = []
    head = after
    for serial, data in files:
        if serial != head.serial + 1:
            raise damaged(journal, head.serial + 1, "the record is missing")
        record = unseal(data, journal=journal, serial=serial)
        if record.previous != head.digest:
            raise damaged(journal, serial, "it does not follow the record before it")
        records.append(record)
        head = record.head
    return tuple(records)


def damaged(journal: str, serial: int, why: str) -> IntegrityError:
    """Return the error for a record that does not fit."""
    message = f"record {serial} of the journal {journal} is damaged: {why}"
    hint = f"restore releases/{journal}/ from Git (git log -- releases/{journal}); records are never edited or merged"
    problem = Problem(code="journal-damaged", message=message, hint=hint, path=f"releases/{journal}/{serial:06d}.json")
    return IntegrityError(message, problems=(problem,))
