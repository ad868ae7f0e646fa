"""The normal form: a schema as a union of alternatives, each of one type with the facts of that type.

- ``type: [T, "null"]``, ``anyOf: [T, null]`` and an enum with null have the same form. Booleans and null are enums.
- An enum is cut to what the rest of its schema accepts; what is left is an alternative that is a finite set.
- ``anyOf`` that stands alone is a union, and so is ``oneOf`` if its branches are pairwise disjoint; beside other
  constraints, and otherwise, they are conditions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from pawl.changes.facts import (
    ALL_KINDS,
    KINDS,
    Choice,
    Condition,
    Facts,
    common_step,
    contradictory,
    declared,
    settled,
)
from pawl.changes.gathering import gather
from pawl.changes.judge import Judge, matches
from pawl.changes.source import ANYTHING, Schema, Spot, is_nothing, meet
from pawl.changes.values import keyed

MAX_ALTERNATIVES = 256
MAX_DISJOINT = 100
MAX_NESTED = 32
PLACED_DEPTH = 4
"""How deep unions in unions know from where they are used; deeper, they would double at every level."""
_DISJOINT_DEPTH = 3


@dataclass(frozen=True, slots=True, eq=False)
class Alternative:
    """The values of one type that a schema accepts; ``members`` is all of them where they are finitely many."""

    kind: str
    facts: Facts
    schema: Schema
    members: Mapping[str, Any] | None = None
    """The values by their texts."""
    branch: Spot | None = None

    @property
    def values(self) -> tuple[Any, ...] | None:
        return None if self.members is None else tuple(self.members.values())


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A schema in its normal form. ``union``: the ``anyOf`` or ``oneOf`` that was taken apart."""

    alternatives: tuple[Alternative, ...]
    facts: Facts
    union: Spot | None = None

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(alternative.kind for alternative in self.alternatives)

    def of(self, kind: str) -> tuple[Alternative, ...]:
        return tuple(alternative for alternative in self.alternatives if alternative.kind == kind)


def kind_of(value: Any) -> str:
    """Return the type of a JSON value; there is no integer, only number."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def of_name(facts: Facts, name: str) -> Schema:
    """Return the schema of an object's member."""
    found = []
    for shape in facts.objects:
        hits = [shape.patterns[text] for text in shape.patterns if matches(text, name)]
        if name in shape.properties:
            found += [shape.properties[name], *hits]
        else:
            found += hits or [shape.rest or ANYTHING]
    return meet(*found)


