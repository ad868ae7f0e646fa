"""Every benchmark runs and compares results; at these sizes its times say nothing and are not looked at."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMES = (
    "read",
    "resolve",
    "resolve-cold",
    "run",
    "promote",
    "publish",
    "rollback",
    "check",
    "classify",
    "cli-start",
    "growth",
)

Main = Callable[[list[str]], int]


@pytest.fixture
def main(monkeypatch: pytest.MonkeyPatch) -> Main:
    """Return ``python -m benchmarks``; the package stands beside the tests and is never installed."""
    monkeypatch.syspath_prepend(ROOT)
    found: Main = importlib.import_module("benchmarks.__main__").main
    return found


QUICK = {"classify", "read", "resolve"}


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]
)
def test_a_benchmark_runs(name: str, main: Main, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--tiny", "--rounds", "1", "-o", "json"]) == 0
    outcome = json.loads(capsys.readouterr().out)
    assert (outcome["benchmark"], outcome["rounds"]) == (name, 1)
    assert outcome["contests"]
    assert all(row["ratio_worst"] >= row["ratio_median"] > 0 for row in outcome["contests"])


def test_the_list_names_them_all(main: Main, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "-o", "json"]) == 0
    assert tuple(json.loads(capsys.readouterr().out)["benchmarks"]) == NAMES


@pytest.mark.parametrize("words", [["read", "--rounds", "2"], ["speed"]])
def test_few_rounds_and_unknown_names_are_refused(words: list[str], main: Main) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
