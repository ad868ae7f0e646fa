"""Making a small instance that a JSON Schema accepts, where one can be made: for starter suites and examples.

Candidates are guessed part by part, tested as early as a part can be tested alone, and the whole is judged by the
validator, so what comes out is right or nothing does. The work is bounded, whatever the schema says.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from pawl.procedures.pattern_example import matching_texts
from pawl.procedures.schema import Validator, compile_schema
from pawl.procedures.schema_merge import merged
from pawl.procedures.schema_tree import dialect_of, resolve_pointer

MAX_TRIES = 100
MAX_WORK = 20_000
"""Candidates that are looked at, inner ones included."""
_COMPILING = 10
MAX_DEPTH = 24
MAX_ITEMS = 50
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
_TYPES = ("string", "integer", "boolean", "object", "array", "null", "number")
_COMPOSED = ("anyOf", "oneOf", "allOf", "if", "then", "else", "$ref")


class NoExampleError(ValueError):
    """No instance was found; the text says so in a sentence."""


def example(schema: Mapping[str, Any]) -> Any:
    """Return an instance that the validator accepts: only what is required, first choices first.

    Raises ``NoExampleError`` where none was found within a bounded number of tries.
    """
    validator = compile_schema(schema)
    maker = _Maker(schema)
    try:
        for candidate in islice(maker.candidates(schema, 0), MAX_TRIES):
            if validator.is_valid(candidate):
                return candidate
    except _SpentError:
        pass
    raise NoExampleError("no value was found that the schema accepts")


class _SpentError(Exception):
    """The work allowed for one example is done."""


class _Maker:
    """Guesses for one schema; counts its work."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self.work = 0
        self.dialect = "https://json-schema.org/draft/2020-12/schema"
        if dialect_of(root) == "draft-07":
            self.dialect = "http://json-schema.org/draft-07/schema#"
        self.validators: dict[int, tuple[Any, Validator | None]] = {}

    def candidates(self, schema: Any, depth: int) -> Iterator[Any]:
        """Yield guesses, those left out that a part of the schema refuses by itself."""
        validator = self._alone(schema)
        for candidate in self._guesses(schema, depth):
            self._spend(1)
            if validator is None or validator.is_valid(candidate):
                yield candidate

    def _alone(self, schema: Any) -> Validator | None:
        """Return a validator of a part that refers to nothing outside of itself."""
        if not isinstance(schema, Mapping):
            return None
        known = self.validators.get(id(schema))
        if known is None or known[0] is not schema:
            self._spend(_COMPILING)
            known = (schema, None if _refers(schema) else self._compiled(schema))
            self.validators[id(schema)] = known
        return known[1]

    def _compiled(self, schema: Mapping[str, Any]) -> Validator | None:
        try:
            return compile_schema({**schema, "$schema": self.dialect})
        except ValueError:  # two parts that were put together need not make a schema
            return None

    def _spend(self, work: int) -> None:
        self.work += work
        if self.work > MAX_WORK:
            raise _SpentError

    def _guesses(self, schema: Any, depth: int) -> Iterator[Any]:
        self._spend(1)
        if schema is True or schema == {}:
            yield from ("example", 1, True, "another")
            return
        if not isinstance(schema, Mapping) or depth > MAX_DEPTH:
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
            yield from self._composed(schema, depth)
            yield from self._typed(schema, depth)

    def _composed(self, schema: Mapping[str, Any], depth: int) -> Iterator[Any]:
        rest = {key: value for key, value in schema.items() if key not in _COMPOSED}
        if isinstance(schema.get("$ref"), str):
            node = resolve_pointer(self.root, schema["$ref"])
            target = node.schema if node is not None else False
            siblings = {key: value for key, value in schema.items() if key not in {"$ref", "$defs", "definitions"}}
            whole = merged(target, siblings) if siblings and isinstance(target, Mapping) else target
            yield from self.candidates(whole, depth + 1)
            return
        together = rest
        for part in schema.get("allOf") or ():
            together = merged(together, self._resolved(part)) if isinstance(part, Mapping) else together
        if "allOf" in schema:
            yield from self.candidates(together, depth + 1)
        for key in ("anyOf", "oneOf"):
            for branch in schema.get(key) or ():
                if isinstance(branch, Mapping):
                    yield from islice(self.candidates(merged(together, self._resolved(branch)), depth + 1), 4)
        condition = schema.get("if")
        if isinstance(condition, Mapping):
            for branch in (merged(condition, schema.get("then") or {}), schema.get("else") or {}):
                if isinstance(branch, Mapping):
                    yield from islice(self.candidates(merged(together, self._resolved(branch)), depth + 1), 4)

    def _resolved(self, part: Mapping[str, Any]) -> Mapping[str, Any]:
        reference = part.get("$ref")
        node = resolve_pointer(self.root, reference) if isinstance(reference, str) else None
        return node.schema if node is not None and isinstance(node.schema, Mapping) else part

    def _typed(self, schema: Mapping[str, Any], depth: int) -> Iterator[Any]:
        named = schema.get("type")
        types = [named] if isinstance(named, str) else named if isinstance(named, list) else _guessed(schema)
        for name in types:
            match name:
                case "object":
                    yield from self._objects(schema, depth)
                case "array":
                    yield from self._arrays(schema, depth)
                case "string":
                    yield from _strings(schema)
                case "integer" | "number":
                    yield from _numbers(schema)
                case "boolean":
                    yield from (True, False)
                case "null":
                    yield None
                case _:
                    pass

    def _objects(self, schema: Mapping[str, Any], depth: int) -> Iterator[Any]:
        known = _mapping(schema.get("properties"))
        required = [name for name in schema.get("required") or () if isinstance(name, str)]
        for turn in range(3):
            made: dict[str, Any] = {}
            for name in self._with_dependents(schema, required):
                choices = list(islice(self.candidates(self._property(schema, name), depth + 1), turn + 1))
                if not choices:
                    return
                made[name] = choices[-1]
            self._fill_up(schema, made, depth)
            yield made
            if not required:
                break
        if known:
            full: dict[str, Any] = {}
            for name, inner in islice(known.items(), MAX_ITEMS):
                full.update((name, value) for value in islice(self.candidates(inner, depth + 1), 1))
            yield full

    def _with_dependents(self, schema: Mapping[str, Any], required: list[str]) -> list[str]:
        names = list(required)
        for name in names:  # grows while it is read
            wanted = _mapping(schema.get("dependentRequired")).get(name) or ()
            names += (other for other in wanted if isinstance(other, str) and other not in names)
        return names

    def _property(self, schema: Mapping[str, Any], name: str) -> Any:
        known = _mapping(schema.get("properties"))
        if name in known:
            return known[name]
        for pattern, inner in _mapping(schema.get("patternProperties")).items():
            if compile_schema({"pattern": pattern}).is_valid(name):
                return inner
        return schema.get("additionalProperties", True)

    def _fill_up(self, schema: Mapping[str, Any], made: dict[str, Any], depth: int) -> None:
        least = min(_count(schema, "minProperties"), MAX_ITEMS)
        for name in self._names(schema, depth):
            if len(made) >= least:
                return
            if name not in made:
                inner = self._property(schema, name)
                made.update((name, value) for value in islice(self.candidates(inner, depth + 1), 1))

    def _names(self, schema: Mapping[str, Any], depth: int) -> Iterator[str]:
        yield from _mapping(schema.get("properties"))
        for pattern in _mapping(schema.get("patternProperties")):
            yield from _matching(pattern)
        names = schema.get("propertyNames")
        if isinstance(names, Mapping):
            wanted = self.candidates({"type": "string", **names}, depth + 1)
            yield from (name for name in wanted if isinstance(name, str))
        yield from (f"example-{number}" for number in range(1, MAX_ITEMS + 1))

    def _arrays(self, schema: Mapping[str, Any], depth: int) -> Iterator[Any]:
        least, items = min(_count(schema, "minItems"), MAX_ITEMS), schema.get("items", True)
        fixed = items if isinstance(items, list) else schema.get("prefixItems") or []
        rest = schema.get("additionalItems", True) if isinstance(items, list) else items
        made: list[Any] = []
        if "contains" in schema:
            wanted = max(1, _count(schema, "minContains")) if schema.get("minContains") != 0 else 0
            inside = merged(schema["contains"], rest) if isinstance(rest, Mapping) else schema["contains"]
            made += self._several(inside, len(made), min(wanted, MAX_ITEMS), schema, depth)
        while len(made) < least:
            more = self._several(
                fixed[len(made)] if len(made) < len(fixed) else rest, len(made), 1, schema, depth, made
            )
            if not more:
                break
            made += more
        yield made
        if not made and rest is not False:
            yield from ([value] for value in islice(self.candidates(rest, depth + 1), 1))

    def _several(
        self, schema: Any, start: int, count: int, array: Mapping[str, Any], depth: int, before: list[Any] | None = None
    ) -> list[Any]:
        unique = array.get("uniqueItems") is True
        seen = {_spelled(value) for value in before or ()} if unique else set()
        found: list[Any] = []
        for value in islice(self.candidates(schema, depth + 1), start + count + MAX_ITEMS):
            if len(found) >= count:
                break
            if not unique:
                return [value] * count
            if _spelled(value) not in seen:
                seen.add(_spelled(value))
                found.append(value)
        return found


