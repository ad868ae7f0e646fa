"""Every benchmark runs and compares results; at these sizes its times say nothing and are not looked at."""

from __future__ import annotations

import importlib
import json
import sys
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
QUICK = {"classify"}

Main = Callable[[list[str]], int]
Package = Callable[[str], Any]


@pytest.fixture
def main(monkeypatch: pytest.MonkeyPatch) -> Main:
    """Return ``python -m benchmarks``; the package stands beside the tests and is never installed."""
    monkeypatch.syspath_prepend(ROOT)
    found: Main = importlib.import_module("benchmarks.__main__").main
    return found


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Package:
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


def contest(package: Package, name: str, costs: list[float], **more: Any) -> Any:
    """Return a contest whose product costs one after the other of ``costs`` seconds, and whose floor costs one."""
    reading, left = package("sides").Reading, iter(costs)
    fields: dict[str, Any] = {
        "product": lambda _: reading(cost=next(left), result="same"),
        "floor": lambda _: reading(cost=1.0, result="same"),
        "agree": str.__eq__,
        **more,
    }
    return package("harness").Contest(name=name, **fields)


def hold(package: Package, held: Any, tmp_path: Path, rounds: int = 3) -> Any:
    peers = package("peers.client").Peers(wanted=False, folder=tmp_path)
    return package("harness").hold(held, rounds, peers), peers.said


def test_the_median_is_held_against_the_goal_and_the_warm_up_counts_for_nothing(
    package: Package, tmp_path: Path
) -> None:
    outcome, _ = hold(package, contest(package, "x", [99, 2, 7, 3], goals={"floor": 3}), tmp_path)
    (ratio,) = outcome.ratios
    assert (ratio.to, ratio.median, ratio.worst, ratio.goal, ratio.met) == ("floor", 3, 7, 3, True)
    assert outcome.costs == {"pawl": 3000, "floor": 1000}


def test_a_peer_that_fails_is_said_so_and_the_rest_goes_on(package: Package, tmp_path: Path) -> None:
    failed = package("sides").PeerFailed

    def fail(_: int) -> Any:
        raise failed("no disk")

    rival = package("harness").Rival
    rivals = (
        rival(peer="slow", side=lambda _: package("sides").Reading(cost=200, result="other"), agree=str.__ne__),
        rival(peer="gone", side=fail, agree=str.__eq__),
    )
    held = contest(package, "x", [2, 2, 2, 2], rivals=rivals, goals={"slow": 0.02})
    outcome, said = hold(package, held, tmp_path)
    assert [(ratio.to, ratio.median, ratio.met) for ratio in outcome.ratios] == [
        ("floor", 2, None),
        ("slow", 0.01, True),
    ]
    assert said == {"gone": "did not take part in x: no disk"}


def test_another_result_ends_a_contest(package: Package, tmp_path: Path) -> None:
    with pytest.raises(package("harness").Disagreement, match="x: the product came to 'same'"):
        hold(package, contest(package, "x", [1], agree=str.__ne__), tmp_path)


def test_tails_are_those_of_single_calls(package: Package) -> None:
    sides = package("sides")
    found = sides.tail(sides.Reading(cost=1, result=None, latencies=[float(number) for number in range(1, 102)]))
    assert (found.p50, found.p99) == (51, 100)
    assert sides.tail(sides.Reading(cost=1, result=None)) is None


def test_what_more_costs_is_never_nothing(package: Package) -> None:
    sides = package("sides")
    few, many = (lambda _, cost=cost: sides.Reading(cost=cost, result=cost) for cost in (3.0, 5.0))
    assert sides.marginal(few, many, 4)(1).cost == 0.5
    assert sides.marginal(many, few, 3)(1).cost == 0.01


