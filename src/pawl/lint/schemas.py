"""What vendors object to in a schema, found part by part.

Places are inside the schema. Every row of the table is found here, also those to which no profile objects before an
exporter has had its turn; ``profiles.judged`` says which of them matter to whom.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pawl.lint.disjoint import disjoint
from pawl.lint.levels import Levels, levels_of
from pawl.lint.profiles import CLOSE_DEPTH, MAX_DEPTH, Finding
from pawl.problems import Place
from pawl.procedures.kinds import ROOT_COMPOSITION
from pawl.procedures.schema_graph import Graph
from pawl.procedures.schema_tree import Node, children, walk_schema
from pawl.procedures.words import listed

MAX_PLACES = 12
"""Places of one row that are told apart in one schema; the rest is counted."""
PROPERTY_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_KEYWORDS = (
    *("patternProperties", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "dependentRequired"),
    *("dependentSchemas", "dependencies", "prefixItems", "contains", "not", "if"),
)
_PARTIAL = frozenset({"allOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"})
"""What stands here adds to another schema of the same value: to close it would be wrong."""
_NO_SHAPE = frozenset({"not", "if", "contains", "propertyNames"})
"""What stands here only asks about a value, and below it nothing describes one."""
_CLOSERS = frozenset({"additionalProperties", "unevaluatedProperties", "unevaluatedItems", "additionalItems"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One schema inside a schema. ``edge`` is the keyword it stands under, ``shape`` whether it describes a value."""

    node: Node
    edge: str
    shape: bool
    beside: Mapping[str, Any]


