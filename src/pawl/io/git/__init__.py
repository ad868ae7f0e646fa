"""Git, as little of it as a release needs: each part a module, and from here what other rooms ask of a repository."""

from __future__ import annotations

from pawl.io.git.repository import REGULAR, Repository, find

__all__ = ["REGULAR", "Repository", "find"]
