"""pawl run start, use and end: the ledger for agents in any language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from pawl.cli.command import NAME, channel_option, pawl_command
from pawl.ids import Channel, Name
from pawl.operations.session import Report, Session


@click.group("run")
def command() -> None:
    """A run keeps one state of a channel from start to end, and records what it used and how it ended."""


def _lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "run_id" in data:
        yield f"run {data['run_id']} on {data['channel']}, serial {data['serial']}"
    if "version" in data:
        yield f"{data['name']}@{data['version']} ({data['kind']})"
    if data.get("outcome"):
        yield f"outcome {data['outcome']}"


@pawl_command("run start", lines=_lines)
@channel_option
@click.option("--agent", required=True, help="Which agent runs.")
@click.option("--session", "session_name", help="The conversation or job that the run belongs to.")
def start(session: Session, channel: Channel, agent: str, session_name: str | None) -> Report:
    """Start a run on a channel as it is now; answers a run_id."""
    from pawl.operations.serving.running import run_begin  # noqa: PLC0415 - not for shells that complete

    return run_begin(session, channel, agent, session_name)


@pawl_command("run use", lines=_lines)
@click.argument("run_id")
@click.argument("name", type=NAME)
@click.option("--document", "with_document", is_flag=True, help="Give the whole document too.")
def use(session: Session, run_id: str, name: Name, with_document: bool) -> Report:
    """Record that a run uses NAME, and say which version that is; refused where it was halted or revoked since."""
    from pawl.operations.serving.running import run_use  # noqa: PLC0415 - not for shells that complete

    return run_use(session, run_id, name, with_document=with_document)


@pawl_command("run end", lines=_lines)
@click.argument("run_id")
@click.option("--outcome", required=True, help="How the run ended.")
def end(session: Session, run_id: str, outcome: str) -> Report:
    """End a run with its outcome."""
    from pawl.operations.serving.running import run_end  # noqa: PLC0415 - not for shells that complete

    return run_end(session, run_id, outcome)


for _made in (start, use, end):
    command.add_command(_made)
