"""Anchors: every channel record names the registry's newest record, so cutting the registry's journal is seen."""

from __future__ import annotations

from pawl.errors import IntegrityError
from pawl.problems import Problem
from pawl.registry.channels import ChannelState
from pawl.registry.journal import Record


def check_anchor(records: tuple[Record, ...], state: ChannelState) -> None:
    """Raise ``IntegrityError`` where the registry's journal no longer holds the record that a channel was judged on."""
    anchor = state.registry
    if anchor.serial == 0 or (anchor.serial <= len(records) and records[anchor.serial - 1].digest == anchor.digest):
        return
    message = (
        f"the registry's journal lacks record {anchor.serial} ({anchor.digest}), which {state.channel} "
        f"was judged on at serial {state.head.serial}: its end was cut off or written again"
    )
    problem = Problem(
        code="journal-truncated",
        message=message,
        path="releases/registry",
        hint="restore releases/registry/ from Git: git log -- releases/registry",
    )
    raise IntegrityError(message, problems=(problem,))
