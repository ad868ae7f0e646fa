"""Canonical JSON and digests: the identity of everything that pawl stores.

The digest of a document is the SHA-256 of its RFC 8785 form, so comments, layout and key order do not count. Stored
JSON files have one spelling (sorted keys, two spaces, one trailing newline), so that Git shows and merges them well.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from json.encoder import encode_basestring as quoted

from pawl.ids import Digest

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

VERSION_FIELDS = frozenset({"version", "changes"})
"""Fields that say which version a document is, and not what it does."""


def canonical_bytes(value: Any) -> bytes:
    """Return the RFC 8785 form of a JSON value.

    Raises ``ValueError`` (rfc8785's own errors are subclasses) for what JSON cannot hold exactly.
    """
    quick = _quick_form(value)
    if quick is not None:
        return quick
    import rfc8785  # noqa: PLC0415 - few values need it, and it is a quarter of the start of a reading process

    return rfc8785.dumps(value)


_MAX_INTEGER = 2**53 - 1
_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _quick_form(value: Any) -> bytes | None:
    """Return the same by the encoder of the standard library, or None for what it might spell otherwise.

    Both write texts, whole numbers, true, false and null alike, and ASCII keys have one order by code points and by
    UTF-16. Floats, large numbers, other keys, other types and everything that is refused are left to rfc8785.
    """
    try:
        text = _ENCODER.encode(value)
        return text.encode("utf-8") if _is_plain(value) else None
    except (ValueError, TypeError, RecursionError):  # also circles, which would never end below
        return None


def _is_plain(value: Any) -> bool:
    """Whether a value without circles is of the simple types alone, with keys that sort in one way."""
    waiting = [value]
    for item in waiting:  # which grows meanwhile
        kind = type(item)
        if kind is str or kind is bool or item is None:
            continue
        if kind is dict:
            if not "".join(item).isascii():  # a key that is no text is a TypeError
                return False
            waiting += item.values()
        elif kind is list:
            waiting += item
        elif kind is not int or not -_MAX_INTEGER <= item <= _MAX_INTEGER:
            return False
    return True


def sha256(data: bytes) -> Digest:
    """Return the digest of bytes."""
    return Digest("sha256:" + hashlib.sha256(data).hexdigest())


def digest_of(value: Any) -> Digest:
    """Return the digest of a JSON value: SHA-256 over its RFC 8785 form."""
    return sha256(canonical_bytes(value))


def content_digest(document: Mapping[str, Any]) -> Digest:
    """Return the digest of a procedure without its version: equal for the same content under another number."""
    return digest_of({key: value for key, value in document.items() if key not in VERSION_FIELDS})


def record_bytes(value: Any) -> bytes:
    """Return the one spelling of a JSON value that pawl writes to a file."""
    return f"{record_text(value)}\n".encode()


def record_text(value: Any, margin: str = "") -> str:
    """Return the same as it stands inside of another value, whose lines begin with ``margin``; without a last newline.

    Raises ``ValueError`` or ``TypeError`` for what JSON cannot hold, as ``json.dumps`` does.
    """
    try:
        return _laid_out(value, f"\n{margin}")
    except (_Unusual, RecursionError):  # also circles, of which the encoder says what they are
        text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
        return text.replace("\n", f"\n{margin}")  # a line never ends within a text


class _Unusual(Exception):  # noqa: N818 - no error: it is left to the encoder of the standard library
    """A value of another type than files usually hold."""


def _laid_out(value: Any, line: str) -> str:
    """Return JSON in lines, each of which begins with ``line``: the standard library's encoder takes its time for it.

    Both spell these types alike; subclasses of them, floats and other keys are ``_Unusual``.
    """
    kind = type(value)
    if kind is str:
        return quoted(value)
    if kind is dict:
        if not value:
            return "{}"
        inner = f"{line}  "
        rows = []
        for key in _sorted(value):
            item = value[key]
            rows.append(f"{quoted(key)}: {quoted(item) if type(item) is str else _laid_out(item, inner)}")
        return f"{{{inner}{f',{inner}'.join(rows)}{line}}}"
    if kind is list or kind is tuple:
        if not value:
            return "[]"
        inner = f"{line}  "
        return f"[{inner}{f',{inner}'.join([_laid_out(item, inner) for item in value])}{line}]"
    if kind is int or kind is bool or value is None:
        return "null" if value is None else str(value).lower()
    raise _Unusual


def _sorted(value: dict[Any, Any]) -> list[str]:
    """Return the keys in their order; ``_Unusual`` where one is no plain text."""
    for key in value:
        if type(key) is not str:
            raise _Unusual
    return sorted(value)


def timestamp(moment: datetime) -> str:
    """Return a moment as it stands in records: RFC 3339 in UTC to the second, where text order is time order."""
    from datetime import UTC  # noqa: PLC0415 - readers of snapshots seldom look at a clock

    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
