"""Writing YAML that reads back as the same values.

Block style, two spaces, LF, the given key order; strings stand in double quotes or, with several lines, after ``|``, so
that no loader takes one for something else. No anchors, no folding, no flow collections but the empty ones.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pawl.errors import InvalidError
from pawl.io.scalars import MAX_INTEGER, resolve
from pawl.io.strict_yaml import MAX_BYTES, MAX_DEPTH

_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_./$-]*")
_NEEDS_ESCAPE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_NOT_LITERAL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_LONGEST_SIMPLE_KEY = 512
"""Readers give up on a ``key: value`` line whose key takes more than 1024 characters, escapes included."""


def yaml_bytes(document: Mapping[str, Any]) -> bytes:
    """Return ``document`` as YAML that ``strict_yaml.load`` reads back equal.

    Raises ``ValueError`` for values that JSON cannot hold, and ``InvalidError`` if the text would be too large or too
    deep to be read again.
    """
    lines = list(_mapping(document, "", 1)) if document else ["{}"]
    data = ("\n".join(lines) + "\n").encode("utf-8")
    if len(data) > MAX_BYTES:
        raise InvalidError(
            f"the document takes {len(data)} bytes as YAML, at most {MAX_BYTES} are read", code="too-large"
        )
    return data


def scalar_text(value: object) -> str:
    """Return a scalar on one line; strings in double quotes."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        value.encode("utf-8")
        quoted = json.dumps(value, ensure_ascii=False)
        return _NEEDS_ESCAPE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)
    if isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise ValueError("integers beyond 2^53-1 lose digits in JSON")
        return str(int(value))
    if isinstance(value, float) and math.isfinite(value):
        return repr(float(value))
    raise ValueError(f"{type(value).__name__} {value!r:.40} has no place in JSON")


def _mapping(values: Mapping[str, Any], indent: str, depth: int) -> Iterator[str]:
    _check_depth(depth)
    for key, value in values.items():
        if not isinstance(key, str):
            raise ValueError(f"keys are strings, not {type(key).__name__}")  # noqa: TRY004 - as for any other value
        written = key if _is_plain_key(key) else scalar_text(key)
        if len(written) > _LONGEST_SIMPLE_KEY:
            yield f"{indent}? {written}"
            written = ""
        yield from _value(f"{indent}{written}:", value, indent, depth)


def _sequence(values: list[Any] | tuple[Any, ...], indent: str, depth: int) -> Iterator[str]:
    _check_depth(depth)
    for value in values:
        if isinstance(value, Mapping) and value:
            lines = _mapping(value, indent + "  ", depth + 1)
            yield f"{indent}- {next(lines).lstrip(' ')}"
            yield from lines
        else:
            yield from _value(f"{indent}-", value, indent, depth)


def _value(head: str, value: Any, indent: str, depth: int) -> Iterator[str]:
    if isinstance(value, Mapping):
        _check_depth(depth + 1)
        yield head if value else f"{head} {{}}"
        yield from _mapping(value, indent + "  ", depth + 1)
    elif isinstance(value, list | tuple):
        _check_depth(depth + 1)
        yield head if value else f"{head} []"
        yield from _sequence(value, indent + "  ", depth + 1)
    elif isinstance(value, str) and _is_literal(value):
        yield from _literal(head, value, indent + "  ")
    else:
        yield f"{head} {scalar_text(value)}"


def _check_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise InvalidError(f"the document has more than {MAX_DEPTH} levels", code="too-deep")


def _is_plain_key(key: str) -> bool:
    return _PLAIN_KEY.fullmatch(key) is not None and isinstance(resolve(key), str)


def _is_literal(text: str) -> bool:
    """Whether ``|`` shows ``text`` as it is: several lines, no escapes, and a first line that sets the indentation."""
    return "\n" in text.rstrip("\n") and text[0] not in " \n" and not _NOT_LITERAL.search(text)


def _literal(head: str, text: str, indent: str) -> Iterator[str]:
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    yield f"{head} |{('-', '', '+')[min(ends, 2)]}"
    for line in body.split("\n"):
        yield indent + line if line else ""
    for _ in range(ends - 1):
        yield ""
