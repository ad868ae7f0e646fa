"""pawl publish."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from pawl.cli.command import NAME, dry_run_option, pawl_command
from pawl.cli.output import table
from pawl.ids import Name
from pawl.operations.session import Report, Session


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    rows = [(row["name"], row["version"], row["kind"], row["digest"]) for row in data.get("published", [])]
    yield from table(("name", "version", "kind", "digest"), rows)
    if data.get("serial"):
        yield f"record {data['serial']} of the registry"


@pawl_command("publish", lines=lines, writes=True)
@click.argument("names", type=NAME, nargs=-1)
@dry_run_option
def command(session: Session, names: Sequence[Name], dry_run: bool) -> Report:
    """Freeze the exact bytes of new versions, all under one record; every new one without NAMES.

    Changed content under a published version is refused. No channel moves.
    """
    from pawl.operations.authoring.publishing import publish  # noqa: PLC0415 - not for shells that complete

    return publish(session, names, dry_run=dry_run)
