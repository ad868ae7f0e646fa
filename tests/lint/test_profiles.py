"""The table of who refuses what: every row and every profile, found and not found, through the whole of lint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lint.make import codes, found, tool
from pawl.lint.check import lint_closure
from pawl.lint.profiles import PROFILES, ROWS, Finding, Profile, judged
from pawl.lint.settings import LintSettings
from pawl.problems import Fault
from pawl.procedures.procedure import Procedure

WANTED = """
schema-root-composition   E E E E E -
schema-open-object        w - E w - -
schema-closed-object      - - - - L -
schema-optional-property  - - L - - -
schema-ref                - - - - L -
schema-ref-cycle          E w w w E -
schema-depth              E w E w E -
schema-type-array         E - - - E -
schema-type-array/null    - - - - L -
schema-boolean            w - w - L -
schema-oneof              E w E w E -
schema-oneof/disjoint     E w E w L -
schema-allof              w w E w E -
schema-keyword            E w E w E -
schema-const              - - w - L -
schema-default            - - w - L -
schema-bound              - - w - L -
schema-property-name      E E E E E w
schema-property-name/dash - - - - E -
tool-name                 E E E E E -
tool-name/first           - - - - E -
tool-name/long            E E E E E -
tool-name/longest         E E E E E w
tool-name/close           w w w w w -
tool-description-long     w E E w w -
mcp-header                - - - - - E
tool-output-closed        w w w w w w
"""
"""Columns: portable, openai, openai-strict, anthropic, gemini, mcp. Written a second time, so that no cell slips."""
CELLS: Mapping[str, dict[Profile, str]] = {
    line.split()[0]: dict(zip(PROFILES, line.split()[1:], strict=True)) for line in WANTED.strip().splitlines()
}


def of(name: str, schema: Any) -> dict[str, Any]:
    described = {**schema, "description": "What."} if isinstance(schema, dict) else schema
    return {"properties": {name: described}, "required": [name]}


def nested(levels: int) -> dict[str, Any]:
    inner: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        inner = {"type": "array", "items": inner}
    return inner


TREE = {"type": "array", "items": {"$ref": "#/$defs/tree"}}
CASES: Mapping[str, Procedure] = {
    "schema-root-composition": tool(schema={"anyOf": [{"type": "object"}]}),
    "schema-open-object": tool(inputSchema={"type": "object"}),
    "schema-closed-object": tool(),
    "schema-optional-property": tool(schema={"properties": {"a": {"type": "string", "description": "What."}}}),
    "schema-ref": tool(schema={**of("a", {"$ref": "#/$defs/a"}), "$defs": {"a": {"type": "string"}}}),
    "schema-ref-cycle": tool(schema={**of("a", {"$ref": "#/$defs/tree"}), "$defs": {"tree": TREE}}),
    "schema-depth": tool(schema=of("a", nested(10))),
    "schema-type-array": tool(schema=of("a", {"type": ["string", "integer"]})),
    "schema-type-array/null": tool(schema=of("a", {"type": ["string", "null"]})),
    "schema-boolean": tool(schema=of("a", True)),
    "schema-oneof": tool(schema=of("a", {"oneOf": [{"minimum": 1}, {"maximum": 9}]})),
    "schema-oneof/disjoint": tool(schema=of("a", {"oneOf": [{"type": "string"}, {"type": "integer"}]})),
    "schema-allof": tool(schema=of("a", {"allOf": [{"type": "string"}]})),
    "schema-keyword": tool(schema=of("a", {"type": "array", "contains": {"type": "string"}})),
    "schema-const": tool(schema=of("a", {"const": 1})),
    "schema-default": tool(schema=of("a", {"type": "integer", "default": 1})),
    "schema-bound": tool(schema=of("a", {"type": "integer", "exclusiveMinimum": 1})),
    "schema-property-name": tool(schema=of("a b", {"type": "string"})),
    "schema-property-name/dash": tool(schema=of("a-b", {"type": "string"})),
    "tool-description-long": tool(description="x" * 1_025),
    "mcp-header": tool(schema=of("a", {"type": "number", "x-mcp-header": "A"})),
    "tool-output-closed": tool(outputSchema={"type": "object", "additionalProperties": False}),
}
NAMED: Mapping[str, str] = {
    "tool-name": "orders.check",
    "tool-name/first": "1check",
    "tool-name/long": "c" * 65,
    "tool-name/longest": "c" * 64,
    "tool-name/close": "c" * 61,
}
PREFIXES: Mapping[str, tuple[str, ...]] = {"tool-name/longest": ("mcp__", "m" * 65)}


def case(row: str) -> Procedure:
    return tool(name=NAMED[row]) if row in NAMED else CASES[row]


def severity(cell: str, portable: str) -> str | None:
    """Return what a listed profile makes of a row beside ``portable``, which always warns."""
    if cell == "E":
        return "error"
    return "warning" if cell == "w" or portable in "Ew" else None


def of_row(faults: tuple[Fault, ...], row: str) -> list[Fault]:
    return [fault for fault in faults if fault.code == row.partition("/")[0]]


@pytest.mark.parametrize("profile", PROFILES[1:])
@pytest.mark.parametrize("row", CELLS)
def test_a_listed_profile_makes_its_refusals_errors(row: str, profile: Profile) -> None:
    faults = of_row(found(case(row), profile, prefixes=PREFIXES.get(row, ())), row)
    wanted = severity(CELLS[row][profile], CELLS[row]["portable"])
    assert [fault.severity for fault in faults] == ([wanted] if wanted else [])


@pytest.mark.parametrize("row", CELLS)
def test_portable_always_runs_and_only_warns(row: str) -> None:
    wanted = ["warning"] if CELLS[row]["portable"] in "Ew" else []
    for profiles in ((), ("portable",)):
        faults = of_row(found(case(row), *profiles, prefixes=PREFIXES.get(row, ())), row)
        assert [fault.severity for fault in faults] == wanted


@pytest.mark.parametrize("row", CELLS)
def test_what_a_row_is_not_about_has_none_of_it(row: str) -> None:
    properties = of("a", {"type": "string"})
    clean = tool(schema=properties)
    assert of_row(found(clean, *PROFILES), row) == []


def test_the_table_has_no_row_without_a_case() -> None:
    assert set(ROWS) == set(CELLS) | {"schema-depth/close", "tool-count", "tool-count/close"}


@pytest.mark.parametrize(
    ("row", "profiles", "end"),
    [
        ("schema-root-composition", (), ": OpenAI, Anthropic and Gemini refuse it"),
        ("schema-root-composition", ("gemini",), ": OpenAI, Anthropic and Gemini refuse it (listed: gemini)"),
        ("schema-open-object", ("openai",), ": OpenAI's strict mode refuses it"),
        ("schema-type-array", (), ": Gemini refuses it"),
        ("schema-const", ("openai-strict",), ": OpenAI's strict mode may not take it as it is meant"),
        ("mcp-header", ("mcp",), ": MCP hosts refuse it (listed: mcp)"),
        ("tool-output-closed", (), ""),
    ],
)
def test_a_finding_says_who_objects(row: str, profiles: tuple[Profile, ...], end: str) -> None:
    (fault,) = judged([Finding(row=row, message="This")], profiles)
    assert fault.message == f"This{end}"


COUNTS = [
    (40, (), []),
    (41, (), ["warning"]),
    (128, PROFILES, ["warning"]),
    (129, (), ["warning"]),
    (129, ("openai",), ["error"]),
    (129, ("openai-strict",), ["error"]),
    (129, ("anthropic", "gemini", "mcp"), ["warning"]),
]


@pytest.mark.parametrize(("count", "profiles", "wanted"), COUNTS)
def test_tools_of_a_closure_are_counted(count: int, profiles: tuple[Profile, ...], wanted: list[str]) -> None:
    tools = [tool(f"orders/t{index}") for index in range(count)]
    faults = lint_closure(tools, LintSettings(profiles=profiles))
    assert [(name, fault.code, fault.severity) for name, fault in faults] == [
        ("orders/t0", "tool-count", severity) for severity in wanted
    ]


def test_a_tool_that_two_others_require_counts_once() -> None:
    assert lint_closure([tool("a/one")] * 200, LintSettings()) == ()


@pytest.mark.parametrize("levels", [5, 6, 10, 11])
def test_levels_are_counted_with_references_expanded(levels: int) -> None:
    plain = tool(schema=of("a", nested(levels - 1)))
    lists = {"type": "array", "items": {"$ref": "#/$defs/c"}}
    referred = tool(
        schema={**of("a", {"$ref": "#/$defs/b"}), "$defs": {"b": lists, "c": nested(levels - 2), "unused": nested(20)}}
    )
    for each in (plain, referred):
        depth = of_row(found(each, "gemini"), "schema-depth")
        assert [fault.severity for fault in depth] == (
            [] if levels <= 5 else ["warning"] if levels <= 10 else ["error"]
        )
        assert all("a[]" in fault.message and str(levels) in fault.message for fault in depth)


def test_codes_of_a_bad_tool_are_all_told() -> None:
    bad = tool(schema={"oneOf": [{}], **of("a b", {"const": 1})}, description="x" * 2_000)
    assert {"schema-root-composition", "schema-property-name", "tool-description-long"} <= set(codes(bad))
