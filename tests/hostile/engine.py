"""Feeding all targets from outside: workers with a watchdog, and the table of what came out.

A worker that is silent for too long is ended, which is a finding that names the input; another goes on behind it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

from hostile.worker import PROGRESS, Finding, Tally

SILENCE = 120.0
"""Seconds without a new input after which a worker is ended: far beyond any target's limit, on a busy machine too."""
CHUNK = 5_000

Row: TypeAlias = tuple[str, int, int]


def run_all(plan: Sequence[Row], *, seed: int, jobs: int = 1, silence: float = SILENCE) -> list[Tally]:
    """Run every row (target, first, count) of a plan and return the tallies, one for each target."""
    shares = [list(_chunks(plan))[number::jobs] for number in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        parts = [tally for found in pool.map(lambda rows: _run(rows, seed, silence), shares) for tally in found]
    return [
        _joined(name, [part for part in parts if part.target == name]) for name in dict.fromkeys(p[0] for p in plan)
    ]


def _chunks(plan: Sequence[Row]) -> list[Row]:
    return [
        (name, first + done, min(CHUNK, count - done)) for name, first, count in plan for done in range(0, count, CHUNK)
    ]


def _run(rows: list[Row], seed: int, silence: float) -> list[Tally]:
    found: list[Tally] = []
    while rows:
        answers, stopped = _one_worker(rows, seed, silence)
        found += answers
        rows = rows[len(answers) :]
        if stopped is None or not rows:
            continue
        name, first, count = rows[0]
        number, index, why = stopped
        if number != len(answers):  # it had not come to the row that it is said to have
            index = first
        found.append(Tally(target=name, inputs=index + 1 - first))
        found[-1].findings.append(Finding(name, seed, index, why, "process", "(make it again from seed and index)"))
        rows[0] = (name, index + 1, first + count - index - 1)
        rows = [row for row in rows if row[2] > 0]
    return found


def _one_worker(rows: list[Row], seed: int, silence: float) -> tuple[list[Tally], tuple[int, int, str] | None]:
    """Return the tallies of the rows that a worker came to the end of, and why it ended before, if it did."""
    tests = str(Path(__file__).parents[1])
    with tempfile.TemporaryDirectory() as folder:
        progress, output = Path(folder, "progress"), Path(folder, "output")
        progress.write_bytes(bytes(PROGRESS.size))
        path = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-m", "hostile.worker", str(progress), str(seed)]
        with output.open("wb") as file:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=file, env={**os.environ, "PYTHONPATH": path}
            )
            assert process.stdin is not None
            process.stdin.write(json.dumps(rows).encode())
            process.stdin.close()
            hung = _watch(process, progress, silence)
        lines = output.read_text(encoding="utf-8").splitlines()
        answers = [_tally(json.loads(line)) for line in lines]
        if process.returncode == 0 and not hung:
            return answers, None
        number, index = PROGRESS.unpack(progress.read_bytes())
        why = f"no answer for {silence} seconds" if hung else f"the process ended with {process.returncode}"
        return answers, (number, index, why)


def _watch(process: subprocess.Popen[bytes], progress: Path, silence: float) -> bool:
    """Wait for a worker to end; end it, and return True, where it does not come to another input."""
    last, since = b"", time.monotonic()
    while True:
        try:
            process.wait(0.2)
        except subprocess.TimeoutExpired:
            now = progress.read_bytes()
            if now != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since > silence:
                process.kill()
                process.wait()
                return True
        else:
            return False


def _tally(row: dict[str, Any]) -> Tally:
    findings = [Finding(**finding) for finding in row.pop("findings")]
    return Tally(**row, findings=findings)


def _joined(name: str, parts: Sequence[Tally]) -> Tally:
    whole = Tally(target=name)
    for part in parts:
        whole.inputs += part.inputs
        whole.refused += part.refused
        whole.accepted += part.accepted
        whole.seconds += part.seconds
        known = {(finding.what.partition(":")[0], finding.where) for finding in whole.findings}
        whole.findings += [item for item in part.findings if (item.what.partition(":")[0], item.where) not in known]
        if part.worst > whole.worst:
            whole.worst, whole.worst_index = part.worst, part.worst_index
    return whole


def table(tallies: Sequence[Tally], seed: int) -> str:
    """Return the table that people read."""
    lines = [f"{'target':<14} {'inputs':>9} {'refused':>9} {'accepted':>9} {'worst':>9}  at index (seed {seed})"]
    lines += [
        f"{row.target:<14} {row.inputs:>9,} {row.refused:>9,} {row.accepted:>9,} "
        f"{row.worst * 1000:>6.0f} ms  {row.worst_index}"
        for row in tallies
    ]
    total = sum(row.inputs for row in tallies)
    lines.append(
        f"{'all':<14} {total:>9,} {sum(r.refused for r in tallies):>9,} {sum(r.accepted for r in tallies):>9,}"
    )
    return "\n".join(lines)


def told(finding: Finding) -> str:
    """Return a finding in words, with what makes the input again."""
    return (
        f"{finding.target}: {finding.what} ({finding.where})\n"
        f"  again: python -m tests.hostile --again {finding.target}:{finding.seed}:{finding.index}\n"
        f"  input: {finding.input}"
    )
