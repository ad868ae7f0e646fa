"""Rules for tools beside their input: output, hints, effects, binding, text."""

from __future__ import annotations

from typing import Any

import pytest

from changes.make import compared, rows, tool
from pawl.changes.compare import compare

ANY = {"type": "object"}
CASES: list[tuple[str, dict[str, Any], dict[str, Any], set[tuple[str, str, str]]]] = [
    (
        "a hint written out",
        {},
        {"annotations": {"openWorldHint": True}},
        {("hint-explicit", "/spec/annotations/openWorldHint", "patch")},
    ),
    (
        "a hint that does not count while nothing is written",
        {"annotations": {"readOnlyHint": True}},
        {"annotations": {"readOnlyHint": True, "destructiveHint": False}},
        {("hint-explicit", "/spec/annotations/destructiveHint", "patch")},
    ),
    (
        "a safer claim",
        {},
        {"annotations": {"readOnlyHint": True}},
        {("hint-changed", "/spec/annotations/readOnlyHint", "minor")},
    ),
    (
        "a riskier hint",
        {"annotations": {"destructiveHint": False}},
        {},
        {("hint-changed", "/spec/annotations/destructiveHint", "minor")},
    ),
    ("an effect more", {"effects": ["a"]}, {"effects": ["a", "b"]}, {("effects-added", "/spec/effects", "major")}),
    ("effects unknown", {"effects": ["a"]}, {}, {("effects-added", "/spec/effects", "major")}),
    ("effects known", {}, {"effects": ["a"]}, {("effects-removed", "/spec/effects", "minor")}),
    (
        "one effect for another",
        {"effects": ["a"]},
        {"effects": ["b"]},
        {("effects-added", "/spec/effects", "major"), ("effects-removed", "/spec/effects", "minor")},
    ),
    ("effects in another order", {"effects": ["a", "b"]}, {"effects": ["b", "a"]}, set()),
    ("a binding", {}, {"binding": {"python": "a:f"}}, {("binding-added", "/spec/binding", "minor")}),
    ("no binding", {"binding": {"python": "a:f"}}, {}, {("binding-removed", "/spec/binding", "major")}),
    (
        "another function",
        {"binding": {"python": "a:f"}},
        {"binding": {"python": "a:g"}},
        {("binding-target", "/spec/binding", "patch")},
    ),
    (
        "another host",
        {"binding": {"http": {"url": "https://a.invalid/x"}}},
        {"binding": {"http": {"url": "https://b.invalid/x"}}},
        {("binding-moved", "/spec/binding", "patch")},
    ),
    (
        "another path on the host",
        {"binding": {"http": {"url": "https://a.invalid/x"}}},
        {"binding": {"http": {"url": "https://a.invalid/y"}}},
        {("binding-target", "/spec/binding", "patch")},
    ),
    (
        "another command",
        {"binding": {"mcp": {"command": ["a"], "tool": "t"}}},
        {"binding": {"mcp": {"command": ["b"], "tool": "t"}}},
        {("binding-moved", "/spec/binding", "patch")},
    ),
    (
        "another kind of binding",
        {"binding": {"mcp": {"command": ["a"], "tool": "t"}}},
        {"binding": {"python": "a:f"}},
        {("binding-moved", "/spec/binding", "patch")},
    ),
    ("text", {}, {"title": "Lookup"}, {("tool-text", "/spec/title", "patch")}),
    ("title of the hints", {}, {"annotations": {"title": "L"}}, {("tool-text", "/spec/annotations/title", "patch")}),
    ("an output schema", {}, {"outputSchema": ANY}, {("output-schema-added", "/spec/outputSchema", "minor")}),
    ("no output schema", {"outputSchema": ANY}, {}, {("output-schema-removed", "/spec/outputSchema", "major")}),
    (
        "a field of the output vanishes",
        {"outputSchema": {**ANY, "properties": {"a": {}}}},
        {"outputSchema": ANY},
        {("property-removed", "/spec/outputSchema/properties/a", "major")},
    ),
    ("another exported name", {"name": "a"}, {"name": "b"}, {("meta-changed", "/spec/name", "major")}),
    ("a field that no rule knows", {}, {"novel": 1}, {("undecided", "/spec/novel", "major")}),
]


@pytest.mark.parametrize(("old", "new", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_tool(old: dict[str, Any], new: dict[str, Any], expected: set[tuple[str, str, str]]) -> None:
    assert expected == rows(compared(tool(**old), tool(**new)).changes)


def test_what_differs_and_means_nothing_is_still_a_patch() -> None:
    found = compare(tool(effects=["a", "b"]), tool(effects=["b", "a"]))
    assert ("patch", ()) == (found.required, found.changes)


@pytest.mark.parametrize(("value", "word"), [(True, "claims-safer"), (False, "riskier")])
def test_a_hint_says_in_which_direction_it_went(value: bool, word: str) -> None:
    old, new = (tool(annotations={"readOnlyHint": hint}) for hint in (not value, value))
    (change,) = compare(old, new).changes
    assert change.reason.startswith(word)
    assert ("safety",) == change.flags
    assert ("policy",) == change.affects
    assert (not value, value) == (change.old, change.new)
