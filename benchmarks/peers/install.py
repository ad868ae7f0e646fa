"""Installing peers: each into a folder of its own under .benchmarks/, in the versions of versions.toml."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
_PEERS = ROOT / ".benchmarks" / "peers"
_STAMP = "installed-version"


def versions() -> dict[str, dict[str, str]]:
    """Return what is to be installed for each peer: ``package`` from PyPI or ``npm``, and its ``version``."""
    return tomllib.loads(Path(__file__).with_name("versions.toml").read_text(encoding="utf-8"))


def environment_of(peer: str) -> Path:
    return _PEERS / peer


def installed(peer: str) -> str | None:
    """Return the version that is installed, or None where it is another one or none."""
    stamp = environment_of(peer) / _STAMP
    found = stamp.read_text(encoding="utf-8") if stamp.exists() else None
    return found if found == versions()[peer]["version"] else None


def install() -> Iterator[tuple[str, str]]:
    """Install what is missing; yield each peer with its version, or with why it could not be installed."""
    for peer, wanted in versions().items():
        if installed(peer):
            yield peer, wanted["version"]
            continue
        folder = environment_of(peer)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            for command in _commands(folder, wanted):
                subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
        except (OSError, subprocess.CalledProcessError) as error:
            yield peer, f"not installed: {_why(error)}"
            continue
        (folder / _STAMP).write_text(wanted["version"], encoding="utf-8")
        yield peer, wanted["version"]


def _commands(folder: Path, wanted: dict[str, str]) -> list[list[str]]:
    if "npm" in wanted:
        return [
            ["npm", "init", "-y"],
            ["npm", "install", "--no-audit", "--no-fund", f"{wanted['npm']}@{wanted['version']}"],
        ]
    return [
        [sys.executable, "-m", "venv", str(folder)],
        [str(folder / "bin" / "pip"), "install", "-q", f"{wanted['package']}=={wanted['version']}"],
    ]


def _why(error: OSError | subprocess.CalledProcessError) -> str:
    said = error.stderr.strip().splitlines() if isinstance(error, subprocess.CalledProcessError) else []
    return said[-1][:200] if said else str(error)[:200]
