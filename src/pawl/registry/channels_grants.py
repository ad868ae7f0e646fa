"""What people allow, waive or stop on a channel: approvals, waivers and freezes as they stand in the state.

- An approval is of one digest with one closure under one policy number, and ends. A waiver names one rule and one
  digest or range of versions, and ends. A freeze stops actions for everybody it does not spare.
- They say what was recorded, by whom and until when. Whether one counts is for the evaluator, which knows the moment,
  the adopted people and the rules: what has ended stays here and counts no more. Roles are never stored.
- Moments are RFC 3339 in UTC to the second, where text order is time order; ``until`` itself is past.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

from pawl.ids import Digest, Name, Ref, Serial, parse_digest, parse_name, parse_ref
from pawl.registry.journal import Actor, Record
from pawl.values import dataclass

ActorKind: TypeAlias = Literal["human", "agent", "service", "unknown"]
KINDS: tuple[ActorKind, ...] = get_args(ActorKind)
"""What acts: a person, an AI agent, another program, or nobody can tell."""
Waivable: TypeAlias = Literal["promote", "rollback", "resolve", "audit"]
WAIVABLE: tuple[Waivable, ...] = get_args(Waivable)
Freezable: TypeAlias = Literal["promote", "rollback"]
FREEZABLE: tuple[Freezable, ...] = get_args(Freezable)
"""What a freeze can stop; taking a pin off a channel is never held up."""
_MOMENT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z\Z"
"""A text, which is compiled where a channel has a grant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who did something, as the record says, with what kind of actor it was."""

    name: str
    email: str | None
    kind: ActorKind
    verified: bool

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "email": self.email, "kind": self.kind, "verified": self.verified}

    def __str__(self) -> str:
        return f"{self.name} <{self.email}>" if self.email else self.name

    def is_same(self, other: Identity | Actor) -> bool:
        """Whether this may be the same person: one of address and name is enough, whatever the case of letters."""
        email = self.email is not None and other.email is not None and self.email.casefold() == other.email.casefold()
        return email or self.name.casefold() == other.name.casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One person's yes to one version with one closure under one policy."""

    ref: str
    digest: Digest
    closure: Digest
    policy: int
    by: Identity
    reason: str
    at: str
    serial: Serial
    until: str

    def as_dict(self) -> dict[str, Any]:
        fields = ("ref", "digest", "closure", "policy", "reason", "at", "serial", "until")
        return {"by": self.by.as_dict(), **{name: getattr(self, name) for name in fields}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """Somebody's yes to a waiver."""

    by: Identity
    at: str
    serial: Serial

    def as_dict(self) -> dict[str, Any]:
        return {"by": self.by.as_dict(), "at": self.at, "serial": self.serial}


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """An exception from one rule. Exactly one of ``digest`` and ``versions`` says for what of ``name``."""

    rule: str
    name: Name
    digest: Digest | None
    closure: Digest | None
    """With ``digest``: the closure that it was given for, where that matters."""
    versions: str | None
    actions: tuple[str, ...]
    owner: str
    reason: str
    by: Identity
    at: str
    until: str
    serial: Serial
    break_glass: bool
    """Whether it is to count before anybody consented, to be reviewed until ``review_by``."""
    review_by: str | None
    approved_by: tuple[Consent, ...] = ()

    @property
    def covers(self) -> str:
        """What it is for, in words."""
        return f"{self.name} {self.versions}" if self.versions is not None else f"{self.name} {self.digest}"

    def as_dict(self) -> dict[str, Any]:
        fields = ("rule", "name", "digest", "closure", "versions", "owner", "reason", "at", "until", "serial")
        return {
            **{name: getattr(self, name) for name in (*fields, "break_glass", "review_by")},
            "actions": list(self.actions),
            "by": self.by.as_dict(),
            "approved_by": [consent.as_dict() for consent in self.approved_by],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Spares:
    """Whom or what a freeze does not stop: any one of these is enough. ``names`` are globs as in rules."""

    labels: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {"labels": dict(self.labels), "names": list(self.names), "roles": list(self.roles)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Freeze:
    """A stop of a whole channel for the actions that it names, until it ends or is lifted."""

    reason: str
    by: str
    at: str
    until: str | None
    actions: tuple[str, ...]
    spares: Spares
    serial: Serial

    def as_dict(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in ("reason", "by", "at", "until", "serial")}
        return {**fields, "actions": list(self.actions), "spares": self.spares.as_dict()}


def approvals_in(record: Record) -> tuple[Approval, ...]:
    """Return the approvals that an ``approve`` record gives; ``ValueError`` and its kin for what is none."""
    by = _recorded(record)
    return tuple(
        Approval(
            ref=str(_ref(row["ref"])),
            digest=parse_digest(row["digest"]),
            closure=parse_digest(row["closure"]),
            policy=_whole(row["policy"]),
            by=by,
            reason=record.reason or "",
            at=record.at,
            serial=record.serial,
            until=moment(row["until"]),
        )
        for row in record.body.get("approvals", ())
    )


def consent_in(record: Record) -> Consent:
    """Return the consent that an ``approve`` record gives to the waivers that it names."""
    return Consent(by=_recorded(record), at=record.at, serial=record.serial)


def waiver_in(record: Record) -> Waiver:
    """Return the waiver that a ``waive`` record asks for; ``ValueError`` and its kin for what is none."""
    return _waiver(
        record.body["waiver"],
        by=_recorded(record),
        reason=record.reason or "",
        at=record.at,
        serial=record.serial,
    )


def freeze_in(record: Record) -> Freeze:
    """Return the freeze that a ``freeze`` record sets; ``ValueError`` and its kin for what is none."""
    body = record.body["freeze"]
    return Freeze(
        reason=record.reason or "",
        by=str(record.actor),
        at=record.at,
        until=_maybe(moment, body["until"]),
        actions=_words(body["actions"], FREEZABLE),
        spares=_spares(body["spares"]),
        serial=record.serial,
    )


def read_approval(row: Mapping[str, Any]) -> Approval:
    """Return an approval from its form in a projection."""
    return Approval(**{**row, "by": _identity(row["by"])})


def read_waiver(row: Mapping[str, Any]) -> Waiver:
    """Return a waiver from its form in a projection."""
    consents = tuple(Consent(**{**item, "by": _identity(item["by"])}) for item in row["approved_by"])
    fields = {**row, "by": _identity(row["by"]), "actions": tuple(row["actions"]), "approved_by": consents}
    return Waiver(**fields)


def read_freeze(row: Mapping[str, Any]) -> Freeze:
    """Return a freeze from its form in a projection."""
    return Freeze(**{**row, "actions": tuple(row["actions"]), "spares": _spares(row["spares"])})


def _waiver(row: Mapping[str, Any], *, by: Identity, reason: str, at: str, serial: Serial) -> Waiver:
    digest, closure = _maybe(parse_digest, row["digest"]), _maybe(parse_digest, row["closure"])
    if (digest is None) == (row["versions"] is None) or (closure is not None and digest is None):
        raise ValueError("a waiver is for one digest or for one range of versions")
    if (row["review_by"] is not None) != _flag(row["break_glass"]):
        raise ValueError("a waiver has a time of review if it breaks the glass, and only then")
    return Waiver(
        rule=_text(row["rule"]),
        name=parse_name(_text(row["name"])),
        digest=digest,
        closure=closure,
        versions=_maybe(_text, row["versions"]),
        actions=_words(row["actions"], WAIVABLE),
        owner=_text(row["owner"]),
        reason=reason,
        by=by,
        at=at,
        until=moment(row["until"]),
        serial=serial,
        break_glass=row["break_glass"],
        review_by=_maybe(moment, row["review_by"]),
    )


def _recorded(record: Record) -> Identity:
    actor, kind = record.actor, record.body["actor_kind"]
    return _identity({"name": actor.name, "email": actor.email, "kind": kind, "verified": actor.verified})


def _identity(row: Mapping[str, Any]) -> Identity:
    if row["kind"] not in KINDS:
        raise ValueError(f"{row['kind']!r} is no kind of actor")
    return Identity(**row)


def _spares(row: Mapping[str, Any]) -> Spares:
    return Spares(
        labels=tuple(sorted((_text(key), _text(value)) for key, value in row["labels"].items())),
        names=tuple(_text(name) for name in row["names"]),
        roles=tuple(_text(role) for role in row["roles"]),
    )


def moment(text: Any) -> str:
    """Return a moment as it stands in records, or raise ``ValueError``: any other spelling would not sort by time."""
    if not isinstance(text, str) or not re.match(_MOMENT, text):
        raise ValueError(f"{text!r} is no time in UTC to the second")
    return text


def _words(value: Any, known: tuple[str, ...]) -> tuple[str, ...]:
    words = tuple(value)
    if not words or isinstance(value, str) or any(word not in known for word in words):
        raise ValueError(f"the actions are some of {', '.join(known)}")
    return words


def _maybe(read: Any, value: Any) -> Any:
    return None if value is None else read(value)


def _ref(text: Any) -> Ref:
    return parse_ref(_text(text))


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{value!r} is no text")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"{value!r} is no whole number")
    return value


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError(f"{value!r} is neither true nor false")
    return value
