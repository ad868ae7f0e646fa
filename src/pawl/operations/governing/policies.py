"""Policy: show what is in force, test the sources, plan an adoption, adopt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pawl.errors import InvalidError, NotFoundError, RefusedError
from pawl.ids import Serial
from pawl.operations.governing.policy_outlook import outlook, world_after
from pawl.operations.governing.policy_people import (
    channel_rows,
    people_problems,
    people_rows,
    signer_problems,
    signer_rows,
)
from pawl.operations.governing.policy_plans import (
    breaking_rows,
    change_problems,
    field_rows,
    loosened_problems,
    loosened_rows,
    plan_data,
    plan_problems,
)
from pawl.operations.session import Report, Session
from pawl.operations.situations import check_decides
from pawl.operations.sources import Sources, read_settings_file, read_sources
from pawl.operations.uncommitted import uncommitted_notes
from pawl.operations.world import World, read_world
from pawl.operations.writing import write
from pawl.policy.lint import policy_warnings, unmatched_rules
from pawl.policy.rule_checks import duplicate_faults
from pawl.policy.rule_tests import rule_test_faults, rule_tests
from pawl.policy.rules import Rule
from pawl.policy.sources import deciding, policy_document, rules_from
from pawl.policy.verdict import FINDINGS
from pawl.problems import Problem
from pawl.registry.catalog import Adopted
from pawl.registry.journal import Actor
from pawl.releases.planning import plan_adopt
from pawl.releases.plans import Plan


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
            "people": {who: list(roles) for who, roles in policy.people.items()},
            "signers": policy.signers,
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
        "applies": {**asdict(rule.applies), "labels": dict(rule.applies.labels)},
        "waiver": asdict(rule.waiver) if rule.waiver else None,
        "effective_on": rule.effective_on.isoformat().replace("+00:00", "Z") if rule.effective_on else None,
        "enforce_live": rule.enforce_live,
        "denied_examples": sum(test.expect == "denied" for test in rule.tests),
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
    names: set[tuple[str, str]] = set()
    if any(rule.applies.names or rule.applies.kinds for source in ordered for rule in source.value.rules):
        names = {(item.kind, item.name) for item in world.catalog.published.values()}
        names |= {(head.kind, head.name) for head in sources.heads}
    for source in ordered:
        rules = source.value.rules
        found += source.problems(
            *policy_warnings(source.value),
            *unmatched_rules(rules, sorted(names), sources.settings.channels),
            *rule_test_faults(rules, required=sources.settings.policy.require_tests),
        )
    return tuple(found)


def policy_plan(session: Session, at: datetime | None = None) -> Report:
    """Report what would change if the sources were adopted: now and whenever rules take effect, or ``at`` a moment."""
    world, sources = read_world(session.workspace), _readable(session)
    then = replace(session, now=at or session.now)
    after = world_after(then, world, _adoption(then, world, sources, "a plan"))
    if _changes_nothing(world.catalog.policy, after.catalog.policies[-1]):
        after = world  # nothing would be adopted
    data = plan_data(then, outlook(then, world, after, ahead=at is None))
    wrong = (*_policy_file_problems(sources), *policy_problems(sources, world), *_signer_problems(session))
    problems = (*wrong, *plan_problems(data))
    failed = any(problem.severity == "error" for problem in problems)
    code = FINDINGS if failed else 0
    return Report(status="failed" if failed else "done", exit_code=code, problems=problems, data=data)


def policy_adopt(session: Session, reason: str, *, again: bool) -> Report:
    """Freeze the sources and the settings under the next policy number."""
    world, sources = read_world(session.workspace), _readable(session)
    check_decides(session, world, "adopt")
    problems = (*_policy_file_problems(sources), *policy_problems(sources, world), *_signer_problems(session))
    if any(problem.severity == "error" for problem in problems):
        raise InvalidError("no policy was adopted", problems=problems)
    plan = _adoption(session, world, sources, reason)
    after = world_after(session, world, plan)
    policy, coming = world.catalog.policy, after.catalog.policies[-1]
    same = [item for item in world.catalog.policies if _decides(item) == _decides(coming)]
    if policy and _changes_nothing(policy, coming):
        note = Problem(code="unchanged", severity="note", message=f"policy {policy.number} is in force already")
        return Report(status="unchanged", problems=(*problems, note), data={"policy": policy.number})
    if same and same[-1] is not policy and not again:
        raise RefusedError(
            f"these are the rules of policy {same[-1].number}, which was replaced since",
            code="policy-older",
            hint='to go back to them on purpose: pawl policy adopt --again --reason "..."',
        )
    look = outlook(session, world, after, ahead=False)
    breaking = breaking_rows(look)
    beside = {"signers": signer_rows(policy, coming), "people": people_rows(policy, coming)}
    channels = channel_rows(policy, coming)
    told = (
        *change_problems(breaking, look.at),
        *loosened_problems(loosened_rows(look)),
        *(people_problems(beside, channels) if policy else ()),
    )
    if breaking and sources.settings.policy.require_grace:
        raise RefusedError("something live would be illegal at once", problems=(_no_grace(breaking), *told))
    adopted = _adopted_files(session)  # looked for before anything is written: what fails after it would be no failure
    applied = write(session, plan, branch=sources.settings.branch)
    notes = uncommitted_notes(session.workspace, applied, adopted)
    data = {
        "policy": coming.number,
        "rules": [rule.id for rule in after.rules],
        "channels": dict(coming.channels),
        "rules_changed_fields": field_rows(look),
        **beside,
        "channel_changes": channels,
        "breaking": breaking,
        "serial": plan.record.serial if plan.record else None,
        "files": list(applied.files),
        "commit": applied.commit,
    }
    return Report(status="done", problems=(*problems, *told, *applied.problems, *notes), data=data)


def _adopted_files(session: Session) -> list[Path]:
    """Return where what is adopted stands: the rules, the settings, and whose keys are whose."""
    workspace = session.workspace
    files = (workspace.settings_file, workspace.signers_file)
    return [*workspace.sources(workspace.policies), *(path for path in files if path.exists())]


def _adoption(session: Session, world: World, sources: Sources, reason: str) -> Plan:
    """Return the plan of adopting the sources and the settings as they are."""
    # what is adopted is what the files say now, whatever is remembered of them
    rules = policy_document(source.opened().value for source in sources.policies.values())
    settings = read_settings_file(session.workspace)
    signers = session.workspace.signers()
    stamp = session.stamp(reason)
    return plan_adopt(world.catalog, rules, settings.after(), settings.people, stamp, signers=signers)


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


def _signer_problems(session: Session) -> tuple[Problem, ...]:
    return tuple(signer_problems(session.workspace.signers()))


def _policy_file_problems(sources: Sources) -> list[Problem]:
    return [problem for problem in sources.problems if (problem.path or "").startswith("registry/policies/")]


def _decides(policy: Adopted) -> Adopted:
    """Return what of an adopted policy decides, to compare: neither its number nor who adopted it, nor examples."""
    nobody = Actor(name="")
    return replace(policy, rules=deciding(policy.rules), number=0, at="", actor=nobody, reason=None, serial=Serial(0))


def _changes_nothing(policy: Adopted | None, coming: Adopted) -> bool:
    """Whether what would be adopted is in force already, examples included."""
    return policy is not None and _decides(policy) == _decides(coming) and dict(policy.rules) == dict(coming.rules)


def _no_grace(breaking: Sequence[Mapping[str, Any]]) -> Problem:
    refs = ", ".join(dict.fromkeys(f"{row['name']}@{row['version']} on {row['channel']}" for row in breaking))
    return Problem(
        code="policy-grace",
        message=f"no policy was adopted, for it would make illegal at once what is live: {refs}",
        hint="move them first, or give the rules an effective_on by when that is done; pawl policy plan shows it all",
    )
