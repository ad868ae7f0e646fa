"""Anchors: what knows of a journal's end, so that cutting it is seen.

Every channel record names the registry's newest record, and every projection that of its channel.
"""

from __future__ import annotations

from collections.abc import Sequence

from pawl.errors import IntegrityError
from pawl.ids import Channel, Digest, Serial
from pawl.problems import Problem
from pawl.registry.channels_state import ChannelState
from pawl.registry.journal import Record


def check_anchor(records: Sequence[Record], state: ChannelState) -> None:
    """Raise ``IntegrityError`` where the registry's journal no longer holds the record that a channel was judged on."""
    check_anchored(digest_at(records, state.registry.serial), state)


def digest_at(records: Sequence[Record], serial: Serial) -> Digest | None:
    """Return the digest of a record of a whole journal; None where there is no such record."""
    return records[serial - 1].digest if 0 < serial <= len(records) else None


def check_anchored(found: Digest | None, state: ChannelState) -> None:
    """The same, of the digest that the registry's record has whose number the channel names; None where none has it."""
    anchor = state.registry
    if anchor.serial == 0 or (found is not None and found == anchor.digest):
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


def cut_off(channel: Channel, end: int, known: int) -> Problem:
    """Return the error for a channel's journal that ends at ``end``, before a record that its projection knows of."""
    where = f"registry/channels/{channel}.json"
    return Problem(
        code="journal-truncated",
        message=f"releases/{channel}/ ends at record {end}, and {where} knows of record {known}: it was cut off",
        path=where,
        hint=f"restore releases/{channel}/ from Git: git log -- releases/{channel}",
    )
