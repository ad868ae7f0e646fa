"""What a signature in a record covers, and what of a channel's state rests on signatures. Pure.

- Signed is the canonical JSON of the record without its digest, the signature itself and ``state`` (which follows from
  the rest), and without ``verified``, which the signature is to show. Journal, serial and ``previous`` are in it, so
  that what was signed counts in its own place and nowhere else.
- ``verified`` in a record is a claim. Whoever judges finds out anew which claims still hold; all others are dropped
  from the state that is judged, never from the state that is stored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pawl.canonical import canonical_bytes
from pawl.ids import Serial
from pawl.registry.channels_grants import Approval, Consent, Identity, Waiver
from pawl.registry.channels_state import ChannelState
from pawl.registry.journal import FORMAT, Actor, Head, Record
from pawl.values import replace

_NOT_SIGNED = frozenset({"signature", "state"})


def signed_bytes(
    *, journal: str, after: Head, action: str, at: str, actor: Actor, reason: str | None, body: Mapping[str, Any]
) -> bytes:
    """Return what is signed of the record that follows ``after``; ``body`` may still lack what is not signed."""
    return canonical_bytes(
        {
            "format": FORMAT,
            "journal": journal,
            "serial": after.serial + 1,
            "previous": after.digest,
            "action": action,
            "at": at,
            "actor": {"name": actor.name, "email": actor.email},
            "reason": reason,
            "body": {key: value for key, value in body.items() if key not in _NOT_SIGNED},
        }
    )


def signed_of(record: Record) -> bytes:
    """Return what the signature of a record is to cover."""
    return signed_bytes(
        journal=record.journal,
        after=Head(serial=Serial(record.serial - 1), digest=record.previous),
        action=record.action,
        at=record.at,
        actor=record.actor,
        reason=record.reason,
        body=record.body,
    )


def signature_of(record: Record) -> str | None:
    """Return the signature that stands in a record; ``None`` for anything that can be none."""
    found = record.body.get("signature")
    return found if isinstance(found, str) and found else None


def claims(state: ChannelState, at: str, *, approvals: bool) -> frozenset[Serial]:
    """Return the records that say verified and could still count at ``at``; with ``approvals`` those of them, too."""
    found = {identity[1] for waiver in _open(state, at) for identity in _people(waiver) if identity[0].verified}
    if approvals:
        rows = (row for several in state.approvals.values() for row in several)
        found |= {row.serial for row in rows if row.by.verified and row.until > at}
    return frozenset(found)


def only_verified(state: ChannelState, serials: Collection[Serial], *, approvals: bool) -> ChannelState:
    """Return the state in which only what the records ``serials`` say is verified."""
    if approvals:
        rows = {digest: tuple(_approval(row, serials) for row in found) for digest, found in state.approvals.items()}
        state = replace(state, approvals=rows)
    return replace(state, waivers={serial: _waiver(row, serials) for serial, row in state.waivers.items()})


def _open(state: ChannelState, at: str) -> Iterator[Waiver]:
    return (waiver for waiver in state.waivers.values() if waiver.until > at)


def _people(waiver: Waiver) -> Iterator[tuple[Identity, Serial]]:
    yield waiver.by, waiver.serial
    for consent in waiver.approved_by:
        yield consent.by, consent.serial


def _held(who: Identity, serial: Serial, serials: Collection[Serial]) -> Identity:
    return who if serial in serials or not who.verified else replace(who, verified=False)


def _approval(row: Approval, serials: Collection[Serial]) -> Approval:
    return replace(row, by=_held(row.by, row.serial, serials))


def _waiver(row: Waiver, serials: Collection[Serial]) -> Waiver:
    consents = tuple(_consent(item, serials) for item in row.approved_by)
    return replace(row, by=_held(row.by, row.serial, serials), approved_by=consents)


def _consent(item: Consent, serials: Collection[Serial]) -> Consent:
    return replace(item, by=_held(item.by, item.serial, serials))
