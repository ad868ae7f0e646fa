"""Witnesses: instances that are valid under one side and not under the other, checked by the validator of calls.

The smallest instance of the wider side is built, with a value just over the edge at the changed place. What fails its
own check, at the place or as a whole, is dropped; that never changes a level.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice
from typing import Any, Literal, TypeAlias

from pawl.changes.effort import Effort
from pawl.changes.facts import Facts, declared, item_at, of_pattern, of_rest
from pawl.changes.forms import Alternative, Form, Forms, of_name
from pawl.changes.judge import matches
from pawl.changes.source import Schema
from pawl.changes.values import ABSENT, key_of_value

MAX_TRIES = 160
MAX_EFFORT = 100_000
"""Apart from what deciding may cost: no search for a witness ever makes a comparison undecided."""
MAX_SIZE = 4_000
MAX_LENGTH = 1_000
MAX_DEPTH = 12
_TEXTS = (
    "x",
    "",
    "A",
    "0",
    "-",
    " ",
    "a1",
    "A-1",
    "x.y",
    "x@example.invalid",
    "https://example.invalid/",
    "2026-01-01",
)
_NAMES = ("extra", "other", "x", "X1", "0", "x-extra")

StepKind: TypeAlias = Literal["property", "pattern", "rest", "item"]


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One step from a schema's root to a changed place, with the alternatives that it leads through."""

    kind: StepKind
    key: str | int
    old: Alternative
    new: Alternative


Trail: TypeAlias = tuple[Step, ...]


