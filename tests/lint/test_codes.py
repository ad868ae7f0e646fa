"""Every code has its line in one place, the page shows the same, and what lint finds has an example that is true."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pawl.io.strict_yaml import load
from pawl.lint.check import lint_closure, lint_procedure
from pawl.lint.codes import ALWAYS, CODES, IGNORABLE, explain
from pawl.lint.examples import EXAMPLES, Example
from pawl.lint.profiles import PROFILES, ROWS, TABLE_CODES
from pawl.lint.settings import LintSettings
from pawl.lint.settings_shape import LintDocument
from pawl.procedures.procedure import Procedure
from pawl.procedures.read import read_procedure

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "problems.md").read_text(encoding="utf-8")
EVERY = LintSettings(profiles=PROFILES)
SILENT = {"schema-closed-object", "schema-optional-property", "schema-ref"}
"""Rows to which no profile objects before an exporter has had its turn."""
SPECS: dict[str, dict[str, Any]] = {
    "prompt": {"messages": [{"role": "user", "content": "Refund it."}]},
    "tool": {
        "description": "Checks an order.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
    },
    "workflow": {},
}
HEAD = {"version": "1.0.0", "summary": "Checks.", "owner": "payments"}
HEADS = ("requires", "summary", "labels", "owner")


def page_rows() -> Iterator[tuple[str, str, str]]:
    """Yield section, code and meaning of every row of the page."""
    for part in PAGE.split("\n## ")[1:]:
        for line in part.splitlines():
            if line.startswith("| `"):
                cell, means = line.removeprefix("| ").removesuffix(" |").split(" | ", 1)
                stem = ""
                for code in re.findall(r"`([a-z-][a-z0-9-]*)`", cell):
                    whole = stem + code if code.startswith("-") else code
                    stem = whole.rpartition("-")[0] if not code.startswith("-") else stem
                    yield part.splitlines()[0], whole, means


def test_the_page_says_what_the_table_says() -> None:
    """A row that is new on the page goes into src/pawl/lint/meanings.py, under its section."""
    page = {code: (section, means) for section, code, means in page_rows()}
    assert {code: (meaning.section, meaning.means) for code, meaning in CODES.items()} == page


def test_no_code_stands_twice_on_the_page() -> None:
    codes = [code for _, code, _ in page_rows()]
    assert sorted(set(codes)) == sorted(codes)


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_can_be_explained(code: str) -> None:
    found = explain(code)
    assert found is not None
    assert (found.code, found.means) == (code, CODES[code].means)
    assert found.text().startswith(f"{code}: {found.means}\n")


def test_what_is_no_code_is_not_explained() -> None:
    assert explain("no-such-code") is None
    assert explain("") is None


def test_exits_are_told() -> None:
    assert CODES["duplicate-key"].exit == "1"
    assert CODES["rejected"].exit == "7"
    assert CODES["file-ignored"].exit == "warning"


def codes_in_lint() -> set[str]:
    """Return every code that the room for lint writes in a fault."""
    found = set(TABLE_CODES)
    for path in (ROOT / "src" / "pawl" / "lint").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "code" and isinstance(node.value, ast.Constant):
                found.add(str(node.value.value))
    return found


def test_every_code_of_lint_has_an_example_and_only_these() -> None:
    assert set(EXAMPLES) == IGNORABLE | ALWAYS
    assert codes_in_lint() - {"lint-code-unknown", "lint-ignore-refused", "lint-ignore-unused"} <= set(EXAMPLES)
    assert TABLE_CODES <= IGNORABLE


@pytest.mark.parametrize("code", sorted(EXAMPLES))
def test_explanations_say_why_who_and_how(code: str) -> None:
    found = explain(code)
    assert found is not None
    assert found.why
    assert found.ignore
    assert len(found.objections) == len([row for row in ROWS.values() if row.code == code])
    assert found.why.endswith(".")
    if code in IGNORABLE:
        lint = load(found.ignore.encode())["lint"]
        assert LintDocument.model_validate(lint).ignores[0].code == code
    else:
        assert "cannot be ignored" in found.ignore


def procedures(example: Example, text: str) -> tuple[Procedure, ...]:
    document = load(text.encode()) if not text.startswith("#") else {}
    if example.about == "closure":
        return tuple(one("tool", name, {"spec": spec}) for name, spec in document.items())
    whole = document if any(key in document for key in (*HEADS, "spec")) else {"spec": document}
    return (one(example.about, "orders/example", whole),)


def one(kind: str, name: str, whole: dict[str, Any]) -> Procedure:
    spec = {**SPECS[kind], **whole.get("spec", {})}
    return read_procedure({**HEAD, "kind": kind, "name": name, **whole, "spec": spec})


def found_in(example: Example, text: str) -> set[str]:
    every = procedures(example, text)
    single = {fault.code for each in every for fault in lint_procedure(each, EVERY)}
    return single | ({fault.code for _, fault in lint_closure(every, EVERY)} if every else set())


@pytest.mark.parametrize("code", sorted(EXAMPLES))
def test_examples_are_true(code: str) -> None:
    example = EXAMPLES[code]
    assert (code in found_in(example, example.bad)) is (code not in {*SILENT, "owner-missing", "tool-count"})
    assert code not in found_in(example, example.good)


def test_the_example_of_a_missing_owner_is_true() -> None:
    document = {**HEAD, "kind": "tool", "name": "a", "spec": SPECS["tool"]}
    del document["owner"]
    assert [fault.code for fault in lint_procedure(read_procedure(document), EVERY)] == ["owner-missing"]
