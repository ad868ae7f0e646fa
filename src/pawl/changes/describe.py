"""Describing one place: two normal forms side by side, type by type and alternative by alternative."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pawl.changes.describe_arrays import describe_array
from pawl.changes.describe_objects import describe_object
from pawl.changes.describe_scalars import describe_number, describe_string
from pawl.changes.facts import Condition, Facts, speaks_of
from pawl.changes.forms import Alternative, Form, kind_of
from pawl.changes.pairing import paired
from pawl.changes.source import Spot
from pawl.changes.values import ABSENT, key_of_value, listed
from pawl.changes.walk import Finding, Here, Walk

_ENUMS = ("const", "enum")


@dataclass(frozen=True, slots=True, eq=False)
class Both:
    """The normal forms of both sides of a place."""

    old: Form
    new: Form

    def spot(self, here: Here, *keywords: str, prefer_old: bool = False) -> Spot:
        """Return where one of some keywords stands: in the new form, or in the old one for what is gone."""
        order = (self.old, self.new) if prefer_old else (self.new, self.old)
        for form in order:
            for facts in (form.facts, *(alternative.facts for alternative in form.alternatives)):
                for name in keywords:
                    if name in facts.where:
                        return facts.where[name]
        return next((form.union for form in order if form.union is not None), here.spot)


def describe(walk: Walk, here: Here) -> None:
    """Report what differs between two normal forms, and go on to the places below."""
    forms = walk.inclusion.forms
    both = Both(forms.form(here.old, placed=True), forms.form(here.new, placed=True))
    walk.notes(here, both.old.facts, both.new.facts)
    if _all_listed(both.old) and _all_listed(both.new) and (_spelled(both.old) or _spelled(both.new)):
        _enums(walk, here, both)
        return
    _types(walk, here, both)
    lost: list[Alternative] = []
    gained: list[Alternative] = []
    pairs: list[tuple[Alternative, Alternative]] = []
    for kind in sorted(both.old.kinds | both.new.kinds):
        found = paired(walk.inclusion, both.old.of(kind), both.new.of(kind))
        pairs += found.pairs
        lost += found.lost
        gained += found.gained
    if both.old.union is not None or both.new.union is not None:
        _union(walk, here, both, lost, gained)
    told: set[tuple[int, int]] = set()
    for old, new in pairs:
        at = replace(here, unsure=here.unsure or _overlaps(walk, both, old, new))
        _pair(walk, at, both, old, new, told)


def _overlaps(walk: Walk, both: Both, old: Alternative, new: Alternative) -> bool:
    """Whether another alternative of either side may take what this pair loses, or have taken what it gains."""
    apart = walk.inclusion.forms.apart
    others = [other for other in both.new.of(old.kind) if other is not new]
    before = [other for other in both.old.of(new.kind) if other is not old]
    return not all(apart(old, other) for other in others) or not all(apart(other, new) for other in before)


def _all_listed(form: Form) -> bool:
    return bool(form.alternatives) and all(alternative.members is not None for alternative in form.alternatives)


def _spelled(form: Form) -> bool:
    return any(
        name in facts.where
        for facts in (form.facts, *(alternative.facts for alternative in form.alternatives))
        for name in _ENUMS
    )


def _enums(walk: Walk, here: Here, both: Both) -> None:
    left, right = _members(both.old), _members(both.new)
    added = [value for key, value in right.items() if key not in left]
    removed = [value for key, value in left.items() if key not in right]
    spot = both.spot(here, *_ENUMS)
    if added:
        walk.emit(here, _listed("enum-widened", spot, new=added))
    if removed:
        walk.emit(here, _listed("enum-narrowed", spot, old=removed))
    if not added and not removed:
        old, new = (
            next((form.facts.where[name] for name in _ENUMS if name in form.facts.where), None)
            for form in (both.old, both.new)
        )
        if old is not None and new is not None and _text_of(old) != _text_of(new):
            walk.emit(here, Finding(key="enum-order", spot=new, old=old.value, new=new.value))


def _text_of(spot: Spot) -> str:
    return f"{spot.use[-1]} {[key_of_value(value) for value in spot.value] if spot.use[-1] == 'enum' else spot.value}"


def _members(form: Form) -> dict[str, Any]:
    return {key: value for found in form.alternatives for key, value in (found.members or {}).items()}


def _listed(key: str, spot: Spot, *, old: list[Any] | None = None, new: list[Any] | None = None) -> Finding:
    keys = {key_of_value(value) for value in (old or new or [])}
    return Finding(
        key=key,
        spot=spot,
        keyword="enum",
        old=ABSENT if old is None else old,
        new=ABSENT if new is None else new,
        says=(listed(old or ()), listed(new or ())),
        shows=lambda value: key_of_value(value) in keys,
        hints=lambda: old or new or [],
    )


def _type_names(form: Form, other: Form) -> frozenset[str]:
    """Return the types of a form; numbers are integers where all are, unless a list of numbers says more."""
    kinds = set(form.kinds)
    numbers = form.of("number")
    finite = any(found.members is not None for found in (*numbers, *other.of("number")))
    judged = other.of("number") if finite else numbers
    if numbers and judged and all(found.facts.whole for found in judged):
        kinds = (kinds - {"number"}) | {"integer"}
    return frozenset(kinds)


def _types(walk: Walk, here: Here, both: Both) -> None:
    old, new = _type_names(both.old, both.new), _type_names(both.new, both.old)
    gone = {name for name in old if not _covered(name, new)}
    come = {name for name in new if not _covered(name, old)}
    shared = both.old.kinds & both.new.kinds
    if both.old.union is not None or both.new.union is not None:
        gone, come = gone & {"number"}, come & {"number"}
        if "integer" not in old | new:
            return
    if come and not gone and _all_listed(both.old) and _spelled(both.old) and shared:
        return
    if gone and not come and _all_listed(both.new) and _spelled(both.new) and shared:
        return
    if not gone and not come:
        return
    key = "type-changed" if gone and come else "type-widened" if come else "type-narrowed"
    spot = both.spot(here, "type", prefer_old=not both.new.alternatives)
    moved = gone if key == "type-narrowed" else come
    finding = Finding(
        key=key,
        spot=spot,
        keyword="type",
        old=_as_type(old),
        new=_as_type(new),
        says=(_either(old), _either(new)),
        shows=lambda value: (
            kind_of(value) in moved or (isinstance(value, int | float) and "number" in moved) or gone != moved
        ),
    )
    walk.emit(here, finding)


def _covered(name: str, names: frozenset[str]) -> bool:
    return name in names or (name == "integer" and "number" in names)


def _as_type(names: Iterable[str]) -> Any:
    found = sorted(names)
    return found[0] if len(found) == 1 else found


def _either(names: Iterable[str]) -> str:
    found = sorted(names)
    return "any type" if len(found) >= 6 else " or ".join(found) if found else "nothing"


def _union(walk: Walk, here: Here, both: Both, lost: list[Alternative], gained: list[Alternative]) -> None:
    forms, inclusion = walk.inclusion.forms, walk.inclusion
    inclusion.above = here.depth
    old, new = forms.form(here.old), forms.form(here.new)
    lost = [found for found in lost if not inclusion.alternative_in(found, new, here.new, claim=old)]
    gained = [found for found in gained if not inclusion.alternative_in(found, old, here.old)]
    spot = both.new.union or both.old.union or here.spot
    for key, found, text in (("union-narrowed", lost, "old"), ("union-widened", gained, "new")):
        if found:
            values = [item.branch.value if item.branch is not None else {"type": item.kind} for item in found]
            names = ", ".join(dict.fromkeys(_called(item) for item in found))
            kinds = {item.kind for item in found}
            finding = Finding(
                key=key,
                spot=spot,
                keyword=str(spot.use[-1]) if spot.use else "",
                old=values if text == "old" else ABSENT,
                new=values if text == "new" else ABSENT,
                says=(names, names),
                shows=lambda value, kinds=kinds: kind_of(value) in kinds,  # type: ignore[misc]
                hints=lambda found=found: [walk.witnesses.sampler.of(item) for item in found],  # type: ignore[misc]
            )
            walk.emit(here, finding)


def _called(alternative: Alternative) -> str:
    titles = list(alternative.facts.notes.get("title", {}).values())
    if titles and isinstance(titles[0].value, str):
        return f"{titles[0].value[:40]} ({alternative.kind})"
    if alternative.members is not None and alternative.kind not in ("null", "boolean"):
        return listed(alternative.members.values())
    names = list(alternative.facts.required) if alternative.kind == "object" else []
    return f"{alternative.kind} with {', '.join(names[:4])}" if names else alternative.kind


def _pair(walk: Walk, here: Here, both: Both, old: Alternative, new: Alternative, told: set[tuple[int, int]]) -> None:
    known = (id(old.facts), id(new.facts))
    if known not in told:
        told.add(known)
        if (old.facts, new.facts) != (both.old.facts, both.new.facts) and (old.branch or new.branch):
            walk.notes(here, _own(old, both.old), _own(new, both.new))
        if old.members is None or new.members is None:
            _conditions(walk, here, old.facts, new.facts)
    if old.members is not None and new.members is not None:
        left, right = Form((old,), old.facts), Form((new,), new.facts)
        _enums(walk, here, Both(replace(left, union=old.branch), replace(right, union=new.branch)))
    elif old.members is not None or new.members is not None:
        _listing(walk, here, both, old, new)
    elif speaks_of(old.facts, old.kind) or speaks_of(new.facts, new.kind):
        _DETAILS[old.kind](walk, here, old, new)


def _own(alternative: Alternative, form: Form) -> Facts:
    """Return the facts whose notes are the alternative's own; those of the form are compared already."""
    return alternative.facts if alternative.facts is not form.facts else Facts()


