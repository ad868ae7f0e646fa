"""Lint never raises on what reads, never makes an error of what only portable sees, and always says the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from budgets import examples
from changes.corpus import CORPUS
from lint.make import CLOSED, HEAD
from pawl.errors import Faulty
from pawl.formats.mcp import import_tools, read_tools
from pawl.io.strict_json import load as load_json
from pawl.lint.check import lint_closure, lint_procedure
from pawl.lint.codes import CODES, IGNORABLE
from pawl.lint.profiles import PROFILES, Profile
from pawl.lint.schemas import find_in_schema
from pawl.lint.settings import LintSettings
from pawl.procedures.procedure import Procedure
from pawl.procedures.read import read_procedure

NAMES = st.sampled_from(["a", "b-c", "d e", "", "properties", "items", "password", "é", "x" * 70])
TYPES = st.sampled_from(["object", "array", "string", "number", "integer", "boolean", "null"])
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=5), st.lists(st.integers(0, 3), max_size=2)
)
REFS = st.sampled_from(["#", "#/$defs/a", "#/$defs/b-c", "#/properties/a"])


def schemas(depth: int) -> st.SearchStrategy[Any]:
    leaf: st.SearchStrategy[Any] = st.one_of(
        st.booleans(),
        st.fixed_dictionaries({}, optional={"type": TYPES, "const": VALUES, "default": VALUES, "$ref": REFS}),
    )
    if not depth:
        return leaf
    inner = schemas(depth - 1)
    some = st.lists(inner, min_size=1, max_size=3)
    by_name = st.dictionaries(NAMES, inner, max_size=3)
    return st.one_of(
        leaf,
        st.fixed_dictionaries(
            {},
            optional={
                "type": st.one_of(TYPES, st.lists(TYPES, min_size=1, max_size=3, unique=True)),
                "properties": by_name,
                "patternProperties": st.dictionaries(st.just("^x"), inner, max_size=1),
                "additionalProperties": inner,
                "items": inner,
                "prefixItems": some,
                "contains": inner,
                "oneOf": some,
                "anyOf": some,
                "allOf": some,
                "not": inner,
                "if": inner,
                "then": inner,
                "enum": st.lists(VALUES, min_size=1, max_size=2, unique_by=repr),
                "exclusiveMinimum": st.integers(-3, 3),
                "x-mcp-header": VALUES,
                "$defs": by_name,
                "description": st.text(max_size=5),
            },
        ),
    )


TEXTS = st.text(alphabet=st.sampled_from("ab \t\n{}%#x.|[]é=:'\"-"), max_size=60)
LISTED: st.SearchStrategy[list[Profile]] = st.lists(st.sampled_from(PROFILES), max_size=3)


def read(document: dict[str, Any]) -> Procedure | None:
    try:
        return read_procedure(document)
    except Faulty:
        return None


def judge(procedure: Procedure, profiles: list[Profile]) -> None:
    faults = lint_procedure(procedure, LintSettings(profiles=tuple(profiles), prefixes=("mcp__",)))
    assert faults == lint_procedure(procedure, LintSettings(profiles=tuple(profiles), prefixes=("mcp__",)))
    plain = lint_procedure(procedure, LintSettings(prefixes=("mcp__",)))
    assert len(set(faults)) == len(faults)
    for fault in faults:
        assert fault.code in CODES
        assert fault.code in IGNORABLE or fault.severity == "error"
        assert len(fault.message) < 1_000
    assert {(fault.code, fault.at) for fault in plain} <= {(fault.code, fault.at) for fault in faults}


@examples(40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(schemas(3), schemas(2), LISTED, TEXTS)
def test_lint_takes_every_tool_that_reads(schema: Any, output: Any, profiles: list[Profile], text: str) -> None:
    inputs = {**CLOSED, **(schema if isinstance(schema, dict) else {}), "type": "object"}
    spec = {"description": f"x{text}", "inputSchema": inputs}
    spec |= {"outputSchema": output} if isinstance(output, dict) else {}
    procedure = read({**HEAD, "kind": "tool", "name": "a/b", "spec": spec})
    if procedure is not None:
        judge(procedure, profiles)
        lint_closure([procedure], LintSettings(profiles=tuple(profiles)))


@examples(80)
@given(
    st.lists(st.tuples(st.sampled_from(["system", "user", "assistant"]), TEXTS), min_size=1, max_size=3),
    st.sampled_from(["simple", "jinja2", "none"]),
    st.integers(1, 20),
    LISTED,
)
def test_lint_takes_every_prompt_that_reads(
    messages: list[tuple[str, str]], template: str, tokens: int, profiles: list[Profile]
) -> None:
    spec = {
        "inputs": {**CLOSED, "properties": {"a": {"type": "string"}, "x": {"type": "array"}}, "required": ["a", "x"]},
        "template": template,
        "messages": [{"role": role, "content": content} for role, content in messages],
        "budget": {"tokens": tokens},
    }
    procedure = read({**HEAD, "kind": "prompt", "name": "a/b", "spec": spec})
    if procedure is not None:
        judge(procedure, profiles)


@given(schemas(3))
def test_every_finding_of_a_schema_has_a_place_in_it(schema: Any) -> None:
    whole = {"type": "object", **(schema if isinstance(schema, dict) else {})}
    procedure = read({**HEAD, "kind": "tool", "name": "a", "spec": {"description": "x", "inputSchema": whole}})
    for finding in find_in_schema(whole) if procedure is not None else ():
        here: Any = whole
        for part in finding.at:
            here = here[part]


@pytest.mark.skipif(CORPUS is None, reason="needs the corpus of real files")
def test_real_tools_are_linted() -> None:
    assert CORPUS is not None
    lists = [path for path in (CORPUS / "tool-lists").rglob("*.json") if not path.name.startswith("bfcl")]
    assert lists
    for path in lists:
        imported = import_tools(read_tools(load_json(path.read_bytes())), prefix="x", version="0.1.0", owner="o")
        tools = [read_procedure(document) for document in imported.documents]
        for tool in tools:
            judge(tool, ["openai-strict", "gemini"])
        lint_closure(tools, LintSettings())
