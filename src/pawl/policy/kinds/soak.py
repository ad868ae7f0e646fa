"""``soak: {channel: staging, at_least: PT24H}``: a version has been live on another channel for long enough.

Counted is all the time that this very digest was live there by the journal's records, up to now. Content that is
rejected there now has not soaked, however long it was live. Readiness by nature: no way back waits for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from pawl.canonical import timestamp
from pawl.ids import parse_channel
from pawl.policy.bodies import BodyReader
from pawl.policy.context import RuleContext, RuleKind, Said
from pawl.policy.durations import duration_words
from pawl.problems import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class SoakBody:
    """What such a rule demands."""

    channel: str
    at_least: timedelta


def read_soak(body: Any) -> tuple[SoakBody | None, tuple[Fault, ...]]:
    """Return the demand, or the faults of its body."""
    reader = BodyReader("soak", body)
    channel = reader.read("channel", parse_channel, needed=True)
    at_least = reader.duration("at_least", needed=True)
    faults = reader.finish()
    if faults or channel is None or at_least is None:
        return None, faults
    return SoakBody(channel=channel, at_least=at_least.exact), ()


def _evaluate(body: Any, context: RuleContext) -> Said:
    demand, faults = read_soak(body)
    if demand is None:
        return "errored", faults[0].message
    if not context.facts.moves:
        return "not-applicable", "it does not move: it is pinned here already"
    stay = (context.facts.stays or {}).get(demand.channel)
    if stay is None:
        return "missing", f"nobody knows how long it was live on {demand.channel}"
    if stay.rejected:
        return "failed", f"on {demand.channel} it is rejected: {stay.rejected}"
    found, wanted = stay.total(context.now), duration_words(demand.at_least)
    if found >= demand.at_least:
        return "passed", f"it was live on {demand.channel} for {duration_words(found)}, and {wanted} are needed"
    said = f"it was live on {demand.channel} for {duration_words(found)} of the {wanted} that are needed"
    still = any(end is None for _, end in stay.times)
    when = timestamp(context.now + demand.at_least - found)
    return "failed", f"{said}; if it stays there it may move from {when} on" if still else said


KIND = RuleKind(
    schema=MappingProxyType(
        {
            "type": "object",
            "title": "Soak",
            "description": "How long a version must have been live on another channel before.",
            "properties": {
                "channel": {"type": "string", "description": "The channel that it was live on."},
                "at_least": {"type": "string", "description": "An ISO 8601 length of time, such as PT24H."},
            },
            "required": ["channel", "at_least"],
            "additionalProperties": False,
        }
    ),
    check=lambda body: read_soak(body)[1],
    evaluate=_evaluate,
    code="soak-short",
    classes=("readiness",),
)
