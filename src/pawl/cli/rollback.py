"""pawl rollback."""

from __future__ import annotations

from collections.abc import Sequence

import click

from pawl.cli.command import (
    NAME_OR_REF,
    VERSION,
    channel_option,
    dry_run_option,
    no_code_option,
    pawl_command,
    reason_option,
)
from pawl.cli.promote import release_lines, with_requirements_option
from pawl.ids import Channel, Name, Version
from pawl.operations.session import Report, Session


@pawl_command("rollback", lines=release_lines, writes=True)
@click.argument("asked", metavar="NAME[@VERSION]...", type=NAME_OR_REF, nargs=-1, required=True)
@channel_option
@click.option("--to", type=VERSION, help="The version to go back to, with one bare NAME.")
@reason_option
@dry_run_option
@with_requirements_option
@no_code_option
def command(
    session: Session,
    asked: Sequence[tuple[Name, Version | None]],
    channel: Channel,
    to: Version | None,
    reason: str,
    dry_run: bool,
    with_requirements: bool,
) -> Report:
    """Go back: to the version that is named, or to the newest earlier one that passes now.

    What it passes over is listed with the reason. What it leaves does not come back by itself (unreject).
    """
    from pawl.operations.releasing.release import Options, rollback  # noqa: PLC0415 - not for shells that complete

    options = Options(reason=reason, dry_run=dry_run, with_requirements=with_requirements)
    return rollback(session, asked, channel, options, to)
