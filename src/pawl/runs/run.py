"""The Python API that agents hold: a channel, a run on it, and what a run uses.

A run keeps one state of its channel from start to end. Every use is a checkpoint: a pin that was halted or revoked
since is refused, whatever the run's state says.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pawl.canonical import timestamp
from pawl.errors import Faulty, InvalidError, PawlError, UsageError, WithheldError
from pawl.ids import Name, parse_channel, parse_name
from pawl.problems import Problem, pointer
from pawl.procedures.procedure import Procedure
from pawl.registry.snapshot import Entry
from pawl.runs.ledger import Checkpoint, Ledger, RunStart, Use
from pawl.runs.snapshot_view import View, open_snapshot, procedure_of, raise_withheld


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What everything served says of itself."""

    name: str
    kind: str
    version: str
    digest: str
    channel: str
    serial: int
    stale: bool
    warnings: tuple[str, ...]

    @property
    def ref(self) -> str:
        return f"{self.name}@{self.version}"


class Messages(list[dict[str, str]]):
    """A prompt's rendered messages: a plain list for any client, with ``served`` beside it."""

    def __init__(self, messages: list[dict[str, str]], served: Served) -> None:
        super().__init__(messages)
        self.served = served


@dataclass(frozen=True, slots=True, eq=False)
class PinnedTool:
    """A tool as it is pinned."""

    served: Served
    procedure: Procedure

    def call(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return a call as ``{"name": ..., "arguments": ...}``, its arguments checked against the pinned schema.

        Raises ``InvalidError`` with every wrong argument.
        """
        from pawl.procedures.call import check_call, exported_name  # noqa: PLC0415 - only tools need it

        faults = check_call(self.procedure, arguments)
        if faults:
            raise _wrong_input(f"{self.served.ref} does not take these arguments", faults)
        return {"name": exported_name(self.procedure), "arguments": dict(arguments)}

    def check_result(self, result: Any) -> Any:
        """Return ``result`` if it fits the pinned output schema; ``InvalidError`` otherwise."""
        from pawl.procedures.call import check_result  # noqa: PLC0415 - only tools need it

        faults = check_result(self.procedure, result)
        if faults:
            raise _wrong_input(f"the result is not one of {self.served.ref}", faults)
        return result

    def definition(self) -> dict[str, Any]:
        """Return the tool in MCP's form, for a client's list of tools."""
        from pawl.procedures.call import exported_name  # noqa: PLC0415 - only tools need it

        keys = ("title", "description", "inputSchema", "outputSchema", "annotations")
        spec = self.procedure.spec
        return {"name": exported_name(self.procedure), **{key: spec[key] for key in keys if spec.get(key) is not None}}


@dataclass(frozen=True, slots=True, eq=False)
class PinnedWorkflow:
    """A workflow as it is pinned. Agents drive it: ask for the next step, make the call, ask again."""

    served: Served
    procedure: Procedure

    def next(self, inputs: Mapping[str, Any], results: list[tuple[str, Any]] | None = None) -> Any:
        """Return the next call, or the end, given the inputs and every (step id, result) so far."""
        from pawl.procedures.walk import check_inputs, next_step  # noqa: PLC0415 - only workflows need it

        faults = check_inputs(self.procedure.spec, inputs)
        if faults:
            raise _wrong_input(f"{self.served.ref} does not take these inputs", faults)
        try:
            return next_step(self.procedure.spec, inputs, tuple(results or ()))
        except Faulty as error:
            raise _wrong_input(f"{self.served.ref} cannot go on", error.faults) from None


def _wrong_input(message: str, faults: tuple[Any, ...]) -> InvalidError:
    problems = tuple(
        Problem(code=fault.code, message=f"{pointer(fault.at)}: {fault.message}" if fault.at else fault.message)
        for fault in faults
    )
    return InvalidError(f"{message}: {'; '.join(problem.message for problem in problems)}", problems=problems)


def _now() -> datetime:
    return datetime.now(UTC)


class ChannelHandle:
    """A channel that agents are served from; made by :func:`open_channel_handle` (``pawl.open``)."""

    def __init__(self, view: View, ledger: Path | None) -> None:
        self._view = view
        self._ledger = ledger

    @property
    def name(self) -> str:
        return self._view.channel

    @property
    def serial(self) -> int:
        return self._view.serial

    @property
    def stale(self) -> bool:
        return self._view.stale(_now())

    def names(self) -> tuple[str, ...]:
        """Return every name that is pinned, withheld ones too."""
        return self._view.names()

    def resolve(self, name: str) -> Served:
        """Return what is served under a name, outside of any run; raises where it is withheld."""
        now = _now()
        entry = self._view.entry(_name(name), now)
        if entry.withheld is not None:
            raise_withheld(entry.withheld)
        return served(entry, self._view, now)

    def reload(self) -> ChannelHandle:
        """Return the channel as it is now."""
        return ChannelHandle(self._view.again(), self._ledger)

    def run(self, *, agent: str, session: str | None = None) -> Run:
        """Start a run: its record is durable before this returns."""
        return Run(self._view.again(), self._ledger, agent=agent, session=session)


class Run:
    """One execution of an agent. Leaving ``with`` by an exception records the outcome ``error``."""

    def __init__(self, view: View, ledger: Path | None, *, agent: str, session: str | None) -> None:
        self._view = view
        self._ended = False
        self._last: tuple[int, bool] | None = None
        """The checkpoint that was recorded last: the channel's serial there, and whether it refused."""
        self._ledger = Ledger(ledger) if ledger is not None else None
        self.id = new_run_id()
        self._start(agent, session)

    def _start(self, agent: str, session: str | None) -> None:
        if self._ledger is not None:
            self._ledger.start(run_start(self.id, self._view, agent, session, _now()))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if not self._ended:
                self.end("error" if kind is not None else "unknown")
        finally:
            if self._ledger is not None:
                self._ledger.close()

    @property
    def serial(self) -> int:
        return self._view.serial

    def prompt(self, name: str, /, **inputs: Any) -> Messages:
        """Return the rendered messages of a prompt; ``InvalidError`` with every wrong input."""
        from pawl.procedures.render import render  # noqa: PLC0415 - only prompts need it

        what, procedure = self._use(name, "prompt")
        try:
            rendered = render(procedure, inputs)
        except Faulty as error:
            raise _wrong_input(f"{what.ref} was not rendered", error.faults) from None
        return Messages([dict(message) for message in rendered.messages], what)

    def tool(self, name: str, /) -> PinnedTool:
        return PinnedTool(*self._use(name, "tool"))

    def workflow(self, name: str, /) -> PinnedWorkflow:
        return PinnedWorkflow(*self._use(name, "workflow"))

    def checkpoint(self) -> None:
        """Raise ``WithheldError`` if anything that this run may still use was halted or revoked since."""
        now = _now()
        current = self._view.again()
        for name in self._view.names():
            entry = self._view.entry(name, now)
            withheld = current.refusal(entry, now)
            if withheld is not None:
                self._came(current, now, stopped=True)
                raise_withheld(withheld)
        self._came(current, now, stopped=False)

    def end(self, outcome: str) -> None:
        """Record how the run ended; durable when this returns."""
        if not outcome or len(outcome) > 200:
            raise UsageError("an outcome has 1 to 200 characters", code="outcome-bad")
        if self._ended:
            raise UsageError(f"the run {self.id} has ended", code="run-ended")
        if self._ledger is not None:
            self._ledger.end(self.id, outcome, timestamp(_now()))
        self._ended = True

    def _came(self, current: View, now: datetime, *, stopped: bool) -> None:
        """Record a checkpoint, where it says anything new. Whatever becomes of that, the checkpoint itself holds."""
        came = (current.serial, stopped)
        if self._ledger is None or self._ended or came == self._last:
            return
        with suppress(PawlError):
            self._ledger.checkpoint(self.id, Checkpoint(at=timestamp(now), serial=current.serial, stopped=stopped))
            self._last = came

    def _use(self, name: str, kind: str) -> tuple[Served, Procedure]:
        if self._ended:
            raise UsageError(f"the run {self.id} has ended", code="run-ended")
        now = _now()
        entry = self._view.entry(_name(name), now)
        procedure = procedure_of(entry)
        current = self._view.again()
        withheld = current.refusal(entry, now)
        if withheld is not None:
            self._came(current, now, stopped=True)
            raise_withheld(withheld)
        if entry.kind != kind:
            raise InvalidError(f"{entry.name}@{entry.version} is a {entry.kind}, not a {kind}", code="wrong-kind")
        if self._ledger is not None:
            self._ledger.use(self.id, use_of(entry, now), serial=current.serial)
            self._last = (current.serial, False)
        return served(entry, self._view, now), procedure


def served(entry: Entry, view: View, now: datetime) -> Served:
    """Return an entry as what is said of everything served."""
    return Served(
        name=entry.name,
        kind=entry.kind,
        version=entry.version,
        digest=entry.digest,
        channel=view.channel,
        serial=view.serial,
        stale=view.stale(now),
        warnings=entry.warnings,
    )


def run_start(run_id: str, view: View, agent: str, session: str | None, now: datetime) -> RunStart:
    """Return the row that starts a run on a view."""
    if not agent or len(agent) > 200:
        raise UsageError("an agent's name has 1 to 200 characters", code="agent-bad")
    return RunStart(
        run_id=run_id,
        channel=view.channel,
        serial=view.serial,
        snapshot=view.digest,
        policy=view.policy,
        pins=view.pins(),
        agent=agent,
        session=session,
        started_at=timestamp(now),
    )


def use_of(entry: Entry, now: datetime) -> Use:
    """Return the row of one use."""
    return Use(at=timestamp(now), kind=entry.kind, name=entry.name, version=entry.version, digest=entry.digest)


def new_run_id() -> str:
    """Return an id that sorts by time: milliseconds since 1970 and 64 random bits, in hexadecimal."""
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(8)}"


