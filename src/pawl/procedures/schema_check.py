"""Whether a JSON Schema inside a procedure means something, found out without any value.

- Dialects are 2020-12 (also when nothing is said) and draft-07. References lead to schemas inside the same schema.
- Keywords that the dialect does not know are refused, because a typing error there silently accepts everything;
  ``x-*`` is allowed.
- What is required must be declared. Patterns must fit the bounded engine that will match them.
- Judging one value must stay affordable: no circle of references that consumes nothing, and no tower of references
  in which every floor doubles the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from pawl.problems import Fault, Place
from pawl.procedures.schema import compile_schema, not_json
from pawl.procedures.schema_graph import Graph
from pawl.procedures.schema_tree import (
    DIALECTS,
    SUBSCHEMA,
    SUBSCHEMAS_LIST,
    SUBSCHEMAS_MAP,
    Node,
    dialect_of,
    walk_schema,
)
from pawl.procedures.words import shown

MAX_PATTERNS = 500
MAX_WORK = 10_000
"""How often one schema may apply schemas to one value."""
_PLAIN = frozenset(
    {
        "$schema",
        "$id",
        "$ref",
        "$comment",
        "type",
        "enum",
        "const",
        "multipleOf",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "maxProperties",
        "minProperties",
        "required",
        "title",
        "description",
        "default",
        "deprecated",
        "readOnly",
        "writeOnly",
        "examples",
        "format",
        "contentEncoding",
        "contentMediaType",
    }
)
_ONLY: Mapping[str, frozenset[str]] = {
    "2020-12": frozenset(
        {
            "$anchor",
            "$dynamicAnchor",
            "$dynamicRef",
            "contentSchema",
            "dependentRequired",
            "dependentSchemas",
            "maxContains",
            "minContains",
            "prefixItems",
            "unevaluatedItems",
            "unevaluatedProperties",
        }
    ),
    "draft-07": frozenset({"additionalItems", "dependencies"}),
}
"""Keywords that the other dialect ignores."""
_EVERY = SUBSCHEMA | SUBSCHEMAS_LIST | SUBSCHEMAS_MAP | _PLAIN | _ONLY["2020-12"] | _ONLY["draft-07"]
KEYWORDS: Mapping[str, frozenset[str]] = {
    "2020-12": _EVERY - _ONLY["draft-07"],
    "draft-07": _EVERY - _ONLY["2020-12"],
}
_HINTS = {
    "nullable": 'write type: [T, "null"]',
    "additionalItems": "write items beside prefixItems",
    "dependencies": "write dependentRequired or dependentSchemas",
    "prefixItems": "write items as a list",
    "dependentRequired": "write dependencies",
    "dependentSchemas": "write dependencies",
    "optional": "leave the name out of required",
}


def check_schema(schema: Any, *, at: Place = (), root_object: bool = False, promises: bool = True) -> tuple[Fault, ...]:
    """Return everything that is wrong with a schema.

    ``root_object``: its root must say ``type: object``. ``promises``: what it requires it must declare, which a schema
    that only looks at a value need not.
    """
    if not isinstance(schema, Mapping):
        message = f"expected a JSON Schema, which is a mapping here, found {shown(schema)}"
        return (Fault(code="schema-invalid", message=message, at=at),)
    try:
        nodes = tuple(walk_schema(schema))
    except OverflowError as error:
        return (Fault(code="schema-too-large", message=str(error), at=at),)
    wrong = not_json(schema)
    if wrong is not None:
        return (Fault(code="schema-invalid", message=wrong.message, at=(*at, *wrong.at)),)
    graph = Graph(schema, nodes)
    faults = [*_dialects(schema, nodes), *_root(schema, root_object=root_object)]
    for node in nodes:
        faults += _node_faults(node, dialect_of(schema))
        faults += _reference(node, graph)
    faults += _patterns(nodes)
    faults += _required(nodes, graph) if promises else ()
    known = {fault.at for fault in faults}
    faults += (fault for fault in _metaschema(schema) if fault.at not in known)
    if not faults:
        faults += (*_work(graph), *_compiles(schema))
    unique = sorted(dict.fromkeys(faults), key=lambda fault: [str(part) for part in fault.at])
    return tuple(fault.under(*at) for fault in unique)


def _dialects(schema: Mapping[str, Any], nodes: tuple[Node, ...]) -> Iterator[Fault]:
    for node in nodes:
        named = node.schema.get("$schema") if isinstance(node.schema, Mapping) else None
        if named is None:
            continue
        at = (*node.at, "$schema")
        if not isinstance(named, str) or named not in DIALECTS:
            message = f"expected a dialect that is read here (2020-12, draft-07), found {shown(named)}"
            yield Fault(code="schema-dialect", message=message, at=at)
        elif DIALECTS[named] != dialect_of(schema):
            message = f"the whole schema is of one dialect, {dialect_of(schema)} here"
            yield Fault(code="schema-dialect", message=message, at=at)


def _root(schema: Mapping[str, Any], *, root_object: bool) -> Iterator[Fault]:
    if root_object and schema.get("type") != "object":
        message = "the root of the schema must say type: object; clients drop tools without it"
        yield Fault(code="schema-root-type", message=message, at=("type",) if "type" in schema else ())


def _node_faults(node: Node, dialect: str) -> Iterator[Fault]:
    schema, at = node.schema, node.at
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        property_of = len(at) > 1 and at[-2] == "properties"
        message = f"{_where(at)}: expected a schema, which is a mapping, true or false; found {shown(schema)}"
        hint = "type: and other keywords stand beside properties:, not in it" if property_of else None
        code = "schema-property-not-schema" if property_of else "schema-invalid"
        yield Fault(code=code, message=message, at=at, hint=hint)
        return
    for key in schema:
        if key not in KEYWORDS[dialect] and not key.startswith("x-"):
            yield _unknown(key, at, dialect)
    if "$dynamicRef" in schema or "$dynamicAnchor" in schema:
        message = "dynamic references are not read here; use $ref into $defs"
        yield Fault(code="schema-ref-dynamic", message=message, at=at)
    if "$id" in schema and at:
        message = "$id below the root moves what references mean; it is not read here"
        yield Fault(code="schema-id-nested", message=message, at=(*at, "$id"))


def _unknown(key: str, at: Place, dialect: str) -> Fault:
    from difflib import get_close_matches  # noqa: PLC0415 - only where something is wrong

    close = get_close_matches(key, sorted(KEYWORDS[dialect]), n=1)
    hint = _HINTS.get(key) or (f"did you mean {close[0]}?" if close else "x-* is for keywords of your own")
    other = next((name for name, only in _ONLY.items() if key in only), None)
    what = f"a keyword of {other} and not of {dialect}" if other else "no keyword of JSON Schema"
    message = f"{key[:120]} is {what}; validators would ignore it"
    return Fault(code="schema-keyword-unknown", message=message, at=(*at, key), on_key=True, hint=hint)


def _reference(node: Node, graph: Graph) -> Iterator[Fault]:
    reference = node.schema.get("$ref") if isinstance(node.schema, Mapping) else None
    if reference is None:
        return
    place = (*node.at, "$ref")
    if not isinstance(reference, str):
        message = f"$ref: expected a text, found {shown(reference)}"
        yield Fault(code="schema-invalid", message=message, at=place)
    elif not reference.startswith("#"):
        message = f"{reference[:120]!r} points outside the schema; nothing is ever fetched"
        hint = "copy it into $defs and point to #/$defs/NAME"
        yield Fault(code="schema-ref-remote", message=message, at=place, hint=hint)
    elif graph.target(node) is None:
        message = f"{reference[:120]!r} points to no schema in the schema"
        yield Fault(code="schema-ref-dangling", message=message, at=place)


def _required(nodes: tuple[Node, ...], graph: Graph) -> Iterator[Fault]:
    """Every required name must be declared by the object or by one that encloses it at the same instance."""
    for node in nodes:
        required = node.schema.get("required") if isinstance(node.schema, Mapping) else None
        if not isinstance(required, list) or not required:
            continue
        declared = graph.declared(node)
        for index, name in enumerate(required):
            if declared is not None and isinstance(name, str) and name not in declared:
                message = f"{name[:120]} is required and no property of that name is declared"
                yield Fault(code="schema-required-unknown", message=message, at=(*node.at, "required", index))


def _metaschema(schema: Mapping[str, Any]) -> Iterator[Fault]:
    import jsonschema_rs  # noqa: PLC0415 - only where schemas are read

    draft = dialect_of(schema)
    named = next(uri for uri, dialect in DIALECTS.items() if dialect == draft)
    try:
        if jsonschema_rs.meta.is_valid({**schema, "$schema": named}):
            return
    except (ValueError, jsonschema_rs.ReferencingError):
        pass  # the metaschema itself says it better below
    kind = jsonschema_rs.Draft7Validator if draft == "draft-07" else jsonschema_rs.Draft202012Validator
    metaschema = "http://json-schema.org/draft-07/schema#" if draft == "draft-07" else named
    for error in kind({"$ref": metaschema}, offline=True, validate_formats=False).iter_errors(schema):
        at: Place = tuple(error.instance_path)
        yield Fault(code="schema-invalid", message=f"{_where(at)}: {_meta_sentence(error, at)}", at=at)


_SIMPLE_TYPES = "array, boolean, integer, null, number, object, string"


def _meta_sentence(error: Any, at: Place) -> str:
    found = shown(error.instance)
    match error.kind.name:
        case "type":
            wanted = " or ".join(_META_TYPES.get(name, name) for name in error.kind.types)
            return f"expected {wanted}, found {found}"
        case "anyOf" if at and at[-1] == "type":
            return f"expected one of {_SIMPLE_TYPES}, or a list of these, found {found}"
        case "enum":
            return f"expected one of {_SIMPLE_TYPES}, found {found}"
        case "uniqueItems":
            return "the same entry twice"
        case "minItems":
            return "must not be empty"
        case _:
            return str(error.message)[:300]


_META_TYPES = {
    "object": "a mapping",
    "boolean": "true or false",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "array": "a list",
}


def _patterns(nodes: tuple[Node, ...]) -> Iterator[Fault]:
    verdicts: dict[str, bool] = {}
    for node in nodes:
        if not isinstance(node.schema, Mapping):
            continue
        several = node.schema.get("patternProperties")
        found: list[tuple[Place, Any]] = [(("pattern",), node.schema.get("pattern"))]
        found += [(("patternProperties", name), name) for name in several] if isinstance(several, Mapping) else []
        for key, pattern in found:
            if not isinstance(pattern, str):
                continue
            if len(verdicts) >= MAX_PATTERNS and pattern not in verdicts:
                message = f"the schema has more than {MAX_PATTERNS} different patterns"
                yield Fault(code="schema-too-large", message=message, at=(*node.at, *key))
                return
            if not verdicts.setdefault(pattern, _pattern_reads(pattern)):
                message = f"the pattern {pattern[:80]!r} does not read, or cannot be matched in bounded time"
                hint = "no look-around, no back-references, no huge repetitions"
                on_key = key[0] == "patternProperties"
                yield Fault(code="schema-pattern", message=message, at=(*node.at, *key), on_key=on_key, hint=hint)


@lru_cache(maxsize=1_024)
def _pattern_reads(pattern: str) -> bool:
    if len(pattern) > 10_000:
        return False
    try:
        compile_schema({"pattern": pattern})
    except ValueError:
        return False
    return True


def _work(graph: Graph) -> Iterator[Fault]:
    if not graph.refers and len(graph.nodes) <= MAX_WORK:
        return  # a tree: it has no circle, and applies each of its parts once at most
    circle = graph.circle()
    if circle is not None:
        message = f"{_where(circle)}: this leads back to itself without looking into the value"
        yield Fault(code="schema-ref-circle", message=message, at=(*circle, "$ref"))
    elif graph.work() > MAX_WORK:
        message = f"checking one value would apply more than {MAX_WORK} schemas to one part of it"
        yield Fault(code="schema-too-large", message=message, hint="the same reference is followed again and again")


def _compiles(schema: Mapping[str, Any]) -> Iterator[Fault]:
    try:
        compile_schema(schema)
    except ValueError as error:
        yield Fault(code="schema-invalid", message=str(error)[:300])


def _where(at: Place) -> str:
    return ".".join(str(part) for part in at) or "the schema"
