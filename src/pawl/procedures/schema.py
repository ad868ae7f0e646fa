"""JSON Schemas inside procedures: checking that they mean something, and checking values against them.

- Dialects are 2020-12 (also when nothing is said) and draft-07. Nothing is ever fetched: only references into the same
  schema are allowed, and the validator has no retriever.
- Unknown keywords are refused, because a typing error there silently accepts everything; ``x-*`` is allowed.
- ``jsonschema`` with its metaschemas judges schemas; ``jsonschema-rs`` judges values, with patterns in its linear-time
  engine, so that no pattern can hang it. A pattern that this engine cannot hold (look-around, back-references) is
  refused in the schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pawl.problems import Fault, Place

DIALECTS = {
    "https://json-schema.org/draft/2020-12/schema": "2020-12",
    "http://json-schema.org/draft-07/schema": "draft-07",
    "http://json-schema.org/draft-07/schema#": "draft-07",
}
MAX_DEPTH = 64
MAX_NODES = 20_000
_SUBSCHEMA = frozenset(
    {
        "additionalProperties",
        "propertyNames",
        "items",
        "contains",
        "not",
        "if",
        "then",
        "else",
        "unevaluatedItems",
        "unevaluatedProperties",
        "additionalItems",
        "contentSchema",
    }
)
_SUBSCHEMAS_LIST = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SUBSCHEMAS_MAP = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_PLAIN = frozenset(
    {
        "$schema",
        "$id",
        "$anchor",
        "$ref",
        "$dynamicRef",
        "$dynamicAnchor",
        "$comment",
        "$vocabulary",
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
        "maxContains",
        "minContains",
        "maxProperties",
        "minProperties",
        "required",
        "dependentRequired",
        "dependencies",
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
KEYWORDS = _SUBSCHEMA | _SUBSCHEMAS_LIST | _SUBSCHEMAS_MAP | _PLAIN


@dataclass(frozen=True, slots=True)
class Node:
    """One schema inside a schema, and where it stands."""

    schema: Any
    at: Place


def check_schema(schema: Any, *, at: Place = (), root_object: bool = False, promises: bool = True) -> tuple[Fault, ...]:
    """Return everything that is wrong with a schema.

    ``root_object``: its root must say ``type: object``. ``promises``: what it requires it must declare, which a schema
    that only looks at a value need not.
    """
    if not isinstance(schema, Mapping):
        return (Fault(code="schema-invalid", message="a JSON Schema must be a mapping here", at=at),)
    try:
        nodes = tuple(walk_schema(schema))
    except OverflowError as error:
        return (Fault(code="schema-too-large", message=str(error), at=at),)
    faults = [*_dialect(schema), *_root(schema, root_object=root_object)]
    for node in nodes:
        faults += _node_faults(node, schema)
    faults += _required_faults(Node(schema, ()), frozenset(), 0) if promises else ()
    if not faults:
        faults += _metaschema(schema)
    if not faults:
        faults += _compiles(schema)
    return tuple(fault.under(*at) for fault in _unique(faults))


def walk_schema(schema: Any) -> Iterator[Node]:
    """Yield a schema and every schema below it; ``OverflowError`` beyond the limits on depth and number."""
    waiting: list[tuple[Node, int]] = [(Node(schema, ()), 0)]
    count = 0
    while waiting:
        node, depth = waiting.pop()
        count += 1
        if depth > MAX_DEPTH or count > MAX_NODES:
            raise OverflowError(f"the schema is deeper than {MAX_DEPTH} levels or has more than {MAX_NODES} parts")
        yield node
        waiting.extend((child, depth + 1) for child in _children(node))


def _children(node: Node) -> Iterator[Node]:
    if not isinstance(node.schema, Mapping):
        return
    for key, value in node.schema.items():
        if key in _SUBSCHEMA and not isinstance(value, list):
            yield Node(value, (*node.at, key))
        elif (key in _SUBSCHEMAS_LIST or key == "items") and isinstance(value, list):
            yield from (Node(item, (*node.at, key, index)) for index, item in enumerate(value))
        elif key in _SUBSCHEMAS_MAP and isinstance(value, Mapping):
            yield from (Node(item, (*node.at, key, name)) for name, item in value.items())
        elif key == "dependencies" and isinstance(value, Mapping):
            yield from (Node(item, (*node.at, key, name)) for name, item in value.items() if not isinstance(item, list))


def _dialect(schema: Mapping[str, Any]) -> Iterator[Fault]:
    named = schema.get("$schema")
    if named is not None and (not isinstance(named, str) or named not in DIALECTS):
        message = f"the dialect {str(named)[:80]!r} is not read here; 2020-12 and draft-07 are"
        yield Fault(code="schema-dialect", message=message, at=("$schema",))


def _root(schema: Mapping[str, Any], *, root_object: bool) -> Iterator[Fault]:
    if root_object and schema.get("type") != "object":
        message = "the root of the schema must say type: object; clients drop tools without it"
        yield Fault(code="schema-root-type", message=message, at=("type",) if "type" in schema else ())


def _node_faults(node: Node, root: Mapping[str, Any]) -> Iterator[Fault]:
    schema, at = node.schema, node.at
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        code = "schema-property-not-schema" if "properties" in at else "schema-invalid"
        message = f"a schema is a mapping, true or false; {_where(at)} is not"
        yield Fault(code=code, message=message, at=at)
        return
    for key in schema:
        if key not in KEYWORDS and not str(key).startswith("x-"):
            yield _unknown(str(key), at)
    yield from _reference(schema, at, root)


def _unknown(key: str, at: Place) -> Fault:
    from difflib import get_close_matches  # noqa: PLC0415 - only where something is wrong

    close = get_close_matches(key, sorted(KEYWORDS), n=1)
    hint = 'write type: [T, "null"]' if key == "nullable" else f"did you mean {close[0]}?" if close else None
    message = f"{key} is no keyword of JSON Schema; validators would ignore it"
    return Fault(code="schema-keyword-unknown", message=message, at=(*at, key), on_key=True, hint=hint)


def _reference(schema: Mapping[str, Any], at: Place, root: Mapping[str, Any]) -> Iterator[Fault]:
    if "$dynamicRef" in schema or "$dynamicAnchor" in schema:
        message = "dynamic references are not read here; use $ref into $defs"
        yield Fault(code="schema-ref-dynamic", message=message, at=at)
    if "$id" in schema and at:
        message = "$id below the root moves what references mean; it is not read here"
        yield Fault(code="schema-id-nested", message=message, at=(*at, "$id"))
    reference = schema.get("$ref")
    if reference is None:
        return
    place = (*at, "$ref")
    if not isinstance(reference, str):
        yield Fault(code="schema-invalid", message="$ref must be a text", at=place)
    elif not reference.startswith("#"):
        message = f"{reference[:120]!r} points outside the schema; nothing is ever fetched"
        hint = "copy it into $defs and point to #/$defs/NAME"
        yield Fault(code="schema-ref-remote", message=message, at=place, hint=hint)
    elif resolve_pointer(root, reference) is None:
        message = f"{reference[:120]!r} points to nothing in the schema"
        yield Fault(code="schema-ref-dangling", message=message, at=place)
    elif _circle(root, schema):
        message = f"{reference[:120]!r} leads back to itself without consuming anything"
        yield Fault(code="schema-ref-circle", message=message, at=place)


def _circle(root: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    seen: list[int] = []
    here: Any = schema
    while isinstance(here, Mapping) and isinstance(here.get("$ref"), str):
        if id(here) in seen:
            return True
        seen.append(id(here))
        found = resolve_pointer(root, here["$ref"])
        here = found.schema if found else None
    return False


def resolve_pointer(root: Mapping[str, Any], reference: str) -> Node | None:
    """Return what a reference into the same schema points to, or None; anchors are looked up by name."""
    text = reference.removeprefix("#")
    if text and not text.startswith("/"):
        return next(
            (
                node
                for node in walk_schema(root)
                if isinstance(node.schema, Mapping) and node.schema.get("$anchor") == text
            ),
            None,
        )
    here: Any = root
    at: list[str | int] = []
    for part in text.split("/")[1:]:
        key = _unescaped(part)
        if isinstance(here, Mapping) and key in here:
            here = here[key]
            at.append(key)
        elif isinstance(here, list) and key.isascii() and key.isdigit() and int(key) < len(here):
            here = here[int(key)]
            at.append(int(key))
        else:
            return None
    return Node(here, tuple(at)) if isinstance(here, Mapping | bool) else None


def _unescaped(part: str) -> str:
    from urllib.parse import unquote  # noqa: PLC0415 - slow to import, and references are rare

    return unquote(part).replace("~1", "/").replace("~0", "~")


def _required_faults(node: Node, outer: frozenset[str], depth: int) -> Iterator[Fault]:
    """Every required name must be declared by the object or by one that encloses it at the same instance."""
    schema = node.schema
    if not isinstance(schema, Mapping) or depth > MAX_DEPTH:
        return
    properties = schema.get("properties")
    names = outer | (frozenset(properties) if isinstance(properties, Mapping) else frozenset())
    same = [child for child in _children(node) if child.at[len(node.at)] in _SAME_INSTANCE]
    for child in same:
        inner = child.schema.get("properties") if isinstance(child.schema, Mapping) else None
        if isinstance(inner, Mapping) and child.at[len(node.at)] == "allOf":
            names |= frozenset(inner)
    if "$ref" not in schema and "patternProperties" not in schema:
        required = schema.get("required")
        for index, name in enumerate(required if isinstance(required, list) else ()):
            if isinstance(name, str) and name not in names and properties is not None:
                message = f"{name} is required and no property of that name is declared"
                yield Fault(code="schema-required-unknown", message=message, at=(*node.at, "required", index))
    for child in _children(node):
        inside = names if child in same else frozenset()
        yield from _required_faults(child, inside, depth + 1)


_SAME_INSTANCE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})


def _metaschema(schema: Mapping[str, Any]) -> Iterator[Fault]:
    import jsonschema_rs  # noqa: PLC0415 - only where schemas are read

    if jsonschema_rs.meta.is_valid({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}):
        return
    from jsonschema.validators import Draft7Validator, Draft202012Validator  # noqa: PLC0415 - slow; says it better

    draft = DIALECTS.get(schema.get("$schema", ""), "2020-12")
    validator = Draft7Validator if draft == "draft-07" else Draft202012Validator
    errors = list(validator(validator.META_SCHEMA).iter_errors(schema))
    for error in errors:
        yield Fault(code="schema-invalid", message=error.message[:300], at=tuple(error.absolute_path))
    if not errors:
        yield Fault(code="schema-invalid", message="the schema is not valid by the metaschema of its dialect")


def _compiles(schema: Mapping[str, Any]) -> Iterator[Fault]:
    for node in walk_schema(schema):
        if not isinstance(node.schema, Mapping):
            continue
        patterns = [("pattern", node.schema.get("pattern"))]
        several = node.schema.get("patternProperties")
        if isinstance(several, Mapping):
            patterns += [("patternProperties", name) for name in several]
        for key, pattern in patterns:
            if isinstance(pattern, str) and not _pattern_reads(pattern):
                message = f"the pattern {pattern[:80]!r} is not one that can be matched in bounded time"
                hint = "no look-around and no back-references"
                yield Fault(code="schema-pattern", message=message, at=(*node.at, key), hint=hint)
                return
    try:
        compile_schema(schema)
    except ValueError as error:
        yield Fault(code="schema-invalid", message=str(error)[:300])


def _pattern_reads(pattern: str) -> bool:
    try:
        compile_schema({"pattern": pattern})
    except ValueError:
        return False
    return len(pattern) <= 10_000


def _where(at: Place) -> str:
    return "/".join(str(part) for part in at) or "the root"


def _unique(faults: list[Fault]) -> list[Fault]:
    return list(dict.fromkeys(faults))


@dataclass(frozen=True, slots=True, eq=False)
class Validator:
    """A compiled schema."""

    compiled: Any

    def is_valid(self, value: Any) -> bool:
        valid: bool = self.compiled.is_valid(value)
        return valid

    def faults(self, value: Any, *, at: Place = (), code: str = "value-invalid") -> tuple[Fault, ...]:
        """Return what is wrong with a value, each at its place in the value."""
        if self.is_valid(value):
            return ()
        found = []
        for error in self.compiled.iter_errors(value):
            place = tuple(error.instance_path)
            where = ".".join(str(part) for part in place)
            message = str(error.message)[:300]
            found.append(Fault(code=code, message=f"{where}: {message}" if where else message, at=(*at, *place)))
            if len(found) >= 50:
                break
        return tuple(found)


def compile_schema(schema: Any, *, closed_root: bool = False) -> Validator:
    """Return a validator; ``ValueError`` for a schema that does not compile. Nothing is fetched."""
    import jsonschema_rs  # noqa: PLC0415 - only where values are checked

    wanted: Any = closed(schema) if closed_root else schema
    draft = DIALECTS.get(wanted.get("$schema", ""), "2020-12") if isinstance(wanted, Mapping) else "2020-12"
    kind = jsonschema_rs.Draft7Validator if draft == "draft-07" else jsonschema_rs.Draft202012Validator
    try:
        return Validator(
            kind(wanted, pattern_options=jsonschema_rs.RegexOptions(), offline=True, validate_formats=False)
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, RecursionError) as error:
        raise ValueError(str(error).splitlines()[0] if str(error) else "it does not compile") from None


def closed(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of a prompt's or a workflow's inputs: an object, closed unless it says otherwise."""
    root: dict[str, Any] = {"type": "object", **schema}
    if not {"additionalProperties", "unevaluatedProperties"} & set(schema):
        # properties may also be declared by what the root is composed of, which only unevaluatedProperties sees
        root["unevaluatedProperties" if _COMPOSED & set(schema) else "additionalProperties"] = False
    return root


_COMPOSED = frozenset({"$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties"})


def fill_defaults(schema: Mapping[str, Any], value: Any) -> Any:
    """Return ``value`` with the defaults of absent properties, at every depth that ``properties`` describes."""
    properties = schema.get("properties")
    if not isinstance(value, Mapping) or not isinstance(properties, Mapping):
        return value
    filled = dict(value)
    for name, inner in properties.items():
        if not isinstance(inner, Mapping):
            continue
        if name not in filled and "default" in inner:
            filled[name] = inner["default"]
        elif name in filled:
            filled[name] = fill_defaults(inner, filled[name])
    return filled
