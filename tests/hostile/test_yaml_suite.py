"""The public YAML test suite, read as the strict profile says.

``PAWL_YAML_TEST_SUITE`` names a checkout of its branch ``data`` (https://github.com/yaml/yaml-test-suite, MIT licence);
without it these tests are skipped. Nothing of it is kept here: ``test_yaml_features.py`` has cases of our own.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pawl.io import strict_yaml

FOLDER = os.environ.get("PAWL_YAML_TEST_SUITE", "")
LENIENT = {
    "9C9N": "lines of a flow list that begin at the margin",
    "DK95/01": "a line of a quoted text that begins with a tab",
    "QB6E": "a line of a quoted text that begins at the margin",
    "S98Z": "lines of spaces before a text block without text",
    "SU5Z": "a comment that touches a quoted text",
    "X4QW": "a comment that touches the mark of a text block",
}
"""Files that the grammar forbids and libyaml reads. There is one thing that each of them can mean, and that is read."""

pytestmark = pytest.mark.skipif(not FOLDER, reason="PAWL_YAML_TEST_SUITE names no checkout of the suite")


def cases() -> list[Path]:
    found = {path.resolve().parent for path in Path(FOLDER).glob("[0-9A-Z]*/**/in.yaml")} if FOLDER else set()
    return sorted(found)


def name_of(folder: Path) -> str:
    return folder.relative_to(Path(FOLDER).resolve()).as_posix()


def outcome(folder: Path) -> tuple[str, Any]:
    """Return what became of a file: its faults, or its value."""
    try:
        return "read", strict_yaml.load((folder / "in.yaml").read_bytes())
    except strict_yaml.Unreadable as error:
        return "refused", error.faults


def outside(folder: Path) -> str | None:
    """Return which feature outside of the profile a file uses, by the suite's own list of events."""
    events = (folder / "test.event").read_text(encoding="utf-8")
    if len(re.findall(r"^ *\+DOC", events, re.MULTILINE)) != 1:
        return "not one document"
    heads = re.findall(r"^ *(?:\+MAP|\+SEQ|=VAL)((?: (?:\{\}|\[\]|&\S+|<[^>\n]+>))*)", events, re.MULTILINE)
    if any("&" in head for head in heads) or "=ALI" in events:
        return "anchors"
    if any("<" in head for head in heads):
        return "tags"
    return None if re.search(r"\+DOC[^\n]*\n *\+MAP", events) else "no mapping at its root"


def test_every_file_is_read_as_the_profile_says(capsys: pytest.CaptureFixture[str]) -> None:
    counts: Counter[str] = Counter()
    wrong = []
    for folder in cases():
        name, (what, found) = name_of(folder), outcome(folder)
        invalid = (folder / "error").exists()
        feature = None if invalid else outside(folder)
        counts[f"{what}, {'no YAML' if invalid else feature or 'inside the profile or nearly'}"] += 1
        if what == "refused":
            assert all(fault.line >= 1 and fault.column >= 1 for fault in found)
            continue
        if invalid and name not in LENIENT:
            wrong.append(f"{name}: the grammar forbids it, read as {found!r}")
        elif feature is not None:
            wrong.append(f"{name}: it has {feature}, read as {found!r}")
        elif not invalid and found != json.loads((folder / "in.json").read_text(encoding="utf-8")):
            wrong.append(f"{name}: read as {found!r}")
    with capsys.disabled():
        print(f"\n{len(cases())} files of the YAML test suite:", *sorted(counts.items()), sep="\n  ")  # noqa: T201
    assert [] == wrong
    assert len(cases()) > 350


def test_what_is_read_all_the_same_is_listed() -> None:
    read = {name_of(folder) for folder in cases() if (folder / "error").exists() and outcome(folder)[0] == "read"}
    assert set(LENIENT) == read
