"""The start of a process: the command line as a script in a loop feels it, and an agent up to its first prompt."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.harness import FLOOR, Benchmark, Contest, Rival, Setting
from benchmarks.resolve import TEXT, VERSION, released
from benchmarks.sides import Side, calling, peak_memory, started
from benchmarks.workspaces import NAME, STAGING, ref
from pawl import __version__

_FLOOR = "import argparse, json, hashlib, sqlite3, sys; print(sys.argv[1])"
_INPUTS = {"order_id": "A1", "amount": 20}
_ANSWER = f"Write about 20 for order A1, version {VERSION}."
_PROMPT = """
import sys, pawl
channel = pawl.open(sys.argv[1], **{sys.argv[2]: sys.argv[3]})
with channel.run(agent="shop") as run:
    print(run.prompt(sys.argv[4], order_id="A1", amount=20)[-1]["content"])
    run.end("done")
"""
_MLFLOW = """
import json, sys, mlflow
mlflow.set_tracking_uri("sqlite:///" + sys.argv[1])
print(mlflow.genai.load_prompt(sys.argv[2]).format(**json.loads(sys.argv[3])))
"""
_FILL = """
import pathlib, sys, mlflow
pathlib.Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
mlflow.set_tracking_uri("sqlite:///" + sys.argv[1])
mlflow.genai.register_prompt(sys.argv[2], sys.argv[3])
"""
_MLFLOW_NAME = "shop-prompt"


def _command_line(setting: Setting) -> Iterator[Contest]:
    workspace, _ = released(setting.folder)
    script = Path(sys.executable).with_name("pawl")
    pawl = [str(script)] if script.exists() else [sys.executable, "-m", "pawl"]
    at_root = ["-C", str(workspace.root), "resolve", NAME, "--channel", STAGING]
    commands = {"pawl --version": (f"pawl {__version__}", ["--version"]), "pawl resolve": (ref(VERSION), at_root)}
    environment = setting.peers.environment("apm")
    rivals = []
    if environment:
        act = started(str(environment / "bin" / "apm"), "--version", env=setting.peers.env("apm"))
        rivals.append(Rival(peer="apm", side=calling(act), agree=lambda _, answer: setting.peers.said["apm"] in answer))
    for name, (expected, words) in commands.items():
        yield Contest(
            name=name,
            product=calling(started(*pawl, *words)),
            floor=calling(started(sys.executable, "-c", _FLOOR, expected)),
            agree=_begins_alike,
            rivals=rivals,
            goals={FLOOR: 1.7, "apm": 1 / 5},
            calls=setting.pick(full=5, quick=3, tiny=1),
        )


def _begins_alike(made: str, wanted: str) -> bool:
    return made == wanted or made.startswith((f"{wanted} ", f"{wanted}\n"))


def _first_prompt(setting: Setting) -> Iterator[Contest]:
    workspace, snapshot = released(setting.folder)
    rivals = _mlflow(setting, _whole)
    for source, place in (("snapshot", snapshot), ("workspace", workspace.root)):
        words = (STAGING, source, str(place), NAME)
        yield Contest(
            name=f"first prompt from a {source}",
            product=calling(started(sys.executable, "-c", _PROMPT, *words)),
            floor=calling(started(sys.executable, "-c", "pass")),
            agree=lambda made, nothing: made == _ANSWER and nothing == "",
            rivals=rivals,
            goals={FLOOR: 3, "mlflow": 1 / 75},
            calls=setting.pick(full=5, quick=3, tiny=1),
        )


def _whole(code: str, *words: str, python: str, env: dict[str, str]) -> Side:
    return calling(started(python, "-c", code, *words, env=env))


def _memory(setting: Setting) -> Iterator[Contest]:
    workspace, snapshot = released(setting.folder)
    rivals = _mlflow(setting, peak_memory)
    code = (
        "import sys, pawl\nprint(pawl.open(sys.argv[1], **{sys.argv[2]: sys.argv[3]}).resolve(sys.argv[4]).version)\n"
    )
    for source, place in (("snapshot", snapshot), ("workspace", workspace.root)):
        yield Contest(
            name=f"memory after a resolve from a {source}",
            product=peak_memory(code, STAGING, source, str(place), NAME),
            floor=peak_memory("import json, hashlib, sys\nprint(sys.argv[1])\n", VERSION),
            agree=str.__eq__,
            rivals=rivals,
            goals={FLOOR: 1.4, "mlflow": 1 / 8},
            unit="MiB",
        )


def _mlflow(setting: Setting, side: Callable[..., Side]) -> list[Rival]:
    """Return MLflow in a process of its own, up to the first prompt from a registry on disk."""
    environment = setting.peers.environment("mlflow")
    if environment is None:
        return []
    python, env = str(environment / "bin" / "python"), setting.peers.env("mlflow")
    database = str(setting.folder / "mlflow" / "mlflow.db")
    started(python, "-c", _FILL, database, _MLFLOW_NAME, TEXT, env=env)()
    words = (database, f"prompts:/{_MLFLOW_NAME}/1", json.dumps(_INPUTS))
    made = side(_MLFLOW, *words, python=python, env=env)
    return [Rival(peer="mlflow", side=made, agree=lambda _, answer: answer == _ANSWER)]


CLI_START = Benchmark(
    about="start the command line for one answer",
    floor="start Python, import argparse, json, hashlib and sqlite3, print the answer",
    prepare=_command_line,
)
FIRST_PROMPT = Benchmark(
    about="from the start of a process to the first rendered prompt of an agent",
    floor="python -c pass",
    prepare=_first_prompt,
)
MEMORY = Benchmark(
    about="peak memory of a process that resolves one name",
    floor="the peak of Python with json and hashlib",
    prepare=_memory,
)
