"""Rolling back: in process, and on a large channel from the command to the moved pin, with drilled ways back."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.floors import CommitByHand, files_of_head, start_repository
from benchmarks.harness import Benchmark, Contest, Setting
from benchmarks.release import MOVING_GOALS, Side, aliases, contest
from benchmarks.sides import calling
from benchmarks.workspaces import (
    NAME,
    STAGING,
    add_past,
    make,
    name_of,
    promote_to_staging,
    publish_all,
    ref,
    roll_back_on_staging,
    session,
    write_procedure,
)
from pawl.operations.releasing.drilling import DrillOptions, drill
from pawl.workspace import Workspace


def _prepare(setting: Setting) -> Iterator[Contest]:
    yield from _in_process(setting)
    turns = setting.turns
    for count in setting.pick(full=(max(100, turns), max(1_000, turns)), quick=(25,), tiny=(turns,)):
        workspace = _channel(setting, count)
        side = Side(workspace, lambda turn, workspace=workspace: _roll_back(workspace, turn - 1))  # type: ignore[misc]
        by_hand = CommitByHand(workspace.root, side.written)

        def floor(by_hand: CommitByHand = by_hand) -> int:
            subprocess.run([sys.executable, "-c", "import argparse, hashlib, json, sqlite3"], check=True)
            return by_hand()

        def agree(made: int, wanted: int, workspace: Workspace = workspace) -> bool:
            return made == wanted == files_of_head(workspace.root)

        yield Contest(
            name=f"pawl rollback, {count} procedures", product=calling(side), floor=calling(floor), agree=agree
        )


def _in_process(setting: Setting) -> Iterator[Contest]:
    rivals = aliases(setting)
    for commit in (True, False):
        workspace = make(setting.folder / ("git" if commit else "files"), procedures=3)
        add_past(workspace, setting.turns + 1)
        for number in range(1, setting.turns + 2):
            promote_to_staging(workspace, ref(f"0.0.{number}"))
        side = Side(workspace, lambda _, at=workspace, commit=commit: roll_back_on_staging(at, NAME, commit=commit))  # type: ignore[misc]
        yield contest("roll back", workspace, side, commit=commit, rivals=rivals, goals=MOVING_GOALS[commit])


def _channel(setting: Setting, count: int) -> Workspace:
    """Return a channel in Git on which every procedure has one way back, which a drill has tried."""
    workspace = make(setting.folder / f"{count}-procedures", procedures=count)
    for version in ("1.0.0", "1.0.1"):
        for number in range(count):
            write_procedure(workspace, number, version)
        publish_all(workspace)
        promote_to_staging(workspace, *(f"{name_of(number)}@{version}" for number in range(count)))
    report = drill(session(workspace), STAGING, (), DrillOptions())
    assert report.exit_code == 0, report.problems
    start_repository(workspace.root)
    return workspace


def _roll_back(workspace: Workspace, number: int) -> tuple[str, ...]:
    """Roll one name back, as an operator would: the command line, in a process of its own. Return what it wrote."""
    words = ["rollback", name_of(number), "--channel", STAGING, "--reason", "errors went up"]
    command = [sys.executable, "-m", "pawl", "-C", str(workspace.root), *words]
    subprocess.run(command, check=True, capture_output=True)
    serial = workspace.served(STAGING).head.serial
    files = (workspace.record_file(STAGING, serial), workspace.projection_file(STAGING))
    assert str(workspace.served(STAGING).pins[name_of(number)].version) == "1.0.0"
    return tuple(workspace.relative(path) for path in files)


ROLLBACK = Benchmark(
    about="roll back: gate, suite, evidence, compare-and-set, record, projection, commit; in process and as a command",
    floor="git add and git commit of the same files, for the command a Python process too; without Git, one durable "
    "SQLite transaction of the same bytes",
    prepare=_prepare,
)
