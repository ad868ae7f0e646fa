"""The builder for files without faults gives what the strict one gives, or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pawl.io import strict_yaml
from pawl.io.dump import yaml_bytes
from pawl.io.quick_yaml import quick_document
from pawl.io.strict_yaml import MAX_DEPTH, Unreadable, load

BROKEN = sorted((Path(__file__).parent / "broken").glob("*.yaml"))
PIECES = (
    *(
        "a",
        "b",
        "key",
        "1",
        "01",
        "-1",
        ".5",
        "1e3",
        ".inf",
        "~",
        "null",
        "True",
        "no",
        "<<",
        "*a",
        "&a ",
        "!!str ",
        "? ",
    ),
    *(
        ": ",
        ":",
        "- ",
        ", ",
        "[",
        "]",
        "{",
        "}",
        "'",
        '"',
        "|\n",
        ">-\n",
        "#",
        "\n",
        "\n  ",
        "\n    ",
        "---\n",
        "...\n",
    ),
    *("%YAML 1.2\n", "\t", "9007199254740993", "0x1F", "0o17", "é", "\U0001f600", "", "\\", "@", "`"),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)
PLAIN = st.none() | st.booleans() | st.integers(-99, 99) | st.floats(-9, 9) | st.text("ab: #'\"\n-01~<", max_size=8)
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abn<~1", max_size=3), inner, max_size=4)
)


def quick(text: str) -> dict[str, Any] | None:
    return quick_document(strict_yaml._parser(text), max_depth=MAX_DEPTH)


def strict(text: str) -> dict[str, Any] | None:
    """Return what the strict builder makes of the text, None where it refuses it."""
    try:
        return strict_yaml._Builder(text).document()
    except Unreadable:
        return None


@given(TEXTS)
@example("a: 1\nb: [x, {c: ~}]\n")
@example("a: 1\na: 2\n")
@example("a: 1\n---\nb: 2\n")
@example("? [a]\n: b\n")
@example("a: *b\n")
@example("a: &b c\n")
@example("<<: {a: 1}\n'<<': 2\n")
def test_it_gives_what_the_strict_builder_gives(text: str) -> None:
    assert repr(quick(text)) == repr(strict(text))


@given(st.dictionaries(st.text("abn<~1", max_size=3), VALUES, max_size=5))
def test_files_that_pawl_writes_need_no_other(document: dict[str, Any]) -> None:
    assert repr(quick(yaml_bytes(document).decode())) == repr(document)


@pytest.mark.parametrize("levels", [MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1])
def test_both_stop_at_the_same_depth(levels: int) -> None:
    text = "a: " + "[" * levels + "]" * levels
    assert repr(quick(text)) == repr(strict(text))
    assert (quick(text) is None) == (levels >= MAX_DEPTH)


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_no_broken_file_reads(path: Path) -> None:
    with pytest.raises(Unreadable):
        load(path.read_bytes())
