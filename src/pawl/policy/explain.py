"""Why a rule said no, in words that somebody can act on.

Best effort and bounded: it takes the expression apart at its ``&&``, asks each condition again, and tells what the
document has where a condition does not hold. It never changes an outcome and raises nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pawl.errors import Faulty
from pawl.policy.scanning import Path, Quantifier, conjuncts, paths, quantifier
from pawl.policy.variables import VARIABLES
from pawl.procedures.expressions import ExpressionError, compile_expression

MAX_LENGTH = 600
_MAX_ITEMS = 60
_MAX_SHOWN = 6
_MAX_VALUE = 80
_MAX_CONDITION = 160


class Absent:
    """What is at the end of a path that leads nowhere."""


def explain_difference(expression: str, values: Mapping[str, Any]) -> str:
    """Return what keeps a false ``expression`` from being true."""
    described = [
        _describe(condition, values, errored=answer is None)
        for condition, answer in wrong_conditions(expression, values)
    ]
    return _cut("; ".join(described) or f"{quoted(expression)} is false", MAX_LENGTH)


def wrong_conditions(expression: str, values: Mapping[str, Any]) -> list[tuple[str, bool | None]]:
    """Return each condition that keeps a false ``expression`` from being true, with its answer, ``None`` for none."""
    answers = [(condition, ask(condition, values)) for condition in conjuncts(expression)]
    wrong: list[tuple[str, bool | None]] = [(condition, answer) for condition, answer in answers if answer is not True]
    if any(answer is False for _, answer in wrong):
        # What cannot be asked is mostly what the false condition guards: the reason is the guard.
        wrong = [(condition, answer) for condition, answer in wrong if answer is False]
    return wrong


def describe(expression: str, values: Mapping[str, Any]) -> str:
    """Return what an expression looks at and finds there, whatever it says of it."""
    return _cut(", ".join(dict.fromkeys(_fact(path, values) for path in paths(expression))), MAX_LENGTH)


def describe_absent(expression: str, values: Mapping[str, Any]) -> str:
    """Return which paths of ``expression`` lead nowhere; empty where all of them exist."""
    nowhere = (path for path in paths(expression) if isinstance(reach(path, values)[0], Absent))
    absent = {_fact(path, values) for path in nowhere}
    return _cut(", ".join(sorted(absent)), MAX_LENGTH)


def _describe(condition: str, values: Mapping[str, Any], *, errored: bool) -> str:
    parsed = quantifier(condition)
    if parsed is not None:
        said = _describe_quantifier(parsed, values)
        if said:
            return said
    facts = list(dict.fromkeys(_fact(path, values) for path in paths(condition)))
    verdict = "cannot be evaluated" if errored else "is false"
    return f"{quoted(condition)} {verdict}" + (f": {', '.join(facts)}" if facts else "")


def _describe_quantifier(parsed: Quantifier, values: Mapping[str, Any]) -> str | None:
    items, _ = reach(parsed.over, values)
    if not isinstance(items, list | tuple) or parsed.item in values:
        return None
    if not items:
        return f"{parsed.over.text} is empty" if not parsed.negated and parsed.macro != "all" else None
    answers = [ask(parsed.condition, {**values, parsed.item: item}, item=parsed.item) for item in items[:_MAX_ITEMS]]
    labels = [label(index, item) for index, item in enumerate(items)]
    where = f"{parsed.over.text} ({listed(labels)})"
    condition = quoted(parsed.condition)
    meets = [item for item, answer in zip(labels, answers, strict=False) if answer is True]
    misses = [item for item, answer in zip(labels, answers, strict=False) if answer is not True]
    if parsed.negated and parsed.macro == "exists":
        return f"in {parsed.over.text}, {listed(meets)} must not meet {condition}"
    if not parsed.negated and parsed.macro == "all":
        return f"in {parsed.over.text}, {listed(misses)} must meet {condition}"
    if not parsed.negated and not meets:
        return f"nothing in {where} meets {condition}"
    return None


def ask(condition: str, values: Mapping[str, Any], *, item: str | None = None) -> bool | None:
    """Return the answer, or ``None`` where there is none."""
    variables = VARIABLES if item is None else {**VARIABLES, item: "dyn"}
    try:
        return compile_expression(condition, variables=variables, want="bool").evaluate(values) is True
    except (ExpressionError, Faulty):
        return None


def reach(path: Path, values: Mapping[str, Any]) -> tuple[Any, int]:
    """Return what is at the end of a path, and how many steps lead somewhere."""
    value = values[path.root]
    for number, step in enumerate(path.steps):
        if (isinstance(value, Mapping) and step in value) or _has_item(value, step):
            value = value[step]
        else:
            return Absent(), number
    return value, len(path.steps)


def _has_item(value: Any, step: str | int) -> bool:
    return isinstance(value, list | tuple) and isinstance(step, int) and step < len(value)


def _fact(path: Path, values: Mapping[str, Any]) -> str:
    value, reached = reach(path, values)
    if isinstance(value, Absent):
        way = [path.root, *path.steps[: reached + 1]]
        return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in way)[1:] + " is absent"
    if path.root == "closure" and not path.steps:
        return f"closure is {listed([label(index, member) for index, member in enumerate(value)]) or 'empty'}"
    if path.root == "current" and value is None:
        return "current is null (nothing is pinned yet)"
    if not path.steps and isinstance(value, Mapping):
        return f"{path.text} is {label(0, value)}"
    return f"{path.text} is {shown(value)}"


def label(index: int, item: Any) -> str:
    """Return how a person would name an item of a list: by its id or name, else by its place."""
    if isinstance(item, Mapping):
        for key in ("id", "name"):
            if isinstance(item.get(key), str):
                version = item.get("version")
                return f"{item[key]}@{version}" if isinstance(version, str) else str(item[key])
        return f"[{index}]"
    return shown(item)


def listed(labels: list[str]) -> str:
    """Return the first few of many."""
    shown = labels[:_MAX_SHOWN]
    more = len(labels) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def shown(value: Any) -> str:
    """Return a value as JSON, cut where it is long."""
    try:
        return _cut(json.dumps(value, ensure_ascii=False, sort_keys=True), _MAX_VALUE)
    except (TypeError, ValueError, RecursionError):
        return "something that JSON cannot hold"


def quoted(condition: str) -> str:
    """Return a condition on one line, cut where it is long."""
    return f"`{_cut(' '.join(condition.split()), _MAX_CONDITION)}`"


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
