"""The Python API that agents hold: a channel, a run on it, and what a run uses.

A run keeps one state of its channel from start to end. Every use is a checkpoint: a pin that was halted or revoked
since is refused, whatever the run's state says.
"""

from __future__ import annotations

import os
import time

from pawl.errors import Faulty, InvalidError, UsageError, WithheldError
from pawl.ids import parse_channel, parse_name
from pawl.registry.snapshot import Withheld
from pawl.runs.pinned import Messages, PinnedTool, PinnedWorkflow, Served, whole, wrong_input
from pawl.runs.snapshot_view import SnapshotView, open_snapshot, procedure_of, raise_withheld

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import datetime, timedelta
    from types import TracebackType
    from typing import Any, Self

    from pawl.ids import Name
    from pawl.procedures.procedure import Procedure
    from pawl.registry.snapshot import Entry
    from pawl.runs.recording import Recorder
    from pawl.runs.snapshot_view import View


def _now() -> datetime:
    from datetime import UTC, datetime  # noqa: PLC0415 - resolving from a snapshot looks at no clock

    return datetime.now(UTC)


class Newest:
    """The newest state of a channel that this process saw, shared by all that came from one handle.

    An older one is refused: whoever puts an old snapshot in the place of a newer one, or takes a workspace back, would
    undo a halt or a revocation. A rollback of the channel is a newer state.
    """

    def __init__(self, view: View) -> None:
        self.view = view

    def look(self) -> View:
        """Return the newest state there is; ``WithheldError`` where it is older than one that was seen."""
        found = self.view.again()
        while found is not (seen := self.view):
            if found.serial < seen.serial or (
                isinstance(found, SnapshotView) and isinstance(seen, SnapshotView) and found.forgets(seen)
            ):
                raise _older(found, seen.serial)
            self.view = found
        return found


def _older(found: View, seen: int) -> WithheldError:
    return WithheldError(
        f"{found.channel} is at serial {found.serial} there, in a state older than one of serial {seen} that was seen",
        code="channel-older",
        hint=f"bring its newest state there; a rollback is newer: pawl rollback NAME --channel {found.channel}",
    )


class ChannelHandle:
    """A channel that agents are served from; made by :func:`open_channel_handle` (``pawl.open``).

    Leaving ``with`` closes the ledger; without it that happens when nothing holds the handle or its runs any more.
    """

    def __init__(self, view: View, recorder: Recorder | None, newest: Newest | None = None) -> None:
        self._view = view
        self._recorder = recorder
        self._newest = newest or Newest(view)
        self._deadline = view.snapshot.deadline if isinstance(view, SnapshotView) else None
        self._fresh: dict[str, Served] = {}
        self._past: dict[str, Served] = {}
        """What a snapshot serves, by name, from when it was asked for first: before its end and after."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the ledger. A later run opens it again."""
        if self._recorder is not None:
            self._recorder.close()

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
        known = self._fresh if self._deadline is None or time.time() < self._deadline else self._past
        try:
            return known[name]
        except (KeyError, TypeError):
            return self._resolve(name, known)

    def _resolve(self, name: str, known: dict[str, Served]) -> Served:
        parsed = _name(name)
        if isinstance(self._view, SnapshotView):
            entry = self._view.snapshot_entry(parsed)
            stale = known is self._past
        else:
            now = _now()
            entry = self._view.entry(parsed, now)
            stale = self._view.stale(now)
        if entry.withheld is not None:
            raise_withheld(entry.withheld)
        made = _served(entry, self._view, stale=stale)
        if isinstance(self._view, SnapshotView):
            known[parsed] = made
        return made

    def reload(self) -> ChannelHandle:
        """Return the channel as it is now; ``WithheldError`` where that is older than what was seen before."""
        return ChannelHandle(self._newest.look(), self._recorder, self._newest)

    def run(self, *, agent: str, session: str | None = None) -> Run:
        """Start a run: its record is durable before this returns."""
        try:
            return Run(self._newest, self._recorder, agent=agent, session=session)
        except InvalidError as error:
            if error.problems[0].code != "ledger-unusable":
                raise
            hint = "record runs in a file that can be written: pawl.open(CHANNEL, ledger=FILE)"
            raise InvalidError(error.message, code="ledger-unusable", hint=hint) from error


