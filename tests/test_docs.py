"""The docs say what is true: every problem code has its line, every command its place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

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
