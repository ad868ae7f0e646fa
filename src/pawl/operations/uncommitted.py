"""A note on what was just recorded from files that Git has not committed: a fresh clone would lack them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path

from pawl.errors import PawlError
from pawl.problems import Problem
from pawl.releases.applying import Applied
from pawl.workspace import Workspace

_NAMED = 5


def uncommitted_notes(workspace: Workspace, applied: Applied, sources: Iterable[Path]) -> tuple[Problem, ...]:
    """Return a note that names those of ``sources`` that differ from HEAD; nothing where no commit was made.

    What Git cannot say is no news: what was to be recorded is recorded.
    """
    if applied.commit is None or applied.repository is None:
        return ()
    found: tuple[Path, ...] = ()
    with suppress(PawlError), closing(applied.repository) as repository:
        found = repository.unlike_head([path.resolve() for path in sources])
    if not found:
        return ()
    root = workspace.root.resolve()
    files = [path.relative_to(root).as_posix() for path in found]
    shown = ", ".join(files[:_NAMED]) + (f" and {len(files) - _NAMED} more" if len(files) > _NAMED else "")
    message = f"Git has not committed {shown}, so a fresh clone has what was recorded without its source"
    named = " ".join(map(shlex.quote, files)) if len(files) <= _NAMED else "procedures registry"
    hint = f'git add {named} && git commit -m "..."'
    return (Problem(code="source-uncommitted", severity="note", message=message, hint=hint),)