class Run:
    """One execution of an agent. Leaving ``with`` by an exception records the outcome ``error``."""

    def __init__(self, newest: Newest, recorder: Recorder | None, *, agent: str, session: str | None) -> None:
        self._newest = newest
        self._view = newest.look()
        self._ended = False
        self.id = new_run_id()
        self._record = recorder.start(self.id, self._view, agent, session, _now()) if recorder is not None else None
        self._entries = self._view.snapshot.entries if isinstance(self._view, SnapshotView) else {}
        self._timed = self._record is not None or not isinstance(self._view, SnapshotView)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._ended:
            self.end("error" if kind is not None else "unknown")

    @property
    def serial(self) -> int:
        return self._view.serial

    def group(self) -> AbstractContextManager[None]:
        """Record the uses inside of the block together: they are durable when it ends, in one transaction.

        Each is checked when it is made. A process that is killed inside of the block has recorded none of them, so
        keep blocks short: all that one step of an agent needs, fetched at once.
        """
        if self._record is None:
            from contextlib import nullcontext  # noqa: PLC0415 - nothing is recorded, so nothing is grouped

            return nullcontext()
        return self._record.group()

    def prompt(self, name: str, /, **inputs: Any) -> Messages:
        """Return the rendered messages of a prompt; ``InvalidError`` with every wrong input."""
        from pawl.procedures.render import render  # noqa: PLC0415 - only prompts need it

        what, procedure = self._use(name, "prompt")
        try:
            rendered = whole(what, render, procedure, inputs)
        except Faulty as error:
            raise wrong_input(f"{what.ref} was not rendered", error.faults) from None
        return Messages([dict(message) for message in rendered.messages], what)

    def tool(self, name: str, /) -> PinnedTool:
        return PinnedTool(*self._use(name, "tool"))

    def workflow(self, name: str, /) -> PinnedWorkflow:
        return PinnedWorkflow(*self._use(name, "workflow"))

    def checkpoint(self) -> None:
        """Raise ``WithheldError`` if anything that this run may still use was halted or revoked since."""
        now: Any = _now() if self._timed else None
        current = self._newest.look()
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
        if self._record is not None:
            self._record.end(outcome, _now())
        self._ended = True

    def _came(self, current: View, now: datetime, *, stopped: bool) -> None:
        if self._record is not None and not self._ended:
            self._record.came(current.serial, now, stopped=stopped)

    def _entry(self, name: str, now: datetime) -> Entry:
        try:
            return self._entries[name]  # type: ignore[index] # a text that is a key is a name
        except (KeyError, TypeError):
            return self._view.entry(_name(name), now)

    def _revoked_with(self, entry: Entry, current: View, now: datetime) -> Withheld | None:
        """Return why an entry must not be used where anything that it requires here was revoked since the run began."""
        if current is self._view:
            return None  # then it was judged with all that it requires
        seen, left = {entry.name}, [*entry.requires]
        while left:
            name = left.pop()
            if name in seen:
                continue
            seen.add(name)
            required = self._entry(name, now)
            found = current.refusal(required, now)
            if found is not None and found.code == "revoked":
                message = f"{entry.name}@{entry.version} requires {name}: {found.message}"
                return Withheld(code=found.code, message=message, exit_code=found.exit_code, hint=found.hint)
            left += required.requires
        return None

    def _use(self, name: str, kind: str) -> tuple[Served, Procedure]:
        if self._ended:
            raise UsageError(f"the run {self.id} has ended", code="run-ended")
        now: Any = _now() if self._timed else None  # a snapshot says what it says, and nobody writes down when
        entry = self._entry(name, now)
        procedure = procedure_of(entry)
        current = self._newest.look()
        withheld = current.refusal(entry, now) or self._revoked_with(entry, current, now)
        if withheld is not None:
            self._came(current, now, stopped=True)
            raise_withheld(withheld)
        if entry.kind != kind:
            raise InvalidError(f"{entry.name}@{entry.version} is a {entry.kind}, not a {kind}", code="wrong-kind")
        if self._record is not None:
            self._record.use(entry, now, current.serial)
        return _served(entry, self._view, stale=self._view.stale(now)), procedure


