"""pawl diff."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import click

from pawl.cli.command import NAME_OR_REF, pawl_command
from pawl.cli.output import paint
from pawl.ids import Name, Version
from pawl.operations.diffing import diff
from pawl.operations.session import Report, Session

_COLOURS = {"major": "red", "minor": "yellow", "patch": "green"}


def _shown(value: Any) -> str:
    return value if isinstance(value, str) and "\n" not in value else json.dumps(value, ensure_ascii=False)


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "changes" not in data:
        return
    yield f"{data['from']['name']}@{data['from']['version']} -> {data['to']['where']} ({data['to']['version']})"
    for change in data["changes"]:
        flags = f" ({', '.join(change['flags'])})" if change["flags"] else ""
        level = paint(change["level"], _COLOURS[change["level"]], bold=True)
        yield f"{level} {change['path'] or '/'}: {change['code']}{flags}"
        yield f"    {change['reason']}"
        if "old" in change:
            yield paint(f"    - {_shown(change['old'])}", "red")
        if "new" in change:
            yield paint(f"    + {_shown(change['new'])}", "green")
    yield f"required: {data['required']}"


@pawl_command("diff", lines=lines)
@click.argument("old", metavar="NAME[@VERSION]", type=NAME_OR_REF)
@click.argument("new", metavar="[NAME[@VERSION]]", type=NAME_OR_REF, required=False)
def command(session: Session, old: tuple[Name, Version | None], new: tuple[Name, Version | None] | None) -> Report:
    """Show every change between two versions, or from one to the work tree, and the bump it requires.

    A bare first NAME means its newest published version; a bare second one, or none, the file in the work tree.
    """
    return diff(session, old, new)
