"""pawl resolve."""

from __future__ import annotations

import click

from pawl.cli.command import NAME, channel_option, pawl_command
from pawl.cli.quick import lines
from pawl.ids import Channel, Name
from pawl.operations.session import Report, Session


@pawl_command("resolve", lines=lines)
@click.argument("name", type=NAME)
@channel_option
@click.option("--document", "with_document", is_flag=True, help="Give the whole document too.")
def command(session: Session, name: Name, channel: Channel, with_document: bool) -> Report:
    """Say which version a channel serves under NAME; its frozen bytes are checked."""
    from pawl.operations.serving.serving import resolve  # noqa: PLC0415 - not for shells that complete

    return resolve(session, name, channel, with_document=with_document)
