"""pawl policy show, test, plan and adopt."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import click

from pawl.cli.candidates import policies
from pawl.cli.command import MOMENT, offering, pawl_command, reason_option
from pawl.cli.output import table
from pawl.operations.session import Report, Session


@click.group("policy")
def command() -> None:
    """Rules are written under registry/policies/ and count from their adoption on."""


def _show_lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "rules" not in data:
        return
    adopted = data["adopted"]
    state = "in force" if data["in_force"] else "replaced"
    yield f"policy {data['policy']} ({state}), adopted {adopted['at']} by {adopted['actor']['name']}"
    yield f"because: {adopted['reason']}"
    for channel, after in data["channels"].items():
        yield f"channel {channel}" + (f" after {after}" if after else "")
    for who, roles in data["people"].items():
        yield f"{who}: {', '.join(roles) or 'no role'}"
    yield from (f"signer {line}" for line in (data["signers"] or "").splitlines() if line.strip())
    rows = [(row["id"], row["class"], row["level"], row["policy"], row["message"]) for row in data["rules"]]
    yield from table(("rule", "class", "level", "policy", "message"), rows)
    for row in data["rules"]:
        for part in ("applies", "effective_on", "waiver"):
            if row[part] and (part != "applies" or any(row[part].values())):
                yield f"rule {row['id']}: {part}: {json.dumps(row[part], ensure_ascii=False)}"


@pawl_command("policy show", lines=_show_lines)
@click.argument("number", type=click.IntRange(min=1), required=False, shell_complete=offering(lambda _: policies))
def show(session: Session, number: int | None) -> Report:
    """Show the policy in force, or the one with NUMBER."""
    from pawl.operations.governing.policies import policy_show  # noqa: PLC0415 - not for shells that complete

    return policy_show(session, number)


def _test_lines(data: Mapping[str, Any]) -> Iterator[str]:
    rows = [
        (row["rule"], row["test"], row["expect"], row["found"], "passed" if row["passed"] else "failed")
        for row in data.get("tests", [])
    ]
    yield from table(("rule", "test", "expected", "found", ""), rows)


@pawl_command("policy test", lines=_test_lines)
def test(session: Session) -> Report:
    """Run the permitted and denied examples that stand beside the rules."""
    from pawl.operations.governing.policies import policy_test  # noqa: PLC0415 - not for shells that complete

    return policy_test(session)


def _field_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        if not row["fields"]:
            yield f"rule {row['rule']}: its message alone"
        for field in row["fields"]:
            old, new = (json.dumps(field[side], ensure_ascii=False) for side in ("old", "new"))
            yield f"rule {row['rule']}: {field['field']}: {old} -> {new}"


def _beside_lines(data: Mapping[str, Any], channels: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """What changes of signers, people and channels."""
    for what, rows in (("principal", data["signers"]), ("person", data["people"]), ("channel", channels)):
        for row in rows:
            old, new = (json.dumps(row[side], ensure_ascii=False) if row[side] else "none" for side in ("old", "new"))
            yield f"{'signer' if what == 'principal' else what} {row[what]}: {old} -> {new}"


def _plan_lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "next" not in data:
        return
    stays = data["policy"] == data["next"]
    yield f"policy {data['policy']} stays" if stays else f"policy {data['policy'] or '-'} -> {data['next']}"
    for word in ("added", "removed", "changed"):
        if data[f"rules_{word}"]:
            yield f"rules {word}: {', '.join(data[f'rules_{word}'])}"
    yield from _field_lines(data["rules_changed_fields"])
    yield from _beside_lines(data, data["channels"])
    rows = [
        (
            change["channel"],
            f"{change['name']}@{change['version']}",
            change["role"],
            "allowed" if change["allowed_before"] else "refused",
            "allowed" if change["allowed_after"] else "refused",
            ", ".join(finding["rule"] for finding in change["newly_broken"]),
            "at once" if change["from"] == data["at"] else change["from"],
        )
        for change in data["changes"]
    ]
    yield from table(("channel", "version", "role", "now", "then", "rules", "from"), rows)
    if not rows:
        yield "no live pin and no rollback target changes its verdict"
    for row in data["must_act"]:
        owners = ", ".join(f"{item['rule']} ({item['owner'] or '-'})" for item in row["rules"])
        when = "before the adoption" if row["by"] == data["at"] else f"by {row['by']}"
        yield f"{row['owner'] or 'its owner'} must move {row['ref']} on {row['channel']} {when}: {owners}"


@pawl_command("policy plan", lines=_plan_lines, identity=True)
@click.option("--at", type=MOMENT, help="Ask as of this moment alone, such as that of a rule's effective_on.")
def plan(session: Session, at: datetime | None) -> Report:
    """Say what would change if the sources were adopted now, from when on, and who must act."""
    from pawl.operations.governing.policies import policy_plan  # noqa: PLC0415 - not for shells that complete

    return policy_plan(session, at)


def _adopt_lines(data: Mapping[str, Any]) -> Iterator[str]:
    if data.get("serial"):
        yield f"policy {data['policy']} is in force: {', '.join(data['rules'])}"
        yield from _field_lines(data["rules_changed_fields"])
        yield from _beside_lines(data, data["channel_changes"])


@pawl_command("policy adopt", lines=_adopt_lines, writes=True)
@reason_option
@click.option("--again", is_flag=True, help="Go back to the rules of an older policy on purpose.")
def adopt(session: Session, reason: str, again: bool) -> Report:
    """Freeze the sources and the channel settings under the next policy number."""
    from pawl.operations.governing.policies import policy_adopt  # noqa: PLC0415 - not for shells that complete

    return policy_adopt(session, reason, again=again)


for _made in (show, test, plan, adopt):
    command.add_command(_made)
