"""Importing MCP tools: what is kept, what is refused by name, and that importing again leaves things alone."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.errors import Faulty
from pawl.formats.mcp import MAX_BYTES, MAX_DEPTH, MAX_TOOLS, import_tools, merge_import, read_tools
from pawl.io import strict_yaml
from pawl.io.dump import yaml_bytes
from pawl.procedures.call import effective_hints
from pawl.procedures.read import read_procedure

FIXTURES = Path(__file__).parent / "tools"
EMPTY: dict[str, Any] = {"type": "object"}
DIALECT = {"$schema": "http://json-schema.org/draft-07/schema#"}


def tool(name: Any = "lookup", **fields: Any) -> dict[str, Any]:
    return {"name": name, "description": "Finds an order.", "inputSchema": EMPTY, **fields}


def having(schema: Any) -> dict[str, Any]:
    """Return an input schema with one property."""
    return {**EMPTY, "properties": {"a": schema}}


def one(item: Any, prefix: str | None = "orders", version: str = "0.1.0", owner: str | None = "shop") -> dict[str, Any]:
    """Import one tool, which must be taken."""
    imported = import_tools((item,), prefix=prefix, version=version, owner=owner)
    assert () == imported.refused
    return imported.documents[0]


def outside(document: dict[str, Any]) -> dict[str, Any]:
    """Return the tool that a document came from, less what was rewritten: nothing may be lost on the way."""
    spec = dict(document["spec"])
    extra = copy.deepcopy(document.get("extensions", {}).get("mcp", {}))
    if "annotations" in extra and extra["annotations"] is not None:
        extra["annotations"] = {**spec.pop("annotations"), **extra["annotations"]}
    return {"name": document["name"].rpartition("/")[2], **spec, **extra}


def test_a_list_becomes_documents_that_keep_everything() -> None:
    answer = json.loads((FIXTURES / "list.json").read_text(encoding="utf-8"))
    tools = read_tools(answer)
    imported = import_tools(tools, prefix="orders", version="1.2.0", owner="shop")
    assert (2, ()) == (imported.found, imported.refused)
    lookup, cancel = imported.documents
    assert ("orders/lookup-order", "Lookup.Order") == (lookup["name"], lookup["spec"]["name"])
    assert "name" not in cancel["spec"]
    assert "Finds an order by its number." == lookup["summary"]
    assert {"readOnlyHint": True} == lookup["spec"]["annotations"]
    assert {"idempotentHint": None, "costHint": 3} == lookup["extensions"]["mcp"]["annotations"]
    assert {"icons", "annotations", "_meta"} == set(lookup["extensions"]["mcp"])
    assert "nullable was written as a type with null at inputSchema/properties/locale." in lookup["changes"]
    expected = copy.deepcopy(tools[0])
    del expected["inputSchema"]["properties"]["locale"]["nullable"]
    expected["inputSchema"]["properties"]["locale"]["type"] = ["string", "null"]
    assert [expected, tools[1]] == [outside(lookup), outside(cancel)]
    for document in imported.documents:
        assert document == strict_yaml.load(yaml_bytes(document))
        assert ("1.2.0", "shop") == (read_procedure(document).version, document["owner"])


def test_absent_hints_have_the_defaults_of_mcp() -> None:
    for item in (tool(), tool(annotations={}), tool(annotations={"destructiveHint": None})):
        hints = effective_hints(read_procedure(one(item)).spec.get("annotations"))
        assert (True, True, False) == (hints["destructiveHint"], hints["openWorldHint"], hints["readOnlyHint"])


SHAPES: tuple[tuple[str, Any, int], ...] = (
    ("answer", {"tools": [tool("a"), tool("b")]}, 2),
    ("envelope", {"jsonrpc": "2.0", "id": 7, "result": {"tools": [tool()]}}, 1),
    ("list", [tool("a"), tool("b")], 2),
    ("one-tool", tool(), 1),
    ("one-tool-with-a-result", tool(result={"tools": []}), 1),
    ("last-page", {"tools": [tool()], "nextCursor": None}, 1),
    ("captured", {"serverInfo": {"name": "x"}, "tools": [tool()]}, 1),
)


@pytest.mark.parametrize(("value", "count"), [row[1:] for row in SHAPES], ids=[row[0] for row in SHAPES])
def test_shapes_that_hold_tools(value: Any, count: int) -> None:
    assert count == len(read_tools(value))


NOT_TOOLS: tuple[tuple[str, Any, str], ...] = (
    ("nothing", None, "import-shape"),
    ("text", "tools", "import-shape"),
    ("empty-list", [], "import-shape"),
    ("no-tools", {"tools": []}, "import-shape"),
    ("tools-as-mapping", {"tools": {"a": {}}}, "import-shape"),
    ("error-answer", {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601}}, "import-shape"),
    ("too-many", [tool()] * (MAX_TOOLS + 1), "import-shape"),
    ("one-page", {"tools": [tool()], "nextCursor": "p2"}, "import-page"),
    ("one-page-in-an-envelope", {"result": {"tools": [tool()], "nextCursor": "p2"}}, "import-page"),
)


@pytest.mark.parametrize(("value", "code"), [row[1:] for row in NOT_TOOLS], ids=[row[0] for row in NOT_TOOLS])
def test_shapes_that_hold_none(value: Any, code: str) -> None:
    with pytest.raises(Faulty) as refused:
        read_tools(value)
    assert [code] == [fault.code for fault in refused.value.faults]


def nested(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = {"a": value}
    return value


REFUSED: tuple[tuple[str, Any, str, str], ...] = (
    ("no-tool", 7, "refuse-tool", "item 1 is no tool: it is 7"),
    ("null-tool", None, "refuse-tool", "null"),
    ("no-name", {"description": "x", "inputSchema": EMPTY}, "refuse-name", "null has no name"),
    ("name-is-a-number", tool(7), "refuse-name", "tool 7 has"),
    ("name-is-only-signs", tool("--"), "refuse-name", "--"),
    ("name-too-long", tool("a" * 129), "refuse-name", "aaaa"),
    ("name-too-long-with-the-prefix", tool("a" * 125), "refuse-name", "aaaa"),
    ("name-that-cannot-be-exported", tool("look up"), "refuse-name", "'look up'"),
    ("no-schema", {"name": "lookup", "description": "x"}, "refuse-schema", "it is missing"),
    ("null-schema", tool(inputSchema=None), "refuse-schema", "it is null"),
    ("schema-is-true", tool(inputSchema=True), "refuse-schema", "it is true"),
    ("schema-is-a-list", tool(inputSchema=[]), "refuse-schema", "it is a list"),
    ("empty-schema", tool(inputSchema={}), "refuse-schema", "type: object"),
    ("schema-only-names-its-dialect", tool(inputSchema=DIALECT), "refuse-schema", "type: object"),
    ("schema-without-object", tool(inputSchema={"type": "string"}), "refuse-schema", "type: object"),
    ("unknown-type", tool(inputSchema=having({"type": "float"})), "refuse-schema", "inputSchema.properties.a"),
    ("typing-error", tool(inputSchema={**EMPTY, "propertys": {}}), "refuse-schema", "propertys"),
    ("remote-reference", tool(inputSchema=having({"$ref": "https://example.invalid/a"})), "refuse-schema", "fetched"),
    ("nullable-without-a-type", tool(inputSchema=having({"enum": [1], "nullable": True})), "refuse-schema", "nullable"),
    ("nullable-is-a-text", tool(inputSchema=having({"type": "string", "nullable": "y"})), "refuse-schema", "nullable"),
    ("output-schema-is-a-text", tool(outputSchema="object"), "refuse-schema", "outputSchema"),
    ("output-schema-with-an-unknown-type", tool(outputSchema={"type": "dict"}), "refuse-schema", "outputSchema"),
    ("no-description", {"name": "lookup", "inputSchema": EMPTY}, "refuse-tool", "description"),
    ("blank-description", tool(description=" "), "refuse-tool", "description"),
    ("description-is-a-number", tool(description=3), "refuse-tool", "description"),
    ("hint-is-a-text", tool(annotations={"readOnlyHint": "yes"}), "refuse-tool", "annotations.readOnlyHint"),
    ("hints-are-a-list", tool(annotations=[]), "refuse-tool", "annotations"),
    ("title-is-a-list", tool(title=[]), "refuse-tool", "title"),
    ("too-deep", tool(_meta=nested(MAX_DEPTH)), "refuse-tool", "nested too deep"),
    ("far-too-deep", tool(_meta=nested(5_000)), "refuse-tool", "nested too deep"),
    ("too-large", tool(description="x" * MAX_BYTES), "refuse-tool", "too large"),
)  # fmt: skip


@pytest.mark.parametrize(("item", "code", "words"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_tool_that_cannot_be_used_is_refused_by_name(item: Any, code: str, words: str) -> None:
    imported = import_tools((item, tool("other")), prefix="orders", version="0.1.0", owner=None)
    assert (["orders/other"], 1, 2) == (
        [document["name"] for document in imported.documents],
        len(imported.refused),
        imported.found,
    )
    fault = imported.refused[0]
    assert code == fault.code
    assert words in fault.message
    assert 0 == fault.at[0]
    assert len(fault.message) < 2_000


def test_function_definitions_of_other_formats_are_told_apart() -> None:
    item = {"name": "pwd", "description": "Says where it is.", "parameters": {"type": "dict", "properties": {}}}
    refused = import_tools((item,), prefix=None, version="0.1.0", owner=None).refused
    assert ["parameters belongs to another format than MCP"] == [fault.hint for fault in refused]


def test_every_reason_is_told() -> None:
    bad = {**EMPTY, "properties": {"a": {"type": "float"}, "b": {"typ": "string"}}, "required": ["c"]}
    (fault,) = import_tools((tool(inputSchema=bad),), prefix=None, version="0.1.0", owner=None).refused
    assert all(word in fault.message for word in ("inputSchema.properties.b", "inputSchema.required"))


def test_names_that_meet_are_refused_together() -> None:
    tools = tuple(tool(name) for name in ("Get.Order", "get-order", "other", "GET-ORDER"))
    imported = import_tools(tools, prefix="x", version="0.1.0", owner=None)
    assert ["x/other"] == [document["name"] for document in imported.documents]
    assert [(0, "name"), (1, "name"), (3, "name")] == [fault.at for fault in imported.refused]
    assert {"refuse-name"} == {fault.code for fault in imported.refused}


NAMES: tuple[tuple[str, str, str | None], ...] = (
    ("create_issue", "gh/create_issue", None),
    ("createIssue", "gh/createissue", "createIssue"),
    ("a.b", "gh/a-b", "a.b"),
    ("_private_", "gh/private", "_private_"),
    ("9", "gh/9", None),
)


@pytest.mark.parametrize(("given_name", "name", "kept"), NAMES)
def test_names_are_lowered_and_the_outside_name_is_kept(given_name: str, name: str, kept: str | None) -> None:
    document = one(tool(given_name), prefix="gh")
    assert (name, kept) == (document["name"], document["spec"].get("name"))


SUMMARIES: tuple[tuple[str, str], ...] = (
    ("Finds an order. Answers with it.", "Finds an order."),
    ("Finds things, e.g. orders, by number! And more.", "Finds things, e.g. orders, by number!"),
    ("\n  Finds an order\nby its number.", "Finds an order"),
    ("Reads version 1.2 files", "Reads version 1.2 files"),
    ("word " * 100, ("word " * 39).strip() + "…"),
    ("x" * 300, "x" * 199 + "…"),
)


@pytest.mark.parametrize(("description", "summary"), SUMMARIES)
def test_the_summary_is_the_first_sentence(description: str, summary: str) -> None:
    assert summary == one(tool(description=description))["summary"]


NULLABLE: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
    ({"type": ["string", "null"], "nullable": True}, {"type": ["string", "null"]}),
    ({"type": "string", "nullable": False}, {"type": "string"}),
    (
        {"type": "array", "items": {"type": "string", "nullable": True}},
        {"type": "array", "items": {"type": ["string", "null"]}},
    ),
    ({"default": {"type": "string", "nullable": True}}, {"default": {"type": "string", "nullable": True}}),
    ({"const": [{"type": "x", "nullable": True}]}, {"const": [{"type": "x", "nullable": True}]}),
)


@pytest.mark.parametrize(("before", "after"), NULLABLE, ids=lambda value: json.dumps(value)[:60])
def test_nullable_is_written_as_json_schema_and_data_is_left_alone(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    item = tool(inputSchema={**EMPTY, "properties": {"a": before}})
    kept = copy.deepcopy(item)
    assert after == one(item)["spec"]["inputSchema"]["properties"]["a"]
    assert kept == item, "the caller's tool is not touched"


def test_what_is_taken_can_be_written_and_read_at_the_limit() -> None:
    for depth in range(MAX_DEPTH - 8, MAX_DEPTH):
        for item in (tool(_meta=nested(depth)), tool(annotations={"strange": nested(depth)})):
            for document in import_tools((item,), prefix=None, version="0.1.0", owner=None).documents:
                assert document == strict_yaml.load(yaml_bytes(document))


AGAIN = tool("Lookup", inputSchema={**EMPTY, "properties": {"order_id": {"type": "string"}}})


def edited(**fields: Any) -> dict[str, Any]:
    return {**one(AGAIN, version="1.4.0"), **fields}


def with_spec(document: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**document, "spec": {**document["spec"], **fields}}


UNTOUCHED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("as-imported", edited()),
    ("another-version", edited(version="3.0.0", changes="Mine.")),
    ("labels-and-requirements", edited(labels={"risk": "high"}, requires={"orders/other": ">=1"})),
    ("own-summary", edited(summary="What we say of it.")),
    ("effects-and-binding", with_spec(edited(), effects=["orders:read"], binding={"python": "shop.tools:lookup"})),
    ("another-extension", edited(extensions={"house": {"ticket": "T-1"}})),
)


@pytest.mark.parametrize("existing", [row[1] for row in UNTOUCHED], ids=[row[0] for row in UNTOUCHED])
def test_importing_again_leaves_what_people_wrote(existing: dict[str, Any]) -> None:
    merged = merge_import(existing, one(AGAIN))
    assert ("same", existing) == (merged.state, merged.document)
    changed = merge_import(existing, one({**AGAIN, "description": "Finds an order, or says why not."}))
    assert "changed" == changed.state
    document = changed.document
    assert (existing["version"], "Finds an order, or says why not.") == (
        document["version"],
        document["spec"]["description"],
    )
    for field in ("labels", "requires"):
        assert existing.get(field) == document.get(field)
    for field in ("effects", "binding"):
        assert existing["spec"].get(field) == document["spec"].get(field)
    if existing["summary"] != "What we say of it.":
        assert "Finds an order, or says why not." == document["summary"]
    read_procedure(dict(document))


CHANGED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("title", {**AGAIN, "title": "Look up"}),
    ("hint", {**AGAIN, "annotations": {"readOnlyHint": True}}),
    ("unknown-key", {**AGAIN, "_meta": {"a": 1}}),
    ("default-1-to-true", {**AGAIN, "inputSchema": {**EMPTY, "properties": {"order_id": {"default": True}}}}),
    ("owner", AGAIN),
)


@pytest.mark.parametrize(("case", "item"), CHANGED, ids=[row[0] for row in CHANGED])
def test_what_changed_outside_changes_the_file(case: str, item: dict[str, Any]) -> None:
    first = {**AGAIN, "inputSchema": {**EMPTY, "properties": {"order_id": {"default": 1}}}} if "1" in case else AGAIN
    merged = merge_import(one(first), one(item, owner="others" if case == "owner" else "shop"))
    assert "changed" == merged.state


def test_what_went_away_outside_goes_away() -> None:
    merged = merge_import(one({**AGAIN, "title": "Look up", "_meta": {"a": 1}}), one(AGAIN))
    assert "title" not in merged.document["spec"]
    assert "extensions" not in merged.document


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [("1.4.0", "0.1.0", "1.4.0"), ("1.4.0", "1.10.0", "1.10.0"), ("1.4", "0.1.0", "0.1.0"), (None, "0.1.0", "0.1.0")],
)
def test_the_version_never_goes_down(before: Any, after: str, expected: str) -> None:
    existing = {**one(AGAIN), "version": before}
    assert expected == merge_import(existing, one({**AGAIN, "title": "New"}, version=after)).document["version"]


def test_a_file_of_another_kind_is_not_replaced() -> None:
    with pytest.raises(Faulty, match="is no tool, so it is not replaced"):
        merge_import({"kind": "prompt", "name": "orders/lookup"}, one(tool()))
    assert "new" == merge_import(None, one(tool())).state


@pytest.mark.parametrize("existing", [{"kind": "tool"}, {"kind": "tool", "spec": [], "extensions": 3, "summary": []}])
def test_a_broken_file_is_replaced_where_it_is_a_tool(existing: dict[str, Any]) -> None:
    assert "changed" == merge_import(existing, one(tool())).state


texts = st.text(st.characters(codec="utf-8"), max_size=12)
data = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)
schemas = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(
            texts, st.sampled_from([{"type": "string"}, {"type": ["integer", "null"]}, {"enum": [1, "a", None]}, True])
        ),
        "description": texts,
        "additionalProperties": st.booleans(),
        "default": data,
        "x-own": data,
    },
)
tools = st.fixed_dictionaries(
    {"name": st.from_regex(r"[A-Za-z0-9_.-]{1,12}", fullmatch=True), "description": texts, "inputSchema": schemas},
    optional={
        "title": st.one_of(st.none(), texts),
        "outputSchema": st.one_of(st.none(), schemas),
        "annotations": st.one_of(
            st.none(),
            st.dictionaries(
                st.sampled_from(["readOnlyHint", "destructiveHint", "openWorldHint", "strange"]),
                st.one_of(st.none(), st.booleans()),
            ),
        ),
        "_meta": data,
        "icons": data,
    },
)


@given(st.lists(st.one_of(tools, data), min_size=1, max_size=4))
def test_items_found_are_items_written_and_refused_and_nothing_is_lost(items: list[Any]) -> None:
    imported = import_tools(tuple(items), prefix="p/q", version="0.1.0", owner="shop")
    assert len(items) == imported.found
    refused = {fault.at[0] for fault in imported.refused}
    assert len(imported.refused) == len(refused)
    taken = [item for index, item in enumerate(items) if index not in refused]
    for item, document in zip(taken, imported.documents, strict=True):
        assert item == outside(document)
        assert document == strict_yaml.load(yaml_bytes(document))
        assert "same" == merge_import(document, document).state
