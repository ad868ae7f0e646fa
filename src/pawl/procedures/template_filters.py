"""What Jinja2 templates run with: filters of their own, and a budget for everything that takes time or room.

- Values are text as they are, or canonical JSON; Jinja2's own filters would write ``None`` and ``True``.
- What a filter would make is measured before it is made.
- Turns of loops, what filters, joins, comparisons and outputs look at, and the parts of a loop's body are all paid
  for from one budget of a rendering, so neither depth nor repetition multiplies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import pass_context
from jinja2.filters import do_round
from jinja2.runtime import Context, Undefined

from pawl.procedures.words import as_text

MAX_TURNS = 100_000
MAX_SIZE = 4 * 1024 * 1024
"""Characters of the output, and of what any filter makes."""
MAX_WORK = 50_000_000
"""What one rendering may look at and make, in characters."""
MAX_NUMBER = 1_000
MAX_PLACES = 15
"""Decimal places of ``round``: Jinja2 raises ten to their power."""
ITEM = 64
"""What looking at one item costs, in characters."""
PART = 16
"""What one part of a loop's body costs at every turn, in characters."""
BUDGET = "pawl budget"
"""A variable that no template can name, because of its blank."""


class TooMuch(Exception):  # noqa: N818 - never leaves the template modules
    """A bound was exceeded."""


@dataclass(slots=True)
class Budget:
    """What one rendering may still do."""

    turns: int = MAX_TURNS
    work: int = MAX_WORK

    def pay(self, work: int) -> None:
        """Raise ``TooMuch`` when the budget is spent."""
        self.work -= work
        if self.work < 0:
            raise TooMuch(f"its loops, filters and comparisons do more work than {MAX_WORK} characters")


def text_of(value: Any) -> str:
    if isinstance(value, Undefined):
        return str(value)  # raises, with the name
    return as_text(value)


def _replace(value: Any, old: Any, new: Any) -> str:
    text, old, new = text_of(value), text_of(old), text_of(new)
    if len(text) + text.count(old) * max(0, len(new) - len(old)) > MAX_SIZE:
        raise TooMuch(f"replace makes more than {MAX_SIZE} characters")
    return text.replace(old, new)


def _join(value: Iterable[Any], d: Any = "") -> str:
    texts, between = [text_of(item) for item in value], text_of(d)
    if sum(map(len, texts)) + len(between) * len(texts) > MAX_SIZE:
        raise TooMuch(f"join makes more than {MAX_SIZE} characters")
    return between.join(texts)


def _indent(value: Any, width: int = 4, first: bool = False, blank: bool = False) -> str:
    margin = " " * min(int(width), MAX_NUMBER)
    lines = text_of(value).split("\n")
    if len(lines) * len(margin) > MAX_SIZE:
        raise TooMuch(f"indent makes more than {MAX_SIZE} characters")
    rest = (margin + line if line or blank else line for line in lines[1:])
    return "\n".join(((margin if first else "") + lines[0], *rest))


def _unique(value: Sequence[Any]) -> list[Any]:
    seen: set[str] = set()
    found = []
    for item in value:
        key = text_of(item) if not isinstance(item, str) else f"text {item}"
        if key not in seen:
            seen.add(key)
            found.append(item)
    return found


def _round(value: Any, precision: Any = 0, method: Any = "common") -> Any:
    if not isinstance(precision, int) or not 0 <= precision <= MAX_PLACES:
        raise TypeError(f"round takes from 0 to {MAX_PLACES} places")
    return do_round(value, precision, method)


def _trim(value: Any, chars: Any = None) -> str:
    return text_of(value).strip(None if chars is None else text_of(chars))


def _to_json(value: Any) -> str:
    if not isinstance(value, str):
        return text_of(value)
    from pawl.canonical import canonical_bytes  # noqa: PLC0415 - only where tojson meets a text

    return canonical_bytes(value).decode("utf-8")


@dataclass(frozen=True, slots=True)
class Filter:
    """What a filter takes beside the value; ``function`` is None where Jinja2's own is used."""

    function: Callable[..., Any] | None = None
    takes: tuple[str, ...] = ()
    needs: int = 0


FILTERS: Mapping[str, Filter] = {
    "default": Filter(takes=("default_value", "boolean")),
    "first": Filter(),
    "indent": Filter(_indent, takes=("width", "first", "blank")),
    "join": Filter(_join, takes=("d",)),
    "last": Filter(),
    "length": Filter(),
    "lower": Filter(lambda value: text_of(value).lower()),
    "replace": Filter(_replace, takes=("old", "new"), needs=2),
    "round": Filter(_round, takes=("precision", "method")),
    "sort": Filter(takes=("reverse", "case_sensitive")),
    "tojson": Filter(_to_json),
    "trim": Filter(_trim, takes=("chars",)),
    "unique": Filter(_unique),
    "upper": Filter(lambda value: text_of(value).upper()),
}


@pass_context
def counted(context: Context, value: Any, parts: int) -> Iterator[Any]:
    """Count the turns of every loop of one rendering together; ``parts`` is the size of the loop's body."""
    budget: Budget = context.parent[BUDGET]
    if isinstance(value, Undefined):
        str(value)  # raises, with the name
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise TypeError("a for goes over lists only")
    for item in value:
        budget.turns -= 1
        if budget.turns < 0:
            raise TooMuch(f"its loops turn more than {MAX_TURNS} times")
        budget.pay(parts * PART)
        yield item


@pass_context
def charged(context: Context, value: Any) -> Any:
    """Count what an operation is about to look at, or has made; the value goes through unchanged."""
    budget: Budget = context.parent[BUDGET]
    waiting = [value]
    while waiting:
        here = waiting.pop()
        budget.pay(len(here) + ITEM if isinstance(here, str) else ITEM)
        if isinstance(here, dict):
            waiting += [*here, *here.values()]
        elif isinstance(here, list | tuple):
            waiting += here
    return value
