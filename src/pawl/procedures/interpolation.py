"""``${{ CEL }}`` inside the values of a workflow.

A text that is one expression and nothing else keeps the type of its value; others are put in as text. An expression
ends at the first ``}}`` outside of its own texts and braces. There is no other escape: ``${{ '${{' }}`` writes
``${{``. Keys of mappings hold no expressions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pawl.problems import Fault, Place
from pawl.procedures.words import as_text

MAX_TEXT = 4 * 1024 * 1024
"""Characters that expressions may put into the texts of one value."""

_OPEN, _CLOSE = "${{", "}}"
_TEXT = re.compile(
    r"'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL
)
"""A text of CEL; a raw one cannot have its own quotation mark inside either."""
_NOTABLE = re.compile(r"['\"(){}\[\]]")


@dataclass(frozen=True, slots=True)
class Embedded:
    """An expression inside of a text."""

    text: str


def pieces(text: str) -> tuple[str | Embedded, ...]:
    """Return a text as its parts; raises ``ValueError`` for an expression that is empty or does not end."""
    return _pieces(text) if _OPEN in text else (text,)


@lru_cache(maxsize=1_024)
def _pieces(text: str) -> tuple[str | Embedded, ...]:
    found: list[str | Embedded] = []
    at = 0
    while (start := text.find(_OPEN, at)) >= 0:
        end = _end(text, start + len(_OPEN))
        expression = text[start + len(_OPEN) : end].strip()
        if not expression:
            raise ValueError("there is nothing between ${{ and }}")
        if start > at:
            found.append(text[at:start])
        found.append(Embedded(expression))
        at = end + len(_CLOSE)
    if at < len(text):
        found.append(text[at:])
    return tuple(found)


def _end(text: str, at: int) -> int:
    depth = 0
    while (notable := _NOTABLE.search(text, at)) is not None:
        at = notable.start()
        char = text[at]
        if char == "}" and depth == 0 and text.startswith(_CLOSE, at):
            return at
        quoted = _TEXT.match(text, at) if char in "'\"" else None
        if char in "'\"" and quoted is None:
            break
        depth = max(0, depth + (char in "({[") - (char in ")}]"))
        at = quoted.end() if quoted is not None else at + 1
    raise ValueError("${{ has no }} that ends it")


def expressions_in(value: Any, at: Place = ()) -> Iterator[tuple[str, Place]]:
    """Yield every expression inside a value, with the place of the text that holds it; texts with faults have none."""
    for text, place in _texts(value, at):
        try:
            parts = pieces(text)
        except ValueError:
            continue
        yield from ((part.text, place) for part in parts if isinstance(part, Embedded))


def interpolation_faults(value: Any, at: Place = ()) -> Iterator[Fault]:
    """Yield what is wrong with where expressions begin and end inside a value."""
    for text, place in _texts(value, at):
        try:
            pieces(text)
        except ValueError as error:
            yield Fault(code="expression-invalid", message=str(error), at=place)
    for place in _keys(value, at):
        message = "the keys of a mapping hold no expressions, only its values do"
        yield Fault(code="expression-invalid", message=message, at=place, on_key=True)


def interpolate(value: Any, evaluate: Callable[[str], Any]) -> Any:
    """Return a value with every expression replaced by what ``evaluate`` makes of it.

    Raises ``ValueError`` where an expression does not end, or where more text comes together than ``MAX_TEXT``.
    """
    return _interpolate(value, evaluate, [MAX_TEXT])


def _interpolate(value: Any, evaluate: Callable[[str], Any], left: list[int]) -> Any:
    if isinstance(value, str):
        parts = pieces(value)
        if len(parts) == 1 and isinstance(parts[0], Embedded):
            return evaluate(parts[0].text)
        return "".join(_inserted(part, evaluate, left) for part in parts)
    if isinstance(value, Mapping):
        return {key: _interpolate(item, evaluate, left) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_interpolate(item, evaluate, left) for item in value]
    return value


def _inserted(part: str | Embedded, evaluate: Callable[[str], Any], left: list[int]) -> str:
    if isinstance(part, str):
        return part
    text = as_text(evaluate(part.text))
    left[0] -= len(text)
    if left[0] < 0:
        raise ValueError(f"expressions put in more than {MAX_TEXT} characters")
    return text


def _texts(value: Any, at: Place) -> Iterator[tuple[str, Place]]:
    if isinstance(value, str):
        yield value, at
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, (*at, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _texts(item, (*at, index))


def _keys(value: Any, at: Place) -> Iterator[Place]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(key, str) and _OPEN in key:
                yield (*at, key)
            yield from _keys(item, (*at, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _keys(item, (*at, index))
