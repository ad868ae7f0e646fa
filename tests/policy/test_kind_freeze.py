"""Freezes: when a channel stands still, to the moment, through clock changes; whom it spares; what is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgets import examples
from pawl.policy.context import RuleContext, RuleOutcome
from pawl.policy.facts import Facts
from pawl.policy.kinds.freeze import FreezeBody, next_windows, read_freeze, window_at, windows
from pawl.policy.kinds.known import RULE_KINDS
from pawl.registry.channels_grants import Identity
from policy.make import context, procedure

WEEKEND: dict[str, Any] = {
    "recurrence": "FREQ=WEEKLY;BYDAY=FR",
    "start": "2026-01-02T16:00",
    "duration": "PT64H",
    "time_zone": "Europe/Berlin",
    "reason": "Nobody is there.",
}
YEAR_END: dict[str, Any] = {
    "start": "2026-12-20",
    "duration": "P14D",
    "time_zone": "America/New_York",
    "reason": "Year end.",
}


def body(**fields: Any) -> FreezeBody:
    freeze, faults = read_freeze({**WEEKEND, **fields})
    assert freeze is not None, faults
    return freeze


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


EDGES = [  # now in UTC, whether it is frozen; Berlin is an hour ahead in winter and two in summer
    ("2026-01-02T14:59:59.999999Z", False),
    ("2026-01-02T15:00:00Z", True),
    ("2026-01-05T06:59:59.999999Z", True),
    ("2026-01-05T07:00:00Z", False),
    ("2025-12-26T16:00:00Z", False),  # a Friday before the start
    ("2026-06-12T13:59:59Z", False),
    ("2026-06-12T14:00:00Z", True),
    ("2026-06-15T06:00:00Z", False),
    ("2100-01-01T15:00:00Z", True),
]


@pytest.mark.parametrize(("now", "frozen"), EDGES)
def test_a_window_holds_from_its_first_moment_until_its_last(now: str, frozen: bool) -> None:
    assert (window_at(body(), moment(now)) is not None) == frozen


ONCE = [
    ("2026-12-20T04:59:59Z", False),
    ("2026-12-20T05:00:00Z", True),
    ("2027-01-03T04:59:59Z", True),
    ("2027-01-03T05:00:00Z", False),
    ("2027-12-25T00:00:00Z", False),
]


@pytest.mark.parametrize(("now", "frozen"), ONCE)
def test_without_a_recurrence_it_comes_once(now: str, frozen: bool) -> None:
    freeze, _ = read_freeze(YEAR_END)
    assert freeze is not None
    assert (window_at(freeze, moment(now)) is not None) == frozen


CLOCK_CHANGES = [  # Berlin: 2026-03-29 02:00 becomes 03:00, 2026-10-25 03:00 becomes 02:00
    # a day of the calendar from midnight to midnight
    ("2026-03-29", "P1D", "2026-03-28T23:00:00+00:00", "2026-03-29T22:00:00+00:00"),
    ("2026-10-25", "P1D", "2026-10-24T22:00:00+00:00", "2026-10-25T23:00:00+00:00"),
    # exactly 24 hours
    ("2026-03-29", "PT24H", "2026-03-28T23:00:00+00:00", "2026-03-29T23:00:00+00:00"),
    ("2026-10-25", "PT24H", "2026-10-24T22:00:00+00:00", "2026-10-25T22:00:00+00:00"),
    # 02:30 is not there: it begins at 03:30 of the new time, as long after midnight as ever
    ("2026-03-29T02:30", "PT1H", "2026-03-29T01:30:00+00:00", "2026-03-29T02:30:00+00:00"),
    # 02:30 is there twice: it begins at the first
    ("2026-10-25T02:30", "PT1H", "2026-10-25T00:30:00+00:00", "2026-10-25T01:30:00+00:00"),
    # two days and an hour over the change: the days end at the same wall-clock time
    ("2026-03-28T12:00", "P2DT1H", "2026-03-28T11:00:00+00:00", "2026-03-30T11:00:00+00:00"),
]


@pytest.mark.parametrize(("start", "duration", "begins", "ends"), CLOCK_CHANGES)
def test_clock_changes(start: str, duration: str, begins: str, ends: str) -> None:
    freeze, faults = read_freeze(
        {"start": start, "duration": duration, "time_zone": "Europe/Berlin", "reason": "because"}
    )
    assert freeze is not None, faults
    (window,) = windows(freeze, after=moment("2026-01-01T00:00:00Z"), before=moment("2027-01-01T00:00:00Z"))
    assert (window.start, window.end) == (moment(begins), moment(ends))


def test_a_daily_freeze_keeps_its_wall_clock_time_over_a_change() -> None:
    freeze = body(recurrence="FREQ=DAILY", start="2026-03-27T22:00", duration="PT2H")
    found = next_windows(freeze, moment("2026-03-27T00:00:00Z"), 4)
    assert [window.start.hour for window in found] == [21, 21, 20, 20]


def test_a_preview_begins_with_the_window_that_holds() -> None:
    found = next_windows(body(), moment("2026-01-03T00:00:00Z"), 2)
    assert [str(window) for window in found] == [
        "2026-01-02T15:00:00Z to 2026-01-05T07:00:00Z",
        "2026-01-09T15:00:00Z to 2026-01-12T07:00:00Z",
    ]
    over, _ = read_freeze(YEAR_END)
    assert over is not None
    assert next_windows(over, moment("2028-01-01T00:00:00Z"), 2) == ()


@examples(20)
@given(
    now=st.datetimes(datetime(2026, 1, 3), datetime(2030, 1, 1)),  # noqa: DTZ001
    zone=st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]),
    rule=st.sampled_from(["FREQ=DAILY", "FREQ=WEEKLY;BYDAY=MO,SA", "FREQ=MONTHLY;BYMONTHDAY=-1", "FREQ=YEARLY"]),
    duration=st.sampled_from(["PT1H", "P1D", "P3DT4H", "P10D"]),
)
def test_what_holds_now_is_what_the_list_of_windows_says(now: datetime, zone: str, rule: str, duration: str) -> None:
    now = now.replace(tzinfo=UTC)
    freeze = body(recurrence=rule, time_zone=zone, duration=duration, start="2026-01-01T05:00")
    listed = windows(freeze, after=now - timedelta(days=400), before=now + timedelta(days=400))
    holding = [window for window in listed if window.start <= now < window.end]
    assert (window_at(freeze, now) is not None) == bool(holding)


FROZEN = moment("2026-01-03T00:00:00Z")
RELEASE = Facts(
    roles=("release",), requester=Identity(name="Ada", email="ada@example.invalid", kind="human", verified=False)
)
SAYS: list[tuple[dict[str, Any], dict[str, Any], RuleOutcome, str]] = [
    ({}, {}, "failed", "stands still from 2026-01-02T15:00:00Z to 2026-01-05T07:00:00Z: Nobody is there."),
    ({}, {"now": moment("2026-01-06T00:00:00Z")}, "passed", "production is open"),
    ({}, {"action": "rollback"}, "not-applicable", "it holds promote, and this is rollback"),
    ({}, {"action": "audit"}, "not-applicable", "this is audit"),
    ({"actions": ["promote", "rollback"]}, {"action": "rollback"}, "failed", "stands still"),
    ({"spares": {"names": ["support/*"]}}, {}, "passed", "it spares support/refund"),
    ({"spares": {"names": ["billing/*"]}}, {}, "failed", "stands still"),
    ({"spares": {"labels": {"risk": "low"}}}, {}, "passed", "it spares risk: low"),
    ({"spares": {"labels": {"risk": "low", "domain": "x"}}}, {}, "failed", "stands still"),
    ({"spares": {"roles": ["release"]}}, {"facts": RELEASE}, "passed", "the role release, which Ada"),
    ({"spares": {"roles": ["risk"]}}, {"facts": RELEASE}, "failed", "stands still"),
    ({"spares": {"roles": ["release"]}}, {}, "failed", "stands still"),
    ({}, {"facts": Facts(leaving="it is revoked")}, "passed", "what is live must not stay: it is revoked"),
    ({"duration": "moon"}, {}, "errored", "freeze.duration"),
    ({"time_zone": "Mars/Olympus"}, {}, "errored", "no time zone"),
    ({}, {"now": datetime.max.replace(tzinfo=UTC)}, "errored", "out of the calendar"),
]


@pytest.mark.parametrize(("fields", "asked", "outcome", "says"), SAYS)
def test_what_a_freeze_says(fields: dict[str, Any], asked: dict[str, Any], outcome: RuleOutcome, says: str) -> None:
    about: RuleContext = context(procedure(labels={"risk": "low"}), **{"now": FROZEN, **asked})
    found, why = RULE_KINDS["freeze"].evaluate({**WEEKEND, **fields}, about)
    assert (found, says in why) == (outcome, True), why


def test_in_detail_an_open_channel_says_what_comes() -> None:
    about = context(now=moment("2026-01-06T00:00:00Z"), detail=True)
    assert (
        RULE_KINDS["freeze"]
        .evaluate(WEEKEND, about)[1]
        .endswith("the next freeze is 2026-01-09T15:00:00Z to 2026-01-12T07:00:00Z")
    )


REFUSED: list[tuple[dict[str, Any], str, tuple[Any, ...]]] = [
    ({"start": None}, "policy-field-invalid", ("start",)),
    ({"start": "2026-01-02T16:00Z"}, "policy-field-invalid", ("start",)),
    ({"start": "2026-01-02T16:00+01:00"}, "policy-field-invalid", ("start",)),
    ({"start": "2026-02-30"}, "policy-field-invalid", ("start",)),
    ({"start": "1999-01-01"}, "policy-field-invalid", ("start",)),
    ({"start": "9999-12-31"}, "policy-field-invalid", ("start",)),
    ({"duration": "P1M"}, "policy-field-invalid", ("duration",)),
    ({"duration": "P367D"}, "policy-field-invalid", ("duration",)),
    ({"time_zone": "CET+1:30"}, "policy-field-invalid", ("time_zone",)),
    ({"time_zone": "../../etc/passwd"}, "policy-field-invalid", ("time_zone",)),
    ({"time_zone": "Europe/Atlantis"}, "policy-field-invalid", ("time_zone",)),
    ({"recurrence": "FREQ=MINUTELY"}, "policy-field-invalid", ("recurrence",)),
    ({"recurrence": 7}, "policy-field-invalid", ("recurrence",)),
    ({"recurrence": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"}, "freeze-never", ("recurrence",)),
    ({"actions": []}, "policy-field-invalid", ("actions",)),
    ({"actions": ["resolve"]}, "policy-field-invalid", ("actions", 0)),
    ({"actions": ["promote", "promote"]}, "policy-field-invalid", ("actions", 1)),
    ({"reason": " "}, "policy-field-invalid", ("reason",)),
    ({"spares": []}, "policy-field-invalid", ("spares",)),
    ({"spares": {"names": ["A*"]}}, "glob-invalid", ("spares", "names", 0)),
    ({"spares": {"people": ["x"]}}, "policy-field-unknown", ("spares", "people")),
    ({"spares": {"labels": {"risk": 1}}}, "policy-field-invalid", ("spares", "labels")),
    ({"until": "2026-01-01"}, "policy-field-unknown", ("until",)),
]


@pytest.mark.parametrize(("fields", "code", "at"), REFUSED)
def test_what_is_refused_and_where(fields: dict[str, Any], code: str, at: tuple[Any, ...]) -> None:
    faults = RULE_KINDS["freeze"].check({**WEEKEND, **fields})
    assert [(fault.code, fault.at) for fault in faults] == [(code, at)]


@pytest.mark.parametrize("field", ["start", "duration", "time_zone", "reason"])
def test_what_cannot_be_left_out(field: str) -> None:
    faults = RULE_KINDS["freeze"].check({key: value for key, value in WEEKEND.items() if key != field})
    assert [(fault.code, fault.message) for fault in faults] == [("policy-field-missing", f"freeze needs {field}")]


def test_of_windows_that_overlap_the_one_that_ends_last_is_told() -> None:
    freeze = body(recurrence="FREQ=DAILY", duration="P3D")
    found = window_at(freeze, moment("2026-01-05T12:00:00Z"))
    assert str(found) == "2026-01-04T15:00:00Z to 2026-01-07T15:00:00Z"


@pytest.mark.parametrize("actions", ["promote", None, {"promote": 1}, 7])
def test_actions_that_are_no_list_are_a_fault_and_nothing_more(actions: Any) -> None:
    assert RULE_KINDS["freeze"].actions({**WEEKEND, "actions": actions}) is None
    assert [fault.at for fault in RULE_KINDS["freeze"].check({**WEEKEND, "actions": actions})] == [("actions",)]
