"""Plain JSON values: what expressions see and what a walk hands out.

Whatever an agent passes in (tuples, read-only mappings, subclasses) becomes dictionaries, lists, texts, numbers,
booleans and None of its own, so that nothing given out shares anything with what was given in. What JSON cannot hold,
and what is too deep or too large, is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 96
"""More than the 64 levels that files have, as results stand inside of other values."""
MAX_PARTS = 200_000
MAX_TEXT = 32 * 1024 * 1024
"""In characters, keys included."""


@dataclass(slots=True)
class Measure:
    """How large a value is; it goes up with every value that is read with it."""

    parts: int = 0
    text: int = 0
    widest: int = 0
    """The length of the longest list or mapping."""
    longest: int = 0
    """The length of the longest text."""
    nul: bool = False
    """Whether a text has U+0000 in it."""


def to_plain(value: Any, measure: Measure) -> Any:
    """Return a plain copy of ``value``; raises ``ValueError`` with a sentence where JSON has no such value."""
    return _plain(value, measure, MAX_DEPTH)


def _plain(value: Any, measure: Measure, depth: int) -> Any:
    measure.parts += 1
    if measure.parts > MAX_PARTS:
        raise ValueError(f"the values have more than {MAX_PARTS} parts")
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return _text(value, measure)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise ValueError("a number does not fit into 64 bits")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{float(value)} is no number that JSON has")
        return float(value)
    if depth == 0:
        raise ValueError(f"the values are nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        measure.widest = max(measure.widest, len(value))
        return {_key(key, measure): _plain(item, measure, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        measure.widest = max(measure.widest, len(value))
        return [_plain(item, measure, depth - 1) for item in value]
    raise ValueError(f"a Python {type(value).__name__} is no value that JSON has")


def _key(key: Any, measure: Measure) -> str:
    if not isinstance(key, str):
        message = f"a mapping has a key that is no text but a Python {type(key).__name__}"
        raise ValueError(message)  # noqa: TRY004 - one error for all that JSON cannot hold
    measure.parts += 1
    return _text(key, measure)


def _text(value: str, measure: Measure) -> str:
    measure.text += len(value)
    measure.longest = max(measure.longest, len(value))
    if measure.text > MAX_TEXT:
        raise ValueError(f"the values have more than {MAX_TEXT} characters")
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("a text has half of a surrogate pair, which UTF-8 cannot hold") from None
    if "\0" in value:
        measure.nul = True
    return str(value)
