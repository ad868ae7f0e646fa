"""Limits side by side: whether one range lies within another, and what a short range holds."""

from __future__ import annotations

from math import ceil, floor
from typing import Any

from pawl.changes.facts import Bound, Facts, declared, of_rest, pattern_texts, smaller
from pawl.changes.forms import Alternative
from pawl.changes.source import is_nothing
from pawl.changes.values import keyed

MAX_COUNTED = 64
"""The most whole numbers of a range that are looked at one by one."""


def counted(one: Alternative) -> dict[str, Any] | None:
    """Return the numbers of a short range of whole steps."""
    facts = one.facts
    if one.kind != "number" or facts.step is None or facts.low is None or facts.high is None or facts.conditions:
        return None
    first, last = ceil(facts.low.value / facts.step), floor(facts.high.value / facts.step)
    if last - first >= MAX_COUNTED:
        return None
    numbers = [facts.step * turn for turn in range(first, last + 1)]
    return keyed(int(number) if number.denominator == 1 else float(number) for number in numbers)


def low_within(left: Bound | None, right: Bound | None) -> bool:
    return right is None or (left is not None and left >= right)


def high_within(left: Bound | None, right: Bound | None) -> bool:
    if right is None or left is None:
        return right is None
    return left.value < right.value or (left.value == right.value and (left.open or not right.open))


def most_within(left: int | None, right: int | None) -> bool:
    return right is None or (left is not None and left <= right)


def most_members(facts: Facts) -> int | None:
    closed = not pattern_texts(facts) and is_nothing(of_rest(facts))
    return smaller(facts.max_properties, len(declared(facts)) if closed else None)
