"""Predicates over the calls that a workflow makes: names, order, arguments, number.

A call is named by its procedure (``support/check-eligibility``), not by its step. The words and value shapes are
promptfoo's ``trajectory:*``; its glob patterns are not taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pawl.conformance.matching import counted
from pawl.conformance.plain import is_list, same, show


class Made(Protocol):
    """A call as the walk of a workflow reports it."""

    @property
    def step(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> Any: ...


def tool_used(wanted: Any, calls: Sequence[Made]) -> str | None:
    """Whether each of the named tools is called at least once."""
    called = {call.name for call in calls if call.kind == "tool"}
    missing = [name for name in _names(wanted) if name not in called]
    return f"never calls {', '.join(missing)}; it calls {_line(calls)}" if missing else None


def tool_sequence(wanted: Any, calls: Sequence[Made]) -> str | None:
    """Whether the tools are called in this order; others may come between them unless ``mode`` is exact."""
    steps = wanted["steps"] if isinstance(wanted, Mapping) else wanted
    exact = isinstance(wanted, Mapping) and wanted.get("mode") == "exact"
    called = [call.name for call in calls if call.kind == "tool"]
    rest = iter(called)
    fits = list(steps) == called if exact else all(name in rest for name in steps)
    return None if fits else f"calls {_line(calls)}"


def tool_args_match(wanted: Mapping[str, Any], calls: Sequence[Made]) -> str | None:
    """Whether some call of the named tool has these arguments; others may be there too unless ``mode`` is exact."""
    arguments = wanted.get("args", wanted.get("arguments"))
    exact = wanted.get("mode") == "exact"
    made = [call.arguments for call in calls if call.name == wanted["name"]]
    if not made:
        return f"never calls {wanted['name']}; it calls {_line(calls)}"
    if any(same(arguments, given) if exact else _within(arguments, given) for given in made):
        return None
    return f"calls {wanted['name']} with {', '.join(map(show, made[:3]))}"


def step_count(wanted: Any, calls: Sequence[Made]) -> str | None:
    """Whether the number of calls is the one wanted or lies between min and max."""
    count = len(calls)
    return None if counted(wanted, count) else f"makes {count} calls"


def _within(part: Any, whole: Any) -> bool:
    if isinstance(part, Mapping) and isinstance(whole, Mapping):
        return all(key in whole and _within(value, whole[key]) for key, value in part.items())
    if is_list(part) and is_list(whole):
        return len(part) == len(whole) and all(map(_within, part, whole))
    return same(part, whole)


def _names(wanted: Any) -> Sequence[str]:
    return [wanted] if isinstance(wanted, str) else wanted


def _line(calls: Sequence[Made]) -> str:
    return ", ".join(call.name for call in calls[:12]) or "nothing"
