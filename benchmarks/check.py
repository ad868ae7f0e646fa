"""Checking a pull request in a large workspace."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.floors import start_repository
from benchmarks.harness import Benchmark, Contest, Setting
from benchmarks.workspaces import make, name_of, publish_all, session
from pawl.operations.reviewing.checking import check
from pawl.workspace import Workspace

CHANGED = 3


def _prepare(setting: Setting) -> Iterator[Contest]:
    size = 30 if setting.tiny else 10_000
    large = _changed(make(setting.folder / "large", procedures=size))
    small = _changed(make(setting.folder / "small", procedures=CHANGED))
    check(session(large))  # the first check of a checkout reads every file in full
    base = partial(_check, large, base="main")
    name = f"check {CHANGED} of {size}"
    yield Contest(name=f"{name}, beside all of it", product=base, floor=partial(_check, large, None), agree=_agree)
    yield Contest(
        name=f"{name}, beside a workspace of those", product=base, floor=partial(_check, small, "main"), agree=_agree
    )
    yield Contest(
        name=f"{name}, nothing remembered, beside all of it",
        product=partial(_forgetful, large, "main"),
        floor=partial(_forgetful, large, None),
        agree=_agree,
    )


def _changed(workspace: Workspace) -> Workspace:
    """Publish and commit everything, then reword some procedures under new version numbers."""
    publish_all(workspace)
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


def _forgetful(workspace: Workspace, base: str | None) -> dict[str, Any]:
    Path(workspace.private / "sources").unlink(missing_ok=True)
    return _check(workspace, base)


def _agree(made: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether both saw the same changes, and the floor ran every suite that the product ran."""
    return bool(made["changed"] == wanted["changed"] and made["tested"] <= wanted["tested"] and made["tested"])


CHECK = Benchmark(
    about="check a pull request that changes 3 procedures",
    floor="check everything in the same workspace; check a workspace that has only those 3",
    prepare=_prepare,
)
