"""Globs: what they cover, what is refused, and that none is silently useless."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.ids import parse_name
from pawl.policy.globs import glob_fault, matching_example
from pawl.procedures.globs import glob_matches

COVERS = [
    ("support/refund*", "support/refund", True),
    ("support/refund*", "support/refund-draft", True),
    ("support/refund*", "support/refund/retail/draft", True),
    ("support/refund*", "support/refun", False),
    ("support/refund*", "x/support/refund", False),
    ("support/refund", "support/refund", True),
    ("support/refund", "support/refund-draft", False),
    ("*", "a", True),
    ("*", "a/b/c", True),
    ("*/refund", "support/refund", True),
    ("*/refund", "a/b/refund", True),
    ("*/refund", "refund", False),
    ("*refund", "refund", True),
    ("a*a", "a", False),
    ("a*a", "aa", True),
    ("a*b*c", "a/xbx/c", True),
    ("a*b*c", "acb", False),
    ("*ab*ab", "ab", False),
    ("*ab*ab", "abab", True),
    ("*aab", "aaab", True),
]
REFUSED = [
    "",
    "**",
    "support/**",
    "support/?",
    "support/[ab]",
    "Support/*",
    "support//x",
    "/x",
    "x/",
    "x y",
    "-*",
    "*-",
    "x/*/_",
    "é*",
]

globs = st.text(alphabet="ab/*-", min_size=1, max_size=12)
names = st.text(alphabet="ab/-", min_size=1, max_size=12)


@pytest.mark.parametrize(("glob", "name", "covered"), COVERS)
def test_what_a_glob_covers(glob: str, name: str, covered: bool) -> None:
    assert glob_fault(glob) is None
    assert covered == glob_matches(glob, name)


@pytest.mark.parametrize("glob", REFUSED)
def test_a_glob_that_can_match_no_name_is_refused(glob: str) -> None:
    assert glob_fault(glob)


@given(glob=globs, name=names)
def test_a_star_is_any_run_of_characters(glob: str, name: str) -> None:
    pattern = ".*".join(map(re.escape, glob.split("*")))
    assert bool(re.fullmatch(pattern, name, re.DOTALL)) == glob_matches(glob, name)


@given(glob=globs)
def test_a_glob_without_fault_covers_a_name(glob: str) -> None:
    if glob_fault(glob) is None:
        example = matching_example(glob)
        assert parse_name(example) == example
        assert glob_matches(glob, example)


@given(glob=globs, name=names)
def test_a_refused_glob_covers_no_name(glob: str, name: str) -> None:
    if glob_fault(glob) is not None and "**" not in glob and glob_matches(glob, name):
        with pytest.raises(ValueError, match="is not a name"):
            parse_name(name)
