"""Runs: a start and an end, and uses, each on disk before the call returns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pawl
from benchmarks.floors import AppendByHand
from benchmarks.harness import FLOOR, FLOOR_TAIL, Benchmark, Contest, Setting
from benchmarks.resolve import VERSION, released
from benchmarks.sides import Act, each
from benchmarks.workspaces import NAME, STAGING, name_of
from pawl.runs.ledger import Ledger
from pawl.runs.run import ChannelHandle, Run

_TOOL = name_of(2)
_TOGETHER = 8


def _contests(setting: Setting) -> Iterator[Contest]:
    workspace, snapshot = released(setting.folder, f"{_TOOL}@{VERSION}")
    append = AppendByHand(setting.folder / "by-hand")
    for source in ("snapshot", "workspace"):
        place = setting.folder / f"{source}.db"
        where = {"snapshot": snapshot} if source == "snapshot" else {"workspace": workspace.root}
        handle = pawl.open(STAGING, ledger=place, **where)  # type: ignore[arg-type] # one of the two
        yield _start_and_end(setting, f"start and end a run, {source}", handle, place, append)
        with handle.run(agent="shop") as run:
            yield _uses(setting, f"{_TOGETHER} uses in a group, {source}", run, place, append)
            run.end("done")


def _start_and_end(setting: Setting, name: str, handle: ChannelHandle, place: Path, append: AppendByHand) -> Contest:
    lines = [_line({"agent": "shop", "pins": {NAME: VERSION}}), _line({"outcome": "done"})]

    def product() -> str:
        with handle.run(agent="shop") as run:
            run.end("done")
        return run.id

    def recorded(run_id: str, _lines: int) -> bool:
        with Ledger(place) as ledger:
            row = ledger.show(run_id)
        return row is not None and row.outcome == "done"

    return _contest(setting, name, product, lambda: append(*lines), recorded)


def _uses(setting: Setting, name: str, run: Run, place: Path, append: AppendByHand) -> Contest:
    lines = _line({"name": _TOOL, "version": VERSION}) * _TOGETHER
    made = 0

    def product() -> int:
        nonlocal made
        with run.group():
            for _ in range(_TOGETHER):
                run.tool(_TOOL)
        made += _TOGETHER
        return made

    def recorded(uses: int, _lines: int) -> bool:
        with Ledger(place) as ledger:
            return len(ledger.uses(run.id)) == uses

    return _contest(setting, name, product, lambda: append(lines), recorded)


def _contest(setting: Setting, name: str, product: Act, floor: Act, agree: Callable[[Any, Any], bool]) -> Contest:
    return Contest(
        name=name,
        product=each(product),
        floor=each(floor),
        agree=agree,
        goals={FLOOR: 2, FLOOR_TAIL: 3},
        calls=setting.pick(full=200, quick=50, tiny=2),
    )


def _line(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields).encode() + b"\n"


RUN = Benchmark(
    about="start and end a run, both durable; uses in a group, durable together",
    floor="two lines appended to a file, each followed by fdatasync; as many lines in one write and one fdatasync",
    prepare=_contests,
)
