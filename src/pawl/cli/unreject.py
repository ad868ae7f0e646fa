"""pawl unreject."""

from __future__ import annotations

import click

from pawl.cli.command import REF, channel_option, pawl_command, reason_option
from pawl.cli.intervention import intervention_lines
from pawl.ids import Channel, Ref
from pawl.operations.session import Report, Session


@pawl_command("unreject", lines=intervention_lines, writes=True)
@click.argument("ref", type=REF)
@channel_option
@reason_option
def command(session: Session, ref: Ref, channel: Channel, reason: str) -> Report:
    """Let content that was rejected, or left by a rollback, be promoted again."""
    from pawl.operations.governing.interventions import unreject  # noqa: PLC0415 - not for shells that complete

    return unreject(session, ref, channel, reason)
