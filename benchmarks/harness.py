"""Contests in alternating rounds, and how their outcome is shown.

A contest is the product and its floor: the same work done by hand, without any of the product's promises. Every round
runs both, in an order that alternates, and compares what they returned before their times count. The outcome is the
ratio of the two: a ratio travels between machines, a time does not.
"""

from __future__ import annotations

import gc
import os
import platform
import statistics
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

LEAST_ROUNDS = 5


class Disagreement(Exception):  # noqa: N818 - what it says, not how it ends
    """The product and its floor did not come to the same result, so their times mean nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a benchmark prepares its contests in. ``tiny``: sizes for a smoke test, whose ratios say nothing."""

    folder: Path
    rounds: int
    tiny: bool

    @property
    def turns(self) -> int:
        """How often each side of a contest is called: once to warm up, then once a round."""
        return self.rounds + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """The product and its floor.

    ``calls`` is how often each is called in a round, where one call is too short to time. ``before`` runs ahead of each
    turn of the product and is not timed. ``agree`` compares what both returned.
    """

    name: str
    product: Callable[[], Any]
    floor: Callable[[], Any]
    agree: Callable[[Any, Any], bool]
    calls: int = 1
    before: Callable[[], object] = lambda: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """Contests about one thing. ``prepare`` makes them one after the other, each when the one before is over."""

    about: str
    floor: str
    prepare: Callable[[Setting], Iterable[Contest]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The ratios of one contest over all rounds. The times are medians of one call, for orientation alone."""

    contest: str
    ratio_median: float
    ratio_worst: float
    product_ms: float
    floor_ms: float


def measure(benchmark: Benchmark, *, rounds: int, tiny: bool) -> tuple[Outcome, ...]:
    """Run every contest of a benchmark in a temporary folder; ``Disagreement`` where results differ."""
    with tempfile.TemporaryDirectory(prefix="pawl-benchmark-") as folder:
        setting = Setting(folder=Path(folder), rounds=rounds, tiny=tiny)
        return tuple(hold(contest, rounds) for contest in benchmark.prepare(setting))


def hold(contest: Contest, rounds: int) -> Outcome:
    """Run one contest: a warm-up that counts for nothing, then the rounds."""
    _round(contest, product_first=True)
    times = [_round(contest, product_first=number % 2 == 0) for number in range(rounds)]
    ratios = [product / floor for product, floor in times]
    return Outcome(
        contest=contest.name,
        ratio_median=round(statistics.median(ratios), 2),
        ratio_worst=round(max(ratios), 2),
        product_ms=_milliseconds(product for product, _ in times),
        floor_ms=_milliseconds(floor for _, floor in times),
    )


def _round(contest: Contest, *, product_first: bool) -> tuple[float, float]:
    contest.before()
    if product_first:
        product, made = _timed(contest.product, contest.calls)
        floor, wanted = _timed(contest.floor, contest.calls)
    else:
        floor, wanted = _timed(contest.floor, contest.calls)
        product, made = _timed(contest.product, contest.calls)
    if not contest.agree(made, wanted):
        raise Disagreement(f"{contest.name}: the product came to {made!r:.300}, the floor to {wanted!r:.300}")
    return product, floor


def _timed(act: Callable[[], Any], calls: int) -> tuple[float, Any]:
    gc.collect()
    result = None
    start = perf_counter()
    for _ in range(calls):
        result = act()
    return (perf_counter() - start) / calls, result


def _milliseconds(times: Iterable[float]) -> float:
    return round(statistics.median(times) * 1000, 4)


def as_dict(name: str, outcomes: Sequence[Outcome], *, rounds: int) -> dict[str, Any]:
    """Return the machine form of a benchmark's outcome."""
    return {
        "benchmark": name,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "rounds": rounds,
        "contests": [asdict(outcome) for outcome in outcomes],
    }


def as_text(name: str, outcomes: Sequence[Outcome], *, rounds: int) -> str:
    """Return the outcome as an aligned table, the ratios first."""
    head = (f"{name} ({rounds} rounds)", "median ratio", "worst ratio", "ms", "floor ms")
    rows = [
        (
            outcome.contest,
            f"{outcome.ratio_median:.2f}",
            f"{outcome.ratio_worst:.2f}",
            f"{outcome.product_ms:.3f}",
            f"{outcome.floor_ms:.3f}",
        )
        for outcome in outcomes
    ]
    return "\n".join(aligned((head, *rows)))


def aligned(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """Yield rows with their columns under each other: the first to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for first, *rest in rows:
        cells = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        yield "  ".join((first.ljust(widths[0]), *cells)).rstrip()
