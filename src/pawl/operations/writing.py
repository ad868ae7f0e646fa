"""Writing what a command decided, as its session says: where, and whether Git is to have it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from pawl.errors import PawlError
from pawl.io import git
from pawl.operations.session import Report, Session
from pawl.operations.sources import read_settings_file
from pawl.problems import Problem
from pawl.releases.applying import Applied, apply, apply_left_over
from pawl.releases.committing import is_pending, not_committed
from pawl.releases.plans import Plan


def write(session: Session, plan: Plan, *, branch: str | None) -> Applied:
    """Apply ``plan``; ``branch`` is the only one on which journals are written. Raises what ``apply`` raises."""
    return apply(session.workspace, plan, commit=session.commit, branch=branch, repository=session.repository)


def with_left_over(session: Session, report: Report) -> Report:
    """Return the report of a command that writes; where it found nothing to do, what earlier ones left is committed.

    It stays ``unchanged``; ``commit`` and ``files`` in its data, and a note or a warning, say what became of them.
    """
    repository = session.repository
    if report.status != "unchanged" or not session.commit or repository is None or report.data.get("dry_run"):
        return report
    with closing(repository):
        try:
            if not is_pending(session.workspace, repository):
                return report
            before = repository.head()
        except (PawlError, OSError):  # the command read what it needed; what else is damaged is for verify to say
            return report
        applied = _apply_left_over(session, repository)
    if applied.commit in {before, None} and not applied.problems:  # nothing, or only the index was behind
        return report
    problems = (*report.problems, *(_late(applied.commit) if applied.commit else ()), *applied.problems)
    data = {**report.data, "files": list(applied.files), "commit": applied.commit}
    return replace(report, problems=problems, data=data)


def _apply_left_over(session: Session, repository: git.Repository) -> Applied:
    try:
        branch = read_settings_file(session.workspace).branch
        return apply_left_over(session.workspace, repository, branch=branch)
    except (PawlError, OSError) as error:
        return Applied(files=(), commit=None, problems=(not_committed("an earlier change is recorded", error),))


def _late(commit: str) -> tuple[Problem, ...]:
    message = f"what earlier commands recorded, and Git had not committed, is committed now: {commit[:12]}"
    return (Problem(code="committed-late", severity="note", message=message),)
