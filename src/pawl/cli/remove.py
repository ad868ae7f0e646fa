"""pawl remove."""

from __future__ import annotations

from collections.abc import Sequence

import click

from pawl.cli.candidates import Candidates, pinned_on
from pawl.cli.candidates import names as names_anywhere
from pawl.cli.command import NAME, channel_option, dry_run_option, offering, pawl_command, reason_option
from pawl.cli.promote import release_lines
from pawl.ids import Channel, Name
from pawl.operations.session import Report, Session


def _removable(ctx: click.Context) -> Candidates:
    channel = ctx.params.get("channel")
    return pinned_on(channel) if channel else names_anywhere


@pawl_command("remove", lines=release_lines, writes=True)
@click.argument("names", type=NAME, nargs=-1, required=True, shell_complete=offering(_removable))
@channel_option
@reason_option
@dry_run_option
def command(session: Session, names: Sequence[Name], channel: Channel, reason: str, dry_run: bool) -> Report:
    """Take pins off a channel, if nothing that stays pinned there requires them. No version is deleted."""
    from pawl.operations.releasing.release import Options, remove  # noqa: PLC0415 - not for shells that complete

    return remove(session, names, channel, Options(reason=reason, dry_run=dry_run))
