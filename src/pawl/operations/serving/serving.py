"""Serving from the command line: what an agent would get."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import MAXYEAR, datetime, timedelta
from pathlib import Path
from typing import Any

from pawl.errors import Faulty, InvalidError, UsageError, WithheldError
from pawl.ids import Channel, Name, Ref
from pawl.io.files import replace as replace_file
from pawl.io.files import sweep_ended
from pawl.operations.session import Report, Session
from pawl.policy.verdict import INTEGRITY
from pawl.problems import Fault, Problem, pointer
from pawl.procedures.procedure import Procedure
from pawl.registry.snapshot import Entry, read_snapshot
from pawl.runs.snapshot_view import procedure_of, raise_withheld, served_row
from pawl.runs.views import open_channel, take_snapshot
from pawl.workspace import check_output


def resolve(session: Session, name: Name, channel: Channel, *, with_document: bool) -> Report:
    """Report the version that a channel serves under a name, or why it is not served and what leads on."""
    view = open_channel(session.workspace, channel)
    entry = view.entry(name, session.now)
    if entry.withheld is not None:
        return _refused(session, entry, channel)
    data = served_row(entry, view)
    if with_document:
        data["document"] = entry.document
    return Report(status="done", problems=_warnings(entry), data=data)


def _refused(session: Session, entry: Entry, channel: Channel) -> Report:
    """Report why a pin is not served and what leads on; a halt says by itself what ends it."""
    from pawl.operations.releasing.remedies import remedy_for_served  # noqa: PLC0415 - only where something is not served
    from pawl.operations.world import read_world  # noqa: PLC0415 - as above

    withheld = entry.withheld
    assert withheld is not None  # noqa: S101 - asked of such entries alone
    if withheld.code == "halted" or withheld.exit_code == INTEGRITY:
        raise_withheld(withheld)
    world = read_world(session.workspace)
    verdict, remedy = remedy_for_served(session, world, world.channel(channel), entry.name)
    said = tuple(finding.problem() for finding in verdict.failures)
    first = Problem(code=withheld.code, message=withheld.message, hint=withheld.hint)
    return Report(
        status="refused",
        exit_code=withheld.exit_code,
        problems=(*(said or (first,)), *remedy.notes()),
        data={"remedies": [remedy.as_dict()], "verdict": verdict.as_dict()},
    )


def render(procedure: Procedure, inputs: Mapping[str, Any], data: Mapping[str, Any]) -> Report:
    """Report the messages of a prompt; ``InvalidError`` with every wrong input, and no messages, where one is wrong."""
    from pawl.procedures.render import render as render_messages  # noqa: PLC0415 - only this command renders

    if procedure.kind != "prompt":
        raise InvalidError(f"{procedure.ref} is a {procedure.kind}; only prompts are rendered", code="not-a-prompt")
    try:
        rendered = render_messages(procedure, inputs)
    except Faulty as error:
        raise InvalidError(f"{procedure.ref} was not rendered", problems=input_problems(error.faults)) from None
    messages = [dict(message) for message in rendered.messages]
    tokens = {"count": rendered.tokens, "method": rendered.token_method}
    return Report(status="done", data={**data, "messages": messages, "tokens": tokens})


def render_pinned(session: Session, name: Name, channel: Channel, inputs: Mapping[str, Any]) -> Report:
    """Render what a channel serves under a name."""
    view = open_channel(session.workspace, channel)
    entry = view.entry(name, session.now)
    return render(procedure_of(entry), inputs, served_row(entry, view))


def render_version(session: Session, ref: Ref, inputs: Mapping[str, Any]) -> Report:
    """Render a published version; a revoked one is refused."""
    from pawl.operations.world import read_world  # noqa: PLC0415 - what a channel serves needs one channel alone

    world = read_world(session.workspace)
    published = world.published(ref)
    withdrawal = world.catalog.withdrawal(ref)
    if withdrawal is not None and withdrawal.level == "revoked":
        raise WithheldError(f"{ref} is revoked: {withdrawal.reason}", code="revoked", hint="choose another version")
    procedure = session.workspace.procedure(published)
    data = {"name": ref.name, "version": ref.version, "kind": published.kind, "digest": published.digest}
    report = render(procedure, inputs, data)
    if withdrawal is None:
        return report
    warning = Problem(code=withdrawal.level, severity="warning", message=f"{ref} is {withdrawal.level}")
    return Report(status=report.status, problems=(warning,), data=report.data)


def _end(now: datetime, after: timedelta) -> datetime:
    try:
        return now + after
    except OverflowError:
        message = f"a snapshot cannot expire {after.days} days from now: no calendar here has years after {MAXYEAR}"
        raise UsageError(message) from None


def snapshot(session: Session, channel: Channel, out: Path | None, expires_after: timedelta | None) -> Report:
    """Take a snapshot of a channel and write it to a file, or report it whole."""
    view = open_channel(session.workspace, channel)
    expires = _end(session.now, expires_after) if expires_after is not None else None
    data = take_snapshot(view, now=session.now, expires=expires)
    taken = read_snapshot(data, channel=channel)
    withheld = {name: entry.withheld.message for name, entry in taken.entries.items() if entry.withheld}
    problems = tuple(
        Problem(code="withheld", severity="warning", message=f"{name} is listed without a body: {why}")
        for name, why in withheld.items()
    )
    row: dict[str, Any] = {
        "channel": channel,
        "serial": taken.serial,
        "policy": taken.policy,
        "digest": taken.digest,
        "expires": taken.expires,
        "procedures": len(taken.entries) - len(withheld),
        "withheld": withheld,
    }
    if out is None:
        return Report(status="done", problems=problems, data={**row, "snapshot": json.loads(data)})
    check_output(out)
    if out.is_dir():
        raise InvalidError(f"{out} is a folder; --out names a file", code="not-a-file")
    sweep_ended(out.parent)
    replace_file(out, data)
    return Report(status="done", problems=problems, data={**row, "out": str(out)})


def input_problems(faults: Sequence[Fault]) -> tuple[Problem, ...]:
    """Return faults of a value that came with the command, which is no file and has no lines."""
    return tuple(
        Problem(
            code=fault.code,
            severity=fault.severity,
            message=f"{pointer(fault.at)}: {fault.message}" if fault.at else fault.message,
            hint=fault.hint,
        )
        for fault in faults
    )


def _warnings(entry: Entry) -> tuple[Problem, ...]:
    return tuple(Problem(code="served-with-warning", severity="warning", message=text) for text in entry.warnings)
