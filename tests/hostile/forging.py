"""What an enemy with a text editor and pawl's own source can do to a workspace: records with fitting digests."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hostile.stored import sealed
from pawl.canonical import record_bytes
from pawl.ids import Channel
from pawl.registry.channels import fold_channel, projection
from pawl.registry.channels_fold import follow
from pawl.registry.channels_projection import state_digest
from pawl.registry.channels_state import empty_channel
from pawl.registry.journal import chain
from support import Shop


def fields_of(shop: Shop, journal: str) -> list[dict[str, Any]]:
    """Return the fields of every record of a journal."""
    return [json.loads(path.read_bytes()) for path in sorted((shop.root / "releases" / journal).glob("*.json"))]


def write_journal(shop: Shop, journal: str, rows: list[dict[str, Any]]) -> None:
    """Write a whole journal anew, so that serials, chain, states and the projection fit what the rows say."""
    folder = shop.root / "releases" / journal
    for path in folder.glob("*.json"):
        path.unlink()
    files: list[tuple[int, bytes]] = []
    for serial, row in enumerate(rows, 1):
        row |= {"serial": serial, "previous": json.loads(files[-1][1])["digest"] if files else None}
        if journal != "registry":
            state = empty_channel(Channel(journal))
            for record in chain(journal, [*files, (serial, sealed(row))]):
                state = follow(state, record)
            row["state"] = state_digest(state)
        files.append((serial, sealed(row)))
    for serial, data in files:
        (folder / f"{serial:06d}.json").write_bytes(data)
    path = shop.root / "registry" / "channels" / f"{journal}.json"
    if journal != "registry" and files:
        path.write_bytes(record_bytes(projection(fold_channel(Channel(journal), chain(journal, files)))))
    elif journal != "registry":
        path.unlink()


def forge(shop: Shop, journal: str, change: Callable[[list[dict[str, Any]]], Any]) -> None:
    """Change the rows of a journal and write it anew."""
    rows = fields_of(shop, journal)
    change(rows)
    write_journal(shop, journal, rows)
