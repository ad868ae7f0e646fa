"""Lengths of time as ISO 8601 writes them: ``P30D``, ``PT24H``, ``P1DT12H``, ``P2W``.

- Weeks, days, hours, minutes and seconds, in whole numbers. Years and months are refused: they have no fixed length.
- No length is zero, and none longer than ten years.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

MAX_DAYS = 3_660
_DURATION = re.compile(
    r"P(?=[0-9T])(?:([0-9]{1,4})W)?(?:([0-9]{1,4})D)?(?:T(?=[0-9])(?:([0-9]{1,5})H)?(?:([0-9]{1,7})M)?(?:([0-9]{1,9})S)?)?\Z",
    re.ASCII,
)
_PARTS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Duration:
    """A length of time. Days count on the calendar where a time zone is at hand; the rest is exact."""

    days: int
    rest: timedelta

    @property
    def exact(self) -> timedelta:
        """The length with days of 24 hours."""
        return timedelta(days=self.days) + self.rest


def parse_duration(text: str) -> Duration:
    """Return what ``text`` says, or raise ``ValueError`` with what was expected."""
    match = _DURATION.match(text)
    if match is None:
        raise ValueError(f"{text[:40]!r} is no length of time such as P30D, PT24H or P1DT12H")
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    found = Duration(days=weeks * 7 + days, rest=timedelta(hours=hours, minutes=minutes, seconds=seconds))
    if not timedelta() < found.exact <= timedelta(days=MAX_DAYS):
        raise ValueError(f"{text[:40]!r} is not between one second and {MAX_DAYS} days")
    return found


def duration_words(length: timedelta) -> str:
    """Return a length in the two largest units that it has: ``1 day 6 hours``."""
    left = max(int(length.total_seconds()), 0)
    words = []
    for unit, seconds in _PARTS:
        count, left = divmod(left, seconds)
        if count:
            words.append(f"{count} {unit}{'' if count == 1 else 's'}")
    return " ".join(words[:2]) or "0 seconds"
