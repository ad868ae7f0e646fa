"""Making the smallest instance that a JSON Schema accepts, where one can be made: for starter suites and examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from pawl.procedures.schema import compile_schema, resolve_pointer

MAX_TRIES = 200
MAX_DEPTH = 24
_FORMATS = {
    "date": "2026-01-01",
    "date-time": "2026-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "duration": "P1D",
    "email": "someone@example.invalid",
    "hostname": "example.invalid",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.invalid/",
    "url": "https://example.invalid/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_TYPES = ("object", "string", "integer", "number", "boolean", "array", "null")


class NoExampleError(ValueError):
    """No instance was found; the text says where a person must help."""


def example(schema: Mapping[str, Any]) -> Any:
    """Return an instance that the validator accepts: only what is required, first choices first.

    Raises ``NoExampleError`` where none was found within a bounded number of tries.
    """
    validator = compile_schema(schema)
    candidates = islice(_candidates(schema, schema, 0), MAX_TRIES)
    for candidate in candidates:
        if validator.is_valid(candidate):
            return candidate
    raise NoExampleError("no value was found that the schema accepts")


def _candidates(schema: Any, root: Mapping[str, Any], depth: int) -> Iterator[Any]:
    if schema is True or schema == {}:
        yield "example"
        return
    if not isinstance(schema, Mapping) or depth > MAX_DEPTH:
        return
    if isinstance(schema.get("$ref"), str):
        node = resolve_pointer(root, schema["$ref"])
        if node is not None:
            yield from _candidates(node.schema, root, depth + 1)
        return
    if "const" in schema:
        yield schema["const"]
        return
    for key in ("examples", "enum"):
        if isinstance(schema.get(key), list):
            yield from schema[key]
    if "default" in schema:
        yield schema["default"]
    if "enum" not in schema:
        yield from _composed(schema, root, depth)
        yield from _typed(schema, root, depth)


def _composed(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Iterator[Any]:
    rest = {key: value for key, value in schema.items() if key not in {"anyOf", "oneOf", "allOf"}}
    for key in ("anyOf", "oneOf"):
        for branch in schema.get(key) or ():
            if isinstance(branch, Mapping):
                yield from _candidates(_merged(rest, branch), root, depth + 1)
    if schema.get("allOf"):
        together = rest
        for part in schema["allOf"]:
            if isinstance(part, Mapping):
                together = _merged(together, _resolved(part, root))
        yield from _candidates(together, root, depth + 1)


def _resolved(part: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = part.get("$ref")
    node = resolve_pointer(root, reference) if isinstance(reference, str) else None
    return node.schema if node is not None and isinstance(node.schema, Mapping) else part


def _merged(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**left, **right}
    for key in ("properties", "$defs", "definitions"):
        if isinstance(left.get(key), Mapping) and isinstance(right.get(key), Mapping):
            merged[key] = {**left[key], **right[key]}
    if isinstance(left.get("required"), list) and isinstance(right.get("required"), list):
        merged["required"] = [*dict.fromkeys((*left["required"], *right["required"]))]
    return merged


def _typed(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Iterator[Any]:
    named = schema.get("type")
    types = [named] if isinstance(named, str) else named if isinstance(named, list) else _guessed(schema)
    for name in types:
        match name:
            case "object":
                yield from _objects(schema, root, depth)
            case "array":
                yield from _arrays(schema, root, depth)
            case "string":
                yield from _strings(schema)
            case "integer" | "number":
                yield from _numbers(schema, whole=name == "integer")
            case "boolean":
                yield from (True, False)
            case "null":
                yield None
            case _:
                pass


def _guessed(schema: Mapping[str, Any]) -> list[str]:
    hints = {
        "object": ("properties", "required", "additionalProperties", "patternProperties"),
        "array": ("items", "prefixItems", "minItems"),
        "string": ("minLength", "maxLength", "pattern", "format"),
        "number": ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"),
    }
    found = [kind for kind, keys in hints.items() if any(key in schema for key in keys)]
    return found or ["string", *(kind for kind in _TYPES if kind != "string")]


def _objects(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Iterator[Any]:
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    required = [name for name in schema.get("required") or () if isinstance(name, str)]
    for turn in range(4):
        made: dict[str, Any] = {}
        for name in required:
            choices = list(islice(_candidates(known.get(name, True), root, depth + 1), turn + 1))
            if not choices:
                break
            made[name] = choices[-1]
        else:
            missing = max(0, _count(schema, "minProperties") - len(made))
            for name in islice((name for name in known if name not in made), missing):
                made.update((name, value) for value in islice(_candidates(known[name], root, depth + 1), 1))
            yield made


def _arrays(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Iterator[Any]:
    least = _count(schema, "minItems")
    fixed = schema.get("prefixItems") if isinstance(schema.get("prefixItems"), list) else []
    items = schema.get("items", True)
    made = []
    for index in range(min(least, 50)):
        inner = fixed[index] if index < len(fixed or ()) and fixed else items
        choices = list(islice(_candidates(inner, root, depth + 1), index + 1 if schema.get("uniqueItems") else 1))
        if not choices:
            return
        made.append(choices[-1])
    yield made
    if schema.get("contains") is not None:
        yield from ([*made, value] for value in islice(_candidates(schema["contains"], root, depth + 1), 2))


def _strings(schema: Mapping[str, Any]) -> Iterator[Any]:
    least, most = _count(schema, "minLength"), schema.get("maxLength")
    if schema.get("format") in _FORMATS:
        yield _FORMATS[schema["format"]]
    for base in ("example", "a", "1", "A1", "0000", "a-b", "example.txt", "2026-01-01", "https://example.invalid/"):
        text = base if len(base) >= least else base + base[-1] * (least - len(base))
        yield text[:most] if isinstance(most, int) else text


def _numbers(schema: Mapping[str, Any], *, whole: bool) -> Iterator[Any]:
    step = schema.get("multipleOf")
    starts = [schema[key] for key in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum") if key in schema]
    numbers = [start for start in starts if isinstance(start, int | float) and not isinstance(start, bool)]
    for start in (*numbers, 1):
        for value in (start, start + 1, start - 1, start + 0.5):
            made = int(value // step) * step if isinstance(step, int | float) and step > 0 else value
            for number in (made, made + step if isinstance(step, int | float) else made):
                if not whole or float(number).is_integer():
                    yield int(number) if float(number).is_integer() else number


def _count(schema: Mapping[str, Any], key: str) -> int:
    value = schema.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
