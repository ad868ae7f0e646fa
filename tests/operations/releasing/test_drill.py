"""Drills: today's suites on the ways back, stored as evidence, so that a rollback need not run any."""

from __future__ import annotations

from typing import Any

import pytest

from pawl.conformance import run as conformance_run
from support import FIRST, Shop, in_process

NO_CHECK = "conformance/refund-without-check.yaml"


@pytest.fixture
def moved(plain_shop: Shop) -> Shop:
    """Version 2 is live on both channels, version 1 was."""
    plain_shop.release_first()
    plain_shop.release_second()
    return plain_shop


def drill(shop: Shop, *words: str, code: int = 0) -> dict[str, Any]:
    return shop.pawl("drill", "production", *words, code=code)


def patch(shop: Shop, version: str, steps: str) -> None:
    text = shop.read("procedures/support/refund.yaml")
    before = text.partition("version: ")[2].split()[0]
    limit = text.partition("max_steps: ")[2].split("}")[0].strip()
    shop.edit(
        "procedures/support/refund.yaml",
        (f"version: {before}", f"version: {version}"),
        (f"max_steps: {limit}", f"max_steps: {steps}"),
    )
    shop.pawl("publish")
    shop.everywhere(f"support/refund@{version}")


def test_a_drill_is_a_record_that_moves_nothing(moved: Shop) -> None:
    before = moved.pawl("status")["channels"]
    answer = drill(moved, "support/refund")
    assert ({"support/refund": ["1.0.0"]}, 1, 3) == (answer["ways_back"], answer["suites_run"], answer["serial"])
    row = moved.pawl("history", "production")["records"][-1]
    assert ("drill", ["1.0.0"], [True]) == (
        row["action"],
        [target["version"] for target in row["drilled"]],
        [target["allowed"] for target in row["drilled"]],
    )
    after = moved.pawl("status")["channels"]
    pins = [[(pin["name"], pin["digest"], pin["since"]) for pin in row["pins"]] for row in before]
    assert pins == [[(pin["name"], pin["digest"], pin["since"]) for pin in row["pins"]] for row in after]
    assert "passed" == moved.pawl("verify")["status"]


def test_a_changed_byte_of_its_evidence_is_found(moved: Shop) -> None:
    (file,) = [path for path in drill(moved, "support/refund")["files"] if path.startswith("releases/evidence/")]
    moved.edit(file, ("PASSED", "PASSED "))
    assert ["evidence-changed"] == moved.codes(moved.pawl("verify", code=6))
    assert "evidence-changed" in str(moved.pawl("targets", "support/refund", "--channel", "production"))


