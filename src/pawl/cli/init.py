"""pawl init."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from pawl.cli.command import pawl_command
from pawl.cli.shell import Shell
from pawl.operations.session import Report


def file_lines(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield each file that was written."""
    yield from (f"wrote {path}" for path in data.get("files", []))


@pawl_command("init", lines=file_lines, workspace=False)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), required=False)
def command(shell: Shell, folder: Path | None) -> Report:
    """Make a workspace here, or in FOLDER: an example with its suite, a first policy, and the channels.

    It passes check as it is. Files that exist stay as they are, and nothing is committed.
    """
    from pawl.operations.authoring.creating import init  # noqa: PLC0415 - not for shells that complete

    return init(shell.folder / folder if folder else shell.folder)
