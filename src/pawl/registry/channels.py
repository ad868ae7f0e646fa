"""A channel as a fold over its journal: pins, what was live before, rejections and halts.

The *state* (pins, rejections, halts) is what agents and the next decision need; its digest stands in every record, so
the projection under registry/channels/ is believed only where the newest record vouches for it. What was live before is
kept for rollbacks and grows with the journal; it is never cut.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pawl.errors import IntegrityError, why_unreadable
from pawl.ids import Channel, Digest, Name, Ref, Serial, Version
from pawl.problems import Problem
from pawl.registry.journal import EMPTY, FORMAT, Head, Record, damaged


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One procedure at one version on a channel. ``tests`` holds the number of cases of each suite that let it in."""

    kind: str
    name: Name
    version: Version
    digest: Digest
    content: Digest
    file: Digest
    requires: Mapping[Name, str]
    since: Serial
    tests: Mapping[str, int]

    @property
    def ref(self) -> Ref:
        return Ref(self.name, self.version)

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "version": self.version,
            "digest": self.digest,
            "content": self.content,
            "file": self.file,
            "requires": dict(self.requires),
            "since": self.since,
            "tests": dict(self.tests),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """A time during which a version was live: from the record ``pin.since`` until the record ``until``."""

    pin: Pin
    until: Serial


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """Content that must not come back by itself. ``cause`` is ``reject`` or ``rollback``."""

    ref: str
    content: Digest
    cause: str
    reason: str
    by: str
    at: str
    serial: Serial
    until: str | None

    def holds(self, now: str) -> bool:
        """Whether it is in force at ``now``: RFC 3339 in UTC to the second, where text order is time order."""
        return self.until is None or now < self.until

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("ref", "cause", "reason", "by", "at", "serial", "until")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt:
    """A stop of serving: of one name, or of one version of it."""

    version: Version | None
    reason: str
    by: str
    at: str
    serial: Serial

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("version", "reason", "by", "at", "serial")}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelState:
    """A channel after its newest record."""

    channel: Channel
    head: Head
    registry: Head
    """The registry's newest record as the channel's newest record knew it."""
    pins: Mapping[Name, Pin]
    rejections: Mapping[Digest, Rejection]
    """By content digest."""
    halts: Mapping[Name, Halt]
    past: Mapping[Name, tuple[Past, ...]] = field(default_factory=dict)
    """Empty in a state that was read from a projection."""
    evidence: tuple[Mapping[str, Any], ...] = ()
    """Every evidence entry that the journal's records brought, oldest first; empty when read from a projection."""

    def halted(self, name: Name) -> Halt | None:
        """Return the halt that stops ``name`` as it is pinned now."""
        halt = self.halts.get(name)
        pin = self.pins.get(name)
        if halt and (halt.version is None or (pin and pin.version == halt.version)):
            return halt
        return None

    def was_live(self, digest: Digest, name: Name) -> bool:
        """Whether this exact version is or ever was live here."""
        pin = self.pins.get(name)
        return bool(pin and pin.digest == digest) or any(past.pin.digest == digest for past in self.past.get(name, ()))

    def earlier(self, name: Name) -> tuple[Past, ...]:
        """Return what was live before the present pin, last live first, each version once."""
        pin = self.pins.get(name)
        found: dict[Digest, Past] = {}
        for past in reversed(self.past.get(name, ())):
            if not (pin and past.pin.digest == pin.digest):
                found.setdefault(past.pin.digest, past)
        return tuple(found.values())


def empty_channel(channel: Channel) -> ChannelState:
    """Return the state of a channel without records."""
    nothing: Mapping[Any, Any] = MappingProxyType({})
    return ChannelState(channel=channel, head=EMPTY, registry=EMPTY, pins=nothing, rejections=nothing, halts=nothing)


