"""Rolling back on a large channel: from the command to the moved pin, with ways back that were drilled before."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.floors import CommitByHand, files_of_head, start_repository
from benchmarks.harness import Benchmark, Contest, Setting
from benchmarks.release import Side
from benchmarks.workspaces import STAGING, make, name_of, promote_to_staging, publish_all, session, write_procedure
from pawl.operations.releasing.drilling import DrillOptions, drill
from pawl.workspace import Workspace


def _prepare(setting: Setting) -> Iterator[Contest]:
    few, many = (setting.turns, setting.turns + 2) if setting.tiny else (100, 1_000)
    for count in (few, many):
        workspace = _channel(setting, count)
        side = Side(workspace, lambda turn, workspace=workspace: _roll_back(workspace, turn - 1))  # type: ignore[misc]
        by_hand = CommitByHand(workspace.root, side.written)

        def floor(by_hand: CommitByHand = by_hand) -> int:
            subprocess.run([sys.executable, "-c", "import argparse, hashlib, json, sqlite3"], check=True)
            return by_hand()

        def agree(made: int, wanted: int, workspace: Workspace = workspace) -> bool:
            return made == wanted == files_of_head(workspace.root)

        yield Contest(name=f"roll back, {count} procedures", product=side, floor=floor, agree=agree)


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
    about="roll back to the newest way back, from the command to the moved pin: suites, verdicts, record, commit",
    floor="a Python process, and git add and git commit of the same files",
    prepare=_prepare,
)
