"""The table of targets."""

from __future__ import annotations

from hostile import rooms, stored, written
from hostile.table import Target

TARGETS: dict[str, Target] = {target.name: target for module in (written, stored, rooms) for target in module.targets()}


def plan_of(inputs: int, names: tuple[str, ...] = ()) -> list[tuple[str, int, int]]:
    """Return how many of ``inputs`` each target gets, by its share and at least three: (target, 0, count)."""
    chosen = [target for name, target in TARGETS.items() if not names or name in names]
    whole = sum(target.share for target in chosen)
    return [(target.name, 0, max(3, round(inputs * target.share / whole))) for target in chosen]
