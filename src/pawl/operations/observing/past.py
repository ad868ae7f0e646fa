"""The branch's own history as an anchor: no commit that led here ever changed or removed what was recorded.

A journal whose newest record was rewritten together with its projection fits itself; Git still has what it was. A file
that is today as it first was is whole, though a commit in between lacked it: that is told and is no error. What no
commit of this history ever held (a record that was lost in a race, before a reset to the remote) is no concern here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from pawl.io.git import Repository
from pawl.io.git.history import Alteration, alterations
from pawl.problems import Problem
from pawl.workspace import Workspace

_RECORD = re.compile(r"releases/[^/]+/[0-9]{6,}\.json\Z")


def past_problems(
    repository: Repository, workspace: Workspace, recorded: Callable[[], frozenset[str]]
) -> Iterator[Problem]:
    """Yield an error for each record, and each file among ``recorded``, that this history changed or removed.

    Paths are from the workspace's root; they are asked for only where something was. Raises ``PawlError`` where Git
    cannot say.
    """
    root = PurePosixPath(workspace.root.resolve().relative_to(repository.root))
    below = (root / "releases", root / "registry" / "versions")
    found: dict[str, list[Alteration]] = {}
    for item in alterations(repository, below):
        found.setdefault(PurePosixPath(item.name).relative_to(root).as_posix(), []).append(item)
    if found:
        spoken_of = recorded()
        found = {where: items for where, items in found.items() if _RECORD.match(where) or where in spoken_of}
        held = repository.entries_at("HEAD", workspace.releases) | repository.entries_at("HEAD", workspace.versions)
        for where, items in sorted(found.items()):
            yield _judged(where, items, held.get(items[0].name, ("", None))[1])
    if repository.is_shallow():
        message = "this clone is shallow: what its history was before the oldest commit here was not seen"
        yield Problem(code="history-shallow", severity="note", message=message, hint="git fetch --unshallow")


def _judged(where: str, items: list[Alteration], today: str | None) -> Problem:
    """Judge one file by its alterations, newest first; the oldest one knows what was committed first."""
    first = items[-1]
    deed = "removed" if first.after is None else "changed"
    if today == first.before:
        message = f"{where} is as it was first committed, though commit {first.commit[:12]} {deed} it"
        return Problem(code="history-mended", severity="note", message=message, path=where)
    message = f"commit {first.commit[:12]} {deed} {where}; nothing that was recorded ever changes"
    hint = f"put it back as it was and commit it: git cat-file blob {first.before[:12]} > {where}"
    return Problem(code="history-altered", message=message, path=where, hint=hint)
