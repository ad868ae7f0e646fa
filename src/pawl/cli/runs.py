"""pawl runs list, show and affected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import click

from pawl.canonical import timestamp
from pawl.cli.command import CHANNEL, MOMENT, REF, pawl_command
from pawl.cli.output import table
from pawl.ids import Channel, Ref
from pawl.operations.session import Report, Session

_HEAD = ("run", "agent", "channel", "serial", "started", "ended", "outcome")


@click.group("runs")
def command() -> None:
    """What ran, with which versions, and how it ended."""


def _rows(rows: list[dict[str, Any]]) -> list[tuple[object, ...]]:
    return [
        (
            row["run_id"],
            row["agent"],
            row["channel"],
            row["serial"],
            row["started_at"],
            row["ended_at"] or "unfinished",
            row["outcome"] or "",
        )
        for row in rows
    ]


def _list_lines(data: Mapping[str, Any]) -> Iterator[str]:
    yield from table(_HEAD, _rows(data.get("runs", [])))
    if data.get("runs") == []:
        yield "no run fits"


@pawl_command("runs list", lines=_list_lines)
@click.option("--agent", help="Only runs of this agent.")
@click.option("--channel", type=CHANNEL, help="Only runs on this channel.")
@click.option("--open", "open_only", is_flag=True, help="Only runs that have not ended.")
@click.option("--limit", type=click.IntRange(min=1, max=100_000), default=100, show_default=True, help="At most.")
def list_(session: Session, agent: str | None, channel: Channel | None, open_only: bool, limit: int) -> Report:
    """List runs, newest first."""
    from pawl.operations.serving.running import runs_list  # noqa: PLC0415 - not for shells that complete

    return runs_list(session, agent=agent, channel=channel, open_only=open_only, limit=limit)


def _show_lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "run_id" not in data:
        return
    yield from table(_HEAD, _rows([dict(data)]))
    uses = [(use["seq"], use["at"], use["name"], use["version"], use["kind"]) for use in data["uses"]]
    yield from table(("use", "at", "name", "version", "kind"), uses)
    if not uses:
        yield "it used nothing"


@pawl_command("runs show", lines=_show_lines)
@click.argument("run_id")
def show(session: Session, run_id: str) -> Report:
    """Show one run: its state, everything it used, and how it ended."""
    from pawl.operations.serving.running import runs_show  # noqa: PLC0415 - not for shells that complete

    return runs_show(session, run_id)


def _affected_lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "used" not in data:
        return
    yield f"{len(data['used'])} runs used {data['ref']}, {len(data['pinned_only'])} had it pinned and did not use it"
    yield from table(_HEAD, _rows(data["used"]))


@pawl_command("runs affected", lines=_affected_lines)
@click.argument("ref", type=REF)
@click.option("--since", type=MOMENT, help="Only uses from this moment on.")
@click.option("--until", type=MOMENT, help="Only uses before this moment.")
def affected(session: Session, ref: Ref, since: datetime | None, until: datetime | None) -> Report:
    """List the runs that used a version, and those that had it pinned without using it."""
    from pawl.operations.serving.running import runs_affected  # noqa: PLC0415 - not for shells that complete

    return runs_affected(
        session, ref, since=timestamp(since) if since else None, until=timestamp(until) if until else None
    )


for _made in (list_, show, affected):
    command.add_command(_made)