def _listing(walk: Walk, here: Here, both: Both, old: Alternative, new: Alternative) -> None:
    """One side lists its values and the other does not."""
    accepts = walk.inclusion.forms.judge.accepts
    if old.members is not None:
        spot = both.spot(here, *_ENUMS, prefer_old=True)
        values = list(old.members.values())
        refused = [value for value in values if accepts(here.new, value) is False]
        finding = _listed("enum-widened", spot, old=values)
        walk.emit(here, replace(finding, says=("", f"any {old.kind}"), shows=lambda _value: True, hints=tuple))
        if refused:
            walk.emit(here, _listed("enum-narrowed", spot, old=refused))
        return
    values = list((new.members or {}).values())
    spot = both.spot(here, *_ENUMS)
    extra = [value for value in values if accepts(here.old, value) is False]
    finding = _listed("enum-narrowed", spot, new=values)
    walk.emit(
        here,
        replace(finding, says=(f"{old.kind} other than {listed(values)}", ""), shows=lambda _value: True, hints=tuple),
    )
    if extra:
        walk.emit(here, _listed("enum-widened", spot, new=extra))


def _conditions(walk: Walk, here: Here, old: Facts, new: Facts) -> None:
    walk.inclusion.above = here.depth
    same = walk.inclusion.equivalent
    gone = [one for one in old.conditions if not any(same(one, other) for other in new.conditions)]
    come = [one for one in new.conditions if not any(same(other, one) for other in old.conditions)]
    for keyword in dict.fromkeys(one.keyword for one in (*gone, *come)):
        left = [one for one in gone if one.keyword == keyword]
        right = [one for one in come if one.keyword == keyword]
        if (left and right) or any(one.opaque for one in (*left, *right)):
            walk.emit(here, _condition(walk, "condition-changed", left[:1], right[:1]))
            continue
        for one in left:
            walk.emit(here, _condition(walk, "condition-removed", [one], []))
        for one in right:
            walk.emit(here, _condition(walk, "condition-added", [], [one]))


def _condition(walk: Walk, key: str, old: list[Condition], new: list[Condition]) -> Finding:
    one = (new or old)[0]
    refuses = walk.inclusion.forms.judge.refuses
    return Finding(
        key=key,
        spot=one.spot,
        keyword=one.keyword,
        old=old[0].spot.value if old else ABSENT,
        new=new[0].spot.value if new else ABSENT,
        shows=lambda value: one.alone is not None and refuses(one.alone, value),
    )


_DETAILS: Mapping[str, Any] = {
    "number": describe_number,
    "string": describe_string,
    "array": describe_array,
    "object": describe_object,
}
