"""What agents are served from: what a view is, and the view of a snapshot file.

A view is one consistent state: it does not change under its reader. ``refusal`` asks the place that the view came from
what holds *now*, so that a halt or a revocation reaches a run that keeps an older state.
"""

from __future__ import annotations

import os
import time

from pawl.errors import IntegrityError, NotFoundError, PawlError, RefusedError, WithheldError
from pawl.problems import Problem
from pawl.registry.snapshot import MAX_BYTES, Entry, Snapshot, Withheld, read_snapshot

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any, Protocol

    from pawl.ids import Channel, Digest, Name, Serial
    from pawl.procedures.procedure import Procedure

    class View(Protocol):
        """What agents are served from."""

        @property
        def channel(self) -> Channel: ...
        @property
        def serial(self) -> Serial: ...
        @property
        def policy(self) -> int | None: ...
        @property
        def digest(self) -> Digest:
            """The identity of the state: of the snapshot, or of the channel's newest record."""

        def names(self) -> tuple[Name, ...]: ...
        def pins(self) -> Mapping[str, Mapping[str, str]]:
            """Return name -> version, digest and kind of every pin."""

        def entry(self, name: Name, now: datetime) -> Entry:
            """Return a pin, served or withheld; ``NotFoundError`` where nothing is pinned."""

        def stale(self, now: datetime) -> bool: ...
        def refusal(self, entry: Entry, now: datetime) -> Withheld | None:
            """Return why an entry, of this view or of an older one, must not be used any more, as of now."""

        def again(self) -> View:
            """Return a view of the newest state of the same place; this view, where nothing changed."""


def raise_withheld(withheld: Withheld) -> None:
    """Raise the error that belongs to a withheld pin."""
    kinds: Mapping[int, type[PawlError]] = {3: RefusedError, 6: IntegrityError}
    kind = kinds.get(withheld.exit_code, WithheldError)
    problem = Problem(code=withheld.code, message=withheld.message, hint=withheld.hint)
    raise kind(withheld.message, problems=(problem,))


def not_pinned(name: Name, channel: Channel) -> NotFoundError:
    return NotFoundError(
        f"{name} is not pinned on {channel}",
        code="not-pinned",
        hint=f'pawl status shows what is; to pin it: pawl promote {name}@X.Y.Z --to {channel} --reason "..."',
    )


class SnapshotView:
    """A view of a snapshot file."""

    def __init__(self, path: str, snapshot: Snapshot, looked: tuple[os.stat_result, int]) -> None:
        self.path = path
        self.snapshot = snapshot
        self.channel = snapshot.channel
        self.serial = snapshot.serial
        self.policy = snapshot.policy
        self.digest = snapshot.digest
        self._looked = looked
        self._pins: Mapping[str, Mapping[str, str]] | None = None

    def names(self) -> tuple[Name, ...]:
        return tuple(self.snapshot.entries)

    def pins(self) -> Mapping[str, Mapping[str, str]]:
        if self._pins is None:
            self._pins = pin_rows(self.snapshot.entries)
        return self._pins

    def entry(self, name: Name, now: datetime) -> Entry:  # noqa: ARG002 - what it says was true when it was made
        return self.snapshot_entry(name)

    def snapshot_entry(self, name: Name) -> Entry:
        """Return a pin, served or withheld, whatever the clock says; ``NotFoundError`` where nothing is pinned."""
        try:
            return self.snapshot.entries[name]
        except KeyError:
            raise not_pinned(name, self.channel) from None

    def stale(self, now: datetime) -> bool:  # noqa: ARG002 - seconds do, and few snapshots have an end
        return self.snapshot.deadline is not None and self.snapshot.stale(time.time())

    def refusal(self, entry: Entry, now: datetime) -> Withheld | None:  # noqa: ARG002 - as above
        ref = f"{entry.name}@{entry.version}"
        reason = self.snapshot.revoked.get(ref)
        if reason is not None:
            return Withheld(code="revoked", message=f"{ref} is revoked: {reason}", exit_code=7)
        here = self.snapshot.entries.get(entry.name)
        return here.withheld if here is not None and (here.version == entry.version or _whole_name(here)) else None

    def again(self) -> SnapshotView:
        """Return the view of the file as it is now; it is read only where the system says that it may have changed."""
        from pawl.io.file_marks import mark_of, same_mark  # noqa: PLC0415 - not for the first look at a file

        mark = mark_of(*self._looked)
        if mark is not None:
            try:
                if same_mark(os.stat(self.path)) == mark:  # noqa: PTH116 - as below
                    return self
            except OSError:
                pass  # reading says what is wrong
        found = open_snapshot(self.path, self.channel)
        if found.digest == self.digest:
            self._looked = found._looked  # noqa: SLF001 - the same state, looked at later
            return self
        return found

    def forgets(self, seen: SnapshotView) -> bool:
        """Whether this is an older state than one that was seen: of a lower serial, or without its revocations.

        A revocation is final and does not raise the serial of a channel.
        """
        if self.serial != seen.serial:
            return self.serial < seen.serial
        return not seen.snapshot.revoked.keys() <= self.snapshot.revoked.keys()


def pin_rows(pins: Mapping[Name, Any]) -> dict[str, dict[str, str]]:
    """Return name -> version, digest and kind of every pin."""
    return {name: {"version": pin.version, "digest": pin.digest, "kind": pin.kind} for name, pin in pins.items()}


def served_row(entry: Entry, view: View) -> dict[str, Any]:
    """Return what everything served says of itself."""
    return {
        "name": entry.name,
        "kind": entry.kind,
        "version": entry.version,
        "digest": entry.digest,
        "channel": view.channel,
        "serial": view.serial,
        "policy": view.policy,
        "stale": False,
    }


def _whole_name(entry: Entry) -> bool:
    return entry.withheld is not None and entry.withheld.code == "halted"


def open_snapshot(path: str, channel: Channel | None) -> SnapshotView:
    """Return the view of a snapshot file; ``IntegrityError`` or ``InvalidError`` for one that cannot be trusted."""
    try:
        now_ns = time.time_ns()
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib takes longer to import than all of this
            status = os.fstat(file.fileno())
            # a pipe has no size; one byte more, so that a file that has grown is no snapshot
            data = file.read(min(status.st_size or MAX_BYTES, MAX_BYTES) + 1)
    except OSError as error:
        raise NotFoundError(f"the snapshot {path} cannot be read: {error.strerror}", code="snapshot-missing") from None
    return SnapshotView(path, read_snapshot(data, channel=channel), (status, now_ns))


def procedure_of(entry: Entry) -> Procedure:
    """Return the procedure that an entry serves; raises where it is withheld, or its document is not its digest's."""
    from pawl.procedures.procedure import Procedure  # noqa: PLC0415 - what is only resolved needs none

    if entry.withheld is not None:
        raise_withheld(entry.withheld)
    if entry.document is None:
        raise IntegrityError(f"{entry.name}@{entry.version} has no document")
    return Procedure(
        kind=entry.kind, name=entry.name, version=entry.version, document=entry.document, digest=entry.digest
    )
