"""Ten kinds of change that tools in the wild went through, each by a small tool of its own.

``breaks`` is compared exactly; ``touched`` must be found among the reported paths. Where a change is compatible, every
generated call that was legal still is; where it is not, some are found that are not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from changes.make import tool
from changes.schemas import dice, instance
from pawl.changes.compare import compare
from pawl.problems import pointer
from pawl.procedures.schema import compile_schema

TEXT = {"type": "string"}


class Pair(NamedTuple):
    """Two tools, what comparing them must say, and the codes that it must say it by."""

    old: dict[str, Any]
    new: dict[str, Any]
    required: str
    breaks: set[str]
    codes: set[str]
    touched: set[str]


def takes(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"inputSchema": {"type": "object", "properties": properties, "required": list(required), **more}}


FILE = {"type": "object", "properties": {"path": TEXT, "content": TEXT}, "required": ["path", "content"]}
COMMENT = {"issue": {"type": "integer"}, "body": TEXT, "emoji": {"enum": ["+1", "-1"]}, "reply_to": {"type": "number"}}
STRICTER = {**COMMENT, "body": {**TEXT, "minLength": 1}, "reply_to": {"type": "integer"}}
ITEM = takes({"id": {"type": "integer"}}, "id")

PAIRS = {
    "a required argument is renamed": Pair(
        tool(**takes({"q": TEXT, "page": {"type": "integer"}}, "q")),
        tool(**takes({"query": TEXT, "page": {"type": "integer"}}, "query")),
        "major",
        {"callers", "implementers"},
        {"property-renamed", "property-required"},
        {"/spec/inputSchema/required"},
    ),
    "a required argument becomes optional with a default": Pair(
        tool(**takes({"repo": TEXT, "path": TEXT}, "repo", "path")),
        tool(**takes({"repo": TEXT, "path": {**TEXT, "default": "/"}}, "repo")),
        "minor",
        {"implementers"},
        {"property-optional", "default-added"},
        {"/spec/inputSchema/required", "/spec/inputSchema/properties/path/default"},
    ),
    "values are spelled anew and paging is redone": Pair(
        tool(
            **takes(
                {"state": {"enum": ["open", "closed", "all"]}, "page": {"type": "integer"}, "sort": {"enum": ["name"]}}
            )
        ),
        tool(**takes({"state": {"enum": ["OPEN", "CLOSED"]}, "after": TEXT, "orderBy": {"enum": ["NAME"]}})),
        "major",
        {"callers", "implementers"},
        {"enum-widened", "enum-narrowed", "property-removed", "property-added"},
        {f"/spec/inputSchema/properties/{name}" for name in ("state/enum", "page", "sort", "after", "orderBy")},
    ),
    "an optional argument is added": Pair(
        tool(**takes({"name": TEXT}, "name")),
        tool(**takes({"name": TEXT, "organization": TEXT}, "name")),
        "minor",
        {"implementers"},
        {"property-added"},
        {"/spec/inputSchema/properties/organization"},
    ),
    "the objects in a list are closed": Pair(
        tool(**takes({"files": {"type": "array", "items": FILE}}, "files")),
        tool(**takes({"files": {"type": "array", "items": {**FILE, "additionalProperties": False}}}, "files")),
        "major",
        {"callers"},
        {"object-closed"},
        {"/spec/inputSchema/properties/files/items/additionalProperties"},
    ),
    "more methods and arguments, and one need not be given": Pair(
        tool(**takes({"method": {"enum": ["add"]}, "number": {"type": "integer"}}, "method", "number")),
        tool(**takes({"method": {"enum": ["add", "create"]}, "number": {"type": "integer"}, "title": TEXT}, "method")),
        "minor",
        {"implementers"},
        {"enum-widened", "property-optional", "property-added"},
        {"/spec/inputSchema/properties/method/enum", "/spec/inputSchema/required"},
    ),
    "items may be texts or objects": Pair(
        tool(**takes({"labels": {"type": "array", "items": TEXT}}, "labels")),
        tool(
            **takes(
                {
                    "labels": {
                        "type": "array",
                        "items": {
                            "oneOf": [TEXT, {"type": "object", "properties": {"name": TEXT}, "required": ["name"]}]
                        },
                    }
                },
                "labels",
            )
        ),
        "minor",
        {"implementers"},
        {"union-widened"},
        {"/spec/inputSchema/properties/labels/items"},
    ),
    "one of two is needed, and they exclude a third": Pair(
        tool(**takes(COMMENT, "issue")),
        tool(
            **takes(
                STRICTER,
                "issue",
                anyOf=[{"required": ["body"]}, {"required": ["emoji"]}],
                dependentSchemas={"reply_to": {"required": ["emoji"], "not": {"required": ["body"]}}},
            )
        ),
        "major",
        {"callers"},
        {"condition-added", "bound-tightened", "type-narrowed"},
        {
            "/spec/inputSchema/anyOf",
            "/spec/inputSchema/dependentSchemas",
            "/spec/inputSchema/properties/body/minLength",
            "/spec/inputSchema/properties/reply_to/type",
        },
    ),
    "a description is rewritten": Pair(
        tool(**takes({"path": {**TEXT, "description": "End directories with a slash."}})),
        tool(**takes({"path": {**TEXT, "description": "A path."}})),
        "patch",
        set(),
        {"schema-text"},
        {"/spec/inputSchema/properties/path/description"},
    ),
    "a hint's default is written out": Pair(
        tool(**ITEM),
        tool(**ITEM, annotations={"destructiveHint": True}),
        "patch",
        set(),
        {"hint-explicit"},
        {"/spec/annotations/destructiveHint"},
    ),
}
COMPATIBLE = {name for name, pair in PAIRS.items() if pair.required != "major"}


@pytest.mark.parametrize("name", PAIRS)
def test_pair(name: str) -> None:
    pair = PAIRS[name]
    found = compare(pair.old, pair.new)
    paths = [pointer(change.path) for change in found.changes]
    assert pair.required == found.required
    assert pair.breaks == {party for change in found.changes for party in change.breaks}
    assert pair.codes == {change.code for change in found.changes}
    for path in pair.touched:
        assert any(other.startswith(path) for other in paths)


@pytest.mark.parametrize("name", PAIRS)
def test_calls_of_the_old_version_under_the_new_one(name: str) -> None:
    """Calls without the names that were added: of three hundred, none is refused, or at least one is."""
    old, new = (document["spec"]["inputSchema"] for document in (PAIRS[name].old, PAIRS[name].new))
    added = new["properties"].keys() - old["properties"].keys()
    before, after = compile_schema(old), compile_schema(new)
    rng = dice(len(name))
    legal: list[dict[str, Any]] = []
    for _ in range(5_000):
        call = instance(rng, old, old)
        if before.is_valid(call) and not added & call.keys():
            legal.append(call)
        if len(legal) == 300:
            break
    refused = [call for call in legal if not after.is_valid(call)]
    assert len(legal) >= 100
    assert (name in COMPATIBLE) == (not refused)
