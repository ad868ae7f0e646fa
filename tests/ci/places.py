"""Where the files are that these tests are about, and how their YAML is read: in a second reader, not in pawl's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / "docs" / "ci" / "github-actions.yaml"
GITLAB = ROOT / "docs" / "ci" / "gitlab.yaml"
HOOKS = ROOT / ".pre-commit-hooks.yaml"
PAGE = ROOT / "docs" / "ci.md"


def read(text: str) -> Any:
    """Return what YAML 1.2 says, in which ``on`` is a word."""
    return YAML(typ="safe", pure=True).load(text)


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Return an environment with a ``pawl`` of this checkout first on the path, and the folder as its home."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    program(programs / "pawl", f'exec "{sys.executable}" -m pawl "$@"')
    path = os.pathsep.join((str(programs), str(Path(sys.executable).parent), os.environ["PATH"]))
    return {**os.environ, "PATH": path, "HOME": str(folder), **more}


def program(path: Path, text: str) -> None:
    """Write a program of a few lines of shell."""
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def run(*words: str, cwd: Path, env: dict[str, str], timeout: int = 120) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, timeout=timeout, check=False)
