"""Names, versions, references, channels and digests: parsed once, printed in one way.

All are plain strings in type clothing, so they cost nothing on the hot path; the ``parse_*`` functions are the only way
from foreign text to one of them and raise ``ValueError`` with a sentence that says what was expected.
"""

from __future__ import annotations

import re

from pawl.values import dataclass

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from typing import NewType
else:

    def NewType(_name, _base):  # noqa: N802 - as typing has it
        return lambda value: value


Name = NewType("Name", str)
"""A procedure's name: its path below procedures/ without ``.yaml``."""
Version = NewType("Version", str)
"""``X.Y.Z`` with an optional ``aN``, ``bN`` or ``rcN``, in its canonical spelling."""
Channel = NewType("Channel", str)
Digest = NewType("Digest", str)
"""``sha256:`` and 64 hexadecimal digits."""
Serial = NewType("Serial", int)
"""A record's number in its journal, from 1."""

MAX_NAME = 128
NUMBER_DIGITS = 9
MAX_NUMBER = 10**NUMBER_DIGITS - 1
"""The highest number in a version."""
REGISTRY_JOURNAL = "registry"
RESERVED_CHANNELS = frozenset({REGISTRY_JOURNAL, "evidence"})
"""Folder names below releases/ that no channel can take."""

# texts, which re compiles when one is needed first: most readers need one of them
_NUMBER = rf"(?:0|[1-9][0-9]{{0,{NUMBER_DIGITS - 1}}})"
_VERSION = rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:(?:a|b|rc){_NUMBER})?\Z"
_DIGEST = r"sha256:[0-9a-f]{64}\Z"


_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
_INSIDE = "-_"
"""What stands neither first nor last."""


def _is_segment(text: str) -> bool:
    return bool(text) and _LETTERS.issuperset(text) and text[0] not in _INSIDE and text[-1] not in _INSIDE


@dataclass(frozen=True, slots=True, order=True)
class Ref:
    """One exact version of one procedure, written ``name@version``."""

    name: Name
    version: Version

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


def parse_name(text: str) -> Name:
    """Return ``text`` as a name or raise ``ValueError``."""
    if len(text) > MAX_NAME:
        raise ValueError(f"a name has at most {MAX_NAME} characters, this one has {len(text)}")
    if not all(map(_is_segment, text.split("/"))):
        raise ValueError(f"{text!r} is not a name: lowercase segments of a-z, 0-9, - and _, joined by /")
    return Name(text)


def numbers_of(version: Version) -> tuple[int, int, int]:
    """Return what final versions are ordered by."""
    x, y, z = version.split(".")
    return int(x), int(y), int(z)


def parse_version(text: str) -> Version:
    """Return ``text`` as a version or raise ``ValueError``; only the canonical spelling is taken."""
    if not re.match(_VERSION, text):
        raise ValueError(
            f"{text[:80]!r} is not a version: X.Y.Z, optionally followed by aN, bN or rcN, "
            f"each number of at most {NUMBER_DIGITS} digits and without zeros in front"
        )
    return Version(text)


def parse_ref(text: str) -> Ref:
    """Return ``name@version`` as a reference or raise ``ValueError``. There is no implicit latest."""
    name, at, version = text.partition("@")
    parse_name(name)  # what is no name at all is not mended by a version
    if not at:
        raise ValueError(f"{text!r} names no version: write {text}@X.Y.Z, there is no implicit latest")
    return Ref(Name(name), parse_version(version))


def parse_channel(text: str) -> Channel:
    """Return ``text`` as a channel's name or raise ``ValueError``."""
    if len(text) > MAX_NAME or not _is_segment(text):
        raise ValueError(f"{text[:80]!r} is not a channel name: one lowercase segment of a-z, 0-9, - and _")
    if text in RESERVED_CHANNELS:
        raise ValueError(f"{text!r} is the name of a folder of releases/ and cannot be a channel")
    return Channel(text)


def parse_digest(text: str) -> Digest:
    """Return ``text`` as a digest or raise ``ValueError``."""
    if not re.match(_DIGEST, text):
        raise ValueError(f"{text[:80]!r} is not a digest: sha256: and 64 hexadecimal digits")
    return Digest(text)
