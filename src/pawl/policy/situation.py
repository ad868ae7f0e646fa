"""What a verdict is asked about: one action on one channel, with everything that the answer may depend on.

What is not told counts as missing, and missing is a no.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pawl.canonical import timestamp
from pawl.ids import Channel, Digest, Name
from pawl.registry.channels_grants import ActorKind, Identity
from pawl.registry.closure import dependents_of
from pawl.registry.growing import Overlay
from pawl.values import dataclass, field

if TYPE_CHECKING:  # what resolves a name needs none of it
    from pawl.conformance.outcomes import Outcome
    from pawl.policy.facts import People
    from pawl.policy.rules import Rule
    from pawl.policy.verdict import Action
    from pawl.registry.catalog import Catalog
    from pawl.registry.channels import ChannelState, Pin
    from pawl.registry.journal import Actor

MOVING: frozenset[Action] = frozenset({"promote", "rollback", "remove"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteEvidence:
    """What is known of one suite on one closure: the newest valid result, or that there is none and why."""

    suite: str
    cases: int
    outcome: Outcome | None
    reason: str
    """How the result came about (run now, reused from when), or why it is not a pass."""
    at: str | None = None
    """When the result was made, as it stands in records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Everything that a verdict may depend on."""

    action: Action
    state: ChannelState
    """The channel as it is."""
    catalog: Catalog
    rules: tuple[Rule, ...]
    """The adopted rules; those of ``catalog.policy`` except in a plan, which asks about rules to come."""
    rules_of: int | None = None
    """The number that the rules would be adopted under, where they are not those in force."""
    documents: Mapping[Digest, Mapping[str, Any]]
    """At least those of every affected procedure and its closure, as it would be and as it is."""
    actor: Actor
    now: datetime
    moves: Mapping[Name, Pin | None]
    """What would be pinned instead; ``None`` takes a name off the channel."""
    subjects: tuple[Name, ...] = ()
    """Which pins are asked about where nothing moves."""
    upstream: ChannelState | None = None
    """The channel that versions must have been live on first."""
    upstream_name: str | None = None
    evidence: Mapping[Name, tuple[SuiteEvidence, ...]] | None = None
    """By affected procedure; ``None`` where no suite has been asked yet."""
    unread_suites: tuple[str, ...] = ()
    """Files under conformance/ that do not read: nobody knows what they would test."""
    people: People | None = None
    """The adopted people with their roles; ``None`` names nobody."""
    actor_kind: ActorKind = "unknown"
    authors: Mapping[Digest, Sequence[Actor]] | None = None
    """Who made each version: at least who published it."""
    channels: Mapping[Channel, ChannelState] | None = None
    """Other channels with their whole past, for rules about time spent there."""
    detail: bool = False
    """Whether every rule is told, with what it looked at, those that are not asked as well."""
    _worked_out: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)
    """What follows from the rest and is asked for again and again: a channel can have thousands of pins."""

    @property
    def after(self) -> Mapping[Name, Pin]:
        """The pins as they would be."""
        found: Mapping[Name, Pin] | None = self._worked_out.get("after")
        if found is None:
            found = self.state.pins
            if self.moves:
                pins = Overlay(found)
                for name in self.moves:
                    pins.pop(name, None)
                pins.update((name, pin) for name, pin in self.moves.items() if pin is not None)
                found = pins
            self._worked_out["after"] = found
        return found

    @property
    def affected(self) -> tuple[Name, ...]:
        """What the verdict covers: what moves and everything pinned that requires it, or the subjects."""
        if self.action not in MOVING:
            return self.subjects
        found: tuple[Name, ...] | None = self._worked_out.get("affected")
        if found is None:
            after = self.after
            moved = [name for name in self.moves if name in after]
            found = (*moved, *(name for name in dependents_of(self.moves, after) if name not in moved))
            self._worked_out["affected"] = found
        return found

    @property
    def at(self) -> str:
        """``now`` as it stands in records."""
        return timestamp(self.now)

    @property
    def policy(self) -> int | None:
        """The number of the policy that the rules are of."""
        adopted = self.catalog.policy
        return self.rules_of or (adopted.number if adopted else None)

    @property
    def requester(self) -> Identity:
        """Who acts."""
        actor = self.actor
        return Identity(name=actor.name, email=actor.email, kind=self.actor_kind, verified=actor.verified)

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of who acts."""
        from pawl.policy.facts import roles_of  # noqa: PLC0415 - only where somebody acts

        return roles_of(self.requester, self.people) or ()

    @property
    def acting(self) -> Mapping[str, Any]:
        """Who acts, as expressions see it."""
        return {**self.requester.as_dict(), "roles": list(self.roles)}

    def other(self, channel: str) -> ChannelState | None:
        """Return a channel's state, if anybody told it."""
        if channel == self.state.channel:
            return self.state
        if channel == self.upstream_name and self.upstream is not None:
            return self.upstream
        return (self.channels or {}).get(Channel(channel))


def affected(situation: Situation) -> tuple[Name, ...]:
    """Return what the verdict covers: what moves and everything pinned that requires it, or the subjects."""
    return situation.affected
