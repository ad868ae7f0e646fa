"""Schemas that mean something and schemas that do not: tables, bombs, and a server that must stay lonely."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pawl.problems import Place
from pawl.procedures.schema import compile_schema
from pawl.procedures.schema_check import check_schema
from support import soon

TYPES = "array, boolean, integer, null, number, object, string"
DRAFT_07 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
GOOD: dict[str, dict[str, Any]] = {
    "empty": {},
    "booleans": {"properties": {"a": True, "b": False}},
    "extension": {"x-header": "a", "properties": {"a": {"x-b": {"$ref": "http://a.invalid"}}}},
    "dialect": {"$schema": DRAFT_2020, "prefixItems": [True], "items": False},
    "draft-07": {"$schema": DRAFT_07, "items": [True], "additionalItems": False, "dependencies": {"a": ["b"]}},
    "$id": {"$id": "https://a.invalid/s", "$ref": "#/$defs/a", "$defs": {"a": True}},
    "recursion": {
        "$defs": {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}},
        "$ref": "#/$defs/n",
    },
    "root recursion": {"properties": {"children": {"type": "array", "items": {"$ref": "#"}}}},
    "anchor": {"$defs": {"a": {"$anchor": "here"}}, "properties": {"x": {"$ref": "#here"}}},
    "escaped": {"$defs": {"a/b~c d": True}, "$ref": "#/$defs/a~1b~0c%20d"},
    "data that looks like a schema": {
        "const": {"$ref": "http://a.invalid"},
        "default": {"typ": 1},
        "examples": [{"$id": 3}],
    },
    "required in a branch": {"properties": {"a": True, "b": True}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "required by another part": {
        "allOf": [{"$ref": "#/$defs/a"}, {"required": ["x"]}],
        "$defs": {"a": {"properties": {"x": True}}},
    },
    "required by a pattern": {"patternProperties": {"^x": True}, "required": ["x1"]},
    "condition": {"properties": {"a": True, "b": True}, "if": {"required": ["a"]}, "then": {"required": ["b"]}},
    "patterns": {"pattern": r"^[A-Z]{2}\d+(?:-\p{L}+)?$", "patternProperties": {"^x-": True}},
    "a property called type": {"properties": {"type": {"type": "string"}, "$ref": {"type": "string"}}},
}
BAD: dict[str, tuple[Any, str, Place, bool]] = {
    "null": (None, "schema-invalid", (), False),
    "list": ([], "schema-invalid", (), False),
    "true": (True, "schema-invalid", (), False),
    "typo": ({"typ": "string"}, "schema-keyword-unknown", ("typ",), True),
    "nullable": ({"items": {"nullable": True}}, "schema-keyword-unknown", ("items", "nullable"), True),
    "of another dialect": ({"additionalItems": False}, "schema-keyword-unknown", ("additionalItems",), True),
    "of the newer dialect": (
        {"$schema": DRAFT_07, "prefixItems": []},
        "schema-keyword-unknown",
        ("prefixItems",),
        True,
    ),
    "type as a property": (
        {"properties": {"type": "object"}},
        "schema-property-not-schema",
        ("properties", "type"),
        False,
    ),
    "text as items": ({"items": "string"}, "schema-invalid", ("items",), False),
    "required": ({"properties": {"a": {}}, "required": ["a", "b"]}, "schema-required-unknown", ("required", 1), False),
    "required without properties": ({"required": ["a"]}, "schema-required-unknown", ("required", 0), False),
    "required in a branch": (
        {"properties": {"a": True}, "anyOf": [{"required": ["b"]}]},
        "schema-required-unknown",
        ("anyOf", 0, "required", 0),
        False,
    ),
    "required deeper": (
        {"properties": {"a": {"properties": {}, "required": ["a"]}}},
        "schema-required-unknown",
        ("properties", "a", "required", 0),
        False,
    ),
    "remote": ({"$ref": "http://a.invalid/s"}, "schema-ref-remote", ("$ref",), False),
    "file": ({"$ref": "file:///etc/passwd"}, "schema-ref-remote", ("$ref",), False),
    "relative": ({"$ref": "other.json#/a"}, "schema-ref-remote", ("$ref",), False),
    "dangling": ({"$ref": "#/$defs/a"}, "schema-ref-dangling", ("$ref",), False),
    "no anchor": ({"$ref": "#a"}, "schema-ref-dangling", ("$ref",), False),
    "into data": ({"$ref": "#/const", "const": {}}, "schema-ref-dangling", ("$ref",), False),
    "number as $ref": ({"$ref": 3}, "schema-invalid", ("$ref",), False),
    "circle": ({"$defs": {"a": {"$ref": "#/$defs/a"}}}, "schema-ref-circle", ("$defs", "a", "$ref"), False),
    "circle in allOf": ({"allOf": [{"$ref": "#"}]}, "schema-ref-circle", ("allOf", 0, "$ref"), False),
    "circle in not": ({"not": {"$ref": "#"}}, "schema-ref-circle", ("not", "$ref"), False),
    "dynamic": ({"$dynamicRef": "#a"}, "schema-ref-dynamic", (), False),
    "nested $id": ({"items": {"$id": "a"}}, "schema-id-nested", ("items", "$id"), False),
    "dialect": ({"$schema": "http://json-schema.org/draft-04/schema#"}, "schema-dialect", ("$schema",), False),
    "dialect of a list": ({"$schema": []}, "schema-dialect", ("$schema",), False),
    "dialect deeper": ({"items": {"$schema": "http://a.invalid"}}, "schema-dialect", ("items", "$schema"), False),
    "look-ahead": ({"pattern": "(?=a)"}, "schema-pattern", ("pattern",), False),
    "back-reference": ({"pattern": r"(a)\1"}, "schema-pattern", ("pattern",), False),
    "unbalanced": ({"patternProperties": {"(": True}}, "schema-pattern", ("patternProperties", "("), True),
    "huge pattern": ({"pattern": "(a{1000}){1000}"}, "schema-pattern", ("pattern",), False),
    "type": ({"type": "strin"}, "schema-invalid", ("type",), False),
    "types": ({"type": []}, "schema-invalid", ("type",), False),
    "minimum": ({"properties": {"a": {"minimum": "1"}}}, "schema-invalid", ("properties", "a", "minimum"), False),
    "list as items": ({"items": [{}]}, "schema-invalid", ("items",), False),
    "required twice": ({"properties": {"a": {}}, "required": ["a", "a"]}, "schema-invalid", ("required",), False),
    "not a number": ({"default": float("nan")}, "schema-invalid", ("default",), False),
    "surrogate": ({"title": "\ud800"}, "schema-invalid", ("title",), False),
}


@pytest.mark.parametrize("schema", GOOD.values(), ids=GOOD)
def test_good_schemas(schema: dict[str, Any]) -> None:
    assert check_schema(schema) == ()


@pytest.mark.parametrize(("schema", "code", "at", "on_key"), BAD.values(), ids=BAD)
def test_bad_schemas(schema: Any, code: str, at: Place, on_key: bool) -> None:
    found = check_schema(schema, at=("spec", "x"))
    assert [(fault.code, fault.at, fault.on_key) for fault in found] == [(code, ("spec", "x", *at), on_key)]


def test_every_fault_at_once() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"typ": "string"}, "b": {"pattern": "("}, "c": {"pattern": "[", "minimum": "x"}},
        "required": ["z"],
        "anyOf": [{"$ref": "#/nothing"}, {"$ref": "http://a.invalid"}],
    }
    assert sorted(fault.code for fault in check_schema(schema)) == [
        "schema-invalid",
        "schema-keyword-unknown",
        "schema-pattern",
        "schema-pattern",
        "schema-ref-dangling",
        "schema-ref-remote",
        "schema-required-unknown",
    ]


@pytest.mark.parametrize(
    ("schema", "message", "hint"),
    [
        ({"requird": []}, "requird is no keyword of JSON Schema; validators would ignore it", "did you mean required?"),
        (
            {"nullable": True},
            "nullable is no keyword of JSON Schema; validators would ignore it",
            'write type: [T, "null"]',
        ),
        (
            {"additionalItems": True},
            "additionalItems is a keyword of draft-07 and not of 2020-12; validators would ignore it",
            "write items beside prefixItems",
        ),
        (
            {"properties": {"type": "object"}},
            "properties.type: expected a schema, which is a mapping, true or false; found the text 'object'",
            "type: and other keywords stand beside properties:, not in it",
        ),
        (
            {"type": "strin"},
            f"type: expected one of {TYPES}, or a list of these, found the text 'strin'",
            None,
        ),
        ({"minLength": "1"}, "minLength: expected a whole number, found the text '1'", None),
    ],
)
def test_sentences_for_people(schema: dict[str, Any], message: str, hint: str | None) -> None:
    assert [(fault.message, fault.hint) for fault in check_schema(schema)] == [(message, hint)]


def test_the_root_of_a_tool_says_object() -> None:
    branches = {"anyOf": [{"type": "object"}, {"type": "object"}]}
    for schema in ({}, branches, {"type": ["object"]}, {"type": "array"}):
        assert [fault.code for fault in check_schema(schema, root_object=True)] == ["schema-root-type"]


def test_a_schema_that_only_looks_need_not_declare() -> None:
    assert check_schema({"required": ["a"]}, promises=False) == ()


def tower(floors: int, key: str, room: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Return a schema in which every floor applies the next one twice."""
    above = [{"$ref": f"#/$defs/f{floor + 1}"} for floor in range(floors)]
    floors_of = {f"f{floor}": {key: [room(one), room(one)]} for floor, one in enumerate(above)}
    return {"$defs": {**floors_of, f"f{floors}": {"type": "number"}}, "$ref": "#/$defs/f0"}


