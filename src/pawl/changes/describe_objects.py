"""Describing objects: names that come and go, what is required, and what happens to all other names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pawl.changes.describe_scalars import least, most
from pawl.changes.facts import Facts, declared, of_pattern, of_rest, pattern_texts
from pawl.changes.forms import Alternative, of_name
from pawl.changes.source import Schema, Spot, is_anything, is_nothing
from pawl.changes.values import ABSENT
from pawl.changes.walk import Finding, Here, Walk
from pawl.changes.witness import Step

MAX_RENAMES = 50
_REST = ("additionalProperties", "unevaluatedProperties")


def describe_object(walk: Walk, here: Here, one: Alternative, other: Alternative) -> None:
    old, new = one.facts, other.facts
    mine, theirs = set(declared(old)), set(declared(new))
    added = [name for name in declared(new) if name not in mine]
    removed = [name for name in declared(old) if name not in theirs]
    renamed = _renamed(walk, here, (old, new), removed, added)
    for name in declared(new):
        if name in mine:
            step = Step("property", name, one, other)
            walk.place(here.down(step, of_name(old, name), of_name(new, name)))
    for left, right in renamed.items():
        _rename(walk, here, one, other, (left, right))
    for name in removed:
        if name not in renamed:
            _removed(walk, here, one, name)
    for name in added:
        if name not in renamed.values():
            _added(walk, here, one, other, name)
    _required(walk, here, (old, new), set(added) - set(renamed.values()), set(removed))
    _others(walk, here, one, other)
    both = (old, new)
    least(walk, here, both, "minProperties", (old.min_properties, new.min_properties), size=_size)
    most(walk, here, both, "maxProperties", (old.max_properties, new.max_properties), size=_size)


def _size(value: Any) -> int:
    return len(value) if isinstance(value, dict) else -1


def property_spot(facts: Facts, name: str) -> Spot | None:
    """Return where a name is declared."""
    for shape in facts.objects:
        if shape.properties.get(name):
            return shape.properties[name][0].spot()
    return None


def _renamed(walk: Walk, here: Here, both: tuple[Facts, Facts], removed: list[str], added: list[str]) -> dict[str, str]:
    """Return old name -> new name where exactly one of each have the same schema."""
    if not removed or not added or len(removed) * len(added) > MAX_RENAMES:
        return {}
    walk.inclusion.above = here.depth + 1
    alike = {
        name: [other for other in added if walk.inclusion.same(of_name(both[0], name), of_name(both[1], other))]
        for name in removed
    }
    taken = [other for others in alike.values() for other in others]
    return {name: others[0] for name, others in alike.items() if len(others) == 1 and taken.count(others[0]) == 1}


def _rename(walk: Walk, here: Here, one: Alternative, other: Alternative, names: tuple[str, str]) -> None:
    left, right = names
    finding = Finding(
        key="property-renamed",
        spot=property_spot(other.facts, right) or here.spot,
        old=left,
        new=right,
        name=right,
        usage=lambda: walk.witnesses.usage(here.trail, one, left),
    )
    walk.emit(here, finding)
    if right in other.facts.required and left not in one.facts.required:
        _require(walk, here, (one.facts, other.facts), right, "property-required")
    elif right in other.facts.required:
        _require(walk, here, (one.facts, other.facts), right, "property-required:added")


def _removed(walk: Walk, here: Here, one: Alternative, name: str) -> None:
    spot = property_spot(one.facts, name) or here.spot
    finding = Finding(
        key="property-removed",
        spot=spot,
        old=spot.value,
        name=name,
        usage=lambda: walk.witnesses.usage(here.trail, one, name),
    )
    walk.emit(here, finding)


def _added(walk: Walk, here: Here, one: Alternative, other: Alternative, name: str) -> None:
    old, new = of_name(one.facts, name), of_name(other.facts, name)
    required = name in other.facts.required
    if is_anything(old):
        variant = ""
    elif is_nothing(old):
        variant = "closed"
    else:
        narrow, widen = walk.relation(old, new, here.depth + 1)
        variant = {(True, True): "unfit", (True, False): "unfit-input", (False, True): "unfit-output"}.get(
            (narrow, widen), ""
        )
    if required:
        closed = variant in ("closed", "unfit", "unfit-output")
        _require(
            walk, here, (one.facts, other.facts), name, f"property-required:{'added-closed' if closed else 'added'}"
        )
        return
    spot = property_spot(other.facts, name) or here.spot
    finding = Finding(
        key=f"property-added:{variant}" if variant else "property-added",
        spot=spot,
        new=spot.value,
        name=name,
        shows=lambda value: isinstance(value, dict) and name in value,
        hints=lambda: _with(walk, other, name) if variant else [],
    )
    walk.emit(here, finding)


def _with(walk: Walk, alternative: Alternative, name: str) -> Iterable[Any]:
    sampler = walk.witnesses.sampler
    value = sampler.smallest(of_name(alternative.facts, name))
    return [] if value is ABSENT else [sampler.object(alternative.facts, {name: value})]


def _require(walk: Walk, here: Here, both: tuple[Facts, Facts], name: str, key: str) -> None:
    old, new = both
    spot = new.required[name]
    finding = Finding(
        key=key,
        spot=spot,
        new=name,
        name=name,
        shows=lambda value: isinstance(value, dict) and name not in value,
        hints=lambda: [walk.witnesses.sampler.object(old, {}, without=name)],
    )
    walk.emit(here, finding)


def _required(walk: Walk, here: Here, both: tuple[Facts, Facts], added: set[str], removed: set[str]) -> None:
    old, new = both
    renamed = set(declared(new)) - set(declared(old)) - added
    for name in new.required:
        if name not in old.required and name not in added and name not in renamed:
            _require(walk, here, both, name, "property-required")
    for name, spot in old.required.items():
        if name not in new.required and name not in removed:
            finding = Finding(
                key="property-optional",
                spot=new.where.get("required") or spot,
                old=name,
                name=name,
                shows=lambda value, name=name: isinstance(value, dict) and name not in value,  # type: ignore[misc]
                hints=lambda name=name: [walk.witnesses.sampler.object(new, {}, without=name)],  # type: ignore[misc]
            )
            walk.emit(here, finding)


def _others(walk: Walk, here: Here, one: Alternative, other: Alternative) -> None:
    """Compare what holds for names that nobody declares: by pattern, and for the rest."""
    old, new = one.facts, other.facts
    left, right = pattern_texts(old), pattern_texts(new)
    for text in dict.fromkeys((*right, *left)):
        schemas: tuple[Schema, Schema] = (
            of_pattern(old, text) if text in left else of_rest(old),
            of_pattern(new, text) if text in right else of_rest(new),
        )
        spot = _pattern_spot(new, text) or _pattern_spot(old, text) or here.spot
        walk.parts(here, Step("pattern", text, one, other), *schemas, spot, "patternProperties")
    spot = next((facts.where[name] for facts in (new, old) for name in _REST if name in facts.where), here.spot)
    walk.parts(here, Step("rest", "", one, other), of_rest(old), of_rest(new), spot, "additionalProperties")


def _pattern_spot(facts: Facts, text: str) -> Spot | None:
    for shape in facts.objects:
        if shape.patterns.get(text):
            return shape.patterns[text][0].spot()
    return None
