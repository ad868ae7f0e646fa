"""Which version a change asks for.

A pre-release of X.Y.Z is judged as X.Y.Z; between two versions of one X.Y.Z nothing is required but to be higher. 0.y.z
has no exemption: what breaks 0.3.0 is 1.0.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from pawl.changes.values import Level
from pawl.ids import MAX_NUMBER, Version, numbers_of, parse_version

Numbers: TypeAlias = tuple[int, int, int]
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:(a|b|rc)(\d+))?\Z")
_FINAL = ("z", 0)


def bump_ok(base: Version, new: Version, level: Level) -> bool:
    """Return whether ``new`` is high enough above ``base`` for changes of ``level``."""
    (before, before_stage), (after, after_stage) = _parts(base), _parts(new)
    if level == "none":
        return (after, after_stage) >= (before, before_stage)
    if (after, after_stage) <= (before, before_stage):
        return False
    if before == after or level == "patch":
        return True
    return after[0] > before[0] or (level == "minor" and after[:2] > before[:2])


def smallest_version(base: Version, level: Level) -> Version | None:
    """Return the lowest final version that is high enough above ``base``; None where no number is left.

    A part that is as high as it goes is passed by raising the one before it.
    """
    (x, y, z), stage = _parts(base)
    if level == "none":
        return base
    if stage != _FINAL:
        return parse_version(f"{x}.{y}.{z}")
    ways = {"patch": (x, y, z + 1), "minor": (x, y + 1, 0), "major": (x + 1, 0, 0)}
    higher = tuple(ways)[tuple(ways).index(level) :]
    raised = next((ways[part] for part in higher if max(ways[part]) <= MAX_NUMBER), None)
    return parse_version(".".join(str(number) for number in raised)) if raised else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """The published final versions that a new one must be true to.

    ``base`` is the highest below it: callers come from there. ``later`` is the lowest above it with the same X, which
    ranges that take the new one go on to. ``final`` is X.Y.Z itself, where a pre-release of it comes too late.
    """

    base: Version | None
    later: Version | None
    final: Version | None


def neighbours(new: Version, finals: Iterable[Version]) -> Neighbours:
    """Return what ``new`` stands between; ``finals`` are published final versions other than ``new``, revoked ones left
    out."""
    numbers, stage = _parts(new)
    known = [(numbers_of(version), version) for version in finals]
    below = max((item for item in known if item[0] < numbers), default=None)
    above = min((item for item in known if item[0] > numbers and item[0][0] == numbers[0]), default=None)
    final = next((version for other, version in known if other == numbers and stage != _FINAL), None)
    return Neighbours(base=below[1] if below else None, later=above[1] if above else None, final=final)


def final_of(version: Version) -> Version:
    """Return the final version that one leads to: itself, or X.Y.Z of a pre-release."""
    return parse_version(".".join(str(number) for number in _parts(version)[0]))


def _parts(version: Version) -> tuple[Numbers, tuple[str, int]]:
    found = _VERSION.match(parse_version(version))
    assert found is not None  # noqa: S101 - parse_version takes nothing else
    x, y, z, stage, number = found.groups()
    return (int(x), int(y), int(z)), (stage, int(number)) if stage else _FINAL
