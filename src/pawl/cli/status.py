"""pawl status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pawl.cli.command import pawl_command
from pawl.cli.output import table
from pawl.operations.looking import status
from pawl.operations.session import Report, Session


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "channels" not in data:
        return
    yield f"policy {data['policy'] or 'none'}, {data['published']} published versions"
    for row in data["channels"]:
        after = f", after {row['after']}" if row["after"] else ""
        yield f"{row['channel']}: serial {row['serial']}{after}, {len(row['pins'])} pins"
        pins = [
            (
                pin["name"],
                pin["version"],
                pin["kind"],
                pin["since"],
                " ".join(filter(None, ["halted" if pin["halted"] else "", pin["withdrawn"] or ""])),
            )
            for pin in row["pins"]
        ]
        yield from table(("name", "version", "kind", "since", ""), pins)
        held = [
            (item["ref"], item["cause"], item["by"], item["at"], item["reason"])
            for item in row["rejections"]
            if item["holds"]
        ]
        yield from table(("kept off", "cause", "by", "at", "reason"), held)


@pawl_command("status", lines=lines)
def command(session: Session) -> Report:
    """Show every channel's pins, what is kept off it, and what somebody should know."""
    return status(session)
