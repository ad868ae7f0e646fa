"""How many examples a property is tried on: few in the default run, more in .ci/run, many in .ci/long."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet
from hypothesis import HealthCheck, settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")
TIMES = {"quick": 1, "ci": 2, "long": 25}
"""Of a test's own number, by profile."""


def examples(count: int, **more: Any) -> settings:
    """Return settings for ``count`` examples in the default run; ``more`` is what ``settings`` takes besides."""
    return settings(max_examples=count * TIMES[PROFILE], **more)


def sweep(names: Iterable[str], *chosen: str) -> list[ParameterSet]:
    """Return the names of a sweep's cases as parameters: those that are chosen for the default run, the others slow."""
    found = list(names)
    assert set(chosen) <= set(found), sorted(set(chosen) - set(found))
    return [pytest.param(name, id=name, marks=[] if name in chosen else [pytest.mark.slow]) for name in found]


def choose_profile() -> None:
    """Let tests that say nothing of their own have 40, 80 or 1,000; only the long form tries others each time."""
    for name, times in TIMES.items():
        same = name != "long"
        checks = [HealthCheck.too_slow]  # a busy machine is no fault of a test
        settings.register_profile(
            name, deadline=None, derandomize=same, max_examples=40 * times, suppress_health_check=checks
        )
    settings.load_profile(PROFILE)
