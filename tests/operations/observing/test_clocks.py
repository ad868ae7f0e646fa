"""A clock that was set back changes no order, and nobody is left to find that out."""

from __future__ import annotations

import pytest

from people import set_clock
from support import FIRST, Shop

EARLY, LATE = "2999-03-01T12:00:00Z", "2999-03-02T12:00:00Z"


@pytest.fixture
def back(plain_shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Version 1 everywhere, and then it is a day earlier."""
    set_clock(monkeypatch, LATE)
    plain_shop.release_first()
    set_clock(monkeypatch, EARLY)
    return plain_shop


def told(shop: Shop, *words: str, code: int = 0) -> list[str]:
    return [row["message"] for row in shop.pawl(*words, code=code)["problems"] if row["code"] == "clock-back"]


def test_a_clock_that_never_went_back_is_not_spoken_of(plain_shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, LATE)
    plain_shop.release_first()
    plain_shop.second()
    plain_shop.pawl("publish")
    answer = plain_shop.promote("support/check-eligibility@1.0.0", to="staging")
    assert "clock-back" not in plain_shop.codes(answer, "warning")
    assert [] == told(plain_shop, "verify")
    assert "clock_back" not in str(plain_shop.pawl("history", "staging"))


@pytest.mark.parametrize(("at", "count"), [("2999-03-02T11:59:01Z", 0), ("2999-03-02T11:59:00Z", 1)])
def test_less_than_a_minute_is_nobodys_fault(
    plain_shop: Shop, monkeypatch: pytest.MonkeyPatch, at: str, count: int
) -> None:
    """Who waited for the lock is of an earlier second than who had it, and no two machines have one clock."""
    set_clock(monkeypatch, LATE)
    plain_shop.release_first()
    set_clock(monkeypatch, at)
    plain_shop.second()
    plain_shop.pawl("publish")
    answer = plain_shop.promote("support/check-eligibility@1.0.0", to="staging")
    assert count == plain_shop.codes(answer, "warning").count("clock-back")
    assert 3 * count == len(told(plain_shop, "verify"))  # two steps back, and production ends later than it is now
    assert count == len(told(plain_shop, "status"))
    assert [None, True if count else None] == [
        row.get("clock_back") for row in plain_shop.pawl("history", "staging")["records"]
    ]


def test_a_release_says_that_the_clock_is_before_the_newest_record(back: Shop) -> None:
    reason = ("--reason", "errors", "--dry-run")
    for words, code in (
        (("remove", FIRST[0].partition("@")[0], "--channel", "production"), 0),
        (("rollback", FIRST[0].partition("@")[0], "--channel", "production"), 3),
    ):
        channel, registry = told(back, *words, *reason, code=code)
        assert channel == f"it is {EARLY} by the clock here, and record 1 of production is of {LATE}"
        assert registry.endswith(f"of registry is of {LATE}")


def test_verify_and_history_name_the_records(back: Shop) -> None:
    back.second()
    back.pawl("publish")
    answer = back.promote("support/check-eligibility@1.0.0", to="staging")
    assert 1 == back.codes(answer, "warning").count("clock-back")  # the newest of the registry is early, too
    messages = told(back, "verify")
    assert f"record 2 of staging is of {EARLY}, and record 1 before it of {LATE}" in messages
    assert [True] == [f"of {EARLY}" in message for message in messages if "of registry" in message]
    rows = back.pawl("history", "staging")["records"]
    assert [None, True] == [row.get("clock_back") for row in rows]


def test_a_record_of_a_time_to_come_is_told_until_that_time(back: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [
        f"it is {EARLY} by the clock here, and record {serial} of {journal} is of {LATE}"
        for journal, serial in (("registry", 2), ("production", 1), ("staging", 1))
    ]
    for words in (("status",), ("verify",)):
        assert expected == told(back, *words)
    set_clock(monkeypatch, LATE)
    for words in (("status",), ("verify",)):
        assert [] == told(back, *words)
