"""No input makes a reader answer with anything but a value or an error of pawl's, in time, and nothing is done."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hostile.engine import SILENCE, _watch, run_all, table, told
from hostile.table import Target, input_of
from hostile.targets import TARGETS, plan_of
from hostile.worker import PROGRESS, fault, tally

SEED = 20_261_130


@pytest.mark.parametrize(
    "inputs", [pytest.param(2_500, id="bounded"), pytest.param(15_000, id="more", marks=pytest.mark.slow)]
)
def test_every_input_is_taken_or_refused(inputs: int) -> None:
    tallies = run_all(plan_of(inputs), seed=SEED)
    shown = table(tallies, SEED)
    findings = [told(finding) for row in tallies for finding in row.findings]
    assert [] == findings, "\n".join(findings) + "\n" + shown
    assert {row.target for row in tallies} == set(TARGETS)
    assert [] == [row.target for row in tallies if row.inputs >= 50 and not row.refused], "only good inputs"


def test_an_input_is_made_again_from_seed_and_number() -> None:
    for name in ("yaml", "procedure", "journal", "words", "line"):
        assert input_of(TARGETS[name], 7, 3) == input_of(TARGETS[name], 7, 3)
        assert 1 < len({input_of(TARGETS[name], 7, index) for index in range(10)})


# What the engine itself finds


def crash(data: bytes) -> bool:
    if b"\x00" in data:
        raise KeyError("a crash")
    return True


def hang(_: bytes) -> bool:
    while True:
        pass


def write(_: bytes) -> bool:
    return Path("/nowhere/at/all").open("wb").closed


def speak(_: bytes) -> bool:
    socket.create_connection(("example.invalid", 80))
    return True


def start(_: bytes) -> bool:
    return subprocess.run(["true"], check=False).returncode == 0


def big(_: bytes) -> bool:
    return len(bytearray(b"x") * 40_000_000) > 0


PLANTED: dict[Callable[[bytes], bool], str] = {
    crash: "crash",
    hang: "time",
    write: "deed",
    speak: "deed",
    start: "deed",
    big: "memory",
}


def test_the_engine_finds_what_is_planted() -> None:
    """In a process of its own, for its limits stay with it; what is big comes last, for so does its memory."""
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from hostile import test_targets as planted\n"
        "from hostile.limits import guard_process\n"
        "from hostile.table import Target\n"
        "from hostile.worker import tally\n"
        "guard_process()\n"
        "for name in sys.argv[2:]:\n"
        "    target = Target(name='planted', make=lambda rng: b'ab\\x00cd' * 3, call=getattr(planted, name),\n"
        "                    seconds=0.5, megabytes=20)\n"
        "    [finding] = tally(target, 1, 0, 2).findings\n"
        "    print(name, finding.where, finding.input)\n"
    )
    names = [call.__name__ for call in PLANTED]
    words = [sys.executable, "-c", script, str(Path(__file__).parents[1]), *names]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    said = done.stdout.splitlines()
    assert names == [line.partition(" ")[0] for line in said], done.stderr
    assert [] == [line for line, wanted in zip(said, PLANTED.values(), strict=True) if wanted not in line]
    assert "b'\\x00'" in said[0], "the input was not made small"


def test_a_good_target_has_no_finding() -> None:
    target = Target(name="good", make=lambda rng: rng.randbytes(4), call=lambda data: data[0] > 127)
    found = tally(target, 1, 0, 100)
    assert ([], 100) == (found.findings, found.inputs)
    assert found.accepted > 20 < found.refused
    assert fault(target, b"") is not None, "an IndexError is no answer"


def test_a_silent_worker_is_ended(tmp_path: Path) -> None:
    progress = tmp_path / "progress"
    progress.write_bytes(bytes(PROGRESS.size))
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        assert _watch(process, progress, 0.3)
    with subprocess.Popen([sys.executable, "-c", "pass"]) as process:
        assert not _watch(process, progress, SILENCE)