def test_a_rollback_after_a_drill_runs_no_suite(moved: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    drill(moved, "support/refund")

    def never(*_: object, **__: object) -> object:
        raise AssertionError("a suite was run")

    monkeypatch.setattr("pawl.operations.releasing.judging.run_suite", never)
    answer = moved.rollback("support/refund")
    assert [("support/refund", "1.0.0")] == [(move["name"], move["to"]) for move in answer["moves"]]
    assert not [path for path in answer["files"] if path.startswith("releases/evidence/")]


def test_without_a_drill_the_rollback_runs_them(moved: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []

    def counted(*words: Any, **more: Any) -> Any:
        ran.append(words)
        return conformance_run.run_suite(*words, **more)

    monkeypatch.setattr("pawl.operations.releasing.judging.run_suite", counted)
    moved.rollback("support/refund")
    assert ran != []


def test_a_drill_runs_again_what_passed_before(moved: Shop) -> None:
    assert 1 == drill(moved, "support/refund")["suites_run"]
    assert 1 == drill(moved, "support/refund")["suites_run"]
    assert 0 == drill(moved, "support/refund", "--older-than", "P1D")["suites_run"]


def test_a_suite_that_fails_now_closes_the_way(moved: Shop) -> None:
    drill(moved, "support/refund")
    moved.edit(NO_CHECK, ("value: drafted", "value: denied"))
    answer = drill(moved, "support/refund", code=1)
    assert (["no-way-back"], {"support/refund": []}) == (moved.codes(answer), answer["ways_back"])
    (target,) = answer["pins"][0]["targets"]
    assert ("refused", 4, "evidence-failed") == (
        target["verdict"],
        target["exit_code"],
        target["reasons"][0]["code"],
    )
    assert 4 == moved.rollback("support/refund", code=4)["exit_code"]
    assert ["refused"] == [
        row["verdict"] for row in moved.pawl("targets", "support/refund", "--channel", "production")["targets"]
    ]


def test_a_pin_without_any_earlier_version_has_no_way_back(moved: Shop) -> None:
    answer = drill(moved, code=1)
    assert ["no-way-back"] * 2 == moved.codes(answer)
    assert {"support/refund": ["1.0.0"], "support/refund-draft": [], "support/check-eligibility": []} == answer[
        "ways_back"
    ]


@pytest.mark.parametrize("names", [(), ("support/refund-draft",)], ids=["all", "one"])
def test_nothing_to_drill_is_no_pass(plain_shop: Shop, names: tuple[str, ...]) -> None:
    plain_shop.release_first()
    before = plain_shop.files()
    assert ["nothing-to-drill"] == plain_shop.codes(plain_shop.pawl("drill", "production", *names, code=1))
    assert before == plain_shop.files()


def test_an_empty_channel_and_what_is_not_pinned(plain_shop: Shop) -> None:
    plain_shop.adopt()
    assert ["nothing-to-drill"] == plain_shop.codes(plain_shop.pawl("drill", "staging", code=1))
    assert ["not-pinned"] == plain_shop.codes(plain_shop.pawl("drill", "staging", FIRST[0].partition("@")[0], code=1))
    assert ["channel-unknown"] == plain_shop.codes(plain_shop.pawl("drill", "nowhere", code=1))


def test_the_last_k_targets_are_drilled(moved: Shop) -> None:
    patch(moved, "2.1.0", "5")
    patch(moved, "2.2.0", "4")
    (pin,) = drill(moved, "support/refund", "--last", "2")["pins"]
    assert (["2.1.0", "2.0.0"], 1) == ([target["version"] for target in pin["targets"]], pin["more"])
    files = {path for path in moved.files("releases/evidence") if "production-" in path}
    (pin,) = drill(moved, "support/refund")["pins"]
    assert ["2.1.0", "2.0.0", "1.0.0"] == [target["version"] for target in pin["targets"]]
    assert len(files) < len(moved.files("releases/evidence"))
    moved.pawl("verify")


def test_one_version_in_two_closures_keeps_both_results(moved: Shop) -> None:
    """The workflow is judged anew with each earlier draft below it: one record, several statements on one version."""
    for version in ("1.0.1", "1.0.2"):
        path = "procedures/support/refund-draft.yaml"
        before = moved.read(path).partition("version: ")[2].split()[0]
        moved.edit(path, (f"version: {before}", f"version: {version}"), ("summary: ", "summary: And "))
        moved.pawl("publish")
        moved.everywhere(f"support/refund-draft@{version}")
    answer = drill(moved, "support/refund-draft")
    about = [path for path in answer["files"] if path.startswith("releases/evidence/support/refund/2.0.0/")]
    assert (2, ["1.0.1", "1.0.0"]) == (len(about), answer["ways_back"]["support/refund-draft"])
    moved.pawl("verify")


def test_a_dry_run_tries_and_stores_nothing(moved: Shop) -> None:
    before = moved.files()
    answer = drill(moved, "support/refund", "--dry-run")
    assert ("would", None, []) == (answer["status"], answer["serial"], answer["files"])
    assert before == moved.files()
    assert "would-refuse" == drill(moved, "--dry-run", code=1)["status"]


def test_the_text_counts_and_names(moved: Shop) -> None:
    ended = in_process("-C", str(moved.root), "drill", "production", "support/refund")
    assert (0, True) == (ended.code, "drilled 1 ways back on production under policy 1, suites run: 1" in ended.out)
    rows = in_process("-C", str(moved.root), "history", "production").out
    assert "1 of 1 ways back are open" in rows
    assert 2 == in_process("-C", str(moved.root), "drill", "production", "--older-than", "soon").code
    assert 2 == in_process("-C", str(moved.root), "drill", "production", "--reason", " ").code
