"""The arguments of one call, part by part, beside the input schema that they must lie within.

An alternative of the schema that takes all is enough; where each has something against them, what the mildest has is
told. A part that no value of it could pass is an error, one that some value of it may not pass a doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pawl.changes.facts import Condition, Facts, item_at, length_limit
from pawl.changes.forms import Alternative, of_name
from pawl.changes.inclusion import Inclusion
from pawl.changes.source import Document, Schema, Spot, is_anything
from pawl.changes.values import ABSENT
from pawl.changes.values import shown as value_shown
from pawl.problems import Place
from pawl.procedures.interpolation import Embedded, expressions_in, pieces
from pawl.procedures.schema import Validator, compile_schema
from pawl.procedures.words import TYPES, listed

_PRESENCE = frozenset({"required", "dependentRequired", "minProperties", "maxProperties"})
_PRESENCE_LISTS = frozenset({"anyOf", "oneOf", "allOf"})
_PRESENCE_PARTS = frozenset({"not", "if", "then", "else"})
_A_TEXT = Document({"type": "string"}).schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What is called, and what it takes."""

    ref: str
    schema: Schema
    validator: Validator


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What an expression puts in: any of the values of ``schemas``; nothing is said where there are none."""

    what: str
    schemas: tuple[Schema, ...]
    callees: frozenset[str] = frozenset()
    surely: bool = False
    """Only what is certain is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentFault:
    """What one call's arguments have against them; ``at`` is the place in them."""

    code: str
    message: str
    at: Place = ()
    hint: str | None = None
    callees: frozenset[str] = frozenset()

    @property
    def doubtful(self) -> bool:
        return self.code == "call-doubtful"


