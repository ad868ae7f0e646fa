"""Secrets in the texts of a procedure: what is published is frozen, copied to channels and sent to vendors.

- Formats are those of ``secret_formats``, and keywords such as ``password = "…"`` before a value that looks random.
  Nothing is verified anywhere: no plug-in is asked to, and none gets a network.
- A placeholder is no secret: ``{{ token }}``, ``<password>``, ``your-key-here``, ``AKIA…EXAMPLE``, ``ghp_xxxx…``; nor
  is the header of a private key without a key behind it.
- The secret itself is never part of a finding, only its kind and its place.
- Lines are looked at in overlapping windows, so that no pattern meets a long run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

from pawl.lint.secret_formats import OWN, PLUGINS, STEMS, has_keyword, may_hold_secret
from pawl.lint.secret_words import is_placeholder, is_plain_word, looks_random
from pawl.problems import Fault, Place

MAX_FOUND = 20
MAX_TURNS = 32
"""Names of secrets that are looked at in one window."""
SHORTEST = 7
"""Characters of the shortest text that any format fits: ``://a:b@``."""
WINDOW, KEYWORD_WINDOW = 2_000, 400
"""Characters that one pattern meets at once; the next window begins in the middle of one."""
_KEY_BODY = re.compile(r"[A-Za-z0-9+/=]{32}")
_KEY_NEAR = 400
_NAME = re.compile(r"[\w.-]{1,64}")
MAX_VALUE = 200
_VALUE_WORDS = frozenset({"default", "const", "example", "examples", "enum", "value"})
_NO_NAMES = frozenset({"description", "title", "summary", "changes", "message", "content", "$comment"})


def seems_secret(text: str) -> bool:
    """Return whether a text on its own seems to hold a secret."""
    return next(_found(text), None) is not None


def secret_faults(
    document: Mapping[str, Any], *, because: str = "what is published cannot be taken back"
) -> Iterator[Fault]:
    """Yield a fault for each secret in a document, at most ``MAX_FOUND``; ``because`` ends its sentence."""
    left = MAX_FOUND
    together = "\n".join(_words(document))
    folded = together.casefold()
    marked = may_hold_secret(together, folded)
    if not marked and not any(stem in folded for stem in STEMS):
        return  # no format fits, and no key names a secret
    for at, text in _texts(document):
        found = _found(text) if marked and len(text) >= SHORTEST else ()
        for kind, line in dict.fromkeys((*found, *_named(at, text))):
            where = f" in its line {line}" if "\n" in text else ""
            message = f"this text seems to hold a secret{where}: {kind}; {because}"
            hint = "take it out and replace the key where it was issued; pass secrets at run time"
            yield Fault(code="prompt-secret", message=message, at=at, hint=hint)
            left -= 1
            if not left:
                return


def _words(document: Mapping[str, Any]) -> list[str]:
    """Return every text and every key, in no order."""
    words: list[str] = []
    waiting: list[Any] = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            words.append(value)
        elif isinstance(value, Mapping):
            words += value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return words


