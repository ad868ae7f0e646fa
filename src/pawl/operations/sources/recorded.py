"""What was recorded of frozen copies, remembered for who would ask the registry about very many versions at once.

A version that was published stays what it is, so what was true when the registry ended at some record is true as long
as that record is in it.
"""

from __future__ import annotations

from collections.abc import Mapping

from pawl.ids import Digest, Serial
from pawl.operations.sources.files import UNMARKED, Looked
from pawl.operations.sources.memory import Row, Shelf, column, open_sources, seal_of
from pawl.registry.catalog import Catalog
from pawl.registry.journal import Head
from pawl.workspace import Workspace

_KIND = "recorded"
MANY = 100
"""From how many versions on it costs less to remember them than to ask again."""


def copy_path(name: str, version: str) -> str:
    """Return the path of a frozen copy from the root."""
    return f"registry/versions/{name}/{version}.yaml"


def sealer(catalog: Catalog) -> str:
    """Return by whose word a shelf is sealed: that of the registry's newest record."""
    return f"{catalog.head.serial} {catalog.head.digest}"


def recorded_before(workspace: Workspace, catalog: Catalog) -> Mapping[str, str]:
    """Return the recorded SHA-256 of copies that were asked about before, by their paths; there may be more copies."""
    shelf = open_sources(workspace).shelf(_KIND)
    return _files(shelf) if _holds(workspace, catalog, shelf) else {}


def remember_recorded(workspace: Workspace, catalog: Catalog, files: Mapping[str, str]) -> None:
    """Remember what the registry recorded of copies, beside what is known already."""
    memory = open_sources(workspace)
    shelf = memory.shelf(_KIND)
    known = {**(_files(shelf) if _holds(workspace, catalog, shelf) else {}), **files}
    for path, file in known.items():
        memory.note(Row(path, _KIND, file), UNMARKED, None)
    seal = seal_of(sealer(catalog), column(known), column(known.values()))
    memory.keep(_KIND, Looked([*known], (), {}), shelf, seal)
    memory.save()


def _files(shelf: Shelf) -> dict[str, str]:
    return dict(zip(shelf.column("path"), shelf.column("file"), strict=True))


def _holds(workspace: Workspace, catalog: Catalog, shelf: Shelf) -> bool:
    """Whether the record that a shelf was sealed by is one of the registry."""
    by = shelf.sealed_by
    if by is None:
        return False
    if by == sealer(catalog):
        return True
    serial, _, digest = by.partition(" ")
    return workspace.registry_was_at(Head(serial=Serial(int(serial)), digest=Digest(digest)), catalog.head)
