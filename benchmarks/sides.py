"""Sides of a contest: how one of them is called so and so often, and what that cost.

A side takes the number of calls and returns the cost of one: seconds, or bytes where memory is asked.
"""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeAlias

Side: TypeAlias = Callable[[int], "Reading"]
Act: TypeAlias = Callable[[], Any]

_PEAK = """
for line in open("/proc/self/status"):
    if line.startswith("VmHWM:"):
        print(line.split()[1])
"""
"""What a process says of its own peak, in KiB. A parent is told too much: what it had itself before the exec counts."""


class PeerFailed(Exception):  # noqa: N818 - what it says, not how it ends
    """A peer does not do what it was asked; that is said in the outcome and ends nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one side came to in one round. ``latencies``: of single calls, where they were asked for."""

    cost: float
    result: Any
    latencies: Sequence[float] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """The middle and the slow end of a round's calls, in seconds."""

    p50: float
    p99: float


def tail(reading: Reading) -> Tail | None:
    """Return the percentiles of a round, if its calls were timed one by one."""
    if len(reading.latencies) < 2:
        return None
    cuts = statistics.quantiles(reading.latencies, n=100, method="inclusive")
    return Tail(p50=cuts[49], p99=cuts[98])


def calling(act: Act) -> Side:
    """Return a side that is called in a loop; its cost is the mean."""

    def side(calls: int) -> Reading:
        gc.collect()
        result = None
        start = perf_counter()
        for _ in range(calls):
            result = act()
        return Reading(cost=(perf_counter() - start) / calls, result=result)

    return side


def each(act: Act) -> Side:
    """Return a side whose calls are timed one by one; its cost is their median."""

    def side(calls: int) -> Reading:
        gc.collect()
        result, latencies = None, []
        for _ in range(calls):
            start = perf_counter()
            result = act()
            latencies.append(perf_counter() - start)
        return Reading(cost=statistics.median(latencies), result=result, latencies=latencies)

    return side


def looped_and_each(act: Act) -> Side:
    """Return a side for calls shorter than a look at the clock: the cost is a loop's mean, the tail that of calls."""
    looped, one_by_one = calling(act), each(act)

    def side(calls: int) -> Reading:
        reading = looped(calls)
        return Reading(cost=reading.cost, result=reading.result, latencies=one_by_one(calls).latencies)

    return side


def marginal(few: Side, many: Side, more: int) -> Side:
    """Return the cost of one of ``more`` things, from a call without and one with them; the result is the latter's.

    Where noise makes the larger one the quicker, a hundredth of its cost is taken: no ratio is zero or below.
    """

    def side(calls: int) -> Reading:
        less, reading = few(calls), many(calls)
        difference = max(reading.cost - less.cost, reading.cost / 100)
        return Reading(cost=difference / more, result=reading.result)

    return side


def started(*command: str, env: dict[str, str] | None = None, cwd: str | None = None) -> Act:
    """Return what starts a process and returns what it printed."""

    def act() -> str:
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=env, cwd=cwd)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command):.200} ended with {done.returncode}: {done.stderr[-500:]}")
        return done.stdout.strip()

    return act


def peak_memory(code: str, *words: str, python: str = sys.executable, env: dict[str, str] | None = None) -> Side:
    """Return the peak memory of a whole Python process that runs ``code``; the result is what that printed."""
    act = started(python, "-c", code + _PEAK, *words, env=env)

    def side(calls: int) -> Reading:
        runs = [act().splitlines() for _ in range(calls)]
        return Reading(cost=statistics.median(int(lines[-1]) * 1024 for lines in runs), result="\n".join(runs[-1][:-1]))

    return side
