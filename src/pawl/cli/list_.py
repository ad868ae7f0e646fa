"""pawl list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from pawl.cli.command import pawl_command
from pawl.cli.output import table
from pawl.operations.session import Report, Session


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    rows = [
        (
            row["name"],
            row["kind"],
            row["newest"],
            row["versions"],
            ", ".join(f"{channel} {version}" for channel, version in row["pins"].items()),
        )
        for row in data.get("procedures", [])
    ]
    yield from table(("name", "kind", "newest", "versions", "pinned"), rows)
    if not rows:
        yield "nothing published fits"


@pawl_command("list", lines=lines)
@click.argument("words", nargs=-1)
@click.option("--kind", help="Only procedures of this kind.")
def command(session: Session, words: Sequence[str], kind: str | None) -> Report:
    """List published procedures whose names hold all of WORDS."""
    from pawl.operations.observing.looking import list_published  # noqa: PLC0415 - not for shells that complete

    return list_published(session, words, kind)
