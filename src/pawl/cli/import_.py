"""pawl import."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from pawl.cli.command import VERSION, pawl_command
from pawl.cli.output import table
from pawl.ids import Version
from pawl.operations.session import Report, Session


@click.group("import")
def command() -> None:
    """Bring procedures into the work tree; nothing that is imported is run, fetched or published."""


def _lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "tools" not in data:
        return
    changed = [(row["state"], row["name"], row["path"]) for row in data["tools"] if row["state"] != "same"]
    yield from table(("state", "name", "file"), changed)
    counts = ", ".join(f"{data[state]} {state}" for state in ("new", "changed", "same", "refused"))
    yield f"{data['found']} tools found: {counts}"


@pawl_command("import mcp", lines=_lines)
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--prefix", help="Names begin with this, such as github for github/create_issue.")
@click.option(
    "--version", type=VERSION, default="0.1.0", show_default=True, help="The version of new tools; none goes down."
)
@click.option("--owner", help="Who answers for the tools.")
@click.option("--skip-unusable", is_flag=True, help="Leave out tools that cannot be used, by name, and write the rest.")
def mcp(
    session: Session, file: Path, prefix: str | None, version: Version, owner: str | None, skip_unusable: bool
) -> Report:
    """Import MCP tools: a tools/list answer, a list of tools, or one tool, as JSON; - reads standard input.

    A tool that cannot be used is refused by name, and then nothing is written.
    """
    from pawl.operations.authoring.importing import import_mcp  # noqa: PLC0415 - not for shells that complete

    return import_mcp(session, file, prefix=prefix, version=version, owner=owner, skip_unusable=skip_unusable)


command.add_command(mcp)
