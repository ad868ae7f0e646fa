"""The plain difference of two documents: every place where they are not equal. Says nothing of levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pawl.problems import Place, pointer

ABSENT = object()
"""Stands for a value that is not there; null is a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place: ``old`` and ``new`` are ``ABSENT`` where there is nothing."""

    at: Place
    old: Any
    new: Any

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form; what is absent is left out."""
        row = {"path": pointer(self.at)}
        row |= {} if self.old is ABSENT else {"old": self.old}
        return row if self.new is ABSENT else {**row, "new": self.new}


def differences(old: Any, new: Any, at: Place = ()) -> Iterator[Difference]:
    """Yield the smallest places that differ; lists are compared position by position. 1 and 1.0 are equal in JSON."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            yield from differences(old.get(key, ABSENT), new.get(key, ABSENT), (*at, key))
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            left = old[index] if index < len(old) else ABSENT
            right = new[index] if index < len(new) else ABSENT
            yield from differences(left, right, (*at, index))
    elif old is not new and (isinstance(old, bool) != isinstance(new, bool) or old != new):
        yield Difference(at=at, old=old, new=new)