MANY = 4_000
BOMBS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "tower": (tower(40, "anyOf", lambda one: one), {"schema-too-large"}),
    "tower of properties": (tower(40, "allOf", lambda one: {"properties": {"a": one}}), {"schema-too-large"}),
    "tower of items": (tower(40, "allOf", lambda one: {"items": one}), {"schema-too-large"}),
    "low tower": (tower(8, "anyOf", lambda one: one), set()),
    "chain": ({"$defs": {**{f"a{n}": {"$ref": f"#/$defs/a{n + 1}"} for n in range(MANY)}, f"a{MANY}": True}}, set()),
    "anchors": ({"$defs": {f"a{n}": {"$anchor": f"b{n}", "items": {"$ref": f"#b{n}"}} for n in range(MANY)}}, set()),
    "branches": ({"oneOf": [{"properties": {f"p{n}": True}, "required": [f"p{n}"]} for n in range(MANY)]}, set()),
    "patterns": ({"properties": {f"p{n}": {"pattern": f"a{n}"} for n in range(MANY)}}, {"schema-too-large"}),
    "faults": (
        {"properties": {f"p{n}": {"typ": 3, "minimum": "x"} for n in range(1_000)}},
        {"schema-keyword-unknown", "schema-invalid"},
    ),
}


@pytest.mark.parametrize(("schema", "codes"), BOMBS.values(), ids=BOMBS)
def test_bombs_are_judged_quickly(schema: dict[str, Any], codes: set[str]) -> None:
    with soon(20.0):
        assert {fault.code for fault in check_schema(schema)} == codes


