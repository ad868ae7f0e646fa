"""Whether a value that stands where a secret could stand is one, or only shows where one would be."""

from __future__ import annotations

import re
from itertools import pairwise

_PLACEHOLDER = re.compile(
    r"example|sample|dummy|fake|placeholder|your|changeme|change_me|redacted|replace|insert|todo|xxx|\*\*\*|\.\.\.|…"
    r"|[{}<>]|\$\w|%\w+%|\[[a-z_ -]+\]",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    r"(?:pass(?:wd|word|phrase)?|pwd?|secret|token|key|api_?key|user(?:name)?|admin|root|guest|test|foo|bar|baz|abc"
    r"|postgres|mysql|redis|mongo|password123|hunter2|none|null|true|false)+\d{0,4}",
    re.IGNORECASE,
)
MIN_RANDOM = 8
MIN_PLAIN_CLASSES = 3
LONG_RANDOM = 20
_CLASSES = (r"[a-z]", r"[A-Z]", r"[0-9]", r"[^A-Za-z0-9_./:\s-]")


def is_placeholder(value: str) -> bool:
    """Return whether a value shows only where a secret would stand: words that say so, or few different characters."""
    return bool(_PLACEHOLDER.search(value)) or len(set(value[-16:])) < min(6, len(value)) or _counts_up(value)


def _counts_up(value: str) -> bool:
    """Return whether the end of a value is a row such as 0123456789 or abcdefgh."""
    tail = value[-8:].lower()
    return len(tail) == 8 and all(ord(second) - ord(first) == 1 for first, second in pairwise(tail))


def is_plain_word(value: str) -> bool:
    """Return whether a value is what everybody writes where a password goes."""
    return bool(_PLAIN.fullmatch(value))


def looks_random(value: str) -> bool:
    """Return whether a value looks made by a machine or for a lock, and not like a word, a name or a sentence."""
    if len(value) < MIN_RANDOM or any(blank in value for blank in " \t"):
        return False
    classes = sum(1 for pattern in _CLASSES if re.search(pattern, value))
    digits = sum(character.isdigit() for character in value)
    if classes >= MIN_PLAIN_CLASSES:
        return digits > 0
    return len(value) >= LONG_RANDOM and digits >= 3 and re.fullmatch(r"[A-Za-z0-9+/=]+", value) is not None
