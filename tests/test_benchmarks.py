"""Every benchmark runs and compares results; at these sizes its times say nothing and are not looked at."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NAMES = (
    "resolve",
    "resolve-cold",
    "first-prompt",
    "cli-start",
    "promote",
    "rollback",
    "publish",
    "growth",
    "test",
    "run",
    "check",
    "search",
    "memory",
    "read",
    "classify",
)
QUICK = {"classify", "read", "resolve"}

Main = Callable[[list[str]], int]


@pytest.fixture
def main(monkeypatch: pytest.MonkeyPatch) -> Main:
    """Return ``python -m benchmarks``; the package stands beside the tests and is never installed."""
    monkeypatch.syspath_prepend(ROOT)
    found: Main = importlib.import_module("benchmarks.__main__").main
    return found


@pytest.fixture
def harness(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Return a module of the package by its name."""
    monkeypatch.syspath_prepend(ROOT)
    return lambda name: importlib.import_module(f"benchmarks.{name}")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]
)
def test_a_benchmark_runs(name: str, main: Main, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--tiny", "--rounds", "1", "-o", "json"]) == 0
    outcome = json.loads(capsys.readouterr().out)
    assert (outcome["benchmark"], outcome["rounds"], outcome["peers"]) == (name, 1, {})
    assert outcome["contests"]
    for contest in outcome["contests"]:
        assert contest["ratios"][0]["to"] == "floor"
        assert set(contest["costs"]) == {"pawl", "floor"}
        assert all(ratio["worst"] >= ratio["median"] > 0 for ratio in contest["ratios"])


def test_the_list_names_them_all(main: Main, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "-o", "json"]) == 0
    assert tuple(json.loads(capsys.readouterr().out)["benchmarks"]) == NAMES


@pytest.mark.parametrize("words", [["read", "--rounds", "2"], ["speed"]])
def test_few_rounds_and_unknown_names_are_refused(words: list[str], main: Main) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
