"""The strict JSON reader: as ``json`` reads it, less what readers disagree on.

Refused: duplicate keys, NaN and Infinity, integers beyond 2**53 - 1, floats that overflow or vanish, lone surrogates, a
byte order mark, anything but UTF-8, too many bytes, too many levels. The fast pass only finds out whether something is
wrong; a second pass over the text says what and where, and costs nothing when all is well.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from pawl.io.scalars import ScalarError, decimal, integer
from pawl.io.text import MAX_FAULTS, LocatedFault, Unreadable, decode, place_of

MAX_BYTES = 256 * 1024
MAX_DEPTH = 64

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[][{},:]|[^][{},:"\s]+')
_COLON = re.compile(r"\s*:")
_ENDS = {"}": "object", "]": "array"}


class _Suspect(Exception):  # noqa: N818 - never leaves this module: the second pass says what is wrong
    """The fast pass met something to refuse."""


def load(data: bytes, *, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH) -> Any:
    """Return the JSON value in ``data`` or raise ``Unreadable`` with every fault found."""
    text = decode(data, max_bytes=max_bytes)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise Unreadable((_syntax_fault(error),)) from None
    except (_Suspect, ScalarError, RecursionError):
        raise Unreadable(_faults(text, max_depth) or _TOO_DEEP) from None
    if _deeper(value, max_depth) or _SURROGATE.search(text):
        faults = _faults(text, max_depth)
        if faults:
            raise Unreadable(faults)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Suspect
    return value


def _constant(name: str) -> NoReturn:
    raise _Suspect(name)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=integer,
    parse_float=decimal,
    parse_constant=_constant,
)

_TOO_DEEP = (LocatedFault(code="too-deep", message="the nesting is deeper than can be read", line=1, column=1),)


def _syntax_fault(error: json.JSONDecodeError) -> LocatedFault:
    msg, line, column = error.msg, error.lineno, error.colno
    before = error.doc[: error.pos].rstrip()
    if error.doc[error.pos : error.pos + 1] in _ENDS and before.endswith(","):
        # Python 3.13 says so itself, and at the comma; older ones name what they would like after it
        msg = f"Illegal trailing comma before end of {_ENDS[error.doc[error.pos]]}"
        line, column = place_of(error.doc, len(before) - 1)
    return LocatedFault(
        code="json-syntax", message=f"this is no JSON: {msg[:1].lower()}{msg[1:]}", line=line, column=column
    )


def _deeper(value: Any, levels: int) -> bool:
    layer = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        if not layer:
            return False
        layer = [
            inner
            for outer in layer
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return bool(layer)


def _faults(text: str, max_depth: int) -> tuple[LocatedFault, ...]:
    """Return what is wrong with ``text``, which the fast pass has read at least in part.

    Text after the first fault may be no JSON at all, so nothing here relies on more than the tokens.
    """
    faults: list[LocatedFault] = []
    keys: list[dict[str, int] | None] = []
    line, start = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", start, match.start())
        start = match.start()
        piece = match[0]
        found: tuple[str, str] | None = None
        if piece in "{[":
            keys.append({} if piece == "{" else None)
            if len(keys) > max_depth:
                found = "too-deep", f"more than {max_depth} levels are not read"
        elif piece in "}]":
            del keys[-1:]
        elif piece[0] == '"':
            is_key = bool(keys) and _COLON.match(text, match.end()) is not None
            found = _string_fault(piece, keys[-1] if is_key else None, line)
        elif piece not in ",:":
            found = _scalar_fault(piece)
        if found:
            column = place_of(text, match.start())[1] if len(faults) < MAX_FAULTS else 1
            faults.append(LocatedFault(code=found[0], message=found[1], line=line, column=column))
            if found[0] == "too-deep" or len(faults) >= MAX_FAULTS:
                break
    return tuple(faults)


def _string_fault(token: str, keys: dict[str, int] | None, line: int) -> tuple[str, str] | None:
    try:
        value = str(json.loads(token))
        value.encode("utf-8")
    except json.JSONDecodeError as error:
        return "json-syntax", f"this is no JSON: {error.msg[:1].lower()}{error.msg[1:]}"
    except UnicodeEncodeError:
        return "lone-surrogate", "half of a surrogate pair is no character: write the whole pair or the character"
    if keys is None:
        return None
    if value in keys:
        return "duplicate-key", f"the key {value[:80]!r} stands here and on line {keys[value]}: keep one of them"
    keys[value] = line
    return None


def _scalar_fault(token: str) -> tuple[str, str] | None:
    if token in {"NaN", "Infinity", "-Infinity"}:
        return "not-a-number", f"{token} has no place in JSON: write a finite number"
    try:
        if re.fullmatch(r"-?[0-9]+", token):
            integer(token)
        elif re.fullmatch(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", token):
            decimal(token)
    except ScalarError as error:
        return error.code, str(error)
    return None
