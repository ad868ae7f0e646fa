"""pawl reject."""

from __future__ import annotations

from datetime import datetime

import click

from pawl.canonical import timestamp
from pawl.cli.command import MOMENT, REF, channel_option, pawl_command, reason_option
from pawl.cli.intervention import intervention_lines
from pawl.ids import Channel, Ref
from pawl.operations.session import Report, Session


@pawl_command("reject", lines=intervention_lines, writes=True)
@click.argument("ref", type=REF)
@channel_option
@reason_option
@click.option("--until", type=MOMENT, help="When the rejection ends; never without it.")
def command(session: Session, ref: Ref, channel: Channel, reason: str, until: datetime | None) -> Report:
    """Keep a version's content off a channel, also under another version number, until unreject."""
    from pawl.operations.governing.interventions import reject  # noqa: PLC0415 - not for shells that complete

    return reject(session, ref, channel, reason, timestamp(until) if until else None)
