"""What the index of a work tree holds of some files, looked up in its bytes.

An index is one file, however many entries it has: a name is searched for and its entry checked, nothing else is read.
An index in another form (names cut short, entries in a second file, folders in the place of their files) is not looked
into, and Git is asked.
"""

from __future__ import annotations

import struct
from collections.abc import Collection

from pawl.io.git.place import Place

_FORMS = frozenset({b"", b"DIRC\x00\x00\x00\x02", b"DIRC\x00\x00\x00\x03"})
_SPARSE = b"sdir\x00\x00\x00\x00"
_ATTRIBUTES = b".gitattributes\x00"
_MOST_BYTES = 256_000_000
_MOST_NAME = 0xFFF


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

    def may_have_attributes(self, folders: Collection[bytes]) -> bool:
        """Whether one of these folders, with a slash at the end (b"" is the root), may have a file of attributes."""
        at = -1
        while (at := self._data.find(_ATTRIBUTES, at + 1)) >= 0:
            before = self._data[max(0, at - _MOST_NAME) : at]
            if any(before.endswith(folder) if folder else not before.endswith(b"/") for folder in folders):
                return True
        return False
