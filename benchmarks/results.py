"""Results that are kept: one JSON file a day below benchmarks/results/, and the table of README.md made from it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.showing import as_markdown

_HERE = Path(__file__).parent
_RESULTS = _HERE / "results"
README = _HERE / "README.md"
_BEGIN, _END = "<!-- table: begin -->", "<!-- table: end -->"


def run_all(names: Iterator[str], *, words: list[str], save: bool) -> Iterator[tuple[str, dict[str, Any] | str]]:
    """Run benchmarks, each in a process of its own, and yield what each came to: its outcome, or what it failed with.

    With ``save``, each outcome is kept at once, in place of one of the same benchmark and day.
    """
    for name in names:
        command = [sys.executable, "-m", "benchmarks", name, "-o", "json", *words]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True, cwd=_HERE.parent)
        if done.returncode:
            yield name, f"it ended with {done.returncode}"
            continue
        outcome: dict[str, Any] = json.loads(done.stdout)
        if save:
            _keep(outcome)
        yield name, outcome


def _keep(outcome: Mapping[str, Any]) -> None:
    path = _RESULTS / f"{datetime.now(UTC):%Y-%m-%d}.json"
    kept = _read(path) if path.exists() else {}
    _RESULTS.mkdir(exist_ok=True)
    kept[outcome["benchmark"]] = outcome
    path.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


def table(order: tuple[str, ...]) -> str:
    """Return the newest day's results as Markdown, with what they were measured with; empty where there are none."""
    newest = max(_RESULTS.glob("*.json"), default=None)
    if newest is None:
        return "No results yet."
    kept = _read(newest)
    documents = [kept[name] for name in order if name in kept]
    peers: dict[str, str] = {}
    for document in documents:
        peers.update(document["peers"])
    first = documents[0]
    measured = f"{newest.stem}: pawl {first['pawl']}, Python {first['python']}, {first['cores']} cores"
    beside = ", ".join(f"{peer} {said}" for peer, said in sorted(peers.items())) or "none"
    rounds = ", ".join(sorted({str(document["rounds"]) for document in documents}))
    return "\n".join((f"{measured}, {rounds} rounds. Peers: {beside}.", "", *as_markdown(documents)))


def write_table(order: tuple[str, ...]) -> None:
    """Put the table into README.md, between its two marks."""
    before, _, rest = README.read_text(encoding="utf-8").partition(_BEGIN)
    after = rest.partition(_END)[2]
    README.write_text(f"{before}{_BEGIN}\n{table(order)}\n{_END}{after}", encoding="utf-8")


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
