"""Whether somebody moved what a command meant to leave, between its first attempt and the next.

A command that lost a race is judged again on the new state. What it would do there may be another thing: a rollback
that found 1.0.3 live goes to 1.0.2, and on the state of somebody who did the same it would go to 1.0.1. Nobody asked
for that, so such a command stops.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pawl.operations.session import Report
from pawl.registry.channels_fold import MOVING_ACTIONS
from pawl.registry.journal import Record
from pawl.workspace import Workspace

SHOWN = 3
"""How many names a message speaks of one by one."""


def overtaken(workspace: Workspace, first: Report, again: Report | None) -> str | None:
    """Return who moved what the ``first`` attempt would have moved, in words; None if all of it is as it found it.

    ``again`` is what the next attempt came to, None if it ended with an error; its own record does not count, and
    neither does anything where there is nothing left to do.
    """
    left = {row["name"]: row for row in first.data.get("moves", ())}
    if not left or (again is not None and again.status == "unchanged"):
        return None
    own = again.data.get("serial") if again else None
    records = [record for record in workspace.journal(first.data["channel"]) if record.serial != own]
    found = [said for name, row in left.items() if (said := _moved(name, row, records))]
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return "; ".join(found[:SHOWN]) + more if found else None


def _moved(name: str, row: Mapping[str, Any], records: list[Record]) -> str | None:
    for record in reversed(records):
        if record.action not in MOVING_ACTIONS:
            continue
        for move in record.body["moves"]:
            if move["name"] == name:
                live = move["to"] or {}
                if live.get("digest") == row["from_digest"]:
                    return None
                where = f"from {row['from'] or 'nothing'} to {live.get('version') or 'nothing'}"
                return f"{record.actor} moved {name} {where} ({record.action}, {record.journal} {record.serial})"
    return None
