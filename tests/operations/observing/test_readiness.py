"""Readiness: status and targets know the ways back; waivers, freezes and halts are told until they are over."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pawl
from pawl.conformance.outcomes import Outcome, SuiteResult
from pawl.conformance.run import run_suite
from pawl.errors import WithheldError
from pawl.runs.ledger import Ledger
from people import ADA, BEN, CYD, become, set_clock, with_people
from support import FIRST, Shop, in_process

NAME = "support/refund"
AGED = """\
policy: ages
owner: release
rules:
  - id: AGE-1
    class: readiness
    level: absolute
    evidence: {max_age: P1D}
    message: Results are of today.
    tests:
      - {name: new, procedure: {}, given: {evidence: {suite: PT1H}}, expect: allowed}
      - {name: old, procedure: {}, given: {evidence: {suite: P3D}}, expect: denied}
  - id: SOAK-1
    class: readiness
    level: absolute
    applies: {channels: [production]}
    soak: {channel: staging, at_least: P30D}
    message: A month on staging.
    tests:
      - {name: short, procedure: {}, given: {live: {staging: PT1H}}, expect: denied}
      - {name: long, procedure: {}, given: {live: {staging: P31D}}, expect: allowed}
"""
DRAFTS = """\
policy: drafts
owner: compliance
rules:
  - id: DRA-1
    class: safety
    level: waivable
    applies: {channels: [production], kinds: [prompt]}
    require: procedure.owner == "compliance"
    message: Compliance owns every prompt.
    waiver: {at_most: P30D, roles: [release], break_glass: P1D}
    tests:
      - {name: theirs, procedure: {owner: compliance}, expect: allowed}
      - {name: another, procedure: {owner: payments}, expect: denied}
"""

Clock = Callable[[str], None]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return lambda at: set_clock(monkeypatch, at)


@pytest.fixture
def moved(plain_shop: Shop, clock: Clock) -> Shop:
    """Version 2 is live on both channels since the first of March, version 1 was."""
    clock("2999-03-01T12:00:00Z")
    plain_shop.release_first()
    plain_shop.release_second()
    return plain_shop


def row_of(shop: Shop, channel: str = "production", code: int = 0) -> dict[str, Any]:
    (found,) = [row for row in shop.pawl("status", code=code)["channels"] if row["channel"] == channel]
    assert isinstance(found, dict)
    return found


def ways(shop: Shop) -> list[tuple[str, str, bool | None]]:
    (pin,) = [pin for pin in row_of(shop)["pins"] if pin["name"] == NAME]
    return [(row["version"], row["verdict"], row["fresh"]) for row in pin["ways_back"]]


def test_status_runs_no_suite_and_says_so(moved: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> object:
        raise AssertionError("a suite was run")

    monkeypatch.setattr("pawl.operations.releasing.judging.run_suite", never)
    before = moved.files()
    answer = moved.pawl("status")
    assert [("1.0.0", "unknown", False)] == ways(moved)
    (problem,) = [
        row for row in answer["problems"] if row["code"] == "way-back-unknown" and "production" in row["hint"]
    ]
    assert "pawl drill production" == problem["hint"]
    assert before == moved.files()


def test_after_a_drill_it_is_known_and_ages(moved: Shop, clock: Clock) -> None:
    moved.pawl("drill", "production", NAME)
    assert [("1.0.0", "allowed", True)] == ways(moved)
    clock("2999-03-04T12:00:00Z")
    (target,) = moved.pawl("targets", NAME, "--channel", "production")["targets"]
    (evidence,) = target["evidence"]
    assert ("2999-03-01T12:00:00Z", 3 * 86_400, True, True) == (
        evidence["finished_at"],
        evidence["age_seconds"],
        evidence["stored"],
        target["fresh"],
    )
    assert "3 d old" in in_process("-C", str(moved.root), "status").out


def test_the_last_way_that_closes_is_told(moved: Shop) -> None:
    moved.pawl("drill", "production", NAME)
    moved.pawl("reject", f"{NAME}@1.0.0", "--channel", "production", "--reason", "slow")
    assert [("1.0.0", "refused", None)] == ways(moved)
    told = [row for row in moved.pawl("status")["problems"] if row["code"] == "no-way-back"]
    assert [True] == [NAME in row["message"] for row in told if row["severity"] == "warning"]


def test_a_changed_suite_makes_it_unknown_again(moved: Shop) -> None:
    moved.pawl("drill", "production", NAME)
    moved.edit("conformance/refund-without-check.yaml", ("amount: 20", "amount: 21"))
    assert [("1.0.0", "unknown", False)] == ways(moved)


def test_a_suite_that_does_not_read_is_named(moved: Shop) -> None:
    moved.pawl("drill", "production", NAME)
    moved.write("conformance/broken.yaml", "suite: [")
    answer = moved.pawl("targets", NAME, "--channel", "production")
    assert [True] == [row["allowed"] for row in answer["targets"]]
    moved.promote(f"{NAME}@1.0.0", to="production", code=4)
    assert "conformance/broken.yaml" in str(moved.rollback(NAME)["problems"])


def test_argo_rollouts_2168_age_and_soak_never_block_a_rollback(moved: Shop, clock: Clock) -> None:
    """argo-rollouts#2168, #574: an old version need not wait for anything; suites run again where they must."""
    moved.write("registry/policies/ages.yaml", AGED)
    moved.adopt("ages")
    moved.pawl("drill", "production", NAME)
    clock("2999-09-01T12:00:00Z")
    moved.promote("support/refund@1.0.0", to="production", code=3)
    assert [("1.0.0", "allowed", False)] == ways(moved)  # its suites will be run again
    assert "1.0.0" == moved.rollback(NAME)["moves"][0]["to"]


