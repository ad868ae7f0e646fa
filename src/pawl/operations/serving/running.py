"""Runs from the command line: the ledger for agents in any language."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Any

from pawl.canonical import sha256
from pawl.errors import NotFoundError, PawlError, UsageError
from pawl.ids import Channel, Digest, Name, Ref, Version
from pawl.operations.session import Report, Session
from pawl.operations.world import published_in
from pawl.problems import Problem
from pawl.registry.snapshot import Entry
from pawl.runs.ledger import Ledger
from pawl.runs.recording import run_start, use_of
from pawl.runs.rows import Affected, Checkpoint, RunRow
from pawl.runs.run import new_run_id
from pawl.runs.snapshot_view import not_pinned, raise_withheld
from pawl.runs.views import open_channel
from pawl.workspace import Workspace

_SHOWN_IDS = 3


def run_begin(session: Session, channel: Channel, agent: str, session_name: str | None) -> Report:
    """Record the start of a run on a channel as it is now."""
    view = open_channel(session.workspace, channel)
    start = run_start(new_run_id(), view, agent, session_name, session.now)
    with _ledger(session) as ledger:
        ledger.start(start)
    data = {"run_id": start.run_id, "channel": channel, "serial": start.serial, "snapshot": start.snapshot}
    return Report(status="done", data={**data, "pins": {name: pin["version"] for name, pin in start.pins.items()}})


def run_use(session: Session, run_id: str, name: Name, *, with_document: bool) -> Report:
    """Record a use of what the run has pinned under a name; raises where it was halted or revoked since."""
    with _ledger(session) as ledger:
        run = ledger.open_run(run_id)
        pin = run.pins.get(name)
        if pin is None:
            raise not_pinned(name, Channel(run.channel))
        view = open_channel(session.workspace, Channel(run.channel))
        published = view.catalog.published.get(Ref(name, Version(pin["version"])))
        if published is None or published.digest != pin["digest"]:
            raise NotFoundError(
                f"{name}@{pin['version']} of run {run_id} is not in this registry", code="version-unknown"
            )
        entry = Entry(
            kind=published.kind,
            name=name,
            version=published.version,
            digest=Digest(published.digest),
            requires=published.requires,
        )
        withheld = view.refusal(entry, session.now)
        if withheld is not None:
            ledger.checkpoint(run_id, Checkpoint(at=session.at, serial=view.serial, stopped=True))
            raise_withheld(withheld)
        document = session.workspace.procedure(published).document
        seq = ledger.use(run_id, use_of(entry, session.now), serial=view.serial)
    data: dict[str, Any] = {
        "run_id": run_id,
        "seq": seq,
        "name": name,
        "kind": entry.kind,
        "version": entry.version,
        "digest": entry.digest,
        "channel": run.channel,
        "serial": run.serial,
        "stale": False,
    }
    return Report(status="done", data={**data, "document": document} if with_document else data)


def run_end(session: Session, run_id: str, outcome: str) -> Report:
    """Record how a run ended."""
    if not outcome.strip() or len(outcome) > 200:
        raise UsageError("an outcome has 1 to 200 characters", code="outcome-bad")
    with _ledger(session) as ledger:
        changed = ledger.end(run_id, outcome, session.at)
        run = ledger.show(run_id)
    assert run is not None  # noqa: S101 - it was ended just now
    note = Problem(code="unchanged", severity="note", message=f"the run {run_id} ended as {outcome} before")
    return Report(status="done" if changed else "unchanged", problems=() if changed else (note,), data=run_row(run))


def runs_list(session: Session, *, agent: str | None, channel: Channel | None, open_only: bool, limit: int) -> Report:
    """Report runs, newest first."""
    rows: tuple[RunRow, ...] = ()
    if _has_ledger(session):
        with _ledger(session) as ledger:
            rows = ledger.runs(agent=agent, channel=channel, open_only=open_only, limit=limit)
    return Report(status="done", problems=_elsewhere(session, rows), data={"runs": [run_row(run) for run in rows]})


def runs_show(session: Session, run_id: str) -> Report:
    """Report one run with everything that it used."""
    unknown = NotFoundError(f"there is no run {run_id[:100]}", code="run-unknown", hint="pawl runs list shows them")
    if not _has_ledger(session):
        raise unknown
    with _ledger(session) as ledger:
        run = ledger.show(run_id)
        uses = ledger.uses(run_id)
    if run is None:
        raise unknown
    rows = [
        {"seq": use.seq, "at": use.at, "kind": use.kind, "name": use.name, "version": use.version, "digest": use.digest}
        for use in uses
    ]
    data = {**run_row(run), "pins": dict(run.pins), "uses": rows}
    return Report(status="done", problems=_elsewhere(session, (run,)), data=data)


def runs_affected(session: Session, ref: Ref, *, since: str | None, until: str | None) -> Report:
    """Report the runs that used a version, and those that had it pinned without using it.

    Raises ``NotFoundError`` for a version that neither the ledger nor the registry knows: "0 runs" would say of a
    typing error that nothing was affected.
    """
    found = Affected(used=(), pinned_only=())
    known = False
    if _has_ledger(session):
        with _ledger(session) as ledger:
            found = ledger.affected(ref, since=since, until=until)
            whole = found if since is None and until is None else ledger.affected(ref)
            known = bool(whole.used or whole.pinned_only)
    if not known:
        published_in(session.workspace.catalog(), ref)
    return Report(
        status="done",
        problems=_elsewhere(session, (*found.used, *found.pinned_only)),
        data={
            "ref": str(ref),
            "used": [run_row(run) for run in found.used],
            "pinned_only": [run_row(run) for run in found.pinned_only],
        },
    )


def _elsewhere(session: Session, runs: Sequence[RunRow]) -> tuple[Problem, ...]:
    """Warn of runs that began on no record of this workspace: a ledger has no seal, and can come from anywhere.

    A damaged record says nothing of them.
    """
    channels = frozenset(session.workspace.channels()) if runs else frozenset()
    known = {(run.channel, run.serial, run.snapshot) for run in runs}
    strange = {began for began in known if not _may_begin(session.workspace, channels, *began)}
    ids = [run.run_id for run in runs if (run.channel, run.serial, run.snapshot) in strange]
    if not ids:
        return ()
    shown = ", ".join(ids[:_SHOWN_IDS]) + (", ..." if len(ids) > _SHOWN_IDS else "")
    message = f"of these runs {len(ids)} began on no record of this workspace: {shown}"
    hint = (
        "a .pawl/ of another workspace came here, or they began on a snapshot file, on another branch, "
        "or on a record that was taken back"
    )
    return (Problem(code="run-elsewhere", severity="warning", message=message, hint=hint),)


def _may_begin(workspace: Workspace, channels: Collection[str], channel: str, serial: int, snapshot: str) -> bool:
    """Whether a run may have begun on this state of a channel, given what the run calls it."""
    if serial == 0:
        return snapshot == sha256(b"")
    if channel not in channels or not workspace.record_file(channel, serial).exists():
        return False
    try:
        return workspace.record(channel, serial).digest == snapshot
    except PawlError:
        return True


def run_row(run: RunRow) -> dict[str, Any]:
    """Return a run as one row; ``finished`` is false for one that never ended."""
    fields = (
        "run_id",
        "agent",
        "session",
        "channel",
        "serial",
        "snapshot",
        "policy",
        "started_at",
        "ended_at",
        "outcome",
    )
    return {**{name: getattr(run, name) for name in fields}, "finished": run.ended_at is not None}


def _has_ledger(session: Session) -> bool:
    """Whether there are runs to read; who only reads makes no file, which a read-only checkout would not take."""
    return os.path.lexists(session.workspace.ledger_file)


def _ledger(session: Session) -> Ledger:
    session.workspace.make_private()
    return Ledger(session.workspace.ledger_file)
