"""pawl verify."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from pawl.cli.command import pawl_command
from pawl.operations.session import Report, Session


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "records" in data:
        yield f"{data['records']} records, {data['versions']} versions, {data['statements']} statements fit"


@pawl_command("verify", lines=lines)
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A snapshot, record or file of registry/channels/ that was kept elsewhere; the journal must still hold it.",
)
def command(session: Session, against: tuple[Path, ...]) -> Report:
    """Recompute every digest and chain, and name what does not fit."""
    from pawl.operations.observing.verifying import verify  # noqa: PLC0415 - not for shells that complete

    return verify(session, against)
