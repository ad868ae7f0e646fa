"""Plans: what a writing command would do, as data.

A plan is a list of small steps. ``--dry-run`` prints that very list and applying works it off, so the two cannot drift
apart. A plan also names the journal heads that it was made from; if one of them moved, nothing of the plan is applied.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from pawl.ids import Ref
from pawl.registry.channels import ChannelState
from pawl.registry.journal import Head, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class FreezeVersion:
    """Store the exact bytes of a version under registry/versions/."""

    ref: Ref
    data: bytes

    def __str__(self) -> str:
        return f"freeze {self.ref}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreEvidence:
    """Store one evidence statement under releases/evidence/; ``name`` is its file below that folder."""

    name: str
    data: bytes

    def __str__(self) -> str:
        return f"store evidence {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendRecord:
    """Append a sealed record to its journal: the step that makes everything before it count."""

    record: Record

    def __str__(self) -> str:
        return f"append record {self.record.serial} ({self.record.action}) to the journal {self.record.journal}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteProjection:
    """Write a channel's new state to registry/channels/."""

    state: ChannelState

    def __str__(self) -> str:
        return f"write registry/channels/{self.state.channel}.json"


Step: TypeAlias = FreezeVersion | StoreEvidence | AppendRecord | WriteProjection


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Steps in the order in which they are applied, and the Git message for all of them.

    ``expects`` maps the name of each journal that was read to the head that the plan was made from.
    """

    steps: tuple[Step, ...] = ()
    message: str = ""
    expects: Mapping[str, Head] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        return not self.steps

    @property
    def record(self) -> Record | None:
        """The record that the plan appends; a plan appends at most one."""
        return next((step.record for step in self.steps if isinstance(step, AppendRecord)), None)

    def lines(self) -> tuple[str, ...]:
        """Return the steps as sentences."""
        return tuple(str(step) for step in self.steps)
