"""Saying which bump a change of a tool's schema requires."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jsonschema_rs

from benchmarks.harness import Benchmark, Contest, Setting
from benchmarks.sides import calling
from pawl.changes.compare import compare

Document = Mapping[str, Any]
Edit = Callable[[dict[str, Any]], None]

_OLD: dict[str, Any] = {
    "kind": "tool",
    "name": "shop/find-orders",
    "version": "1.0.0",
    "spec": {
        "description": "Finds orders by what is known of them.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "customer": {"type": "string", "minLength": 1, "maxLength": 64, "description": "Who ordered."},
                "states": {"type": "array", "items": {"enum": ["open", "paid", "sent", "returned"]}, "maxItems": 4},
                "since": {"type": "string", "format": "date"},
                "total": {"$ref": "#/$defs/range"},
                "page": {"type": "integer", "minimum": 1, "default": 1},
                "sort": {"anyOf": [{"const": "date"}, {"const": "total"}, {"type": "null"}]},
            },
            "required": ["customer"],
            "$defs": {
                "range": {
                    "type": "object",
                    "properties": {"least": {"type": "number"}, "most": {"type": "number"}},
                    "additionalProperties": False,
                }
            },
        },
        "outputSchema": {
            "type": "object",
            "properties": {"orders": {"type": "array", "items": {"type": "object"}}, "more": {"type": "boolean"}},
            "required": ["orders"],
        },
    },
}


def _input(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["spec"]["inputSchema"]
    return found


def _output(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["spec"]["outputSchema"]
    return found


EDITS: tuple[tuple[str, Edit], ...] = (
    ("patch", lambda tool: tool["spec"].update(description="Finds orders.")),
    ("patch", lambda tool: _input(tool)["properties"]["states"]["items"]["enum"].reverse()),
    ("minor", lambda tool: _input(tool)["properties"].update(limit={"type": "integer"})),
    ("minor", lambda tool: _input(tool)["properties"]["states"]["items"]["enum"].append("lost")),
    ("minor", lambda tool: _input(tool)["properties"]["customer"].update(maxLength=128)),
    ("minor", lambda tool: _output(tool)["properties"].update(next={"type": "string"})),
    ("major", lambda tool: _input(tool)["required"].append("since")),
    ("major", lambda tool: _input(tool)["properties"].pop("page")),
    ("major", lambda tool: _input(tool)["properties"]["customer"].update(pattern="^[A-Z]+$")),
    ("major", lambda tool: _output(tool)["properties"].pop("more")),
)
"""What is done to the tool, and the bump that it requires."""


def _pairs() -> tuple[tuple[str, Document], ...]:
    made = []
    for level, edit in EDITS:
        new = copy.deepcopy(_OLD)
        edit(new)
        made.append((level, new))
    return tuple(made)


def _prepare(_: Setting) -> Iterator[Contest]:
    pairs = _pairs()

    def product() -> list[str]:
        return [compare(_OLD, new).required for _, new in pairs]

    def floor() -> list[str]:
        for _, new in pairs:
            for document in (_OLD, new):
                for side in ("inputSchema", "outputSchema"):
                    jsonschema_rs.Draft202012Validator(document["spec"][side])
                json.dumps(document, sort_keys=True)
        return [level for level, _ in pairs]

    yield Contest(
        name=f"classify {len(pairs)} changes",
        product=calling(product),
        floor=calling(floor),
        agree=list.__eq__,
        calls=3,
    )


CLASSIFY = Benchmark(
    about="compare two versions of a tool, with witnesses, and say the bump",
    floor="compile both versions' schemas and write both documents as sorted JSON",
    prepare=_prepare,
)