def test_a_deep_schema_is_too_large() -> None:
    schema: Any = True
    for _ in range(70):
        schema = {"items": schema}
    assert [fault.code for fault in check_schema(schema)] == ["schema-too-large"]


class Counting(socketserver.ThreadingTCPServer):
    """Counts who comes, and answers nobody."""

    daemon_threads = True
    visits = 0

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - socketserver's
        type(self).visits += 1
        self.shutdown_request(request)


@pytest.fixture
def server() -> Iterator[Counting]:
    with Counting(("127.0.0.1", 0), socketserver.BaseRequestHandler) as listening:
        threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True).start()
        yield listening
        listening.shutdown()


def test_nothing_is_ever_fetched(server: Counting) -> None:
    url = f"http://127.0.0.1:{server.server_address[1]}/s.json"
    places: list[dict[str, Any]] = [
        {"$ref": url},
        {"$ref": f"{url}#/a"},
        {"$id": url, "$ref": "other.json"},
        {"$id": url, "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$id": "b", "$ref": "c"}}},
        {"$schema": url},
        {"items": {"$schema": url}},
        {"$dynamicRef": url},
        {"const": {"$ref": url}, "$ref": "#/const"},
        {"x-more": {"$ref": url}, "$ref": "#/x-more"},
        {"$schema": DRAFT_07, "definitions": {"a": {"$ref": url}}},
        {"$schema": DRAFT_07, "dependencies": {"a": {"$ref": url}}},
    ]
    for schema in places:
        assert check_schema(schema), schema
        try:
            compile_schema(schema).faults({"a": 1})
        except ValueError:
            continue
    assert Counting.visits == 0


SCHEMAS = st.recursive(
    st.booleans() | st.just({}) | st.fixed_dictionaries({"type": st.sampled_from(["string", "object", "integer", 3])}),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", "text", ["string", "null"]]),
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "required": st.lists(st.sampled_from("abc"), max_size=2),
            "items": inner,
            "anyOf": st.lists(inner, max_size=2),
            "not": inner,
            "$ref": st.sampled_from(["#", "#/properties/a", "#/items", "#/anyOf/0", "a", "#a", "#/$defs/%zz"]),
            "$defs": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "pattern": st.sampled_from(["a", "(", r"\d+$", "(?!a)"]),
            "minLength": st.integers(-1, 2),
        },
    ),
    max_leaves=12,
)


@given(SCHEMAS)
def test_what_passes_is_a_schema_by_two_judges_and_compiles(schema: Any) -> None:
    if check_schema(schema, promises=False) == ():
        Draft202012Validator.check_schema(schema)
        compile_schema(schema)
    elif isinstance(schema, dict):
        assert all(fault.message and fault.code.startswith("schema-") for fault in check_schema(schema))
