"""``${{ CEL }}`` inside the values of a workflow: a whole-text expression keeps its type, others are put in as text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pawl.problems import Place

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)


def expressions_in(value: Any, at: Place = ()) -> Iterator[tuple[str, Place]]:
    """Yield every expression inside a value, with the place of the text that holds it."""
    if isinstance(value, str):
        yield from ((found.group(1).strip(), at) for found in _EXPRESSION.finditer(value))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from expressions_in(item, (*at, key))
    elif isinstance(value, Sequence):
        for index, item in enumerate(value):
            yield from expressions_in(item, (*at, index))


def interpolate(value: Any, evaluate: Callable[[str], Any]) -> Any:
    """Return a value with every expression replaced by what ``evaluate`` makes of it."""
    if isinstance(value, str):
        whole = _EXPRESSION.fullmatch(value)
        if whole and "${{" not in whole.group(1):
            return evaluate(whole.group(1).strip())
        return _EXPRESSION.sub(lambda found: as_text(evaluate(found.group(1).strip())), value)
    if isinstance(value, Mapping):
        return {key: interpolate(item, evaluate) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [interpolate(item, evaluate) for item in value]
    return value


def as_text(value: Any) -> str:
    """Return a value as it is put into text: texts as they are, all else as canonical JSON."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool | int):
        return json.dumps(value)
    from pawl.canonical import canonical_bytes  # noqa: PLC0415 - only for floats and structures

    return canonical_bytes(value).decode("utf-8")
