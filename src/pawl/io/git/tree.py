"""The entries of one folder as a tree object holds them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable

from pawl.errors import InvalidError

_ENTRY = {size: re.compile(rb"[0-7]+ [^\x00]+\x00.{%d}" % size, re.DOTALL) for size in (20, 32)}
TREE = b"40000"
TREES = frozenset({TREE, b"040000"})


class Tree:
    """The entries of one folder, in Git's order; a change keeps every other entry byte for byte."""

    def __init__(self, entries: Iterable[bytes] = ()) -> None:
        self._entries = list(entries)

    @classmethod
    def read(cls, data: bytes, digest_size: int) -> Tree:
        """Return the folder that a tree object's bytes say."""
        entries = _ENTRY[digest_size].findall(data)
        if sum(map(len, entries)) != len(data):
            raise InvalidError("a tree of Git's cannot be read", code="git-failed")
        return cls(entries)

    def copy(self) -> Tree:
        """Return one of its own with the same entries."""
        return Tree(self._entries)

    def get(self, name: bytes) -> tuple[bytes, str] | None:
        """Return mode and object id of an entry, or None."""
        for folder in (False, True):
            found, index = self._find(name, folder=folder)
            if found:
                mode, _, rest = self._entries[index].partition(b" ")
                return mode, rest[len(name) + 1 :].hex()
        return None

    def set(self, name: bytes, entry: tuple[bytes, str] | None) -> None:
        """Set an entry to mode and object id, or remove it."""
        for folder in (False, True):
            found, index = self._find(name, folder=folder)
            if found:
                del self._entries[index]
        if entry is not None:
            mode, object_id = entry
            _, index = self._find(name, folder=mode == TREE)
            self._entries.insert(index, mode + b" " + name + b"\x00" + bytes.fromhex(object_id))

    def data(self) -> bytes:
        """Return the bytes of the tree object; none if it has no entries."""
        return b"".join(self._entries)

    def _find(self, name: bytes, *, folder: bool) -> tuple[bool, int]:
        wanted = name + b"/" if folder else name
        index = bisect_left(self._entries, wanted, key=_sorts_as)
        return index < len(self._entries) and _sorts_as(self._entries[index]) == wanted, index


def _sorts_as(entry: bytes) -> bytes:
    mode, _, rest = entry.partition(b" ")
    name = rest[: rest.index(b"\x00")]
    return name + b"/" if mode in TREES else name
