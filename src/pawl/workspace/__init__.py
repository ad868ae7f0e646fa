"""A workspace on disk: the only place that knows the folder names.

Reads files and journals and hands out values; everything that was stored by pawl is checked against its digest before
anybody sees it. Writing is done by ``releases.applying`` with the paths from here.
"""

from __future__ import annotations

from pathlib import Path

from pawl.errors import NotFoundError, UsageError
from pawl.values import dataclass
from pawl.workspace.frozen import MAX_DOCUMENT_BYTES, FrozenVersions
from pawl.workspace.journals import Journals
from pawl.workspace.places import MARKER, MAX_SOURCE_BYTES
from pawl.workspace.signatures import Signatures

__all__ = ["MARKER", "MAX_DOCUMENT_BYTES", "MAX_SOURCE_BYTES", "Workspace", "check_output", "find_workspace"]


@dataclass(frozen=True, slots=True)
class Workspace(Journals, FrozenVersions, Signatures):
    """A folder with a registry/registry.yaml; all other names are derived from it."""


def find_workspace(start: Path) -> Workspace:
    """Return the workspace that holds ``start``, or raise ``NotFoundError``."""
    try:
        here = start.resolve()
    except (OSError, RuntimeError):  # the current folder was removed, or a link leads round in a circle
        message = f"no workspace here: {start} leads nowhere"
        raise NotFoundError(message, code="no-workspace", hint="name a folder that is there: -C FOLDER") from None
    for folder in (here, *here.parents):
        if (folder / MARKER).is_file():
            return Workspace(folder)
    raise NotFoundError(
        f"no workspace here: neither {start} nor a folder above it has a {MARKER}",
        code="no-workspace",
        hint="make one with: pawl init",
    )


def check_output(path: Path) -> Path:
    """Return a path that an answer may be written to; ``UsageError`` for one among a workspace's own files."""
    for folder in (path.absolute().parent, _real(path).parent):
        try:
            workspace = find_workspace(folder)
        except NotFoundError:
            continue
        if workspace.holds(path):
            message = f"{path} is among the workspace's own files, which no output replaces"
            raise UsageError(message, code="output-inside", hint="write it somewhere else")
    return path


def _real(path: Path) -> Path:
    """Return where a path leads; itself where its links lead round in a circle, which cannot be written to."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()
