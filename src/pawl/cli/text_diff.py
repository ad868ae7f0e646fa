"""Two texts side by side for a person: lines with a sign, what changed within a line marked, blanks made visible.

A line is a sign and a text. Signs: ``-`` old, ``+`` new, a blank for what is the same, ``@`` where in the text, ``~`` a
remark. Texts are cleaned of control characters. The work and the number of lines are bounded, whatever the texts are;
what is left out is said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, TypeAlias

from pawl.cli.output import clean

Line: TypeAlias = tuple[str, str]
_Code: TypeAlias = tuple[str, int, int, int, int]

CONTEXT = 2
MAX_LINES = 80
MAX_PAIRED = 8
"""Lines that became as many others and are shown in pairs."""
MAX_SIDE = 30
"""Lines of one side where lines were exchanged."""
MAX_LINE = 600
"""Characters of one line that are shown; a longer one is cut around what changed."""
MAX_SHORT = 80
"""Characters of a value that is shown on one line."""
_MOST_PAIRS = 100_000
"""Pairs of lines, or of words, that are looked at; beyond it the whole is taken as exchanged."""
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_VISIBLE = str.maketrans({" ": "·", "\t": "→"})


def text_diff(old: str, new: str) -> tuple[Line, ...]:
    """Return how one text became another; empty if they are equal."""
    if not old.endswith("\n") and not new.endswith("\n"):
        old, new = (f"{text}\n" if text else "" for text in (old, new))  # it says nothing where both are like that
    left, right = _lines(old), _lines(new)
    lines: list[Line] = []
    total = 0
    for line in _hunks(left, right):
        total += 1
        if total <= MAX_LINES:
            lines.append(line)
    return (*lines, *([("~", f"{total - MAX_LINES:,} more lines are left out")] if total > MAX_LINES else ()))


def one_sided(text: str, sign: str) -> tuple[Line, ...]:
    """Return a text that is only on one side."""
    found = text_diff("", text) if sign == "+" else text_diff(text, "")
    return tuple(line for line in found if line[0] != "@")


def value_lines(change: Mapping[str, Any]) -> Iterable[Line]:
    """Return old and new value: short ones on one line each, long ones and texts as a diff by line."""
    old, new = change.get("old"), change.get("new")
    if "old" in change and "new" in change and (_is_long(old) or _is_long(new)):
        return text_diff(_written(old, new), _written(new, old))
    found: list[Line] = []
    for sign, key in (("-", "old"), ("+", "new")):
        if key in change:
            value = change[key]
            long = one_sided(_written(value, value), sign) if _is_long(value) else ((sign, clean(short(value))),)
            found += long
    return found


def _is_long(value: Any) -> bool:
    return "\n" in value if isinstance(value, str) and len(value) <= MAX_SHORT else len(short(value)) > MAX_SHORT


def short(value: Any) -> str:
    """Return a JSON value on one line."""
    return json.dumps(value, ensure_ascii=False)


def _written(value: Any, other: Any) -> str:
    """Return a value as text: a text as it is if the other is one too, everything else as JSON over several lines."""
    if isinstance(value, str) and isinstance(other, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def cut(text: str, limit: int, at: int = 0) -> str:
    """Return at most ``limit`` characters of a text, around the place ``at``, and how many are left out."""
    if len(text) <= limit:
        return text
    first = max(0, min(at - limit // 3, len(text) - limit))
    before, after = first, len(text) - first - limit
    head = f"({before:,} characters) …" if before else ""
    tail = f"… ({after:,} characters)" if after else ""
    return head + text[first : first + limit] + tail


def _lines(text: str) -> list[str]:
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else ())]


def _hunks(left: Sequence[str], right: Sequence[str]) -> Iterator[Line]:
    start = _common(left, right)
    end = _common(left[start:][::-1], right[start:][::-1])
    middle = left[start : len(left) - end], right[start : len(right) - end]
    if not any(middle):
        return
    tail = left[len(left) - end :][:CONTEXT]
    yield "@", f"line {max(start - CONTEXT, 0) + 1}"
    yield from _same(left[max(start - CONTEXT, 0) : start])
    yield from _inner(*middle, start)
    yield from _same(tail)


def _inner(left: Sequence[str], right: Sequence[str], start: int) -> Iterator[Line]:
    if len(left) * len(right) > _MOST_PAIRS:
        yield from _exchanged(left, right)
        return
    matcher = SequenceMatcher(a=left, b=right, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "equal":
            yield from _exchanged(left[a:b], right[c:d])
        elif b - a <= 2 * CONTEXT:
            yield from _same(left[a:b])
        else:
            yield from _same(left[a : a + CONTEXT])
            yield "@", f"line {start + b - CONTEXT + 1}"
            yield from _same(left[b - CONTEXT : b])


def _exchanged(left: Sequence[str], right: Sequence[str]) -> Iterator[Line]:
    if len(left) == len(right) <= MAX_PAIRED:
        for one, other in zip(left, right, strict=True):
            yield from _one_line(one, other)
        return
    for sign, lines in (("-", left), ("+", right)):
        for line in lines[:MAX_SIDE]:
            yield from _line(sign, line, _shown(line))
        if len(lines) > MAX_SIDE:
            yield "~", f"{len(lines) - MAX_SIDE:,} more lines of this side are left out"


def _one_line(old: str, new: str) -> Iterator[Line]:
    """Where one line became one other, mark the words that differ: ``[-old-]`` and ``{+new+}``."""
    left, right = _WORDS.findall(_body(old)), _WORDS.findall(_body(new))
    codes: list[_Code] = []
    if 0 < len(left) * len(right) <= _MOST_PAIRS:
        codes = list(SequenceMatcher(a=left, b=right, autojunk=False).get_opcodes())
        if sum(b - a for kind, a, b, _, _ in codes if kind == "equal") * 3 < max(len(left), len(right)):
            codes = []  # another line altogether: marks would be noise
        codes = _joined(left, codes)
    if not codes:
        at = _common(old, new)
        yield from _line("-", old, _shown(old, at))
        yield from _line("+", new, _shown(new, at))
        return
    yield from _line("-", old, _marked(left, [(kind, a, b) for kind, a, b, _, _ in codes], "[-", "-]") + _end(old))
    yield from _line("+", new, _marked(right, [(kind, c, d) for kind, _, _, c, d in codes], "{+", "+}") + _end(new))


def _joined(words: Sequence[str], codes: Sequence[_Code]) -> list[_Code]:
    """Take blanks between two exchanged words as exchanged with them, so that a phrase is marked as one."""
    found: list[_Code] = []
    for index, (kind, a, b, c, d) in enumerate(codes):
        blank = kind == "equal" and 0 < index < len(codes) - 1 and not "".join(words[a:b]).strip()
        if found and found[-1][0] != "equal" and (blank or kind != "equal"):
            found[-1] = ("replace", found[-1][1], b, found[-1][3], d)
        else:
            found.append((kind, a, b, c, d))
    return found


def _marked(words: Sequence[str], codes: Sequence[tuple[str, int, int]], opened: str, closed: str) -> str:
    parts: list[str] = []
    first = None
    for kind, start, end in codes:
        text = clean("".join(words[start:end]))
        if kind != "equal" and text:
            first = sum(map(len, parts)) if first is None else first
            text = f"{opened}{text}{closed}"
        parts.append(text)
    return cut("".join(parts), MAX_LINE, first or 0)


def _same(lines: Sequence[str]) -> Iterator[Line]:
    return ((" ", cut(clean(line.removesuffix("\n")), MAX_LINE)) for line in lines)


def _line(sign: str, line: str, shown: str) -> Iterator[Line]:
    yield sign, shown
    if not line.endswith("\n"):
        yield "~", "no line end after it"


def _shown(line: str, at: int = 0) -> str:
    return cut(clean(_body(line)), MAX_LINE, at) + _end(line)


def _body(line: str) -> str:
    return line.removesuffix("\n").rstrip(" \t")


def _end(line: str) -> str:
    """Return the blanks at the end of a changed line, made visible."""
    return cut(line.removesuffix("\n")[len(_body(line)) :].translate(_VISIBLE), MAX_LINE)


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    length = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        length += 1
    return length
