"""A channel after its newest record, as values: pins, what was live before, and what holds or allows moves.

What was live before is kept for rollbacks and grows with the journal; it is never cut. Pins, rejections, halts,
approvals, waivers and freezes are the *state*, which every record vouches for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pawl.ids import Channel, Digest, Name, Ref, Serial, Version
from pawl.registry.channels_grants import Approval, Freeze, Waiver
from pawl.registry.growing import StoredRows
from pawl.registry.journal import EMPTY, Head
from pawl.values import dataclass, field


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
    approvals: Mapping[Digest, tuple[Approval, ...]] = field(default_factory=dict)
    """By the version's digest; of each person the newest for each closure."""
    waivers: Mapping[Serial, Waiver] = field(default_factory=dict)
    """By the record that asked for it."""
    freezes: Mapping[Serial, Freeze] = field(default_factory=dict)
    """By the record that set it."""
    past: Mapping[Name, Sequence[Past]] = field(default_factory=dict)
    """Empty in a state that was read from a projection."""
    moved: Mapping[Serial, str] = field(default_factory=dict)
    """When each record that moved pins was made; empty when read from a projection."""
    evidence: Sequence[Mapping[str, Any]] = ()
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
        return bool(pin and pin.digest == digest) or bool(self.stays(digest, name))

    def stays(self, digest: Digest, name: Name) -> Sequence[Past]:
        """Return every time during which this exact version was live here before, in their order."""
        past = self.past.get(name, ())
        if isinstance(past, StoredRows):
            return past.of(digest)
        return tuple(item for item in past if item.pin.digest == digest)

    def earlier(self, name: Name) -> tuple[Past, ...]:
        """Return what was live before the present pin, last live first, each version once."""
        pin = self.pins.get(name)
        found: dict[Digest, Past] = {}
        for past in reversed(self.past.get(name, ())):
            if not (pin and past.pin.digest == pin.digest):
                found.setdefault(past.pin.digest, past)
        return tuple(found.values())

    def last(self, name: Name) -> Pin | None:
        """Return what is pinned, or was last where nothing is: taking a pin off is no new beginning."""
        pin, past = self.pins.get(name), self.past.get(name, ())
        return pin or (past[-1].pin if past else None)

    def live_times(self, digest: Digest, name: Name) -> tuple[tuple[str, str | None], ...]:
        """Return from when until when this exact version was live here, by the records; no end where it still is."""
        found: list[tuple[str, str | None]] = [
            (self.moved[past.pin.since], self.moved[past.until])
            for past in self.stays(digest, name)
            if past.pin.since in self.moved
        ]
        pin = self.pins.get(name)
        if pin is not None and pin.digest == digest and pin.since in self.moved:
            found.append((self.moved[pin.since], None))
        return tuple(found)


def empty_channel(channel: Channel) -> ChannelState:
    """Return the state of a channel without records."""
    nothing: Mapping[Any, Any] = MappingProxyType({})
    return ChannelState(channel=channel, head=EMPTY, registry=EMPTY, pins=nothing, rejections=nothing, halts=nothing)
