"""What is found where in a schema: objects that must not be closed, references, headers, and the bounds of all that."""

from __future__ import annotations

from typing import Any

import pytest

from lint.make import codes, found, tool
from pawl.lint.check import lint_closure
from pawl.lint.disjoint import disjoint
from pawl.lint.schemas import MAX_PLACES, find_in_schema, shown_path
from pawl.lint.settings import LintSettings
from pawl.problems import Place
from pawl.procedures.schema_graph import Graph
from pawl.procedures.schema_tree import walk_schema

OBJECT: dict[str, Any] = {"type": "object", "properties": {"k": {"type": "string"}}, "required": ["k"]}
SHUT = {**OBJECT, "additionalProperties": False}


def rows(schema: dict[str, Any], row: str) -> list[Place]:
    return [finding.at for finding in find_in_schema(schema) if finding.row == row]


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ({**SHUT, "properties": {"k": OBJECT}}, [("properties", "k")]),
        ({**SHUT, "properties": {"k": {"type": ["object", "null"]}}}, [("properties", "k")]),
        ({**SHUT, "properties": {"k": {"properties": {}}}}, [("properties", "k")]),
        ({**SHUT, "properties": {"k": {"items": OBJECT}}}, [("properties", "k", "items")]),
        ({**SHUT, "properties": {"k": {"anyOf": [OBJECT, SHUT]}}}, [("properties", "k", "anyOf", 0)]),
        ({**SHUT, "properties": {"k": {"allOf": [OBJECT]}}}, []),
        ({**SHUT, "properties": {"k": {"not": OBJECT}}}, []),
        ({**SHUT, "properties": {"k": {"if": OBJECT, "then": OBJECT}}}, []),
        ({**SHUT, "properties": {"k": {"contains": {"items": OBJECT}}}}, []),
        ({**SHUT, "additionalProperties": OBJECT}, [(), ("additionalProperties",)]),
        ({**SHUT, "additionalProperties": True}, [()]),
    ],
)
def test_open_objects(schema: dict[str, Any], wanted: list[Place]) -> None:
    assert sorted(rows(schema, "schema-open-object"), key=str) == sorted(wanted, key=str)


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ({**SHUT, "properties": {"k": True}}, [("properties", "k")]),
        ({**SHUT, "properties": {"k": {"items": False}}}, [("properties", "k", "items")]),
        (
            {**SHUT, "properties": {"k": {"prefixItems": [True], "items": False}}},
            [("properties", "k", "prefixItems", 0)],
        ),
        ({**SHUT, "unevaluatedProperties": False}, []),
    ],
)
def test_booleans_as_schemas(schema: dict[str, Any], wanted: list[Place]) -> None:
    assert rows(schema, "schema-boolean") == wanted


ONE_A, ONE_B = ({**OBJECT, "properties": {"k": {"const": value}}} for value in ("a", "b"))


@pytest.mark.parametrize(
    ("branches", "wanted"),
    [
        ([{"type": "string"}, {"type": "integer"}], True),
        ([{"type": "number"}, {"type": "integer"}], False),
        ([{"type": ["string", "null"]}, {"type": ["integer", "null"]}], False),
        ([{"const": 1}, {"const": 2}], True),
        ([{"const": 1}, {"const": 1.0}], False),
        ([{"const": 1}, {"const": True}], True),
        ([{"enum": ["a", "b"]}, {"enum": ["b"]}], False),
        ([{"enum": [[1]]}, {"enum": [[2]]}], False),
        ([ONE_A, ONE_B], True),
        ([ONE_A, ONE_A], False),
        ([ONE_A, {**ONE_B, "required": []}], False),
        ([ONE_A, {key: ONE_B[key] for key in ("properties", "required")}], False),
        ([{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}], True),
        ([{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}], False),
        ([{}, {"type": "string"}], False),
        ([True, False], False),
        ([{"const": index} for index in range(65)], False),
    ],
)
def test_branches_of_which_one_at_most_holds(branches: list[Any], wanted: bool) -> None:
    schema = {"properties": {"x": {"oneOf": branches}}, "$defs": {"a": ONE_A, "b": ONE_B}}
    graph = Graph(schema, walk_schema(schema))
    nodes = [graph.nodes[("properties", "x", "oneOf", index)] for index in range(len(branches))]
    assert disjoint(nodes, graph) is wanted
    row = "schema-oneof/disjoint" if wanted else "schema-oneof"
    assert rows(schema, row) == [("properties", "x", "oneOf")]


TREE = {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}, "right": {"$ref": "#/$defs/tree"}}}


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ({"properties": {"x": {"$ref": "#"}}}, [("properties", "x", "$ref")]),
        (
            {"properties": {"x": {"$ref": "#/$defs/tree"}}, "$defs": {"tree": TREE}},
            [("$defs", "tree", "properties", side, "$ref") for side in ("left", "right")],
        ),
        ({"properties": {"x": {"type": "string"}}, "$defs": {"tree": TREE}}, []),
        ({"properties": {"x": {"$ref": "#/$defs/s"}, "y": {"$ref": "#/$defs/s"}}, "$defs": {"s": {}}}, []),
    ],
)
def test_schemas_that_contain_themselves(schema: dict[str, Any], wanted: list[Place]) -> None:
    assert rows(schema, "schema-ref-cycle") == wanted


