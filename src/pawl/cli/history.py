"""pawl history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import click

from pawl.canonical import timestamp
from pawl.cli.command import CHANNEL, MOMENT, pawl_command
from pawl.cli.output import table
from pawl.ids import Channel
from pawl.operations.session import Report, Session


def _what(row: Mapping[str, Any]) -> str:
    if "moves" in row:
        return ", ".join(f"{move['name']} {move['from'] or '-'} -> {move['to'] or '-'}" for move in row["moves"])
    if "attempt" in row:
        return f"{row['attempt']['action']} {' '.join(row['attempt']['refs'])} (exit {row['exit_code']})"
    if "drilled" in row:
        allowed = sum(target["allowed"] for target in row["drilled"])
        return f"{allowed} of {len(row['drilled'])} ways back are open"
    return row.get("ref") or row.get("name") or _granted(row)


def _granted(row: Mapping[str, Any]) -> str:
    """What an approval, a waiver or a freeze is about."""
    if "waiver" in row:
        waiver = row["waiver"]
        return (
            f"rule {waiver['rule']} for {waiver['name']} {waiver['versions'] or ''}".rstrip()
            + f" until {waiver['until']}"
        )
    if "freeze" in row:
        return f"{', '.join(row['freeze']['actions'])} until {row['freeze']['until']}"
    if "freezes" in row:
        return f"freeze {', '.join(map(str, row['freezes']))}"
    refs = [approval["ref"] for approval in row.get("approvals", ())]
    return ", ".join((*refs, *(f"waiver {serial}" for serial in row.get("waivers", ()))))


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    rows = [
        (row["serial"], row["at"], row["action"], row["actor"]["name"], row["policy"], _what(row), row["reason"])
        for row in data.get("records", [])
    ]
    yield from table(("serial", "at", "action", "by", "policy", "what", "reason"), rows)
    for row in data.get("records", []):
        yield from (f"  {row['serial']} was refused: {finding['message']}" for finding in row.get("why", []))
    if "records" in data and not rows:
        yield f"nothing has happened on {data['channel']}"
    if "pins" in data:
        yield f"pins on {data['channel']} at {data['at']} (serial {data['serial']}, policy {data['policy'] or 'none'}):"
        yield from table(("name", "version"), [(name, pin["version"]) for name, pin in data["pins"].items()])


@pawl_command("history", lines=lines)
@click.argument("channel", type=CHANNEL)
@click.option("--at", type=MOMENT, help="Only up to this moment, and the pins as they were then.")
def command(session: Session, channel: Channel, at: datetime | None) -> Report:
    """Show every attempt on a channel, oldest first; refused ones are rows too."""
    from pawl.operations.observing.looking import history  # noqa: PLC0415 - not for shells that complete

    return history(session, channel, timestamp(at) if at else None)
