"""The registry as a fold over its journal: published versions, withdrawals, adopted policies.

A published version never changes; a withdrawal only gets harder, or is taken back before it is a revocation; policy
numbers only go up. A journal that breaks one of these rules is damaged, whatever its digests say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

from pawl.ids import REGISTRY_JOURNAL, Channel, Digest, Name, Ref, Serial, Version, parse_digest, parse_ref
from pawl.registry.finals import Finals, SortedFinals
from pawl.registry.growing import Joined, Longer, Overlay, StoredVersions, read_only
from pawl.registry.journal import EMPTY, Actor, Head, Record, damaged
from pawl.values import dataclass

WithdrawalLevel: TypeAlias = Literal["deprecated", "yanked", "revoked"]
LEVELS: tuple[WithdrawalLevel, ...] = get_args(WithdrawalLevel)
"""From mild to final."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One frozen version. ``content`` is its digest without the version; ``file`` is that of its frozen bytes."""

    kind: str
    name: Name
    version: Version
    digest: Digest
    content: Digest
    file: Digest
    requires: Mapping[Name, str]
    serial: Serial
    at: str

    @property
    def ref(self) -> Ref:
        return Ref(self.name, self.version)

    def as_dict(self) -> dict[str, Any]:
        """Return the form that a publish record holds."""
        return {
            "kind": self.kind,
            "name": self.name,
            "version": self.version,
            "digest": self.digest,
            "content": self.content,
            "file": self.file,
            "requires": dict(self.requires),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal:
    """Why a version is no longer given out, or only with a warning."""

    level: WithdrawalLevel
    reason: str
    actor: Actor
    at: str
    serial: Serial


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """A policy in force: the frozen rules and channel settings under their number."""

    number: int
    rules: Mapping[str, Any]
    """The frozen form that ``policy.sources`` reads back."""
    channels: Mapping[Channel, Channel | None]
    """Channel -> the channel that a version must have been live on first."""
    people: Mapping[str, tuple[str, ...]]
    """Address -> roles; policies of before had none."""
    signers: str | None
    """registry/allowed_signers as it was: whose signatures this policy knows."""
    at: str
    actor: Actor
    reason: str | None
    serial: Serial


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """What the registry knows after its newest record."""

    head: Head
    published: Mapping[Ref, Published]
    names: Mapping[Name, Sequence[Published]]
    """The same by name, in the order of publication."""
    authors: Mapping[Digest, Sequence[Actor]]
    """Who published each document, by its digest."""
    withdrawals: Mapping[Ref, Withdrawal]
    policies: Sequence[Adopted]

    @property
    def policy(self) -> Adopted | None:
        """The policy in force."""
        return self.policies[-1] if self.policies else None

    def versions_of(self, name: Name) -> Sequence[Published]:
        """Return every published version of a name in the order of publication."""
        return self.names.get(name, ())

    def finals(self, name: Name) -> Finals:
        """Return the published final versions of a name in the order of their numbers, revoked ones with them."""
        there = self.names.get(name, ())
        return there.finals() if isinstance(there, StoredVersions) else SortedFinals(item.version for item in there)

    def withdrawal(self, ref: Ref) -> Withdrawal | None:
        return self.withdrawals.get(ref)


class RegistryFold:
    """The state under way: from nothing, or laid over that of a catalog, which stays as it is."""

    def __init__(self, catalog: Catalog | None = None) -> None:
        self.published: MutableMapping[Ref, Published] = Overlay(catalog.published) if catalog else {}
        self.names: Joined[Name, Published] = Joined(catalog.names if catalog else {})
        self.authors: Joined[Digest, Actor] = Joined(catalog.authors if catalog else {})
        self.withdrawals: MutableMapping[Ref, Withdrawal] = Overlay(catalog.withdrawals) if catalog else {}
        self.policies: Longer[Adopted] = Longer(catalog.policies if catalog else ())
        self.head = catalog.head if catalog else EMPTY

    def apply(self, record: Record) -> None:
        """Go on to the state after ``record``; ``IntegrityError`` where it cannot follow those before it."""
        try:
            _APPLY[record.action](self, record)
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise damaged(REGISTRY_JOURNAL, record.serial, f"{record.action} does not apply: {error!s}") from error
        self.head = record.head

    def catalog(self) -> Catalog:
        """Return the state so far; it moves on with what is applied after it."""
        return Catalog(
            head=self.head,
            published=read_only(self.published),
            names=self.names,
            authors=self.authors,
            withdrawals=read_only(self.withdrawals),
            policies=self.policies,
        )


def fold_registry(records: Iterable[Record]) -> Catalog:
    """Return the state after ``records``; ``IntegrityError`` for a record that cannot follow those before it."""
    fold = RegistryFold()
    for record in records:
        fold.apply(record)
    return fold.catalog()


def _publish(state: RegistryFold, record: Record) -> None:
    for row in record.body["published"]:
        ref = parse_ref(f"{row['name']}@{row['version']}")
        if ref in state.published:
            raise ValueError(f"{ref} was published before")
        item = Published(
            kind=row["kind"],
            name=ref.name,
            version=ref.version,
            digest=parse_digest(row["digest"]),
            content=parse_digest(row["content"]),
            file=parse_digest(row["file"]),
            requires=MappingProxyType(dict(row["requires"])),
            serial=record.serial,
            at=record.at,
        )
        state.published[ref] = item
        state.names.add(ref.name, item)
        state.authors.add(item.digest, record.actor)


def _withdraw(state: RegistryFold, record: Record) -> None:
    ref = parse_ref(record.body["ref"])
    level: WithdrawalLevel = record.body["level"]
    before = state.withdrawals.get(ref)
    rank = LEVELS.index(level)
    if ref not in state.published or (before and rank <= LEVELS.index(before.level)):
        raise ValueError(f"{ref} cannot become {level}")
    state.withdrawals[ref] = Withdrawal(
        level=level, reason=record.reason or "", actor=record.actor, at=record.at, serial=record.serial
    )


def _restore(state: RegistryFold, record: Record) -> None:
    ref = parse_ref(record.body["ref"])
    if state.withdrawals[ref].level == "revoked":
        raise ValueError(f"{ref} is revoked, which is final")
    del state.withdrawals[ref]


def _adopt(state: RegistryFold, record: Record) -> None:
    number = record.body["policy"]
    if number != len(state.policies) + 1:
        raise ValueError(f"policy {number} cannot follow policy {len(state.policies)}")
    state.policies.append(
        Adopted(
            number=number,
            rules=record.body["rules"],
            channels=MappingProxyType(dict(record.body["channels"])),
            people=MappingProxyType({who: tuple(roles) for who, roles in record.body.get("people", {}).items()}),
            signers=_signers(record),
            at=record.at,
            actor=record.actor,
            reason=record.reason,
            serial=record.serial,
        )
    )


def _signers(record: Record) -> str | None:
    found = record.body.get("signers")
    if found is not None and not isinstance(found, str):
        raise TypeError("the allowed signers are text")
    return found


_APPLY = {"publish": _publish, "withdraw": _withdraw, "restore": _restore, "adopt-policy": _adopt}
