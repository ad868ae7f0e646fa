"""Real pairs of tool versions with a verdict each, and a foreign checker's verdicts, where a corpus is at hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from changes.corpus import CORPUS
from changes.make import highest, tool
from changes.schemas import dice, instance
from pawl.changes.compare import compare
from pawl.changes.schemas import compare_schemas
from pawl.problems import pointer
from pawl.procedures.schema import compile_schema
from support import soon

assert CORPUS is not None
PAIRS = sorted((CORPUS / "schema-pairs").iterdir())
ORACLE = json.loads((CORPUS / "oracle" / "getsentry-json-schema-diff.json").read_text(encoding="utf-8"))["cases"]

ADDED = "a name that is added beside an open object is compatible for callers"
VANISHED = "a documented name that vanishes is major, though the call still validates"
DIFFERENT: Mapping[str, str] = {
    "properties/add": ADDED,
    "properties/add_property_in_array": ADDED,
    "properties/add_property_in_array_of_any_of": ADDED,
    "const/const_in_any_of_3": ADDED,
    "properties/remove": VANISHED,
    "properties/remove_property_while_allowing_additional_properties": VANISHED,
    "any_of/objects_3": "the oracle is wrong: a branch without a type accepts booleans on both sides",
    "range/redundant_minimum_3": "the oracle is wrong: above 0.4 contains everything from 1",
}
"""The oracle's cases in which the comparison says otherwise on purpose, and why."""
REFUSE = {"01", "03", "05", "08"}
"""Pairs whose new version refuses calls that were legal."""


def document(folder: Path, version: str) -> dict[str, Any]:
    spec = json.loads((folder / f"{version}.json").read_text(encoding="utf-8"))
    return tool(**spec)


@pytest.mark.parametrize("folder", PAIRS, ids=lambda folder: folder.name)
def test_pair(folder: Path) -> None:
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    found = compare(document(folder, "old"), document(folder, "new"))
    broken = {party for change in found.changes for party in change.breaks}
    paths = [pointer(change.path).removeprefix("/spec") for change in found.changes]
    assert expected["semver_bump"] == found.required
    assert expected["callers_breaking"] == ("callers" in broken)
    assert expected["implementers_breaking"] == ("implementers" in broken)
    for path, _ in expected["expected_changes"]:
        assert any(path.startswith(other) or other.startswith(path) for other in paths), path


@pytest.mark.parametrize("folder", PAIRS, ids=lambda folder: folder.name)
def test_calls_of_the_old_version(folder: Path) -> None:
    old, new = (document(folder, version)["spec"]["inputSchema"] for version in ("old", "new"))
    added = new["properties"].keys() - old["properties"].keys()
    before, after = compile_schema(old), compile_schema(new)
    rng = dice(1)
    legal: list[Any] = []
    while len(legal) < 300:
        call = instance(rng, old, old)
        if before.is_valid(call) and not added & call.keys():
            legal.append(call)
    refused = [call for call in legal if not after.is_valid(call)]
    assert (folder.name[:2] in REFUSE) == bool(refused)


@pytest.mark.parametrize("case", ORACLE, ids=lambda case: case["case"])
def test_oracle(case: dict[str, Any]) -> None:
    breaking = "major" == highest(compare_schemas(case["old"], case["new"], side="input"))
    assert (case["case"] in DIFFERENT) == (breaking != case["breaking"])


def test_every_difference_is_a_case() -> None:
    assert DIFFERENT.keys() <= {case["case"] for case in ORACLE}


def tool_lists() -> list[Path]:
    assert CORPUS is not None
    return sorted((CORPUS / "tool-lists").glob("*.json"))


@pytest.mark.parametrize("path", tool_lists(), ids=lambda path: path.name)
def test_no_real_tool_differs_from_itself_written_out(path: Path) -> None:
    """Every schema of every list, against itself with its keys in another order and all defaults written out."""
    held = json.loads(path.read_text(encoding="utf-8"))
    for one in held["tools"] if isinstance(held, dict) else held:
        schema = one.get("inputSchema")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            continue
        other = {**dict(reversed(schema.items())), "minProperties": 0}
        assert {"schema-respelled"} == {change.code for change in compare_schemas(schema, other, side="input")}


def test_the_pairs_take_some_milliseconds_each() -> None:
    documents = [(document(folder, "old"), document(folder, "new")) for folder in PAIRS]
    with soon(0.2 * len(PAIRS)):
        for old, new in documents:
            compare(old, new)
