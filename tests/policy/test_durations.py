"""Lengths of time as ISO 8601 writes them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.policy.durations import duration_words, parse_duration

GOOD = [
    ("P30D", timedelta(days=30)),
    ("PT24H", timedelta(hours=24)),
    ("P1DT12H", timedelta(days=1, hours=12)),
    ("P2W", timedelta(days=14)),
    ("P1W2DT3H4M5S", timedelta(days=9, hours=3, minutes=4, seconds=5)),
    ("PT1S", timedelta(seconds=1)),
    ("P3660D", timedelta(days=3660)),
]


@pytest.mark.parametrize(("text", "length"), GOOD)
def test_a_length_of_time(text: str, length: timedelta) -> None:
    assert parse_duration(text).exact == length


def test_days_are_kept_apart_from_hours() -> None:
    assert (parse_duration("P1D").days, parse_duration("P1D").rest) == (1, timedelta())
    assert (parse_duration("PT24H").days, parse_duration("PT24H").rest) == (0, timedelta(hours=24))


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "P",
            "PT",
            "P1",
            "30D",
            "P30d",
            "P1M",
            "P1Y",
            "P1.5D",
            "P-1D",
            "+P1D",
            "P1DT",
            "PT1D",
            "P1H",
            "P0D",
            "PT0S",
        ),
        *("P3661D", "PT99999H", "P1D ", "P1D\n", "P\u0661D", "24h", "P1D1W", "P99999D"),
    ],
)
def test_what_is_no_length(text: str) -> None:
    with pytest.raises(ValueError, match=r"length of time|between one second"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (timedelta(days=30), "30 days"),
        (timedelta(hours=30), "1 day 6 hours"),
        (timedelta(days=1, seconds=1), "1 day 1 second"),
        (timedelta(days=2, hours=3, minutes=4), "2 days 3 hours"),
        (timedelta(milliseconds=5), "0 seconds"),
        (timedelta(days=-1), "0 seconds"),
    ],
)
def test_a_length_in_words(length: timedelta, words: str) -> None:
    assert duration_words(length) == words


@given(st.text(alphabet="PTWDHMS0123456789.-+ ", max_size=12) | st.text(max_size=6))
def test_any_text_is_a_length_or_refused(text: str) -> None:
    try:
        length = parse_duration(text)
    except ValueError:
        return
    assert timedelta(seconds=1) <= length.exact <= timedelta(days=3660)