class Sampler:
    """Makes small instances of schemas."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self.effort = Effort(MAX_EFFORT)
        self._smallest: dict[Schema, Any] = {}
        self._depth = 0
        self._choosing = False

    def smallest(self, schema: Schema) -> Any:
        """Return a small instance, or ``ABSENT`` where none was found."""
        if schema in self._smallest:
            return self._smallest[schema]
        if self._depth >= MAX_DEPTH or not self.effort.spend(1):
            return ABSENT
        self._smallest[schema] = ABSENT
        self._depth += 1
        found = ABSENT
        for alternative in self.forms.form(schema).alternatives:
            found = self.of(alternative)
            if found is not ABSENT:
                break
        self._depth -= 1
        self._smallest[schema] = found
        return found

    def of(self, alternative: Alternative) -> Any:
        """Return a small instance of one alternative."""
        if alternative.members is not None:
            return next(iter(alternative.members.values()))
        facts = alternative.facts
        match alternative.kind:
            case "number":
                return next((value for value in _numbers([facts]) if _fits_number(facts, value)), ABSENT)
            case "string":
                return next((value for value in _texts([facts]) if _fits_text(facts, value)), ABSENT)
            case "array":
                return self.array(facts, facts.min_items)
            case _:
                return self.object(facts, {})

    def array(self, facts: Facts, length: int, *, repeat: bool = False) -> Any:
        """Return an array of a length; ``repeat``: the last two items are equal."""
        if length > MAX_LENGTH or not self.effort.spend(1 + length // 4):
            return ABSENT
        made: list[Any] = []
        for index in range(length):
            schema = item_at(facts, index)
            choices = self._choices(schema, index + 1) if facts.unique else [self.smallest(schema)]
            if not choices or choices[-1] is ABSENT:
                return ABSENT
            made.append(choices[-1])
        return [*made[:-1], made[-2]] if repeat and length > 1 else made

    def _choices(self, schema: Schema, count: int) -> list[Any]:
        """Return different instances; inside another choice only the smallest, or recursion would not end."""
        if self._choosing:
            return [self.smallest(schema)]
        self._choosing = True
        try:
            return list(islice(self.pool(schema, schema), count))
        finally:
            self._choosing = False

    def object(self, facts: Facts, members: dict[str, Any], *, names: Iterable[str] = (), without: str = "") -> Any:
        """Return an object with ``members``, what is required, and ``names``; ``without`` one of them."""
        made: dict[str, Any] = {}
        wanted = (*facts.required, *names)
        if not self.effort.spend(1 + len(wanted) // 4):
            return ABSENT
        for name in wanted:
            if name == without or name in made or name in members:
                continue
            made[name] = self.smallest(of_name(facts, name))
            if made[name] is ABSENT:
                return ABSENT
        made |= members
        spare = (*declared(facts), *(f"extra{number}" for number in range(facts.min_properties)))
        for name in spare:
            if len(made) >= facts.min_properties or len(made) >= MAX_LENGTH:
                break
            value = self.smallest(of_name(facts, name)) if name not in made else ABSENT
            if value is not ABSENT:
                made[name] = value
        return made

    def pool(self, wide: Schema, narrow: Schema) -> Iterator[Any]:
        """Yield different values near the edges of two schemas, small ones first."""
        forms = [self.forms.form(schema) for schema in (wide, narrow)]
        seen: set[str] = set()
        for value in islice(self._values(forms), MAX_TRIES):
            if value is ABSENT:
                continue
            key = key_of_value(value)
            if key not in seen:
                seen.add(key)
                yield value

    def _values(self, forms: list[Form]) -> Iterator[Any]:
        for form in forms:
            for alternative in form.alternatives:
                yield self.of(alternative)
                yield from islice((alternative.members or {}).values(), 40)
        facts = {
            kind: [alternative.facts for form in forms for alternative in form.of(kind) if alternative.members is None]
            for kind in ("number", "string", "array", "object")
        }
        for found in facts["object"]:
            yield from self._objects(found)
        for found in facts["array"]:
            yield from self._arrays(found, facts["array"])
        if facts["number"]:
            yield from _numbers(facts["number"])
        if facts["string"]:
            yield from _texts(facts["string"])

    def _objects(self, facts: Facts) -> Iterator[Any]:
        names = declared(facts)
        for name in islice(facts.required, 12):
            yield self.object(facts, {}, without=name)
        yield {}
        for extra in islice((name for name in _NAMES if name not in names), 1):
            value = self.smallest(of_rest(facts))
            if value is not ABSENT:
                yield self.object(facts, {extra: value})
            yield self.object(facts, {extra: "x"})
        yield self.object(facts, {}, names=names)
        for name in islice((name for name in names if name not in facts.required), 12):
            yield self.object(facts, {}, names=[name])
            yield self.object(facts, {}, names=[other for other in names if other != name])
        counts = {facts.min_properties - 1, facts.min_properties, (facts.max_properties or 0) + 1}
        for count in sorted(counts):
            if 0 < count <= MAX_LENGTH:
                yield {f"extra{number}": "x" for number in range(count)}

    def _arrays(self, facts: Facts, every: list[Facts]) -> Iterator[Any]:
        edges = {0, 1, 2}
        for found in every:
            edges |= {found.min_items - 1, found.min_items, found.min_items + 1}
            edges |= (
                {found.max_items - 1, found.max_items, found.max_items + 1} if found.max_items is not None else set()
            )
        for length in sorted(edge for edge in edges if 0 <= edge <= MAX_LENGTH):
            yield self.array(facts, length)
            yield self.array(facts, length, repeat=True)
        for condition in facts.conditions:
            for _, schema in condition.parts:
                value = self.smallest(schema)
                yield [value] if value is not ABSENT else ABSENT


class Witnesses:
    """Finds witnesses between two root schemas."""

    def __init__(self, sampler: Sampler, old: Schema, new: Schema) -> None:
        self.sampler = sampler
        self.accepts = sampler.forms.judge.accepts
        self.old, self.new = old, new

    def find(
        self,
        trail: Trail,
        old: Schema,
        new: Schema,
        *,
        narrows: bool,
        shows: Callable[[Any], bool],
        hints: Iterable[Any],
    ) -> Any:
        """Return an instance on one side only that differs at the place where ``old`` and ``new`` stand, or ``ABSENT``.

        ``narrows``: it is valid under the old side, else under the new one. ``shows``: whether a value at the place
        has to do with the change in question. ``hints`` are tried first.
        """
        with self.sampler.forms.judge.charged_to(self.sampler.effort):
            return self._find(trail, old, new, narrows=narrows, shows=shows, hints=hints)

    def _find(
        self,
        trail: Trail,
        old: Schema,
        new: Schema,
        *,
        narrows: bool,
        shows: Callable[[Any], bool],
        hints: Iterable[Any],
    ) -> Any:
        wide, narrow = (old, new) if narrows else (new, old)
        roots = (self.old, self.new) if narrows else (self.new, self.old)
        tries = 0
        for value in chain(hints, self.sampler.pool(wide, narrow)):
            if not self.sampler.effort.spend(1):
                break
            if value is ABSENT or not shows(value):
                continue
            if self.accepts(wide, value) is not True or self.accepts(narrow, value) is not False:
                continue
            tries += 1
            for whole in self._embedded(trail, value, narrows=narrows):
                if self.accepts(roots[0], whole) is True and self.accepts(roots[1], whole) is False and _small(whole):
                    return whole
            if tries >= 5:
                break
        return ABSENT

    def usage(self, trail: Trail, alternative: Alternative, name: str) -> Any:
        """Return an instance of the old side that uses a name, or ``ABSENT``."""
        value = self.sampler.smallest(of_name(alternative.facts, name))
        if value is ABSENT:
            return ABSENT
        made = self.sampler.object(alternative.facts, {name: value})
        with self.sampler.forms.judge.charged_to(self.sampler.effort):
            for whole in self._embedded(trail, made, narrows=True) if made is not ABSENT else ():
                if self.accepts(self.old, whole) is True and _small(whole):
                    return whole
        return ABSENT

    def _embedded(self, trail: Trail, value: Any, *, narrows: bool) -> Iterator[Any]:
        """Yield instances of a root with ``value`` at the end of a trail: the smallest, and one with everything."""
        for full in (False, True):
            whole = value
            for step in reversed(trail):
                whole = self._around(step, whole, narrows=narrows, full=full)
                if whole is ABSENT:
                    break
            else:
                yield whole

    def _around(self, step: Step, value: Any, *, narrows: bool, full: bool) -> Any:
        facts = (step.old if narrows else step.new).facts
        if not self.sampler.effort.spend(4):
            return ABSENT
        if step.kind == "item":
            return self._array_around(facts, int(step.key), value)
        names = declared(facts) if full else ()
        name = _name_for(step, facts)
        return ABSENT if name is None else self.sampler.object(facts, {name: value}, names=names)

    def _array_around(self, facts: Facts, index: int, value: Any) -> Any:
        length = max(facts.min_items, index + 1)
        if length > MAX_LENGTH or not self.sampler.effort.spend(1 + length // 4):
            return ABSENT
        made = [value if at == index else self.sampler.smallest(item_at(facts, at)) for at in range(length)]
        return ABSENT if any(item is ABSENT for item in made) else made


def _small(whole: Any) -> bool:
    return len(json.dumps(whole)) <= MAX_SIZE


def _name_for(step: Step, facts: Facts) -> str | None:
    if step.kind == "property":
        return str(step.key)
    taken = declared(facts)
    if step.kind == "rest":
        wanted = of_rest(facts)
        return next((name for name in _NAMES if name not in taken and of_name(facts, name) == wanted), None)
    plain = str(step.key).strip("^$").replace("\\", "")
    names = (plain, f"{plain}a", f"{plain}1", *_NAMES)
    wanted = of_pattern(facts, str(step.key))
    return next(
        (
            name
            for name in names
            if matches(str(step.key), name) and name not in taken and of_name(facts, name) == wanted
        ),
        None,
    )


def _numbers(every: list[Facts]) -> Iterator[int | float]:
    half = Fraction(1, 2)
    edges = [bound.value for facts in every for bound in (facts.low, facts.high) if bound is not None]
    steps = [facts.step for facts in every if facts.step is not None]
    found = [Fraction(1), Fraction(0)]
    for edge in edges:
        found += [edge, edge + 1, edge - 1, edge + half, edge - half]
        found += [edge + sign * step for step in steps for sign in (1, -1)]
    for step in steps:
        found += [step, 2 * step, step / 2, 3 * step]
    found += [half, Fraction(-1), Fraction(3, 2), Fraction(1_000_000), Fraction(-1_000_000)]
    for number in dict.fromkeys(found):
        made = _as_json(number)
        if made is not None:
            yield made


def _as_json(number: Fraction) -> int | float | None:
    """Return a number that JSON holds exactly enough to be checked."""
    if abs(number) > 2**53:
        return None
    return int(number) if number.denominator == 1 else float(number)


def _fits_number(facts: Facts, value: float) -> bool:
    number = Fraction(repr(value))
    low, high = facts.low, facts.high
    if facts.step is not None and (number / facts.step).denominator != 1:
        return False
    above = low is None or number > low.value or (number == low.value and not low.open)
    below = high is None or number < high.value or (number == high.value and not high.open)
    return above and below


def _texts(every: list[Facts]) -> Iterator[str]:
    for facts in every:
        for name in ("examples", "default"):
            for spot in facts.notes.get(name, {}).values():
                yield from (text for text in _listed(spot.value) if isinstance(text, str))
    limits = [facts.min_length for facts in every]
    limits += [facts.max_length for facts in every if facts.max_length is not None]
    lengths = {limit + by for limit in limits for by in (0, 1, -1)}
    yield _TEXTS[0]
    for length in sorted(lengths):
        if 0 <= length <= MAX_LENGTH:
            yield "x" * length
            yield "1" * length
    yield from _TEXTS[1:]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _fits_text(facts: Facts, text: str) -> bool:
    most = facts.max_length
    return (
        facts.min_length <= len(text)
        and (most is None or len(text) <= most)
        and all(matches(pattern, text) for pattern in facts.patterns)
    )