def test_what_is_too_old_is_run_again_on_the_way_back(moved: Shop, clock: Clock) -> None:
    moved.write("registry/policies/ages.yaml", AGED)
    moved.adopt("ages")
    moved.pawl("drill", "production", NAME)
    clock("2999-09-01T12:00:00Z")
    for words in (("targets", NAME), ("rollback", NAME, "--reason", "errors", "--dry-run")):
        assert "run now: the result of 2999-03-01T12:00:00Z is older than a rule takes for a promotion" in str(
            moved.pawl(*words, "--channel", "production")
        )
    moved.rollback(NAME)


def test_a_failing_run_blocks_and_age_alone_does_not(
    moved: Shop, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes to nothing for want of leave to run code leaves the old result as it was; a failure does not."""
    moved.write("registry/policies/ages.yaml", AGED)
    moved.adopt("ages")
    moved.pawl("drill", "production", NAME)
    clock("2999-09-01T12:00:00Z")
    outcomes = {"failed": 4, "skipped": 0}
    for outcome, code in outcomes.items():

        def run(*words: Any, outcome: Outcome = outcome, **more: Any) -> SuiteResult:  # type: ignore[assignment]
            result = run_suite(*words, **more)
            return replace(result, cases=tuple(replace(case, outcome=outcome) for case in result.cases))

        monkeypatch.setattr("pawl.operations.releasing.judging.run_suite", run)
        answer = moved.rollback(f"{NAME}@1.0.0", "--dry-run", code=code)
        assert (outcome == "failed") == ("evidence-failed" in moved.codes(answer))


@pytest.mark.parametrize(
    ("path", "words", "why"),
    [
        ("conformance/refund.yaml", ("amount: 20", "amount: 21"), "the suite changed since the result of 2999-03-01"),
        ("conformance/other.yaml", None, "there is no result of it so far"),
    ],
)
def test_a_verdict_says_why_a_suite_was_run(
    plain_shop: Shop, clock: Clock, path: str, words: tuple[str, str] | None, why: str
) -> None:
    clock("2999-03-01T12:00:00Z")
    plain_shop.release_first()
    if words:
        plain_shop.edit(path, words)
    else:
        plain_shop.write(path, plain_shop.read("conformance/refund.yaml").replace("suite: refund", "suite: other"))
    answer = plain_shop.pawl("why", f"{NAME}@1.0.0", "--channel", "production")
    assert f"run now: {why}" in str(answer["tree"])
    assert any(row["reason"].startswith(f"run now: {why}") for row in answer["evidence"])


@pytest.mark.slow
def test_helm_3668_many_refused_attempts_leave_the_list_as_it_is(moved: Shop) -> None:
    """helm#3668, #4349: 300 refused attempts push nothing out, and history has no limit."""
    moved.pawl("drill", "production", NAME)
    before = ways(moved)
    for _ in range(300):
        moved.promote(f"{NAME}@1.0.0", to="production", code=4)
    assert before == ways(moved)
    assert 303 == len(moved.pawl("history", "production")["records"])


def test_audit_counts_only_ways_that_are_open(moved: Shop) -> None:
    moved.pawl("remove", "support/refund", "--channel", "production", "--reason", "to have one pin less")
    moved.promote("support/refund@2.0.0", to="production")
    words = ("audit", "--channel", "production", "--require-way-back")
    assert ["no-way-back"] * 2 == moved.codes(moved.pawl(*words, code=1))
    moved.pawl("reject", f"{NAME}@1.0.0", "--channel", "production", "--reason", "slow")
    assert ["no-way-back"] * 3 == moved.codes(moved.pawl(*words, code=1))


# flux2#4282: after halt, status says which open runs passed a checkpoint since, and which did not


def halted_runs(shop: Shop) -> tuple[set[str], set[str]]:
    (halt,) = row_of(shop)["halts"]
    return tuple({row["run_id"] for row in halt["runs"][part]} for part in ("knows", "waiting"))  # type: ignore[return-value]


def test_flux2_4282_status_says_how_far_a_halt_has_got(moved: Shop) -> None:
    channel = pawl.open("production", workspace=moved.root)
    with channel.run(agent="uses") as uses, channel.run(agent="asks") as asks, channel.run(agent="sleeps") as sleeps:
        uses.tool("support/check-eligibility")
        moved.pawl("halt", NAME, "--channel", "production", "--reason", "errors")
        assert (set(), {uses.id, asks.id, sleeps.id}) == halted_runs(moved)
        with pytest.raises(WithheldError):
            asks.checkpoint()
        assert ({asks.id}, {uses.id, sleeps.id}) == halted_runs(moved)
        uses.tool("support/check-eligibility")
        assert ({asks.id, uses.id}, {sleeps.id}) == halted_runs(moved)
        (halt,) = row_of(moved)["halts"]
        assert {asks.id: True, uses.id: False} == {row["run_id"]: row["stopped"] for row in halt["runs"]["knows"]}
        text = in_process("-C", str(moved.root), "status").out
        assert "passed a checkpoint since: 2, that did not: 1" in text
    assert (set(), set()) == halted_runs(moved)  # they have ended


def test_runs_of_any_language_come_to_checkpoints_too(moved: Shop) -> None:
    first = moved.pawl("run", "start", "--channel", "production", "--agent", "a")["run_id"]
    second = moved.pawl("run", "start", "--channel", "production", "--agent", "b")["run_id"]
    other = moved.pawl("run", "start", "--channel", "staging", "--agent", "c")["run_id"]
    moved.pawl("halt", NAME, "--channel", "production", "--reason", "errors")
    moved.pawl("run", "use", first, NAME, code=7)
    late = moved.pawl("run", "start", "--channel", "production", "--agent", "d")["run_id"]
    assert ({first, late}, {second}) == halted_runs(moved)
    assert other not in str(row_of(moved)["halts"])
    moved.pawl("resume", NAME, "--channel", "production", "--reason", "mended")
    assert [] == row_of(moved)["halts"]


def test_runs_that_have_another_version_are_not_concerned(moved: Shop) -> None:
    run = moved.pawl("run", "start", "--channel", "production", "--agent", "a")["run_id"]
    moved.rollback(NAME)
    moved.pawl("halt", f"{NAME}@1.0.0", "--channel", "production", "--reason", "errors")
    assert run not in str(row_of(moved)["halts"])


def test_a_damaged_ledger_does_not_hide_the_halt(moved: Shop) -> None:
    moved.pawl("halt", NAME, "--channel", "production", "--reason", "errors")
    moved.write(".pawl/runs.db", "no database")
    answer = moved.pawl("status")
    assert "ledger-not-asked" in moved.codes(answer, "warning")
    assert "halted" in moved.codes(answer, "warning")


def test_a_ledger_of_version_2_is_brought_up_to_date(moved: Shop) -> None:
    run = moved.pawl("run", "start", "--channel", "production", "--agent", "a")["run_id"]
    path = moved.root / ".pawl" / "runs.db"
    before = _as_version_2(path)
    with Ledger(path) as ledger:
        row = ledger.show(run)
    assert row is not None
    assert ("a", None, None, None) == (row.agent, row.checked_at, row.checked_serial, row.stopped)
    moved.pawl("run", "use", run, NAME)
    moved.pawl("run", "end", run, "--outcome", "done")
    assert before == [row["run_id"] for row in moved.pawl("runs", "list")["runs"]]


def _as_version_2(path: Path) -> list[str]:
    connection = sqlite3.connect(path, isolation_level=None)
    for column in ("checked_at", "checked_serial", "stopped"):
        connection.execute(f"ALTER TABLE runs DROP COLUMN {column}")
    connection.execute("PRAGMA user_version = 2")
    runs = [run for (run,) in connection.execute("SELECT run_id FROM runs")]
    connection.close()
    return runs


# Waivers and freezes


@pytest.fixture
def waived(shop: Shop, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Drafts cannot enter production but by a waiver; Ada asks, Cyd may approve."""
    become(monkeypatch, ADA)
    clock("2999-03-01T12:00:00Z")
    shop.reach(_waived)
    return shop


def _waived(shop: Shop) -> None:
    with_people(shop, DRAFTS)
    shop.to_staging()
    shop.promote(*FIRST, to="production", code=3)


def waive(shop: Shop, *words: str, until: str = "2999-03-20") -> None:
    asked = ("waive", "DRA-1", FIRST[1], "--channel", "production", "--action", "promote", "--until", until)
    shop.pawl(*asked, "--owner", "payments", "--reason", "the customer waits", *words)


def approve(shop: Shop, monkeypatch: pytest.MonkeyPatch, code: int = 0) -> None:
    serial = row_of(shop, code=1 if code else 0)["waivers"][0]["serial"]
    become(monkeypatch, CYD)
    shop.pawl("approve", "--waiver", str(serial), "--channel", "production", "--reason", "yes", code=code)
    become(monkeypatch, ADA)


def codes(shop: Shop, command: str, code: int = 0) -> set[str]:
    wanted = {"waiver-unused", "waiver-ending", "waiver-ended", "review-due", "review-missed", "overridden"}
    return {row["code"] for row in shop.pawl(command, code=code)["problems"]} & wanted


def test_a_waiver_is_told_from_its_beginning_to_its_end(
    waived: Shop, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    waive(waived)
    assert ["pending"] == [row["state"] for row in row_of(waived)["waivers"]]
    approve(waived, monkeypatch)
    assert {"waiver-unused"} == codes(waived, "status")
    assert ({"waiver-unused"}, [True]) == (codes(waived, "audit"), [row["unused"] for row in row_of(waived)["waivers"]])
    waived.promote(*FIRST, to="production")
    assert {"overridden"} == codes(waived, "status")
    (told,) = row_of(waived)["overridden"]
    assert (FIRST[1], "DRA-1") == (told["ref"], told["rule"])
    clock("2999-03-15T06:00:00Z")
    assert {"overridden"} == codes(waived, "status")
    clock("2999-03-15T12:00:00Z")
    assert {"overridden", "waiver-ending"} == codes(waived, "status")
    clock("2999-03-20T00:00:00Z")
    assert {"overridden", "waiver-ended"} == codes(waived, "status")
    assert {"overridden", "waiver-ended"} == codes(waived, "audit", code=3)


def test_what_was_overridden_stays_listed_until_it_is_replaced(waived: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    waive(waived)
    approve(waived, monkeypatch)
    waived.promote(*FIRST, to="production")
    (channel,) = waived.pawl("audit", "--channel", "production", code=3)["channels"]
    assert [FIRST[1]] == [row["ref"] for row in channel["overridden"]]
    waived.edit(
        "procedures/support/refund-draft.yaml",
        ("version: 1.0.0", "version: 1.0.1"),
        ("owner: payments", "owner: compliance"),
    )
    waived.pawl("publish")
    waived.everywhere("support/refund-draft@1.0.1")
    assert [] == row_of(waived)["overridden"]
    assert {"waiver-unused"} == codes(waived, "audit")


def test_a_missed_review_of_a_broken_glass_turns_status_red(
    waived: Shop, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    become(monkeypatch, CYD)
    waive(waived, "--break-glass", "--review-by", "2999-03-02T00:00:00Z")
    become(monkeypatch, ADA)
    assert {"review-due"} == codes(waived, "status")
    waived.promote(*FIRST, to="production")
    clock("2999-03-02T00:00:00Z")
    answer = waived.pawl("status", code=1)
    assert ("failed", ["review-missed"]) == (answer["status"], waived.codes(answer))
    assert "review-missed" in codes(waived, "audit", code=3)
    (found,) = row_of(waived, code=1)["waivers"]
    assert ("review-missed", [FIRST[1]]) == (found["state"], found["used_by"])


def test_a_glass_that_was_never_broken_misses_no_review(waived: Shop, clock: Clock) -> None:
    """Ada has not the role that could break it: whoever may write records must not be able to turn status red."""
    asked = ("waive", "DRA-1", FIRST[1], "--channel", "production", "--action", "promote", "--until", "2999-03-20")
    glass = ("--break-glass", "--review-by", "2999-03-02T00:00:00Z")
    answer = waived.pawl(*asked, "--owner", "payments", "--reason", "in a hurry", *glass, code=8)
    assert ["waiver-not-counted"] == waived.codes(answer)
    clock("2999-03-03T00:00:00Z")
    assert set() == codes(waived, "status")
    (found,) = row_of(waived)["waivers"]
    assert ("pending", False) == (found["state"], found["unreviewed"])
    assert "cannot break the glass" in found["why_not"]


def test_a_missed_review_is_told_until_somebody_reviews_it_or_it_ends(
    waived: Shop, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    become(monkeypatch, CYD)
    waive(waived, "--break-glass", "--review-by", "2999-03-02T00:00:00Z")
    become(monkeypatch, ADA)
    clock("2999-03-19T23:59:59Z")
    assert {"review-missed"} == codes(waived, "status", code=1)
    clock("2999-03-20T00:00:00Z")
    assert set() == codes(waived, "status")


def test_audit_breaks_on_a_missed_review_though_it_asks_no_readiness_rule(
    shop: Shop, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    become(monkeypatch, ADA)
    clock("2999-03-01T12:00:00Z")
    with_people(shop)
    shop.publish_first()
    shop.promote(*FIRST, to="staging")
    become(monkeypatch, CYD)
    words = ("--channel", "production", "--for", "P7D", "--owner", "payments", "--reason", "the fair is on")
    for ref, other in (FIRST, FIRST[::-1]):
        glass = ("--action", "promote", "--break-glass", "--review-by", "2999-03-02T00:00:00Z")
        shop.pawl("waive", "APP-1", ref, "--with", other, *words, *glass)
    assert ["review-due"] * 2 == [row["code"] for row in waiver_rows(shop)]
    become(monkeypatch, ADA)
    shop.promote(*FIRST, to="production")
    shop.pawl("audit")
    clock("2999-03-02T00:00:00Z")
    for command, code in (("audit", 3), ("status", 1)):
        assert ["review-missed"] * 2 == shop.codes(shop.pawl(command, code=code))


def waiver_rows(shop: Shop) -> list[dict[str, Any]]:
    return [row for row in shop.pawl("status")["problems"] if "waiver" in row["message"]]


def test_one_waiver_is_one_line(waived: Shop, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    waive(waived)
    approve(waived, monkeypatch)
    clock("2999-03-19T12:00:00Z")
    (row,) = waiver_rows(waived)
    assert "waiver-ending" == row["code"]
    assert row["message"].endswith("counts until 2999-03-20T00:00:00Z; nothing pinned needs it")


def test_a_review_in_time_keeps_it_green(waived: Shop, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    text = waived.read("registry/registry.yaml").replace(
        "ben@example.invalid: [risk]", "ben@example.invalid: [release]"
    )
    waived.write("registry/registry.yaml", text)
    waived.adopt("Ben releases, too")
    become(monkeypatch, BEN)
    waive(waived, "--break-glass", "--review-by", "2999-03-02T00:00:00Z")
    approve(waived, monkeypatch)
    clock("2999-03-03T00:00:00Z")
    assert {"waiver-unused"} == codes(waived, "status")


def test_an_open_freeze_is_told_until_it_ends(moved: Shop, clock: Clock) -> None:
    moved.pawl("freeze", "production", "--until", "2999-03-02", "--reason", "a holiday")
    assert [True] == [row["in_force"] for row in row_of(moved)["freezes"]]
    assert "frozen" in moved.codes(moved.pawl("status"), "warning")
    clock("2999-03-02T00:00:00Z")
    assert [False] == [row["in_force"] for row in row_of(moved)["freezes"]]
    assert "frozen" not in moved.codes(moved.pawl("status"), "warning")


def test_approvals_that_still_count_are_listed(waived: Shop, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    become(monkeypatch, BEN)
    words = ("--channel", "production", "--until", "2999-03-10", "--reason", "looked at it")
    ended = in_process("-C", str(waived.root), "approve", FIRST[0], *words)
    assert ended.code in {0, 8}
    become(monkeypatch, ADA)
    (row,) = row_of(waived)["approvals"]
    assert (FIRST[0], True) == (row["ref"], row["of_this_policy"])
    waived.pawl("policy", "adopt", "--again", "--reason", "once more")
    clock("2999-03-10T00:00:00Z")
    assert [] == row_of(waived)["approvals"]
