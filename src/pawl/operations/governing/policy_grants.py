"""Which open approvals and waivers an adoption would touch: each is asked alone, under both policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pawl.ids import Name, parse_ref
from pawl.operations.governing.policy_outlook import Outlook
from pawl.operations.releasing.judging import read_affected
from pawl.operations.session import Session
from pawl.operations.situations import people_of, situation_for
from pawl.operations.world import World
from pawl.policy.checks.rules import rule_findings
from pawl.policy.rules import DEFAULT_TERMS, WaiverTerms
from pawl.policy.waiving import FEWER_TESTS, terms_of, why_not
from pawl.registry.channels import ChannelState, Pin
from pawl.registry.channels_grants import Approval, Waiver
from pawl.registry.closure import closure_of
from pawl.releases.planning import pin_of


def approval_rows(session: Session, look: Outlook) -> Iterator[dict[str, Any]]:
    """Yield each open approval of something not yet live that would count for other rules than now."""
    ids = {rule.id for rule in look.after.rules}
    for state in look.before.channels.values():
        for approval in (approval for rows in state.approvals.values() for approval in rows):
            moves = _approved_together(look.before, state, approval)
            if moves is None or approval.until <= look.at:
                continue
            before, after = (_counts(session, world, state, approval, moves) for world in (look.before, look.after))
            if before != after:
                yield {
                    "channel": state.channel,
                    "ref": approval.ref,
                    "by": str(approval.by),
                    "until": approval.until,
                    "policy": approval.policy,
                    "lost": sorted((before - after) & ids),
                    "not_asked": sorted(before - after - ids),
                    "gained": sorted(after - before),
                }


def _approved_together(world: World, state: ChannelState, approval: Approval) -> Mapping[Name, Pin] | None:
    """Return the move that an approval is for, with exactly its closure; ``None`` where it is made or none is found.

    What moves with it is what the same record approves, and what the channel before has live.
    """
    published = {item.digest: item for item in world.catalog.published.values()}
    item = published.get(approval.digest)
    if item is None or (item.name in state.pins and state.pins[item.name].digest == item.digest):
        return None
    same = [row.digest for rows in state.approvals.values() for row in rows if row.serial == approval.serial]
    pins = [pin_of(published[digest]) for digest in same if digest in published]
    together = {pin.name: pin for pin in pins}
    upstream = world.upstream(state.channel)[1]
    alone = {item.name: pin_of(item)}
    for others in ({}, together, dict(upstream.pins) if upstream else {}):
        after = {**state.pins, **others, **alone}
        closure = closure_of(item.name, after)
        if closure.digest == approval.closure:
            members = {member.name: after[member.name] for member in closure.members}
            return {name: pin for name, pin in members.items() if name not in state.pins or name in {*others, *alone}}
    return None


def _counts(
    session: Session, world: World, state: ChannelState, approval: Approval, moves: Mapping[Name, Pin]
) -> set[str]:
    """Return the rules that this approval would satisfy if one were enough."""
    rules = tuple(
        replace(rule, body={**rule.body, "count": 1})
        for rule in world.rules
        if rule.kind == "approvals" and isinstance(rule.body, Mapping)
    )
    name = parse_ref(approval.ref).name
    alone = replace(state, approvals={approval.digest: (approval,)})
    situation = situation_for(session, world, action="promote", state=alone, moves=moves)
    procedures = read_affected(session.workspace, situation)
    documents = {item.digest: item.document for item in procedures.values()}
    closures = {name: closure_of(name, situation.after)}
    found = rule_findings(replace(situation, documents=documents, rules=rules), closures)
    return {finding.rule for finding in found if finding.rule and finding.status == "passed"}


def waiver_rows(look: Outlook) -> Iterator[dict[str, Any]]:
    """Yield each open waiver that would begin or cease to count."""
    for state in look.before.channels.values():
        for waiver in state.waivers.values():
            before, after = (_not_counting(world, waiver, look) for world in (look.before, look.after))
            if waiver.until > look.at and (before is None) != (after is None):
                yield {
                    "channel": state.channel,
                    "waiver": waiver.serial,
                    "rule": waiver.rule,
                    "covers": waiver.covers,
                    "owner": waiver.owner,
                    "until": waiver.until,
                    "counts_before": before is None,
                    "counts_after": after is None,
                    "why": after or before,
                }


def _not_counting(world: World, waiver: Waiver, look: Outlook) -> str | None:
    terms: WaiverTerms | None = DEFAULT_TERMS
    if waiver.rule != FEWER_TESTS:
        rule = next((rule for rule in world.rules if rule.id == waiver.rule), None)
        if rule is None:
            return f"there is no rule {waiver.rule}"
        terms = terms_of(rule)
    return why_not(waiver, terms, people=people_of(world), now=look.moments[0])
