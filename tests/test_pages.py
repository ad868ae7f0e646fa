"""The examples of pages run block by block, and the rules they name are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pawl.changes.document_rules import DOCUMENT_RULES
from pawl.changes.rules import SCHEMA_RULES
from test_readme import Reader

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "changes.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("processes", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("page", ["agents.md", "changes.md", "check.md"])
def test_the_examples_run(page: str, tmp_path: Path, processes: bool) -> None:
    kinds = Reader(tmp_path, processes).reads((DOCS / page).read_text(encoding="utf-8"))
    assert kinds == {"console", "python" if page == "agents.md" else "yaml"}


def test_the_page_names_no_code_that_is_none() -> None:
    codes = {key.partition(":")[0] for key in (*SCHEMA_RULES, *DOCUMENT_RULES)}
    shown = set(re.findall(r"^(?:major|minor|patch) +([a-z-]+) +/", PAGE, re.MULTILINE))
    assert len(shown) >= 4
    assert shown - codes == set()
