"""What agents are served from: what a view is, and the view of a snapshot file.

A view is one consistent state: it does not change under its reader. ``refusal`` asks the place that the view came from
what holds *now*, so that a halt or a revocation reaches a run that keeps an older state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from pawl.canonical import timestamp
from pawl.errors import IntegrityError, NotFoundError, PawlError, RefusedError, WithheldError
from pawl.ids import Channel, Digest, Name, Ref, Serial
from pawl.problems import Problem
from pawl.procedures.procedure import Procedure
from pawl.registry.snapshot import MAX_BYTES, Entry, Snapshot, Withheld, read_snapshot


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
    def pins(self) -> dict[str, dict[str, str]]:
        """Return name -> version, digest and kind of every pin."""

    def entry(self, name: Name, now: datetime) -> Entry:
        """Return a pin, served or withheld; ``NotFoundError`` where nothing is pinned."""

    def stale(self, now: datetime) -> bool: ...
    def refusal(self, entry: Entry, now: datetime) -> Withheld | None:
        """Return why an entry, of this view or of an older one, must not be used any more, as of now."""

    def again(self) -> View:
        """Return a view of the newest state of the same place."""


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


@dataclass(frozen=True, slots=True, eq=False)
class SnapshotView:
    """A view of a snapshot file."""

    path: Path
    snapshot: Snapshot

    @property
    def channel(self) -> Channel:
        return self.snapshot.channel

    @property
    def serial(self) -> Serial:
        return self.snapshot.serial

    @property
    def policy(self) -> int | None:
        return self.snapshot.policy

    @property
    def digest(self) -> Digest:
        return self.snapshot.digest

    def names(self) -> tuple[Name, ...]:
        return tuple(self.snapshot.entries)

    def pins(self) -> dict[str, dict[str, str]]:
        return pin_rows(self.snapshot.entries)

    def entry(self, name: Name, now: datetime) -> Entry:  # noqa: ARG002 - what it says was true when it was made
        try:
            return self.snapshot.entries[name]
        except KeyError:
            raise not_pinned(name, self.channel) from None

    def stale(self, now: datetime) -> bool:
        return self.snapshot.stale(timestamp(now))

    def refusal(self, entry: Entry, now: datetime) -> Withheld | None:  # noqa: ARG002 - as above
        ref = str(Ref(entry.name, entry.version))
        reason = self.snapshot.revoked.get(ref)
        if reason is not None:
            return Withheld(code="revoked", message=f"{ref} is revoked: {reason}", exit_code=7)
        here = self.snapshot.entries.get(entry.name)
        return here.withheld if here is not None and (here.version == entry.version or _whole_name(here)) else None

    def again(self) -> SnapshotView:
        return open_snapshot(self.path, self.channel)


def pin_rows(pins: Mapping[Name, Any]) -> dict[str, dict[str, str]]:
    """Return name -> version, digest and kind of every pin."""
    return {name: {"version": pin.version, "digest": pin.digest, "kind": pin.kind} for name, pin in pins.items()}


def _whole_name(entry: Entry) -> bool:
    return entry.withheld is not None and entry.withheld.code == "halted"


def open_snapshot(path: Path, channel: Channel | None) -> SnapshotView:
    """Return the view of a snapshot file; ``IntegrityError`` or ``InvalidError`` for one that cannot be trusted."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise NotFoundError(f"the snapshot {path} cannot be read: {error.strerror}", code="snapshot-missing") from None
    return SnapshotView(path, read_snapshot(data, channel=channel))


def procedure_of(entry: Entry) -> Procedure:
    """Return the procedure that an entry serves; raises where it is withheld, or its document is not its digest's."""
    if entry.withheld is not None:
        raise_withheld(entry.withheld)
    if entry.document is None:
        raise IntegrityError(f"{entry.name}@{entry.version} has no document")
    return Procedure(
        kind=entry.kind, name=entry.name, version=entry.version, document=entry.document, digest=entry.digest
    )
