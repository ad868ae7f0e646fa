"""pawl approve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import click

from pawl.cli.command import REF, channel_option, dry_run_option, pawl_command, reason_option
from pawl.cli.ends import end_of, end_options
from pawl.cli.intervention import recorded_line
from pawl.ids import Channel, Ref, Serial
from pawl.operations.session import Report, Session
from pawl.policy.durations import Duration


def _lines(data: Mapping[str, Any]) -> Iterator[str]:
    for row in data.get("approvals", ()):
        counts = "" if row["counts"] else ", which does not count"
        yield f"{row['ref']} on {data['channel']} under policy {row['policy']} until {row['until']}{counts}"
    for row in data.get("waivers", ()):
        counts = "" if row["counts"] else ", which does not count"
        yield f"waiver {row['serial']} of rule {row['rule']} on {data['channel']}{counts}"
    yield from recorded_line(data)


@pawl_command("approve", lines=_lines, writes=True)
@click.argument("refs", type=REF, nargs=-1)
@click.option(
    "--waiver", "waivers", type=click.IntRange(min=1), multiple=True, help="Say yes to the waiver of this record."
)
@channel_option
@reason_option
@end_options("When the approval ends; 30 days from now where nothing is said.")
@dry_run_option
def command(
    session: Session,
    refs: Sequence[Ref],
    waivers: Sequence[int],
    channel: Channel,
    reason: str,
    until: datetime | None,
    length: Duration | None,
    dry_run: bool,
) -> Report:
    """Say yes to exact versions on a channel, or to somebody's waiver; signed where Git signs with an SSH key.

    An approval is of each version's digest with what it requires, as pinned now or given here, under the policy in
    force. One that does not count is recorded too, and ends with 8.
    """
    from pawl.operations.governing.approving import approve  # noqa: PLC0415 - not for shells that complete
    from pawl.operations.governing.waiving import consent  # noqa: PLC0415 - not for shells that complete

    end = end_of(session, until, length)
    if bool(refs) == bool(waivers):
        raise click.UsageError("give versions to approve, or --waiver with a record's number")
    if not waivers:
        return approve(session, refs, channel, reason, until=end, dry_run=dry_run)
    if end is not None:
        raise click.UsageError("a waiver has its own end: --until and --for go with versions")
    return consent(session, [Serial(serial) for serial in waivers], channel, reason, dry_run=dry_run)
