"""pawl render."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from pawl.cli.command import CHANNEL, NAME_OR_REF, pawl_command
from pawl.errors import UsageError
from pawl.ids import Channel, Name, Ref, Version
from pawl.operations.session import Report, Session


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "messages" not in data:
        return
    yield f"{data['name']}@{data['version']}: {data['tokens']['count']} tokens ({data['tokens']['method']})"
    for message in data["messages"]:
        yield f"--- {message['role']}"
        yield message["content"]


@pawl_command("render", lines=lines)
@click.argument("asked", metavar="NAME[@VERSION]", type=NAME_OR_REF)
@click.option("--channel", type=CHANNEL, help="Render what this channel serves under a bare NAME.")
@click.option("--input", "pairs", multiple=True, metavar="NAME=VALUE", help="An input; JSON, or else text.")
@click.option(
    "--inputs", "file", type=click.Path(path_type=Path, allow_dash=True), help="A JSON object with inputs; - reads it."
)
def command(
    session: Session,
    asked: tuple[Name, Version | None],
    channel: Channel | None,
    pairs: Sequence[str],
    file: Path | None,
) -> Report:
    """Render a published prompt, or what a channel serves, exactly as an agent would get it."""
    from pawl.operations.observing.reading import read_inputs  # noqa: PLC0415 - not for shells that complete
    from pawl.operations.serving.serving import render_pinned, render_version  # noqa: PLC0415 - not for shells that complete

    name, version = asked
    if (version is None) == (channel is None):
        raise UsageError(
            f"which {name}? Write {name}@X.Y.Z, or {name} with --channel; there is no implicit latest",
            code="version-missing",
        )
    inputs = read_inputs(pairs, file)
    if version is not None:
        return render_version(session, Ref(name, version), inputs)
    assert channel is not None  # noqa: S101 - one of the two is given, as was just checked
    return render_pinned(session, name, channel, inputs)
