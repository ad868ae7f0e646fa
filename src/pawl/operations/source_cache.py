"""What files read as before, so that the same bytes need not be judged again.

Only ``check`` and ``status`` ask here: what writes to the registry reads every file itself. One file of lines under
.pawl/, each with a checksum, to which is appended what was new; it counts for exactly this pawl and may be deleted at
any time. A repository that brings the file along is not believed: its lines would say what a file means, and nobody
judged it.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pawl
from pawl._version import __version__
from pawl.conformance.suites import Suite, suite_of
from pawl.errors import PawlError
from pawl.ids import Digest
from pawl.io import git
from pawl.io.files import read_bounded, replace
from pawl.procedures.procedure import Procedure
from pawl.procedures.read import procedure_of
from pawl.workspace import Workspace

MAX_BYTES = 256 * 1024 * 1024
SPARE = 20
"""Lines about files that are gone, beyond which it is written anew: twice as many as there are, and these."""
_AGAIN: Mapping[str, Callable[[Any, Digest], Procedure | Suite]] = {"procedure": procedure_of, "suite": suite_of}
"""What makes a value of a document that was found valid."""


@dataclass(slots=True)
class SourceCache:
    """Values by the kind of file and the SHA-256 of its bytes."""

    path: Path | None
    lines: dict[str, bytes] = field(default_factory=dict)
    used: int = 0
    new: list[bytes] = field(default_factory=list)

    def get(self, kind: str, data: bytes) -> Any:
        """Return what these bytes were read as, or None."""
        line = self.lines.get(_key(kind, data)) if kind in _AGAIN else None
        if line is None:
            return None
        check, _, rest = line.partition(b"\t")
        with suppress(ValueError, KeyError, TypeError, IndexError, AttributeError):
            if int(check, 16) == zlib.crc32(rest):
                _, digest, document = rest.split(b"\t", 2)
                value = _AGAIN[kind](json.loads(document), Digest(digest.decode("ascii")))
                self.used += 1
                return value
        return None

    def add(self, kind: str, data: bytes, value: Any) -> None:
        """Note what these bytes were read as."""
        if self.path is None or kind not in _AGAIN:
            return
        document = json.dumps(value.document, ensure_ascii=True, separators=(",", ":"))
        rest = f"{_key(kind, data)}\t{value.digest}\t{document}".encode("ascii")
        self.new.append(b"%08x\t%s\n" % (zlib.crc32(rest), rest))

    def save(self, workspace: Workspace) -> None:
        """Append what is new; written anew where most of it is about files that are gone. Never fails."""
        if self.path is None or not self.new:
            return
        with suppress(OSError, PawlError):
            workspace.make_private()
            if self.lines and len(self.lines) < 3 * (self.used + len(self.new)) + SPARE:
                with self.path.open("ab") as file:
                    file.write(b"".join(self.new))
            else:
                replace(self.path, b"".join((_head(), *self.new)), durable=False)


def open_cache(workspace: Workspace) -> SourceCache:
    """Return the workspace's cache; one that knows nothing and keeps nothing where its file cannot be trusted."""
    path = workspace.private / "sources"
    if workspace.private.is_symlink() or path.is_symlink() or _is_brought_along(workspace):
        return SourceCache(path=None)
    try:
        data = read_bounded(path, limit=MAX_BYTES)
    except PawlError:  # gone, too large, or a pipe; it is written anew where a file can be
        return SourceCache(path=path)
    head, *lines = data.split(b"\n")
    if head + b"\n" != _head():
        return SourceCache(path=path)
    # a line that was cut off, by a stop or a full disk, has no checksum that fits
    return SourceCache(
        path=path, lines={line[9:].partition(b"\t")[0].decode("ascii", "replace"): line for line in lines}
    )


def _is_brought_along(workspace: Workspace) -> bool:
    """Whether the last commit has a .pawl, however it is spelled; a doubt is a yes."""
    try:
        repository = git.find(workspace.root)
        return repository is not None and repository.holds_like(workspace.root, workspace.private.name)
    except PawlError:
        return True


def _key(kind: str, data: bytes) -> str:
    return f"{kind}:{sha256(data).hexdigest()}"


@cache
def _head() -> bytes:
    """Return the first line: which pawl and which Python judged. A checkout of pawl that is edited is another pawl."""
    folder = Path(pawl.__file__).parent
    files = ((path, path.stat()) for path in folder.rglob("*.py"))
    marks = sorted((str(path), status.st_size, status.st_mtime_ns) for path, status in files)
    mark = sha256(repr((marks, sys.version)).encode()).hexdigest()
    return f"pawl {__version__} {mark}\n".encode("ascii")