def open_channel_handle(
    channel: str,
    *,
    workspace: str | os.PathLike[str] | None = None,
    snapshot: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | None = None,
    max_age: timedelta | None = None,
) -> ChannelHandle:
    """Open a channel for agents: from a workspace (the default: the one around the current folder) or a snapshot file.

    ``ledger`` is the file that runs are recorded in; a workspace has its own, without one a snapshot's runs are not
    recorded. ``max_age`` refuses a snapshot that was made longer ago. Raises ``NotFoundError`` for an unknown channel.
    """
    if workspace is not None and snapshot is not None:
        raise UsageError("a channel is opened from a workspace or from a snapshot, not from both", code="two-sources")
    try:
        parsed = parse_channel(channel)
    except ValueError as error:
        raise UsageError(str(error), code="channel-bad") from None
    place = Path(ledger) if ledger is not None else None
    if snapshot is not None:
        view = open_snapshot(Path(snapshot), parsed)
        if max_age is not None and view.snapshot.created < timestamp(_now() - max_age):
            raise WithheldError(
                f"the snapshot was made at {view.snapshot.created}, which is longer ago than {max_age}",
                code="snapshot-too-old",
                hint=f"make it again: pawl snapshot {parsed} --out {snapshot}",
            )
        return ChannelHandle(view, place)
    from pawl.runs.views import open_channel  # noqa: PLC0415 - a workspace needs more than a snapshot
    from pawl.workspace import find_workspace  # noqa: PLC0415 - as above

    found = find_workspace(Path(workspace if workspace is not None else "."))
    handle = ChannelHandle(open_channel(found, parsed), place or found.ledger_file)
    if place is None:
        found.make_private()
    return handle


def _name(text: str) -> Name:
    if not isinstance(text, str):
        raise UsageError(f"a name is a text, not {type(text).__name__}", code="name-bad")
    try:
        return parse_name(text)
    except ValueError as error:
        raise UsageError(str(error), code="name-bad") from None
