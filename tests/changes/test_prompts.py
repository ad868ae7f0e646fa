"""Rules for prompts."""

from __future__ import annotations

from typing import Any

import pytest

from changes.make import compared, prompt, rows

OPTIONAL = {"inputs": {"type": "object", "properties": {"a": {"type": "string"}}}}
REQUIRED = {"inputs": {**OPTIONAL["inputs"], "required": ["a"]}}
TEXT = {"type": "string"}
CONTENT = "/spec/messages/0/content"

CASES: list[tuple[str, dict[str, Any], dict[str, Any], set[tuple[str, str, str]]]] = [
    ("text", prompt("a"), prompt("a "), {("message-text", CONTENT, "patch")}),
    (
        "a message more",
        prompt("a"),
        prompt("a", "b"),
        {("messages-changed", "/spec/messages", "minor")},
    ),
    (
        "messages in another order of roles",
        prompt("a", "b", roles=("system", "user")),
        prompt("b", "a", roles=("user", "system")),
        {("messages-changed", "/spec/messages", "minor")},
    ),
    (
        "a role that was never used",
        prompt("a"),
        prompt("s", "a", roles=("system", "user")),
        {("role-added", "/spec/messages/0/role", "major")},
    ),
    (
        "a new role and other text",
        prompt("a"),
        prompt("s", "b", roles=("system", "user")),
        {("role-added", "/spec/messages/0/role", "major"), ("message-text", "/spec/messages/1/content", "patch")},
    ),
    (
        "an input more; the root is closed",
        prompt("a"),
        prompt("a", **OPTIONAL),
        {("property-added", "/spec/inputs/properties/a", "minor")},
    ),
    (
        "closed in so many words",
        prompt("a", **OPTIONAL),
        prompt("a", inputs={**OPTIONAL["inputs"], "additionalProperties": False}),
        set(),
    ),
    (
        "opened",
        prompt("a", **OPTIONAL),
        prompt("a", inputs={**OPTIONAL["inputs"], "additionalProperties": True}),
        {("object-opened", "/spec/inputs/additionalProperties", "minor")},
    ),
    (
        "text becomes an object",
        prompt("a"),
        prompt("a", output={"type": "object"}),
        {("type-changed", "/spec/output/type", "major")},
    ),
    ("text is promised", prompt("a"), prompt("a", output=TEXT), {("output-schema-added", "/spec/output", "minor")}),
    (
        "shorter text is promised",
        prompt("a"),
        prompt("a", output={**TEXT, "maxLength": 5}),
        {("bound-tightened", "/spec/output/maxLength", "minor")},
    ),
    (
        "text is no longer promised",
        prompt("a", output=TEXT),
        prompt("a"),
        {("output-schema-removed", "/spec/output", "minor")},
    ),
    (
        "an input may be missing and is printed",
        prompt("{{ a }}", **REQUIRED),
        prompt("{{ a }}", **OPTIONAL),
        {("property-optional", "/spec/inputs/required", "minor"), ("input-unguarded", CONTENT, "major")},
    ),
    (
        "the same, guarded",
        prompt("{% if a is defined %}{{ a }}{% endif %}", **REQUIRED, template="jinja2"),
        prompt("{% if a is defined %}{{ a }}{% endif %}", **OPTIONAL, template="jinja2"),
        {("property-optional", "/spec/inputs/required", "minor")},
    ),
    (
        "literal",
        prompt("{{ a }}", **REQUIRED),
        prompt("{{ a }}", **REQUIRED, template="none"),
        {("template-changed", "/spec/template", "minor")},
    ),
    (
        "jinja2 that only prints what is there",
        prompt("{{ a }}", **REQUIRED),
        prompt("{{ a }}", **REQUIRED, template="jinja2"),
        {("template-changed", "/spec/template", "minor")},
    ),
    (
        "jinja2 that does more",
        prompt("{% for x in a %}{% endfor %}", **REQUIRED),
        prompt("{% for x in a %}{% endfor %}", **REQUIRED, template="jinja2"),
        {("template-changed", "/spec/template", "major")},
    ),
    (
        "jinja2 that does not read",
        prompt("{% if %}", **REQUIRED),
        prompt("{% if %}", **REQUIRED, template="jinja2"),
        {("template-changed", "/spec/template", "major")},
    ),
    (
        "back from jinja2",
        prompt("{{ a }}", **REQUIRED, template="jinja2"),
        prompt("{{ a }}", **REQUIRED),
        {("template-changed", "/spec/template", "minor")},
    ),
    (
        "the model's parameters",
        prompt("a", model={"name": "m", "temperature": 0}),
        prompt("a", model={"name": "m", "temperature": 1}),
        {("model-changed", "/spec/model/temperature", "minor")},
    ),
    ("a model", prompt("a"), prompt("a", model={"name": "m"}), {("model-changed", "/spec/model", "minor")}),
    (
        "a higher budget",
        prompt("a", **REQUIRED, budget={"tokens": 5}),
        prompt("a", **REQUIRED, budget={"tokens": 6}),
        {("budget-raised", "/spec/budget/tokens", "minor")},
    ),
    (
        "no budget",
        prompt("a", **REQUIRED, budget={"tokens": 5}),
        prompt("a", **REQUIRED),
        {("budget-raised", "/spec/budget/tokens", "minor")},
    ),
    (
        "a budget",
        prompt("a", **REQUIRED),
        prompt("a", **REQUIRED, budget={"tokens": 6}),
        {("budget-lowered", "/spec/budget/tokens", "major")},
    ),
    (
        "a budget for one text only",
        prompt("a"),
        prompt("a", budget={"tokens": 6}),
        {("budget-lowered", "/spec/budget/tokens", "patch")},
    ),
]


@pytest.mark.parametrize(("old", "new", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_prompt(old: dict[str, Any], new: dict[str, Any], expected: set[tuple[str, str, str]]) -> None:
    found = {row for row in rows(compared(old, new).changes) if row[0] != "schema-respelled"}
    assert expected == found


def test_what_stands_unguarded_already_is_no_change() -> None:
    assert () == compared(prompt("{{ a }}", **OPTIONAL), {**prompt("{{ a }}", **OPTIONAL), "version": "1.0.1"}).changes