def _texts(document: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    """Yield each text with its place; a key has the place of its mapping."""
    waiting: list[tuple[Place, Any]] = [((), document)]
    while waiting:
        at, value = waiting.pop()
        if isinstance(value, str):
            yield at, value
        elif isinstance(value, Mapping):
            yield from ((at, key) for key in value)
            waiting += [((*at, key), item) for key, item in reversed(list(value.items()))]
        elif isinstance(value, list):
            waiting += [((*at, index), item) for index, item in reversed(list(enumerate(value)))]


def _found(text: str) -> Iterator[tuple[str, int]]:
    folded = text.casefold()
    if not may_hold_secret(text, folded):
        return
    for number, line in enumerate(text.split("\n"), start=1):
        for window in _windows(line, WINDOW):
            yield from ((kind, number) for kind in _kinds(window))
    yield from _private_keys(text)


def _windows(line: str, size: int) -> Iterator[str]:
    if len(line) <= size:
        yield line
        return
    for start in range(0, len(line) - size // 2, size // 2):
        yield line[start : start + size]


def _kinds(window: str) -> Iterator[str]:
    folded = window.casefold()
    known = [*_own(window), *_plugins(window, folded)]
    yield from known
    parts = _windows(window, KEYWORD_WINDOW) if not known else ()
    if any(has_keyword(part.casefold()) and _assigned(part) for part in parts):
        yield "Secret Keyword"


def _own(window: str) -> Iterator[str]:
    for kind, (mark, pattern) in OWN.items():
        if mark in window and any(not is_placeholder(match.group()) for match in pattern.finditer(window)):
            yield kind


def _plugins(window: str, folded: str) -> Iterator[str]:
    for plugin in PLUGINS:
        if plugin.module != "private_key" and plugin.marked(window, folded):
            yield from _asked(_detector(plugin.module, plugin.detector), window)


@lru_cache(maxsize=64)
def _detector(module: str, name: str) -> Any:
    """Return a plug-in of detect-secrets; it brings an HTTP client along, so it is loaded where a mark was seen."""
    return getattr(import_module(f"detect_secrets.plugins.{module}"), name)()


def _asked(detector: Any, window: str) -> Iterator[str]:
    try:
        sure = any(detector.analyze_string(window))
    except (ValueError, RecursionError):  # a token that a plug-in decodes can hold anything
        return
    if sure and any(_is_secret(match, window) for regex in detector.denylist for match in regex.finditer(window)):
        yield str(detector.secret_type)


def _is_secret(match: re.Match[str], window: str) -> bool:
    """Return whether a match stands for itself: no placeholder, and not a part of a longer run of letters."""
    value = match.group(1) if match.group().startswith("://") else match.group()
    before = window[match.start() - 1 : match.start()] if match.start() else ""
    inside = match.group()[:1].isalnum() and before.isalnum()
    return not (inside or is_placeholder(value) or is_plain_word(value))


def _assigned(window: str) -> bool:
    """Return whether a name of a secret gets a value that looks like one."""
    keyword = import_module("detect_secrets.plugins.keyword")
    for regex, group in (
        (keyword.FOLLOWED_BY_COLON_REGEX, 4),
        (keyword.FOLLOWED_BY_EQUAL_SIGNS_REGEX, 5),
    ):
        at = 0
        for _ in range(MAX_TURNS):
            match = regex.search(window, at)
            if match is None:
                break
            if _is_value(match.group(group), quoted=bool(match.group(group - 1))):
                return True
            at = match.start(group)
    return False


def _is_value(value: str, *, quoted: bool) -> bool:
    words = value.split()
    if not words or (quoted and len(words) > 1):
        return False
    word = words[0].rstrip(".,;:)]}`'\"")
    return looks_random(word) and not is_placeholder(word) and not is_plain_word(word)


def _named(at: Place, text: str) -> Iterator[tuple[str, int]]:
    """A value under a key such as ``password``, or the default of a property of that name."""
    name = next((part for part in reversed(at) if isinstance(part, str) and part not in _VALUE_WORDS), "")
    if not _may_name_secret(name) or len(text) > MAX_VALUE or "\n" in text:
        return
    if has_keyword(f"{name}: ".casefold()) and _assigned(f'{name}: "{text}"'):
        yield "Secret Keyword", 1


@lru_cache(maxsize=4_096)
def _may_name_secret(name: str) -> bool:
    """Return whether a key could be the name of a secret; documents have few keys, each many times."""
    if name in _NO_NAMES or not _NAME.fullmatch(name):
        return False
    folded = name.casefold()
    return any(stem in folded for stem in STEMS)


def _private_keys(text: str) -> Iterator[tuple[str, int]]:
    plugin = next(each for each in PLUGINS if each.module == "private_key")
    if not plugin.marked(text, text):
        return
    detector = _detector(plugin.module, plugin.detector)
    for regex in detector.denylist:
        for match in regex.finditer(text):
            if _KEY_BODY.search(text, match.end(), match.end() + _KEY_NEAR):
                yield str(detector.secret_type), text.count("\n", 0, match.start()) + 1
