"""How recorded interventions are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def intervention_lines(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was recorded and where."""
    if not data.get("serial"):
        return
    where = f"on {data['channel']}" if "channel" in data else "in the registry"
    what = data.get("action") or data.get("level") or "restored"
    about = data.get("ref") or data.get("name") or ", ".join(row["ref"] for row in data.get("rejects", []))
    yield f"{what} {about} {where}: record {data['serial']}"


def recorded_line(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield under which number something was recorded, by whom, and whether that is vouched for."""
    if not data.get("by"):
        return
    by = data["by"]
    who = f"{by['name']} <{by['email']}>" if by["email"] else by["name"]
    signed = "verified" if by["verified"] else "signed, not verified" if data["signed"] else "not signed"
    where = f"record {data['serial']}" if data.get("serial") else "nothing was recorded"
    yield f"{data['action']} on {data['channel']} by {who} ({signed}): {where}"
