"""Comparing and showing JSON values: what assertions look at.

JSON has one kind of number and no truth values among them: ``1`` equals ``1.0`` and never ``true``. Text of a value
that is no string is its RFC 8785 form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Final

from pawl.canonical import canonical_bytes

MAX_DEPTH = 64
"""Levels of objects and lists in any JSON text that is looked into; files have the same bound."""
SHOWN = 200
"""Characters of a value that a reason quotes."""


def _unique_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object for ``json``; raises ``ValueError`` where a key occurs twice."""
    built = dict(pairs)
    if len(built) != len(pairs):
        raise ValueError("a key occurs twice in one object")
    return built


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class Absent(Enum):
    """The value that stands for no value at all, where null is one."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


class NotText(ValueError):  # noqa: N818 - read as a sentence where it is caught
    """The value has no canonical text; the message says why."""


def text_of(value: Any) -> str:
    """Return a string as it is and anything else as canonical JSON; raises ``NotText``."""
    if isinstance(value, str):
        return value
    try:
        return canonical_bytes(value).decode("utf-8")
    except (ValueError, TypeError, RecursionError) as error:
        raise NotText(f"it has no canonical JSON form: {error}") from error


def same(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal. Depth is bounded by the readers of both."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left == right
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if is_list(left) and is_list(right):
        return len(left) == len(right) and all(map(same, left, right))
    return left is None and right is None


def is_list(value: Any) -> bool:
    """Whether a value is a JSON array: a list, or the tuple that frozen values hold."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def parse_json(text: str) -> Any:
    """Return the JSON value that a text is; raises ``ValueError`` for anything else, NaN and double keys too."""
    return _parse(_DECODER.decode, text)


def parse_json_at(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value that begins at ``start``, and where it ends; raises ``ValueError`` where there is none."""
    found: tuple[Any, int] = _parse(_DECODER.raw_decode, text, start)
    return found


def _parse(decode: Callable[..., Any], text: str, *arguments: int) -> Any:
    try:
        found = decode(text, *arguments)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    if _SURROGATE.search(text):
        # UnicodeEncodeError is a ValueError: half a character has no UTF-8, and no other tool would read it.
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    if deeper_than(MAX_DEPTH, found):
        raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
    return found


def deeper_than(limit: int, value: Any) -> bool:
    """Whether a value has more levels of objects and lists than ``limit``."""
    level = [value]
    for _ in range(limit + 1):
        held = [item for item in level if isinstance(item, dict | list | tuple)]
        if not held:
            return False
        level = [inner for item in held for inner in (item.values() if isinstance(item, dict) else item)]
    return True


def show(value: Any, limit: int = SHOWN) -> str:
    """Return a short JSON text for a sentence."""
    try:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    except (ValueError, TypeError, RecursionError):
        text = f"a {type(value).__name__}"
    return text if len(text) <= limit else text[: limit - 1] + "…"
