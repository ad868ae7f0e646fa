"""Checking a pull request in a large workspace, and checking everything from cold."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.floors import events, start_repository
from benchmarks.harness import FLOOR, Benchmark, Contest, Setting
from benchmarks.sides import calling
from benchmarks.workspaces import forget, made_live, name_of, session
from pawl.conformance.run import run_suite
from pawl.operations.reviewing.checking import check
from pawl.operations.reviewing.testing import work_tree_runs
from pawl.operations.sources import read_sources
from pawl.workspace import Workspace

CHANGED = 3


def _prepare(setting: Setting) -> Iterator[Contest]:
    size = setting.pick(full=10_000, quick=150, tiny=9)
    large = _changed(made_live(setting.folder / "large", procedures=size))
    small = _changed(made_live(setting.folder / "small", procedures=CHANGED))
    check(session(large))  # the first check of a checkout reads every file in full
    base = calling(partial(_check, large, base="main"))
    name = f"check {CHANGED} of {size}"
    yield Contest(
        name=f"{name}, beside a workspace of those",
        product=base,
        floor=calling(partial(_check, small, "main")),
        agree=_agree,
        goals={FLOOR: 2},
    )
    yield Contest(
        name=f"{name}, beside all of it", product=base, floor=calling(partial(_check, large, None)), agree=_agree
    )
    yield _cold(large, size)


def _cold(workspace: Workspace, size: int) -> Contest:
    """Return a check of everything with nothing remembered, beside reading with libyaml and running the suites."""
    files = [path for folder in (workspace.procedures, workspace.conformance) for path in workspace.sources(folder)]
    files += [path for _, path in workspace.frozen_refs()]
    sources = read_sources(workspace)
    runs = work_tree_runs(sources)

    def floor() -> dict[str, Any]:
        for path in files:
            data = path.read_bytes()
            hashlib.sha256(data).hexdigest()
            events(data)
        ran = [run_suite(run.suite, run.procedure, code=False, root=workspace.root) for run in runs]
        return {"tested": {run.procedure.name for run, result in zip(runs, ran, strict=True) if result.cases}}

    return Contest(
        name=f"check --all of {size}, nothing remembered",
        product=calling(partial(_check, workspace, None)),
        floor=calling(floor),
        agree=lambda made, wanted: bool(made["tested"] == wanted["tested"]),
        goals={FLOOR: 1.5},
        before=partial(forget, workspace),
    )


def _changed(workspace: Workspace) -> Workspace:
    """Commit everything, then reword some procedures under new version numbers."""
    start_repository(workspace.root)
    for number in range(CHANGED):
        path = workspace.procedure_file(name_of(number))
        text = path.read_text(encoding="utf-8").replace("version: 1.0.0", "version: 1.0.1")
        path.write_text(text.replace("Never promise", "Do never promise").replace("Returns its", "Gives its"))
    return workspace


def _check(workspace: Workspace, base: str | None) -> dict[str, Any]:
    report = check(session(workspace), base)
    assert report.exit_code == 0, report.problems
    return {"changed": [row["name"] for row in report.data["changes"]], "tested": set(report.data["tested"])}


def _agree(made: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether both saw the same changes, and the floor ran every suite that the product ran."""
    fewer = min(made["tested"], wanted["tested"], key=len)
    return bool(made["changed"] == wanted["changed"] and fewer <= made["tested"] & wanted["tested"] and fewer)


CHECK = Benchmark(
    about="check a pull request that changes 3 procedures of many; check everything from cold",
    floor="check a workspace that has only those 3; check everything; libyaml's events and a SHA-256 of every file, "
    "and the suites run",
    prepare=_prepare,
)
