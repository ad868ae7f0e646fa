"""Facts: what a schema says, gathered from all its sources and brought to one spelling.

Absent is its default, ``const`` is an enum of one, an integer is a number that is a multiple of 1, and of two bounds
the stricter counts. ``allOf`` and ``$ref`` are met with what stands beside them. What can only be compared as a whole
(``not``, ``if``, ``contains``, ...) is kept as a *condition*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor, lcm
from typing import Any, NamedTuple, TypeVar

from pawl.changes.source import ANYTHING, Schema, Source, Spot, meet
from pawl.problems import Place

Key = TypeVar("Key")
Value = TypeVar("Value")
KINDS = ("null", "boolean", "number", "string", "array", "object")
ALL_KINDS = frozenset(KINDS)


class Bound(NamedTuple):
    """One end of a range of numbers; ``open``: the end itself is outside."""

    value: Fraction
    open: bool


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """Something that can be added or dropped as a whole, and compared for equality only.

    ``opaque``: not even that; it equals nothing.
    """

    keyword: str
    kinds: frozenset[str]
    spot: Spot
    parts: tuple[tuple[str, Schema], ...] = ()
    plain: str = ""
    opaque: bool = False
    alone: Source | None = None
    """The condition as a schema of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """``anyOf`` or ``oneOf`` of at least two branches."""

    keyword: str
    branches: tuple[Schema, ...]
    spot: Spot
    alone: Source
    """The choice as a schema of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class ObjectShape:
    """What one source says of names. ``rest`` is for names that it neither declares nor matches; None says nothing."""

    source: Source
    properties: Mapping[str, Schema]
    patterns: Mapping[str, Schema]
    rest: Schema | None
    keyword: str = "additionalProperties"


@dataclass(frozen=True, slots=True, eq=False)
class ArrayShape:
    """What one source says of positions; ``rest`` is for those behind the prefix; None says nothing."""

    source: Source
    prefix: tuple[Schema, ...]
    rest: Schema | None
    prefix_keyword: str = "prefixItems"
    keyword: str = "items"


@dataclass(slots=True, eq=False)
class Facts:
    """All that one schema says; only ``gathering.py`` changes it. Dictionaries to None are sets that keep order."""

    kinds: frozenset[str] = ALL_KINDS
    whole: bool = False
    step: Fraction | None = None
    low: Bound | None = None
    high: Bound | None = None
    min_length: int = 0
    max_length: int | None = None
    patterns: dict[str, Spot] = field(default_factory=dict)
    formats: dict[tuple[str, str], Spot] = field(default_factory=dict)
    min_items: int = 0
    max_items: int | None = None
    unique: bool = False
    arrays: dict[ArrayShape, None] = field(default_factory=dict)
    min_properties: int = 0
    max_properties: int | None = None
    required: dict[str, Spot] = field(default_factory=dict)
    objects: dict[ObjectShape, None] = field(default_factory=dict)
    enum: dict[str, Any] | None = None
    """The values by their texts."""
    conditions: dict[Condition, None] = field(default_factory=dict)
    choices: dict[Choice, None] = field(default_factory=dict)
    notes: dict[str, dict[Place, Spot]] = field(default_factory=dict)
    where: dict[str, Spot] = field(default_factory=dict)
    """Keyword -> the first place that has it."""
    binding: set[str] = field(default_factory=set)
    """The keywords that leave anything out."""


def stricter_low(one: Bound | None, other: Bound | None) -> Bound | None:
    return max((bound for bound in (one, other) if bound is not None), default=None)


def stricter_high(one: Bound | None, other: Bound | None) -> Bound | None:
    found = [bound for bound in (one, other) if bound is not None]
    return min(found, key=lambda bound: (bound.value, not bound.open), default=None)


def common_step(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    """Return the step of the numbers that are multiples of both."""
    if one is None or other is None:
        return one if other is None else other
    scale = lcm(one.denominator, other.denominator)
    return Fraction(lcm(int(one * scale), int(other * scale)), scale)


def smaller(one: int | None, other: int | None) -> int | None:
    return min((limit for limit in (one, other) if limit is not None), default=None)


def absorb(facts: Facts, other: Facts) -> None:
    """Make ``facts`` say what ``other`` says as well; what it says of a keyword itself stays first."""
    facts.kinds &= other.kinds
    facts.whole = facts.whole or other.whole
    facts.step = common_step(facts.step, other.step)
    facts.low = stricter_low(facts.low, other.low)
    facts.high = stricter_high(facts.high, other.high)
    facts.unique = facts.unique or other.unique
    for name in ("min_length", "min_items", "min_properties"):
        setattr(facts, name, max(getattr(facts, name), getattr(other, name)))
    for name in ("max_length", "max_items", "max_properties"):
        setattr(facts, name, smaller(getattr(facts, name), getattr(other, name)))
    if other.enum is not None:
        allow(facts, other.enum)
    facts.patterns = merged(facts.patterns, other.patterns)
    facts.formats = merged(facts.formats, other.formats)
    facts.required = merged(facts.required, other.required)
    facts.where = merged(facts.where, other.where)
    for name, spots in other.notes.items():
        facts.notes.setdefault(name, {}).update(spots)
    facts.arrays |= other.arrays
    facts.objects |= other.objects
    facts.conditions |= other.conditions
    facts.choices |= other.choices
    facts.binding |= other.binding


def allow(facts: Facts, values: Mapping[str, Any]) -> None:
    """Cut the enum to ``values``."""
    held = facts.enum
    facts.enum = dict(values) if held is None else {key: value for key, value in held.items() if key in values}


def merged(one: dict[Key, Value], other: Mapping[Key, Value]) -> dict[Key, Value]:
    for key, value in other.items():
        one.setdefault(key, value)
    return one


def settled(facts: Facts) -> Facts:
    """Return the same facts with the ends of ranges moved to the nearest number that the step allows."""
    if facts.step is None:
        return facts
    low, high, step = facts.low, facts.high, facts.step
    if low is not None:
        turns = ceil(low.value / step)
        low = Bound(step * (turns + (1 if low.open and step * turns == low.value else 0)), open=False)
    if high is not None:
        turns = floor(high.value / step)
        high = Bound(step * (turns - (1 if high.open and step * turns == high.value else 0)), open=False)
    return replace(facts, low=low, high=high)


def contradictory(facts: Facts, kind: str) -> bool:
    """Whether no value of a kind can hold, as far as bounds tell."""
    if kind == "number" and facts.low is not None and facts.high is not None:
        low, high = facts.low, facts.high
        return low.value > high.value or (low.value == high.value and (low.open or high.open))
    if kind == "string":
        return facts.max_length is not None and facts.min_length > facts.max_length
    if kind == "array":
        most = smaller(facts.max_items, first_forbidden(facts))
        return most is not None and facts.min_items > most
    if kind == "object":
        return (
            facts.max_properties is not None and max(facts.min_properties, len(facts.required)) > facts.max_properties
        )
    return False


def first_forbidden(facts: Facts) -> int | None:
    """Return the first position that no item can take, which bounds the length; None if there is none."""
    if not facts.arrays:
        return None
    for index in range(prefix_length(facts)):
        if _forbidden(item_at(facts, index)):
            return index
    return prefix_length(facts) if _forbidden(item_rest(facts)) else None


def _forbidden(schema: Schema) -> bool:
    return any(source.raw is False for source in schema)


def prefix_length(facts: Facts) -> int:
    return max((len(shape.prefix) for shape in facts.arrays), default=0)


def item_at(facts: Facts, index: int) -> Schema:
    """Return the schema of the item at a position."""
    return meet(
        *(shape.prefix[index] if index < len(shape.prefix) else shape.rest or ANYTHING for shape in facts.arrays)
    )


def item_rest(facts: Facts) -> Schema:
    """Return the schema of items behind every prefix."""
    return meet(*(shape.rest or ANYTHING for shape in facts.arrays))


def length_limit(facts: Facts) -> int | None:
    """Return the most items that an array can have."""
    return smaller(facts.max_items, first_forbidden(facts))


def declared(facts: Facts) -> tuple[str, ...]:
    """Return the names that an object declares; one that is forbidden by ``false`` is not declared."""
    if not facts.objects:
        return ()
    names = dict.fromkeys(name for shape in facts.objects for name in shape.properties)
    forbidden = {name for shape in facts.objects for name, schema in shape.properties.items() if _forbidden(schema)}
    return tuple(name for name in names if name not in forbidden)


def named(facts: Facts) -> tuple[str, ...]:
    """Return every name that ``properties`` speaks of, the forbidden ones too."""
    return tuple(dict.fromkeys(name for shape in facts.objects for name in shape.properties))


def pattern_texts(facts: Facts) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for shape in facts.objects for text in shape.patterns))


def of_pattern(facts: Facts, pattern: str) -> Schema:
    """Return the schema of names that match this pattern, are not declared and match no other."""
    return meet(*(shape.patterns.get(pattern, shape.rest or ANYTHING) for shape in facts.objects))


def of_rest(facts: Facts) -> Schema:
    """Return the schema of names that are neither declared nor matched by a pattern."""
    return meet(*(shape.rest or ANYTHING for shape in facts.objects))


_WORDS: Mapping[str, frozenset[str]] = {
    "number": frozenset({"type", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"}),
    "string": frozenset(
        {"minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType", "contentSchema"}
    ),
    "array": frozenset({"minItems", "maxItems", "uniqueItems", "prefixItems", "items", "unevaluatedItems"}),
    "object": frozenset(
        {
            *("properties", "patternProperties", "additionalProperties", "unevaluatedProperties"),
            *("required", "minProperties", "maxProperties"),
        }
    ),
}


def speaks_of(facts: Facts, kind: str) -> bool:
    """Whether any keyword bears on values of a type, beside listing and conditions."""
    if kind == "number" and facts.step is not None:
        return True
    return kind in _WORDS and not _WORDS[kind].isdisjoint(facts.where)
