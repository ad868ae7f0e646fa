"""Texts as a readable diff: what is marked, what is made visible, and that nothing is unbounded."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.cli.text_diff import MAX_LINE, MAX_LINES, Line, cut, text_diff, value_lines


def shown(old: str, new: str) -> list[str]:
    return [f"{sign} {text}" for sign, text in text_diff(old, new)]


CASES: dict[str, tuple[str, str, list[str]]] = {
    "equal": ("a\nb\n", "a\nb\n", []),
    "one-word": ("Never promise money.", "Never promise refunds.", [
        "@ line 1", "- Never promise [-money-].", "+ Never promise {+refunds+}.",
    ]),
    "a-phrase-is-marked-as-one": ("Where an order is now", "Where a parcel is now", [
        "@ line 1", "- Where [-an order-] is now", "+ Where {+a parcel+} is now",
    ]),
    "a-word-less": ("Never ever promise it", "Never promise it", [
        "@ line 1", "- Never[- ever-] promise it", "+ Never promise it",
    ]),
    "another-line": ("The sky is blue today", "42", ["@ line 1", "- The sky is blue today", "+ 42"]),
    "lines-in-pairs": ("a one b\nc two d\n", "a 1 b\nc 2 d\n", [
        "@ line 1", "- a [-one-] b", "+ a {+1+} b", "- c [-two-] d", "+ c {+2+} d",
    ]),
    "added": ("a\nb\n", "a\nx\nb\n", ["@ line 1", "  a", "+ x", "  b"]),
    "removed": ("a\nb\nc\n", "a\nc\n", ["@ line 1", "  a", "- b", "  c"]),
    "context-is-two-lines": ("1\n2\n3\n4\n5\n6\n7\n", "1\n2\n3\nx\n5\n6\n7\n", [
        "@ line 2", "  2", "  3", "- 4", "+ x", "  5", "  6",
    ]),
    "far-apart": ("a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n", [
        "@ line 1", "- a", "+ A", "  1", "  2", "@ line 6", "  5", "  6", "- b", "+ B",
    ]),
    "trailing-blank": ("word one two\n", "word one two \t\n", ["@ line 1", "- word one two", "+ word one two·→"]),
    "line-end-lost": ("a b\n", "a b", ["@ line 1", "- a b", "+ a b", "~ no line end after it"]),
    "line-end-gained": ("a b", "a b\n", ["@ line 1", "- a b", "~ no line end after it", "+ a b"]),
    "line-end-missing-on-both": ("a b c", "a b d", ["@ line 1", "- a b [-c-]", "+ a b {+d+}"]),
    "one-empty-line-more": ("a\n", "a\n\n", ["@ line 1", "  a", "+ "]),
    "from-nothing": ("", "a\nb", ["@ line 1", "+ a", "+ b"]),
    "other-line-breaks-are-no-lines": ("a\u2028b c d\n", "a\u2028b c e\n", [
        "@ line 1", "- a\\u2028b c [-d-]", "+ a\\u2028b c {+e+}",
    ]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_a_person_sees(case: str) -> None:
    old, new, expected = CASES[case]
    assert shown(old, new) == expected


def test_a_long_line_is_cut_around_what_changed() -> None:
    old = "word " * 5_000 + "x " + "word " * 5_000
    minus, plus = text_diff(old, old.replace("x", "y"))[1:]
    assert "x" in minus[1]
    assert "y" in plus[1]
    assert max(len(minus[1]), len(plus[1])) < MAX_LINE + 60


def test_a_huge_text_says_how_much_is_left_out() -> None:
    lines = text_diff("", "\n".join(str(number) for number in range(100_000)))
    assert lines[-1] == ("~", "99,970 more lines of this side are left out")
    old = "\n".join(f"{number}\nkept\n" for number in range(100))
    assert text_diff(old, old.replace("5", "five"))[-1][1].endswith("more lines are left out")


@pytest.mark.parametrize(
    ("old", "new"),
    [("\n" * 100_000, "\n" * 99_000 + "x"), ("x\n" * 40_000, "y\nx\n" * 20_000), ("a b " * 30_000, "b a " * 30_000)],
    ids=["blank-lines", "the-same-line", "one-long-line"],
)
def test_texts_made_to_be_slow_are_not(old: str, new: str) -> None:
    assert 1 < len(text_diff(old, new)) <= MAX_LINES + 1


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"old": 1, "new": 2}, [("-", "1"), ("+", "2")]),
        ({"new": None}, [("+", "null")]),
        ({"old": "a", "new": "b"}, [("-", '"a"'), ("+", '"b"')]),
        ({"old": ["x" * 90], "new": "y"}, [
            ("@", "line 1"), ("-", "["), ("-", f'  "{"x" * 90}"'), ("-", "]"), ("+", '"y"'),
        ]),
        ({"new": "a\nb"}, [("+", "a"), ("+", "b")]),
        ({"old": "a\x1b[31m\u202eb"}, [("-", '"a\\u001b[31m\\u202eb"')]),
        ({}, []),
    ],
)  # fmt: skip
def test_values(change: dict[str, Any], expected: list[Line]) -> None:
    assert list(value_lines(change)) == expected


TEXTS = st.text(alphabet="ab \t\n\r\x1b\u202e", max_size=60)


@given(TEXTS, TEXTS)
def test_every_difference_is_shown_and_no_control_character(old: str, new: str) -> None:
    lines = text_diff(old, new)
    assert bool(lines) == (old != new)
    assert bool([line for line in lines if line[0] in "+-"]) == (old != new)
    assert all(text.isprintable() for _, text in lines)


@given(st.text(max_size=50), st.integers(1, 60), st.integers(0, 60))
def test_a_cut_keeps_the_place(text: str, limit: int, at: int) -> None:
    found = cut(text, limit, at)
    assert found == text or (len(text) > limit and len(found) <= limit + 40)
