"""Runs: a start and an end, and uses, each on disk before the call returns."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pawl
from benchmarks.floors import AppendByHand
from benchmarks.harness import FLOOR, FLOOR_TAIL, Benchmark, Contest, Setting
from benchmarks.resolve import released
from benchmarks.sides import each
from benchmarks.workspaces import NAME, STAGING
from pawl.runs.ledger import Ledger
from pawl.runs.run import ChannelHandle


def _contests(setting: Setting) -> Iterator[Contest]:
    workspace, snapshot = released(setting.folder)
    places = {name: setting.folder / f"{name}.db" for name in ("snapshot", "workspace")}
    handles = {
        "snapshot": pawl.open(STAGING, snapshot=snapshot, ledger=places["snapshot"]),
        "workspace": pawl.open(STAGING, workspace=workspace.root, ledger=places["workspace"]),
    }
    lines = [json.dumps({"agent": "shop", "pins": {NAME: "1.0.0"}}).encode() + b"\n", b'{"outcome": "done"}\n']
    append = AppendByHand(setting.folder / "by-hand")
    for name, handle in handles.items():
        place = places[name]

        def recorded(run_id: str, _lines: int, place: object = place) -> bool:
            with Ledger(place) as ledger:  # type: ignore[arg-type] # bound at once
                row = ledger.show(run_id)
            return row is not None and row.outcome == "done"

        yield Contest(
            name=f"start and end a run, {name}",
            product=each(lambda handle=handle: _run(handle)),  # type: ignore[misc] # bound at once
            floor=each(lambda: append(*lines)),
            agree=recorded,
            goals={FLOOR: 2, FLOOR_TAIL: 3},
            calls=setting.pick(full=200, quick=50, tiny=2),
        )


def _run(handle: ChannelHandle) -> str:
    with handle.run(agent="shop") as run:
        run.end("done")
    return run.id


RUN = Benchmark(
    about="start and end a run, both durable",
    floor="two lines appended to a file, each followed by fdatasync; p50 to p50, and p99 to p99",
    prepare=_contests,
)