def _served(entry: Entry, view: View, *, stale: bool) -> Served:
    return Served(
        name=entry.name,
        kind=entry.kind,
        version=entry.version,
        digest=entry.digest,
        channel=view.channel,
        serial=view.serial,
        stale=stale,
        warnings=entry.warnings,
    )


def new_run_id() -> str:
    """Return an id that sorts by time: milliseconds since 1970 and 64 random bits, in hexadecimal."""
    return f"{time.time_ns() // 1_000_000:012x}{os.urandom(8).hex()}"


def open_channel_handle(
    channel: str,
    *,
    workspace: str | os.PathLike[str] | None = None,
    snapshot: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | None = None,
    max_age: timedelta | None = None,
    at_least: int | None = None,
) -> ChannelHandle:
    """Open a channel for agents: from a workspace (the default: the one around the current folder) or a snapshot file.

    ``ledger`` is the file that runs are recorded in; a workspace has its own, without one a snapshot's runs are not
    recorded. ``max_age`` refuses a snapshot that was made longer ago, ``at_least`` a state of a lower serial than one
    that was seen before; a handle and its runs remember that by themselves. Raises ``NotFoundError`` for an unknown
    channel.
    """
    if workspace is not None and snapshot is not None:
        raise UsageError("a channel is opened from a workspace or from a snapshot, not from both", code="two-sources")
    try:
        parsed = parse_channel(channel)
    except ValueError as error:
        raise UsageError(str(error), code="channel-bad") from None
    if max_age is not None:
        from datetime import timedelta  # noqa: PLC0415 - most are opened at any age

        if not isinstance(max_age, timedelta):
            raise UsageError(f"max_age is a datetime.timedelta, not {type(max_age).__name__}", code="max-age-bad")
    place = os.fspath(ledger) if ledger is not None else None
    if snapshot is not None:
        view = open_snapshot(os.fspath(snapshot), parsed)
        _check_age(view, max_age, at_least)
        return ChannelHandle(view, _recorder(place) if place is not None else None)
    from contextlib import suppress  # noqa: PLC0415 - a workspace needs more than a snapshot
    from pathlib import Path  # noqa: PLC0415 - as above

    from pawl.runs.views import open_channel  # noqa: PLC0415 - as above
    from pawl.workspace import find_workspace  # noqa: PLC0415 - as above

    found = find_workspace(Path(workspace if workspace is not None else "."))
    channel_view = open_channel(found, parsed)
    if at_least is not None and channel_view.serial < at_least:
        raise _older(channel_view, at_least)
    if place is None:
        with suppress(OSError):  # what cannot be written can be read: a run that cannot be recorded says so itself
            found.make_private()
    return ChannelHandle(channel_view, _recorder(place or found.ledger_file))


def _check_age(view: SnapshotView, max_age: timedelta | None, at_least: int | None) -> None:
    if at_least is not None and view.serial < at_least:
        raise _older(view, at_least)
    if max_age is None:
        return
    from pawl.canonical import timestamp  # noqa: PLC0415 - most are opened at any age

    created = view.snapshot.created
    try:
        oldest = timestamp(_now() - max_age)
    except OverflowError:  # an age that reaches beyond the calendar: nothing is older, or everything
        oldest = "" if max_age.days > 0 else "9999"
    if created < oldest:
        raise WithheldError(
            f"the snapshot was made at {created}, which is longer ago than {max_age}",
            code="snapshot-too-old",
            hint=f"make it again: pawl snapshot {view.channel} --out {view.path}",
        )


def _recorder(place: str | os.PathLike[str]) -> Recorder:
    from pathlib import Path  # noqa: PLC0415 - not where nothing is recorded

    from pawl.runs.recording import Recorder  # noqa: PLC0415 - SQLite, which is not needed there either

    return Recorder(Path(place))


def _name(text: str) -> Name:
    if not isinstance(text, str):
        raise UsageError(f"a name is a text, not {type(text).__name__}", code="name-bad")
    try:
        return parse_name(text)
    except ValueError as error:
        raise UsageError(str(error), code="name-bad") from None
