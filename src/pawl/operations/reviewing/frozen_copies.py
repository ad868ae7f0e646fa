"""Whether every frozen copy is what was recorded, without reading those that show no change since they were.

A copy that was read and found right is remembered by its mark (``io.file_marks``), beside what files of the work tree
read as. ``verify`` remembers nothing and reads all of them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pawl.errors import IntegrityError
from pawl.operations.sources.files import UNMARKED, look, settled
from pawl.operations.sources.memory import Row, SourceMemory, column, open_sources, seal_of
from pawl.operations.sources.recorded import copy_path, sealer
from pawl.problems import Problem
from pawl.registry.catalog import Catalog, Published
from pawl.workspace import Workspace


class Frozen(NamedTuple):
    """What was found in the frozen copies. ``files``: the SHA-256 that was recorded of each, by its path."""

    problems: tuple[Problem, ...]
    files: Mapping[str, str]


def look_at_copies(workspace: Workspace, catalog: Catalog) -> Frozen:
    """Return an error for each copy that is not what was recorded, and a warning for each that no record speaks of.

    What was recorded of each is remembered with the record up to which it is; it is read from there while that is the
    newest one.
    """
    memory = open_sources(workspace)
    shelf = memory.shelf("copy")
    known = dict(zip(shelf.column("path"), shelf.column("file"), strict=True))
    sealed = shelf.sealed_by == sealer(catalog)
    recorded = known if sealed else _recorded(catalog)
    looked = look(workspace.root, workspace.versions, shelf.known)
    places = set(looked.differing)
    if not sealed:
        places |= {place for place, path in enumerate(looked.paths) if known.get(path) != recorded.get(path)}
    paths = [looked.paths[place] for place in sorted(places)]
    wrong = [path for path in paths if path in recorded and not _is_noted(workspace, memory, catalog, path, known)]
    there = looked.paths is shelf.known.paths
    wrong += [] if there else list(recorded.keys() - set(looked.paths))
    if looked.folders and not (sealed and there):
        seal = (
            None
            if sealed or wrong
            else _seal(catalog, {path: recorded[path] for path in looked.paths if path in recorded})
        )
        memory.keep("copy", looked, shelf, seal)
    memory.save()
    found = [problem for path in wrong for problem in _problems(workspace, _version(workspace, catalog, path))]
    return Frozen((*found, *_strange(path for path in paths if path not in recorded)), recorded)


def _is_noted(
    workspace: Workspace, memory: SourceMemory, catalog: Catalog, path: str, known: Mapping[str, str]
) -> bool:
    """Whether a copy is what was recorded, which is noted then; a mark is taken before it is read."""
    version = _version(workspace, catalog, path)
    now = time.time_ns()
    try:
        mark = settled(os.lstat(f"{workspace.root}/{path}"), now)
    except OSError:
        mark = UNMARKED
    right = _is_right(workspace, version)
    if right and (mark != UNMARKED or known.get(path) != version.file):
        memory.note(Row(path, "copy", version.file), mark, None)
    return right


def _recorded(catalog: Catalog) -> dict[str, str]:
    return {copy_path(ref.name, ref.version): version.file for ref, version in catalog.published.items()}


def _seal(catalog: Catalog, files: Mapping[str, str]) -> bytes:
    """Return what says that these files were recorded when the registry's newest record was this one."""
    return seal_of(sealer(catalog), column(files), column(files.values()))


def _version(workspace: Workspace, catalog: Catalog, path: str) -> Published:
    ref = workspace.frozen_ref(path)
    if ref is None:
        raise KeyError(path)
    return catalog.published[ref]


def _strange(paths: Iterable[str]) -> Iterator[Problem]:
    for where in paths:
        message = f"no record speaks of {where}, so it counts for nothing"
        hint = "versions are frozen by: pawl publish"
        yield Problem(code="file-unrecorded", severity="warning", message=message, path=where, hint=hint)


def _is_right(workspace: Workspace, version: Published) -> bool:
    try:
        workspace.frozen(version)
    except IntegrityError:
        return False
    return True


def _problems(workspace: Workspace, version: Published) -> tuple[Problem, ...]:
    try:
        workspace.frozen(version)
    except IntegrityError as error:
        return error.problems
    return ()  # somebody mended it meanwhile
