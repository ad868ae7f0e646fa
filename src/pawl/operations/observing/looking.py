"""Looking: show and history. Nothing here changes anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pawl.ids import Channel, Name, Ref, Version
from pawl.operations.clocks import set_back
from pawl.operations.session import Report, Session
from pawl.operations.world import World, missing_version, read_world
from pawl.registry.catalog import Published
from pawl.registry.channels import MOVING_ACTIONS, fold_channel
from pawl.registry.journal import Record


def show(session: Session, name: Name, version: Version | None) -> Report:
    """Report one version with its document, or all versions of a name."""
    world = read_world(session.workspace)
    if version is None:
        versions = world.catalog.versions_of(name)
        if not versions:
            raise missing_version(Ref(name, Version("0.0.0")), [])
        return Report(status="done", data={"name": name, "versions": [_version_row(world, item) for item in versions]})
    published = world.published(Ref(name, version))
    procedure = session.workspace.procedure(published)
    return Report(status="done", data={**_version_row(world, published), "document": procedure.document})


def _version_row(world: World, item: Published) -> dict[str, Any]:
    withdrawal = world.catalog.withdrawal(item.ref)
    return {
        "name": item.name,
        "kind": item.kind,
        "version": item.version,
        "digest": item.digest,
        "file": item.file,
        "serial": item.serial,
        "published": item.at,
        "withdrawn": {"level": withdrawal.level, "reason": withdrawal.reason, "at": withdrawal.at}
        if withdrawal
        else None,
        "pinned_on": [
            channel
            for channel, state in world.channels.items()
            if item.name in state.pins and state.pins[item.name].digest == item.digest
        ],
    }


def history(session: Session, channel: Channel, at: str | None) -> Report:
    """Report every attempt on a channel, oldest first; with ``at``, the pins as they were at that moment too.

    ``at`` is RFC 3339 in UTC to the second; a record of that very second counts as made.
    """
    world = read_world(session.workspace)
    world.channel(channel)
    records = session.workspace.journal(channel)
    if at is not None:
        records = _until(records, at)
    back = set_back(records)
    rows = [{**history_row(row), **({"clock_back": True} if row.serial in back else {})} for row in records]
    data: dict[str, Any] = {"channel": channel, "records": rows}
    if at is not None:
        state = fold_channel(channel, records)
        data["at"] = at
        data["pins"] = {name: pin.as_dict() for name, pin in sorted(state.pins.items())}
        data["serial"] = state.head.serial
        data["policy"] = records[-1].body["policy"] if records else None
    return Report(status="done", data=data)


def _until(records: Sequence[Record], at: str) -> tuple[Record, ...]:
    """Return the records up to the last one made at or before ``at``: order is by serial, whatever clocks said."""
    last = max((record.serial for record in records if record.at <= at), default=0)
    return tuple(record for record in records if record.serial <= last)


def history_row(record: Record) -> dict[str, Any]:
    """Return one record as a row of the history."""
    row: dict[str, Any] = {
        "serial": record.serial,
        "action": record.action,
        "at": record.at,
        "actor": record.actor.as_dict(),
        "reason": record.reason,
        "policy": record.body["policy"],
        "digest": record.digest,
    }
    if record.action in MOVING_ACTIONS:
        row["moves"] = [_move_row(move) for move in record.body["moves"]]
    if record.action == "refused":
        row["attempt"] = record.body["attempt"]
        row["exit_code"] = record.body["exit_code"]
        row["why"] = [finding for finding in record.body["verdict"]["findings"] if "exit_code" in finding]
    if record.action == "drill":
        row["last"] = record.body["last"]
        row["drilled"] = record.body["drilled"]
    for key in ("name", "version", "ref", "approvals", "waivers", "waiver", "freeze", "freezes"):
        if key in record.body:
            row[key] = record.body[key]
    if record.action == "reject":
        row["ref"] = record.body["rejects"][0]["ref"]
        row["until"] = record.body["rejects"][0]["until"]
    return row


def _move_row(move: dict[str, Any]) -> dict[str, Any]:
    before, after = move["from"] or {}, move["to"] or {}
    return {
        "name": move["name"],
        "from": before.get("version"),
        "to": after.get("version"),
        "from_digest": before.get("digest"),
        "to_digest": after.get("digest"),
    }
