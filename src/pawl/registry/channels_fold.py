"""A channel as a fold over its journal: what each kind of record does to the state.

A record that cannot follow those before it is damage, whatever its digests say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import Any

from pawl.ids import Channel, Digest, Name, Serial
from pawl.registry.channels_grants import (
    Approval,
    Freeze,
    Waiver,
    approvals_in,
    consent_in,
    freeze_in,
    waiver_in,
)
from pawl.registry.channels_projection import read_head, read_pin, state_digest
from pawl.registry.channels_state import ChannelState, Halt, Past, Pin, Rejection
from pawl.registry.growing import Joined, Longer, Overlay, read_only
from pawl.registry.journal import EMPTY, Record, damaged
from pawl.values import replace


class ChannelFold:
    """The state under way: from nothing, or laid over another state, which stays as it is."""

    def __init__(self, channel: Channel, state: ChannelState | None = None) -> None:
        self.channel = channel
        self.head = state.head if state else EMPTY
        self.registry = state.registry if state else EMPTY
        self.pins: MutableMapping[Name, Pin] = Overlay(state.pins) if state else {}
        self.rejections: MutableMapping[Digest, Rejection] = Overlay(state.rejections) if state else {}
        self.halts: MutableMapping[Name, Halt] = Overlay(state.halts) if state else {}
        self.approvals: MutableMapping[Digest, tuple[Approval, ...]] = Overlay(state.approvals) if state else {}
        self.waivers: MutableMapping[Serial, Waiver] = Overlay(state.waivers) if state else {}
        self.freezes: MutableMapping[Serial, Freeze] = Overlay(state.freezes) if state else {}
        self.past: Joined[Name, Past] = Joined(state.past if state else {})
        self.moved: MutableMapping[Serial, str] = Overlay(state.moved) if state else {}
        self.evidence: Longer[Mapping[str, Any]] = Longer(state.evidence if state else ())

    def apply(self, record: Record) -> None:
        """Go on to the state after ``record``, which may still lack its ``state``; whatever a record that cannot
        follow those before it raises is one of ``MISFITS``."""
        _APPLY[record.action](self, record)
        for row in record.body["evidence"]:
            self.evidence.append(row)
        self.registry = read_head(record.body["registry"])
        self.head = record.head

    def state(self) -> ChannelState:
        """Return the state so far; it moves on with what is applied after it."""
        return ChannelState(
            channel=self.channel,
            head=self.head,
            registry=self.registry,
            pins=read_only(self.pins),
            rejections=read_only(self.rejections),
            halts=read_only(self.halts),
            approvals=read_only(self.approvals),
            waivers=read_only(self.waivers),
            freezes=read_only(self.freezes),
            past=self.past,
            moved=read_only(self.moved),
            evidence=self.evidence,
        )


MISFITS = (KeyError, ValueError, TypeError, AttributeError)


def fold_channel(channel: Channel, records: Iterable[Record]) -> ChannelState:
    """Return the state after ``records``; ``IntegrityError`` for one that cannot follow those before it."""
    return go_on(ChannelFold(channel), records)


def go_on(
    fold: ChannelFold,
    records: Iterable[Record],
    noted: Callable[[Record], None] = lambda _: None,
    *,
    vouched: bool = False,
) -> ChannelState:
    """Return the state after ``records`` are applied to ``fold``; each is told to ``noted`` when it was.

    Where somebody ``vouched`` that the last one names the state that it leads to, that is not worked out.
    """
    newest: Record | None = None
    for record in records:
        try:
            fold.apply(record)
        except MISFITS as error:
            raise damaged(fold.channel, record.serial, f"{record.action} does not apply: {error!s}") from error
        noted(record)
        newest = record
    state = fold.state()
    if newest is not None and not vouched and not _leads_to(state, newest):
        raise damaged(fold.channel, newest.serial, "the state that it names is not the one its journal leads to")
    return state


def _leads_to(state: ChannelState, newest: Record) -> bool:
    try:
        return state_digest(state) == newest.body.get("state")
    except (TypeError, ValueError, AttributeError):  # made of values that no state has
        return False


def follow(state: ChannelState, record: Record) -> ChannelState:
    """Return the state after one more record, which may still lack its ``state``; ``KeyError`` or ``ValueError`` if it
    does not apply."""
    fold = ChannelFold(state.channel, state)
    fold.apply(record)
    return fold.state()


def _move(fold: ChannelFold, record: Record) -> None:
    fold.moved[record.serial] = record.at
    for move in record.body["moves"]:
        name = Name(move["name"])
        before = fold.pins.pop(name, None)
        if (before.digest if before else None) != (move["from"] or {}).get("digest"):
            raise ValueError(f"{name} was not pinned as the record says")
        if before:
            fold.past.add(name, Past(pin=before, until=record.serial))
        if move["to"] is not None:
            fold.pins[name] = read_pin(name, {**move["to"], "since": record.serial})
    for row in record.body.get("rejects", ()):
        _add_rejection(fold, record, row)


def _add_rejection(fold: ChannelFold, record: Record, row: Mapping[str, Any]) -> None:
    content = Digest(row["content"])
    fold.rejections[content] = Rejection(
        ref=row["ref"],
        content=content,
        cause=row["cause"],
        reason=record.reason or "",
        by=str(record.actor),
        at=record.at,
        serial=record.serial,
        until=row["until"],
    )


def _reject(fold: ChannelFold, record: Record) -> None:
    for row in record.body["rejects"]:
        _add_rejection(fold, record, row)


def _unreject(fold: ChannelFold, record: Record) -> None:
    for content in record.body["unrejects"]:
        del fold.rejections[content]


def _halt(fold: ChannelFold, record: Record) -> None:
    fold.halts[record.body["name"]] = Halt(
        version=record.body["version"],
        reason=record.reason or "",
        by=str(record.actor),
        at=record.at,
        serial=record.serial,
    )


def _resume(fold: ChannelFold, record: Record) -> None:
    del fold.halts[record.body["name"]]


def _approve(fold: ChannelFold, record: Record) -> None:
    approvals, waivers = approvals_in(record), record.body.get("waivers", ())
    if not approvals and not waivers:
        raise ValueError("it approves nothing")
    for approval in approvals:
        others = fold.approvals.get(approval.digest, ())
        rest = [item for item in others if (item.by, item.closure) != (approval.by, approval.closure)]
        fold.approvals[approval.digest] = (*rest, approval)
    for serial in waivers:
        waiver = fold.waivers[serial]
        fold.waivers[serial] = replace(waiver, approved_by=(*waiver.approved_by, consent_in(record)))


def _waive(fold: ChannelFold, record: Record) -> None:
    fold.waivers[record.serial] = waiver_in(record)


def _freeze(fold: ChannelFold, record: Record) -> None:
    fold.freezes[record.serial] = freeze_in(record)


def _unfreeze(fold: ChannelFold, record: Record) -> None:
    if not record.body["freezes"]:
        raise ValueError("it lifts nothing")
    for serial in record.body["freezes"]:
        del fold.freezes[serial]


def _refused(_fold: ChannelFold, record: Record) -> None:
    if not isinstance(record.body["attempt"], dict):
        raise TypeError("a refused record says what was attempted")


def _drill(_fold: ChannelFold, record: Record) -> None:
    """A drill moves nothing: it brings evidence, and says which ways back it tried."""
    rows = record.body["drilled"]
    if not isinstance(rows, list) or not rows or not all(isinstance(row["allowed"], bool) for row in rows):
        raise ValueError("a drill says which ways back it tried, and what each came to")


_APPLY = {
    "promote": _move,
    "rollback": _move,
    "remove": _move,
    "refused": _refused,
    "drill": _drill,
    "reject": _reject,
    "unreject": _unreject,
    "halt": _halt,
    "resume": _resume,
    "approve": _approve,
    "waive": _waive,
    "freeze": _freeze,
    "unfreeze": _unfreeze,
}
MOVING_ACTIONS = frozenset({"promote", "rollback", "remove"})
