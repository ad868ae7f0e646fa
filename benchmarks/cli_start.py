"""The start of the command line, as a person in a shell or a script in a loop feels it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

from benchmarks.harness import Benchmark, Contest, Setting
from benchmarks.resolve import released
from benchmarks.workspaces import NAME, STAGING, ref
from pawl import __version__

_PAWL = "from pawl.cli.main import run; run()"
_AGENT = "import pawl, sys; print(pawl.open(sys.argv[1], snapshot=sys.argv[2]).resolve(sys.argv[3]).ref)"
_FLOOR = "import argparse, json, hashlib, sqlite3, sys; print(sys.argv[1])"


def _contests(setting: Setting) -> Iterator[Contest]:
    workspace, snapshot = released(setting.folder)
    commands = {
        "pawl --version": (f"pawl {__version__}", _first_word_line(_PAWL, "--version")),
        "pawl resolve": (
            ref("1.0.0"),
            _first_word_line(_PAWL, "-C", str(workspace.root), "resolve", NAME, "--channel", STAGING),
        ),
        "agent: import pawl, open a snapshot, resolve": (
            ref("1.0.0"),
            _first_word_line(_AGENT, STAGING, str(snapshot), NAME),
        ),
    }
    for name, (expected, product) in commands.items():
        floor = _first_word_line(_FLOOR, expected)
        yield Contest(name=name, product=product, floor=floor, agree=_begins_alike)


def _first_word_line(code: str, *words: str) -> Callable[[], str]:
    def start() -> str:
        command = [sys.executable, "-c", code, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[0]

    return start


def _begins_alike(made: str, wanted: str) -> bool:
    return made == wanted or made.startswith(f"{wanted} ")


CLI_START = Benchmark(
    about="start a process that answers one question",
    floor="start Python, import argparse, json, hashlib and sqlite3, print the answer",
    prepare=_contests,
)