def test_a_circle_that_is_entered_in_its_middle_is_told_once() -> None:
    loop = {"type": "object", "properties": {"in": {"$ref": "#/$defs/a"}}}
    schema = {"properties": {"x": {"$ref": "#/$defs/a/properties/in"}}, "$defs": {"a": loop}}
    assert len(rows(schema, "schema-ref-cycle")) == 1


def test_a_long_chain_of_references_is_walked_without_recursion() -> None:
    chain = {f"d{index}": {"type": "array", "items": {"$ref": f"#/$defs/d{index + 1}"}} for index in range(3_000)}
    schema = {"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": {**chain, "d3000": {"type": "string"}}}
    (finding,) = [each for each in find_in_schema(schema) if each.row.startswith("schema-depth")]
    assert finding.message.startswith("3001 levels below the root (x[][]")
    assert len(finding.message) < 300


@pytest.mark.parametrize(
    ("at", "wanted"),
    [
        ((), "the root"),
        (("properties", "filter", "items", "properties", "price"), "filter[].price"),
        (("properties", "a", "additionalProperties"), "a.*"),
        (("properties", "a", "anyOf", 1), "a.anyOf.1"),
        (("$defs", "a", "items"), "$defs.a[]"),
        (("properties", "properties", "properties", "items"), "properties.items"),
    ],
)
def test_places_are_shown_as_places_in_the_value(at: Place, wanted: str) -> None:
    assert shown_path(at) == wanted


def test_many_places_of_one_row_are_counted() -> None:
    schema = {**SHUT, "properties": {f"p{index}": {"type": "object"} for index in range(100)}, "required": []}
    found_rows = [each for each in find_in_schema(schema) if each.row == "schema-open-object"]
    assert len(found_rows) == MAX_PLACES + 1
    assert found_rows[-1].message == f"the same at {100 - MAX_PLACES} more places"


HEADERS = [
    ({"type": "string", "x-mcp-header": "Region"}, 0),
    ({"type": ["string", "null"], "x-mcp-header": "Region"}, 0),
    ({"type": "boolean", "x-mcp-header": "Region"}, 0),
    ({"type": "string", "x-mcp-header": ""}, 1),
    ({"type": "string", "x-mcp-header": "a:b"}, 1),
    ({"type": "string", "x-mcp-header": None}, 1),
    ({"type": "number", "x-mcp-header": "Region"}, 1),
    ({"x-mcp-header": "Region"}, 1),
    ({"type": ["null"], "x-mcp-header": "Region"}, 1),
    ({"type": "object", "x-mcp-header": "a b"}, 2),
    ({"type": "string", "format": "password", "x-mcp-header": "Region"}, 1),
    ({"type": "string", "writeOnly": True, "x-mcp-header": "Region"}, 1),
]


@pytest.mark.parametrize(("schema", "count"), HEADERS)
def test_headers(schema: dict[str, Any], count: int) -> None:
    tools = [
        tool(schema={"properties": {"a": {**schema, "description": "What."}}}),
        tool(schema={"properties": {"b": {"properties": {"a": schema}, "type": "object", "description": "What."}}}),
    ]
    for each in tools:
        assert codes(each, "mcp").count("mcp-header") == count
        assert "mcp-header" not in codes(each, "openai", "gemini")


@pytest.mark.parametrize(
    ("name", "secret"),
    [("api_key", True), ("Password", True), ("access_token", True), ("page_token", False), ("max_tokens", False)],
)
def test_headers_that_would_carry_a_secret(name: str, secret: bool) -> None:
    header = {"type": "string", "description": "What.", "x-mcp-header": "X"}
    assert ("mcp-header" in codes(tool(schema={"properties": {name: header}}), "mcp")) is secret


def test_headers_differ_by_more_than_case() -> None:
    both = {name: {"type": "string", "x-mcp-header": name.upper()} for name in ("aa", "AA")}
    faults = [fault for fault in found(tool(schema={"properties": both}), "mcp") if fault.code == "mcp-header"]
    assert [fault.at[-2] for fault in faults] == ["aa", "AA"] or [fault.at[-2] for fault in faults] == ["AA", "aa"]


@pytest.mark.parametrize(
    ("names", "clashing"),
    [
        (["a/find", "b/find"], ["a/find", "b/find"]),
        (["a/find", "b/found"], []),
        (["a/find"], []),
        (["a/find", "a/find"], []),
    ],
)
def test_exported_names_of_a_closure(names: list[str], clashing: list[str]) -> None:
    faults = lint_closure([tool(name) for name in names], LintSettings())
    assert [(name, fault.code, fault.severity, fault.at) for name, fault in faults] == [
        (name, "tool-name-clash", "error", ("name",)) for name in clashing
    ]


def test_names_that_differ_by_case_clash_at_the_name_that_was_given() -> None:
    faults = dict(lint_closure([tool("a/find"), tool("b/other", name="FIND")], LintSettings()))
    assert {name: fault.at for name, fault in faults.items()} == {"a/find": ("name",), "b/other": ("spec", "name")}
    assert "b/other" in faults[tool("a/find").name].message


def test_no_closure_has_nothing() -> None:
    assert lint_closure([], LintSettings()) == ()
