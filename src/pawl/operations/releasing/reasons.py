"""Reasons: the whole verdict on one version as a tree, every check and every rule with what it looked at.

It asks the one evaluator what a dry run asks it, with every rule told, and adds nothing to the verdict. A check of
which the verdict says nothing is told, too: what was looked at and not found, or why it is not asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pawl.canonical import timestamp
from pawl.errors import NotFoundError
from pawl.ids import Channel, Ref, Serial
from pawl.operations.releasing.judging import Judgement, judge
from pawl.operations.session import Report, Session
from pawl.operations.sources import Source, read_policies, read_suites
from pawl.operations.world import World, read_world
from pawl.policy.rules import PolicySource, Rule
from pawl.policy.situation import Situation
from pawl.policy.verdict import Action, Finding
from pawl.problems import Fault, Problem
from pawl.registry.closure import closure_of
from pawl.releases.planning import pin_of

WORST_FIRST = ("failed", "errored", "missing", "warning", "waived", "passed", "not-applicable")
CHECKS: Mapping[str, str] = {
    "canary": "known-bad versions are refused, so the evaluator can be believed",
    "policy": "a policy is in force that knows the channel",
    "order": "it was live on the channel that comes before this one",
    "closure": "everything it requires is pinned with it",
    "fit": "calls fit what they call",
    "withdrawn": "nothing in it is withdrawn",
    "rejected": "it was not rejected or rolled back here",
    "halted": "it is not halted here",
    "frozen": "the channel is not frozen",
    "rule": "the rules of the policy",
    "evidence": "its suites pass",
    "tests": "there are no fewer tests than before",
}
"""Every check in the order in which it is made, and what it asks."""


def why(session: Session, ref: Ref, channel: Channel, action: Action) -> Report:
    """Report the verdict on promoting a version, or on rolling back to it, with all reasons. Stores nothing."""
    world = read_world(session.workspace)
    state = world.channel(channel)
    pin = pin_of(world.published(ref))
    if action == "rollback" and not state.was_live(pin.digest, ref.name):
        raise NotFoundError(
            f"{ref} was never live on {channel}, so there is nothing to go back to",
            code="never-live",
            hint=f"pawl why {ref} --channel {channel} says whether it could be promoted",
        )
    sources = read_suites(session.workspace)
    moves = {ref.name: pin}
    judgement = judge(session, world, sources, action=action, state=state, moves=moves, detail=True)
    verdict = judgement.verdict
    present = state.pins.get(ref.name)
    findings = (*verdict.failures, *verdict.warnings)
    problems = [finding.problem() for finding in findings]
    if present is not None and present.digest == pin.digest:
        message = f"{ref} is pinned on {channel} now, so there is nothing to {action}; this is how it would be judged"
        problems.append(Problem(code="pinned-already", severity="note", message=message))
    return Report(
        status="would" if verdict.allowed else "would-refuse",
        exit_code=verdict.exit_code,
        problems=tuple(problems),
        data={
            "name": ref.name,
            "version": ref.version,
            "digest": pin.digest,
            "channel": channel,
            "action": action,
            "serial": state.head.serial,
            "policy": verdict.policy,
            "pinned": present.version if present else None,
            "closure": _members(judgement.situation, ref),
            "verdict": verdict.as_dict(),
            "tree": list(_tree(session, world, judgement)),
            "evidence": judgement.evidence(),
        },
    )


def _members(situation: Situation, ref: Ref) -> list[dict[str, Any]]:
    members = closure_of(ref.name, situation.after).members
    return [{"ref": str(Ref(member.name, member.version)), "digest": member.digest} for member in members]


def _tree(session: Session, world: World, judgement: Judgement) -> Iterator[dict[str, Any]]:
    """Yield a branch for each check; that of the rules has one for each rule."""
    situation = judgement.situation
    by_check: dict[str, list[Finding]] = {check: [] for check in CHECKS}
    for finding in judgement.verdict.findings:
        # a rule that looks at evidence is a rule, whatever it is called while no suite has been asked
        is_rule = finding.rule is not None and finding.check == "evidence"
        by_check.setdefault("rule" if is_rule else finding.check, []).append(finding)
    sources = read_policies(session.workspace)
    for check, findings in by_check.items():
        about = CHECKS.get(check, check)
        if check == "rule":
            rules = [_rule_branch(rule, findings, situation, sources) for rule in world.rules]
            status = _worst([branch["status"] for branch in rules])
            yield {"check": check, "about": about, "status": status, "rules": rules}
            continue
        rows = [_row(finding, situation) for finding in findings] or [_silent(check, situation)]
        yield {"check": check, "about": about, "status": _worst([row["status"] for row in rows]), "findings": rows}


def _rule_branch(
    rule: Rule, findings: Sequence[Finding], situation: Situation, sources: Mapping[str, Source[PolicySource]]
) -> dict[str, Any]:
    rows = [_row(finding, situation) for finding in findings if finding.rule == rule.id]
    return {
        "rule": rule.id,
        "status": _worst([row["status"] for row in rows]),
        "class": rule.rule_class,
        "level": rule.level,
        "kind": rule.kind,
        "demands": rule.body,
        "message": rule.message,
        "effective_on": timestamp(rule.effective_on) if rule.effective_on else None,
        "policy": situation.policy,
        "source": rule.policy,
        "owner": rule.owner,
        **_place(rule, sources),
        "findings": rows,
    }


def _place(rule: Rule, sources: Mapping[str, Source[PolicySource]]) -> dict[str, Any]:
    """Return where the rule stands in the work tree, if it does, and whether it was edited since it was adopted."""
    source = sources.get(rule.policy)
    for index, other in enumerate(source.value.rules if source else ()):
        if source is not None and other.id == rule.id:
            (problem,) = source.problems(Fault(code=rule.id, message="", at=("rules", index)))
            return {"path": source.path, "line": problem.line, "edited": other != rule}
    return {"path": None, "line": None, "edited": None}


def _row(finding: Finding, situation: Situation) -> dict[str, Any]:
    row = finding.as_dict()
    waiver = situation.state.waivers.get(Serial(finding.waiver)) if finding.waiver is not None else None
    return {**row, "waived": waiver.as_dict()} if waiver is not None else row


def _silent(check: str, situation: Situation) -> dict[str, Any]:
    """Return what a check came to that found nothing to say."""
    why_not = _why_not_asked(check, situation)
    message = why_not or _LOOKED[check].format(channel=situation.state.channel)
    return {"check": check, "status": "not-applicable" if why_not else "passed", "message": message}


_LOOKED: Mapping[str, str] = {
    "canary": "there is none",
    "policy": "no policy is asked",
    "order": "nothing moves",
    "closure": "nothing is required",
    "fit": "nothing that moves is called by, or calls, anything whose call could be compared",
    "withdrawn": "no version in the closure is withdrawn",
    "rejected": "the content is not rejected on {channel}",
    "halted": "the name is not halted on {channel}",
    "frozen": "no freeze that somebody recorded is in force on {channel}",
    "evidence": "no suite is asked",
    "tests": "nothing is replaced",
}


def _why_not_asked(check: str, situation: Situation) -> str | None:
    channel = situation.state.channel
    back = situation.action == "rollback"
    if check == "order":
        return "on the way back no order is asked" if back else f"{channel} comes after no other channel"
    if check == "tests":
        if back:
            return "on the way back no number of tests is asked"
        if situation.evidence is None:
            return "the suites were not asked: it is refused already"
        return f"nothing of this name is pinned on {channel} yet"
    return None


def _worst(statuses: Sequence[str]) -> str:
    return min(statuses, key=WORST_FIRST.index, default="not-applicable")
