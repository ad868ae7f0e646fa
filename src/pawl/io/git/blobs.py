"""The bytes of files as objects, as Git would store them.

Where nothing but the bytes counts they are written here. Where an attribute may name a filter or an encoding, Git is
asked to store them. Where the answer depends on what is stored now, or is no object of one file, there is none.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pawl.errors import InvalidError
from pawl.io.git.attributes import hidden_in_index, stored_as_they_are
from pawl.io.git.objects import Objects
from pawl.io.git.place import Place
from pawl.io.git.process import run
from pawl.io.git.settings import Settings
from pawl.io.git.trees import Changes, Writer
from pawl.io.steps import step

_MOST_ARGUMENTS = 100_000
_MOST_BYTES = 64_000_000


def stored(
    place: Place, objects: Objects, settings: Settings, writer: Writer, names: Sequence[bytes]
) -> Changes | None:
    """Store the files that are there, each name once, and return what becomes of all of them.

    None, with nothing stored, where it depends on an index how Git would store them, none is there, or they are too
    much at once.
    """
    contents = _contents(place, objects, settings, names)
    if contents is None:
        return None
    step("git.write-blobs")
    if stored_as_they_are(place, settings, contents):
        blobs = {name: writer.write("blob", data) for name, data in contents.items()}
    else:
        blobs = _hashed(place, list(contents))
    by_file = settings.on("core.filemode", default=True)  # whether the file system knows what is executable
    changes: dict[tuple[bytes, ...], tuple[bytes | None, str] | None] = {}
    for name in names:
        blob = blobs.get(name)
        mode = _mode(_path(place, name)) if blob and by_file else None
        changes[tuple(name.split(b"/"))] = (mode, blob) if blob else None
    return changes


def stored_by_bytes(place: Place, objects: Objects, settings: Settings, names: Sequence[bytes]) -> bool:
    """Whether all of these files are there and Git would store each of them byte for byte."""
    contents = _contents(place, objects, settings, names)
    return contents is not None and len(contents) == len(names) and stored_as_they_are(place, settings, names)


def _contents(place: Place, objects: Objects, settings: Settings, names: Sequence[bytes]) -> dict[bytes, bytes] | None:
    """Return the bytes of the files that are there; None where an index has a say in them, and for none or too many."""
    there = [name for name in names if os.path.lexists(_path(place, name))]
    if not there or sum(map(len, there)) > _MOST_ARGUMENTS:
        return None
    if sum(_path(place, name).stat().st_size for name in there) > _MOST_BYTES:
        return None
    contents = {name: _path(place, name).read_bytes() for name in there}
    if any(b"\r" in data for data in contents.values()) or hidden_in_index(place, objects, settings, there):
        return None
    return contents


def _path(place: Place, name: bytes) -> Path:
    return place.root / os.fsdecode(name)


def _mode(path: Path) -> bytes:
    return b"100755" if path.stat().st_mode & 0o100 else b"100644"


def _hashed(place: Place, names: Sequence[bytes]) -> dict[bytes, str]:
    """Let Git store the files, through the filters that their attributes name."""
    blobs = run(place.root, "hash-object", "-w", "--", *names).stdout.decode("ascii").split()
    if len(blobs) != len(names) or any(len(blob) not in {40, 64} for blob in blobs):
        raise InvalidError("Git did not store every file", code="git-failed")
    return dict(zip(names, blobs, strict=True))
