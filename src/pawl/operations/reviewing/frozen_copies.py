"""Whether every frozen copy is what was recorded, without reading those that show no change since they were.

A copy that was read and found right is remembered by its mark (``io.file_marks``), beside what files of the work tree
read as. ``verify`` remembers nothing and reads all of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

from pawl.errors import IntegrityError
from pawl.ids import Ref
from pawl.io.file_marks import Mark, mark_of, same_mark
from pawl.operations.source_files import Seen, files_below
from pawl.operations.source_memory import open_sources
from pawl.problems import Problem
from pawl.registry.catalog import Published
from pawl.workspace import Workspace


def frozen_problems(workspace: Workspace, published: Mapping[Ref, Published]) -> Iterator[Problem]:
    """Yield an error for each copy that is not what was recorded, and a warning for each that no record speaks of."""
    memory = open_sources(workspace)
    known = memory.copies()
    now = time.time_ns()
    folder = workspace.relative(workspace.versions)
    waiting = {f"{folder}/{ref.name}/{ref.version}.yaml": version for ref, version in published.items()}
    new: list[tuple[str, Mark, str]] = []
    bad: list[Published] = []
    strange: list[str] = []
    seen_paths: set[str] = set()
    for seen in files_below(workspace.root, workspace.versions):
        version = waiting.pop(seen.path, None)
        if version is None:
            strange.append(seen.path)
            continue
        seen_paths.add(seen.path)
        if _is_known(seen, version, known):
            continue
        if not _is_right(workspace, version):
            bad.append(version)
        elif seen.status is not None and (mark := mark_of(seen.status, now)) is not None:
            new.append((seen.path, mark, version.file))
    memory.save_copies(new, known.keys() - seen_paths)
    for version in (*bad, *waiting.values()):
        yield from _problems(workspace, version)
    for where in strange:
        ref = workspace.frozen_ref(where)
        if ref is None or ref not in published:
            message = f"no record speaks of {where}, so it counts for nothing"
            hint = "versions are frozen by: pawl publish"
            yield Problem(code="file-unrecorded", severity="warning", message=message, path=where, hint=hint)


def _is_known(seen: Seen, version: Published, known: Mapping[str, tuple[Mark, str]]) -> bool:
    return seen.status is not None and known.get(seen.path) == (same_mark(seen.status), version.file)


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
