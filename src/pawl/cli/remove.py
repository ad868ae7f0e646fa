"""pawl remove."""

from __future__ import annotations

from collections.abc import Sequence

import click

from pawl.cli.command import NAME, channel_option, dry_run_option, pawl_command, reason_option
from pawl.cli.promote import release_lines
from pawl.ids import Channel, Name
from pawl.operations.release import Options, remove
from pawl.operations.session import Report, Session


@pawl_command("remove", lines=release_lines, writes=True)
@click.argument("names", type=NAME, nargs=-1, required=True)
@channel_option
@reason_option
@dry_run_option
def command(session: Session, names: Sequence[Name], channel: Channel, reason: str, dry_run: bool) -> Report:
    """Take pins off a channel, if nothing that stays pinned there requires them. No version is deleted."""
    return remove(session, names, channel, Options(reason=reason, dry_run=dry_run))
