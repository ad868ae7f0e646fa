"""The examples of pages run block by block, and the rules they name are those of the code."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from pawl.changes.document_rules import DOCUMENT_RULES
from pawl.changes.rules import SCHEMA_RULES
from test_readme import BLOCK, _console, _run

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "changes.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["agents.md", "changes.md", "check.md"])
def test_the_examples_run(page: str, tmp_path: Path) -> None:
    here = tmp_path
    blocks = BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))
    assert {kind for kind, _ in blocks} == {"console", "python" if page == "agents.md" else "yaml"}
    for kind, text in blocks:
        if kind == "yaml":
            first, _, rest = text.partition("\n")
            path = here / first.removeprefix("# file: ")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(rest, encoding="utf-8")
        elif kind == "python":
            done = _run([sys.executable, "-c", text], here, tmp_path)
            assert done.returncode == 0, done.stderr
        else:
            here = _console(text, here, tmp_path)


def test_the_page_names_no_code_that_is_none() -> None:
    codes = {key.partition(":")[0] for key in (*SCHEMA_RULES, *DOCUMENT_RULES)}
    shown = set(re.findall(r"^(?:major|minor|patch) +([a-z-]+) +/", PAGE, re.MULTILINE))
    assert len(shown) >= 4
    assert shown - codes == set()
