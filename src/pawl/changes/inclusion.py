"""Inclusion: whether everything that one schema accepts is accepted by another.

- True is a proof; False means not shown, and ``why`` says where it failed first and whether that is undecided.
- A pair under way is assumed to hold. What leaned on the assumption is kept only when the pair that was assumed has
  turned out to hold. A pair met again without anything of the instance consumed in between is never assumed.
- ``claim``: the left side is read with the names forbidden that the right side adds beside an open object. That is
  what adding an optional argument means to callers.
- At most 64 levels deep and 10,000 pairs; beyond, nothing is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pawl.changes.facts import (
    Condition,
    Facts,
    declared,
    item_at,
    item_rest,
    length_limit,
    named,
    of_pattern,
    of_rest,
    pattern_texts,
    prefix_length,
    speaks_of,
)
from pawl.changes.forms import Alternative, Form, Forms, of_name
from pawl.changes.limits import counted, high_within, low_within, most_members, most_within
from pawl.changes.source import Schema, Source, Spot, alike, is_anything, is_nothing, key_of

MAX_DEPTH = 64
MAX_PAIRS = 10_000

Pair: TypeAlias = tuple[frozenset[Source], frozenset[Source], bool]


@dataclass(frozen=True, slots=True)
class Why:
    """Where an inclusion could not be shown. ``undecided``: by this way of comparing, not for certain."""

    spot: Spot
    keyword: str
    undecided: bool = False


@dataclass(slots=True)
class _Known:
    holds: bool
    leans: int | None = None
    """The lowest pair under way that this rests on; None once it has settled."""


@dataclass(slots=True)
class _Frame:
    pair: Pair
    eaten: int
    lowest: int
    trail: int


@dataclass(slots=True)
class Inclusion:
    """One question after another over the same documents; answers are kept."""

    forms: Forms
    why: Why | None = None
    above: int = 0
    """How many levels deep the schemas of a question lie."""
    pairs: int = 0
    _known: dict[Pair, _Known] = field(default_factory=dict)
    _under_way: dict[Pair, int] = field(default_factory=dict)
    _stack: list[_Frame] = field(default_factory=list)
    _trail: list[Pair] = field(default_factory=list)
    _alike: dict[tuple[int, int], bool] = field(default_factory=dict)
    _eaten: int = 0

    def holds(self, left: Schema, right: Schema, *, claim: bool = False) -> bool:
        """Return whether ``left`` is within ``right``."""
        if not self._stack:
            self.why = None
        return self._holds(left, right, claim)

    def same(self, left: Schema, right: Schema) -> bool:
        return self.holds(left, right) and self.holds(right, left)

    def twins(self, left: Schema, right: Schema) -> bool:
        """Whether two schemas are the same text and mean the same."""
        if len(left) != len(right):
            return False
        return all(self._twins(one, other) for one, other in zip(left, right, strict=True))

    def _twins(self, one: Source, other: Source) -> bool:
        if one == other:
            return True
        if isinstance(one.raw, bool) or isinstance(other.raw, bool):
            return one.raw is other.raw
        pair = (id(one.document), id(other.document))
        if pair not in self._alike:
            self._alike[pair] = alike(one.document, other.document)
        return self._alike[pair] and one.document.text(one) == other.document.text(other)

    def _holds(self, left: Schema, right: Schema, claim: bool) -> bool:
        if is_anything(right) or is_nothing(left) or self.twins(left, right):
            return True
        if is_nothing(right):
            spot = right[0].spot()
            return not self.forms.form(left).alternatives or self._fail(
                spot, str(spot.use[-1]) if spot.use else "false"
            )
        pair = (key_of(left), key_of(right), claim)
        known = self._known.get(pair)
        if known is not None and self._counts(known):
            self._lean(known.leans)
            return known.holds
        if pair in self._under_way:
            return self._assumed(self._under_way[pair], right)
        if self.above + len(self._stack) >= MAX_DEPTH or self.pairs >= MAX_PAIRS or not self.forms.effort.spend(1):
            return self._fail(right[0].spot(), "$ref", undecided=True)
        return self._settle(pair, left, right)

    def _counts(self, known: _Known) -> bool:
        """Whether an answer can be used here: not if it leans on a pair since which nothing was consumed."""
        return known.leans is None or self._stack[known.leans].eaten != self._eaten

    def _assumed(self, index: int, right: Schema) -> bool:
        if self._stack[index].eaten == self._eaten:
            return self._fail(right[0].spot(), "$ref", undecided=True)
        self._lean(index)
        return True

    def _settle(self, pair: Pair, left: Schema, right: Schema) -> bool:
        index = len(self._stack)
        self.pairs += 1
        self._under_way[pair] = index
        self._stack.append(_Frame(pair, self._eaten, index, len(self._trail)))
        holds = self._form_in(self.forms.form(left), right, pair[2])
        frame = self._stack.pop()
        del self._under_way[pair]
        if not holds:
            for leaning in self._trail[frame.trail :]:
                self._known.pop(leaning, None)
            del self._trail[frame.trail :]
            self._known[pair] = _Known(holds=False)
        elif frame.lowest < index:
            self._known[pair] = _Known(holds=True)
            self._trail.append(pair)
            self._lead(frame.trail, frame.lowest)
            self._lean(frame.lowest)
        else:
            self._lead(frame.trail, None)
            del self._trail[frame.trail :]
            self._known[pair] = _Known(holds=True)
        return holds

    def _lead(self, trail: int, index: int | None) -> None:
        """Let all that leaned on a pair lean on what that pair leans on."""
        for leaning in self._trail[trail:]:
            if leaning in self._known and self._known[leaning].holds:
                self._known[leaning].leans = index

    def _lean(self, index: int | None) -> None:
        if index is not None and self._stack:
            self._stack[-1].lowest = min(self._stack[-1].lowest, index)

    def _fail(self, spot: Spot, keyword: str, *, undecided: bool = False) -> bool:
        self.why = self.why or Why(spot, keyword, undecided)
        return False

    def _inside(self, left: Schema, right: Schema, claim: bool) -> bool:
        """Compare schemas of a part of the instance."""
        self._eaten += 1
        holds = self._holds(left, right, claim)
        self._eaten -= 1
        return holds

    def _form_in(self, left: Form, right: Schema, claim: bool) -> bool:
        form = self.forms.form(right)
        for alternative in left.alternatives:
            if not self.alternative_in(alternative, form, right, claim=left if claim else None):
                return False
        return True

    def alternative_in(self, one: Alternative, form: Form, schema: Schema, *, claim: Form | None = None) -> bool:
        """Return whether one alternative is within a form, which is that of ``schema``.

        ``claim``: the form that the alternative is part of, where added names are forbidden to it.
        """
        members = one.members if one.members is not None else counted(one)
        if members is not None:
            if self._accepted(members, form, schema):
                return True
            if one.members is not None:
                return self._fail(_spot(form, schema, "enum", "const"), "enum")
        candidates = form.of(one.kind)
        self.forms.effort.spend(len(candidates))
        if not candidates:
            return self._fail(_spot(form, schema, "type"), "type")
        before = self.why
        for other in candidates:
            self.why = before
            if self._within(one, other, claim):
                self.why = before
                return True
        if len(candidates) > 1 and form.union is not None:
            self.why = before or Why(form.union, str(form.union.use[-1]), undecided=True)
        return False

    def _accepted(self, members: Mapping[str, Any], form: Form, schema: Schema) -> bool:
        missing = dict(members)
        for other in form.alternatives:
            if other.members is not None:
                missing = {key: missing[key] for key in missing.keys() - other.members.keys()}
        if missing and all(other.members is not None for other in form.alternatives):
            return False
        self.forms.effort.spend(len(missing))
        return all(self.forms.judge.accepts(schema, value) for value in missing.values())

    def _within(self, one: Alternative, other: Alternative, claim: Form | None) -> bool:
        left, right = one.facts, other.facts
        if other.members is not None:
            return self._fail(_place(other, "enum", "const"), "enum")
        if not speaks_of(right, one.kind):
            return self._conditions(one, right)
        match one.kind:
            case "number":
                holds = self._numbers(left, other)
            case "string":
                holds = self._strings(left, other)
            case "array":
                holds = self._arrays(left, other, claim is not None)
            case _:
                holds = self._objects(left, other, claim)
        return holds and self._conditions(one, right)

    def _numbers(self, left: Facts, other: Alternative) -> bool:
        right = other.facts
        if right.step is not None and (left.step is None or (left.step / right.step).denominator != 1):
            return self._fail(_place(other, "multipleOf", "type"), "multipleOf")
        if not low_within(left.low, right.low):
            return self._fail(_place(other, "minimum", "exclusiveMinimum"), "minimum")
        if not high_within(left.high, right.high):
            return self._fail(_place(other, "maximum", "exclusiveMaximum"), "maximum")
        return True

    def _strings(self, left: Facts, other: Alternative) -> bool:
        right = other.facts
        if left.min_length < right.min_length:
            return self._fail(_place(other, "minLength"), "minLength")
        if not most_within(left.max_length, right.max_length):
            return self._fail(_place(other, "maxLength"), "maxLength")
        for pattern, spot in right.patterns.items():
            if pattern not in left.patterns:
                return self._fail(spot, "pattern", undecided=bool(left.patterns))
        for name, spot in right.formats.items():
            if name not in left.formats:
                return self._fail(spot, name[0], undecided=bool(left.formats))
        return True

    def _arrays(self, left: Facts, other: Alternative, claim: bool) -> bool:
        right = other.facts
        if left.min_items < right.min_items:
            return self._fail(_place(other, "minItems"), "minItems")
        most = length_limit(left)
        if not most_within(most, right.max_items):
            return self._fail(_place(other, "maxItems"), "maxItems")
        if right.unique and not left.unique and (most is None or most > 1):
            return self._fail(_place(other, "uniqueItems"), "uniqueItems")
        fixed = max(prefix_length(left), prefix_length(right))
        for index in range(fixed if most is None else min(fixed, most)):
            if not self._inside(item_at(left, index), item_at(right, index), claim):
                return False
        if most is not None and most <= fixed:
            return True
        return self._inside(item_rest(left), item_rest(right), claim)

    def _objects(self, left: Facts, other: Alternative, claim: Form | None) -> bool:
        right = other.facts
        for name, spot in right.required.items():
            if name not in left.required:
                return self._fail(spot, "required")
        if max(left.min_properties, len(left.required)) < right.min_properties:
            return self._fail(_place(other, "minProperties"), "minProperties")
        if not most_within(most_members(left), right.max_properties):
            return self._fail(_place(other, "maxProperties"), "maxProperties")
        names = len(named(left)) + len(named(right))
        if not self.forms.effort.spend(names * (len(pattern_texts(left)) + len(pattern_texts(right))) // 4):
            return self._fail(_place(other, "patternProperties"), "patternProperties", undecided=True)
        for mine, theirs in self._members(left, other, claim):
            if not self.forms.effort.spend(1) or not self._inside(mine, theirs, claim is not None):
                return False
        return True

    def _members(self, left: Facts, other: Alternative, claim: Form | None) -> Iterator[tuple[Schema, Schema]]:
        """Yield the pairs of schemas that members of every possible name must fit."""
        right = other.facts
        mine, theirs = named(left), declared(right)
        for name in dict.fromkeys((*mine, *named(right))):
            schema = of_name(left, name)
            open_for_it = claim is not None and name in theirs and name not in mine and is_anything(schema)
            if claim is None or not open_for_it or not self._adds(other, name, claim):
                yield schema, of_name(right, name)
        patterns, rest = pattern_texts(left), of_rest(left)
        for text in pattern_texts(right):
            if text in patterns:
                yield of_pattern(left, text), of_pattern(right, text)
                continue
            yield rest, of_pattern(right, text)
            for mine_too in patterns:
                yield of_pattern(left, mine_too), of_pattern(right, text)
        for text in patterns:
            yield of_pattern(left, text), of_pattern(right, text)
        yield rest, of_rest(right)

    def _adds(self, other: Alternative, name: str, claim: Form) -> bool:
        """Whether a name is new in an alternative: none that the old form had, with this name, lies within it."""
        form = Form((other,), other.facts)
        return not any(
            name in declared(before.facts) and self.alternative_in(before, form, other.schema)
            for before in (claim.of("object") if len(claim.alternatives) > 1 else ())
        )

    def _conditions(self, one: Alternative, right: Facts) -> bool:
        held = [condition for condition in one.facts.conditions if one.kind in condition.kinds]
        for condition in right.conditions:
            if one.kind not in condition.kinds:
                continue
            if not any(self.equivalent(other, condition) for other in held):
                undecided = any(other.keyword == condition.keyword for other in held)
                return self._fail(condition.spot, condition.keyword, undecided=undecided)
        return True

    def equivalent(self, one: Condition, other: Condition) -> bool:
        """Whether two conditions surely mean the same."""
        if one.opaque or other.opaque or one.keyword != other.keyword or one.plain != other.plain:
            return False
        before = self.why
        if one.keyword in ("anyOf", "oneOf"):
            found = self._same_branches(one, other)
        else:
            parts, others = dict(one.parts), dict(other.parts)
            found = parts.keys() == others.keys()
            for name in parts if found else ():
                found = found and self._inside_same(one, parts[name], others[name])
        self.why = before
        return found

    def _same_branches(self, one: Condition, other: Condition) -> bool:
        left, right = [schema for _, schema in one.parts], [schema for _, schema in other.parts]
        if one.keyword == "oneOf" and len(left) != len(right):
            return False
        for schema in left:
            found = next((known for known in right if self._inside_same(one, schema, known)), None)
            if found is None:
                return False
            if one.keyword == "oneOf":
                right.remove(found)
        return one.keyword == "oneOf" or all(
            any(self._inside_same(one, schema, known) for known in left) for schema in right
        )

    def _inside_same(self, condition: Condition, left: Schema, right: Schema) -> bool:
        if not self.forms.effort.spend(4):
            return False
        eats = condition.keyword in ("contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties")
        self._eaten += 1 if eats else 0
        holds = self._holds(left, right, False) and self._holds(right, left, False)
        self._eaten -= 1 if eats else 0
        return holds


def _place(alternative: Alternative, *keywords: str) -> Spot:
    found = next((alternative.facts.where[name] for name in keywords if name in alternative.facts.where), None)
    return found or alternative.branch or (alternative.schema[0].spot() if alternative.schema else Spot(()))


def _spot(form: Form, schema: Schema, *keywords: str) -> Spot:
    found = next((form.facts.where[name] for name in keywords if name in form.facts.where), None)
    return found or form.union or (schema[0].spot() if schema else Spot(()))
