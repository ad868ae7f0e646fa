"""MCP tools: from a ``tools/list`` answer, a list of tools or one tool to procedure documents.

- Items found are items written plus items refused: a tool whose schema cannot be used, whose name cannot be kept apart
  from another's, or that is no tool at all is refused by name, and nothing is dropped.
- Absent hints stay absent, because their defaults are MCP's. What pawl does not know is kept in ``extensions.mcp``.
- OpenAPI's ``nullable``, which validators ignore, is written as a type with null, and ``changes`` says so.
- Importing again changes only what comes from MCP: what people wrote around it stays.
"""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard

from pawl.canonical import content_digest
from pawl.errors import Faulty
from pawl.ids import MAX_NAME, Name, Version, parse_name, parse_version
from pawl.problems import Fault, pointer
from pawl.procedures.read import read_procedure
from pawl.procedures.schema_tree import walk_schema
from pawl.registry.versions import version_key

MAX_TOOLS = 10_000
MAX_BYTES = 256 * 1024
MAX_DEPTH = 64
"""What is read of a procedure's file: a tool beyond it could be written and never be read."""
MAX_SUMMARY = 200
MAX_REASONS = 5

_KNOWN = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
_HINTS = ("title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_OURS = ("effects", "binding")
"""Fields of a tool's spec that MCP does not have."""
_FOREIGN = ("parameters", "input_schema", "function", "functionDeclarations")
_CHANGES = "Imported from MCP."


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What became of each tool that was found."""

    documents: tuple[dict[str, Any], ...]
    refused: tuple[Fault, ...]
    """One fault a refused tool, at its index in the list."""

    @property
    def found(self) -> int:
        return len(self.documents) + len(self.refused)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What a file should hold after an import; where nothing changes it is what is there."""

    state: Literal["new", "changed", "same"]
    document: Mapping[str, Any]


def read_tools(value: Any) -> tuple[Any, ...]:
    """Return the tools in an answer, a list, or one tool; raises ``Faulty`` for anything else, for none, or for a page.

    An answer may stand in its JSON-RPC envelope (``result``).
    """
    inner = value
    if isinstance(inner, Mapping) and "name" not in inner and isinstance(inner.get("result"), Mapping):
        inner = inner["result"]
    if isinstance(inner, Mapping) and inner.get("nextCursor"):
        message = "this is one page of a list of tools: nextCursor says that there are more"
        hint = 'ask for the other pages and put all tools into one list: {"tools": [...]}'
        raise Faulty((Fault(code="import-page", message=message, at=("nextCursor",), hint=hint),))
    if isinstance(inner, Mapping) and "tools" in inner:
        inner = inner["tools"]
    if isinstance(inner, Mapping) and "name" in inner:
        inner = [inner]
    if isinstance(inner, Mapping) and "error" in inner:
        message = f"this is the answer of a server that refused: {str(inner['error'])[:300]}"
        raise Faulty((Fault(code="import-shape", message=message, at=("error",)),))
    if inner == []:
        raise Faulty((Fault(code="import-shape", message="the list holds no tools"),))
    if not isinstance(inner, list):
        message = 'expected a tools/list answer ({"tools": [...]}), a list of tools, or one tool with a name'
        raise Faulty((Fault(code="import-shape", message=message),))
    if len(inner) > MAX_TOOLS:
        message = f"at most {MAX_TOOLS} tools are imported at once, these are {len(inner)}"
        raise Faulty((Fault(code="import-shape", message=message),))
    return tuple(inner)


def import_tools(tools: tuple[Any, ...], *, prefix: str | None, version: str, owner: str | None) -> Imported:
    """Return a procedure document for each tool that can be used, and a fault with the reasons for each other."""
    names = [_inside_name(tool, prefix) for tool in tools]
    twice = {name for name, count in Counter(names).items() if name and count > 1}
    documents: list[dict[str, Any]] = []
    refused: list[Fault] = []
    for index, (tool, name) in enumerate(zip(tools, names, strict=True)):
        made = _name_twice(tool, name, index) if name in twice else _document(tool, name, version, owner, index)
        if isinstance(made, Fault):
            refused.append(made)
        else:
            documents.append(made)
    return Imported(documents=tuple(documents), refused=tuple(refused))


def merge_import(existing: Mapping[str, Any] | None, imported: Mapping[str, Any]) -> Merged:
    """Return what the file of an imported tool should hold, given what it holds now; raises ``Faulty`` for no tool.

    Kept is what MCP has no place for: labels, requirements, effects, the binding, other extensions, an owner where the
    import names none, and a summary that a person wrote. The version never goes down.
    """
    if existing is None:
        return Merged(state="new", document=imported)
    if existing.get("kind") != "tool":
        message = f"{imported['name']} is there already and is no tool, so it is not replaced"
        raise Faulty((Fault(code="import-existing", message=message, hint="import with another prefix"),))
    document = {**existing, "version": _later(existing.get("version"), imported["version"])}
    spec = document.pop("spec", None)
    extensions = document.pop("extensions", None)
    for field in ("summary", "owner", "changes"):
        if field in imported and not (field == "summary" and _own_summary(existing)):
            document[field] = imported[field]
    others = {key: value for key, value in extensions.items() if key != "mcp"} if _is_map(extensions) else {}
    if both := others | imported.get("extensions", {}):
        document["extensions"] = both
    ours = {key: spec[key] for key in _OURS if key in spec} if _is_map(spec) else {}
    document["spec"] = {**imported["spec"], **ours}
    try:
        same = content_digest(existing) == content_digest(document)
    except ValueError:
        same = False
    return Merged(state="same", document=existing) if same else Merged(state="changed", document=document)


def _own_summary(existing: Mapping[str, Any]) -> bool:
    spec = existing.get("spec")
    description = spec.get("description") if _is_map(spec) else None
    generated = _summary(description if isinstance(description, str) else "", str(existing.get("name")))
    return existing.get("summary") not in (None, generated)  # a tuple: a broken file may hold a list


def _is_map(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _later(before: Any, after: str) -> str:
    try:
        known = parse_version(before) if isinstance(before, str) else None
    except ValueError:
        known = None
    return after if known is None or version_key(known) < version_key(Version(after)) else known


def _inside_name(tool: Any, prefix: str | None) -> Name | None:
    outside = tool.get("name") if isinstance(tool, Mapping) else None
    if not isinstance(outside, str) or len(outside) > MAX_NAME:
        return None
    last = re.sub(r"[^a-z0-9_-]", "-", outside.lower()).strip("-_")
    try:
        return parse_name(f"{prefix}/{last}" if prefix else last)
    except ValueError:
        return None


def _document(tool: Any, name: Name | None, version: str, owner: str | None, index: int) -> dict[str, Any] | Fault:
    if not isinstance(tool, Mapping):
        return Fault(code="refuse-tool", message=f"item {index + 1} is no tool: it is {_shown(tool)}", at=(index,))
    if name is None:
        message = f"the tool {_shown(tool.get('name'))} has no name that can be kept in {MAX_NAME} characters"
        return Fault(code="refuse-name", message=message, at=(index, "name"))
    schema = tool.get("inputSchema")
    if not isinstance(schema, Mapping):
        found = "it is missing" if "inputSchema" not in tool else f"it is {_shown(schema)}"
        message = f"the tool {_shown(tool['name'])} has no usable inputSchema: {found}"
        foreign = next((f"{key} belongs to another format than MCP" for key in _FOREIGN if key in tool), None)
        return Fault(code="refuse-schema", message=message, at=(index, "inputSchema"), hint=foreign)
    if _depth_over(tool, MAX_DEPTH - 2):  # in extensions it stands two levels deeper in its file
        return _too_much(tool, index, f"nested too deep for a file of {MAX_DEPTH} levels")
    document = _converted(tool, name, version, owner)
    if len(json.dumps(document, indent=2, ensure_ascii=False)) > MAX_BYTES:
        return _too_much(tool, index, f"too large for a file of {MAX_BYTES} bytes")
    faults = _faults(document)
    return _refused(tool, faults, index) if faults else document


def _faults(document: dict[str, Any]) -> tuple[Fault, ...]:
    try:
        read_procedure(document)
    except Faulty as error:
        return error.faults
    return ()


def _too_much(tool: Mapping[str, Any], index: int, what: str) -> Fault:
    return Fault(code="refuse-tool", message=f"the tool {_shown(tool['name'])} is {what}", at=(index,))


def _refused(tool: Mapping[str, Any], faults: tuple[Fault, ...], index: int) -> Fault:
    shown = [f"{'.'.join(map(str, fault.at[1:])) or 'the tool'}: {fault.message}"[:300] for fault in faults]
    reasons = "; ".join(dict.fromkeys(shown[:MAX_REASONS]))
    more = f" (and {len(shown) - MAX_REASONS} more)" if len(shown) > MAX_REASONS else ""
    first = faults[0]
    field = first.at[1] if len(first.at) > 1 else None
    codes = {"name": "refuse-name", "inputSchema": "refuse-schema", "outputSchema": "refuse-schema"}
    return Fault(
        code=codes.get(str(field), "refuse-tool"),
        message=f"the tool {_shown(tool['name'])} cannot be used: {reasons}{more}",
        at=(index, *first.at[1:]) if field in tool else (index,),
        hint=first.hint,
    )


def _name_twice(tool: Any, name: str | None, index: int) -> Fault:
    message = f"the tool {_shown(tool.get('name'))} would be {name}, as another one of this list would"
    return Fault(code="refuse-name", message=message, at=(index, "name"), hint="import them with different prefixes")


def _converted(tool: Mapping[str, Any], name: str, version: str, owner: str | None) -> dict[str, Any]:
    description = tool.get("description")
    text = description if isinstance(description, str) else ""
    spec: dict[str, Any] = {"name": tool["name"]} if tool["name"] != name.rpartition("/")[2] else {}
    if tool.get("title") is not None:
        spec["title"] = tool["title"]
    spec["description"] = "" if description is None else description
    notes: list[str] = []
    for field in ("inputSchema", "outputSchema"):
        if tool.get(field) is not None:
            spec[field], places = _without_nullable(tool[field])
            notes += (field + place for place in places)
    extra = {key: value for key, value in tool.items() if key not in _KNOWN or value is None}
    annotations = tool.get("annotations")
    if isinstance(annotations, Mapping):
        spec["annotations"] = {key: annotations[key] for key in _HINTS if annotations.get(key) is not None}
        strange = {key: value for key, value in annotations.items() if key not in spec["annotations"]}
        extra |= {"annotations": strange} if strange else {}
    elif annotations is not None:
        spec["annotations"] = annotations
    document: dict[str, Any] = {"kind": "tool", "name": name, "version": version, "summary": _summary(text, name)}
    document |= {"owner": owner} if owner else {}
    document["changes"] = _changes(notes)
    document |= {"extensions": {"mcp": extra}} if extra else {}
    return {**document, "spec": spec}


def _changes(notes: list[str]) -> str:
    if not notes:
        return _CHANGES
    more = f" and {len(notes) - 10} more" if len(notes) > 10 else ""
    return f"{_CHANGES} nullable was written as a type with null at {', '.join(notes[:10])}{more}."[:5_000]


def _summary(text: str, name: str) -> str:
    """Return the first sentence: up to a stop that a capital follows, or to the end of the line."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    first = re.split(r"(?<=[.!?])\s+(?=[^a-z])", line, maxsplit=1)[0]
    if len(first) > MAX_SUMMARY:
        cut = first[: MAX_SUMMARY - 1]
        first = (cut.rpartition(" ")[0].rstrip(" ,;:") or cut) + "…"
    return first or name


def _without_nullable(schema: Any) -> tuple[Any, list[str]]:
    """Return a schema with ``nullable`` as a type with null, and where; only schemas are touched, never data."""
    made = copy.deepcopy(schema)
    try:
        nodes = [node for node in walk_schema(made) if isinstance(node.schema, dict) and "nullable" in node.schema]
    except OverflowError:  # too large to be a schema here; the reader says so
        return made, []
    places = []
    for node in nodes:
        found = _types(node.schema)
        if found is not None:
            nullable = node.schema.pop("nullable")
            if nullable and "null" not in found:
                node.schema["type"] = [*found, "null"]
            places.append(pointer(node.at))
    return made, sorted(places)


def _types(schema: Mapping[str, Any]) -> list[str] | None:
    """Return the types of a schema whose ``nullable`` has a meaning, which it has beside a type only."""
    named = schema.get("type")
    if not isinstance(schema["nullable"], bool) or not named:
        return None
    return [named] if isinstance(named, str) else list(named) if isinstance(named, list) else None


def _depth_over(value: Any, most: int) -> bool:
    layer: list[Any] = [value]
    for _ in range(most):
        layer = [item for held in layer for item in _held(held)]
        if not layer:
            return False
    return True


def _held(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from (item for item in value.values() if isinstance(item, Mapping | list))
    elif isinstance(value, list):
        yield from (item for item in value if isinstance(item, Mapping | list))


def _shown(value: Any) -> str:
    """Return a value in a few words, for messages."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return value if re.fullmatch(r"[\w./-]{1,80}", value) else repr(value[:80])
    if isinstance(value, bool | int | float):
        return json.dumps(value)[:80]
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, Mapping) else type(value).__name__
