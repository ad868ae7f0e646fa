"""pawl bump."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from pawl.cli.command import NAME, VERSION, pawl_command
from pawl.errors import UsageError
from pawl.ids import Name, Version
from pawl.operations.authoring.bumping import PARTS, Part, bump
from pawl.operations.session import Report, Session


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "to" in data:
        stays = data["from"] == data["to"]
        yield f"{data['path']}: " + (f"{data['to']} stays" if stays else f"{data['from']} -> {data['to']}")


@pawl_command("bump", lines=lines)
@click.argument("name", type=NAME)
@click.option("--part", type=click.Choice(PARTS), help="Raise this part of the highest published version.")
@click.option("--to", type=VERSION, help="Set exactly this version.")
def command(session: Session, name: Name, part: Part | None, to: Version | None) -> Report:
    """Set a procedure's version in its file to the lowest that its changes require, keeping comments and layout."""
    if part is not None and to is not None:
        raise UsageError("say either --part or --to VERSION", code="part-or-version")
    return bump(session, name, part, to)
