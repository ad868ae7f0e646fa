"""Plain scalars by the core schema of YAML 1.2, less what JSON cannot hold exactly.

``no``, ``on``, ``22:30``, ``2026-03-01`` and ``1_000`` are strings. Numbers that would lose digits are refused: leading
zeros, integers beyond 2**53 - 1, and floats that overflow or vanish.
"""

from __future__ import annotations

import math
import re
from typing import TypeAlias

Scalar: TypeAlias = str | int | float | bool | None

MAX_INTEGER = 2**53 - 1

WORDS: dict[str, bool | None] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
NUMBER_STARTS = frozenset("0123456789+-.")
_NUMBER = re.compile(
    r"(?P<decimal>[-+]?[0-9]+)"
    r"|0o(?P<octal>[0-7]+)"
    r"|0x(?P<hexadecimal>[0-9a-fA-F]+)"
    r"|(?P<float>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<other>[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))"
)
_BASES = {"decimal": 10, "octal": 8, "hexadecimal": 16}
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]")
_QUOTE = "put it in quotes if it is text"
_NONZERO_MANTISSA = re.compile(r"[-+.0]*[1-9]")


class ScalarError(ValueError):
    """A plain scalar is refused; ``code`` says why."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint


def resolve(text: str) -> Scalar:
    """Return what the plain scalar ``text`` means or raise ``ScalarError``."""
    if text in WORDS:
        return WORDS[text]
    number = _NUMBER.fullmatch(text) if text[0] in NUMBER_STARTS else None
    if number is None:
        return text
    form = number.lastgroup or ""
    if form == "other":
        raise ScalarError("not-a-number", f"{text} has no place in JSON: write a finite number", _QUOTE)
    if _LEADING_ZERO.match(text):
        message = f"the number {_short(text)} has a leading zero, which loaders drop or read as octal"
        raise ScalarError("leading-zero", message, _QUOTE)
    return decimal(text) if form == "float" else integer(number[form], _BASES[form], written=text)


def integer(digits: str, base: int = 10, *, written: str | None = None) -> int:
    """Return the integer or raise ``ScalarError``, which shows it as ``written``, if JSON readers would round it."""
    # 2**53 has 18 octal digits; the cap keeps int() from meeting a quarter of a megabyte of digits
    value = int(digits, base) if len(digits.lstrip("+-0")) <= 20 else math.inf
    if abs(value) > MAX_INTEGER:
        shown = _short(written or digits)
        raise ScalarError("number-too-large", f"the integer {shown} is beyond 2^53-1 and would lose digits", _QUOTE)
    return int(value)


def decimal(text: str) -> float:
    """Return the float or raise ``ScalarError`` if it overflows or vanishes."""
    value = float(text)
    if math.isinf(value) or (value == 0 and _NONZERO_MANTISSA.match(text)):
        raise ScalarError("number-too-large", f"the number {_short(text)} is outside the range of a double", _QUOTE)
    return value


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "..."
