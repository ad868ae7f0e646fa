"""pawl why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import click

from pawl.cli.command import REF, channel_option, no_code_option, pawl_command
from pawl.cli.output import clean, paint
from pawl.ids import Channel, Ref
from pawl.operations.session import Report, Session
from pawl.policy.verdict import Action

_COLOURS = {"failed": "red", "errored": "red", "missing": "red", "warning": "yellow", "waived": "yellow"}


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "tree" not in data:
        return
    pinned = f"{data['pinned']} is pinned" if data["pinned"] else "nothing of this name is pinned"
    head = f"{data['name']}@{data['version']} on {data['channel']} (serial {data['serial']}, {pinned})"
    allowed = "allowed" if data["verdict"]["allowed"] else "refused"
    yield f"{head}: {data['action']} {allowed} under policy {data['policy'] or 'none'}"
    yield from _branches([_check(branch) for branch in data["tree"]])


Branch = tuple[str, list[Any]]
"""A line, and the branches below it."""


def _branches(branches: Sequence[Branch], before: str = "") -> Iterator[str]:
    for number, (text, below) in enumerate(branches):
        last = number == len(branches) - 1
        yield f"{before}{'└─ ' if last else '├─ '}{text}"
        yield from _branches(below, before + ("   " if last else "│  "))


def _check(branch: Mapping[str, Any]) -> Branch:
    text = f"{branch['check']}: {_status(branch['status'])} ({clean(branch['about'])})"
    if "rules" in branch:
        return text, [_rule(rule) for rule in branch["rules"]]
    return text, [_finding(finding) for finding in branch["findings"]]


def _rule(rule: Mapping[str, Any]) -> Branch:
    place = f", {rule['path']}:{rule['line']}" if rule["path"] else ""
    edited = ", edited since it was adopted" if rule["edited"] else ""
    kept = f"{rule['class']}, {rule['level']}, {rule['kind']}; {rule['source']}, kept by {rule['owner']}{place}{edited}"
    text = f"{clean(rule['rule'])}: {_status(rule['status'])} ({clean(kept)})"
    return text, [_finding(finding) for finding in rule["findings"]]


def _finding(finding: Mapping[str, Any]) -> Branch:
    below: list[Branch] = []
    for word, key in (("differs", "differs"), ("looked at", "looked_at"), ("next", "hint")):
        if key in finding:
            below.append((f"{word}: {clean(finding[key])}", []))
    return f"{_status(finding['status'])}: {clean(finding['message'])}", below


def _status(status: str) -> str:
    return paint(status, _COLOURS.get(status))


@pawl_command("why", lines=lines, identity=True)
@click.argument("ref", type=REF)
@channel_option
@click.option(
    "--action",
    type=click.Choice(["promote", "rollback"]),
    default="promote",
    show_default=True,
    help="What the verdict is on.",
)
@no_code_option
def command(session: Session, ref: Ref, channel: Channel, action: str) -> Report:
    """Explain the verdict on one version as a tree: every check and rule, what it looked at, and why.

    The verdict and the exit code are those of a dry run. Suites without valid evidence are run, nothing is stored.
    """
    from pawl.operations.releasing.reasons import why  # noqa: PLC0415 - not for shells that complete

    return why(session, ref, channel, cast("Action", action))
