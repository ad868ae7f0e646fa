"""Named steps: each write, sync, link, replacement and Git step says its name before it happens.

Nothing listens in the product. Tests set ``hook`` to stop a process, or to fail, at one named step.
"""

from __future__ import annotations

from collections.abc import Callable

hook: Callable[[str], None] | None = None


def step(name: str) -> None:
    """Say that the step ``name`` is about to happen."""
    if hook is not None:
        hook(name)
