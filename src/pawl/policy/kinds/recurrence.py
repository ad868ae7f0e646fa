"""Recurrences as RFC 5545 writes them, taken one year at a time so that each costs a bounded amount of work.

- Frequencies are DAILY, WEEKLY, MONTHLY and YEARLY, and the time of the day is that of the start: nothing is finer.
- ``COUNT`` and every list are bounded. A rule that never comes to a day is found out by looking at forty years.
- The days of one year come from dateutil. It is never asked to look for the next occurrence, for a rule that has none
  would keep it looking until the year 9999; here the phase of ``INTERVAL`` is reckoned from the start instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Any

FREQUENCIES = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
MAX_LENGTH = 300
MAX_COUNT = 1_000
MAX_YEARS = 40
"""How far an occurrence is looked for; the longest pause of all, leap days every tenth year, fits."""
_MAX_INTERVAL = {"DAILY": 366, "WEEKLY": 53, "MONTHLY": 24, "YEARLY": 10}
_NEVER_AGAIN = 200_000
"""An interval in which dateutil comes to an end after the period that it starts in."""
_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_DAY = re.compile(r"([+-]?[0-9]{1,2})?(MO|TU|WE|TH|FR|SA|SU)\Z", re.ASCII)
_NUMBER = re.compile(r"[+-]?[0-9]{1,4}\Z", re.ASCII)
_UNTIL = re.compile(r"[0-9]{8}(?:T[0-9]{6})?\Z", re.ASCII)
_RANGES = {"BYMONTH": (1, 12), "BYMONTHDAY": (-31, 31), "BYSETPOS": (-366, 366)}
_KEYS = ("FREQ", "INTERVAL", "COUNT", "UNTIL", "BYMONTH", "BYMONTHDAY", "BYDAY", "BYSETPOS", "WKST")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrence:
    """One rule. ``days`` are pairs of a weekday (0 is Monday) and which one of its period, 0 for each."""

    frequency: str
    interval: int = 1
    count: int | None = None
    until: datetime | None = None
    """In local time, without a zone; itself an occurrence that counts."""
    months: tuple[int, ...] = ()
    month_days: tuple[int, ...] = ()
    days: tuple[tuple[int, int], ...] = ()
    positions: tuple[int, ...] = ()
    week_start: int = 0


def parse_recurrence(text: str) -> Recurrence:
    """Return the rule in ``text`` (without ``RRULE:``), or raise ``ValueError`` with what was expected."""
    parts = _parts(text)
    frequency = parts.get("FREQ", "")
    if frequency not in FREQUENCIES:
        raise ValueError(f"FREQ is one of {', '.join(FREQUENCIES)}; nothing finer than a day recurs")
    if "COUNT" in parts and "UNTIL" in parts:
        raise ValueError("COUNT and UNTIL exclude each other")
    found = Recurrence(
        frequency=frequency,
        interval=_bounded("INTERVAL", parts.get("INTERVAL", "1"), 1, _MAX_INTERVAL[frequency]),
        count=_bounded("COUNT", parts["COUNT"], 1, MAX_COUNT) if "COUNT" in parts else None,
        until=_until(parts["UNTIL"]) if "UNTIL" in parts else None,
        months=_numbers("BYMONTH", parts),
        month_days=_numbers("BYMONTHDAY", parts),
        days=tuple(_weekday(word, frequency) for word in parts["BYDAY"].split(",")) if "BYDAY" in parts else (),
        positions=_numbers("BYSETPOS", parts),
        week_start=_week_start(parts.get("WKST", "MO")),
    )
    _check_together(found)
    return found


def occurrences(rule: Recurrence, start: datetime, first: date, last: date) -> Iterator[datetime]:
    """Yield the local moments from ``first`` to ``last`` at which the rule comes up; ``start`` is where it begins."""
    if rule.count is None:
        years = range(max(first.year, start.year), last.year + 1)
        found = _moments(rule, start, years)
    else:
        found = islice(_moments(rule, start, range(start.year, last.year + 1)), rule.count)
    for moment in found:
        if moment.date() > last:
            return
        if moment.date() >= first:
            yield moment


def comes_up(rule: Recurrence, start: datetime) -> bool:
    """Whether the rule ever comes to a day, so far as anybody plans."""
    last = date(min(start.year + MAX_YEARS, date.max.year), 12, 31)
    return next(occurrences(rule, start, start.date(), last), None) is not None


def _moments(rule: Recurrence, start: datetime, years: range) -> Iterator[datetime]:
    for year in years:
        for day in _days_of(rule, start, year):
            moment = datetime.combine(day, start.time())
            if rule.until is not None and moment > rule.until:
                return
            if moment >= start:
                yield moment


def _days_of(rule: Recurrence, start: datetime, year: int) -> list[date]:
    """Return the days of one year on which the rule comes up, whatever day it starts on."""
    if rule.frequency == "YEARLY":
        return _expanded(rule, start, date(year, 1, 1)) if (year - start.year) % rule.interval == 0 else []
    if rule.frequency == "MONTHLY":
        since = (year - start.year) * 12 - start.month
        months = [month for month in range(1, 13) if (since + month) % rule.interval == 0]
        return [day for month in months for day in _expanded(rule, start, date(year, month, 1))]
    days = _expanded(rule, start, date(year, 1, 1))
    return [day for day in days if _in_phase(rule, start.date(), day)]


def _in_phase(rule: Recurrence, start: date, day: date) -> bool:
    if rule.frequency == "DAILY":
        return (day - start).days % rule.interval == 0
    return (_week(day, rule.week_start) - _week(start, rule.week_start)).days // 7 % rule.interval == 0


def _week(day: date, week_start: int) -> date:
    return day - timedelta(days=(day.weekday() - week_start) % 7)


def _expanded(rule: Recurrence, start: datetime, first: date) -> list[date]:
    """Return the days of the one year or month that begins with ``first``."""
    from dateutil import rrule  # noqa: PLC0415 - most workspaces have no freeze

    monthly = rule.frequency == "MONTHLY"
    days: Any = [rrule.weekdays[day](nth) if nth else rrule.weekdays[day] for day, nth in rule.days]
    months: Any = rule.months
    month_days: Any = rule.month_days
    if rule.frequency == "WEEKLY" and not days:
        days = [rrule.weekdays[start.weekday()]]
    elif rule.frequency == "DAILY" and not (days or month_days):
        days = list(rrule.weekdays)
    elif not (days or month_days):
        month_days = (start.day,)
        months = months or (() if monthly else (start.month,))
    found = rrule.rrule(
        rrule.MONTHLY if monthly else rrule.YEARLY,
        dtstart=datetime.combine(first, datetime.min.time()),
        interval=_NEVER_AGAIN,
        bymonth=months or None,
        bymonthday=month_days or None,
        byweekday=days or None,
        bysetpos=rule.positions or None,
    )
    return [moment.date() for moment in found]


def _parts(text: str) -> dict[str, str]:
    if len(text) > MAX_LENGTH:
        raise ValueError(f"a recurrence has at most {MAX_LENGTH} characters")
    found: dict[str, str] = {}
    for part in text.split(";"):
        key, _, value = part.partition("=")
        if key not in _KEYS or not value:
            raise ValueError(f"{part[:40]!r} is no part of a recurrence; parts are KEY=VALUE with {', '.join(_KEYS)}")
        if key in found:
            raise ValueError(f"{key} is there twice")
        found[key] = value
    return found


def _bounded(key: str, text: str, least: int, most: int) -> int:
    if not _NUMBER.match(text) or not least <= int(text) <= most or int(text) == 0:
        raise ValueError(f"{key} takes whole numbers from {least} to {most}{'' if least > 0 else ' without 0'}")
    return int(text)


def _numbers(key: str, parts: dict[str, str]) -> tuple[int, ...]:
    least, most = _RANGES[key]
    return tuple(_bounded(key, word, least, most) for word in parts[key].split(",")) if key in parts else ()


def _until(text: str) -> datetime:
    if not _UNTIL.match(text):
        raise ValueError("UNTIL is a local day or time, such as 20261231 or 20261231T180000")
    try:
        return datetime.fromisoformat(text if "T" in text else f"{text}T235959")
    except ValueError:
        raise ValueError("UNTIL is no day of the calendar or no time of the day") from None


def _weekday(word: str, frequency: str) -> tuple[int, int]:
    match = _DAY.match(word)
    most = {"MONTHLY": 5, "YEARLY": 53}.get(frequency, 0)
    if match is None or (match[1] and not 1 <= abs(int(match[1])) <= most):
        which = f", with a number from 1 to {most} before it or without" if most else ""
        raise ValueError(f"{word[:10]!r} is no weekday: {', '.join(_DAYS)}{which}")
    return _DAYS.index(match[2]), int(match[1] or 0)


def _week_start(word: str) -> int:
    if word not in _DAYS:
        raise ValueError(f"WKST is one of {', '.join(_DAYS)}")
    return _DAYS.index(word)


def _check_together(rule: Recurrence) -> None:
    if rule.frequency == "WEEKLY" and rule.month_days:
        raise ValueError("BYMONTHDAY does not go with FREQ=WEEKLY")
    if rule.positions and rule.frequency in {"DAILY", "WEEKLY"}:
        raise ValueError("BYSETPOS goes with FREQ=MONTHLY or FREQ=YEARLY")
    if rule.positions and not (rule.days or rule.month_days or rule.months):
        raise ValueError("BYSETPOS needs another BY... that it picks from")
