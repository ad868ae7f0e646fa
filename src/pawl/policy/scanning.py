"""Just enough of CEL's surface to take an expression apart for an explanation.

Nothing here decides: whatever cannot be taken apart stays in one piece. Strings and comments are masked first, so that
operators and brackets inside them are not seen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_PARTS = 20
_OPAQUE = re.compile(
    r"""[bBrR]{0,2}(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|//[^\n]*""",
    re.DOTALL,
)
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_INDEX = r"""\[\s*(?:[0-9]+|"[^"\\\n]*"|'[^'\\\n]*')\s*\]"""
_PATH = re.compile(
    rf"(?<![\w.)\]])(procedure|current|actor|channel|action|closure)\b((?:\.[A-Za-z_]\w*|{_INDEX})*)(\s*\()?"
)
_INDEXING = re.compile(r"[\w)\]]\[\s*\Z")
_STEP = re.compile(rf"\.([A-Za-z_]\w*)|({_INDEX})")
_MACRO = re.compile(r"(!?)\s*(.+?)\.(exists|all|exists_one)\(\s*([A-Za-z_]\w*)\s*,", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """A way into one of the variables, as it is written and as its steps."""

    text: str
    root: str
    steps: tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantifier:
    """``over.exists(item, condition)`` and its kin, or the negation of one."""

    negated: bool
    over: Path
    macro: str
    item: str
    condition: str


def conjuncts(expression: str) -> tuple[str, ...]:
    """Return the conditions that must all hold, from left to right; the whole where it cannot be split."""
    found: list[str] = []
    waiting = [expression]
    while waiting and len(found) + len(waiting) <= MAX_PARTS:
        text = _bare(waiting.pop())
        parts = _split(text, "&&") if len(_split(text, "||")) == 1 and len(_split(text, "?")) == 1 else [text]
        if len(parts) == 1:
            found.append(text)
        else:
            waiting.extend(reversed(parts))
    return tuple(found + [part.strip() for part in reversed(waiting)])


def paths(expression: str) -> tuple[Path, ...]:
    """Return each way into a variable that an expression mentions, once; the name of a method is no part of it."""
    masked = _masked(expression, strings_in_index=False)
    found: dict[str, Path] = {}
    for match in _PATH.finditer(masked):
        steps = [_step(step) for step in _STEP.finditer(match[2])]
        end = match.end(2)
        if match[3] and steps and match[2].rpartition(".")[1]:
            steps.pop()
            end = match.start(2) + match[2].rindex(".")
        text = expression[match.start() : end]
        found.setdefault(text, Path(text=text, root=match[1], steps=tuple(steps)))
    return tuple(found.values())


def quantifier(expression: str) -> Quantifier | None:
    """Return an expression that is nothing but one quantifier over a path, or ``None``."""
    text = _bare(expression)
    masked = _masked(text)
    match = _MACRO.match(masked)
    if match is None or _closing(masked, masked.index("(", match.start(3))) != len(masked) - 1:
        return None
    over = text[match.start(2) : match.end(2)].strip()
    ways = paths(over)
    if len(ways) != 1 or ways[0].text != over:
        return None
    return Quantifier(
        negated=match[1] == "!",
        over=ways[0],
        macro=match[3],
        item=match[4],
        condition=text[match.end() : -1].strip(),
    )


def _masked(text: str, *, strings_in_index: bool = True) -> str:
    """Return ``text`` at the same length with strings and comments blanked, those in ``[...]`` on request only."""

    def blank(match: re.Match[str]) -> str:
        if match[0].startswith("//"):
            return " " * len(match[0])
        if not strings_in_index and _INDEXING.search(text[: match.start()]):
            return match[0]
        return "_" * len(match[0])

    return _OPAQUE.sub(blank, text)


def _bare(text: str) -> str:
    """Return ``text`` without blanks, and without brackets that enclose all of it."""
    text = text.strip()
    for _ in range(MAX_PARTS):
        if not text.startswith("(") or _closing(_masked(text), 0) != len(text) - 1:
            break
        text = text[1:-1].strip()
    return text


def _closing(masked: str, start: int) -> int:
    open_brackets: list[str] = []
    for index in range(start, len(masked)):
        character = masked[index]
        if character in _BRACKETS:
            open_brackets.append(_BRACKETS[character])
        elif open_brackets and character == open_brackets[-1]:
            open_brackets.pop()
            if not open_brackets:
                return index
    return -1


def _split(text: str, operator: str) -> list[str]:
    masked = _masked(text)
    parts: list[str] = []
    depth = start = index = 0
    while index < len(masked):
        character = masked[index]
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and masked.startswith(operator, index):
            parts.append(text[start:index])
            index += len(operator)
            start = index
            continue
        index += 1
    return [*parts, text[start:]]


def _step(match: re.Match[str]) -> str | int:
    if match[1] is not None:
        return match[1]
    inner = match[2][1:-1].strip()
    return int(inner) if inner[0].isdigit() else inner[1:-1]
