"""Small builders for the tests of registry, releases and the evaluator: members, pins and sealed journals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pawl.canonical import digest_of
from pawl.ids import REGISTRY_JOURNAL, Channel, Digest, Name, Serial, Version
from pawl.registry.catalog import Catalog, Published, fold_registry
from pawl.registry.channels import ChannelState, Pin, fold_channel, follow, state_digest
from pawl.registry.journal import EMPTY, Actor, Record, chain, seal

ADA = Actor(name="Ada", email="ada@example.invalid")
STAGING = Channel("staging")
AT = "2026-03-01T12:00:00Z"


def requirements(**wanted: str) -> dict[Name, str]:
    return {Name(name): specifier for name, specifier in wanted.items()}


@dataclass(frozen=True)
class Item:
    """What closures are made of, and nothing more."""

    name: Name
    version: Version
    digest: Digest
    requires: Mapping[Name, str]


def item(name: str, version: str = "1.0.0", **wanted: str) -> Item:
    return Item(Name(name), Version(version), digest_of([name, version]), requirements(**wanted))


def together(*items: Item) -> dict[Name, Item]:
    return {entry.name: entry for entry in items}


def pin(name: str, version: str = "1.0.0", content: str | None = None, **wanted: str) -> Pin:
    """Return a pin; versions of a name with the same ``content`` say the same."""
    return Pin(
        kind="tool",
        name=Name(name),
        version=Version(version),
        digest=digest_of([name, version]),
        content=digest_of([name, content or version]),
        file=digest_of([name, version, "file"]),
        requires=requirements(**wanted),
        since=Serial(0),
        tests={},
    )


def publication(member: Pin) -> Published:
    return Published(
        kind=member.kind,
        name=member.name,
        version=member.version,
        digest=member.digest,
        content=member.content,
        file=member.file,
        requires=member.requires,
        serial=Serial(1),
        at=AT,
    )


def link(
    journal: str, steps: Iterable[tuple[str, Mapping[str, Any]]], after: tuple[Record, ...] = (), at: str = AT
) -> tuple[Record, ...]:
    """Return a journal with a sealed record for each step."""
    records = after
    for action, body in steps:
        head = records[-1].head if records else EMPTY
        record = seal(journal=journal, after=head, action=action, at=at, actor=ADA, reason="because", body=body)
        records = (*records, record)
    return records


def published(*members: Pin) -> tuple[str, dict[str, Any]]:
    return "publish", {"published": [publication(member).as_dict() for member in members]}


def withdrawn(ref: str, level: str) -> tuple[str, dict[str, Any]]:
    return "withdraw", {"ref": ref, "level": level}


def adopted(number: int = 1, channels: Mapping[str, str | None] | None = None) -> tuple[str, dict[str, Any]]:
    return "adopt-policy", {"policy": number, "rules": {}, "channels": dict(channels or {"staging": None})}


def catalog(*steps: tuple[str, Mapping[str, Any]]) -> Catalog:
    return fold_registry(link(REGISTRY_JOURNAL, steps))


def move(name: str, before: Pin | None, after: Pin | None) -> dict[str, Any]:
    def shown(member: Pin | None) -> dict[str, Any] | None:
        return {key: value for key, value in member.as_dict().items() if key != "since"} if member else None

    return {"name": name, "kind": "tool", "from": shown(before), "to": shown(after)}


class Line:
    """A channel's journal that is written record by record, each with the state that it leads to."""

    def __init__(self, channel: Channel = STAGING) -> None:
        self.channel = channel
        self.records: tuple[Record, ...] = ()

    @property
    def state(self) -> ChannelState:
        return fold_channel(self.channel, self.records)

    def add(self, action: str, at: str = AT, **body: Any) -> Line:
        whole = {**body, "registry": EMPTY.as_dict(), "evidence": []}
        draft = link(self.channel, [(action, whole)], self.records, at)[-1]
        state = state_digest(follow(self.state, draft))
        self.records = link(self.channel, [(action, {**whole, "state": state})], self.records, at)
        return self

    def pinned(self, *members: Pin, action: str = "promote", rejects: Iterable[Mapping[str, Any]] = ()) -> Line:
        moves = [move(member.name, self.state.pins.get(member.name), member) for member in members]
        return self.add(action, moves=moves, rejects=list(rejects))

    def removed(self, name: str) -> Line:
        return self.add("remove", moves=[move(name, self.state.pins[Name(name)], None)])

    def rejected(self, member: Pin, until: str | None = None) -> Line:
        row = {"ref": str(member.ref), "content": member.content, "cause": "reject", "until": until}
        return self.add("reject", rejects=[row])

    def halted(self, name: str, version: str | None = None) -> Line:
        return self.add("halt", name=name, version=version)

    @property
    def files(self) -> list[tuple[int, bytes]]:
        return [(record.serial, record.data) for record in self.records]

    def read_again(self) -> tuple[Record, ...]:
        return chain(self.channel, self.files)
