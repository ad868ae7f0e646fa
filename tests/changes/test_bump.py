"""Which version a change asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.changes.bump import bump_ok, smallest_version
from pawl.changes.values import LEVELS, Level
from pawl.ids import Version, parse_version

CASES: list[tuple[str, str, Level, bool]] = [
    ("1.2.3", "1.2.4", "patch", True),
    ("1.2.3", "1.2.3", "patch", False),
    ("1.2.3", "1.2.3", "none", True),
    ("1.2.3", "1.2.2", "none", False),
    ("1.2.3", "1.2.2", "patch", False),
    ("1.2.3", "1.2.4", "minor", False),
    ("1.2.3", "1.3.0", "minor", True),
    ("1.2.3", "1.4.7", "minor", True),
    ("1.2.3", "2.0.0", "minor", True),
    ("1.2.3", "1.3.0", "major", False),
    ("1.2.3", "2.0.0", "major", True),
    ("0.3.0", "0.4.0", "major", False),
    ("0.3.0", "1.0.0", "major", True),
    ("1.2.3", "2.0.0rc1", "major", True),
    ("1.2.3", "1.3.0a1", "major", False),
    ("1.2.3", "1.3.0a1", "minor", True),
    ("1.2.3", "1.2.4b2", "patch", True),
    ("1.2.3", "1.2.3rc1", "patch", False),
    ("2.0.0a1", "2.0.0b1", "major", True),
    ("2.0.0a1", "2.0.0", "major", True),
    ("2.0.0rc1", "2.0.0b9", "patch", False),
    ("1.9.0", "1.10.0", "minor", True),
    ("2.0.0", "1.99.0", "minor", False),
]
NUMBERS = st.integers(min_value=0, max_value=50)
VERSIONS = st.builds(
    lambda x, y, z, stage: Version(f"{x}.{y}.{z}{stage}"),
    NUMBERS,
    NUMBERS,
    NUMBERS,
    st.sampled_from(("", "", "a0", "b2", "rc1", "rc10")),
)


@pytest.mark.parametrize(("base", "new", "level", "expected"), CASES)
def test_bump(base: str, new: str, level: Level, expected: bool) -> None:
    assert expected == bump_ok(Version(base), Version(new), level)


@pytest.mark.parametrize(
    ("base", "level", "expected"),
    [
        ("1.2.3", "none", "1.2.3"),
        ("1.2.3", "patch", "1.2.4"),
        ("1.2.3", "minor", "1.3.0"),
        ("1.2.3", "major", "2.0.0"),
        ("0.3.0", "major", "1.0.0"),
        ("2.0.0rc1", "major", "2.0.0"),
        ("1.2.999999999", "patch", "1.3.0"),
        ("1.999999999.3", "minor", "2.0.0"),
        ("1.999999999.999999999", "patch", "2.0.0"),
        ("999999999.0.0", "minor", "999999999.1.0"),
        ("999999999.0.0rc1", "major", "999999999.0.0"),
        ("999999999.0.0", "major", None),
        ("999999999.999999999.0", "minor", None),
        ("999999999.999999999.999999999", "patch", None),
        ("999999999.999999999.999999999", "none", "999999999.999999999.999999999"),
    ],
)
def test_smallest(base: str, level: Level, expected: str | None) -> None:
    assert expected == smallest_version(Version(base), level)


@given(VERSIONS, VERSIONS, st.sampled_from(LEVELS))
def test_the_smallest_version_is_enough_and_nothing_final_below_it_is(
    base: Version, other: Version, level: Level
) -> None:
    smallest = smallest_version(base, level)
    assert smallest is not None
    assert bump_ok(base, smallest, level)
    final = not any(letter in other for letter in "abr")
    if final and bump_ok(base, other, level):
        assert bump_ok(smallest, other, "none")


@given(VERSIONS, VERSIONS)
def test_what_is_enough_for_more_is_enough_for_less(base: Version, new: Version) -> None:
    answers = [bump_ok(base, new, level) for level in LEVELS]
    assert answers == sorted(answers, reverse=True)


def test_what_is_no_version_is_refused() -> None:
    with pytest.raises(ValueError, match="not a version"):
        bump_ok(Version("1.0"), Version("1.1.0"), "minor")


@pytest.mark.parametrize("text", ["999999999999.0.0", "1.0.1rc99999999999999999", "1.1000000000.0", "1.0.01"])
def test_what_no_number_can_be_says_how_long_one_is(text: str) -> None:
    with pytest.raises(ValueError, match="at most 9 digits and without zeros in front"):
        parse_version(text)
