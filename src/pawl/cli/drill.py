"""pawl drill."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

import click

from pawl.cli.command import CHANNEL, NAME, checked, dry_run_option, no_code_option, pawl_command
from pawl.cli.output import table
from pawl.cli.targets import why_not, with_refs
from pawl.ids import Channel, Name
from pawl.operations.releasing.drilling import LAST, REASON, DrillOptions, drill
from pawl.operations.session import Report, Session
from pawl.policy.durations import parse_duration


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "pins" not in data:
        return
    rows = [
        (pin["name"], pin["pinned"], with_refs(target["version"], target["with"]), *_said(target))
        for pin in data["pins"]
        for target in pin["targets"]
    ]
    yield from table(("name", "pinned", "back to", "allowed", "why not"), rows)
    where = f"on {data['channel']} under policy {data['policy'] or 'none'}"
    yield f"drilled {len(rows)} ways back {where}, suites run: {data['suites_run']}"
    if data.get("serial"):
        yield f"serial {data['serial']} on {data['channel']}"


def _said(target: Mapping[str, Any]) -> tuple[str, str]:
    return "yes" if target["allowed"] else "no", why_not(target)


def _length(_: click.Context, __: click.Parameter, value: str | None) -> timedelta:
    try:
        return parse_duration(value).exact if value is not None else timedelta()
    except ValueError as error:
        raise click.UsageError(str(error)) from None


@pawl_command("drill", lines=lines, writes=True)
@click.argument("channel", type=CHANNEL)
@click.argument("names", type=NAME, nargs=-1)
@click.option("--last", type=click.IntRange(min=1), default=LAST, show_default=True, help="Targets of each pin.")
@click.option(
    "--older-than", metavar="DURATION", callback=_length, help="Run only suites whose result is older, such as P7D."
)
@click.option(
    "--reason",
    default=REASON,
    show_default=True,
    callback=lambda _c, _p, value: checked(value),
    help="Why; the history keeps it.",
)
@dry_run_option
@no_code_option
def command(
    session: Session,
    channel: Channel,
    names: Sequence[Name],
    last: int,
    older_than: timedelta,
    reason: str,
    dry_run: bool,
) -> Report:
    """Run today's suites on the newest ways back of a channel, as a rollback would, and store what they come to.

    0 if every pin (or NAME) has at least one way back. A rollback after it finds the evidence and runs no suite.
    """
    return drill(
        session, channel, names, DrillOptions(last=last, older_than=older_than, reason=reason, dry_run=dry_run)
    )
