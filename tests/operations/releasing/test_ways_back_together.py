"""Ways back that one command opens: what requirements alone close goes back with the set that moves along."""

from __future__ import annotations

from typing import Any

import pytest

from pawl.conformance.run import run_suite
from support import Shop, in_process

TOOL, FLOW = "support/refund-draft", "support/refund"
BOTH = (f"{TOOL}@2.0.0", f"{FLOW}@1.1.0")
ONWARD = ("--channel", "production")


@pytest.fixture
def together(plain_shop: Shop) -> Shop:
    """The draft's next major version and the workflow that requires it went out together."""
    plain_shop.release_first()
    plain_shop.reach(second)
    return plain_shop


def second(shop: Shop) -> None:
    shop.edit(f"procedures/{TOOL}.yaml", ("version: 1.0.0", "version: 2.0.0"), ("Drafts a", "Writes a"))
    shop.edit(f"procedures/{FLOW}.yaml", ("version: 1.0.0", "version: 1.1.0"), (">=1,<2", ">=2,<3"))
    shop.pawl("publish")
    shop.everywhere(*BOTH)


def ways(answer: dict[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = answer["channels"][0]["ways_back"]
    return found


@pytest.mark.parametrize(("name", "other"), [(TOOL, FLOW), (FLOW, TOOL)])
def test_targets_count_the_set_and_give_the_command(together: Shop, name: str, other: str) -> None:
    (row,) = together.pawl("targets", name, *ONWARD)["targets"]
    command = f'pawl rollback {name}@1.0.0 --channel production --with-requirements --reason "..."'
    assert (True, 0, [f"{other}@1.0.0"], command) == (row["allowed"], row["exit_code"], row["with"], row["command"])
    text = in_process("-C", str(together.root), "targets", name, *ONWARD).out
    assert (True, True) == (f"1.0.0 with {other}@1.0.0" in text, command in text)
    words = ("rollback", f"{name}@1.0.0", *ONWARD, "--reason", "as told", "--with-requirements")
    assert {(TOOL, "1.0.0"), (FLOW, "1.0.0")} == {(move["name"], move["to"]) for move in together.pawl(*words)["moves"]}


def test_audit_counts_the_set(together: Shop) -> None:
    answer = together.pawl("audit", *ONWARD, "--require-way-back")
    assert {TOOL: ["1.0.0"], FLOW: ["1.0.0"]} == ways(answer)
    rows = [(row["name"], row["with"]) for row in answer["channels"][0]["together"]]
    assert [(FLOW, [f"{TOOL}@1.0.0"]), (TOOL, [f"{FLOW}@1.0.0"])] == rows
    assert f"1.0.0 with {TOOL}@1.0.0" in in_process("-C", str(together.root), "audit", *ONWARD).out


def test_a_set_that_is_refused_is_no_way_back(together: Shop) -> None:
    together.pawl("reject", f"{TOOL}@1.0.0", *ONWARD, "--reason", "it leaks")
    answer = together.pawl("audit", *ONWARD, "--require-way-back", code=1)
    assert ({TOOL: [], FLOW: []}, []) == (ways(answer), answer["channels"][0]["together"])
    (row,) = together.pawl("targets", FLOW, *ONWARD)["targets"]
    assert (False, [], None) == (row["allowed"], row["with"], row["command"])


def test_status_knows_the_set_and_runs_nothing(together: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pawl.operations.releasing.judging.run_suite", None)
    (channel,) = together.pawl("status", *ONWARD)["channels"]
    rows = {pin["name"]: pin["ways_back"][0] for pin in channel["pins"]}
    assert {TOOL: [f"{FLOW}@1.0.0"], FLOW: [f"{TOOL}@1.0.0"]} == {name: row["with"] for name, row in rows.items()}
    assert {"allowed"} == {row["verdict"] for row in rows.values()}  # both were tested together once
    assert f"1.0.0 with {TOOL}@1.0.0 (" in in_process("-C", str(together.root), "status", *ONWARD).out


def test_status_looks_for_a_bounded_number_of_sets(together: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pawl.operations.observing.status.MAX_SETS", 1)
    (channel,) = together.pawl("status", *ONWARD)["channels"]
    assert ["allowed", "unknown"] == [pin["ways_back"][0]["verdict"] for pin in channel["pins"]]


def test_a_drill_stores_what_the_set_rests_on(together: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = together.pawl("drill", "production")
    assert {TOOL: ["1.0.0"], FLOW: ["1.0.0"]} == answer["ways_back"]
    assert [[f"{TOOL}@1.0.0"], [f"{FLOW}@1.0.0"]] == [pin["targets"][0]["with"] for pin in answer["pins"]]
    together.pawl("verify")
    monkeypatch.setattr("pawl.operations.releasing.judging.run_suite", None)
    words = ("rollback", FLOW, *ONWARD, "--reason", "errors", "--with-requirements")
    assert "done" == together.pawl(*words)["status"]


def test_a_bare_rollback_tells_the_set(together: Shop) -> None:
    answer = together.rollback(FLOW, code=3)
    assert any(f"pawl rollback {FLOW}@1.0.0 {TOOL}@1.0.0" in problem.get("hint", "") for problem in answer["problems"])


def test_a_bare_name_is_completed_for_each_candidate(together: Shop) -> None:
    answer = together.rollback(FLOW, "--with-requirements", "--dry-run")
    assert ("would", {(TOOL, "1.0.0"), (FLOW, "1.0.0")}) == (
        answer["status"],
        {(move["name"], move["to"]) for move in answer["moves"]},
    )
    assert [] == [problem for problem in answer["problems"] if problem["code"] == "target-skipped"]


def test_what_is_passed_over_is_so_for_its_own_reason(together: Shop) -> None:
    """Of the draft nothing else was live that the workflow takes, so no set helps."""
    together.pawl("reject", f"{TOOL}@1.0.0", *ONWARD, "--reason", "it leaks")
    answer = together.rollback(FLOW, "--with-requirements", "--dry-run", code=3)
    (said,) = [problem["message"] for problem in answer["problems"] if problem["code"] == "target-skipped"]
    assert f"passed over {FLOW}@1.0.0" in said


@pytest.mark.parametrize("names", [(FLOW,), (FLOW, TOOL)])
def test_a_rollback_runs_each_suite_once(
    together: Shop, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def counted(suite: Any, *words: Any, **more: Any) -> Any:
        ran.append(suite.name)
        return run_suite(suite, *words, **more)

    together.edit("conformance/refund.yaml", ("amount: 20", "amount: 21"))
    together.edit("conformance/refund-draft.yaml", ("inputs: {order_id: A1}", "inputs: {order_id: A2}"))
    monkeypatch.setattr("pawl.operations.releasing.judging.run_suite", counted)
    answer = together.rollback(*names, "--with-requirements")
    assert ("done", ["refund", "refund-draft"]) == (answer["status"], sorted(ran))


def test_a_first_version_can_be_spared_and_one_that_lost_its_way_cannot(plain_shop: Shop) -> None:
    plain_shop.release_first()
    plain_shop.pawl("audit", "--require-way-back", code=1)
    spared = plain_shop.pawl("audit", "--require-way-back", "--except-first")
    assert [[FLOW, TOOL]] * 2 == [row["first"] for row in spared["channels"]]
    assert ["no-way-back"] * 4 == plain_shop.codes(spared, "note")
    second(plain_shop)
    plain_shop.pawl("reject", f"{TOOL}@1.0.0", *ONWARD, "--reason", "it leaks")
    closed = plain_shop.pawl("audit", *ONWARD, "--require-way-back", "--except-first", code=1)
    assert (["no-way-back"] * 2, []) == (plain_shop.codes(closed), closed["channels"][0]["first"])
