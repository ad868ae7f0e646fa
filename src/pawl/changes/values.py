"""Changes and comparisons as values, and JSON values compared as JSON Schema compares them.

``1`` equals ``1.0``, ``true`` does not equal ``1``, and key order does not count.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal, TypeAlias

from pawl.problems import Place, pointer

Level: TypeAlias = Literal["none", "patch", "minor", "major"]
Side: TypeAlias = Literal["input", "output"]
Proof: TypeAlias = Literal["witness", "usage", "rule", "undecided"]

LEVELS: Final[tuple[Level, ...]] = ("none", "patch", "minor", "major")
MAX_SHOWN = 80


class Absent(Enum):
    """The type of ``ABSENT``: null is a value like any other, so it cannot stand for nothing."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change, the bump that it requires, and why.

    ``path`` leads to the keyword in the new document, or in the old one for what is gone; ``at`` is where its text
    stands if a reference led there.
    """

    code: str
    level: Level
    path: Place
    reason: str
    side: Side | None = None
    at: Place | None = None
    old: Any = ABSENT
    new: Any = ABSENT
    flags: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    affects: tuple[str, ...] = ()
    proof: Proof = "rule"
    witness: Any = ABSENT

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form: what is absent is left out."""
        found: dict[str, Any] = {"code": self.code}
        if self.side is not None:
            found["side"] = self.side
        found["path"] = pointer(self.path)
        if self.at is not None:
            found["at"] = pointer(self.at)
        both = (("old", self.old), ("new", self.new))
        found |= {name: value for name, value in both if value is not ABSENT}
        found["level"] = self.level
        found |= {"flags": list(self.flags), "breaks": list(self.breaks), "affects": list(self.affects)}
        found["proof"] = self.proof
        if self.witness is not ABSENT:
            found["witness"] = self.witness
        found["reason"] = self.reason
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Every change between two versions, the gravest first, and the bump that all of them together require."""

    required: Level
    changes: tuple[Change, ...]

    def as_dict(self) -> dict[str, Any]:
        return {"required": self.required, "changes": [change.as_dict() for change in self.changes]}


def highest(levels: Iterable[Level]) -> Level:
    """Return the largest bump among ``levels``; none of them is ``none``."""
    return max(levels, key=LEVELS.index, default="none")


def sort_key(change: Change) -> tuple[int, str, str]:
    return (-LEVELS.index(change.level), pointer(change.path), change.code)


def same(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(same(one, other) for one, other in zip(left, right, strict=True))
    return bool(left == right) and isinstance(left, str) == isinstance(right, str)


def keyed(values: Iterable[Any]) -> dict[str, Any]:
    """Return JSON values by a text that equal ones share, so without repetitions, the first of each kept."""
    found: dict[str, Any] = {}
    for value in values:
        found.setdefault(key_of_value(value), value)
    return found


def key_of_value(value: Any) -> str:
    """Return a text that is the same for equal JSON values."""
    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def shown(value: Any) -> str:
    """Return a short form of a JSON value for a sentence."""
    if value is ABSENT:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def listed(values: Iterable[Any]) -> str:
    """Return a few JSON values for a sentence, and how many more there are."""
    texts = [shown(value) for value in values]
    return ", ".join(texts[:5]) + (f" and {len(texts) - 5} more" if len(texts) > 5 else "")
