"""Approve: one person's yes to versions, or to somebody's waiver, recorded whether it counts or not.

- The yes is to one digest with the closure that it would have on the channel, given what is pinned and what is approved
  together, under the policy number in force, and it ends.
- It counts if some rule that asks for approvals would count it. Whether it does is asked of the rules themselves, with
  somebody else as who asks for the promotion. Where no rule asks, the least that any rule wants is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from pawl.canonical import timestamp
from pawl.errors import RefusedError, UsageError
from pawl.ids import Channel, Name, Ref
from pawl.operations.governing.recording import Drafted, Scene, draft, end_in_time, scene_of
from pawl.operations.releasing.judging import read_affected
from pawl.operations.session import Report, Session
from pawl.operations.situations import situation_for
from pawl.policy.context import RuleContext, Said
from pawl.policy.durations import duration_words
from pawl.policy.facts import ApprovalFact
from pawl.policy.gathering import facts_of
from pawl.policy.kinds import RULE_KINDS
from pawl.policy.leaving import Leaving
from pawl.policy.rules import Rule, matches
from pawl.policy.situation import Situation, affected
from pawl.policy.verdict import APPROVAL
from pawl.problems import Problem, Severity
from pawl.registry.catalog import Adopted
from pawl.registry.channels import ChannelState, Pin
from pawl.registry.channels_grants import Approval, Identity
from pawl.registry.closure import Closure, closure_of
from pawl.registry.journal import Actor
from pawl.releases.planning import pin_of

USUAL = timedelta(days=30)
LONGEST = timedelta(days=366)
_NOBODY = Actor(name="")
"""Whoever will ask for the promotion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Approving:
    scene: Scene
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
        return RuleContext(
            procedure=documents[closure.root.digest],
            closure=tuple(documents[member.digest] for member in closure.members),
            channel=state.channel,
            action="promote",
            actor=situation.acting,
            current=documents.get(current.digest) if current else None,
            now=situation.now,
            facts=facts_of(situation, name, closure, self.rules, Leaving(situation)),
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


def approve(
    session: Session, refs: Sequence[Ref], channel: Channel, reason: str, *, until: datetime | None, dry_run: bool
) -> Report:
    """Record an approval of exact versions. Exit code 8 where one of them does not count, with the reason."""
    scene = scene_of(session, channel, reason)
    policy = _policy(scene)
    end = _end(session, until)
    approving = _approving(scene, refs)
    new = [name for name in approving.pins if _present(approving, name, end if until else None) is None]
    if not new:
        kept = [found for name in approving.pins if (found := _present(approving, name, None))]
        told = "; ".join(f"{found.ref} until {found.until}" for found in kept)
        return scene.unchanged(f"you approved this already: {told}", policy=policy.number)
    rows = [_row(approving, name, policy, end) for name in new]
    what = ", ".join(row["ref"] for row in rows)
    drafted = draft(scene, "approve", {"approvals": rows}, what)
    judged = drafted.judged
    told_rows, problems = [], list[Problem]()
    for row, name in zip(rows, new, strict=True):
        counts, said = _counts(approving, name, judged, drafted)
        told_rows.append({**row, "counts": counts})
        problems += said
    refused = any(not row["counts"] for row in told_rows)
    dropped = {name for name, row in zip(new, told_rows, strict=True) if not row["counts"]}
    problems += _wanting(approving, judged, dropped)
    data = {"policy": policy.number, "until": end, "approvals": told_rows}
    return drafted.finish(data, problems=tuple(problems), exit_code=APPROVAL if refused else 0, dry_run=dry_run)


def _policy(scene: Scene) -> Adopted:
    policy = scene.world.catalog.policy
    if policy is None:
        message = "no policy has been adopted, and an approval is given under a policy"
        raise RefusedError(message, code="no-policy", hint='pawl policy adopt --reason "..."')
    return policy


def _end(session: Session, until: datetime | None) -> str:
    end = end_in_time(session, until or session.now + USUAL, "the approval")
    if end > timestamp(session.now + LONGEST):
        message = f"an approval lasts {duration_words(LONGEST)} at most"
        raise UsageError(message, code="end-late", hint="give an earlier end, and approve again then")
    return end


def _approving(scene: Scene, refs: Sequence[Ref]) -> _Approving:
    pins = {ref.name: pin_of(scene.world.published(ref)) for ref in refs}
    if len(pins) < len(refs):
        raise UsageError("the same procedure is named twice: one version of each can be pinned", code="name-twice")
    situation = situation_for(scene.session, scene.world, action="promote", state=scene.state, moves=pins)
    situation = replace(situation, state=scene.judged)
    procedures = read_affected(scene.session.workspace, situation)
    documents = {item.digest: item.document for item in procedures.values()}
    return _Approving(scene=scene, pins=pins, situation=replace(situation, documents=documents))


def _row(approving: _Approving, name: Name, policy: Adopted, end: str) -> dict[str, Any]:
    pin = approving.pins[name]
    closure = approving.closure(name)
    return {
        "ref": str(pin.ref),
        "digest": pin.digest,
        "closure": closure.digest,
        "policy": policy.number,
        "until": end,
    }


def _present(approving: _Approving, name: Name, end: str | None) -> Approval | None:
    """Return the same person's equal approval that counts still; of that very end, if one was asked for."""
    me, state = approving.situation.requester, approving.situation.state
    closure, policy = approving.closure(name).digest, approving.situation.policy
    for row in state.approvals.get(approving.pins[name].digest, ()):
        same = row.by.is_same(me) and row.by.kind == me.kind and (row.closure, row.policy) == (closure, policy)
        if same and end in {None, row.until} and _verdicts(approving, name, state, row.by, row.at).ok:
            return row
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    asked: tuple[tuple[str | None, Said], ...]
    """By rule; ``None`` for the least that any rule wants."""

    @property
    def ok(self) -> bool:
        return any(outcome == "passed" for _, (outcome, _) in self.asked)


def _verdicts(approving: _Approving, name: Name, state: ChannelState, by: Identity, at: str) -> _Said:
    """Return what each rule that asks for approvals says of one approval alone."""
    context = approving.context(name, state)
    mine = [fact for fact in context.facts.approvals or () if _is_it(fact, by, at)]
    context = replace(context, facts=replace(context.facts, approvals=tuple(mine)))
    kind = RULE_KINDS["approvals"]
    rules = approving.asking(context)
    if not rules:
        return _Said(asked=((None, kind.evaluate({}, context)),))
    return _Said(asked=tuple((rule.id, kind.evaluate({**rule.body, "count": 1}, context)) for rule in rules))


def _is_it(fact: ApprovalFact, by: Identity, at: str) -> bool:
    return not fact.other and (fact.by, fact.at) == (by, at)


def _counts(
    approving: _Approving, name: Name, state: ChannelState, drafted: Drafted
) -> tuple[bool, tuple[Problem, ...]]:
    """Return whether the approval that was drafted counts for a version, and what there is to say of it."""
    said = _verdicts(approving, name, state, drafted.by, drafted.record.at)
    ref, channel = approving.pins[name].ref, state.channel
    problems = []
    for rule, (outcome, looked_at) in said.asked:
        if outcome != "passed":
            why = looked_at.partition("not counted: ")[2] or looked_at
            rule_text = f" for rule {rule}" if rule else ""
            message = f"the approval of {ref} on {channel} does not count{rule_text}: {why}"
            severity: Severity = "warning" if said.ok else "error"
            problems.append(Problem(code="approval-not-counted", severity=severity, message=message, rule=rule))
        elif rule is None:
            message = f"no rule asks for approvals of {ref} on {channel}"
            problems.append(Problem(code="approval-not-asked", severity="note", message=message))
    return said.ok, tuple(problems)


def _wanting(approving: _Approving, state: ChannelState, told: Collection[Name]) -> Iterator[Problem]:
    """Yield what is still missing, for the versions and for what is pinned and requires them."""
    names = affected(approving.situation)
    together = " ".join(str(approving.situation.after[name].ref) for name in names)
    for name in names:
        if name in told:
            continue
        context = approving.context(name, state)
        for rule in approving.asking(context):
            outcome, looked_at = RULE_KINDS["approvals"].evaluate(rule.body, context)
            if outcome == "passed":
                continue
            ref = approving.situation.after[name].ref
            also = "" if name in approving.pins else "is pinned, requires what is approved and "
            hint = f'pawl approve {together} --channel {state.channel} --reason "..."'
            message = f"{ref} {also}needs more for rule {rule.id}: {looked_at}"
            yield Problem(code="approval-needed", severity="note", message=message, rule=rule.id, hint=hint)
