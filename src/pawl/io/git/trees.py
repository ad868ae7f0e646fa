"""Trees and other objects, written as Git writes loose ones.

An object is a file of its own, compressed, named by the digest of its kind, size and bytes. It is written beside its
place and moved there, so that a kill leaves a complete object, or a ``tmp_obj_`` that ``git gc`` removes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from pawl.errors import InvalidError
from pawl.io.git.objects import Objects
from pawl.io.git.tree import TREE, TREES, Tree

Changes: TypeAlias = "Mapping[tuple[bytes, ...], tuple[bytes | None, str] | None]"
"""What becomes of files by the parts of their path: a mode (None: as it was) and a blob, or None for removed ones."""


class OddTreeError(Exception):
    """A tree has something in a place where it does not belong; Git itself knows what to say of it."""


class Writer:
    """Writes loose objects into a folder of objects."""

    def __init__(self, folder: Path, *, algorithm: str, durable: bool) -> None:
        self._folder = folder
        self._algorithm = algorithm
        self._durable = durable

    def write(self, kind: str, data: bytes) -> str:
        """Write an object unless it is there, and return its id."""
        whole = b"%s %d\x00" % (kind.encode("ascii"), len(data)) + data
        name = hashlib.new(self._algorithm, whole, usedforsecurity=False).hexdigest()
        path = self._folder / name[:2] / name[2:]
        try:
            try:
                os.utime(path)  # as Git does: what is used again is not pruned as old
            except FileNotFoundError:
                self._create(path, zlib.compress(whole, 1))
        except OSError as error:
            message = f"Git could not write an object: {error.strerror or error}"
            raise InvalidError(message, code="git-failed") from error
        return name

    def _create(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(exist_ok=True)
        temporary = path.parent / f"tmp_obj_{secrets.token_hex(8)}"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                if self._durable:
                    os.fsync(descriptor)
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise


def written(objects: Objects, writer: Writer, old: str | None, changes: Changes) -> str | None:
    """Write the tree ``old`` (None: an empty one) with ``changes``, and return its id; None if nothing is left in it.

    Only the folders on the way to a change are read and written. Raises ``OddTreeError`` where a folder is in the place
    of a file, or a file in the place of a folder.
    """
    known = objects.tree(old) if old is not None else Tree()
    if known is None:
        raise OddTreeError
    tree = known.copy()
    for name, below in _by_folder(changes).items():
        entry = tree.get(name)
        is_folder = entry is not None and entry[0] in TREES
        if () in below:
            if is_folder or len(below) > 1:
                raise OddTreeError
            change = below[()]
            tree.set(name, (_kept_mode(entry, change[0]), change[1]) if change else None)
            continue
        if entry is not None and not is_folder:
            raise OddTreeError
        new = written(objects, writer, entry[1] if entry else None, below)
        tree.set(name, (TREE, new) if new else None)
    return writer.write("tree", tree.data()) if tree.data() else None


def _by_folder(changes: Changes) -> dict[bytes, dict[tuple[bytes, ...], tuple[bytes | None, str] | None]]:
    found: dict[bytes, dict[tuple[bytes, ...], tuple[bytes | None, str] | None]] = {}
    for (first, *rest), change in changes.items():
        found.setdefault(first, {})[tuple(rest)] = change
    return found


def _kept_mode(entry: tuple[bytes, str] | None, mode: bytes | None) -> bytes:
    if mode is not None:
        return mode
    return entry[0] if entry is not None and entry[0] == b"100755" else b"100644"
