"""How outcomes are shown: JSON, a table for a terminal, rows of Markdown."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from benchmarks.harness import Outcome
from pawl import __version__


def as_dict(name: str, outcomes: Sequence[Outcome], *, rounds: int, peers: Mapping[str, str]) -> dict[str, Any]:
    """Return the machine form of a benchmark's outcome."""
    return {
        "benchmark": name,
        "pawl": __version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "rounds": rounds,
        "peers": dict(peers),
        "contests": [
            {
                "contest": outcome.contest,
                "ratios": [{**asdict(ratio), "met": ratio.met} for ratio in outcome.ratios],
                "unit": outcome.unit,
                "costs": dict(outcome.costs),
            }
            for outcome in outcomes
        ],
    }


def as_text(document: Mapping[str, Any]) -> str:
    """Return a benchmark's outcome as an aligned table, a row for each ratio; costs stand once for each contest."""
    head = (f"{document['benchmark']} ({document['rounds']} rounds)", "to", "median", "worst", "goal", "met", "costs")
    rows: list[tuple[str, ...]] = [head]
    for contest in document["contests"]:
        costs = ", ".join(f"{side} {cost:g}" for side, cost in contest["costs"].items())
        for number, cells in enumerate(_cells(contest)):
            first = number == 0
            rows.append((contest["contest"] if first else "", *cells, f"{costs} {contest['unit']}" if first else ""))
    peers = [f"{peer}: {said}" for peer, said in document["peers"].items()]
    return "\n".join((*aligned(rows, left={0, 1, 6}), *peers))


def as_markdown(documents: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a table of every ratio of every benchmark: ratios only."""
    yield "| benchmark | contest | to | median | worst | goal | met |"
    yield "|---|---|---|---:|---:|---:|---|"
    for document in documents:
        for contest in document["contests"]:
            for cells in _cells(contest):
                yield f"| `{document['benchmark']}` | {contest['contest']} | {' | '.join(cells)} |".replace(
                    "|  |", "| |"
                )


def _cells(contest: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for ratio in contest["ratios"]:
        met = {None: "", True: "yes", False: "no"}[ratio["met"]]
        yield (ratio["to"], number(ratio["median"]), number(ratio["worst"]), goal(ratio["goal"]), met)


def number(ratio: float) -> str:
    """Return a ratio as people read it: a small one as one part of many."""
    if ratio <= 0.1:
        return f"1/{1 / ratio:,.0f}" if ratio else "0"
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def goal(ratio: float | None) -> str:
    """Return a goal as it was set: 1/150 rather than 0.00667."""
    if ratio is None:
        return ""
    part = Fraction(ratio).limit_denominator(1000)
    return str(part) if part.numerator == 1 and part.denominator > 1 else f"{ratio:g}"


def aligned(rows: Sequence[Sequence[str]], *, left: set[int]) -> Iterator[str]:
    """Yield rows with their columns under each other: those of ``left`` to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        pairs = enumerate(zip(row, widths, strict=True))
        yield "  ".join(cell.ljust(width) if at in left else cell.rjust(width) for at, (cell, width) in pairs).rstrip()
