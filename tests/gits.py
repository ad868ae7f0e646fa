"""A ``git`` in front of the real one: it writes down each call, and dies where it is told to."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

_SCRIPT = """#!/bin/sh
n=1; until mkdir '{folder}'/$n 2>/dev/null; do n=$((n+1)); done
for word in "$@"; do printf '%s\\n' "$word"; done > '{folder}'/$n/words
said=$(printf ' %s ' "$*")
{rule}
exec '{git}' "$@"
"""


@dataclass(frozen=True)
class Calls:
    """What was called; ``stop`` puts the real Git back."""

    folder: Path
    stop: Callable[[], None]

    def commands(self) -> list[str]:
        """Return the command of each call in turn."""
        found = []
        for number in sorted(int(path.name) for path in self.folder.iterdir()):
            words = (self.folder / str(number) / "words").read_text(encoding="utf-8", errors="replace").split("\n")
            while words and words[0].startswith("-"):
                words = words[2 if words[0] == "-c" else 1 :]
            found.append(words[0])
        return found


def git_in_front(folder: Path, monkeypatch: pytest.MonkeyPatch, rule: str = "") -> Calls:
    """Put a script in front of Git; ``rule`` is shell that sees ``$n``, the number of the call, and ``$said``."""
    real = shutil.which("git")
    calls, programs = folder / "calls", folder / "programs"
    shutil.rmtree(calls, ignore_errors=True)
    calls.mkdir(parents=True)
    programs.mkdir(exist_ok=True)
    program = programs / "git"
    program.write_text(_SCRIPT.format(folder=calls, rule=rule, git=real), encoding="utf-8")
    program.chmod(0o755)
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{path}")
    return Calls(calls, lambda: monkeypatch.setenv("PATH", path))
