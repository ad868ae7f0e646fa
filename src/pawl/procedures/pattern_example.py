"""Texts that a regular expression matches, for the usual expressions: literals, classes, groups, choices, repeats.

What goes beyond that (look-around, flags, references, properties of characters) raises ``ValueError``; whether a text
really matches is for the validator to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

MAX_LENGTH = 1_000
MAX_NESTING = 30
COUNTS = (0, 1, 2, 4, 8, 16, 64)
"""How often repeated parts stand there, where the expression leaves it open."""

_Sample: TypeAlias = Callable[[int], str]
_PREFERRED = "aA1-_ .xX0bB2/@:"
_ESCAPED = {"d": "1", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a", "n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_IN_CLASS = {"d": "0-9", "w": "A-Za-z0-9_", "s": " \t\n"}
_REPEAT = re.compile(r"\{(\d{1,4})(,(\d{0,4}))?\}")


def matching_texts(pattern: str) -> Iterator[str]:
    """Yield texts that the pattern should match, short ones first; ``ValueError`` for what is not understood."""
    reader = _Reader(pattern)
    sample = reader.choice(0)
    if reader.at < len(pattern):
        raise ValueError("a parenthesis is closed that was never opened")
    seen: set[str] = set()
    for count in COUNTS:
        text = sample(count)
        if text not in seen and len(text) <= MAX_LENGTH:
            seen.add(text)
            yield text


class _Reader:
    """One pass over a pattern."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def choice(self, depth: int) -> _Sample:
        if depth > MAX_NESTING:
            raise ValueError("the pattern is nested too deep")
        branches = [self._sequence(depth)]
        while self._take("|"):
            branches.append(self._sequence(depth))
        return branches[0]

    def _sequence(self, depth: int) -> _Sample:
        parts: list[_Sample] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            parts.append(self._repeated(self._atom(depth)))
        return lambda count: _bounded("".join(part(count) for part in parts))

    def _atom(self, depth: int) -> _Sample:
        sign = self._next()
        if sign == "(":
            if self._take("?") and not (self._take(":") or self._named()):
                raise ValueError("only plain groups are understood")
            inner = self.choice(depth + 1)
            if not self._take(")"):
                raise ValueError("a group is not closed")
            return inner
        if sign == "[":
            return _always(self._class())
        if sign == "\\":
            return _always(self._escape())
        if sign in "*+?{":
            raise ValueError("nothing to repeat")
        return _always({"^": "", "$": "", ".": "a"}.get(sign, sign))

    def _named(self) -> bool:
        found = re.compile(r"P?<[A-Za-z_]\w*>").match(self.pattern, self.at)
        if found:
            self.at = found.end()
        return found is not None

    def _repeated(self, part: _Sample) -> _Sample:
        least, most = 1, 1
        found = _REPEAT.match(self.pattern, self.at)
        if found:
            self.at = found.end()
            least = int(found[1])
            most = least if found[2] is None else int(found[3]) if found[3] else MAX_LENGTH
        elif self._take("*"):
            least, most = 0, MAX_LENGTH
        elif self._take("+"):
            least, most = 1, MAX_LENGTH
        elif self._take("?"):
            least, most = 0, 1
        else:
            return part
        self._take("?")
        return lambda count: _bounded(part(count) * min(max(least, count), most))

    def _class(self) -> str:
        negated = self._take("^")
        ranges: list[tuple[str, str]] = []
        first = True
        while first or self.pattern[self.at : self.at + 1] != "]":
            first = False
            sign = self._next()
            if sign == "\\" and self.pattern[self.at : self.at + 1] in _IN_CLASS:
                ranges += _spread(_IN_CLASS[self._next()])
                continue
            low = self._escape() if sign == "\\" else sign
            high = low
            if self.pattern[self.at : self.at + 1] == "-" and self.pattern[self.at + 1 : self.at + 2] not in {"]", ""}:
                self.at += 1
                sign = self._next()
                high = self._escape() if sign == "\\" else sign
            ranges.append((low, high))
        self.at += 1
        inside = [sign for sign in _PREFERRED if any(low <= sign <= high for low, high in ranges) != negated]
        if inside:
            return inside[0]
        if negated or not ranges:
            raise ValueError("no usual character fits the class")
        return ranges[0][0]

    def _escape(self) -> str:
        sign = self._next()
        if sign in _ESCAPED:
            return _ESCAPED[sign]
        if sign in {"b", "B", "A", "z", "Z"}:
            return ""
        if sign.isalnum():
            raise ValueError(f"\\{sign} is not understood")
        return sign

    def _next(self) -> str:
        if self.at >= len(self.pattern):
            raise ValueError("the pattern ends too early")
        self.at += 1
        return self.pattern[self.at - 1]

    def _take(self, sign: str) -> bool:
        found = self.pattern.startswith(sign, self.at)
        self.at += len(sign) if found else 0
        return found


def _always(text: str) -> _Sample:
    return lambda _: text


def _bounded(text: str) -> str:
    if len(text) > MAX_LENGTH * 4:
        raise ValueError("the texts are too long")
    return text


def _spread(text: str) -> list[tuple[str, str]]:
    pairs = re.findall(r"(.)-(.)|(.)", text, re.DOTALL)
    return [(low or one, high or one) for low, high, one in pairs]
