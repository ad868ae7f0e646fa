"""Writing what a command decided, as its session says: where, and whether Git is to have it."""

from __future__ import annotations

from pawl.operations.session import Session
from pawl.releases.applying import Applied, apply
from pawl.releases.plans import Plan


def write(session: Session, plan: Plan, *, branch: str | None) -> Applied:
    """Apply ``plan``; ``branch`` is the only one on which journals are written. Raises what ``apply`` raises."""
    return apply(session.workspace, plan, commit=session.commit, branch=branch, repository=session.repository)
