"""Recurrences: what is refused, and that the rest comes up exactly when dateutil's own walk says."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from itertools import islice

import pytest
from dateutil import rrule
from hypothesis import given
from hypothesis import strategies as st

from budgets import examples
from pawl.policy.kinds.recurrence import comes_up, occurrences, parse_recurrence

REFUSED = [
    ("", "no part of a recurrence"),
    ("FREQ=SECONDLY", "FREQ is one of"),
    ("FREQ=MINUTELY", "FREQ is one of"),
    ("FREQ=HOURLY", "FREQ is one of"),
    ("freq=daily", "no part of a recurrence"),
    ("RRULE:FREQ=DAILY", "no part of a recurrence"),
    ("INTERVAL=2", "FREQ is one of"),
    ("FREQ=DAILY;FREQ=DAILY", "there twice"),
    ("FREQ=DAILY;", "no part of a recurrence"),
    ("FREQ=DAILY;COUNT=0", "COUNT takes"),
    ("FREQ=DAILY;COUNT=1001", "COUNT takes"),
    ("FREQ=DAILY;COUNT=1000000000000000000000", "COUNT takes"),
    ("FREQ=DAILY;COUNT=\u0661", "COUNT takes"),
    ("FREQ=DAILY;COUNT=1;UNTIL=20261231", "exclude each other"),
    ("FREQ=DAILY;INTERVAL=367", "INTERVAL takes"),
    ("FREQ=WEEKLY;INTERVAL=0", "INTERVAL takes"),
    ("FREQ=YEARLY;INTERVAL=11", "INTERVAL takes"),
    ("FREQ=DAILY;UNTIL=2026-12-31", "UNTIL is a local day"),
    ("FREQ=DAILY;UNTIL=20261231T235959Z", "UNTIL is a local day"),
    ("FREQ=DAILY;UNTIL=20260230", "no day of the calendar"),
    ("FREQ=DAILY;BYHOUR=3", "no part of a recurrence"),
    ("FREQ=DAILY;BYEASTER=0", "no part of a recurrence"),
    ("FREQ=DAILY;BYMONTH=13", "BYMONTH takes"),
    ("FREQ=DAILY;BYMONTH=0", "BYMONTH takes"),
    ("FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY takes"),
    ("FREQ=MONTHLY;BYMONTHDAY=32", "BYMONTHDAY takes"),
    ("FREQ=WEEKLY;BYMONTHDAY=1", "does not go with FREQ=WEEKLY"),
    ("FREQ=WEEKLY;BYDAY=1MO", "no weekday"),
    ("FREQ=MONTHLY;BYDAY=6MO", "no weekday"),
    ("FREQ=MONTHLY;BYDAY=0MO", "no weekday"),
    ("FREQ=WEEKLY;BYDAY=XX", "no weekday"),
    ("FREQ=WEEKLY;BYDAY=", "no part of a recurrence"),
    ("FREQ=WEEKLY;WKST=MON", "WKST is one of"),
    ("FREQ=WEEKLY;BYDAY=MO;BYSETPOS=1", "BYSETPOS goes with"),
    ("FREQ=MONTHLY;BYSETPOS=1", "BYSETPOS needs"),
    ("FREQ=WEEKLY;BYDAY=" + ",".join(["MO"] * 200), "at most 300 characters"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED)
def test_what_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_recurrence(text)


START = datetime(2026, 1, 2, 16, 0)  # noqa: DTZ001 - local time, as in the rule
COMES: list[tuple[str, list[str]]] = [
    ("FREQ=WEEKLY;BYDAY=FR", ["2026-01-02", "2026-01-09", "2026-01-16"]),
    ("FREQ=WEEKLY", ["2026-01-02", "2026-01-09", "2026-01-16"]),
    ("FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO", ["2026-01-04", "2026-01-12", "2026-01-18"]),
    ("FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO;WKST=SU", ["2026-01-11", "2026-01-12", "2026-01-25"]),
    ("FREQ=DAILY;INTERVAL=10", ["2026-01-02", "2026-01-12", "2026-01-22"]),
    ("FREQ=DAILY;COUNT=2", ["2026-01-02", "2026-01-03"]),
    ("FREQ=DAILY;UNTIL=20260103", ["2026-01-02", "2026-01-03"]),
    ("FREQ=DAILY;UNTIL=20260103T155959", ["2026-01-02"]),
    ("FREQ=MONTHLY;BYMONTHDAY=-1", ["2026-01-31", "2026-02-28", "2026-03-31"]),
    ("FREQ=MONTHLY;BYDAY=-1FR", ["2026-01-30", "2026-02-27", "2026-03-27"]),
    ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", ["2026-01-30", "2026-02-27", "2026-03-31"]),
    ("FREQ=MONTHLY", ["2026-01-02", "2026-02-02", "2026-03-02"]),
    ("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24", ["2026-12-24", "2027-12-24", "2028-12-24"]),
    ("FREQ=YEARLY;BYMONTH=11;BYDAY=4TH", ["2026-11-26", "2027-11-25", "2028-11-23"]),
    ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", ["2028-02-29", "2032-02-29", "2036-02-29"]),
]


@pytest.mark.parametrize(("text", "days"), COMES)
def test_when_it_comes_up(text: str, days: list[str]) -> None:
    found = occurrences(parse_recurrence(text), START, START.date(), date(2040, 1, 1))
    assert [str(moment.date()) for moment in islice(found, 3)] == days


NEVER = [
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=DAILY;BYMONTH=4;BYMONTHDAY=31",
    "FREQ=DAILY;INTERVAL=7;BYDAY=MO",
    "FREQ=MONTHLY;INTERVAL=12;BYMONTH=2",
    "FREQ=MONTHLY;BYDAY=5MO;BYMONTHDAY=1",
    "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6",
    "FREQ=DAILY;UNTIL=20251231",
]


@pytest.mark.parametrize("text", NEVER)
def test_what_never_comes_up_is_found_out(text: str) -> None:
    assert not comes_up(parse_recurrence(text), START)


def test_the_rarest_that_is_allowed_comes_up() -> None:
    assert comes_up(parse_recurrence("FREQ=YEARLY;INTERVAL=10;BYMONTH=2;BYMONTHDAY=29"), datetime(2098, 1, 1))  # noqa: DTZ001


WEEKDAYS = st.sampled_from(["MO", "TU", "WE", "TH", "FR", "SA", "SU"])


@st.composite
def rules(draw: st.DrawFn) -> str:
    frequency = draw(st.sampled_from(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]))
    parts = [f"FREQ={frequency}", f"INTERVAL={draw(st.integers(1, 4))}"]
    numbered = st.sampled_from(["", "1", "2", "-1"]) if frequency in {"MONTHLY", "YEARLY"} else st.just("")
    if draw(st.booleans()):
        days = draw(st.lists(st.tuples(numbered, WEEKDAYS), min_size=1, max_size=3, unique=True))
        parts.append("BYDAY=" + ",".join(number + day for number, day in days))
    if draw(st.booleans()):
        parts.append("BYMONTH=" + ",".join(map(str, draw(st.lists(st.integers(1, 12), min_size=1, max_size=4)))))
    if frequency != "WEEKLY" and draw(st.booleans()):
        days_of_month = draw(st.lists(st.integers(1, 28) | st.integers(-5, -1), min_size=1, max_size=4))
        parts.append("BYMONTHDAY=" + ",".join(map(str, days_of_month)))
    if frequency in {"MONTHLY", "YEARLY"} and len(parts) > 2 and draw(st.booleans()):
        parts.append(f"BYSETPOS={draw(st.sampled_from([1, 2, -1]))}")
    if draw(st.booleans()):
        parts.append(f"WKST={draw(WEEKDAYS)}")
    end = draw(st.sampled_from(["", "COUNT=5", "UNTIL=20280301"]))
    return ";".join([*parts, end] if end else parts)


@examples(40)
@given(text=rules(), start=st.datetimes(datetime(2026, 1, 1), datetime(2027, 6, 1)), skip=st.integers(0, 700))  # noqa: DTZ001
def test_it_comes_up_when_the_whole_walk_says(text: str, start: datetime, skip: int) -> None:
    """The walk of dateutil from the start on is the oracle; a last day far off keeps it from walking for ever."""
    start = start.replace(second=0, microsecond=0)
    first, last = start.date() + timedelta(days=skip), date(2029, 1, 1)
    rule = parse_recurrence(text)
    found = list(occurrences(rule, start, first, last))
    if not comes_up(rule, start):
        assert found == []
        return
    walk = rrule.rrulestr(text.replace("UNTIL=20280301", "UNTIL=20280301T235959"), dtstart=start)
    # rules that come up too seldom to be met before the last day make the walk long, not wrong
    expected = []
    for moment in walk:
        if moment.date() > last:
            break
        if moment.date() >= first:
            expected.append(moment)
    assert found == expected
