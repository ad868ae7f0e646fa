"""Clocks that are wrong, times that come twice, records of one second, and years far away: through the command line."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from people import ADA, BEN, become, set_clock, stage
from support import FIRST, SECOND, Shop

Clock = Callable[[str], None]
YESTERDAY, TODAY, TOMORROW = "2026-03-09T12:00:00Z", "2026-03-10T12:00:00Z", "2026-03-11T12:00:00Z"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return lambda at: set_clock(monkeypatch, at)


def made_at(shop: Shop) -> dict[str, str]:
    """Return every stored result with the time that it says of itself."""
    found = shop.files("releases/evidence")
    return {name: json.loads(data)["predicate"]["pawl"]["finished_at"] for name, data in found.items()}


# A day off


def test_evidence_of_a_clock_a_day_ahead_counts_for_nothing(plain_shop: Shop, clock: Clock) -> None:
    clock(TODAY)
    plain_shop.publish_first()
    clock(TOMORROW)
    plain_shop.promote(*FIRST, to="staging")
    ahead = made_at(plain_shop)
    assert {TOMORROW} == set(ahead.values())
    clock(TODAY)
    plain_shop.promote(*FIRST, to="production")
    anew = {name: at for name, at in made_at(plain_shop).items() if name not in ahead}
    assert len(anew) == len(ahead)
    assert {TODAY} == set(anew.values())


def test_an_approval_of_a_clock_a_day_ahead_waits_for_its_day(
    shop: Shop, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock(TODAY)
    stage(shop)
    clock(TOMORROW)
    become(monkeypatch, BEN)
    shop.pawl("approve", *FIRST, "--channel", "production", "--reason", "read it")
    become(monkeypatch, ADA)
    clock(TODAY)
    answer = shop.promote(*FIRST, to="production", code=8)
    assert "which has not come yet" in json.dumps(answer)
    clock(TOMORROW)
    shop.promote(*FIRST, to="production")


def test_a_clock_a_day_back_changes_no_order_and_what_ended_is_warned_of(plain_shop: Shop, clock: Clock) -> None:
    clock(TODAY)
    plain_shop.release_first()
    clock(YESTERDAY)
    plain_shop.second()
    plain_shop.pawl("publish")
    for channel in ("staging", "production"):
        assert "clock-back" in plain_shop.codes(plain_shop.promote(*SECOND, to=channel), "warning")
    assert "2.0.0" == plain_shop.version("support/refund")
    answer = plain_shop.rollback("support/refund")  # by serial, the one before is version 1
    assert [("1.0.0", 3)] == [(move["to"], answer["serial"]) for move in answer["moves"]]
    rows = plain_shop.pawl("history", "production")["records"]
    assert [1, 2, 3] == [row["serial"] for row in rows]
    plain_shop.pawl("verify")


# The very moment


@pytest.mark.parametrize(("at", "code"), [("2026-03-10T12:59:59Z", 7), ("2026-03-10T13:00:00Z", 0)])
def test_a_freeze_is_over_at_its_very_end(plain_shop: Shop, clock: Clock, at: str, code: int) -> None:
    clock(TODAY)
    plain_shop.publish_first()
    plain_shop.pawl("freeze", "staging", "--until", "2026-03-10T13:00:00Z", "--reason", "wait")
    clock(at)
    plain_shop.promote(*FIRST, to="staging", code=code)


def test_everything_in_one_second_keeps_the_order_of_serials(plain_shop: Shop, clock: Clock) -> None:
    clock(TODAY)
    plain_shop.release_first()
    plain_shop.release_second()
    plain_shop.rollback("support/refund")
    rows = plain_shop.pawl("history", "production")["records"]
    assert [(1, TODAY), (2, TODAY), (3, TODAY)] == [(row["serial"], row["at"]) for row in rows]
    for at, serial in (("2026-03-10T11:59:59Z", 0), (TODAY, 3), ("2026-03-10T13:00:00+01:00", 3)):
        assert serial == plain_shop.pawl("history", "production", "--at", at)["serial"]
    answer = plain_shop.pawl("verify")
    assert "clock-back" not in plain_shop.codes(answer, "warning")


def test_one_command_has_one_moment(plain_shop: Shop, clock: Clock) -> None:
    """Everything that a promotion writes is of the second in which it began."""
    clock(TODAY)
    plain_shop.publish_first()
    before = plain_shop.files()
    clock(TOMORROW)
    plain_shop.promote(*FIRST, to="staging")
    new = b"\n".join(data for name, data in plain_shop.files("releases").items() if name not in before)
    assert TOMORROW.encode() in new
    assert TODAY.encode() not in new


# Clock changes and far years

NIGHTS = """\
policy: nights
owner: operations
rules:
  - id: NIGHT-1
    class: readiness
    level: absolute
    applies: {channels: [staging]}
    freeze:
      recurrence: FREQ=DAILY
      start: 2026-01-01T02:30
      duration: PT1H
      time_zone: America/St_Johns
      reason: The batch runs.
    message: Nothing moves while the batch runs.
    tests:
      - {name: at night, procedure: {}, now: "2026-01-02T06:30:00Z", expect: denied}
      - {name: by day, procedure: {}, now: "2026-01-02T12:00:00Z", expect: allowed}
"""

MOMENTS = [  # St. John's is at UTC-3:30, and from 8 March 2026 02:00 to 1 November 02:00 at UTC-2:30
    ("2026-03-07T05:59:59Z", 0),
    ("2026-03-07T06:00:00Z", 7),  # 02:30 of the standard time
    ("2026-03-07T06:59:59Z", 7),
    ("2026-03-07T07:00:00Z", 0),
    ("2026-03-08T05:59:59Z", 0),  # 02:30 is not there: an hour later on the clock, 03:30 of the summer time
    ("2026-03-08T06:00:00Z", 7),
    ("2026-03-08T07:00:00Z", 0),
    ("2026-03-09T05:00:00Z", 7),  # 02:30 of the summer time
    ("2026-03-09T06:00:00Z", 0),
    ("2026-11-01T05:00:00Z", 0),  # 01:30 for the second time
    ("2026-11-01T06:00:00Z", 7),  # 02:30 is there once, after the clock went from 02:00 back to 01:00
    ("2026-11-01T07:00:00Z", 0),
]


def test_a_daily_freeze_over_both_clock_changes(plain_shop: Shop, clock: Clock) -> None:
    plain_shop.write("registry/policies/nights.yaml", NIGHTS)
    clock("2026-03-06T12:00:00Z")
    plain_shop.publish_first()
    words = ("promote", *FIRST, "--to", "staging", "--reason", "try", "--dry-run")
    found = []
    for at, code in MOMENTS:
        clock(at)
        found.append((at, plain_shop.pawl(*words, code=code)["exit_code"]))
    assert MOMENTS == found


@pytest.mark.parametrize("year", ["1970", "2038-01-20", "9998"])
def test_years_far_away(plain_shop: Shop, clock: Clock, year: str) -> None:
    at = f"{year if '-' in year else f'{year}-01-01'}T12:00:00Z"
    clock(at)
    plain_shop.release_first()
    plain_shop.pawl("halt", "support/refund", "--channel", "production", "--reason", "stop")
    assert [at] * 2 == [row["at"] for row in plain_shop.pawl("history", "production")["records"]]
    assert 2 == plain_shop.pawl("history", "production", "--at", at)["serial"]
    plain_shop.pawl("verify")
    plain_shop.pawl("status")
