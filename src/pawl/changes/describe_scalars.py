"""Describing numbers and strings: bounds, steps, patterns and formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from pawl.changes.facts import Bound, Facts
from pawl.changes.forms import Alternative
from pawl.changes.source import Spot
from pawl.changes.values import ABSENT
from pawl.changes.walk import Finding, Here, Walk

_LOW = ("minimum", "exclusiveMinimum")
_HIGH = ("maximum", "exclusiveMaximum")


def describe_number(walk: Walk, here: Here, one: Alternative, other: Alternative) -> None:
    old, new = one.facts, other.facts
    if old.low != new.low and not _same_text(old, new, _LOW):
        tighter = new.low is not None and (old.low is None or new.low > old.low)
        edge = _edge(new.low if tighter else old.low)
        bound(walk, here, (old, new), _LOW, tighter=tighter, shows=lambda value: is_number(value) and value <= edge)
    if old.high != new.high and not _same_text(old, new, _HIGH):
        tighter = new.high is not None and (old.high is None or _rank(new.high) < _rank(old.high))
        edge = _edge(new.high if tighter else old.high)
        bound(walk, here, (old, new), _HIGH, tighter=tighter, shows=lambda value: is_number(value) and value >= edge)
    _steps(walk, here, old, new)


def _steps(walk: Walk, here: Here, old: Facts, new: Facts) -> None:
    left, right = _step(old), _step(new)
    if left == right or _same_text(old, new, ("multipleOf",)):
        return
    keywords = ("multipleOf",)
    if not _divides(left, right):
        bound(walk, here, (old, new), keywords, tighter=True, shows=_no_multiple(new.step))
    if not _divides(right, left):
        bound(walk, here, (old, new), keywords, tighter=False, shows=_no_multiple(old.step))


def _step(facts: Facts) -> Fraction | None:
    """Return the step that ``multipleOf`` asks for; that of the type is the type's."""
    if facts.whole and facts.step == 1 and "multipleOf" not in facts.where:
        return None
    return facts.step if "multipleOf" in facts.where else None


def _divides(step: Fraction | None, by: Fraction | None) -> bool:
    """Whether all multiples of ``step`` are multiples of ``by``."""
    return by is None or (step is not None and (step / by).denominator == 1)


def _no_multiple(step: Fraction | None) -> Callable[[Any], bool]:
    def shows(value: Any) -> bool:
        if not is_number(value) or step is None:
            return False
        return (Fraction(repr(value)) / step).denominator != 1

    return shows


def describe_string(walk: Walk, here: Here, one: Alternative, other: Alternative) -> None:
    old, new = one.facts, other.facts
    least(walk, here, (old, new), "minLength", (old.min_length, new.min_length), size=_length)
    most(walk, here, (old, new), "maxLength", (old.max_length, new.max_length), size=_length)
    texts(walk, here, "pattern", "pattern", (old.patterns, new.patterns))
    for keyword in ("format", "contentEncoding", "contentMediaType", "contentSchema"):
        both = tuple(
            {text: spot for (name, text), spot in facts.formats.items() if name == keyword} for facts in (old, new)
        )
        texts(walk, here, "format", keyword, (both[0], both[1]))


def texts(walk: Walk, here: Here, code: str, keyword: str, both: tuple[Mapping[str, Spot], Mapping[str, Spot]]) -> None:
    """Report patterns or formats that are on one side only."""
    gone = {text: spot for text, spot in both[0].items() if text not in both[1]}
    come = {text: spot for text, spot in both[1].items() if text not in both[0]}
    if gone and come:
        spot = next(iter(come.values()))
        values = _one_or_all(gone), _one_or_all(come)
        walk.emit(here, Finding(key=f"{code}-changed", spot=spot, keyword=keyword, old=values[0], new=values[1]))
        return
    for text, spot in gone.items():
        walk.emit(here, Finding(key=f"{code}-removed", spot=spot, keyword=keyword, old=text))
    for text, spot in come.items():
        walk.emit(here, Finding(key=f"{code}-added", spot=spot, keyword=keyword, new=text))


def _one_or_all(found: Iterable[str]) -> Any:
    values = list(found)
    return values[0] if len(values) == 1 else values


def bound(
    walk: Walk,
    here: Here,
    both: tuple[Facts, Facts],
    keywords: tuple[str, ...],
    *,
    tighter: bool,
    shows: Callable[[Any], bool],
) -> None:
    """Report one bound that moved."""
    old, new = both
    left = next((old.where[name] for name in keywords if name in old.where), None)
    right = next((new.where[name] for name in keywords if name in new.where), None)
    spot = right or left or here.spot
    finding = Finding(
        key="bound-tightened" if tighter else "bound-relaxed",
        spot=spot,
        keyword=str(spot.use[-1]) if right or left else keywords[0],
        old=left.value if left else ABSENT,
        new=right.value if right else ABSENT,
        shows=shows,
    )
    walk.emit(here, finding)


def least(
    walk: Walk,
    here: Here,
    both: tuple[Facts, Facts],
    keyword: str,
    limits: tuple[int, int],
    *,
    size: Callable[[Any], int],
) -> None:
    """Report a lower limit of a size."""
    old, new = limits
    if old != new:
        edge = max(old, new)
        bound(walk, here, both, (keyword,), tighter=new > old, shows=lambda value: 0 <= size(value) < edge)


def most(
    walk: Walk,
    here: Here,
    both: tuple[Facts, Facts],
    keyword: str,
    limits: tuple[int | None, int | None],
    *,
    size: Callable[[Any], int],
) -> None:
    """Report an upper limit of a size."""
    old, new = limits
    if old != new:
        edge = min(limit for limit in (old, new) if limit is not None)
        tighter = new is not None and (old is None or new < old)
        bound(walk, here, both, (keyword,), tighter=tighter, shows=lambda value: size(value) > edge)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str) else -1


def _edge(found: Bound | None) -> Fraction:
    return found.value if found is not None else Fraction(0)


def _rank(found: Bound) -> tuple[Fraction, bool]:
    return found.value, not found.open


def _same_text(old: Facts, new: Facts, keywords: tuple[str, ...]) -> bool:
    """Whether a bound is written alike on both sides: then only the type moved it."""
    left, right = ([facts.where[name].value for name in keywords if name in facts.where] for facts in (old, new))
    names = [[name for name in keywords if name in facts.where] for facts in (old, new)]
    return bool(left) and names[0] == names[1] and left == right
