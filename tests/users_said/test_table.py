"""docs/requirements.md: every test that it names is there, and every test here is named in it."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
TABLE = (TESTS.parent / "docs" / "requirements.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`(test_\w+)`", TABLE))


def defined(folder: Path) -> set[str]:
    found: set[str] = set()
    for path in folder.rglob("test_*.py"):
        found |= set(re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    return found


def test_every_named_test_exists() -> None:
    assert NAMED - defined(TESTS) == set()


def test_every_test_here_is_named() -> None:
    assert defined(Path(__file__).parent) - NAMED == {
        "test_every_named_test_exists",
        "test_every_test_here_is_named",
        "test_every_row_says_a_test_or_a_gap",
    }


def test_every_row_says_a_test_or_a_gap() -> None:
    rows = [line.split("|")[1:-1] for line in TABLE.splitlines() if line.startswith("| ") and "said of" not in line]
    assert [row[0] for row in rows if len(row) != 3 or not (row[1] + row[2]).strip()] == []
