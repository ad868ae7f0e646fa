"""Reading what comes with a command: inputs, and files to import. Bounded and strict, like everything from outside."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pawl.errors import InvalidError, UsageError
from pawl.io import strict_json
from pawl.io.files import read_bounded
from pawl.io.locating import unreadable_problems
from pawl.io.text import Unreadable

MAX_INPUT_BYTES = 1024 * 1024
MAX_IMPORT_BYTES = 16 * 1024 * 1024


def read_inputs(pairs: Sequence[str], file: Path | None) -> dict[str, Any]:
    """Return inputs from a JSON file (``-`` is standard input) and ``name=value`` pairs; a pair wins over the file.

    A value is JSON where it reads as JSON, and text otherwise.
    """
    inputs: dict[str, Any] = {}
    if file is not None:
        value = read_json(file, MAX_INPUT_BYTES)
        if not isinstance(value, dict):
            raise InvalidError(f"{file} holds no JSON object of inputs", code="inputs-invalid")
        inputs.update(value)
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"--input {pair!r}: write NAME=VALUE", code="input-pair")
        inputs[name] = _value(text)
    return inputs


def _value(text: str) -> Any:
    try:
        return strict_json.load(text.encode("utf-8", "surrogatepass"), max_bytes=MAX_INPUT_BYTES)
    except (Unreadable, UnicodeError):
        return text


def read_json(file: Path, limit: int) -> Any:
    """Return the JSON in a file or on standard input (``-``); ``InvalidError`` with file, line and column."""
    if str(file) == "-":
        if sys.stdin is None:
            raise InvalidError("there is no standard input to read", code="file-not-found")
        data = sys.stdin.buffer.read(limit + 1)
        if len(data) > limit:
            raise InvalidError(f"standard input has more than {limit} bytes", code="too-large")
    else:
        data = read_bounded(file, limit=limit)
    try:
        return strict_json.load(data, max_bytes=limit)
    except Unreadable as error:
        raise InvalidError(f"{file} does not read", problems=unreadable_problems(str(file), error)) from None
