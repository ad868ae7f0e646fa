"""Gathering facts: from the keywords of a schema and of everything that it is met with."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeVar

from pawl.changes.facts import (
    ALL_KINDS,
    ArrayShape,
    Bound,
    Choice,
    Condition,
    Facts,
    ObjectShape,
    absorb,
    allow,
    common_step,
    prefix_length,
    settled,
    smaller,
    stricter_high,
    stricter_low,
)
from pawl.changes.skeleton import skeleton
from pawl.changes.source import TEXT, Keyword, Schema, Source, Spot, is_anything, keywords
from pawl.changes.values import keyed
from pawl.errors import Faulty
from pawl.problems import Fault

MAX_CHAIN = 48
Item = TypeVar("Item")
_OBJECT = frozenset({"object"})
_ARRAY = frozenset({"array"})
_CONDITIONS: Mapping[str, frozenset[str]] = {
    "not": ALL_KINDS,
    "propertyNames": _OBJECT,
    "$dynamicRef": ALL_KINDS,
}
_FORMATS = frozenset({"format", "contentEncoding", "contentMediaType", "contentSchema"})
_ELSEWHERE = frozenset(
    {
        *("properties", "patternProperties", "additionalProperties", "unevaluatedProperties"),
        *("prefixItems", "items", "unevaluatedItems", "minContains", "maxContains"),
        *("then", "else", "allOf", "$ref"),
    }
)
"""Keywords that are read together with another one."""


def gather(schema: Schema) -> Facts:
    """Return what a schema says; its sources all hold."""
    facts = Facts()
    known: dict[Source, Facts] = {}
    for source in schema:
        absorb(facts, _of_source(source, (), known))
    return settled(facts)


def _of_source(source: Source, above: tuple[Source, ...], known: dict[Source, Facts]) -> Facts:
    """Return the facts of one source, read once: definitions that are used twice could double at every level."""
    if source not in known:
        known[source] = _read(source, above, known)
    return known[source]


def _read(source: Source, above: tuple[Source, ...], known: dict[Source, Facts]) -> Facts:
    facts = Facts()
    if source.raw is True:
        return facts
    if source.raw is False:
        facts.kinds = frozenset()
        facts.binding.add("false")
        return facts
    if source in above or len(above) > MAX_CHAIN or source.document.dialect is None:
        name = "$schema" if source.document.dialect is None else "$ref"
        _put(facts.conditions, Condition(name, ALL_KINDS, Spot(source.use), opaque=True))
        facts.binding.add(name)
        return facts
    found = {keyword.name: keyword for keyword in keywords(source)}
    for keyword in found.values():
        _keyword(facts, source, keyword)
    _objects(facts, source, found)
    _arrays(facts, source, found)
    for inner in _met(source, found):
        absorb(facts, _of_source(inner, (*above, source), known))
    return _unevaluated(facts, source, found)


def _met(source: Source, found: Mapping[str, Keyword]) -> list[Source]:
    inner = []
    if "$ref" in found:
        target = source.target()
        if target is None:
            message = f"{str(source.raw['$ref'])[:120]!r} points to nothing in the schema"
            at = (*source.document.base, *source.at, "$ref")
            raise Faulty((Fault(code="schema-invalid", message=message, at=at),))
        inner.append(target)
    if "allOf" in found:
        inner += [source.child("allOf", index) for index in range(len(found["allOf"].value))]
    for name in ("anyOf", "oneOf"):
        if name in found and len(found[name].value) == 1:
            inner.append(source.child(name, 0))
    return inner


def _keyword(facts: Facts, source: Source, keyword: Keyword) -> None:
    name, value = keyword.name, keyword.value
    if name in TEXT or name == "default" or name.startswith("x-"):
        spot = source.spot(*keyword.suffix)
        facts.notes.setdefault(name, {})[spot.use] = spot
        return
    if name in _ELSEWHERE:
        return
    before = len(facts.conditions) + len(facts.choices)
    reader = _READERS.get(name)
    if reader is not None:
        binds = reader(facts, value)
    elif name in _FORMATS:
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        facts.formats[name, text] = source.spot(*keyword.suffix)
        binds = True
    else:
        _conditions(facts, source, keyword)
        binds = len(facts.conditions) + len(facts.choices) > before
    if binds is None:
        return
    facts.where[name] = source.spot(*keyword.suffix)
    if name == "pattern":
        facts.patterns[value] = facts.where[name]
    if name == "required":
        facts.required = dict.fromkeys(value, facts.where[name])
    if binds:
        facts.binding.add(name)


def _type(facts: Facts, value: Any) -> bool:
    names = {value} if isinstance(value, str) else set(value)
    facts.kinds = frozenset("number" if name == "integer" else name for name in names)
    if "integer" in names and "number" not in names:
        facts.whole = True
        facts.step = common_step(facts.step, Fraction(1))
    return True


def _enum(facts: Facts, value: Any) -> bool:
    allow(facts, keyed(value))
    return True


def _number(value: Any) -> Fraction:
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def _minimum(facts: Facts, value: Any) -> bool:
    facts.low = stricter_low(facts.low, Bound(_number(value), open=False))
    return True


def _exclusive_minimum(facts: Facts, value: Any) -> bool:
    facts.low = stricter_low(facts.low, Bound(_number(value), open=True))
    return True


def _maximum(facts: Facts, value: Any) -> bool:
    facts.high = stricter_high(facts.high, Bound(_number(value), open=False))
    return True


def _exclusive_maximum(facts: Facts, value: Any) -> bool:
    facts.high = stricter_high(facts.high, Bound(_number(value), open=True))
    return True


def _multiple_of(facts: Facts, value: Any) -> bool:
    facts.step = common_step(facts.step, _number(value))
    return True


def _least(name: str) -> Callable[[Facts, Any], bool]:
    def read(facts: Facts, value: Any) -> bool:
        setattr(facts, name, max(getattr(facts, name), int(value)))
        return bool(value)

    return read


def _most(name: str) -> Callable[[Facts, Any], bool]:
    def read(facts: Facts, value: Any) -> bool:
        setattr(facts, name, smaller(getattr(facts, name), int(value)))
        return True

    return read


def _unique(facts: Facts, value: Any) -> bool:
    facts.unique = facts.unique or value
    return bool(value)


_READERS: Mapping[str, Callable[[Facts, Any], bool | None]] = {
    "type": _type,
    "enum": _enum,
    "const": lambda facts, value: _enum(facts, (value,)),
    "minimum": _minimum,
    "exclusiveMinimum": _exclusive_minimum,
    "maximum": _maximum,
    "exclusiveMaximum": _exclusive_maximum,
    "multipleOf": _multiple_of,
    "minLength": _least("min_length"),
    "maxLength": _most("max_length"),
    "minItems": _least("min_items"),
    "maxItems": _most("max_items"),
    "uniqueItems": _unique,
    "minProperties": _least("min_properties"),
    "maxProperties": _most("max_properties"),
    "pattern": lambda _facts, _value: True,
    "required": lambda _facts, value: bool(value),
}


def _conditions(facts: Facts, source: Source, keyword: Keyword) -> None:
    name, value = keyword.name, keyword.value
    if name in ("anyOf", "oneOf"):
        if len(value) > 1:
            branches = tuple((source.child(*keyword.suffix, index),) for index in range(len(value)))
            _put(facts.choices, Choice(name, branches, source.spot(*keyword.suffix), source.only({name: value}, name)))
        return
    if name in ("dependentRequired", "dependentSchemas", "dependencies"):
        facts.conditions |= dict.fromkeys(_dependent(source, keyword))
        return
    found: Condition | None = None
    if name == "if":
        parts = tuple((part, (source.child(part),)) for part in ("if", "then", "else") if part in source.raw)
        if len(parts) > 1:
            alone = source.only({part: source.raw[part] for part, _ in parts}, name)
            found = Condition(name, ALL_KINDS, source.spot(name), parts, alone=alone)
    elif name == "contains":
        new = source.document.dialect != "draft-07"
        least, most = (source.raw.get("minContains", 1), source.raw.get("maxContains")) if new else (1, None)
        if least or most is not None:
            plain = json.dumps([float(least), None if most is None else float(most)])
            words = {word: source.raw[word] for word in (name, "minContains", "maxContains") if word in source.raw}
            parts = ((name, (source.child(name),)),)
            found = Condition(name, _ARRAY, source.spot(name), parts, plain, alone=source.only(words, name))
    elif name in _CONDITIONS:
        schema = (source.child(name),) if name != "$dynamicRef" else ()
        if name != "propertyNames" or not is_anything(schema):
            opaque = name == "$dynamicRef"
            alone = source.only({name: value}, name)
            found = Condition(name, _CONDITIONS[name], source.spot(name), ((name, schema),), opaque=opaque, alone=alone)
    if found is not None:
        _put(facts.conditions, found)


def _dependent(source: Source, keyword: Keyword) -> list[Condition]:
    found = []
    for name, value in keyword.value.items():
        spot = source.spot(*keyword.suffix, name)
        alone = source.only({keyword.name: {name: value}}, name)
        if isinstance(value, list):
            if value:
                plain = json.dumps([name, sorted(set(value))])
                found.append(Condition("dependentRequired", _OBJECT, spot, plain=plain, alone=alone))
        elif value is not True and value != {}:
            schema = (source.child(*keyword.suffix, name),)
            parts = ((name, schema),)
            found.append(Condition("dependentSchemas", _OBJECT, spot, parts, json.dumps(name), alone=alone))
    return found


def _objects(facts: Facts, source: Source, found: Mapping[str, Keyword]) -> None:
    held = {name: found[name].value for name in ("properties", "patternProperties") if name in found}
    rest = (source.child("additionalProperties"),) if "additionalProperties" in found else None
    if not any(held.values()) and rest is None:
        return
    properties, patterns = (
        {name: (source.child(key, name),) for name in held.get(key, ())} for key in ("properties", "patternProperties")
    )
    _put(facts.objects, ObjectShape(source, properties, patterns, rest))
    for name in ("properties", "patternProperties", "additionalProperties"):
        if name in found:
            facts.where[name] = source.spot(name)
    if properties or patterns or (rest is not None and not is_anything(rest)):
        facts.binding.add("properties")


def _arrays(facts: Facts, source: Source, found: Mapping[str, Keyword]) -> None:
    if "prefixItems" not in found and "items" not in found:
        return
    prefix: tuple[Schema, ...] = ()
    suffix = found["prefixItems"].suffix if "prefixItems" in found else ("prefixItems",)
    if "prefixItems" in found:
        count = len(found["prefixItems"].value)
        prefix = tuple((source.child(*suffix, index),) for index in range(count))
        facts.where["prefixItems"] = source.spot(*suffix)
    rest: Schema | None = None
    keyword = "items"
    if "items" in found:
        keyword = str(found["items"].suffix[0])
        rest = (source.child(keyword),)
        facts.where["items"] = source.spot(keyword)
    _put(facts.arrays, ArrayShape(source, prefix, rest, str(suffix[0]), keyword))
    if any(not is_anything(schema) for schema in prefix) or (rest is not None and not is_anything(rest)):
        facts.binding.add("items")


def _unevaluated(facts: Facts, source: Source, found: Mapping[str, Keyword]) -> Facts:
    """Read unevaluated* as the plain keyword where only ``allOf`` and ``$ref`` evaluate, else as a condition."""
    for name, kinds in (("unevaluatedProperties", _OBJECT), ("unevaluatedItems", _ARRAY)):
        if name not in found or is_anything((source.child(name),)):
            continue
        rest: Schema = (source.child(name),)
        if _hidden(facts, kinds):
            parts: list[tuple[str, Schema]] = [(name, rest)]
            plain = json.dumps(skeleton(source.without(name), parts), sort_keys=True)
            _put(facts.conditions, Condition(name, kinds, source.spot(name), tuple(parts), plain))
            facts.binding.add(name)
        elif name == "unevaluatedProperties" and all(shape.rest is None for shape in facts.objects):
            names: dict[str, Schema] = {key: () for shape in facts.objects for key in shape.properties}
            patterns: dict[str, Schema] = {key: () for shape in facts.objects for key in shape.patterns}
            _put(facts.objects, ObjectShape(source, names, patterns, rest, keyword=name))
            facts.binding.add("properties")
        elif name == "unevaluatedItems" and all(shape.rest is None for shape in facts.arrays):
            prefix: tuple[Schema, ...] = ((),) * prefix_length(facts)
            _put(facts.arrays, ArrayShape(source, prefix, rest, keyword=name))
            facts.binding.add("items")
        facts.where[name] = source.spot(name)
    return facts


def _hidden(facts: Facts, kinds: frozenset[str]) -> bool:
    """Whether what is evaluated can depend on the instance: on a branch, a condition, an item that was looked for."""
    looks = {"if", "contains"} if kinds == _ARRAY else {"if"}
    if facts.choices or not looks.isdisjoint(facts.where):
        return True
    seen_through = ("not", "propertyNames", "dependentRequired", "contains")
    return any(kinds & found.kinds and found.keyword not in seen_through for found in facts.conditions)


def _put(found: dict[Item, None], item: Item) -> None:
    found[item] = None
