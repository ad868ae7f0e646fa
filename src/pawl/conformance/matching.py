"""The predicates behind the assertions: one value against one expectation, in bounded time.

Each takes what was expected and what was seen and returns None where it holds, else why not as a clause that follows
"it". ``Undecided`` is raised where the work would be unbounded or the value cannot be looked at: that is no "no", and
its negation is no "yes". Regular expressions run on an engine of linear time (Rust's regex by way of jsonschema-rs,
patterns read as in JavaScript): no look-around, no backreferences, and no text that makes it slow.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from pawl.canonical import canonical_bytes
from pawl.conformance.plain import NotText, parse_json, parse_json_at, same, show, text_of

MAX_PATTERN = 1_000
MAX_TEXT = 4 * 1024 * 1024
"""Characters of text that assertions look at."""
MAX_EDIT_WORK = 2_000_000
"""Cells of the table of edit distances, about a second."""
MAX_JSON_STARTS = 2_000
"""Braces and brackets from which an embedded JSON value is tried."""
EDIT_DISTANCE = 5
"""What ``levenshtein`` allows without a threshold."""


class Undecided(Exception):  # noqa: N818 - an answer, not a mistake
    """The assertion could not be judged; the message says why."""


def text(seen: Any) -> str:
    """Return the text of a value, as every text assertion sees it; raises ``Undecided``."""
    try:
        found = text_of(seen)
    except NotText as error:
        raise Undecided(str(error)) from error
    if len(found) > MAX_TEXT:
        raise Undecided(f"its text has {len(found)} characters, at most {MAX_TEXT} are looked at")
    return found


def equals(wanted: Any, seen: Any) -> str | None:
    """JSON equality; a text that is JSON also equals the object or list that it spells."""
    if same(wanted, seen):
        return None
    if isinstance(seen, str) and isinstance(wanted, Mapping | list | tuple):
        try:
            if same(wanted, parse_json(seen)):
                return None
        except ValueError:
            return f"is a text that is no JSON: {show(seen)}"
    return f"is {show(seen)}"


def contains(wanted: str, seen: Any) -> str | None:
    return None if wanted in (found := text(seen)) else f"is {show(found)}"


def icontains(wanted: str, seen: Any) -> str | None:
    return None if wanted.lower() in (found := text(seen)).lower() else f"is {show(found)}"


def all_of(one: Callable[[str, Any], str | None]) -> Callable[[list[str], Any], str | None]:
    """Return the predicate that holds where ``one`` holds for every member."""

    def every(wanted: list[str], seen: Any) -> str | None:
        missing = [item for item in wanted if one(item, seen) is not None]
        return f"lacks {', '.join(map(show, missing))} in {show(text(seen))}" if missing else None

    return every


def any_of(one: Callable[[str, Any], str | None]) -> Callable[[list[str], Any], str | None]:
    """Return the predicate that holds where ``one`` holds for some member."""

    def some(wanted: list[str], seen: Any) -> str | None:
        return None if any(one(item, seen) is None for item in wanted) else f"is {show(text(seen))}"

    return some


def starts_with(wanted: str, seen: Any) -> str | None:
    return None if (found := text(seen)).startswith(wanted) else f"starts {show(found[: len(wanted) + 20])}"


def matches(pattern: str, seen: Any) -> str | None:
    """Whether the pattern is found anywhere in the text."""
    return None if compiled_pattern(pattern).is_valid(found := text(seen)) else f"is {show(found)}"


@lru_cache(maxsize=512)
def compiled_pattern(pattern: str) -> Any:
    """Return a checker with ``is_valid(text)``; raises ``ValueError`` for a pattern that linear time cannot run."""
    import jsonschema_rs  # noqa: PLC0415 - loaded only by suites that have patterns

    try:
        return jsonschema_rs.validator_for(
            {"type": "string", "pattern": pattern}, pattern_options=jsonschema_rs.RegexOptions()
        )
    except (jsonschema_rs.ValidationError, ValueError) as error:
        raise ValueError("not a pattern of linear time (no look-around, no backreferences)") from error


def is_json(schema: Any, seen: Any) -> str | None:
    """Whether a text parses as JSON, or a value is JSON already, and meets the schema if there is one."""
    if isinstance(seen, str):
        try:
            value = parse_json(text(seen))
        except ValueError as error:
            return f"is no JSON ({error}): {show(seen)}"
    else:
        value = seen
    return _against(schema, value)


def contains_json(schema: Any, seen: Any) -> str | None:
    """Whether a JSON object or list stands somewhere in the text and meets the schema; outermost values only."""
    if not isinstance(seen, str):
        return _against(schema, seen)
    why = "holds no JSON object or list"
    for value in _embedded(text(seen)):
        if (against := _against(schema, value)) is None:
            return None
        why = f"holds JSON, which {against}"
    return why


def levenshtein(wanted: tuple[str, float | None], seen: Any) -> str | None:
    """Whether the distance in edits from a text is at most the threshold."""
    goal, threshold = wanted
    limit = EDIT_DISTANCE if threshold is None else int(threshold)
    if _within(goal, text(seen), limit):
        return None
    return f"is more than {limit} edits away: {show(seen)}"


def word_count(wanted: Any, seen: Any) -> str | None:
    """Whether the number of words, parted by white space, is the one wanted or lies between min and max."""
    count = len(text(seen).split())
    return None if counted(wanted, count) else f"has {count} words"


def counted(wanted: Any, count: int) -> bool:
    """Whether a number is the one wanted or lies between min and max, both included."""
    if isinstance(wanted, Mapping):
        return bool(wanted.get("min", 0) <= count <= wanted.get("max", count))
    return bool(count == wanted)


def _against(schema: Any, value: Any) -> str | None:
    if schema is None:
        return None
    try:
        faults = _validator(canonical_bytes(schema)).faults(value)
    except (ValueError, TypeError, RecursionError) as error:
        raise Undecided(f"it could not be checked against the schema: {error}") from error
    return f"does not meet the schema: {faults[0].message}" if faults else None


@lru_cache(maxsize=256)
def _validator(schema: bytes) -> Any:
    from pawl.procedures.schema import compile_schema  # noqa: PLC0415 - loaded only by suites that have schemas

    return compile_schema(json.loads(schema))


def _embedded(found: str) -> list[Any]:
    values = []
    at = tried = 0
    while (start := _next_start(found, at)) >= 0:
        tried += 1
        if tried > MAX_JSON_STARTS:
            raise Undecided(f"it has more than {MAX_JSON_STARTS} braces and brackets that begin no JSON")
        try:
            value, at = parse_json_at(found, start)
        except ValueError:
            at = start + 1
        else:
            values.append(value)
    return values


def _next_start(found: str, at: int) -> int:
    starts = [place for sign in "{[" if (place := found.find(sign, at)) >= 0]
    return min(starts, default=-1)


def _within(left: str, right: str, limit: int) -> bool:
    left, right = _without_ends(left, right)
    if abs(len(left) - len(right)) > limit:
        return False
    if not left or not right:
        return True
    if len(left) * min(2 * limit + 1, len(right)) > MAX_EDIT_WORK:
        raise Undecided(f"two texts of {len(left)} and {len(right)} characters are too long to compare by edits")
    far = limit + 1
    row = [min(column, far) for column in range(len(right) + 1)]
    for line, sign in enumerate(left, start=1):
        low, high = max(1, line - limit), min(len(right), line + limit)
        fresh = [far] * (len(right) + 1)
        fresh[0] = min(line, far)
        for column in range(low, high + 1):
            change = row[column - 1] + (sign != right[column - 1])
            fresh[column] = min(change, row[column] + 1, fresh[column - 1] + 1, far)
        row = fresh
    return row[-1] <= limit


def _without_ends(left: str, right: str) -> tuple[str, str]:
    shorter = min(len(left), len(right))
    start = next((at for at in range(shorter) if left[at] != right[at]), shorter)
    left, right = left[start:], right[start:]
    shorter -= start
    end = next((at for at in range(shorter) if left[-1 - at] != right[-1 - at]), shorter)
    return left[: len(left) - end], right[: len(right) - end]
