"""What a ledger is told and what it tells: runs, uses and checkpoints as values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass


class Pins(Mapping[str, Mapping[str, str]]):
    """The pins of a run, with the digest under which a ledger has them; they do not change with whoever gave them."""

    __slots__ = ("_rows", "digest", "text")

    def __init__(self, pins: Mapping[str, Mapping[str, str]]) -> None:
        self._rows = {name: dict(pin) for name, pin in pins.items()}
        self.text = json.dumps(self._rows, sort_keys=True)
        self.digest = hashlib.sha256(self.text.encode("utf-8")).hexdigest()

    def __getitem__(self, name: str) -> Mapping[str, str]:
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStart:
    """What is known when a run starts. ``pins``: name -> version, digest, kind."""

    run_id: str
    channel: str
    serial: int
    snapshot: str
    policy: int | None
    pins: Mapping[str, Mapping[str, str]]
    agent: str
    session: str | None
    started_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One use of one version in a run."""

    at: str
    kind: str
    name: str
    version: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UseRow(Use):
    """A use as it was recorded; ``seq`` counts from 1 within its run."""

    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow(RunStart):
    """A run as it was recorded; without ``ended_at`` it is unfinished."""

    ended_at: str | None
    outcome: str | None
    checked_at: str | None = None
    """When its newest checkpoint was recorded, if it came to any."""
    checked_serial: int | None = None
    """The serial that its channel had there."""
    stopped: int | None = None
    """1 where that checkpoint refused it, 0 where it let it pass."""

    def knows(self, serial: int) -> bool:
        """Whether it began, or came to a checkpoint, when the channel was at this serial or later."""
        return max(self.serial, self.checked_serial or 0) >= serial


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """That a run came to a checkpoint, and what its channel's newest serial was there."""

    at: str
    serial: int
    stopped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """The runs that used a version, and those that had it pinned and did not use it."""

    used: tuple[RunRow, ...]
    pinned_only: tuple[RunRow, ...]
