"""Words for values and types in sentences that people read: YAML's, not Python's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from typing import Any

TYPES: Mapping[str, str] = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "a mapping",
    "string": "a text",
    "null": "nothing (null)",
}
"""JSON Schema's types, in the order in which they are named."""


def shown(value: Any) -> str:
    """Return a short form of a value for a sentence."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        text = str(value) if not isinstance(value, int) or value.bit_length() < 1_000 else "with very many digits"
        return f"the number {text[:60]}"
    if isinstance(value, str):
        return f"the text {value[:60]!r}"
    if isinstance(value, Mapping):
        return "a mapping"
    return "a list" if isinstance(value, list | tuple) else f"a Python {type(value).__name__}"


def listed(words: Iterable[str], *, most: int = 12) -> str:
    """Return words with commas between them, and how many more there are."""
    every = list(words)
    rest = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + rest


def as_text(value: Any) -> str:
    """Return a value as it is put into text: texts as they are, all else as canonical JSON."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool | int):
        return json.dumps(value)
    from pawl.canonical import canonical_bytes  # noqa: PLC0415 - only for floats and structures

    return canonical_bytes(value).decode("utf-8")
