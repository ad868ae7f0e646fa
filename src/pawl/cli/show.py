"""pawl show."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import click

from pawl.cli.command import NAME_OR_REF, pawl_command
from pawl.cli.output import table
from pawl.ids import Name, Version
from pawl.operations.session import Report, Session


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "versions" in data:
        rows = [
            (
                row["version"],
                row["kind"],
                row["published"],
                (row["withdrawn"] or {}).get("level", ""),
                ", ".join(row["pinned_on"]),
                row["digest"],
            )
            for row in data["versions"]
        ]
        yield from table(("version", "kind", "published", "", "pinned on", "digest"), rows)
    elif "document" in data:
        yield f"{data['name']}@{data['version']} ({data['kind']}), published {data['published']}"
        yield f"digest {data['digest']}"
        if data["pinned_on"]:
            yield f"pinned on {', '.join(data['pinned_on'])}"
        yield json.dumps(data["document"], indent=2, ensure_ascii=False)


@pawl_command("show", lines=lines)
@click.argument("asked", metavar="NAME[@VERSION]", type=NAME_OR_REF)
def command(session: Session, asked: tuple[Name, Version | None]) -> Report:
    """Show one published version with its document, or all versions of a name."""
    from pawl.operations.observing.looking import show  # noqa: PLC0415 - not for shells that complete

    return show(session, *asked)
