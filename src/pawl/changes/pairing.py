"""Pairing the alternatives of one type on both sides of a union, so that like is compared with like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pawl.changes.facts import declared
from pawl.changes.forms import Alternative, Form, of_name
from pawl.changes.inclusion import Inclusion


@dataclass(slots=True, eq=False)
class Paired:
    """Which alternatives belong together, and which have nobody on the other side."""

    pairs: list[tuple[Alternative, Alternative]] = field(default_factory=list)
    lost: list[Alternative] = field(default_factory=list)
    gained: list[Alternative] = field(default_factory=list)


def paired(inclusion: Inclusion, old: tuple[Alternative, ...], new: tuple[Alternative, ...]) -> Paired:
    """Pair what is the same, then what a constant or a title tells to be one, then what lies within, then the rest."""
    found = Paired(lost=list(old), gained=list(new))
    if len(old) == 1 and len(new) == 1 and not _told_apart(inclusion, old[0], new[0]):
        return Paired(pairs=[(old[0], new[0])])
    tests: tuple[Callable[[Alternative, Alternative], bool], ...] = (
        lambda one, other: inclusion.twins(one.schema, other.schema),
        lambda one, other: _in(inclusion, one, other) and _in(inclusion, other, one),
        lambda one, other: one.members is not None and other.members is not None,
        lambda one, other: bool(_marks(inclusion, one) & _marks(inclusion, other)),
        lambda one, other: _in(inclusion, one, other) or _in(inclusion, other, one),
    )
    for test in tests:
        _take(inclusion, found, test)
    _rest(inclusion, found)
    return found


def _take(inclusion: Inclusion, found: Paired, test: Callable[[Alternative, Alternative], bool]) -> None:
    for one in tuple(found.lost):
        if not inclusion.forms.effort.spend(len(found.gained)):
            return
        other = next((other for other in found.gained if test(one, other)), None)
        if other is not None:
            _join(found, one, other)


def _rest(inclusion: Inclusion, found: Paired) -> None:
    """Pair by the number of names in common, in order; alternatives that exclude each other stay alone."""
    for one in tuple(found.lost):
        free = [other for other in found.gained if not _told_apart(inclusion, one, other)]
        if free:
            names = set(declared(one.facts))
            _join(found, one, max(free, key=lambda other: len(names & set(declared(other.facts)))))


def _join(found: Paired, one: Alternative, other: Alternative) -> None:
    found.pairs.append((one, other))
    found.lost = [left for left in found.lost if left is not one]
    found.gained = [right for right in found.gained if right is not other]


def _in(inclusion: Inclusion, one: Alternative, other: Alternative) -> bool:
    form = Form((other,), other.facts)
    return inclusion.alternative_in(one, form, other.schema)


def _marks(inclusion: Inclusion, alternative: Alternative) -> set[Any]:
    """Return what names an alternative: its title, and the constants that it requires."""
    marks: set[Any] = {
        ("title", str(spot.value))
        for spot in alternative.facts.notes.get("title", {}).values()
        if alternative.branch is not None
    }
    for name in alternative.facts.required if alternative.kind == "object" else ():
        for part in inclusion.forms.form(of_name(alternative.facts, name)).alternatives:
            if part.members is not None and part.kind not in ("null", "boolean"):
                marks |= {(name, key) for key in part.members}
    return marks


def _told_apart(inclusion: Inclusion, one: Alternative, other: Alternative) -> bool:
    """Whether both are branches of unions with constants that exclude each other."""
    if one.kind != "object" or one.branch is None or other.branch is None:
        return False
    left, right = _marks(inclusion, one), _marks(inclusion, other)
    names = {name for name, _ in left} & {name for name, _ in right} - {"title"}
    return any(not {key for at, key in left if at == name} & {key for at, key in right if at == name} for name in names)
