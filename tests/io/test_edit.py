"""Editing one scalar: the rest of the file stays byte for byte."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.errors import InvalidError, NotFoundError, PawlError
from pawl.io.edit import set_scalar
from pawl.io.strict_yaml import Unreadable, load

Place = tuple[str | int, ...]

EDITS: list[tuple[str, Place, str, str]] = [
    ("version: 1.0.0   # keep\nname: a\n", ("version",), "1.1.0", "version: 1.1.0   # keep\nname: a\n"),
    ('# top\n\nversion: "1.0.0"\n', ("version",), "2.0.0a1", '# top\n\nversion: "2.0.0a1"\n'),
    ("version: '1.0.0' # x\n", ("version",), "1.0.1", "version: '1.0.1' # x\n"),
    ("a: 'x'\n", ("a",), "it's", "a: 'it''s'\n"),
    ("version: 1.10\n", ("version",), "1.10.0", "version: 1.10.0\n"),
    ("version: 1.0.0\n", ("version",), "1.1", 'version: "1.1"\n'),
    ("version: 1.0.0\n", ("version",), "yes: no # x", 'version: "yes: no # x"\n'),
    ("{name: a, version: 1.0.0, z: [b]}\n", ("version",), "1.0.1", "{name: a, version: 1.0.1, z: [b]}\n"),
    ("a:\n  - x\n  - é😀 # y\n", ("a", 1), "z", "a:\n  - x\n  - z # y\n"),
    ("é: 1.0.0\n", ("é",), "1.0.1", "é: 1.0.1\n"),
    ("a: 1.0.0\r\nb: |\r\n  x\r\n", ("a",), "1.0.1", "a: 1.0.1\r\nb: |\r\n  x\r\n"),
    ("a: |\r\n  x\r\nb: 1\r\n", ("a",), "y", 'a: "y"\r\nb: 1\r\n'),
    ("a: |  # why\n  x\n  y\n\n# next\nb: 1\n", ("a",), "z", 'a: "z"  # why\n\n# next\nb: 1\n'),
    ("a: >-\n  x\n  y", ("a",), "z", 'a: "z"'),
    ("a: x\n  y\n  z # c\nb: 1\n", ("a",), "w", "a: w # c\nb: 1\n"),
    ('a: "x\n  y" # c\n', ("a",), "w", 'a: "w" # c\n'),
    ("a: 1.0.0", ("a",), "1.0.1", "a: 1.0.1"),
    ("a: null\n", ("a",), "x", "a: x\n"),
    ('a: ""\n', ("a",), "x", 'a: "x"\n'),
]


@pytest.mark.parametrize(("text", "place", "value", "expected"), EDITS)
def test_only_the_scalar_changes(text: str, place: Place, value: str, expected: str) -> None:
    assert set_scalar(text.encode(), place, value).decode() == expected


@given(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(EDITS))
def test_any_text_can_be_set(value: str, case: tuple[str, Place, str, str]) -> None:
    text, place, _, _ = case
    found: Any = load(set_scalar(text.encode(), place, value))
    for part in place:
        found = found[part]
    assert found == value


@pytest.mark.parametrize(
    ("text", "place", "error"),
    [
        ("a: 1\n", ("b",), NotFoundError),
        ("a: {b: 1}\n", ("a",), NotFoundError),
        ("a: 1\n", (), NotFoundError),
        ("a: 1\n", ("a", "b"), NotFoundError),
        ("a:\nb: 1\n", ("a",), InvalidError),
    ],
)
def test_where_no_scalar_is_written(text: str, place: Place, error: type[PawlError]) -> None:
    with pytest.raises(error):
        set_scalar(text.encode(), place, "x")


def test_broken_files_are_not_edited() -> None:
    with pytest.raises(Unreadable):
        set_scalar(b"a: 1\na: 2\n", ("a",), "x")