def _refers(schema: Any) -> bool:
    waiting = [schema]
    while waiting:
        here = waiting.pop()
        if isinstance(here, Mapping):
            if "$ref" in here:
                return True
            waiting.extend(here.values())
        elif isinstance(here, list):
            waiting.extend(here)
    return False


def _spelled(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _guessed(schema: Mapping[str, Any]) -> list[str]:
    hints = {
        "object": ("properties", "required", "additionalProperties", "patternProperties", "minProperties"),
        "array": ("items", "prefixItems", "minItems", "contains"),
        "string": ("minLength", "maxLength", "pattern", "format"),
        "number": ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"),
    }
    found = [kind for kind, keys in hints.items() if any(key in schema for key in keys)]
    return [*found, *(kind for kind in _TYPES if kind not in found)]


def _strings(schema: Mapping[str, Any]) -> Iterator[str]:
    if schema.get("format") in _FORMATS:
        yield _FORMATS[schema["format"]]
    if isinstance(schema.get("pattern"), str):
        yield from _matching(schema["pattern"])
    least, most = _count(schema, "minLength"), schema.get("maxLength")
    for base in ("example", "a", "1", "A1", "0000", "a-b", "example.txt", "2026-01-01", "https://example.invalid/"):
        text = base if len(base) >= least else base + base[-1] * (least - len(base))
        yield text[: int(most)] if isinstance(most, int | float) else text
    yield from (f"{number}{'a' * (least - len(str(number)))}" for number in range(2, MAX_ITEMS))


def _matching(pattern: str) -> Iterator[str]:
    try:
        yield from matching_texts(pattern)
    except ValueError:
        return


def _numbers(schema: Mapping[str, Any]) -> Iterator[int | float]:
    def bound(*keys: str) -> list[int | float]:
        values = (schema.get(key) for key in keys)
        return [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]

    low, high, step = bound("minimum", "exclusiveMinimum"), bound("maximum", "exclusiveMaximum"), bound("multipleOf")
    starts = [1, *low, *high, *((max(low) + min(high)) / 2 for _ in (1,) if low and high), 0]
    for start in starts:
        if step and step[0] > 0 and math.isfinite(start / step[0]):
            turns = math.floor(start / step[0])
            yield from (_plain((turns + more) * step[0]) for more in (0, 1, -1))
        yield from (_plain(start + more) for more in (0, 1, -1, 0.5, -0.5))
        yield from (_plain(math.floor(start) + 1), _plain(math.ceil(start) - 1))
    yield from range(2, MAX_ITEMS)


def _plain(value: float) -> int | float:
    whole = math.isfinite(value) and abs(value) < 2**53 and float(value).is_integer()
    return int(value) if whole else float(value)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(schema: Mapping[str, Any], key: str) -> int:
    value = schema.get(key)
    return min(int(value), 10_000) if isinstance(value, int | float) and not isinstance(value, bool) else 0
