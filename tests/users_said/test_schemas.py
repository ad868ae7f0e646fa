"""What users of other systems said about the schemas of tools."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import SECOND, Shop, in_process

FILE = "procedures/tool.yaml"
SPEC: dict[str, Any] = {
    "description": "Finds an order.",
    "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
    "outputSchema": {"type": "object", "properties": {"sent": {"type": "boolean"}}},
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
    "effects": ["orders:read"],
    "binding": {"python": "orders:find"},
}


def write_tool(shop: Shop, version: str = "1.0.0", name: str = "tool", **spec: Any) -> None:
    document = {"kind": "tool", "name": name, "version": version, "owner": "shop", "spec": {**SPEC, **spec}}
    shop.write(f"procedures/{name}.yaml", json.dumps(document, indent=2))


def found(shop: Shop, code: str, **spec: Any) -> list[dict[str, Any]]:
    """Return the errors of a check of the tool, which all have the code."""
    write_tool(shop, **spec)
    errors = [row for row in shop.pawl("check", code=1)["problems"] if row["severity"] == "error"]
    assert {(row["code"], row["path"]) for row in errors} == {(code, FILE)}
    return errors


@pytest.mark.parametrize(
    "schema",
    [{}, {"properties": {"id": {}}}, {"type": "string"}, {"type": ["object", "null"]}, {"anyOf": [{"type": "object"}]}],
)
def test_anthropics_claude_code_88049_a_root_is_an_object(plain_shop: Shop, schema: dict[str, Any]) -> None:
    found(plain_shop, "schema-root-type", inputSchema=schema)


@pytest.mark.parametrize("word", ["anyOf", "oneOf", "allOf"])
def test_anthropics_claude_code_88049_a_root_composition_is_a_warning_with_names(plain_shop: Shop, word: str) -> None:
    write_tool(plain_shop, inputSchema={**SPEC["inputSchema"], word: [{"required": ["id"]}]})
    rows = plain_shop.pawl("check")["problems"]
    (warning,) = [row for row in rows if row["code"] == "schema-root-composition"]
    assert warning["severity"] == "warning"
    assert [who for who in ("OpenAI", "Anthropic", "Gemini") if who not in warning["message"]] == []


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """A server that listens; whoever connects is seen by ``accept``."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


@pytest.mark.parametrize("form", ["http", "id", "schema", "file", "relative", "dangling", "circle"])
def test_google_gemini_gemini_cli_13326_no_reference_leaves_the_schema(
    live: Shop, server: socket.socket, tmp_path: Path, form: str
) -> None:
    url = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
    other = live.write("other.json", '{"type": "string"}')
    forms: dict[str, tuple[dict[str, Any], str]] = {
        "http": ({"properties": {"id": {"$ref": url}}}, "schema-ref-remote"),
        "id": ({"$id": url, "properties": {"id": {"$ref": "other.json"}}}, "schema-ref-remote"),
        "schema": ({"$schema": url}, "schema-dialect"),
        "file": ({"properties": {"id": {"$ref": other.as_uri()}}}, "schema-ref-remote"),
        "relative": ({"properties": {"id": {"$ref": "../other.json"}}}, "schema-ref-remote"),
        "dangling": ({"properties": {"id": {"$ref": "#/$defs/id"}}}, "schema-ref-dangling"),
        "circle": ({"properties": {"id": {"$ref": "#/properties/id"}}}, "schema-ref-circle"),
    }
    schema, code = forms[form]
    found(live, code, inputSchema={"type": "object", **schema})
    listed = {"tools": [{"name": "a", "inputSchema": {"type": "object", **schema}}]}
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(listed), encoding="utf-8")
    for words in (
        ("publish",),
        ("test", "tool"),
        ("diff", "tool"),
        ("bump", "tool"),
        ("import", "mcp", str(file)),
    ):
        assert in_process("-C", str(live.root), *words, "-o", "json").code == 1, words
    live.pawl("status")
    live.pawl("resolve", "support/refund", "--channel", "production")
    with pytest.raises(BlockingIOError):
        server.accept()


