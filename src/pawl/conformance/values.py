"""What the ``value`` of an assertion must be, by type: each check returns a clause that says what was expected.

A value that every text meets (an empty text, an empty list) is refused: an assertion that cannot fail checks nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pawl.conformance.matching import MAX_PATTERN, compiled_pattern
from pawl.conformance.plain import ABSENT, is_list
from pawl.problems import Fault


def none(value: Any) -> str | None:
    return None if value is ABSENT else "takes no value"


def given(value: Any) -> str | None:
    return "needs a value: any JSON value" if value is ABSENT else None


def text(value: Any) -> str | None:
    return None if isinstance(value, str) and value else "needs a value: a text that is not empty"


def any_text(value: Any) -> str | None:
    return None if isinstance(value, str) else "needs a value: a text"


def texts(value: Any) -> str | None:
    if is_list(value) and value and all(isinstance(item, str) and item for item in value):
        return None
    return "needs a value: a list of texts, neither it nor they empty"


def text_or_texts(value: Any) -> str | None:
    if text(value) is None or texts(value) is None:
        return None
    return "needs a value: a name or a list of names"


def pattern(value: Any) -> str | None:
    if text(value) is not None or len(value) > MAX_PATTERN:
        return f"needs a value: a regular expression of 1 to {MAX_PATTERN} characters"
    try:
        compiled_pattern(value)
    except ValueError as error:
        return f"needs a value: a regular expression; this one is {error}"
    return None


def schema(value: Any) -> str | None:
    """A JSON Schema, or nothing; the schema's own faults are found by ``schema_faults``."""
    return None if value is ABSENT or isinstance(value, Mapping) else "takes a JSON Schema as its value, or none"


def schema_faults(value: Any) -> tuple[Fault, ...]:
    """Return the faults within a JSON Schema, placed in it."""
    from pawl.procedures.schema_check import check_schema  # noqa: PLC0415 - loaded only by suites that have schemas

    return check_schema(value, promises=False) if isinstance(value, Mapping) else ()


def count(value: Any) -> str | None:
    if _whole(value):
        return None
    if isinstance(value, Mapping) and value and set(value) <= {"min", "max"} and all(map(_whole, value.values())):
        low, high = value.get("min", 0), value.get("max")
        if (high is None or low <= high) and (low > 0 or high is not None):
            return None
    return "needs a value: a number, or {min, max} that leave something out"


def sequence(value: Any) -> str | None:
    if texts(value) is None:
        return None
    if isinstance(value, Mapping) and set(value) <= {"steps", "mode"} and texts(value.get("steps")) is None:
        return None if value.get("mode", "in_order") in ("in_order", "exact") else "has a mode: in_order or exact"
    return "needs a value: a list of names, or {steps, mode}"


def arguments(value: Any) -> str | None:
    """A tool's name and the arguments that some call of it has."""
    expected = "needs a value: {name, args, mode}, with args an object and mode partial or exact"
    if not isinstance(value, Mapping) or not set(value) <= {"name", "args", "arguments", "mode"}:
        return expected
    args = [value[key] for key in ("args", "arguments") if key in value]
    fits = text(value.get("name")) is None and len(args) == 1 and isinstance(args[0], Mapping)
    return None if fits and value.get("mode", "partial") in ("partial", "exact") else expected


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
