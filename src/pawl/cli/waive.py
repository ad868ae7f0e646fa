"""pawl waive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import click

from pawl.cli.command import MOMENT, NAME_OR_REF, REF, channel_option, dry_run_option, pawl_command, reason_option
from pawl.cli.ends import end_options, needed_end
from pawl.cli.intervention import recorded_line
from pawl.cli.words import words_of
from pawl.ids import Channel, Name, Ref, Version
from pawl.operations.session import Report, Session
from pawl.policy.durations import Duration
from pawl.registry.channels_grants import WAIVABLE


def _lines(data: Mapping[str, Any]) -> Iterator[str]:
    waiver = data.get("waiver")
    if waiver is not None:
        about = f"{waiver['name']} {waiver['versions'] or waiver['digest']}"
        actions = " and ".join(waiver["actions"])
        yield f"{waiver['rule']} waived for {about} ({actions}) on {data['channel']} until {waiver['until']}"
    yield from recorded_line(data)


@pawl_command("waive", lines=_lines, writes=True)
@click.argument("rule")
@click.argument("asked", metavar="NAME[@VERSION]", type=NAME_OR_REF)
@channel_option
@click.option(
    "--action",
    "actions",
    required=True,
    multiple=True,
    callback=lambda _c, _p, values: words_of(values, WAIVABLE),
    help=f"What it is for: {', '.join(WAIVABLE)}; several with commas.",
)
@click.option("--versions", help="A range instead of one version, such as '>=1.2,<2'.")
@click.option("--with", "together", type=REF, multiple=True, help="What moves with the version, if it is for a set.")
@end_options("When it ends; there is no waiver without an end.")
@click.option("--owner", required=True, help="Which team answers for it.")
@reason_option
@click.option("--break-glass", is_flag=True, help="Count before anybody approved it, where the rule allows that.")
@click.option("--review-by", type=MOMENT, help="With --break-glass: when a second person has looked at the latest.")
@dry_run_option
def command(
    session: Session,
    rule: str,
    asked: tuple[Name, Version | None],
    channel: Channel,
    actions: Sequence[str],
    versions: str | None,
    together: Sequence[Ref],
    until: datetime | None,
    length: Duration | None,
    owner: str,
    reason: str,
    break_glass: bool,
    review_by: datetime | None,
    dry_run: bool,
) -> Report:
    """Ask for an exception from RULE for one version, or a range, until an end; a second person approves it.

    RULE is a rule's id, or pawl:fewer-tests to promote with fewer tests than before. The second person says
    pawl approve --waiver N.
    """
    from pawl.operations.governing.waiving import Asked, waive  # noqa: PLC0415 - not for shells that complete

    name, version = asked
    wanted = Asked(
        rule=rule,
        name=name,
        version=version,
        versions=versions,
        together=together,
        actions=actions,
        until=needed_end(session, until, length),
        owner=owner,
        break_glass=break_glass,
        review_by=review_by,
    )
    return waive(session, wanted, channel, reason, dry_run=dry_run)