def state_digest(state: ChannelState) -> Digest:
    """Return the digest of pins, rejections and halts: SHA-256 over their compact JSON with sorted keys.

    All values are text and whole numbers and all keys ASCII, for which this is the RFC 8785 form up to escapes.
    """
    text = json.dumps(_state_fields(state), sort_keys=True, separators=(",", ":"))
    return Digest("sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest())


def projection(state: ChannelState) -> dict[str, Any]:
    """Return the content of registry/channels/<channel>.json."""
    return {
        "format": FORMAT,
        "channel": state.channel,
        "serial": state.head.serial,
        "head": state.head.digest,
        "registry": state.registry.as_dict(),
        **_state_fields(state),
    }


def read_projection(data: bytes, channel: Channel, newest: Record) -> ChannelState:
    """Return the state in a projection if ``newest``, the channel's newest record, vouches for it.

    Raises ``IntegrityError`` otherwise: the projection was edited, or belongs to another record.
    """
    try:
        fields = json.loads(data)
        state = ChannelState(
            channel=channel,
            head=Head(serial=Serial(fields["serial"]), digest=fields["head"]),
            registry=_head(fields["registry"]),
            pins={Name(name): _pin(name, row) for name, row in fields["pins"].items()},
            rejections={
                Digest(key): Rejection(content=Digest(key), **row) for key, row in fields["rejections"].items()
            },
            halts={Name(name): Halt(**row) for name, row in fields["halts"].items()},
        )
        if projection(state) != fields or fields["channel"] != channel:
            raise ValueError("it holds other fields than it should")  # noqa: TRY301 - one way out for all
        vouched = (newest.head, newest.body["state"], newest.body["registry"])
        if (state.head, state_digest(state), state.registry.as_dict()) != vouched:
            raise ValueError(f"record {newest.serial} of the journal does not vouch for it")  # noqa: TRY301
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        message = f"registry/channels/{channel}.json is not what the journal of {channel} says: {why_unreadable(error)}"
        hint = "the file is only a copy of the journal: delete it, and the next command writes it again"
        problem = Problem(
            code="projection-damaged", message=message, hint=hint, path=f"registry/channels/{channel}.json"
        )
        raise IntegrityError(message, problems=(problem,)) from error
    return state


def _state_fields(state: ChannelState) -> dict[str, Any]:
    return {
        "pins": {name: pin.as_dict() for name, pin in state.pins.items()},
        "rejections": {key: rejection.as_dict() for key, rejection in state.rejections.items()},
        "halts": {name: halt.as_dict() for name, halt in state.halts.items()},
    }


_PIN_FIELDS = ("kind", "version", "digest", "content", "file", "requires", "since", "tests")


def _head(fields: Mapping[str, Any]) -> Head:
    return Head(serial=Serial(fields["serial"]), digest=fields["digest"])


def _pin(name: str, row: Mapping[str, Any]) -> Pin:
    return Pin(name=Name(name), **{key: row[key] for key in _PIN_FIELDS})


@dataclass(slots=True)
class _Fold:
    pins: dict[Name, Pin] = field(default_factory=dict)
    rejections: dict[Digest, Rejection] = field(default_factory=dict)
    halts: dict[Name, Halt] = field(default_factory=dict)
    past: dict[Name, tuple[Past, ...]] = field(default_factory=dict)
    evidence: list[Mapping[str, Any]] = field(default_factory=list)

    def state(self, channel: Channel, head: Head, registry: Head) -> ChannelState:
        return ChannelState(
            channel=channel,
            head=head,
            registry=registry,
            pins=MappingProxyType(dict(self.pins)),
            rejections=MappingProxyType(dict(self.rejections)),
            halts=MappingProxyType(dict(self.halts)),
            past=MappingProxyType(dict(self.past)),
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
            registry = _head(record.body["registry"])
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise damaged(channel, record.serial, f"{record.action} does not apply: {error!s}") from error
        head = record.head
        newest = record
    state = fold.state(channel, head, registry)
    if newest is not None and state_digest(state) != newest.body["state"]:
        raise damaged(channel, newest.serial, "the state that it names is not the one its journal leads to")
    return state


def follow(state: ChannelState, record: Record) -> ChannelState:
    """Return the state after one more record, which may still lack its ``state``; ``KeyError`` or ``ValueError`` if it
    does not apply."""
    fold = _Fold(dict(state.pins), dict(state.rejections), dict(state.halts), dict(state.past), list(state.evidence))
    _APPLY[record.action](fold, record)
    fold.evidence.extend(record.body["evidence"])
    return fold.state(state.channel, record.head, _head(record.body["registry"]))


def _move(fold: _Fold, record: Record) -> None:
    for move in record.body["moves"]:
        name = Name(move["name"])
        before = fold.pins.pop(name, None)
        if (before.digest if before else None) != (move["from"] or {}).get("digest"):
            raise ValueError(f"{name} was not pinned as the record says")
        if before:
            fold.past[name] = (*fold.past.get(name, ()), Past(pin=before, until=record.serial))
        if move["to"] is not None:
            fold.pins[name] = _pin(name, {**move["to"], "since": record.serial})
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


def _refused(_fold: _Fold, record: Record) -> None:
    if not isinstance(record.body["attempt"], dict):
        raise TypeError("a refused record says what was attempted")


_APPLY = {
    "promote": _move,
    "rollback": _move,
    "remove": _move,
    "refused": _refused,
    "reject": _reject,
    "unreject": _unreject,
    "halt": _halt,
    "resume": _resume,
}
MOVING_ACTIONS = frozenset({"promote", "rollback", "remove"})
