"""Describing arrays: bounds, positions and items."""

from __future__ import annotations

from typing import Any

from pawl.changes.describe_scalars import bound, least, most
from pawl.changes.facts import Facts, item_at, item_rest, prefix_length
from pawl.changes.forms import Alternative
from pawl.changes.source import Spot
from pawl.changes.values import key_of_value
from pawl.changes.walk import Here, Walk
from pawl.changes.witness import Step


def describe_array(walk: Walk, here: Here, one: Alternative, other: Alternative) -> None:
    old, new = one.facts, other.facts
    both = (old, new)
    least(walk, here, both, "minItems", (old.min_items, new.min_items), size=_length)
    most(walk, here, both, "maxItems", (old.max_items, new.max_items), size=_length)
    if old.unique != new.unique:
        bound(walk, here, both, ("uniqueItems",), tighter=new.unique, shows=_repeats)
    for index in range(max(prefix_length(old), prefix_length(new))):
        step = Step("item", index, one, other)
        spot = _prefix_spot(new, index) or _prefix_spot(old, index) or here.spot
        walk.parts(here, step, item_at(old, index), item_at(new, index), spot, "prefixItems")
    behind = max(prefix_length(old), prefix_length(new))
    spot = new.where.get("items") or old.where.get("items") or new.where.get("prefixItems") or here.spot
    walk.parts(here, Step("item", behind, one, other), item_rest(old), item_rest(new), spot, "items")


def _prefix_spot(facts: Facts, index: int) -> Spot | None:
    for shape in facts.arrays:
        if index < len(shape.prefix) and shape.prefix[index]:
            return shape.prefix[index][0].spot()
    return None


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else -1


def _repeats(value: Any) -> bool:
    return isinstance(value, list) and len({key_of_value(item) for item in value}) < len(value)
