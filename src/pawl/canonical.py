"""Canonical JSON and digests: the identity of everything that pawl stores.

The digest of a document is the SHA-256 of its RFC 8785 form, so comments, layout and key order do not count. Stored
JSON files have one spelling (sorted keys, two spaces, one trailing newline), so that Git shows and merges them well.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

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
    return (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")


def timestamp(moment: datetime) -> str:
    """Return a moment as it stands in records: RFC 3339 in UTC to the second, where text order is time order."""
    from datetime import UTC  # noqa: PLC0415 - readers of snapshots seldom look at a clock

    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
