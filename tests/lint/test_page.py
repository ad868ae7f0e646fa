"""docs/lint.md shows the table as it is, and its files read and have no findings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pawl.io.strict_yaml import load
from pawl.lint.check import lint_procedure
from pawl.lint.codes import IGNORABLE
from pawl.lint.profiles import NAMES, PROFILES, ROWS
from pawl.lint.settings import LintSettings
from pawl.procedures.read import read_procedure
from pawl.registry.settings import read_settings

PAGE = (Path(__file__).parents[2] / "docs" / "lint.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def test_the_page_shows_the_table_as_it_is() -> None:
    rows = [
        f"| `{row.code}` | {row.what} | {' | '.join(row.cells[profile] for profile in PROFILES)} |"
        for row in ROWS.values()
    ]
    head = f"| code | what is found | {' | '.join(PROFILES)} |\n{'|---' * 8}|\n"
    assert head + "\n".join(rows) + "\n" in PAGE


def test_the_page_speaks_of_every_profile_and_finding() -> None:
    assert {profile for profile in PROFILES[1:] if f"| `{profile}` |" not in PAGE} == set()
    reading = {"summary-missing", "owner-missing", "requires-unused", "workflow-unreachable", "workflow-unguarded"}
    assert {code for code in IGNORABLE - reading if f"`{code}`" not in PAGE} == set()
    assert set(NAMES) == set(PROFILES)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_its_files_are_right(block: str) -> None:
    document = load(block.encode())
    if "channels" in document:
        assert read_settings(document).lint.ignores
    else:
        assert lint_procedure(read_procedure(document), LintSettings(profiles=PROFILES)) == ()
