"""Policy plans as rows and warnings: what an adoption would change, from when on, and who must act."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pawl.canonical import timestamp
from pawl.operations.governing.policy_grants import approval_rows, waiver_rows
from pawl.operations.governing.policy_outlook import Answer, Foreseen, Outlook
from pawl.operations.governing.policy_people import channel_rows, people_problems, people_rows, signer_rows
from pawl.operations.session import Session
from pawl.policy.loosening import loosened
from pawl.policy.rules import Rule
from pawl.policy.softening import changed_fields
from pawl.policy.verdict import Finding
from pawl.problems import Problem


def plan_data(session: Session, look: Outlook) -> dict[str, Any]:
    """Return a plan as JSON."""
    old, new = ({rule.id: rule for rule in world.rules} for world in (look.before, look.after))
    policy, coming = look.before.catalog.policy, look.after.catalog.policies[-1]
    changes = change_rows(look)
    return {
        "policy": policy.number if policy else None,
        "next": coming.number,
        "at": look.at,
        "rules_added": sorted(set(new) - set(old)),
        "rules_removed": sorted(set(old) - set(new)),
        "rules_changed": sorted(rule for rule in set(old) & set(new) if old[rule] != new[rule]),
        "rules_changed_fields": field_rows(look),
        "loosened": loosened_rows(look),
        "channels_changed": policy is None or dict(policy.channels) != dict(coming.channels),
        "people_changed": policy is None or dict(policy.people) != dict(coming.people),
        "signers": signer_rows(policy, coming),
        "people": people_rows(policy, coming),
        "channels": channel_rows(policy, coming),
        "changes": changes,
        "no_way_back": list(_no_way_back(look)),
        "approvals": list(approval_rows(session, look)),
        "waivers": list(waiver_rows(look)),
        "must_act": [_must_act(row) for row in changes if row["role"] == "live" and row["newly_broken"]],
    }


def change_rows(look: Outlook) -> list[dict[str, Any]]:
    """Return what is live and each way back whose verdict would change, from each moment on when it does."""
    rules = {rule.id: rule for rule in look.after.rules}
    found = []
    for item in look.foreseen:
        last: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        for answer in item.answers:
            now = (answer.closes, answer.opens)
            if now not in {last, ((), ())}:
                found.append(_row(item, answer, rules))
            last = now
    return found


def breaking_rows(look: Outlook) -> list[dict[str, Any]]:
    """Return the rows of what is live and would be illegal at once."""
    rows = change_rows(look)
    return [row for row in rows if row["role"] == "live" and row["newly_broken"] and row["from"] == look.at]


def field_rows(look: Outlook) -> list[dict[str, Any]]:
    """Return each rule that changes with the fields that do, old and new; none where it is the message alone."""
    old, new = ({rule.id: rule for rule in world.rules} for world in (look.before, look.after))
    changed = sorted(rule for rule in set(old) & set(new) if old[rule] != new[rule])
    return [{"rule": rule, "fields": list(changed_fields(old[rule], new[rule]))} for rule in changed]


def loosened_rows(look: Outlook) -> list[dict[str, Any]]:
    """Return the rules in force that would hold less firmly."""
    found = loosened(look.before.rules, look.after.rules, look.moments[0])
    return [{"rule": item.rule, "policy": item.policy, "owner": item.owner, "how": list(item.how)} for item in found]


def _row(item: Foreseen, answer: Answer, rules: Mapping[str, Rule]) -> dict[str, Any]:
    return {
        "channel": item.state.channel,
        "name": item.pin.name,
        "version": item.pin.version,
        "role": item.role,
        "owner": item.document.get("owner"),
        "from": timestamp(answer.moment),
        "newly_broken": [_broken(answer.after[key], rules.get(key)) for key in answer.closes],
        "no_longer_broken": list(answer.opens),
        "allowed_before": not answer.before,
        "allowed_after": not answer.after,
    }


def _broken(finding: Finding, rule: Rule | None) -> dict[str, Any]:
    return {
        "rule": finding.rule or finding.code,
        "policy": rule.policy if rule else None,
        "owner": rule.owner if rule else None,
        "message": finding.message,
        "differs": finding.differs,
        "stops_serving": bool(rule and rule.enforce_live),
    }


def _no_way_back(look: Outlook) -> Iterator[dict[str, Any]]:
    """Yield each pin that could be rolled back and could no longer be, with the moment when the last way closes."""
    for live in (item for item in look.foreseen if item.role == "live"):
        ways = [
            item
            for item in look.foreseen
            if item.role == "target" and (item.state.channel, item.pin.name) == (live.state.channel, live.pin.name)
        ]
        for index, moment in enumerate(look.moments):
            open_now = [item.pin.version for item in ways if not item.answers[index].before]
            if open_now and all(item.answers[index].after for item in ways):
                yield {
                    "channel": live.state.channel,
                    "name": live.pin.name,
                    "version": live.pin.version,
                    "owner": live.document.get("owner"),
                    "from": timestamp(moment),
                    "closes": open_now,
                }
                break


def _must_act(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "channel": row["channel"],
        "ref": f"{row['name']}@{row['version']}",
        "by": row["from"],
        "owner": row["owner"],
        "rules": [{"rule": broken["rule"], "owner": broken["owner"]} for broken in row["newly_broken"]],
    }


def plan_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what somebody should know before the adoption, as warnings."""
    at = data["at"]
    yield from change_problems(data["changes"], at)
    for row in data["no_way_back"]:
        where = f"{row['name']}@{row['version']} on {row['channel']}"
        hint = f"pawl targets {row['name']} --channel {row['channel']} shows what there is to go back to"
        message = f"{where} would be left without a way back{_from(row, at)}"
        yield Problem(code="plan-no-way-back", severity="warning", message=message, hint=hint)
    for row in data["approvals"]:
        if row["lost"]:
            message = (
                f"the approval of {row['ref']} on {row['channel']} by {row['by']} until {row['until']} would no longer "
                f"count for {', '.join(row['lost'])}; it was given under policy {row['policy']}"
            )
            hint = f'after the adoption: pawl approve {row["ref"]} --channel {row["channel"]} --reason "..."'
            yield Problem(code="plan-approval", severity="warning", message=message, hint=hint)
    for row in data["waivers"]:
        word = "would count" if row["counts_after"] else "would no longer count"
        message = f"waiver {row['waiver']} of {row['rule']} on {row['channel']} ({row['covers']}) {word}: {row['why']}"
        yield Problem(code="plan-waiver", severity="warning", message=message, rule=row["rule"])
    yield from loosened_problems(data["loosened"])
    if data["policy"] is not None:
        yield from people_problems(data, data["channels"])


