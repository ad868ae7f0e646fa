"""The ratchet: small contests against the floor alone, each with a bound that its median ratio may not pass.

Bounds have generous room, so that a busy machine breaks none. A contest beyond its bound is measured again with more
rounds before it counts: noise rarely comes twice, a change of the code always does. What is set against one wait for
the disk has no bound, for disks differ more than programs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from benchmarks.harness import FLOOR, Benchmark, Outcome, measure

BOUNDS = Path(__file__).with_name("bounds.json")
_ROOM = 2.5
_ROUNDS = (5, 11, 21)
"""Of the first measurement, and of each that follows where a contest was beyond its bound."""
_AGAINST_THE_DISK = re.compile(r"no Git$|^start and end a run|uses in a group")


def held(
    benchmarks: Mapping[str, Benchmark], bounds: Mapping[str, Mapping[str, float]]
) -> Iterator[tuple[str, str, float, float, bool]]:
    """Yield benchmark, contest, ratio, bound and whether it holds; a bound without its contest is broken as well."""
    for name, wanted in bounds.items():
        ratios: dict[str, float] = {}
        for rounds in _ROUNDS:
            for contest, ratio in _ratios(benchmarks[name], rounds).items():
                ratios[contest] = min(ratio, ratios.get(contest, ratio))
            if all(ratios.get(contest, float("inf")) <= bound for contest, bound in wanted.items()):
                break
        for contest, bound in wanted.items():
            ratio = ratios.get(contest, float("inf"))
            yield name, contest, ratio, bound, ratio <= bound


def _ratios(benchmark: Benchmark, rounds: int) -> dict[str, float]:
    outcomes, _ = measure(benchmark, rounds=rounds, scale="quick", peers=False)
    return {outcome.contest: _to_floor(outcome) for outcome in outcomes}


def _to_floor(outcome: Outcome) -> float:
    return next(ratio.median for ratio in outcome.ratios if ratio.to == FLOOR)


def bounds() -> dict[str, dict[str, float]]:
    """Return benchmark -> contest -> the largest median ratio that passes."""
    found: dict[str, dict[str, float]] = json.loads(BOUNDS.read_text(encoding="utf-8"))
    return found


def set_bounds(benchmarks: Mapping[str, Benchmark], names: Iterable[str]) -> None:
    """Measure now and commit to it, with room."""
    made = {
        name: {
            contest: float(f"{ratio * _ROOM:.3g}")
            for contest, ratio in _ratios(benchmarks[name], _ROUNDS[1]).items()
            if not _AGAINST_THE_DISK.search(contest)
        }
        for name in names
    }
    made = {name: contests for name, contests in made.items() if contests}
    BOUNDS.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
