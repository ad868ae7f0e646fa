"""Every rule for schemas, each by the smallest pair that falls under it: code, path, level as input and as output."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from changes.make import schema_rows
from pawl.changes.rules import SCHEMA_RULES
from pawl.changes.schemas import compare_schemas
from pawl.changes.values import LEVELS

TEXT = {"type": "string"}
CLOSED = {"type": "object", "additionalProperties": False}


class Case(NamedTuple):
    """One pair. ``expected``: (code, path, level as input, level as output) of every change."""

    name: str
    old: Any
    new: Any
    expected: list[tuple[str, str, str, str]]


def obj(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


CASES = [
    Case(
        "a name beside an open object",
        obj(),
        obj(a=TEXT),
        [("property-added", "/properties/a", "minor", "minor")],
    ),
    Case(
        "a name in a closed object",
        CLOSED,
        {**CLOSED, "properties": {"a": TEXT}},
        [("property-added", "/properties/a", "minor", "major")],
    ),
    Case(
        "a name that a typed map had",
        {"type": "object", "additionalProperties": TEXT},
        {**obj(a={"type": ["string", "null"]}), "additionalProperties": TEXT},
        [("property-added", "/properties/a", "minor", "major")],
    ),
    Case(
        "a name that a typed map had, narrower",
        {"type": "object", "additionalProperties": TEXT},
        {**obj(a={"type": "string", "maxLength": 3}), "additionalProperties": TEXT},
        [("property-added", "/properties/a", "major", "minor")],
    ),
    Case(
        "a name that a pattern had, unlike",
        {"type": "object", "patternProperties": {"^a": TEXT}},
        {"type": "object", "patternProperties": {"^a": TEXT}, "properties": {"a": {"type": "integer"}}},
        [("property-added", "/properties/a", "major", "minor")],  # no value fits both: the name is as good as closed
    ),
    Case(
        "a required name",
        obj(),
        {**obj(a=TEXT), "required": ["a"]},
        [("property-required", "/required", "major", "minor")],
    ),
    Case(
        "a required name in a closed object",
        CLOSED,
        {**CLOSED, "properties": {"a": TEXT}, "required": ["a"]},
        [("property-required", "/required", "major", "major")],
    ),
    Case(
        "optional becomes required; its default does not soften it",
        obj(a={**TEXT, "default": "x"}),
        {**obj(a={**TEXT, "default": "x"}), "required": ["a"]},
        [("property-required", "/required", "major", "minor")],
    ),
    Case(
        "required becomes optional",
        {**obj(a=TEXT), "required": ["a"]},
        obj(a=TEXT),
        [("property-optional", "/required", "minor", "major")],
    ),
    Case(
        "a name vanishes from an open object",
        obj(a=TEXT),
        obj(),
        [("property-removed", "/properties/a", "major", "major")],
    ),
    Case(
        "a name vanishes from a closed object",
        {**CLOSED, "properties": {"a": TEXT}},
        CLOSED,
        [("property-removed", "/properties/a", "major", "major")],
    ),
    Case(
        "a name that nothing can have is not declared",
        obj(a=TEXT),
        obj(a=False),
        [("property-removed", "/properties/a", "major", "major")],
    ),
    Case(
        "one name for another",
        obj(a={**TEXT, "maxLength": 3}),
        obj(b={**TEXT, "maxLength": 3}),
        [("property-renamed", "/properties/b", "major", "major")],
    ),
    Case(
        "one required name for another",
        {**obj(a=TEXT), "required": ["a"]},
        {**obj(b=TEXT), "required": ["b"]},
        [
            ("property-renamed", "/properties/b", "major", "major"),
            ("property-required", "/required", "major", "minor"),
        ],
    ),
    Case(
        "one name for another of another schema is no renaming",
        obj(a=TEXT),
        obj(b={"type": "integer"}),
        [
            ("property-removed", "/properties/a", "major", "major"),
            ("property-added", "/properties/b", "minor", "minor"),
        ],
    ),
    Case(
        "closed",
        obj(a=TEXT),
        {**obj(a=TEXT), "additionalProperties": False},
        [("object-closed", "/additionalProperties", "major", "minor")],
    ),
    Case(
        "opened",
        {**obj(a=TEXT), "additionalProperties": False},
        {**obj(a=TEXT), "additionalProperties": True},
        [("object-opened", "/additionalProperties", "minor", "major")],
    ),
    Case(
        "closed by the keyword that looks through allOf",
        {"allOf": [obj(a=TEXT)], "type": "object"},
        {"allOf": [obj(a=TEXT)], "type": "object", "unevaluatedProperties": False},
        [("object-closed", "/unevaluatedProperties", "major", "minor")],
    ),
    Case(
        "any other name becomes a text",
        {"type": "object"},
        {"type": "object", "additionalProperties": TEXT},
        [("map-narrowed", "/additionalProperties", "major", "minor")],
    ),
    Case(
        "items are no longer texts",
        {"type": "array", "items": TEXT},
        {"type": "array"},
        [("map-widened", "/items", "minor", "major")],
    ),
    Case(
        "a position gets a schema of its own",
        {"type": "array", "items": TEXT},
        {"type": "array", "prefixItems": [{"type": "string", "maxLength": 2}], "items": TEXT},
        [("bound-tightened", "/prefixItems/0/maxLength", "major", "minor")],
    ),
    Case(
        "a pattern of names",
        {"type": "object"},
        {"type": "object", "patternProperties": {"^x-": TEXT}},
        [("map-narrowed", "/patternProperties/^x-", "major", "minor")],
    ),
    Case("null is accepted", TEXT, {"type": ["string", "null"]}, [("type-widened", "/type", "minor", "major")]),
    Case("integer to number", {"type": "integer"}, {"type": "number"}, [("type-widened", "/type", "minor", "major")]),
    Case("number to integer", {"type": "number"}, {"type": "integer"}, [("type-narrowed", "/type", "major", "minor")]),
    Case("another type", TEXT, {"type": "integer"}, [("type-changed", "/type", "major", "major")]),
    Case("a type is imposed", {}, TEXT, [("type-narrowed", "/type", "major", "minor")]),
    Case("a value more", {"enum": ["a"]}, {"enum": ["a", "b"]}, [("enum-widened", "/enum", "minor", "major")]),
    Case(
        "a value of another type more",
        {"enum": ["a"]},
        {"enum": ["a", 1]},
        [("enum-widened", "/enum", "minor", "major")],
    ),
    Case("a value less", {"enum": ["a", "b"]}, {"enum": ["a"]}, [("enum-narrowed", "/enum", "major", "minor")]),
    Case("an enum imposed", TEXT, {"enum": ["a"]}, [("enum-narrowed", "/enum", "major", "minor")]),
    Case("a const dropped", {"const": "a"}, TEXT, [("enum-widened", "/const", "minor", "major")]),
    Case(
        "a const replaced",
        {"const": "a"},
        {"const": "b"},
        [("enum-widened", "/const", "minor", "major"), ("enum-narrowed", "/const", "major", "minor")],
    ),
    Case(
        "an enum gives way to a bound that some of it breaks",
        {"enum": ["a", "bbb"]},
        {"type": "string", "maxLength": 1},
        [("enum-widened", "/enum", "minor", "major"), ("enum-narrowed", "/enum", "major", "minor")],
    ),
    Case("order", {"enum": ["a", "b"]}, {"enum": ["b", "a"]}, [("enum-order", "/enum", "patch", "patch")]),
    Case("const is an enum of one", {"const": "a"}, {"enum": ["a"]}, [("enum-order", "/enum", "patch", "patch")]),
    Case(
        "maximum raised",
        {"type": "number", "maximum": 3},
        {"type": "number", "maximum": 4},
        [("bound-relaxed", "/maximum", "minor", "major")],
    ),
    Case(
        "minimum added",
        {"type": "number"},
        {"type": "number", "exclusiveMinimum": 4},
        [("bound-tightened", "/exclusiveMinimum", "major", "minor")],
    ),
    Case(
        "both ends moved up",
        {"type": "number", "minimum": 1, "maximum": 2},
        {"type": "number", "minimum": 1.5, "maximum": 2.5},
        [("bound-tightened", "/minimum", "major", "minor"), ("bound-relaxed", "/maximum", "minor", "major")],
    ),
    Case(
        "a divisor of the step",
        {"type": "number", "multipleOf": 4},
        {"type": "number", "multipleOf": 2},
        [("bound-relaxed", "/multipleOf", "minor", "major")],
    ),
    Case(
        "steps that do not divide each other",
        {"type": "number", "multipleOf": 2},
        {"type": "number", "multipleOf": 3},
        [("bound-relaxed", "/multipleOf", "minor", "major"), ("bound-tightened", "/multipleOf", "major", "minor")],
    ),
    Case(
        "unique items",
        {"type": "array"},
        {"type": "array", "uniqueItems": True},
        [("bound-tightened", "/uniqueItems", "major", "minor")],
    ),
    Case(
        "more members",
        {"type": "object", "maxProperties": 1},
        {"type": "object", "maxProperties": 2},
        [("bound-relaxed", "/maxProperties", "minor", "major")],
    ),
    Case(
        "a pattern",
        TEXT,
        {"type": "string", "pattern": "^a$"},
        [("pattern-added", "/pattern", "major", "minor")],
    ),
    Case(
        "no pattern",
        {"type": "string", "pattern": "^a$"},
        TEXT,
        [("pattern-removed", "/pattern", "minor", "major")],
    ),
    Case(
        "another pattern",
        {"type": "string", "pattern": "^a$"},
        {"type": "string", "pattern": "^[ab]$"},
        [("pattern-changed", "/pattern", "major", "major")],
    ),
    Case(
        "a format counts, though nothing asserts it",
        TEXT,
        {"type": "string", "format": "email"},
        [("format-added", "/format", "major", "minor")],
    ),
    Case(
        "no format",
        {"type": "string", "format": "email"},
        TEXT,
        [("format-removed", "/format", "minor", "major")],
    ),
    Case(
        "another encoding",
        {"type": "string", "contentEncoding": "base64"},
        {"type": "string", "contentEncoding": "base32"},
        [("format-changed", "/contentEncoding", "major", "major")],
    ),
    Case(
        "a form more",
        TEXT,
        {"oneOf": [TEXT, obj(name=TEXT)]},
        [("union-widened", "/oneOf", "minor", "major")],
    ),
    Case(
        "a form less",
        {"anyOf": [TEXT, {"type": "array"}, {"type": "integer"}]},
        {"anyOf": [TEXT, {"type": "integer"}]},
        [("union-narrowed", "/anyOf", "major", "minor")],
    ),
    Case(
        "a form more of the same type, told apart by a constant",
        {"oneOf": [{**obj(kind={"const": "a"}), "required": ["kind"]}, TEXT]},
        {
            "oneOf": [
                {**obj(kind={"const": "a"}), "required": ["kind"]},
                TEXT,
                {**obj(kind={"const": "b"}, size={"type": "integer"}), "required": ["kind"]},
            ]
        },
        [("union-widened", "/oneOf", "minor", "major")],
    ),
    Case(
        "a name added to one of several forms",
        {
            "oneOf": [
                {**obj(kind={"const": x}, **({"size": TEXT} if x == "b" else {})), "required": ["kind"]} for x in "ab"
            ]
        },
        {"oneOf": [{**obj(kind={"const": x}, size=TEXT), "required": ["kind"]} for x in "ab"]},
        [("property-added", "/oneOf/0/properties/size", "minor", "minor")],
    ),
    Case(
        "oneOf whose branches overlap is one condition",
        {"oneOf": [obj(a=TEXT), obj(b=TEXT)]},
        {"oneOf": [obj(a=TEXT), obj(b=TEXT), obj(c=TEXT)]},
        [("condition-changed", "/oneOf", "major", "major")],
    ),
    Case(
        "anyOf beside the rest",
        obj(a=TEXT, b=TEXT),
        {**obj(a=TEXT, b=TEXT), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        [("condition-added", "/anyOf", "major", "minor")],
    ),
    Case(
        "a condition less",
        {"type": "string", "not": {"const": "a"}},
        TEXT,
        [("condition-removed", "/not", "minor", "major")],
    ),
    Case(
        "another condition",
        {"type": "string", "not": {"maxLength": 1}},
        {"type": "string", "not": {"maxLength": 2}},
        [("condition-changed", "/not", "major", "major")],
    ),
    Case(
        "one dependent name",
        {"type": "object", "dependentRequired": {"a": ["b"]}},
        {"type": "object", "dependentRequired": {"a": ["b"], "c": ["d"]}},
        [("condition-added", "/dependentRequired/c", "major", "minor")],
    ),
    Case(
        "a branch beside a type is a union",
        {
            "type": "object",
            "oneOf": [{**obj(k={"const": "a"}), "required": ["k"]}, {**obj(k={"const": "b"}), "required": ["k"]}],
        },
        {"type": "object", "oneOf": [{**obj(k={"const": x}), "required": ["k"]} for x in "abc"]},
        [("union-widened", "/oneOf", "minor", "major")],
    ),
    Case(
        "definitions renamed",
        {"$ref": "#/$defs/a", "$defs": {"a": TEXT}},
        {"$ref": "#/$defs/b", "$defs": {"b": TEXT}},
        [("ref-moved", "", "patch", "patch")],
    ),
    Case("inlined", {"$ref": "#/$defs/a", "$defs": {"a": TEXT}}, TEXT, [("ref-moved", "", "patch", "patch")]),
    Case(
        "written in another way",
        TEXT,
        {"type": ["string"], "minLength": 0},
        [("schema-respelled", "", "patch", "patch")],
    ),
    Case(
        "the dialect is named",
        TEXT,
        {"$schema": "https://json-schema.org/draft/2020-12/schema", **TEXT},
        [("dialect-changed", "/$schema", "patch", "patch")],
    ),
    Case(
        "the same in an older dialect",
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "array",
            "items": [TEXT],
            "additionalItems": False,
        },
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "array",
            "prefixItems": [TEXT],
            "items": False,
        },
        [("dialect-changed", "/$schema", "patch", "patch")],
    ),
    Case(
        "another meaning in an older dialect",
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$ref": "#/definitions/a",
            "maxLength": 1,
            "definitions": {"a": TEXT},
        },
        {"$ref": "#/definitions/a", "maxLength": 1, "definitions": {"a": TEXT}},
        [("dialect-changed", "/$schema", "major", "major"), ("bound-tightened", "/maxLength", "major", "minor")],
    ),
    Case("a default", TEXT, {**TEXT, "default": "a"}, [("default-added", "/default", "minor", "minor")]),
    Case(
        "another default",
        {**TEXT, "default": None},
        {**TEXT, "default": "a"},
        [("default-changed", "/default", "minor", "minor")],
    ),
    Case("no default", {**TEXT, "default": "a"}, TEXT, [("default-removed", "/default", "minor", "minor")]),
    Case(
        "other words",
        {**TEXT, "description": "a"},
        {**TEXT, "description": "b"},
        [("schema-text", "/description", "patch", "patch")],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("side", ["input", "output"])
def test_rule(case: Case, side: Any) -> None:
    level = 2 if side == "input" else 3
    assert {(row[0], row[1], row[level]) for row in case.expected} == schema_rows(case.old, case.new, side)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_nothing_changes_between_equal_schemas(case: Case) -> None:
    assert set() == schema_rows(case.old, case.old)


def test_every_code_has_its_case() -> None:
    tested = {row[0] for case in CASES for row in case.expected}
    elsewhere = {"undecided", "header-changed"}
    assert {key.partition(":")[0] for key in SCHEMA_RULES} == tested | elsewhere


def test_every_rule_speaks_of_both_sides() -> None:
    for key, rule in SCHEMA_RULES.items():
        assert rule.input in LEVELS, key
        assert rule.output in LEVELS, key
        for reason in rule.reasons:
            assert reason.format(name="n", keyword="k", old="o", new="n")


FORKED = {"anyOf": [obj(b={}), obj(c={})], "type": "object", "unevaluatedProperties": False}

UNDECIDED = [
    ({**FORKED, "properties": {"a": {}}}, {**FORKED, "properties": {"a": {}, "d": {}}}),
    ({**FORKED, "anyOf": [obj(b={}), obj(c={}, d={})]}, FORKED),
    (
        {"type": "array", "contains": TEXT, "unevaluatedItems": False},
        {"type": "array", "contains": TEXT, "minContains": 0, "unevaluatedItems": False},
    ),
    (
        {"type": "object", "if": obj(a=TEXT), "unevaluatedProperties": False},
        {"type": "object", "unevaluatedProperties": False},
    ),
]


@pytest.mark.parametrize(("old", "new"), UNDECIDED)
@pytest.mark.parametrize("side", ["input", "output"])
def test_what_is_evaluated_cannot_be_compared_where_it_depends_on_the_instance(old: Any, new: Any, side: Any) -> None:
    """By the sets that siblings accept these may be equal; what they evaluate is not."""
    for left, right in ((old, new), (new, old)):
        found = compare_schemas(left, right, side=side)
        assert "major" in {change.level for change in found}


def test_text_below_siblings_of_unevaluated_is_text() -> None:
    old = {**FORKED, "properties": {"a": {**TEXT, "description": "a"}}}
    new = {**FORKED, "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {**TEXT, "description": "b"}}}
    assert {("schema-text", "/properties/a/description", "patch")} == schema_rows(old, new)


def test_a_bound_that_another_branch_may_cover_is_undecided() -> None:
    new = {"anyOf": [{"type": "number", "maximum": 5}, {"type": "number", "minimum": 3}]}
    found = compare_schemas({"type": "number"}, new, side="input")
    assert {("major", "undecided", ("undecided",))} == {(change.level, change.proof, change.flags) for change in found}


SAME = [
    ({"type": ["string", "null"]}, {"anyOf": [TEXT, {"type": "null"}]}),
    ({"enum": ["a", None]}, {"anyOf": [{"const": "a"}, {"type": "null"}]}),
    ({"type": "boolean"}, {"enum": [False, True]}),
    ({"type": "integer"}, {"type": "number", "multipleOf": 1}),
    ({"type": "integer", "exclusiveMinimum": 0}, {"type": "integer", "minimum": 1}),
    ({"type": "number", "minimum": 1, "exclusiveMinimum": 0.5}, {"type": "number", "minimum": 1.0}),
    ({"enum": [1, 2.0]}, {"enum": [2, 1.0]}),
    ({"type": "string", "enum": ["a", 1]}, {"const": "a"}),
    ({"type": "integer", "minimum": 1, "maximum": 3}, {"enum": [1, 2, 3]}),
    ({"allOf": [obj(a=TEXT), {"required": ["a"]}]}, {**obj(a=TEXT), "required": ["a"]}),
    (
        {"allOf": [obj(a={"maxLength": 5}), obj(a=TEXT)]},
        obj(a={"type": "string", "maxLength": 5}),
    ),
    ({**CLOSED, "properties": {"a": TEXT, "b": False}}, {**CLOSED, "properties": {"a": TEXT}}),
    ({"then": {"type": "null"}}, {}),
    ({"contains": True, "minContains": 0}, {}),
    ({"anyOf": [TEXT]}, TEXT),
    (
        {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "integer", "minimum": 2}]},
        {"type": "integer", "minimum": 1},
    ),
    (
        {
            "type": "object",
            "unevaluatedProperties": False,
            "allOf": [{"$ref": "#/$defs/a"}],
            "$defs": {"a": obj(a=TEXT)},
        },
        {**CLOSED, "properties": {"a": TEXT}},
    ),
    ({"type": "array", "prefixItems": [TEXT], "items": False}, {"type": "array", "prefixItems": [TEXT], "maxItems": 1}),
    (
        {"maximum": 5, "type": "integer"},
        {"maximum": 5, "anyOf": [{"type": "integer"}, {"type": "integer", "title": "x"}]},
    ),
    ({"maximum": 5, "type": "number"}, {"maximum": 5, "anyOf": [{"type": "integer"}, {"type": "number"}]}),
    ({"maxLength": 5, "type": ["string", "null"]}, {"maxLength": 5, "anyOf": [TEXT, {"type": "null"}]}),
    ({"type": "string", "not": {"enum": ["a", "b"]}}, {"type": "string", "not": {"enum": ["b", "a"]}}),
    (
        {**obj(a=TEXT, b=TEXT), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {**obj(b=TEXT, a=TEXT), "anyOf": [{"required": ["b"]}, {"required": ["a"]}]},
    ),
]


@pytest.mark.parametrize(("old", "new"), SAME)
@pytest.mark.parametrize("side", ["input", "output"])
def test_what_is_only_written_in_another_way_is_a_patch(old: Any, new: Any, side: Any) -> None:
    for left, right in ((old, new), (new, old)):
        assert {"patch"} == {change.level for change in compare_schemas(left, right, side=side)}


def test_the_place_of_use_and_the_place_of_the_text() -> None:
    old = {**obj(a={"$ref": "#/$defs/t"}, b={"$ref": "#/$defs/t"}), "$defs": {"t": TEXT}}
    new = {**old, "$defs": {"t": {"type": "string", "maxLength": 3}}}
    found = compare_schemas(old, new, side="input", at=("spec", "inputSchema"))
    root = ("spec", "inputSchema")
    assert [(*root, "properties", name, "maxLength") for name in "ab"] == [change.path for change in found]
    assert {(*root, "$defs", "t", "maxLength")} == {change.at for change in found}


def test_a_header_that_servers_expect() -> None:
    old, new = obj(a={**TEXT, "x-mcp-header": "A"}), obj(a={**TEXT, "x-mcp-header": "B"})
    (change,) = compare_schemas(old, new, side="input", headers=True)
    assert ("header-changed", "major", "A", "B") == (change.code, change.level, change.old, change.new)
    assert {("schema-text", "/properties/a/x-mcp-header", "patch")} == schema_rows(old, new)
