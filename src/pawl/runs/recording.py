"""How the runs of an open channel come into its ledger, and the rows of a start and a use.

- A channel that is open has one ledger open, from its first run to its end or the process's; nothing is opened,
  prepared or checkpointed for each run. Where its file was moved away meanwhile, the one that stands there is opened.
- After a fork the child opens its own: SQLite's connections do not go over.
- A use is on the disk when its call returns. Inside a group it is on the disk when the group ends, with all others of
  the group in one transaction; a process that is killed inside of it has recorded none of them.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pawl.canonical import timestamp
from pawl.errors import PawlError, UsageError
from pawl.registry.snapshot import Entry
from pawl.runs.ledger import Ledger
from pawl.runs.rows import Checkpoint, Pins, RunStart, Use

if TYPE_CHECKING:
    from pawl.runs.snapshot_view import View


def run_start(run_id: str, view: View, agent: str, session: str | None, now: datetime) -> RunStart:
    """Return the row that starts a run on a view."""
    return _start(run_id, view, Pins(view.pins()), agent, session, now)


def _start(run_id: str, view: View, pins: Pins, agent: str, session: str | None, now: datetime) -> RunStart:
    if not agent or len(agent) > 200:
        raise UsageError("an agent's name has 1 to 200 characters", code="agent-bad")
    return RunStart(
        run_id=run_id,
        channel=view.channel,
        serial=view.serial,
        snapshot=view.digest,
        policy=view.policy,
        pins=pins,
        agent=agent,
        session=session,
        started_at=timestamp(now),
    )


def use_of(entry: Entry, now: datetime) -> Use:
    """Return the row of one use."""
    return Use(at=timestamp(now), kind=entry.kind, name=entry.name, version=entry.version, digest=entry.digest)


class Recorder:
    """The ledger of a channel that is open, and the pins of its newest view."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._open: list[Ledger] = []
        """The ledger that is open, if one is."""
        self._file: tuple[int, int] | None = None
        self._pins: tuple[View, Pins] | None = None
        weakref.finalize(self, _close, self._open)
        _RECORDERS.add(self)

    def ledger(self) -> Ledger:
        """Return the ledger, open, on the file that stands at its place now."""
        with self._lock:
            if not self._open or self._file != _file_at(self._path):
                _close(self._open)
                self._open.append(Ledger(self._path))
                self._file = _file_at(self._path)
            return self._open[0]

    def start(self, run_id: str, view: View, agent: str, session: str | None, now: datetime) -> Record:
        """Record the start of a run and return where the rest of it goes."""
        if self._pins is None or self._pins[0] is not view:
            self._pins = (view, Pins(view.pins()))
        self.ledger().start(_start(run_id, view, self._pins[1], agent, session, now))
        return Record(self, run_id)

    def close(self) -> None:
        """Close the file; the next run opens it again."""
        with self._lock:
            _close(self._open)

    def leave_behind(self) -> None:
        """Forget, in a child, what belongs to its parent: closing it there would take part in the parent's locks."""
        self._lock = threading.Lock()
        _LEFT_BEHIND.extend(self._open)
        self._open.clear()


_RECORDERS: weakref.WeakSet[Recorder] = weakref.WeakSet()
_LEFT_BEHIND: list[Ledger] = []


def _leave_behind() -> None:
    for recorder in _RECORDERS:
        recorder.leave_behind()


os.register_at_fork(after_in_child=_leave_behind)


def _close(ledgers: list[Ledger]) -> None:
    while ledgers:
        ledgers.pop().close()


def _file_at(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


class Record:
    """The record of one run."""

    def __init__(self, recorder: Recorder, run_id: str) -> None:
        self._recorder = recorder
        self._id = run_id
        self._groups: list[_Group] = []
        self._last: tuple[int, bool] | None = None
        """The checkpoint that was recorded last: the channel's serial there, and whether it refused."""

    def use(self, entry: Entry, now: datetime, serial: int) -> None:
        """Record a use, or keep it for the end of the group that it is made in."""
        use, group = use_of(entry, now), _GROUP.get()
        if group is None or group not in self._groups or not group.takes(use, serial):
            self._write((use,), serial)

    def _write(self, uses: tuple[Use, ...], serial: int) -> None:
        self._recorder.ledger().use_all(self._id, uses, serial=serial)
        self._last = (serial, False)

    @contextmanager
    def group(self) -> Iterator[None]:
        """Record the uses inside of the block together, when it ends; a group inside of a group is part of it."""
        if _GROUP.get() in self._groups:
            yield
            return
        group = _Group()
        self._groups.append(group)
        token = _GROUP.set(group)
        try:
            yield
        finally:
            _GROUP.reset(token)
            self._finish(group)

    def _finish(self, group: _Group) -> None:
        uses, serial = group.close()
        if group in self._groups:
            self._groups.remove(group)
        if uses:
            self._write(uses, serial)

    def came(self, serial: int, now: datetime, *, stopped: bool) -> None:
        """Record a checkpoint, where it says anything new. Whatever becomes of that, the checkpoint itself holds."""
        came = (serial, stopped)
        if came == self._last:
            return
        with suppress(PawlError):
            checkpoint = Checkpoint(at=timestamp(now), serial=serial, stopped=stopped)
            self._recorder.ledger().checkpoint(self._id, checkpoint)
            self._last = came

    def end(self, outcome: str, now: datetime) -> None:
        """Record how the run ended, after everything that it used."""
        for group in tuple(self._groups):
            self._finish(group)
        self._recorder.ledger().end(self._id, outcome, timestamp(now))


class _Group:
    """Uses that wait for the end of a block. Threads and tasks that began inside of it may outlive it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uses: list[Use] | None = []
        self._serial = 0

    def takes(self, use: Use, serial: int) -> bool:
        """Keep a use; False where the group has ended."""
        with self._lock:
            if self._uses is None:
                return False
            self._uses.append(use)
            self._serial = max(self._serial, serial)
            return True

    def close(self) -> tuple[tuple[Use, ...], int]:
        with self._lock:
            uses, self._uses = self._uses or (), None
            return tuple(uses), self._serial


_GROUP: ContextVar[_Group | None] = ContextVar("group of uses", default=None)
