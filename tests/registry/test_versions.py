"""Order of versions and what specifiers take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.ids import Version
from pawl.registry.versions import is_prerelease, newest_first, satisfies

SATISFIES = [
    ("1.10.0", ">=1.2", True),
    ("1.2.0", ">=1.10", False),
    ("2.0.0rc1", ">=1,<2", False),
    ("2.0.0rc1", "<2", False),
    ("2.0.0rc1", ">=2", False),
    ("1.5.0b2", ">=1,<2", True),
    ("1.5.0a1", "==1.5.0", False),
    ("1.5.0a1", "==1.5.0a1", True),
    ("1.5.3", "~=1.5", True),
    ("2.0.0", "~=1.5", False),
    ("1.5.3", "==1.5.*", True),
    ("1.5.3", "!=1.5.3", False),
]


@pytest.mark.parametrize(("version", "specifier", "expected"), SATISFIES)
def test_specifiers(version: str, specifier: str, expected: bool) -> None:
    assert satisfies(Version(version), specifier) is expected


def test_newest_first() -> None:
    versions = [Version(text) for text in ("1.9.0", "1.10.0", "1.10.0rc1", "1.10.0a2", "1.10.0a10", "2.0.0a1")]
    wanted = ["2.0.0a1", "1.10.0", "1.10.0rc1", "1.10.0a10", "1.10.0a2", "1.9.0"]
    assert list(newest_first(versions)) == wanted
    assert [text for text in wanted if is_prerelease(Version(text))] == [
        "2.0.0a1",
        "1.10.0rc1",
        "1.10.0a10",
        "1.10.0a2",
    ]


@given(st.lists(st.tuples(*[st.integers(0, 20)] * 3), max_size=8))
def test_final_versions_are_ordered_as_their_numbers(numbers: list[tuple[int, ...]]) -> None:
    versions = [Version(".".join(map(str, row))) for row in numbers]
    assert newest_first(versions) == tuple(Version(".".join(map(str, row))) for row in sorted(numbers, reverse=True))
