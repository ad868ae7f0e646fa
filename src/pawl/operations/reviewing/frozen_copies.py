"""Whether every frozen copy is what was recorded, without reading those that show no change since they were.

A copy that was read and found right is remembered by its mark (``io.file_marks``), beside what files of the work tree
read as. ``verify`` remembers nothing and reads all of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import NamedTuple

from pawl.errors import IntegrityError
from pawl.io.file_marks import Mark, mark_of, same_mark
from pawl.operations.sources.files import Folders, files_of
from pawl.operations.sources.memory import open_sources
from pawl.problems import Problem
from pawl.registry.catalog import Catalog, Published
from pawl.workspace import Workspace

_FOLDER = "registry/versions"


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
    known = memory.copies()
    sealed = memory.seal() == _seal(catalog, ((path, file) for path, (_, file) in known.items()))
    recorded = {path: file for path, (_, file) in known.items()} if sealed else _recorded(catalog)
    folders = Folders(memory.folders(), recorded)
    waiting = dict(recorded)
    new: list[tuple[str, Mark, str]] = []
    wrong: list[str] = []
    strange: list[str] = []
    now = time.time_ns()
    for path, status in files_of(workspace.root, workspace.versions, folders):
        file = waiting.pop(path, None)
        if file is None:
            strange.append(path)
        elif status is None or known.get(path) != (same_mark(status), file):
            right = _is_right(workspace, _version(workspace, catalog, path))
            mark = mark_of(status, now) if right and status is not None else None
            if known.get(path) != (row := (mark or "", file)):
                new.append((path, *row))
            wrong += () if right else (path,)
    new += [(path, "", file) for path, file in waiting.items() if known.get(path) != ("", file)]
    memory.save_copies(
        new, known.keys() - recorded.keys(), None if sealed else _seal(catalog, sorted(recorded.items()))
    )
    if folders.changed:
        memory.save_folders(folders.marks)
    found = [
        problem for path in (*wrong, *waiting) for problem in _problems(workspace, _version(workspace, catalog, path))
    ]
    return Frozen((*found, *_strange(workspace, catalog, strange)), recorded)


def copy_path(name: str, version: str) -> str:
    """Return the path of a frozen copy from the root."""
    return f"{_FOLDER}/{name}/{version}.yaml"


def _recorded(catalog: Catalog) -> dict[str, str]:
    return {copy_path(ref.name, ref.version): version.file for ref, version in catalog.published.items()}


def _seal(catalog: Catalog, files: Iterable[tuple[str, str]]) -> str:
    """Return what says that these files were recorded when the registry's newest record was this one."""
    text = "\n".join(f"{path} {file}" for path, file in files)
    return f"{catalog.head.digest} {sha256(text.encode('utf-8')).hexdigest()}"


def _version(workspace: Workspace, catalog: Catalog, path: str) -> Published:
    ref = workspace.frozen_ref(path)
    if ref is None:
        raise KeyError(path)
    return catalog.published[ref]


def _strange(workspace: Workspace, catalog: Catalog, paths: Iterable[str]) -> Iterator[Problem]:
    for where in paths:
        ref = workspace.frozen_ref(where)
        if ref is None or ref not in catalog.published:
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
