"""pawl targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from pawl.cli.command import NAME, channel_option, no_code_option, pawl_command
from pawl.cli.output import table
from pawl.ids import Channel, Name
from pawl.operations.session import Report, Session
from pawl.operations.targets import targets


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "targets" not in data:
        return
    yield f"{data['name']} on {data['channel']}: {data['pinned'] or 'not pinned'} (serial {data['serial']})"
    rows = [
        (row["version"], "yes" if row["allowed"] else "no", "; ".join(reason["message"] for reason in row["reasons"]))
        for row in data["targets"]
    ]
    yield from table(("version", "allowed", "why not"), rows)
    if not rows:
        yield "there is no earlier version to go back to"


@pawl_command("targets", lines=lines, identity=True)
@click.argument("name", type=NAME)
@channel_option
@no_code_option
def command(session: Session, name: Name, channel: Channel) -> Report:
    """List every version that was live on a channel before, last live first, with its verdict as of now."""
    return targets(session, name, channel)
