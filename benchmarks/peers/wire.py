"""The worker's end of the line protocol; runs in a peer's own environment and needs nothing but Python.

One JSON object a line. ``{"prepare": OPERATION, "options": {...}}`` is answered with ``{"ready": true}``; then
``{"go": N}`` calls the operation N times and is answered with ``{"ns": ..., "result": ...}``: the nanoseconds of all of
them by the worker's own clock, and what the last one returned. ``{"error": ...}`` answers what failed.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable, Mapping
from time import perf_counter_ns
from typing import Any

Prepare = Callable[..., Callable[[], Any]]


def serve(operations: Mapping[str, Prepare]) -> None:
    """Answer on what was standard output, which peers cannot write into any more, until the input ends."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        act: Callable[[], Any] = str
        for line in sys.stdin:
            asked = json.loads(line)
            try:
                if "prepare" in asked:
                    act = operations[asked["prepare"]](**asked["options"])
                    answer: dict[str, Any] = {"ready": True}
                else:
                    answer = _go(act, asked["go"])
            except Exception as error:  # noqa: BLE001 - whatever a peer raises is its answer
                answer = {"error": f"{type(error).__name__}: {error}"[:500]}
            print(json.dumps(answer), file=answers, flush=True)


def _go(act: Callable[[], Any], calls: int) -> dict[str, Any]:
    gc.collect()
    result = None
    start = perf_counter_ns()
    for _ in range(calls):
        result = act()
    return {"ns": perf_counter_ns() - start, "result": result}