def test_a_worker_answers_by_its_own_clock_whatever_its_peer_prints(
    package: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = package("peers.client")
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "python"
    script.write_text(f"#!/bin/sh\nexec {sys.executable} {tmp_path}/worker.py\n", encoding="utf-8")
    script.chmod(0o755)
    (tmp_path / "worker.py").write_text(WORKER.format(root=str(ROOT)), encoding="utf-8")
    monkeypatch.setattr(client, "environment_of", lambda _: tmp_path)
    monkeypatch.setattr(client, "installed", lambda _: "1.0")
    with client.Peers(wanted=True, folder=tmp_path / "home") as peers:
        side = peers.work("mlflow", "count", start=4)
        reading = side(3)
        assert (reading.result, reading.cost > 0, peers.said) == (7, True, {"mlflow": "1.0"})
        assert peers.work("mlflow", "fail") is None
        assert peers.said["mlflow"].startswith("could not prepare fail: ValueError: as asked")


WORKER = """
import sys
sys.path.insert(0, {root!r})
from benchmarks.peers.wire import serve

def count(*, folder, start):
    print("noise")
    found = [start]
    def act():
        print("noise")
        found[0] += 1
        return found[0]
    return act

def fail(*, folder):
    raise ValueError("as asked")

serve({{"count": count, "fail": fail}})
"""


def test_nobody_is_asked_who_is_not_wanted_or_not_installed(
    package: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = package("peers.client")
    monkeypatch.setattr(client, "installed", lambda _: None)
    unwanted, missing = (client.Peers(wanted=wanted, folder=tmp_path) for wanted in (False, True))
    assert (unwanted.work("mlflow", "load"), unwanted.said) == (None, {})
    assert missing.work("mlflow", "load") is None
    assert missing.said == {"mlflow": "not installed: python -m benchmarks peers"}


@pytest.mark.parametrize(
    ("medians", "holds", "measured"), [([2.0], True, 1), ([9.0, 2.0], True, 2), ([9.0, 9.0, 9.0], False, 3)]
)
def test_a_contest_beyond_its_bound_is_measured_again(
    package: Package, medians: list[float], holds: bool, measured: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ratchet, rounds, left = package("ratchet"), [], iter(medians)

    def ratios(_: object, count: int) -> dict[str, float]:
        rounds.append(count)
        return {"x": next(left)}

    monkeypatch.setattr(ratchet, "_ratios", ratios)
    assert list(ratchet.held({"b": None}, {"b": {"x": 3.0}})) == [("b", "x", min(medians), 3.0, holds)]
    assert rounds == sorted(set(rounds))
    assert len(rounds) == measured


def test_a_bound_without_its_contest_is_broken(package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    ratchet = package("ratchet")
    monkeypatch.setattr(ratchet, "_ratios", lambda *_: {})
    (row,) = ratchet.held({"b": None}, {"b": {"x": 3.0}})
    assert row == ("b", "x", float("inf"), 3.0, False)


def test_every_bound_is_of_a_benchmark_that_there_is(package: Package) -> None:
    assert set(package("ratchet").bounds()) <= set(NAMES)


@pytest.mark.parametrize(
    ("ratio", "shown"), [(0.0, "0"), (0.0067, "1/149"), (0.5, "0.5"), (3.456, "3.46"), (14051.0, "14,051")]
)
def test_ratios_are_shown_as_people_read_them(package: Package, ratio: float, shown: str) -> None:
    assert package("showing").number(ratio) == shown


@pytest.mark.parametrize(("goal", "shown"), [(None, ""), (1 / 150, "1/150"), (0.3, "0.3"), (3.3, "3.3"), (6, "6")])
def test_goals_are_shown_as_they_were_set(package: Package, goal: float | None, shown: str) -> None:
    assert package("showing").goal(goal) == shown


def test_results_are_kept_by_day_and_written_as_a_table(
    package: Package, main: Main, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = package("results")
    monkeypatch.setattr(results, "_RESULTS", tmp_path / "results")
    monkeypatch.setattr(results, "README", tmp_path / "README.md")
    results.README.write_text("Before\n<!-- table: begin -->\nold\n<!-- table: end -->\nafter\n", encoding="utf-8")
    assert main(["table", "--write"]) == 0
    assert "No results yet." in results.README.read_text(encoding="utf-8")
    for name, _ in results.run_all(iter(["classify"]), words=["--tiny", "--rounds", "1"], save=True):
        assert name == "classify"
    assert main(["table", "--write"]) == 0
    text = results.README.read_text(encoding="utf-8")
    assert text.startswith("Before\n<!-- table: begin -->\n")
    assert text.endswith("<!-- table: end -->\nafter\n")
    assert "| `classify` | classify 10 changes | floor |" in text
    assert " ms" not in text