@pytest.mark.parametrize(
    ("schema", "code", "said"),
    [
        ({"properties": {"type": "object"}}, "schema-property-not-schema", "properties.type"),
        ({"properties": {"id": {}, "required": ["id"]}}, "schema-property-not-schema", "properties.required"),
        ({"properties": {"a": {"properties": {"type": "object"}}}}, "schema-property-not-schema", "properties.type"),
        ({"properties": {"id": {}}, "required": ["id", "name"]}, "schema-required-unknown", "name"),
        ({"properties": {"id": {"typ": "string"}}}, "schema-keyword-unknown", "typ"),
        ({"propertys": {}}, "schema-keyword-unknown", "propertys"),
    ],
)
def test_smallmain_vscode_unify_chat_provider_162_every_word_is_where_it_belongs(
    plain_shop: Shop, schema: dict[str, Any], code: str, said: str
) -> None:
    (error,) = found(plain_shop, code, inputSchema={"type": "object", **schema})
    assert said in error["message"]


def turned(value: Any) -> Any:
    """Return a value with the keys of every mapping in the other order."""
    if isinstance(value, dict):
        return {key: turned(value[key]) for key in reversed(value)}
    return [turned(item) for item in value] if isinstance(value, list) else value


@pytest.fixture
def published(plain_shop: Shop) -> Shop:
    write_tool(plain_shop)
    plain_shop.pawl("publish", "tool")
    return plain_shop


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("description", "Finds one order."),
        ("inputSchema", {**SPEC["inputSchema"], "description": "what it takes"}),
        ("inputSchema", {**SPEC["inputSchema"], "required": []}),
        ("outputSchema", {"type": "object", "properties": {"sent": {"type": "boolean", "title": "Sent"}}}),
        ("annotations", {"readOnlyHint": False, "openWorldHint": False}),
        ("annotations", {"readOnlyHint": True, "openWorldHint": False, "title": "Orders"}),
        ("effects", ["orders:read", "orders:write"]),
        ("effects", []),
        ("binding", {"python": "orders:find_one"}),
        ("binding", {"http": {"url": "https://orders.example.invalid"}}),
    ],
)
def test_vercel_ai_16902_every_change_has_its_line_and_another_digest(published: Shop, field: str, value: Any) -> None:
    write_tool(published, **{field: value})
    row = published.pawl("diff", "tool")
    assert row["from"]["digest"] != row["to"]["digest"]
    assert {change["path"].split("/")[2] for change in row["changes"]} == {field}
    assert f"/spec/{field}" in in_process("-C", str(published.root), "diff", "tool").out
    assert published.codes(published.pawl("check", code=1)) == ["version-reused"]


def test_vercel_ai_16902_the_order_of_keys_is_no_change(published: Shop) -> None:
    published.write(FILE, json.dumps(turned(json.loads(published.read(FILE))), indent=4))
    row = published.pawl("diff", "tool")
    assert (row["changes"], row["from"]["digest"]) == ([], row["to"]["digest"])
    assert published.pawl("publish", "tool")["published"] == []


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("check-eligibility", "description: Says whether an order", "description: Tells if an order"),
        ("check-eligibility", "order_id: {type: string", 'order_id: {description: "Such as A1.", type: string'),
        ("refund-draft", "Never promise", "Do never promise"),
        ("refund-draft", "refund of {{ amount }}", "refund of  {{ amount }}"),
    ],
)
def test_modelcontextprotocol_servers_4519_wording_is_tested_again(moved: Shop, path: str, old: str, new: str) -> None:
    name, file = f"support/{path}", f"procedures/support/{path}.yaml"
    if path == "refund-draft":
        moved.edit("conformance/refund-draft.yaml", ("a refund of 20", "20"), ("never promise", "promise"))
    moved.edit(file, (old, new))
    assert moved.pawl("diff", name)["required"] == "patch"
    assert "version-reused" in moved.codes(moved.pawl("publish", code=1))
    moved.edit(file, ("version: 1.0.0", "version: 1.0.1"))
    moved.pawl("publish")
    findings = moved.promote(f"{name}@1.0.1", to="staging")["verdict"]["findings"]
    ran = [row["message"] for row in findings if row["check"] == "evidence"]
    assert any(f"{name}@1.0.1" in text for text in ran)
    assert any("support/refund@2.0.0" in text for text in ran)  # and of what requires it
    assert [text for text in ran if "run now" not in text] == []


