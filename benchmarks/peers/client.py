"""Peers as a benchmark sees them: workers that are asked over pipes, and commands in the peers' environments."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.peers.install import ROOT, environment_of, installed
from benchmarks.sides import PeerFailed, Reading, Side

_QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "1",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "PROMPTFOO_DISABLE_SHARING": "1",
    "LANGFUSE_TRACING_ENABLED": "false",
    "APM_NO_UPDATE_CHECK": "1",
    "CI": "1",
}
"""Nothing here calls home, looks for updates or shares."""


class Peers:
    """Which peers take part. ``said``: for each that was asked for its version, or why it does not take part."""

    def __init__(self, *, wanted: bool, folder: Path) -> None:
        self._wanted = wanted
        self._folder = folder
        self._workers = ExitStack()
        self.said: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._workers.close()

    def environment(self, peer: str) -> Path | None:
        """Return the folder that a peer is installed in, or None where it takes no part."""
        if not self._wanted:
            return None
        version = installed(peer)
        if version is None:
            self.said[peer] = "not installed: python -m benchmarks peers"
            return None
        self.said.setdefault(peer, version)
        return environment_of(peer)

    def env(self, peer: str) -> dict[str, str]:
        """Return the variables that a peer's processes see: a home of its own, and nothing that calls home."""
        home = self._folder / peer
        home.mkdir(parents=True, exist_ok=True)
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("MLFLOW", "LANGFUSE", "PYTHON"))}
        return {**kept, **_QUIET, "HOME": str(home), "PROMPTFOO_CONFIG_DIR": str(home / "config")}

    def work(self, peer: str, operation: str, **options: Any) -> Side | None:
        """Return a side that asks a worker for an operation, which is prepared here; None where it takes no part."""
        environment = self.environment(peer)
        if environment is None:
            return None
        folder = self._folder / f"{peer}-{operation}-{len(self.said)}-{len(list(self._folder.glob('*')))}"
        try:
            worker = self._workers.enter_context(Worker(environment, peer, self.env(peer)))
            worker.ask({"prepare": operation, "options": {**options, "folder": str(folder)}})
        except PeerFailed as error:
            self.said[peer] = f"could not prepare {operation}: {error}"
            return None
        return worker.side


class Worker:
    """A peer's process, which answers line by line."""

    def __init__(self, environment: Path, peer: str, env: dict[str, str]) -> None:
        command = [str(environment / "bin" / "python"), "-m", f"benchmarks.peers.{peer}_worker"]
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=env,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def ask(self, words: dict[str, Any]) -> dict[str, Any]:
        """Send one line and return the answer; ``PeerFailed`` for an error or an end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(words) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise PeerFailed(f"its process ended with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise PeerFailed(answer["error"])
        return answer

    def side(self, calls: int) -> Reading:
        """Ask for so many calls; the cost is by the worker's own clock."""
        answer = self.ask({"go": calls})
        return Reading(cost=answer["ns"] / 1e9 / calls, result=answer["result"])
