"""Counting approvals: what the rules that ask for them say of one approval alone, when given and while it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from pawl.errors import PawlError
from pawl.ids import Name, parse_ref
from pawl.operations.releasing.judging import read_affected
from pawl.operations.session import Session
from pawl.operations.situations import situation_for
from pawl.operations.world import World
from pawl.policy.context import RuleContext
from pawl.policy.context import Said as Answer
from pawl.policy.facts import ApprovalFact
from pawl.policy.gathering import approvals_of, facts_of
from pawl.policy.kinds.known import RULE_KINDS
from pawl.policy.leaving import Leaving
from pawl.policy.rules import Rule, matches
from pawl.policy.situation import Situation
from pawl.registry.channels import ChannelState, Pin
from pawl.registry.channels_grants import Approval, Identity
from pawl.registry.closure import Closure, closure_of
from pawl.registry.journal import Actor
from pawl.releases.planning import pin_of

_NOBODY = Actor(name="")
"""Whoever will ask for the promotion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approving:
    """Versions that are approved together."""

    pins: Mapping[Name, Pin]
    situation: Situation
    """The promotion that is approved, with the channel as it is."""

    def closure(self, name: Name) -> Closure:
        return closure_of(name, self.situation.after)

    def context(self, name: Name, state: ChannelState) -> RuleContext:
        """Return what rules are asked with about ``name``, were ``state`` the channel's."""
        situation = replace(self.situation, state=state, actor=_NOBODY, actor_kind="unknown")
        closure, documents = self.closure(name), situation.documents
        current = state.pins.get(name)
        facts = facts_of(situation, name, closure, self.rules, Leaving(situation))
        return RuleContext(
            procedure=documents[closure.root.digest],
            closure=tuple(documents[member.digest] for member in closure.members),
            channel=state.channel,
            action="promote",
            actor=situation.acting,
            current=documents.get(current.digest) if current else None,
            now=situation.now,
            facts=replace(facts, approvals=approvals_of(situation, closure)),  # also where no rule looks at them
        )

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.situation.rules if rule.kind == "approvals")

    def asking(self, context: RuleContext) -> tuple[Rule, ...]:
        """Return the rules that ask for approvals of what ``context`` is about."""
        return tuple(
            rule
            for rule in self.rules
            if matches(
                rule, procedure=context.procedure, channel=context.channel, action="promote", now=context.now
            ).applies
        )


def approving_in(session: Session, situation: Situation, pins: Mapping[Name, Pin]) -> Approving:
    """Return a promotion that is approved, with every document that rules may look at."""
    procedures = read_affected(session.workspace, situation)
    documents = {item.digest: item.document for item in procedures.values()}
    return Approving(pins=pins, situation=replace(situation, documents=documents))


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    asked: tuple[tuple[str | None, Answer], ...]
    """By rule; ``None`` for the least that any rule wants."""

    @property
    def ok(self) -> bool:
        return any(outcome == "passed" for _, (outcome, _) in self.asked)


def verdicts(approving: Approving, name: Name, state: ChannelState, by: Identity, at: str) -> Said:
    """Return what each rule that asks for approvals says of one approval alone."""
    context = approving.context(name, state)
    mine = [fact for fact in context.facts.approvals or () if _is_it(fact, by, at)]
    context = replace(context, facts=replace(context.facts, approvals=tuple(mine)))
    kind = RULE_KINDS["approvals"]
    rules = approving.asking(context)
    if not rules:
        return Said(asked=((None, kind.evaluate({}, context)),))
    return Said(asked=tuple((rule.id, kind.evaluate({**rule.body, "count": 1}, context)) for rule in rules))


def _is_it(fact: ApprovalFact, by: Identity, at: str) -> bool:
    return not fact.other and (fact.by, fact.at) == (by, at)


def why_not_counted(looked_at: str) -> str:
    """Return what a rule says against an approval, out of what it says it looked at."""
    return looked_at.partition("not counted: ")[2] or looked_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """An approval that has not ended: whether it counts for some rule now, and what speaks against it."""

    approval: Approval
    counts: bool
    why: str | None


def standing_approvals(session: Session, world: World, state: ChannelState) -> Iterator[Counted]:
    """Yield every approval of a channel that has not ended."""
    base = situation_for(session, world, action="promote", state=state)
    rows = [row for several in base.state.approvals.values() for row in several if row.until > session.at]
    for row in rows:
        try:
            counts, why = _counted(session, world, base, row, rows)
        except PawlError as error:
            counts, why = False, error.message
        yield Counted(approval=row, counts=counts, why=why)


def _counted(
    session: Session, world: World, base: Situation, row: Approval, rows: Iterable[Approval]
) -> tuple[bool, str | None]:
    name = parse_ref(row.ref).name
    for pins in _together(world, row, rows):
        if pins[name].digest == row.digest and closure_of(name, {**base.state.pins, **pins}).digest == row.closure:
            approving = approving_in(session, replace(base, moves=pins), pins)
            said = verdicts(approving, name, base.state, row.by, row.at)
            against = [
                f"for rule {rule}: {why_not_counted(looked_at)}" if rule else why_not_counted(looked_at)
                for rule, (outcome, looked_at) in said.asked
                if outcome != "passed"
            ]
            return said.ok, "; ".join(against) or None
    return False, "it was given for another closure than the version would have now"


def _together(world: World, row: Approval, rows: Iterable[Approval]) -> Iterator[dict[Name, Pin]]:
    """Yield what may have been approved together: in one record, alone, by one person, by all."""
    rows = sorted(rows, key=lambda other: other.serial)
    mine = [other for other in rows if other.serial == row.serial]
    for others in (mine, (), [other for other in rows if other.by.is_same(row.by)], rows):
        refs = {parse_ref(other.ref).name: parse_ref(other.ref) for other in (*others, row)}
        yield {name: pin_of(world.published(ref)) for name, ref in refs.items()}
