"""Looking: status, list, show and history. Nothing here changes anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pawl.errors import InvalidError
from pawl.ids import Channel, Name, Ref, Version
from pawl.operations.session import Report, Session
from pawl.operations.sources import read_settings_file
from pawl.operations.world import World, missing_version, read_world
from pawl.problems import Problem
from pawl.registry.catalog import Published
from pawl.registry.channels import MOVING_ACTIONS, ChannelState, empty_channel, fold_channel
from pawl.registry.journal import Record
from pawl.registry.versions import newest_first


def status(session: Session) -> Report:
    """Report every channel's pins, and everything about them that somebody should know."""
    world = read_world(session.workspace)
    policy = world.catalog.policy
    channels = sorted({*world.channels, *(policy.channels if policy else ())})
    problems: list[Problem] = []
    rows = []
    for channel in channels:
        state = world.channels.get(channel) or empty_channel(channel)
        rows.append(_channel_row(session, world, state, problems))
    if policy is None:
        problems.append(
            Problem(
                code="no-policy",
                severity="warning",
                message="no policy has been adopted, so nothing can be promoted",
                hint='pawl policy adopt --reason "..."',
            )
        )
    try:
        read_settings_file(session.workspace)
    except InvalidError as error:
        problems += (replace(problem, severity="warning") for problem in error.problems)
    data = {
        "policy": policy.number if policy else None,
        "registry_serial": world.catalog.head.serial,
        "published": len(world.catalog.published),
        "channels": rows,
    }
    return Report(status="done", problems=tuple(problems), data=data)


def _channel_row(session: Session, world: World, state: ChannelState, problems: list[Problem]) -> dict[str, Any]:
    pins = []
    for name, pin in sorted(state.pins.items()):
        withdrawal = world.catalog.withdrawal(pin.ref)
        halt = state.halted(name)
        gone = not session.workspace.procedure_file(name).exists()
        pins.append(
            {
                "name": name,
                "kind": pin.kind,
                "version": pin.version,
                "digest": pin.digest,
                "since": pin.since,
                "halted": halt.as_dict() if halt else None,
                "withdrawn": withdrawal.level if withdrawal else None,
                "file_gone": gone,
            }
        )
        if withdrawal:
            message = f"{pin.ref} is {withdrawal.level} and pinned on {state.channel}: {withdrawal.reason}"
            problems.append(Problem(code=withdrawal.level, severity="warning", message=message))
        if halt:
            message = f"{name} is halted on {state.channel} by {halt.by} since {halt.at}: {halt.reason}"
            problems.append(Problem(code="halted", severity="warning", message=message))
        if not session.workspace.frozen_file(pin.ref).exists():
            message = f"the frozen file of {pin.ref}, pinned on {state.channel}, is gone: it is not served"
            hint = "restore it from Git; pawl verify names everything that does not fit"
            problems.append(Problem(code="frozen-changed", severity="warning", message=message, hint=hint))
        if gone:
            message = f"{pin.ref} is pinned on {state.channel}, and procedures/{name}.yaml is gone"
            hint = f'if it is no longer wanted: pawl remove {name} --channel {state.channel} --reason "..."'
            problems.append(Problem(code="file-gone", severity="warning", message=message, hint=hint))
    rejections = [
        {**rejection.as_dict(), "holds": rejection.holds(session.at)} for rejection in state.rejections.values()
    ]
    policy = world.catalog.policy
    return {
        "channel": state.channel,
        "after": policy.channels.get(state.channel) if policy else None,
        "serial": state.head.serial,
        "pins": pins,
        "rejections": rejections,
    }


def list_published(session: Session, words: Sequence[str], kind: str | None) -> Report:
    """Report every published procedure whose name holds all of ``words``, with its newest version and its pins."""
    world = read_world(session.workspace)
    rows = []
    for name in sorted({ref.name for ref in world.catalog.published}):
        versions = {item.version: item for item in world.catalog.versions_of(name)}
        newest = versions[newest_first(versions)[0]]
        if all(word in name for word in words) and kind in {None, newest.kind}:
            rows.append(
                {
                    "name": name,
                    "kind": newest.kind,
                    "newest": newest.version,
                    "versions": len(versions),
                    "pins": {
                        channel: state.pins[name].version
                        for channel, state in world.channels.items()
                        if name in state.pins
                    },
                }
            )
    return Report(status="done", data={"procedures": rows})


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
    data: dict[str, Any] = {"channel": channel, "records": [history_row(record) for record in records]}
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
    for key in ("name", "version", "ref"):
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
