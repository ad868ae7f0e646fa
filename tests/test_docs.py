"""The docs say what is true: every problem code has its line, every command its place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pawl.cli.commands import COMMANDS

ROOT = Path(__file__).parent.parent
CODE = re.compile(r"[a-z]+(?:-[a-z0-9]+)*\Z")
DOCS = (ROOT / "docs" / "problems.md").read_text(encoding="utf-8")


def documented() -> set[str]:
    """Return every code in docs/problems.md; ``-missing`` after a code stands for the same beginning."""
    found: set[str] = set()
    for line in DOCS.splitlines():
        if not line.startswith("| `"):
            continue
        stem = ""
        for code in re.findall(r"`([a-z-][a-z0-9-]*)`", line.split("|")[1]):
            if code.startswith("-"):
                found.add(stem + code)
            else:
                found.add(code)
                stem = code.rpartition("-")[0]
    return found


def written() -> Iterator[tuple[str, str]]:
    """Yield every literal code of the sources with its file."""
    for path in sorted((ROOT / "src" / "pawl").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                for keyword in node.keywords:
                    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
                    if keyword.arg == "code" and isinstance(value, str) and CODE.match(value):
                        yield value, path.name


def test_every_code_has_its_line() -> None:
    known = documented()
    assert {f"{code} ({file})" for code, file in written() if code not in known} == set()


def test_every_command_is_in_the_docs() -> None:
    texts = "\n".join(path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    assert {name for name in COMMANDS if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", texts)} == set()


TESTS = {
    str(path.relative_to(ROOT / "tests")): frozenset(re.findall(r"def (test_\w+)\(", path.read_text(encoding="utf-8")))
    for path in (ROOT / "tests").rglob("test_*.py")
}
"""File below tests/ -> the tests in it."""


@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "docs").glob("*.md")))
def test_every_test_that_a_page_names_is_there(page: str) -> None:
    """By its path, with ``tests/`` before it or without; by its name alone; by its beginning, as ``test_z…``."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    missing = [path for path in re.findall(r"`(tests/[\w/.-]*)", text) if not (ROOT / path).exists()]
    for file, name in re.findall(r"`(?:tests/)?([\w/]+\.py)::(\w+)`", text):
        if name not in TESTS.get(file, ()):
            missing.append(f"{file}::{name}")
    every = frozenset[str]().union(*TESTS.values())
    for name, more in re.findall(r"`(test_\w+)(…?)`", text):
        if name not in every and not (more and any(test.startswith(name) for test in every)):
            missing.append(name)
    assert missing == []


def test_each_row_of_the_page_on_security_names_a_test() -> None:
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| What ")]
    assert len(rows) > 40
    assert [row for row in rows if not re.search(r"`[\w/]+\.py::test_\w+` \|\Z", row)] == []
