"""Channels as folds over journals: the names that other rooms use, each from the module that defines it."""

from __future__ import annotations

from pawl.registry.channels_fold import MOVING_ACTIONS, fold_channel, follow
from pawl.registry.channels_projection import projection, projection_bytes, read_projection, state_digest
from pawl.registry.channels_state import ChannelState, Halt, Past, Pin, Rejection, empty_channel

__all__ = [
    "MOVING_ACTIONS",
    "ChannelState",
    "Halt",
    "Past",
    "Pin",
    "Rejection",
    "empty_channel",
    "fold_channel",
    "follow",
    "projection",
    "projection_bytes",
    "read_projection",
    "state_digest",
]