class Forms:
    """Builds normal forms and keeps them."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.effort = judge.effort
        self._known: dict[tuple[object, ...], Form | None] = {}
        self._depth = 0

    def form(self, schema: Schema, *, placed: bool = False) -> Form:
        """Return the normal form. ``placed``: its places are those of this very use of a shared definition."""
        key: tuple[object, ...] = tuple((source, source.use) for source in schema) if placed else schema
        if key in self._known:
            known = self._known[key]
            return known if known is not None else _cycle(schema)
        if self._depth >= MAX_NESTED or not self.effort.spend(1):
            return _cycle(schema)
        self._known[key] = None
        self._depth += 1
        form = self._build(schema, placed)
        self._depth -= 1
        self._known[key] = form
        return form

    def _build(self, schema: Schema, placed: bool) -> Form:
        facts = gather(schema)
        self.effort.spend(
            10 + len(facts.where) + len(facts.objects) + len(facts.conditions) + len(facts.enum or ()) // 4
        )
        if facts.choices:
            choice = next(iter(facts.choices))
            alone = len(facts.choices) == 1 and facts.binding <= {"type", choice.keyword}
            if alone and (choice.keyword == "anyOf" or self._disjoint(choice.branches)):
                alternatives = self._distributed(facts, choice, placed)
                if len(alternatives) <= MAX_ALTERNATIVES:
                    return Form(alternatives, facts, choice.spot)
            facts = self._as_conditions(facts)
        return Form(tuple(self._plain(facts, schema)), facts)

    def _as_conditions(self, facts: Facts) -> Facts:
        """Return the facts with every choice turned into a condition, which still bounds the types."""
        found = dict(facts.conditions)
        kinds, whole = facts.kinds, facts.whole
        for choice in facts.choices:
            forms = [self.form(branch) for branch in choice.branches]
            kinds &= frozenset().union(*[form.kinds for form in forms])
            if choice.keyword == "anyOf" and all(_only_types(form) for form in forms):
                numbers = [form.facts.whole for form in forms if "number" in form.kinds]
                whole = whole or (bool(numbers) and all(numbers))
                continue
            parts = tuple((str(index), branch) for index, branch in enumerate(choice.branches))
            found[Condition(choice.keyword, ALL_KINDS, choice.spot, parts, alone=choice.alone)] = None
        step = common_step(facts.step, Fraction(1)) if whole else facts.step
        return settled(replace(facts, kinds=kinds, whole=whole, step=step, choices={}, conditions=found))

    def _plain(self, facts: Facts, schema: Schema) -> Iterator[Alternative]:
        for kind in KINDS:
            if kind not in facts.kinds or contradictory(facts, kind) or _impossible(facts, kind):
                continue
            values = facts.enum
            if values is None and kind in ("null", "boolean"):
                values = keyed((None,) if kind == "null" else (True, False))
            if values is None:
                yield Alternative(kind, facts, schema)
            else:
                yield from self._finite(facts, kind, schema, values)

    def _finite(self, facts: Facts, kind: str, schema: Schema, values: Mapping[str, Any]) -> Iterator[Alternative]:
        mine = {key: value for key, value in values.items() if kind_of(value) == kind}
        if facts.conditions or not facts.binding <= {"enum", "const"}:
            answers = {key: self.judge.accepts(schema, value) for key, value in mine.items()}
            if None in answers.values():
                opaque = Condition("enum", ALL_KINDS, facts.where.get("enum", Spot(())), opaque=True)
                yield Alternative(kind, replace(facts, conditions={**facts.conditions, opaque: None}), schema)
                return
            mine = {key: value for key, value in mine.items() if answers[key]}
        if mine:
            yield Alternative(kind, facts, schema, mine)

    def _distributed(self, facts: Facts, choice: Choice, placed: bool) -> tuple[Alternative, ...]:
        found: list[Alternative] = []
        for branch in choice.branches:
            spot = branch[0].spot()
            for alternative in self.form(branch, placed=placed and self._depth <= PLACED_DEPTH).alternatives:
                if alternative.kind in facts.kinds:
                    found.append(replace(_with_type(alternative, facts), branch=spot))
                if len(found) > MAX_ALTERNATIVES:
                    return tuple(found)
        return tuple(_merged(found))

    def _disjoint(self, branches: tuple[Schema, ...]) -> bool:
        if len(branches) > MAX_DISJOINT:
            return False
        for index, one in enumerate(branches):
            for other in branches[:index]:
                if not self.disjoint(one, other):
                    return False
        return True

    def disjoint(self, one: Schema, other: Schema, depth: int = 0) -> bool:
        """Whether two schemas surely have no value in common."""
        lefts, rights = self.form(one).alternatives, self.form(other).alternatives
        if not self.effort.spend(len(lefts) * len(rights)):
            return False
        return all(self.apart(left, right, depth) for left in lefts for right in rights)

    def apart(self, left: Alternative, right: Alternative, depth: int = 0) -> bool:
        """Whether two alternatives surely have no value in common."""
        if left.kind != right.kind:
            return True
        if left.members is not None and right.members is not None:
            return not left.members.keys() & right.members.keys()
        if left.members is not None:
            self.effort.spend(len(left.members))
            return all(self.judge.accepts(right.schema, value) is False for value in left.members.values())
        if right.members is not None:
            return self.apart(right, left, depth)
        if left.kind != "object" or depth >= _DISJOINT_DEPTH:
            return False
        names = set(left.facts.required).intersection(right.facts.required, declared(left.facts), declared(right.facts))
        return any(
            self.disjoint(of_name(left.facts, name), of_name(right.facts, name), depth + 1) for name in sorted(names)
        )


def _only_types(form: Form) -> bool:
    """Whether a form says nothing but which types it accepts."""
    return form.facts.binding <= {"type"} and not form.facts.choices


def _cycle(schema: Schema) -> Form:
    """A schema that is part of itself without consuming anything: it has no meaning, so it equals nothing."""
    spot = schema[0].spot() if schema else Spot(())
    facts = Facts(conditions={Condition("$ref", ALL_KINDS, spot, opaque=True): None}, binding={"$ref"})
    return Form(tuple(Alternative(kind, facts, schema) for kind in KINDS), facts)


def _impossible(facts: Facts, kind: str) -> bool:
    return kind == "object" and any(is_nothing(of_name(facts, name)) for name in facts.required)


def _with_type(alternative: Alternative, facts: Facts) -> Alternative:
    """Return the alternative of a branch beside a ``type`` that says integer."""
    if alternative.kind != "number" or not facts.whole:
        return alternative
    if alternative.members is not None:
        whole = {key: value for key, value in alternative.members.items() if value == int(value)}
        return replace(alternative, members=whole)
    inner = alternative.facts
    step = common_step(inner.step, Fraction(1))
    return replace(alternative, facts=settled(replace(inner, whole=True, step=step)))


def _merged(alternatives: list[Alternative]) -> Iterator[Alternative]:
    """Yield alternatives with all finite sets of one type in one."""
    finite: dict[str, list[Alternative]] = {}
    for alternative in alternatives:
        if alternative.members is not None:
            finite.setdefault(alternative.kind, []).append(alternative)
    for alternative in alternatives:
        parts = finite.get(alternative.kind, [])
        if alternative.members is None:
            yield alternative
        elif alternative is parts[0]:
            members = {key: value for part in parts for key, value in (part.members or {}).items()}
            schema = alternative.schema if len(parts) == 1 else ANYTHING
            if members:
                yield replace(alternative, members=members, schema=schema)
