"""What vendors and hosts object to in a tool beside its input schema: its name, its texts, its headers, its output."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pawl.lint.profiles import (
    CLOSE_NAME,
    CLOSE_TOOLS,
    MAX_DESCRIPTION,
    MAX_MCP_NAME,
    MAX_NAME,
    MAX_TOOLS,
    Finding,
)
from pawl.lint.schemas import Part, find_in_schema, is_object, parts, shown_path
from pawl.problems import Fault
from pawl.procedures.procedure import Procedure
from pawl.procedures.words import listed

HEADER = "x-mcp-header"
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
"""What RFC 9110 lets a header's name be made of."""
_SCALARS = frozenset({"string", "integer", "boolean"})
_SECRET_WORDS = re.compile(
    r"passw(or)?d|passphrase|pwd|secret|credential|api_?key|private_?key|(access|auth|refresh|bearer|session|id)_?token"
    r"|authorization|cookie",
    re.IGNORECASE,
)


def exported_name(tool: Procedure) -> str:
    """Return the name that models see: the tool's own, else the last segment."""
    name: str | None = tool.spec.get("name")
    return name or tool.name.rpartition("/")[2]


def find_in_tool(tool: Procedure, prefixes: Iterable[str]) -> Iterator[Finding]:
    """Yield what the table knows about one tool, with places in its document."""
    spec = tool.spec
    yield from _name(tool, max(prefixes, key=len, default=""))
    length = len(spec["description"])
    if length > MAX_DESCRIPTION:
        message = f"the description has {length} characters, more than {MAX_DESCRIPTION:,}"
        yield Finding(row="tool-description-long", message=message, at=("spec", "description"))
    for finding in (*find_in_schema(spec["inputSchema"]), *_headers(spec["inputSchema"])):
        yield finding.under("spec", "inputSchema")
    if "outputSchema" in spec:
        yield from (finding.under("spec", "outputSchema") for finding in _output(spec["outputSchema"]))


def undescribed(tool: Procedure) -> Iterator[Fault]:
    """Yield one note about the arguments that a model has to guess the meaning of."""
    properties = tool.spec["inputSchema"].get("properties") or {}
    bare = [name for name, item in properties.items() if isinstance(item, Mapping) and not _described(item)]
    if bare:
        names = listed((name[:60] for name in bare), most=6)
        message = f"no description for {len(bare)} of {len(properties)} arguments: {names}"
        at = ("spec", "inputSchema", "properties", bare[0])
        yield Fault(code="tool-argument-undescribed", message=message, at=at, on_key=True, severity="note")


def _described(schema: Mapping[str, Any]) -> bool:
    """A reference or a composition may hold the description elsewhere."""
    text = schema.get("description", "")
    return bool(isinstance(text, str) and text.strip()) or not {"$ref", "allOf", "anyOf", "oneOf"}.isdisjoint(schema)


def find_count(tools: Iterable[Procedure]) -> Finding | None:
    """Return the finding about the number of tools that go together, if there are too many."""
    count = sum(1 for _ in tools)
    if count <= CLOSE_TOOLS:
        return None
    row = "tool-count" if count > MAX_TOOLS else "tool-count/close"
    most = MAX_TOOLS if count > MAX_TOOLS else CLOSE_TOOLS
    message = f"{count} tools go together here, more than {most}: models choose worse among many"
    return Finding(row=row, message=message, at=("requires",), hint="split the workflow, or leave tools out")


def _name(tool: Procedure, prefix: str) -> Iterator[Finding]:
    own = exported_name(tool)
    name = prefix + own
    at = ("spec", "name") if "name" in tool.spec else ("name",)
    shown = f"{own} with the prefix {prefix}" if prefix else own
    if not _NAME.fullmatch(name):
        message = f"the tool's name {shown} may hold A-Z, a-z, 0-9, _ and - only"
        yield Finding(row="tool-name", message=message, at=at)
    elif not (name[0].isalpha() or name[0] == "_"):
        message = f"the tool's name {shown} does not begin with a letter or _"
        yield Finding(row="tool-name/first", message=message, at=at)
    for limit, row in (
        (MAX_MCP_NAME, "tool-name/longest"),
        (MAX_NAME, "tool-name/long"),
        (CLOSE_NAME, "tool-name/close"),
    ):
        if len(name) > limit:
            message = f"the tool's name {shown} has {len(name)} characters, more than {limit}"
            hint = "give it a shorter spec.name"
            if row == "tool-name/close":
                message = f"{message}: {MAX_NAME} is the most, and hosts put prefixes before it"
            yield Finding(row=row, message=message, at=at, hint=hint)
            return


def _output(schema: Any) -> Iterator[Finding]:
    if not isinstance(schema, Mapping):
        return
    shut = [part.node for part in parts(schema) if part.shape and is_object(part.node.schema)]
    shut = [node for node in shut if node.schema.get("additionalProperties") is False]
    if shut:
        shut.sort(key=lambda node: len(node.at))
        places = listed((shown_path(node.at) for node in shut), most=4)
        message = (
            f"the output is closed ({places}): a new field will be a major change, and hosts refuse one not listed"
        )
        at = (*shut[0].at, "additionalProperties")
        yield Finding(
            row="tool-output-closed", message=message, at=at, on_key=True, hint="leave additionalProperties out"
        )


def _headers(schema: Mapping[str, Any]) -> Iterator[Finding]:
    marked = [part for part in parts(schema) if isinstance(part.node.schema, Mapping) and HEADER in part.node.schema]
    names = [part.node.schema[HEADER] for part in marked]
    same = Counter(name.lower() for name in names if isinstance(name, str))
    for part, name in zip(marked, names, strict=True):
        for wrong in _header_faults(part, name, same):
            message = f"{HEADER} of {shown_path(part.node.at)} {wrong}"
            yield Finding(row="mcp-header", message=message, at=(*part.node.at, HEADER))


def _header_faults(part: Part, name: Any, same: Mapping[str, int]) -> Iterator[str]:
    schema, at = part.node.schema, part.node.at
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        yield "is no name of a header"
    elif same[name.lower()] > 1:
        yield f"names {name} twice; headers differ by more than case"
    kinds = schema.get("type")
    told = kinds if isinstance(kinds, list) else [kinds]
    if not set(map(str, told)) - {"null"} or not set(map(str, told)) <= _SCALARS | {"null"}:
        yield "is on what is no string, integer or boolean"
    if not at or len(at) % 2 or any(key != "properties" for key in at[::2]):
        yield "cannot be reached by properties alone"
    elif _SECRET_WORDS.search(str(at[-1])) or schema.get("format") == "password" or schema.get("writeOnly") is True:
        yield "would carry a secret, which proxies and logs see"