def find_in_schema(schema: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield what the table knows about one schema, at most ``MAX_PLACES`` places of each row."""
    graph = Graph(schema, walk_schema(schema))
    found = [*_root(schema), *(finding for part in parts(schema) for finding in _part(part, graph))]
    yield from _bounded([*found, *_levels(levels_of(graph))])


def parts(schema: Mapping[str, Any]) -> Iterator[Part]:
    """Yield a schema and every schema below it with what it is there for."""
    waiting = [Part(node=Node(schema, ()), edge="", shape=True, beside={})]
    while waiting:
        part = waiting.pop()
        yield part
        for child in children(part.node):
            edge = str(child.at[len(part.node.at)])
            shape = part.shape and edge not in _NO_SHAPE
            waiting.append(Part(node=child, edge=edge, shape=shape, beside=part.node.schema))


def is_object(schema: Any) -> bool:
    """Return whether a schema describes an object: it says so, or it has properties and says nothing."""
    if not isinstance(schema, Mapping):
        return False
    kind = schema.get("type", "object" if "properties" in schema else None)
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def shown_path(at: Place) -> str:
    """Return where a schema's place is in the value that it describes: ``filter.items[].price``."""
    words: list[str] = []
    rest = iter(at)
    for part in rest:
        if part in {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}:
            name = str(next(rest, ""))[:64]
            words.append(name if part == "properties" else f"{part}.{name}")
        elif part in {"items", "prefixItems"}:
            words.append("[]")
        elif part == "additionalProperties":
            words.append("*")
        else:
            words.append(str(part)[:64])
    return ".".join(words).replace(".[]", "[]") or "the root"


def _bounded(findings: Iterable[Finding]) -> Iterator[Finding]:
    count: Counter[str] = Counter()
    for finding in findings:
        count[finding.row] += 1
        if count[finding.row] <= MAX_PLACES:
            yield finding
    for row, number in count.items():
        if number > MAX_PLACES:
            yield Finding(row=row, message=f"the same at {number - MAX_PLACES} more places")


def _root(schema: Mapping[str, Any]) -> Iterator[Finding]:
    for key in ROOT_COMPOSITION:
        if key in schema:
            message = f"{key} at the root"
            hint = "say it in the description, or make one tool of each branch"
            yield Finding(row="schema-root-composition", message=message, at=(key,), on_key=True, hint=hint)


def _part(part: Part, graph: Graph) -> Iterator[Finding]:
    schema = part.node.schema
    if isinstance(schema, bool):
        tuple_rest = part.edge == "items" and "prefixItems" in part.beside
        if part.edge not in _CLOSERS and not tuple_rest:
            message = f"{'true' if schema else 'false'} as the schema of {shown_path(part.node.at)}"
            yield Finding(row="schema-boolean", message=message, at=part.node.at, hint="say what it may be")
    elif isinstance(schema, Mapping):
        yield from (finding.under(*part.node.at) for finding in _object(part, schema))
        yield from (finding.under(*part.node.at) for finding in _keywords(part, schema, graph))


def _object(part: Part, schema: Mapping[str, Any]) -> Iterator[Finding]:
    where = shown_path(part.node.at)
    if is_object(schema) and part.shape:
        extra = schema.get("additionalProperties", None)
        if "additionalProperties" in schema:
            message = f"additionalProperties of {where}"
            yield Finding(row="schema-closed-object", message=message, at=("additionalProperties",), on_key=True)
        if extra is not False and part.edge not in _PARTIAL:
            what = "may hold any further field" if extra in (None, True) else "holds names that no schema lists"
            hint = "add additionalProperties: false" if extra in (None, True) else "make it a list of name and value"
            yield Finding(row="schema-open-object", message=f"{where} {what}", hint=hint)
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return
    required = frozenset(schema.get("required") or ())
    for name in properties:
        at: Place = ("properties", name)
        inner = shown_path((*part.node.at, *at))
        if part.shape and name not in required:
            yield Finding(row="schema-optional-property", message=f"{inner} is optional", at=at, on_key=True)
        if not PROPERTY_NAME.fullmatch(name):
            message = f"the property name {name[:80]!r} is not a letter or _ and at most 63 of A-Z, a-z, 0-9, _ and -"
            yield Finding(row="schema-property-name", message=message, at=at, on_key=True)
        elif "-" in name:
            message = f"the property name {name[:80]!r} has a -"
            yield Finding(row="schema-property-name/dash", message=message, at=at, on_key=True, hint="write _")


def _keywords(part: Part, schema: Mapping[str, Any], graph: Graph) -> Iterator[Finding]:
    where, root = shown_path(part.node.at), not part.node.at
    if isinstance(schema.get("$ref"), str):
        yield Finding(row="schema-ref", message=f"$ref in {where}", at=("$ref",))
    for key in _KEYWORDS:
        if key in schema and not (root and key in ROOT_COMPOSITION):
            yield Finding(row="schema-keyword", message=f"{key} in {where}", at=(key,), on_key=True)
    if isinstance(schema.get("items"), list):
        hint = "write items as one schema"
        yield Finding(
            row="schema-keyword", message=f"items as a list in {where}", at=("items",), on_key=True, hint=hint
        )
    if "oneOf" in schema and not root:
        apart = disjoint([graph.nodes[(*part.node.at, "oneOf", index)] for index in range(len(schema["oneOf"]))], graph)
        row = "schema-oneof/disjoint" if apart else "schema-oneof"
        yield Finding(row=row, message=f"oneOf in {where}", at=("oneOf",), on_key=True, hint="anyOf is taken by most")
    if "allOf" in schema and not root:
        hint = "write the merged schema"
        yield Finding(row="schema-allof", message=f"allOf in {where}", at=("allOf",), on_key=True, hint=hint)
    yield from _words(schema, where)


def _words(schema: Mapping[str, Any], where: str) -> Iterator[Finding]:
    kinds = schema.get("type")
    if isinstance(kinds, list):
        nullable = len(kinds) == 2 and "null" in kinds
        row = "schema-type-array/null" if nullable else "schema-type-array"
        message = f"{where} has a list of types ({listed(map(str, kinds))})"
        yield Finding(row=row, message=message, at=("type",), hint='write one type, or [T, "null"]')
    for key, row in (("const", "schema-const"), ("default", "schema-default")):
        if key in schema:
            yield Finding(row=row, message=f"{key} in {where}", at=(key,), on_key=True)
    for key in ("exclusiveMinimum", "exclusiveMaximum"):
        if key in schema:
            yield Finding(row="schema-bound", message=f"{key} in {where}", at=(key,), on_key=True)


def _levels(levels: Levels) -> Iterator[Finding]:
    for at in levels.cycles:
        where = shown_path(at[:-1] if at[-1:] == ("$ref",) else at)
        message = f"{where} leads back to a schema that contains it, so it never ends when references are expanded"
        yield Finding(row="schema-ref-cycle", message=message, at=at)
    if levels.depth > CLOSE_DEPTH:
        row = "schema-depth" if levels.depth > MAX_DEPTH else "schema-depth/close"
        message = f"{levels.depth} levels below the root ({levels.path[:200]})"
        yield Finding(row=row, message=message, at=levels.deepest)
