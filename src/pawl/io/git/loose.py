"""What can be read of a repository without asking Git: the commit that HEAD names, and objects in files of their own.

That is how Git keeps what was written lately. Whatever is kept otherwise (packed, borrowed from another repository,
replaced by another object, in another store of references) is None here, and Git is asked.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from dataclasses import dataclass

from pawl.io.git.place import Place

_MOST_BYTES = 32_000_000
_MOST_REFERENCES = 1_000_000
_ID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HEADER = re.compile(rb"(blob|tree|commit|tag) (0|[1-9][0-9]{0,8})\x00")
_ALGORITHMS = {40: "sha1", 64: "sha256"}


@dataclass(frozen=True, slots=True)
class Object:
    """An object with its id, its kind (blob, tree, commit, tag) and its bytes."""

    id: str
    kind: str
    data: bytes


def id_of(kind: str, data: bytes, *, like: str) -> str:
    """Return the id of an object, by the digest that made the id ``like``."""
    return _digest(b"%s %d\x00" % (kind.encode("ascii"), len(data)) + data, like)


def is_plain(place: Place) -> bool:
    """Whether an id means the object of that id here: none is replaced by another (``git replace``)."""
    if (place.common / "refs" / "replace").exists() or (place.common / "reftable").exists():
        return False
    try:
        with (place.common / "packed-refs").open("rb") as file:
            packed = file.read(_MOST_REFERENCES)
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return len(packed) < _MOST_REFERENCES and b" refs/replace/" not in packed


def head_of(place: Place) -> str | None:
    """Return the id that HEAD names itself, or by a branch that has a file of its own."""
    try:
        said = (place.git_dir / "HEAD").read_bytes().removesuffix(b"\n")
        if said.startswith(b"ref: refs/heads/"):
            said = (place.common / said.removeprefix(b"ref: ").decode("utf-8")).read_bytes().removesuffix(b"\n")
    except (OSError, ValueError):
        return None
    return said.decode("ascii") if _ID.fullmatch(said) else None


def loose(place: Place, object_id: str) -> Object | None:
    """Return an object that has a file of its own, whose bytes are those that its id was made of."""
    try:
        with (place.common / "objects" / object_id[:2] / object_id[2:]).open("rb") as file:
            packed = file.read(_MOST_BYTES + 1)
    except OSError:
        return None
    reading = zlib.decompressobj()
    try:
        whole = reading.decompress(packed, _MOST_BYTES)
    except zlib.error:
        return None
    header = _HEADER.match(whole)
    if header is None or not reading.eof or _digest(whole, object_id) != object_id:
        return None
    data = whole[header.end() :]
    return Object(object_id, header[1].decode("ascii"), data) if len(data) == int(header[2]) else None


def _digest(whole: bytes, like: str) -> str:
    return hashlib.new(_ALGORITHMS[len(like)], whole, usedforsecurity=False).hexdigest()