def loosened_problems(rows: Iterable[Mapping[str, Any]]) -> Iterator[Problem]:
    """Yield a warning for each rule that would hold less firmly, with who keeps it."""
    for row in rows:
        message = f"rule {row['rule']} of policy {row['policy']} would hold less firmly: {'; '.join(row['how'])}"
        hint = f"{row['owner']} keeps this rule"
        yield Problem(code="plan-looser", severity="warning", message=message, rule=row["rule"], hint=hint)


def change_problems(rows: Iterable[Mapping[str, Any]], at: str) -> Iterator[Problem]:
    """Yield a warning for everything that would be refused and is not now, with who must act."""
    for row in rows:
        where = f"{row['name']}@{row['version']} on {row['channel']}"
        for broken in row["newly_broken"]:
            hint = None
            if row["role"] == "live":
                message = f"{where} is live and would break {broken['rule']}: {broken['message']}{_from(row, at)}"
                keeps = f"; {broken['owner']} keeps the rule" if broken["owner"] else ""
                hint = f"{row['owner'] or 'its owner'} moves it to a version that passes{keeps}"
            else:
                message = f"{where} would no longer be a way back: {broken['message']}{_from(row, at)}"
            found = Problem(code=f"plan-{row['role']}", severity="warning", message=message, hint=hint)
            yield replace(found, rule=broken["rule"]) if broken["policy"] else found


def _from(row: Mapping[str, Any], at: str) -> str:
    return "" if row["from"] == at else f" (from {row['from']} on)"
