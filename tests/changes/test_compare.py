"""What holds for every kind, and the shape of what a comparison says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from changes.make import compared, prompt, rows, tool
from pawl.changes.compare import compare
from pawl.changes.document_rules import DOCUMENT_RULES
from pawl.changes.values import LEVELS
from pawl.errors import Faulty

OLD = tool()
CASES: list[tuple[str, dict[str, Any], dict[str, Any], set[tuple[str, str, str]]]] = [
    ("another summary", {"summary": "a"}, {"summary": "b"}, {("meta-changed", "/summary", "patch")}),
    ("another owner", {"owner": "a"}, {"owner": "b"}, {("meta-changed", "/owner", "patch")}),
    ("a label", {}, {"labels": {"risk": "high"}}, {("meta-changed", "/labels", "patch")}),
    (
        "another version and its story",
        {"changes": "a"},
        {"changes": "b", "version": "1.0.1"},
        {("meta-changed", "/changes", "patch")},
    ),
    (
        "kept for another format",
        {"extensions": {"mcp": {"a": 1}}},
        {"extensions": {"mcp": {"a": 2}}},
        {("meta-changed", "/extensions/mcp", "patch")},
    ),
    (
        "the name in another format",
        {"extensions": {"mcp": {"name": "A"}}},
        {"extensions": {"mcp": {"name": "B"}}},
        {("meta-changed", "/extensions/mcp/name", "major")},
    ),
    ("a requirement", {}, {"requires": {"a": ">=1"}}, {("requires-added", "/requires/a", "minor")}),
    ("no requirement", {"requires": {"a": ">=1"}}, {}, {("requires-removed", "/requires/a", "minor")}),
    (
        "more versions fit",
        {"requires": {"a": ">=1,<2"}},
        {"requires": {"a": ">=1,<3"}},
        {("requires-widened", "/requires/a", "minor")},
    ),
    (
        "fewer versions fit",
        {"requires": {"a": ">=1,<2"}},
        {"requires": {"a": "==1.2.*"}},
        {("requires-narrowed", "/requires/a", "minor")},
    ),
    (
        "some fit no longer, others do",
        {"requires": {"a": ">=1,<2"}},
        {"requires": {"a": ">=1.5,<3"}},
        {("requires-narrowed", "/requires/a", "minor"), ("requires-widened", "/requires/a", "minor")},
    ),
    (
        "nothing fits both",
        {"requires": {"a": ">=1,<2"}},
        {"requires": {"a": ">=2,<3"}},
        {("requires-moved", "/requires/a", "minor")},
    ),
    (
        "a later pre-release",
        {"requires": {"a": ">=1.0.0rc2"}},
        {"requires": {"a": ">=1.0.0rc3"}},
        {("requires-narrowed", "/requires/a", "minor")},
    ),
    (
        "the same versions in other words",
        {"requires": {"a": ">=1,<2"}},
        {"requires": {"a": "~=1.0"}},
        {("meta-changed", "/requires/a", "patch")},
    ),
    ("a field that no rule knows", {}, {"novel": 1}, {("undecided", "/novel", "major")}),
]


@pytest.mark.parametrize(("old", "new", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_every_kind(old: dict[str, Any], new: dict[str, Any], expected: set[tuple[str, str, str]]) -> None:
    assert expected == rows(compared({**OLD, **old}, {**OLD, **new}).changes)


def test_policy_is_told_of_owner_and_labels() -> None:
    (change,) = compare(OLD, {**OLD, "owner": "risk"}).changes
    assert (("safety",), ("policy",)) == (change.flags, change.affects)


def test_equal_documents_require_nothing() -> None:
    found = compare(OLD, json.loads(json.dumps(OLD)))
    assert ("none", ()) == (found.required, found.changes)


def test_documents_that_differ_in_their_version_alone_require_a_patch() -> None:
    found = compare(OLD, {**OLD, "version": "1.0.1"})
    assert ("patch", ()) == (found.required, found.changes)


def test_one_is_not_true() -> None:
    old, new = ({**OLD, "extensions": {"x": value}} for value in (1, True))
    assert "patch" == compare(old, new).required
    assert "none" == compare(old, {**OLD, "extensions": {"x": 1.0}}).required


def test_kinds_are_not_comparable() -> None:
    assert {("kind-changed", "/kind", "major")} == rows(compare(OLD, prompt("a")).changes)


def test_the_gravest_comes_first() -> None:
    old = tool(inputSchema={"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}})
    new = tool(inputSchema={"type": "object"}, description="Another.", annotations={"readOnlyHint": True})
    found = compare(old, new)
    expected = ["property-removed", "property-removed", "hint-changed", "tool-text"]
    assert expected == [change.code for change in found.changes]
    assert ["a", "b"] == [change.path[-1] for change in found.changes[:2]]


def test_the_json_form() -> None:
    old = tool(inputSchema={"type": "object", "properties": {"a": {"type": "string", "default": None}}})
    new = tool(inputSchema={"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})
    first, second = compare(old, new).as_dict()["changes"]
    assert {
        "code": "property-required",
        "side": "input",
        "path": "/spec/inputSchema/required",
        "new": "a",
        "level": "major",
        "flags": [],
        "breaks": ["callers"],
        "affects": ["callers"],
        "proof": "witness",
        "witness": {},
        "reason": "calls without a are refused",
    } == first
    assert {
        "code": "default-removed",
        "side": "input",
        "path": "/spec/inputSchema/properties/a/default",
        "old": None,
        "level": "minor",
        "flags": ["behaviour"],
        "breaks": [],
        "affects": ["runs"],
        "proof": "rule",
        "reason": "who leaves it out no longer gets null",
    } == second


@pytest.mark.parametrize("schema", [None, 3, {"type": "strange"}, {"properties": []}, {"$ref": "#/$defs/gone"}])
def test_what_is_no_schema_is_refused(schema: Any) -> None:
    with pytest.raises(Faulty) as caught:
        compare(tool(outputSchema={}), tool(outputSchema=schema, inputSchema=schema))
    assert ["schema-invalid"] == [fault.code for fault in caught.value.faults]


def test_a_dialect_that_is_not_read_is_undecided() -> None:
    old = tool(inputSchema={"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"})
    new = tool(inputSchema={**old["spec"]["inputSchema"], "maxProperties": 3})
    found = compare(old, new)
    assert "major" == found.required
    assert {"undecided"} == {change.proof for change in found.changes}


def test_every_rule_reads_as_a_sentence() -> None:
    for key, rule in DOCUMENT_RULES.items():
        assert rule.level in LEVELS, key
        assert rule.reason.format(name="n", old="o", new="w")
