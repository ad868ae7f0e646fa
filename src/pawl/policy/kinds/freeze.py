"""``freeze``: a time in which a channel stands still, once or again and again.

- A window begins at the wall-clock time of ``start`` in ``time_zone``, on the days of ``recurrence``; without one it
  comes once. It holds from its very first moment on and is over at its last.
- Weeks and days of ``duration`` are days of the calendar, so a window that begins at midnight ends at midnight, on the
  days of 23 and 25 hours, too; hours and less are exact. A wall-clock time that a clock change leaves out is read with
  the offset before the change (02:30 becomes 03:30); one that comes twice is the first of the two.
- ``actions`` are promote, or rollback with it where the rule is a safety rule. Taking a pin off is never held up, and
  neither is leaving what must not be live; a yank alone frees no promotion. Runs in flight go on: a freeze holds moves.
- ``spares``: a procedure by name or by all of the labels, or a person by role, whom the freeze does not hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

from pawl.canonical import timestamp
from pawl.policy.bodies import BodyReader
from pawl.policy.context import RuleContext, RuleKind, Said
from pawl.policy.durations import Duration
from pawl.policy.facts import Facts
from pawl.policy.globs import glob_fault
from pawl.policy.kinds.recurrence import Recurrence, comes_up, occurrences, parse_recurrence
from pawl.policy.verdict import WITHHELD
from pawl.problems import Fault
from pawl.procedures.globs import glob_matches
from pawl.registry.channels_grants import FREEZABLE, Spares

MAX_WINDOW_DAYS = 366
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]{0,30}(?:/[A-Za-z0-9][A-Za-z0-9_+-]{0,30}){0,2}\Z", re.ASCII)
_LOCAL = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?)?\Z", re.ASCII)
_YEARS = range(2000, 2200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """One time in which the channel stands still; ``end`` is past."""

    start: datetime
    end: datetime

    def __str__(self) -> str:
        return f"{timestamp(self.start)} to {timestamp(self.end)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FreezeBody:
    """What such a rule demands. ``start`` is local time."""

    start: datetime
    duration: Duration
    zone: ZoneInfo
    recurrence: Recurrence | None
    actions: tuple[str, ...]
    spares: Spares
    reason: str


def read_freeze(body: Any) -> tuple[FreezeBody | None, tuple[Fault, ...]]:
    """Return the demand, or the faults of its body."""
    reader = BodyReader("freeze", body)
    start = reader.read("start", _local, needed=True)
    duration = reader.duration("duration", needed=True)
    zone = reader.read("time_zone", _zone, needed=True)
    recurrence = reader.read("recurrence", parse_recurrence)
    actions = reader.words("actions", known=FREEZABLE, default=("promote",))
    spares = _spares(reader)
    reason = reader.text("reason", needed=True)
    faults = list(reader.finish())
    if duration is not None and duration.exact > timedelta(days=MAX_WINDOW_DAYS):
        message = f"freeze.duration: one window has at most {MAX_WINDOW_DAYS} days"
        faults.append(Fault(code="policy-field-invalid", message=message, at=("duration",)))
    if faults or start is None or duration is None or zone is None or reason is None:
        return None, tuple(faults)
    return (
        FreezeBody(
            start=start,
            duration=duration,
            zone=zone,
            recurrence=recurrence,
            actions=actions,
            spares=spares,
            reason=reason,
        ),
        (),
    )


def _check(body: Any) -> tuple[Fault, ...]:
    freeze, faults = read_freeze(body)
    if freeze is None or freeze.recurrence is None or comes_up(freeze.recurrence, freeze.start):
        return faults
    message = "freeze.recurrence: it never comes to a day, so the freeze would hold nothing"
    return (Fault(code="freeze-never", message=message, at=("recurrence",)),)


def windows(freeze: FreezeBody, *, after: datetime, before: datetime) -> Iterator[Window]:
    """Yield the windows that have a moment from ``after`` on and before ``before``, in the order of their starts."""
    first = (after.astimezone(freeze.zone) - freeze.duration.exact - timedelta(days=2)).date()
    last = (before.astimezone(freeze.zone) + timedelta(days=1)).date()
    if freeze.recurrence is None:
        starts: Iterator[datetime] = iter((freeze.start,) if first <= freeze.start.date() <= last else ())
    else:
        starts = occurrences(freeze.recurrence, freeze.start, first, last)
    for start in starts:
        window = _window(freeze, start)
        if window.end > after and window.start < before:
            yield window


def window_at(freeze: FreezeBody, now: datetime) -> Window | None:
    """Return the window that holds at ``now``; of several the one that ends last."""
    held = windows(freeze, after=now, before=now + timedelta(microseconds=1))
    return max(held, key=lambda window: window.end, default=None)


def next_windows(freeze: FreezeBody, now: datetime, count: int) -> tuple[Window, ...]:
    """Return the next windows from ``now`` on, the present one first, as a preview."""
    found: list[Window] = []
    for window in windows(freeze, after=now, before=now + timedelta(days=5 * 366)):
        found.append(window)
        if len(found) == count:
            break
    return tuple(found)


def spared(spares: Spares, *, name: str, labels: Any, facts: Facts) -> str | None:
    """Return why a freeze does not hold this move, or ``None`` where it does."""
    if any(glob_matches(glob, name) for glob in spares.names):
        return f"it spares {name}"
    has: Mapping[str, Any] = labels if isinstance(labels, Mapping) else {}
    if spares.labels and all(has.get(key) == value for key, value in spares.labels):
        return f"it spares {', '.join(f'{key}: {value}' for key, value in spares.labels)}"
    if roles := [role for role in spares.roles if role in facts.roles]:
        return f"it spares the role {roles[0]}, which {facts.requester} has"
    return None


def _window(freeze: FreezeBody, start: datetime) -> Window:
    begins = start.replace(tzinfo=freeze.zone).astimezone(UTC)
    ends = (start + timedelta(days=freeze.duration.days)).replace(tzinfo=freeze.zone).astimezone(UTC)
    return Window(start=begins, end=ends + freeze.duration.rest)


def _evaluate(body: Any, context: RuleContext) -> Said:
    freeze, faults = read_freeze(body)
    if freeze is None:
        return "errored", faults[0].message
    if context.action not in freeze.actions:
        return "not-applicable", f"it holds {' and '.join(freeze.actions)}, and this is {context.action}"
    try:
        window = window_at(freeze, context.now)
        coming = next_windows(freeze, context.now, 1) if context.detail and window is None else ()
    except (OverflowError, ValueError):
        return "errored", f"{context.at} is out of the calendar"
    if window is None:
        return "passed", f"{context.channel} is open" + (f"; the next freeze is {coming[0]}" if coming else "")
    return _held(freeze, window, context)


def _held(freeze: FreezeBody, window: Window, context: RuleContext) -> Said:
    procedure = context.procedure
    why = spared(freeze.spares, name=procedure["name"], labels=procedure.get("labels"), facts=context.facts)
    said = f"{context.channel} stands still from {window}: {freeze.reason}"
    if why is not None:
        return "passed", f"{said}; {why}"
    if context.facts.leaving:
        return "passed", f"{said}; what is live must not stay: {context.facts.leaving}"
    return "failed", said


def _actions(body: Any) -> tuple[str, ...] | None:
    actions = body.get("actions", ["promote"]) if isinstance(body, Mapping) else None
    if not isinstance(actions, list):
        return None
    return tuple(action for action in actions if isinstance(action, str))


def _spares(reader: BodyReader) -> Spares:
    inner = reader.inner("spares")
    if inner is None:
        return Spares()
    names = inner.words("names")
    found = Spares(labels=inner.labels("labels"), names=names, roles=inner.words("roles"))
    reader.take_inner("spares", inner)
    for index, glob in enumerate(names):
        if (why := glob_fault(glob)) is not None:
            message = f"freeze.spares.names: {glob[:80]!r} {why}"
            reader.faults.append(Fault(code="glob-invalid", message=message, at=("spares", "names", index)))
    return found


def _local(text: str) -> datetime:
    expected = "expected a local day or time without offset, such as 2026-12-18 or 2026-12-18T16:00"
    if not _LOCAL.match(text):
        raise ValueError(expected)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is no day of the calendar or no time of the day") from None
    if moment.year not in _YEARS:
        raise ValueError(f"the year is one from {_YEARS[0]} to {_YEARS[-1]}")
    return moment


def _zone(text: str) -> ZoneInfo:
    if not _ZONE.match(text):
        raise ValueError("expected the name of a time zone, such as Europe/Berlin or UTC")
    try:
        return ZoneInfo(text)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"{text!r} is no time zone that is known here") from None


_SPARES_SCHEMA = {
    "type": "object",
    "properties": {
        "labels": {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1},
        "names": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "roles": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    },
    "additionalProperties": False,
}
KIND = RuleKind(
    schema=MappingProxyType(
        {
            "type": "object",
            "title": "Freeze",
            "description": "Times in which a channel stands still.",
            "properties": {
                "recurrence": {"type": "string", "description": "RFC 5545, such as FREQ=WEEKLY;BYDAY=FR."},
                "start": {"type": "string", "description": "The first window, local time: 2026-12-18T16:00."},
                "duration": {"type": "string", "description": "An ISO 8601 length of time, such as PT60H."},
                "time_zone": {"type": "string", "description": "Such as Europe/Berlin."},
                "actions": {"type": "array", "items": {"enum": list(FREEZABLE)}, "minItems": 1},
                "spares": _SPARES_SCHEMA,
                "reason": {"type": "string", "minLength": 1},
            },
            "required": ["start", "duration", "time_zone", "reason"],
            "additionalProperties": False,
        }
    ),
    check=_check,
    evaluate=_evaluate,
    code="frozen",
    exit_code=WITHHELD,
    actions=_actions,
)
