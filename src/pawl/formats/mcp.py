"""MCP tools: from a ``tools/list`` answer, a list of tools or one tool to procedure documents.

Items found are items written plus items refused: a tool whose schema cannot be used, whose name cannot be kept apart
from another's, or that is no tool at all is refused by name, and nothing is dropped. Absent hints stay absent, because
their defaults are MCP's. What pawl does not know is kept in ``extensions.mcp``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pawl.errors import Faulty
from pawl.ids import MAX_NAME, parse_name
from pawl.problems import Fault
from pawl.procedures.read import read_procedure

MAX_TOOLS = 10_000
_KNOWN = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
_HINTS = ("title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_NOT_CONTENT = frozenset({"version", "changes"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What became of each tool that was found."""

    documents: tuple[dict[str, Any], ...]
    refused: tuple[Fault, ...]
    """One fault a refused tool, at its index in the list."""

    @property
    def found(self) -> int:
        return len(self.documents) + len(self.refused)


def read_tools(value: Any) -> tuple[Any, ...]:
    """Return the tools in an answer, a list, or one tool; raises ``Faulty`` for anything else, or for none."""
    inner = value.get("result", value) if isinstance(value, Mapping) else value
    if isinstance(inner, Mapping) and "tools" in inner:
        inner = inner["tools"]
    if isinstance(inner, Mapping) and "name" in inner:
        inner = [inner]
    if not isinstance(inner, list) or not inner or len(inner) > MAX_TOOLS:
        message = 'expected a tools/list answer ({"tools": [...]}), a list of tools, or one tool with a name'
        raise Faulty((Fault(code="import-shape", message=message),))
    return tuple(inner)


def import_tools(tools: tuple[Any, ...], *, prefix: str | None, version: str, owner: str | None) -> Imported:
    """Return a procedure document for each tool that can be used, and a fault with the reason for each other."""
    names = [_inside_name(tool, prefix) for tool in tools]
    twice = {name for name, count in Counter(name for name in names if name).items() if count > 1}
    documents: list[dict[str, Any]] = []
    refused: list[Fault] = []
    for index, (tool, name) in enumerate(zip(tools, names, strict=True)):
        made = _document(tool, name, version, owner, index) if name not in twice else _name_twice(tool, name, index)
        if isinstance(made, Fault):
            refused.append(made)
        else:
            documents.append(made)
    return Imported(documents=tuple(documents), refused=tuple(refused))


def compare_import(
    existing: Mapping[str, Any] | None, document: Mapping[str, Any]
) -> Literal["new", "changed", "same"]:
    """Say whether importing changes anything but version and changes; only then is a file written."""
    if existing is None:
        return "new"
    before = {key: value for key, value in existing.items() if key not in _NOT_CONTENT}
    after = {key: value for key, value in document.items() if key not in _NOT_CONTENT}
    return "same" if before == after else "changed"


def _inside_name(tool: Any, prefix: str | None) -> str | None:
    outside = tool.get("name") if isinstance(tool, Mapping) else None
    if not isinstance(outside, str):
        return None
    last = re.sub(r"[^a-z0-9_-]", "-", outside.lower()).strip("-_")
    name = f"{prefix}/{last}" if prefix else last
    try:
        return parse_name(name[: MAX_NAME + 1])
    except ValueError:
        return None


def _document(tool: Any, name: str | None, version: str, owner: str | None, index: int) -> dict[str, Any] | Fault:
    if not isinstance(tool, Mapping):
        return Fault(code="refuse-tool", message=f"item {index + 1} is no tool", at=(index,))
    if name is None:
        message = f"the tool {str(tool.get('name'))[:80]!r} has no name that can be kept"
        return Fault(code="refuse-name", message=message, at=(index, "name"))
    schema = tool.get("inputSchema")
    if not isinstance(schema, Mapping):
        found = "null" if schema is None and "inputSchema" in tool else "missing" if schema is None else "no object"
        message = f"the tool {tool['name']} has no usable inputSchema: it is {found}"
        return Fault(code="refuse-schema", message=message, at=(index, "inputSchema"))
    document = _converted(tool, name, version, owner)
    try:
        read_procedure(document)
    except Faulty as error:
        first = error.faults[0]
        more = f" (and {len(error.faults) - 1} more)" if len(error.faults) > 1 else ""
        where = ".".join(str(part) for part in first.at)
        message = f"the tool {tool['name']} cannot be used: {where}: {first.message}{more}"
        return Fault(code="refuse-schema" if "Schema" in where else "refuse-tool", message=message, at=(index,))
    return document


def _converted(tool: Mapping[str, Any], name: str, version: str, owner: str | None) -> dict[str, Any]:
    description = tool.get("description")
    text = description if isinstance(description, str) else ""
    spec: dict[str, Any] = {}
    if tool["name"] != name.rpartition("/")[2]:
        spec["name"] = tool["name"]
    if tool.get("title") is not None:
        spec["title"] = tool["title"]
    spec["description"] = text
    spec["inputSchema"] = _rewritten(tool["inputSchema"])
    if tool.get("outputSchema") is not None:
        spec["outputSchema"] = _rewritten(tool["outputSchema"])
    extra = {key: value for key, value in tool.items() if key not in _KNOWN}
    annotations = tool.get("annotations")
    if isinstance(annotations, Mapping):
        hints = {key: annotations[key] for key in _HINTS if annotations.get(key) is not None}
        spec |= {"annotations": hints} if hints else {}
        strange = {key: value for key, value in annotations.items() if key not in _HINTS}
        extra |= {"annotations": strange} if strange else {}
    elif annotations is not None:
        spec["annotations"] = annotations
    document: dict[str, Any] = {"kind": "tool", "name": name, "version": version, "summary": _summary(text, name)}
    document |= {"owner": owner} if owner else {}
    document["changes"] = "Imported from MCP."
    document |= {"extensions": {"mcp": extra}} if extra else {}
    return {**document, "spec": spec}


def _summary(text: str, name: str) -> str:
    first = re.split(r"(?<=[.!?])\s|\n", text.strip(), maxsplit=1)[0].strip()
    return (first or name)[:200]


def _rewritten(schema: Any) -> Any:
    """Return a schema with OpenAPI's ``nullable``, which validators ignore, written as JSON Schema."""
    if isinstance(schema, list):
        return [_rewritten(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    made = {key: _rewritten(value) for key, value in schema.items()}
    if isinstance(made.get("nullable"), bool) and isinstance(made.get("type"), str):
        nullable = made.pop("nullable")
        made |= {"type": [made["type"], "null"]} if nullable else {}
    return made


def _name_twice(tool: Any, name: str | None, index: int) -> Fault:
    message = f"the tool {tool.get('name')!r} would be {name}, as another one of this list would"
    return Fault(code="refuse-name", message=message, at=(index, "name"), hint="import them with different prefixes")
