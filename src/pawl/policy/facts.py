"""What rules may know beside documents: who approved, how long something was live, how old evidence is, and the like.

All of it is plain data that whoever asks has gathered. ``None`` says that nobody told: a rule that needs it is missing
something, and missing is a no. Moments are RFC 3339 in UTC to the second, where text order is time order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pawl.registry.channels_grants import ActorKind, Identity

People = Mapping[str, tuple[str, ...]]
"""Address -> roles, as they were adopted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalFact:
    """One approval of some version of the procedure."""

    by: Identity
    roles: tuple[str, ...] | None
    """Those of the adopted people; ``None`` where they do not name this person."""
    policy: int
    at: str
    until: str
    other: str = ""
    """What it is for, where that is not this very version with this closure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """When a version was live on a channel: from and until, no end where it still is."""

    times: tuple[tuple[str, str | None], ...]
    rejected: str = ""
    """Why its content is rejected there now, if it is."""

    def total(self, now: datetime) -> timedelta:
        """Return for how long it was live until ``now``; times to come do not count."""
        found = timedelta()
        for start, end in self.times:
            found += max(min(read_moment(end) if end else now, now) - read_moment(start), timedelta())
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFact:
    """The newest result of a suite, and when it was made."""

    suite: str
    at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawnFact:
    """A version in the closure that is withdrawn."""

    ref: str
    level: str
    reason: str
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of one procedure on one channel."""

    moves: bool = True
    """Whether the procedure itself moves; otherwise something that it requires does, or nothing."""
    pinned: tuple[str, ...] | None = None
    """The version that the channel has now or had last, or none."""
    policy: int | None = None
    approvals: tuple[ApprovalFact, ...] | None = None
    authors: tuple[Identity, ...] | None = None
    """Who made the version: at least who published it."""
    requester: Identity | None = None
    """Who asks for the move."""
    roles: tuple[str, ...] = ()
    """Those of the requester."""
    stays: Mapping[str, Stay] | None = None
    """By channel."""
    results: tuple[ResultFact, ...] | None = None
    withdrawn: tuple[WithdrawnFact, ...] | None = None
    leaving: str = ""
    """Why what is live now must not be kept, if anything speaks against it: leaving it is not held up."""


NOTHING = Facts()


def roles_of(who: Identity, people: People | None) -> tuple[str, ...] | None:
    """Return the roles that the adopted people give somebody, or ``None`` where they do not name them."""
    if who.email is None:
        return None
    wanted = who.email.casefold()
    found = [roles for email, roles in (people or {}).items() if email.casefold() == wanted]
    return tuple(dict.fromkeys(role for roles in found for role in roles)) if found else None


def kind_of(who: Identity, roles: Iterable[str] | None) -> ActorKind:
    """Return what kind of actor somebody is: an agent or a service where the record or the adopted roles say so."""
    said = {who.kind, *(roles or ())}
    return "agent" if "agent" in said else "service" if "service" in said else who.kind


def read_moment(text: str) -> datetime:
    """Return a moment of a record."""
    return datetime.fromisoformat(text).astimezone(UTC)
