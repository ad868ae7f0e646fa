"""States of what the index holds: a catalog or a channel, told apart from a folded one by nothing but its cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast, overload

from pawl.ids import Channel, Digest, Serial, parse_ref
from pawl.io.memory import Lost
from pawl.registry.catalog import Adopted, Catalog, Published, Withdrawal
from pawl.registry.channels_projection import PARTS
from pawl.registry.channels_state import ChannelState
from pawl.registry.journal import Actor
from pawl.values import dataclass
from pawl.workspace.index_pins import held
from pawl.workspace.index_rows import ByText, Evidence, Held, Pasts, Source, anchor_in
from pawl.workspace.index_versions import Names


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a value of the catalog is written as JSON, and read."""

    write: Callable[[Any], Any]
    read: Callable[[str, Any], Any]


def channel_from(source: Source) -> ChannelState:
    """Return the state of a channel at the source's head; ``Lost`` where its rows are not there any more."""
    parts: dict[str, Any] = {name: held(source, name, part) for name, part in PARTS.items()}
    return ChannelState(
        channel=Channel(source.journal),
        head=source.head,
        registry=anchor_in(source),
        past=Pasts(source, "past"),
        moved=Held(source, "moved", lambda _, at: at, lambda key: Serial(int(key))),
        evidence=Evidence(source),
        **parts,
    )


def catalog_from(source: Source) -> Catalog:
    """Return the registry at the source's head."""
    published, withdrawals = CATALOG["published"], CATALOG["withdrawals"]
    return Catalog(
        head=source.head,
        published=Held(source, "published", published.read, parse_ref),
        names=Names(source, published.read),
        authors=ByText[Digest, Actor](source, "authors", lambda row: Actor(**row)),
        withdrawals=Held(source, "withdrawals", withdrawals.read, parse_ref, small=True),
        policies=_Policies(source),
    )


class _Policies(Sequence[Adopted]):
    """The adopted policies, the first under number 1."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._held: Held[int, Adopted] = Held(source, "policies", CATALOG["policies"].read, int)
        self._length: int | None = None

    @overload
    def __getitem__(self, index: int) -> Adopted: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Adopted]: ...
    def __getitem__(self, index: int | slice) -> Adopted | Sequence[Adopted]:
        try:
            place = range(len(self))[index]
            # their keys are numbers from 1, and those of the fold places from 0: so only rows are asked by number
            if isinstance(place, int):
                return self._held.stored(place + 1)
            return tuple(self._held.stored(item + 1) for item in place)
        except Lost:
            return cast("Sequence[Adopted]", self._source.folded("policies"))[index]

    def __len__(self) -> int:
        if self._length is None:
            try:
                self._length = len(self._source.of_all("key", "policies"))
            except Lost:
                return len(self._source.folded("policies"))
        return self._length

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]


def _write_published(item: Published) -> dict[str, Any]:
    return {**item.as_dict(), "serial": item.serial, "at": item.at}


def _read_published(_: str, row: Mapping[str, Any]) -> Published:
    return Published(**{**row, "requires": MappingProxyType(row["requires"])})


def _write_withdrawal(item: Withdrawal) -> dict[str, Any]:
    row = {name: getattr(item, name) for name in ("level", "reason", "at", "serial")}
    return {**row, "actor": item.actor.as_dict()}


def _read_withdrawal(_: str, row: Mapping[str, Any]) -> Withdrawal:
    return Withdrawal(**{**row, "actor": Actor(**row["actor"])})


def _write_adopted(item: Adopted) -> dict[str, Any]:
    row = {name: getattr(item, name) for name in ("number", "rules", "signers", "at", "reason", "serial")}
    people = {who: list(roles) for who, roles in item.people.items()}
    return {**row, "channels": dict(item.channels), "people": people, "actor": item.actor.as_dict()}


def _read_adopted(_: str, row: Mapping[str, Any]) -> Adopted:
    people = MappingProxyType({who: tuple(roles) for who, roles in row["people"].items()})
    fields = {**row, "channels": MappingProxyType(row["channels"]), "people": people, "actor": Actor(**row["actor"])}
    return Adopted(**fields)


CATALOG: Mapping[str, Form] = {
    "published": Form(write=_write_published, read=_read_published),
    "withdrawals": Form(write=_write_withdrawal, read=_read_withdrawal),
    "policies": Form(write=_write_adopted, read=_read_adopted),
}
"""The parts of the registry whose values are looked up one by one."""
