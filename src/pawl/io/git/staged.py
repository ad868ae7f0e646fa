"""What the index of a work tree holds of some files, looked up in its bytes.

An index is one file, however many entries it has: a name is searched for and its entry checked, nothing else is read.
An index in another form (names cut short, entries in a second file, folders in the place of their files) is not looked
into, and Git is asked.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from pawl.io.git.place import Place

_FORMS = frozenset({b"", b"DIRC\x00\x00\x00\x02", b"DIRC\x00\x00\x00\x03"})
_SPARSE = b"sdir\x00\x00\x00\x00"
_ATTRIBUTES = b".gitattributes\x00"
_MOST_BYTES = 256_000_000
_MOST_NAME = 0xFFF
_FEW_NAMES = 30
"""So many are searched for; for more, each entry is looked at once."""
_HEAD = 12
_ASSUMED, _EXTENDED, _STAGES, _LONG = 0x8000, 0x4000, 0x3000, 0x0FFF
_SKIPPED = 0x4000
"""In the second word of flags, which an extended entry has."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """An entry that Git is told to look away from: ``assume-unchanged``, ``skip-worktree``, or both."""

    mode: str
    blob: str
    name: bytes

    def told(self) -> bytes:
        """Return the entry as Git is told of one."""
        return f"{self.mode},{self.blob},".encode("ascii") + self.name


class Staged:
    """The entries of an index as it was when this was made; ``whole`` says whether this sees all of them."""

    def __init__(self, place: Place, digest_size: int) -> None:
        self._digest_size = digest_size
        self._data = b""
        try:
            with (place.git_dir / "index").open("rb") as file:
                self._data = file.read(_MOST_BYTES)
            elsewhere = any(place.git_dir.glob("sharedindex.*"))
        except OSError as error:
            elsewhere = not isinstance(error, FileNotFoundError)
        sparse = _SPARSE in self._data
        self.whole = self._data[:8] in _FORMS and not elsewhere and not sparse and len(self._data) < _MOST_BYTES

    def blob(self, name: bytes) -> str | None:
        """Return the id of a file's entry; None where there is none, or none that is like any other's."""
        if not self.whole or not 0 < len(name) < _MOST_NAME:
            return None
        flags = struct.pack(">H", len(name))  # no stage of a merge, nothing assumed of it
        header = 40 + self._digest_size + len(flags)
        at = -1
        while (at := self._data.find(name + b"\x00", at + 1)) >= 0:
            begins = at - header - 12
            if begins >= 0 and begins % 8 == 0 and self._data[at - len(flags) : at] == flags:
                return self._data[at - len(flags) - self._digest_size : at - len(flags)].hex()
        return None

    def hidden(self, names: Collection[bytes]) -> Iterator[Hidden]:
        """Yield the entries of these files that Git is told to look away from; ``whole`` says whether all are seen."""
        if not self.whole or len(self._data) < _HEAD:
            return
        wanted = frozenset(names)
        begins = self._found(wanted) if len(wanted) <= _FEW_NAMES else self._all()
        for begin in begins:
            name = self._hidden_name(begin)
            if name in wanted:
                (mode,) = struct.unpack_from(">I", self._data, begin + 24)
                yield Hidden(f"{mode:o}", self._data[begin + 40 : begin + 40 + self._digest_size].hex(), name)

    def _found(self, names: Collection[bytes]) -> Iterator[int]:
        """Yield where entries of these names may begin, with flags of either length; others are among them."""
        flags = 40 + self._digest_size
        for name in names:
            at = -1
            while (at := self._data.find(name + b"\x00", at + 1)) >= 0:
                for begin in (at - flags - 2, at - flags - 4):
                    if begin >= _HEAD and (begin - _HEAD) % 8 == 0:
                        yield begin

    def _all(self) -> Iterator[int]:
        """Yield where each entry begins, up to one that is cut off: of a damaged index Git says what is wrong."""
        flags, begin = 40 + self._digest_size, _HEAD
        (count,) = struct.unpack_from(">I", self._data, 8)
        for _ in range(count):
            if begin + flags + 4 > len(self._data):
                return
            yield begin
            (word,) = struct.unpack_from(">H", self._data, begin + flags)
            ends = self._data.find(b"\x00", begin + flags + (4 if word & _EXTENDED else 2))
            if ends < 0:
                return
            begin += (ends - begin + 8) // 8 * 8

    def _hidden_name(self, begin: int) -> bytes | None:
        """Return the name of the entry that begins here; None if Git looks at its file, or no entry begins here."""
        at = begin + 40 + self._digest_size
        flags, more = struct.unpack_from(">HH", self._data, at)
        extended = bool(flags & _EXTENDED)
        if flags & _STAGES or not (flags & _ASSUMED or (extended and more & _SKIPPED)):
            return None
        named = at + (4 if extended else 2)
        ends = named + (flags & _LONG)
        return self._data[named:ends] if self._data[ends : ends + 1] == b"\x00" else None

    def may_have_attributes(self, folders: Collection[bytes]) -> bool:
        """Whether one of these folders, with a slash at the end (b"" is the root), may have a file of attributes."""
        at = -1
        while (at := self._data.find(_ATTRIBUTES, at + 1)) >= 0:
            before = self._data[max(0, at - _MOST_NAME) : at]
            if any(before.endswith(folder) if folder else not before.endswith(b"/") for folder in folders):
                return True
        return False
