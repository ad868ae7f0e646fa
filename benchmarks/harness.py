"""Contests in alternating rounds.

A contest is the product, its floor, and peers where they are installed. The floor is the same work done by hand,
without any of the product's promises; a peer is what people would use instead. Every round runs each of them, in an
order that changes from round to round, and compares what they returned before anything counts. The outcome is ratios:
a ratio travels between machines, a time does not.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from benchmarks.peers.client import Peers
from benchmarks.sides import PeerFailed, Reading, Side, tail

LEAST_ROUNDS = 5
FLOOR = "floor"
FLOOR_TAIL = "floor, p99 to p99"
OWN_TAIL = "own p50, its p99"

Scale = Literal["full", "quick", "tiny"]
Size = TypeVar("Size")


class Disagreement(Exception):  # noqa: N818 - what it says, not how it ends
    """Two sides did not come to the same result, so their times mean nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a benchmark prepares its contests in.

    ``scale``: ``full`` for results, ``quick`` for the ratchet, ``tiny`` for a smoke test whose ratios say nothing.
    """

    folder: Path
    rounds: int
    scale: Scale
    peers: Peers

    @property
    def turns(self) -> int:
        """How often each side of a contest is called: once to warm up, then once a round."""
        return self.rounds + 1

    def pick(self, *, full: Size, quick: Size, tiny: Size) -> Size:
        """Return the size that belongs to the scale."""
        return {"full": full, "quick": quick, "tiny": tiny}[self.scale]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """A peer's side of a contest. ``agree`` compares what the product returned with what the peer did."""

    peer: str
    side: Side
    agree: Callable[[Any, Any], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """The product, its floor and peers.

    ``calls`` is how often each is called in a round, where one call is too short to time. ``before`` runs ahead of each
    turn of the product and is not timed. ``agree`` compares what the product returned with what the floor did.
    ``goals`` says how large a median ratio may be: to ``FLOOR``, to a peer by its name, or one of the tails.
    """

    name: str
    product: Side
    floor: Side
    agree: Callable[[Any, Any], bool]
    rivals: Sequence[Rival] = ()
    goals: Mapping[str, float] = field(default_factory=dict)
    calls: int = 1
    before: Callable[[], object] = lambda: None
    unit: Literal["ms", "MiB"] = "ms"


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """Contests about one thing. ``prepare`` makes them one after the other, each when the one before is over."""

    about: str
    floor: str
    prepare: Callable[[Setting], Iterable[Contest]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """The product to something else, over all rounds. ``met`` is whether the median keeps the goal, if there is one."""

    to: str
    median: float
    worst: float
    goal: float | None

    @property
    def met(self) -> bool | None:
        return None if self.goal is None else self.median <= self.goal


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one contest came to. ``costs`` are medians of one call by side, for orientation alone."""

    contest: str
    ratios: tuple[Ratio, ...]
    unit: str
    costs: Mapping[str, float]


def measure(
    benchmark: Benchmark, *, rounds: int, scale: Scale, peers: bool
) -> tuple[tuple[Outcome, ...], dict[str, str]]:
    """Run every contest of a benchmark in a temporary folder; ``Disagreement`` where results differ.

    Returns the outcomes, and for each peer that was asked for its version, or why it did not take part. Whoever waits
    is told on standard error when a contest is over.
    """
    with tempfile.TemporaryDirectory(prefix="pawl-benchmark-") as folder, ExitStack() as stack:
        found = stack.enter_context(Peers(wanted=peers, folder=Path(folder) / "peers"))
        setting = Setting(folder=Path(folder), rounds=rounds, scale=scale, peers=found)
        outcomes = []
        for contest in benchmark.prepare(setting):
            outcomes.append(hold(contest, rounds, found))
            print(f"held: {contest.name}", file=sys.stderr, flush=True)
        return tuple(outcomes), dict(found.said)


def hold(contest: Contest, rounds: int, peers: Peers) -> Outcome:
    """Run one contest: a warm-up that counts for nothing, then the rounds."""
    rivals = {rival.peer: rival for rival in contest.rivals}
    _round(contest, rivals, peers, turn=0)
    held = [_round(contest, rivals, peers, turn=number) for number in range(rounds)]
    names = ["pawl", FLOOR, *rivals]
    return Outcome(
        contest=contest.name,
        ratios=tuple(_ratios(contest, held, rivals)),
        unit=contest.unit,
        costs={name: _shown(statistics.median(row[name].cost for row in held), contest.unit) for name in names},
    )


def _round(contest: Contest, rivals: dict[str, Rival], peers: Peers, *, turn: int) -> dict[str, Reading]:
    contest.before()
    sides: dict[str, Side] = {"pawl": contest.product, FLOOR: contest.floor}
    sides |= {name: rival.side for name, rival in rivals.items()}
    order = list(sides)
    first = turn % len(order)
    readings: dict[str, Reading] = {}
    for name in (*order[first:], *order[:first]):
        try:
            readings[name] = sides[name](contest.calls)
        except PeerFailed as error:
            peers.said[name] = f"did not take part in {contest.name}: {error}"
            del rivals[name]
    made = readings["pawl"].result
    _compare(contest.name, FLOOR, made, readings[FLOOR].result, contest.agree)
    for name, rival in rivals.items():
        _compare(contest.name, name, made, readings[name].result, rival.agree)
    return readings


def _compare(contest: str, side: str, made: Any, wanted: Any, agree: Callable[[Any, Any], bool]) -> None:
    if not agree(made, wanted):
        raise Disagreement(f"{contest}: the product came to {made!r:.300}, {side} to {wanted!r:.300}")


def _ratios(contest: Contest, held: Sequence[Mapping[str, Reading]], rivals: Iterable[str]) -> Iterable[Ratio]:
    for name in (FLOOR, *rivals):
        yield _ratio(contest, name, [row["pawl"].cost / row[name].cost for row in held])
    tails = [tail(row["pawl"]) for row in held]
    if all(tails):
        yield _ratio(contest, OWN_TAIL, [found.p99 / found.p50 for found in tails if found])
    floors = [tail(row[FLOOR]) for row in held]
    if all(tails) and all(floors):
        pairs = zip(tails, floors, strict=True)
        yield _ratio(contest, FLOOR_TAIL, [made.p99 / wanted.p99 for made, wanted in pairs if made and wanted])


def _ratio(contest: Contest, to: str, ratios: Sequence[float]) -> Ratio:
    return Ratio(
        to=to, median=_rounded(statistics.median(ratios)), worst=_rounded(max(ratios)), goal=contest.goals.get(to)
    )


def _rounded(ratio: float) -> float:
    """Return three significant digits, whole numbers from 100 on."""
    return float(f"{ratio:.3g}") if ratio < 100 else float(round(ratio))


def _shown(cost: float, unit: str) -> float:
    return float(f"{cost * 1000 if unit == 'ms' else cost / 2**20:.3g}")
