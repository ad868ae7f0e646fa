"""Policy: show what is in force, test the sources, plan an adoption, adopt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pawl.errors import InvalidError, NotFoundError, RefusedError
from pawl.ids import Channel
from pawl.operations.judging import read_affected
from pawl.operations.session import Report, Session
from pawl.operations.situations import situation_for
from pawl.operations.sources import Sources, read_sources
from pawl.operations.world import World, read_world
from pawl.policy.evaluator import evaluate
from pawl.policy.lint import policy_warnings, unmatched_rules
from pawl.policy.rule_checks import duplicate_faults
from pawl.policy.rule_tests import rule_test_faults, rule_tests
from pawl.policy.rules import Rule
from pawl.policy.sources import merge, policy_document, rules_from
from pawl.policy.verdict import FINDINGS, Action, Finding
from pawl.problems import Problem
from pawl.registry.catalog import Adopted
from pawl.registry.channels import ChannelState, Pin
from pawl.releases.applying import apply
from pawl.releases.planning import plan_adopt


def policy_show(session: Session, number: int | None) -> Report:
    """Report a policy that is or was in force, with its rules and channel settings."""
    world = read_world(session.workspace)
    policies = world.catalog.policies
    if not policies or (number is not None and not 1 <= number <= len(policies)):
        there = f"policies 1 to {len(policies)} were adopted" if policies else "no policy has been adopted"
        raise NotFoundError(there, code="no-policy", hint='pawl policy adopt --reason "..."')
    policy = policies[number - 1] if number is not None else policies[-1]
    return Report(
        status="done",
        data={
            "policy": policy.number,
            "in_force": policy is policies[-1],
            "adopted": {"at": policy.at, "actor": policy.actor.as_dict(), "reason": policy.reason},
            "channels": dict(policy.channels),
            "rules": [rule_row(rule) for rule in rules_from(policy.rules)],
        },
    )


def rule_row(rule: Rule) -> dict[str, Any]:
    """Return a rule as one row."""
    return {
        "id": rule.id,
        "policy": rule.policy,
        "owner": rule.owner,
        "class": rule.rule_class,
        "level": rule.level,
        "kind": rule.kind,
        "body": rule.body,
        "message": rule.message,
        "effective_on": rule.effective_on.isoformat().replace("+00:00", "Z") if rule.effective_on else None,
        "enforce_live": rule.enforce_live,
    }


def policy_test(session: Session) -> Report:
    """Run the examples that stand beside the rules, and report what else is wrong with the sources."""
    world = read_world(session.workspace)
    sources = read_sources(session.workspace)
    problems = [*_policy_file_problems(sources), *policy_problems(sources, world)]
    results = [
        {
            "rule": rule.id,
            "test": result.test,
            "expect": result.expect,
            "found": result.answer,
            "passed": result.passed,
            "reason": result.reason,
        }
        for source in sources.policies.values()
        for rule in source.value.rules
        for result in rule_tests(rule)
    ]
    if not sources.policies:
        hint = "pawl new policy NAME writes one to start from"
        problems.append(Problem(code="no-policy", message="there is no policy under registry/policies/", hint=hint))
    failed = any(problem.severity == "error" for problem in problems)
    return Report(
        status="failed" if failed else "passed",
        exit_code=FINDINGS if failed else 0,
        problems=tuple(problems),
        data={"rules": sum(len(source.value.rules) for source in sources.policies.values()), "tests": results},
    )


def policy_problems(sources: Sources, world: World) -> tuple[Problem, ...]:
    """Return everything wrong with the policy sources beyond each file by itself."""
    found: list[Problem] = []
    ordered = [sources.policies[name] for name in sorted(sources.policies)]
    for index, fault in duplicate_faults([source.value for source in ordered]):
        found += ordered[index].problems(fault)
    names = {(item.kind, item.name) for item in world.catalog.published.values()}
    names |= {(source.value.kind, source.value.name) for source in sources.procedures.values()}
    for source in ordered:
        rules = source.value.rules
        found += source.problems(
            *policy_warnings(source.value),
            *unmatched_rules(rules, sorted(names), sources.settings.channels),
            *rule_test_faults(rules),
        )
    return tuple(found)


def policy_plan(session: Session) -> Report:
    """Report which live pins and rollback targets would change verdict if the sources were adopted now."""
    world, sources = read_world(session.workspace), _readable(session)
    rules, channels = merge(source.value for source in sources.policies.values()), sources.settings.after()
    policy = world.catalog.policy
    old, new = _rules_by_id(world.rules), _rules_by_id(rules)
    changes = [change for state in world.channels.values() for change in _changes(session, world, state, rules)]
    data = {
        "policy": policy.number if policy else None,
        "next": (policy.number if policy else 0) + 1,
        "rules_added": sorted(set(new) - set(old)),
        "rules_removed": sorted(set(old) - set(new)),
        "rules_changed": sorted(rule for rule in set(old) & set(new) if old[rule] != new[rule]),
        "channels_changed": policy is None or dict(policy.channels) != dict(channels),
        "changes": changes,
    }
    return Report(status="done", problems=tuple(_change_problems(changes)), data=data)


def policy_adopt(session: Session, reason: str, *, again: bool) -> Report:
    """Freeze the sources and the channel settings under the next policy number."""
    world, sources = read_world(session.workspace), _readable(session)
    problems = policy_problems(sources, world)
    if any(problem.severity == "error" for problem in problems):
        raise InvalidError("no policy was adopted", problems=problems)
    rules = policy_document(source.value for source in sources.policies.values())
    channels = sources.settings.after()
    people, signers = sources.settings.people, session.workspace.signers()
    same = [item for item in world.catalog.policies if _same(item, rules, channels, people, signers)]
    policy = world.catalog.policy
    if policy is not None and same and same[-1] is policy:
        note = Problem(code="unchanged", severity="note", message=f"policy {policy.number} is in force already")
        return Report(status="unchanged", problems=(*problems, note), data={"policy": policy.number})
    if same and not again:
        raise RefusedError(
            f"these are the rules of policy {same[-1].number}, which was replaced since",
            code="policy-older",
            hint='to go back to them on purpose: pawl policy adopt --again --reason "..."',
        )
    plan = plan_adopt(world.catalog, rules, channels, people, session.stamp(reason), signers=signers)
    applied = apply(session.workspace, plan, commit=session.commit, branch=sources.settings.branch)
    record = plan.record
    return Report(
        status="done",
        problems=(*problems, *applied.problems),
        data={
            "policy": len(world.catalog.policies) + 1,
            "rules": [rule.id for rule in rules_from(rules)],
            "channels": dict(channels),
            "serial": record.serial if record else None,
            "files": list(applied.files),
            "commit": applied.commit,
        },
    )


def _readable(session: Session) -> Sources:
    """Return the sources if every policy reads; nothing is planned or adopted from half of them."""
    sources = read_sources(session.workspace)
    broken = _policy_file_problems(sources)
    if any(problem.severity == "error" for problem in broken):
        raise InvalidError("not every policy reads", problems=tuple(broken))
    if not sources.policies:
        raise NotFoundError(
            "there is no policy under registry/policies/", code="no-policy", hint="pawl new policy NAME writes one"
        )
    return sources


def _policy_file_problems(sources: Sources) -> list[Problem]:
    return [problem for problem in sources.problems if (problem.path or "").startswith("registry/policies/")]


def _same(
    policy: Adopted,
    rules: Mapping[str, Any],
    channels: Mapping[Channel, Channel | None],
    people: Mapping[str, Sequence[str]],
    signers: str | None,
) -> bool:
    roles = {who: tuple(their) for who, their in people.items()}
    adopted = (dict(policy.rules), dict(policy.channels), dict(policy.people), policy.signers)
    return adopted == (dict(rules), dict(channels), roles, signers)


def _rules_by_id(rules: tuple[Rule, ...]) -> dict[str, Rule]:
    return {rule.id: rule for rule in rules}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """One pin that the plan asks about: live now, or a target of a rollback."""

    action: Action
    pin: Pin


def _changes(session: Session, world: World, state: ChannelState, rules: tuple[Rule, ...]) -> Iterator[dict[str, Any]]:
    for asked in _asked(state):
        before = _broken(session, world, state, asked, world.rules)
        after = _broken(session, world, state, asked, rules)
        closes = [finding for rule, finding in after.items() if rule not in before]
        opens = sorted(set(before) - set(after))
        if closes or opens:
            yield {
                "channel": state.channel,
                "name": asked.pin.name,
                "version": asked.pin.version,
                "role": "live" if asked.action == "audit" else "target",
                "newly_broken": [
                    {"rule": finding.rule, "message": finding.message, "differs": finding.differs} for finding in closes
                ],
                "no_longer_broken": opens,
                "allowed_before": not before,
                "allowed_after": not after,
            }


def _asked(state: ChannelState) -> Iterator[_Asked]:
    for name, pin in sorted(state.pins.items()):
        yield _Asked(action="audit", pin=pin)
        for past in state.earlier(name):
            yield _Asked(action="rollback", pin=past.pin)


def _broken(
    session: Session, world: World, state: ChannelState, asked: _Asked, rules: tuple[Rule, ...]
) -> dict[str, Finding]:
    """Return the rules that a pin breaks by itself, with the finding of each."""
    moving = asked.action == "rollback"
    situation = situation_for(
        session,
        world,
        action=asked.action,
        state=state,
        moves={asked.pin.name: asked.pin} if moving else {},
        subjects=() if moving else (asked.pin.name,),
        rules=rules,
    )
    procedures = read_affected(session.workspace, situation)
    verdict = evaluate(replace(situation, documents={item.digest: item.document for item in procedures.values()}))
    return {finding.rule: finding for finding in verdict.failures if finding.rule}


def _change_problems(changes: list[dict[str, Any]]) -> Iterator[Problem]:
    for change in changes:
        where = f"{change['name']}@{change['version']} on {change['channel']}"
        for finding in change["newly_broken"]:
            if change["role"] == "live":
                message = f"{where} is live and would break rule {finding['rule']}: {finding['message']}"
            else:
                message = f"{where} would no longer be a way back: {finding['message']}"
            yield Problem(code=f"plan-{change['role']}", severity="warning", message=message, rule=finding["rule"])
