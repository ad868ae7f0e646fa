"""A channel as a fold over its journal: what each kind of record does to the state.

A record that cannot follow those before it is damage, whatever its digests say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
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
from pawl.registry.journal import EMPTY, Head, Record, damaged


@dataclass(slots=True)
class _Fold:
    pins: dict[Name, Pin] = field(default_factory=dict)
    rejections: dict[Digest, Rejection] = field(default_factory=dict)
    halts: dict[Name, Halt] = field(default_factory=dict)
    approvals: dict[Digest, tuple[Approval, ...]] = field(default_factory=dict)
    waivers: dict[Serial, Waiver] = field(default_factory=dict)
    freezes: dict[Serial, Freeze] = field(default_factory=dict)
    past: dict[Name, tuple[Past, ...]] = field(default_factory=dict)
    moved: dict[Serial, str] = field(default_factory=dict)
    evidence: list[Mapping[str, Any]] = field(default_factory=list)

    def state(self, channel: Channel, head: Head, registry: Head) -> ChannelState:
        return ChannelState(
            channel=channel,
            head=head,
            registry=registry,
            pins=MappingProxyType(dict(self.pins)),
            rejections=MappingProxyType(dict(self.rejections)),
            halts=MappingProxyType(dict(self.halts)),
            approvals=MappingProxyType(dict(self.approvals)),
            waivers=MappingProxyType(dict(self.waivers)),
            freezes=MappingProxyType(dict(self.freezes)),
            past=MappingProxyType(dict(self.past)),
            moved=MappingProxyType(dict(self.moved)),
            evidence=tuple(self.evidence),
        )


def fold_channel(channel: Channel, records: Iterable[Record]) -> ChannelState:
    """Return the state after ``records``; ``IntegrityError`` for one that cannot follow those before it."""
    fold = _Fold()
    head = registry = EMPTY
    newest: Record | None = None
    for record in records:
        try:
            _APPLY[record.action](fold, record)
            fold.evidence.extend(record.body["evidence"])
            registry = read_head(record.body["registry"])
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise damaged(channel, record.serial, f"{record.action} does not apply: {error!s}") from error
        head = record.head
        newest = record
    state = fold.state(channel, head, registry)
    if newest is not None and not _leads_to(state, newest):
        raise damaged(channel, newest.serial, "the state that it names is not the one its journal leads to")
    return state


def _leads_to(state: ChannelState, newest: Record) -> bool:
    try:
        return state_digest(state) == newest.body.get("state")
    except (TypeError, ValueError, AttributeError):  # made of values that no state has
        return False


def follow(state: ChannelState, record: Record) -> ChannelState:
    """Return the state after one more record, which may still lack its ``state``; ``KeyError`` or ``ValueError`` if it
    does not apply."""
    fold = _Fold(
        pins=dict(state.pins),
        rejections=dict(state.rejections),
        halts=dict(state.halts),
        approvals=dict(state.approvals),
        waivers=dict(state.waivers),
        freezes=dict(state.freezes),
        past=dict(state.past),
        moved=dict(state.moved),
        evidence=list(state.evidence),
    )
    _APPLY[record.action](fold, record)
    fold.evidence.extend(record.body["evidence"])
    return fold.state(state.channel, record.head, read_head(record.body["registry"]))


def _move(fold: _Fold, record: Record) -> None:
    fold.moved[record.serial] = record.at
    for move in record.body["moves"]:
        name = Name(move["name"])
        before = fold.pins.pop(name, None)
        if (before.digest if before else None) != (move["from"] or {}).get("digest"):
            raise ValueError(f"{name} was not pinned as the record says")
        if before:
            fold.past[name] = (*fold.past.get(name, ()), Past(pin=before, until=record.serial))
        if move["to"] is not None:
            fold.pins[name] = read_pin(name, {**move["to"], "since": record.serial})
    for row in record.body.get("rejects", ()):
        _add_rejection(fold, record, row)


def _add_rejection(fold: _Fold, record: Record, row: Mapping[str, Any]) -> None:
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


def _reject(fold: _Fold, record: Record) -> None:
    for row in record.body["rejects"]:
        _add_rejection(fold, record, row)


def _unreject(fold: _Fold, record: Record) -> None:
    for content in record.body["unrejects"]:
        del fold.rejections[content]


def _halt(fold: _Fold, record: Record) -> None:
    fold.halts[record.body["name"]] = Halt(
        version=record.body["version"],
        reason=record.reason or "",
        by=str(record.actor),
        at=record.at,
        serial=record.serial,
    )


def _resume(fold: _Fold, record: Record) -> None:
    del fold.halts[record.body["name"]]


def _approve(fold: _Fold, record: Record) -> None:
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


def _waive(fold: _Fold, record: Record) -> None:
    fold.waivers[record.serial] = waiver_in(record)


def _freeze(fold: _Fold, record: Record) -> None:
    fold.freezes[record.serial] = freeze_in(record)


def _unfreeze(fold: _Fold, record: Record) -> None:
    if not record.body["freezes"]:
        raise ValueError("it lifts nothing")
    for serial in record.body["freezes"]:
        del fold.freezes[serial]


def _refused(_fold: _Fold, record: Record) -> None:
    if not isinstance(record.body["attempt"], dict):
        raise TypeError("a refused record says what was attempted")


def _drill(_fold: _Fold, record: Record) -> None:
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
