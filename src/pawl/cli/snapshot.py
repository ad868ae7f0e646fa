"""pawl snapshot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

from pawl.cli.command import CHANNEL, Parsed, pawl_command
from pawl.ids import Channel
from pawl.operations.session import Report, Session

_DURATION = re.compile(r"P(?:(\d{1,5})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?\Z")


def parse_duration(text: str) -> timedelta:
    """Return an ISO 8601 duration of days, hours, minutes and seconds, or raise ``ValueError``."""
    found = _DURATION.match(text)
    if found is None or not any(found.groups()):
        raise ValueError(f"{text!r} is no duration, such as PT12H or P7D")
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "serial" not in data:
        return
    withheld = len(data["withheld"])
    yield f"{data['channel']}: serial {data['serial']}, {data['procedures']} procedures, {withheld} withheld"
    yield data["digest"]
    if "out" in data:
        yield f"written to {data['out']}" + (f", stale from {data['expires']} on" if data["expires"] else "")


@pawl_command("snapshot", lines=lines)
@click.argument("channel", type=CHANNEL)
@click.option("--out", type=click.Path(path_type=Path), help="Write the snapshot to this file.")
@click.option("--expires", type=Parsed("DURATION", parse_duration), help="After this time it is stale, such as PT12H.")
def command(session: Session, channel: Channel, out: Path | None, expires: timedelta | None) -> Report:
    """Take the one self-contained file with everything that a channel serves, for agents."""
    from pawl.operations.serving.serving import snapshot  # noqa: PLC0415 - not for shells that complete

    return snapshot(session, channel, out, expires)