@dataclass(slots=True)
class Arguments:
    """Judges the arguments that a step gives; ``given`` says what an expression in them puts in, if that is known."""

    inclusion: Inclusion
    step: str
    taken: Taken
    given: Callable[[str], Given | None]

    def faults(self, arguments: Mapping[str, Any]) -> list[ArgumentFault]:
        """Return what is wrong or doubtful with arguments that hold expressions."""
        return self._mildest(arguments, self.taken.schema, (), "object")

    def _value(self, value: Any, schema: Schema, at: Place) -> Iterator[ArgumentFault]:
        if is_anything(schema):
            return
        if isinstance(value, str) and any(True for _ in expressions_in(value)):
            parts = pieces(value)
            alone = parts[0] if len(parts) == 1 else None
            if isinstance(alone, Embedded):
                given = self.given(alone.text)
            else:
                given = Given(what="a text with expressions in it", schemas=(_A_TEXT,), surely=True)
            if given is not None and given.schemas:
                yield from self._any_of(given, schema, at)
        elif not any(True for _ in expressions_in(value)):
            yield from self._literal(value, schema, at)
        else:
            yield from self._mildest(value, schema, at, "object" if isinstance(value, Mapping) else "array")

    def _any_of(self, given: Given, schema: Schema, at: Place) -> Iterator[ArgumentFault]:
        forms = self.inclusion.forms
        if all(self.inclusion.holds(each, schema) for each in given.schemas):
            return
        why = self.inclusion.why
        says = f"the step {self.step} gives {self.taken.ref} {given.what} as {_where(at)}"
        if all(forms.disjoint(each, schema) for each in given.schemas):
            has, takes = self._types(*given.schemas), self._types(schema)
            why_not = f"that is {has}, and {takes} is taken" if has != takes else "no value of it is taken"
            message = f"{says}: {why_not}, so the call is refused"
            yield ArgumentFault(code="call-misfit", message=message, at=at, callees=given.callees)
        elif not given.surely:
            if why is None or why.undecided:
                message = f"{says}, and whether it takes every value of it cannot be told"
            else:
                message = f"{says}, and that can be a value that it refuses"
            message += f" ({_limit(why.spot, why.keyword)})" if why is not None else ""
            yield ArgumentFault(code="call-doubtful", message=message, at=at, callees=given.callees)

    def _types(self, *schemas: Schema) -> str:
        kinds = {
            alternative.kind for schema in schemas for alternative in self.inclusion.forms.form(schema).alternatives
        }
        return " or ".join(words for name, words in TYPES.items() if name in kinds) or "nothing"

    def _literal(self, value: Any, schema: Schema, at: Place) -> Iterator[ArgumentFault]:
        answer = self.inclusion.forms.judge.accepts(schema, value)
        if answer is None:
            message = f"whether {self.taken.ref} takes the value of {_where(at)} in the step {self.step} cannot be told"
            yield ArgumentFault(code="call-doubtful", message=message, at=at)
        elif not answer:
            why = self._why(value, at)
            message = f"the step {self.step} calls {self.taken.ref}, which refuses {_where(at)}{why}"
            yield ArgumentFault(code="call-misfit", message=message, at=at)

    def _why(self, value: Any, at: Place) -> str:
        """Return why a literal is refused, as the validator says it of a call with nothing else in it."""
        whole = value
        for part in reversed(at):
            if not isinstance(part, str):
                return ""
            whole = {part: whole}
        faults = self.taken.validator.faults(whole)
        return next((f": {fault.message}" for fault in faults if fault.at[: len(at)] == at), "")

    def _mildest(self, value: Any, schema: Schema, at: Place, kind: str) -> list[ArgumentFault]:
        best: list[ArgumentFault] | None = None
        for alternative in self.inclusion.forms.form(schema).of(kind):
            part = self._object if kind == "object" else self._array
            found = [] if alternative.members is not None else list(part(value, alternative, at))
            if best is None or _weight(found) < _weight(best):
                best = found
            if not best:
                break
        if best is None:
            has, takes = TYPES[kind], self._types(schema)
            message = f"the step {self.step} gives {self.taken.ref} {has} as {_where(at)}, and {takes} is taken"
            return [ArgumentFault(code="call-misfit", message=f"{message}: the call is refused", at=at)]
        return best

    def _object(self, value: Mapping[str, Any], alternative: Alternative, at: Place) -> Iterator[ArgumentFault]:
        facts, ref, inside = alternative.facts, self.taken.ref, f" in {_where(at)}" if at else ""
        missing = [name for name in facts.required if name not in value]
        if missing:
            message = f"the step {self.step} gives {ref} no {listed(missing)}{inside}, which it requires"
            yield ArgumentFault(code="call-incomplete", message=f"{message}: the call is refused", at=at)
        for name, item in value.items():
            inner = of_name(facts, name)
            if self.inclusion.forms.form(inner).alternatives:
                yield from self._value(item, inner, (*at, name))
            else:
                message = f"the step {self.step} gives {ref} {name[:120]}{inside}, which it does not take"
                yield ArgumentFault(code="call-misfit", message=f"{message}: the call is refused", at=(*at, name))
        most = facts.max_properties
        if (len(value) < facts.min_properties and not missing) or (most is not None and len(value) > most):
            yield self._count(len(value), "arguments" if not at else "fields", at)
        yield from self._conditions(facts, value, at)

    def _array(self, value: list[Any], alternative: Alternative, at: Place) -> Iterator[ArgumentFault]:
        facts = alternative.facts
        most = length_limit(facts)
        if len(value) < facts.min_items or (most is not None and len(value) > most):
            yield self._count(len(value), "items", at)
            return
        for index, item in enumerate(value):
            yield from self._value(item, item_at(facts, index), (*at, index))
        if facts.unique and len(value) > 1:
            yield self._doubt("uniqueItems", at)
        yield from self._conditions(facts, value, at)

    def _count(self, count: int, what: str, at: Place) -> ArgumentFault:
        inside = f" in {_where(at)}" if at else ""
        message = f"the step {self.step} gives {self.taken.ref} {count} {what}{inside}, a number that it does not take"
        return ArgumentFault(code="call-misfit", message=message, at=at)

    def _conditions(self, facts: Facts, value: Any, at: Place) -> Iterator[ArgumentFault]:
        kind = "object" if isinstance(value, Mapping) else "array"
        for condition in facts.conditions:
            if kind not in condition.kinds:
                continue
            present = _by_presence(condition, value) if kind == "object" else None
            if present is False:
                inside = f" for {_where(at)}" if at else ""
                message = f"the names that the step {self.step} gives {self.taken.ref}{inside} do not meet its "
                yield ArgumentFault(code="call-incomplete", message=f"{message}{condition.keyword}", at=at)
            elif present is None and self._all_known(value):
                yield self._doubt(condition.keyword, at)

    def _all_known(self, value: Any) -> bool:
        """Whether every expression in a value is one whose schema is known: of others nothing is said."""
        return all((given := self.given(text)) is not None and given.schemas for text, _ in expressions_in(value))

    def _doubt(self, keyword: str, at: Place) -> ArgumentFault:
        what = _where(at) if at else "what it gives"
        message = f"the step {self.step} calls {self.taken.ref}, and whether {what} meets {keyword} cannot be told"
        return ArgumentFault(code="call-doubtful", message=message, at=at)


def _by_presence(condition: Condition, value: Mapping[str, Any]) -> bool | None:
    """Return whether a condition on which names are there holds, or None for one that looks at more."""
    raw = condition.alone.raw if condition.alone is not None else None
    if not isinstance(raw, Mapping) or not _on_presence(raw):
        return None
    return compile_schema(dict(raw)).is_valid(dict.fromkeys(value))


def _on_presence(raw: Any) -> bool:
    if isinstance(raw, bool):
        return True
    return isinstance(raw, Mapping) and all(
        word in _PRESENCE
        or (word == "type" and inner == "object")
        or (word in _PRESENCE_LISTS and all(_on_presence(part) for part in inner))
        or (word in _PRESENCE_PARTS and _on_presence(inner))
        for word, inner in raw.items()
    )


def _limit(spot: Spot, keyword: str) -> str:
    """Return what refuses a value, as it is written where that is short."""
    written = spot.use[-1] if spot.use else keyword
    if not isinstance(written, str) or spot.value is ABSENT or isinstance(spot.value, Mapping):
        return keyword
    plain = not isinstance(spot.value, list) or not any(isinstance(item, Mapping) for item in spot.value)
    return f"{written} {value_shown(spot.value)}" if plain else written


def _weight(found: list[ArgumentFault]) -> tuple[int, int]:
    return sum(not fault.doubtful for fault in found), len(found)


def _where(at: Place) -> str:
    return ".".join(str(part) for part in at)[:200]