S, N = {"type": "string"}, {"type": "integer"}
UNIONS: list[tuple[Any, Any, str]] = [
    ({"oneOf": [S, N]}, {"oneOf": [S]}, "union-narrowed"),
    ({"anyOf": [S, N]}, {"anyOf": [N]}, "union-narrowed"),
    ({"enum": ["x", "y"]}, {"enum": ["x"]}, "enum-narrowed"),
    ({"anyOf": [{"enum": ["x", "y"]}, N]}, {"anyOf": [{"enum": ["x"]}, N]}, "enum-narrowed"),
    ({"oneOf": [S, N]}, {"oneOf": [S, N, {"minimum": 3}]}, "condition-added"),
    (
        {"oneOf": [{"type": "object", "properties": {"b": S}}, N]},
        {"oneOf": [{"type": "object", "properties": {"b": S}, "required": ["b"]}, N]},
        "property-required",
    ),
    ({**S, "not": {"pattern": "^a"}}, {**S, "not": {"pattern": "^b"}}, "condition-changed"),
    ({"if": S, "then": {"minLength": 1}}, {"if": S, "then": {"minLength": 0}}, "condition-changed"),
]


@pytest.mark.parametrize(("old", "new", "code"), UNIONS)
def test_oasdiff_oasdiff_314_what_breaks_inside_of_compositions_is_major(
    plain_shop: Shop, old: Any, new: Any, code: str
) -> None:
    write_tool(plain_shop, inputSchema={"type": "object", "properties": {"a": old}})
    plain_shop.pawl("publish", "tool")
    write_tool(plain_shop, "1.1.0", inputSchema={"type": "object", "properties": {"a": new}})
    row = plain_shop.pawl("diff", "tool")
    change = row["changes"][0]
    assert (row["required"], change["level"], change["code"], row["enough"]) == ("major", "major", code, False)
    if code == "condition-changed":
        assert change["flags"] == ["undecided"]
        assert "cannot be decided" in change["reason"]
    else:
        assert "witness" in change
    assert plain_shop.codes(plain_shop.pawl("publish", "tool", code=1)) == ["bump-too-small"]


def test_confluentinc_schema_registry_438_every_pinned_workflow_is_asked(live: Shop) -> None:
    """One workflow takes the new number and gives too little, one does not take it; both are named."""
    live.second()
    text, suite = live.read("procedures/support/refund.yaml"), live.read("conformance/refund.yaml")
    text = text.replace("name: support/refund\nversion: 2.0.0", "name: support/swap\nversion: 1.0.0")
    live.write("procedures/support/swap.yaml", text.replace('eligibility: ">=1,<2"', 'eligibility: ">=1,<3"'))
    suite = suite.replace("suite: refund", "suite: swap").replace("about: support/refund", "about: support/swap")
    live.write("conformance/swap.yaml", suite.replace('versions: ">=2"\n', ""))
    live.pawl("publish")
    live.promote(*SECOND, "support/swap@1.0.0", to="staging")
    live.promote(*SECOND, to="production")  # there swap is not pinned
    live.edit(
        "procedures/support/check-eligibility.yaml",
        ("version: 1.0.0", "version: 2.0.0"),
        ("required: [order_id]", "required: [order_id, unit]"),
        ("minLength: 1}\n", "minLength: 1}\n      unit: {type: string}\n"),
    )
    live.pawl("publish", "support/check-eligibility")
    answer = live.promote("support/check-eligibility@2.0.0", to="staging", code=3)
    said = {row["code"]: row["message"] for row in answer["problems"] if row["severity"] == "error"}
    assert sorted(said) == ["call-incomplete", "requirement-unmet"]
    assert "support/swap@1.0.0" in said["call-incomplete"]
    assert "support/refund@2.0.0" in said["requirement-unmet"]
    answer = live.promote("support/check-eligibility@2.0.0", to="production", code=3)
    assert "support/swap" not in str(answer["problems"])
