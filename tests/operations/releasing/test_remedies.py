"""Refusals that help: what differs, the nearest version that passes, and what to type next."""

from __future__ import annotations

from typing import Any

import pytest

from pawl.operations.releasing import judging, remedies
from support import Shop, in_process, story

REFUND, TOOL = "support/refund", "support/check-eligibility@1.0.0"
FILE = "procedures/support/refund.yaml"


@pytest.fixture
def stricter(released: Shop) -> Shop:
    """Version 2 is live everywhere, and policy 2 demands what version 1 lacks."""
    released.release_second()
    released.reach(_stricter)
    return released


def _stricter(shop: Shop) -> None:
    shop.write("registry/policies/refunds.yaml", story("policy-2.yaml"))
    shop.adopt("check first")


def changed(shop: Shop, version: str, old: str, new: str) -> str:
    """Publish a version of the workflow with other words in it."""
    text = shop.read(FILE).replace(old, new)
    shop.write(
        FILE, "\n".join(f"version: {version}" if line.startswith("version:") else line for line in text.split("\n"))
    )
    shop.pawl("publish")
    return f"{REFUND}@{version}"


def only(answer: dict[str, Any]) -> dict[str, Any]:
    (remedy,) = answer["remedies"]
    found: dict[str, Any] = remedy
    return found


def hints(answer: dict[str, Any]) -> list[str | None]:
    return [problem.get("hint") for problem in answer["problems"] if problem["code"] == "way-out"]


def test_a_refused_rollback_says_what_differs_what_passes_and_what_next(stricter: Shop) -> None:
    stricter.everywhere(changed(stricter, "2.1.0", "max_steps: 6", "max_steps: 5"))
    answer = stricter.rollback(REFUND, "--to", "1.0.0", code=3)
    remedy = only(answer)
    (rule,) = remedy["rules"]
    assert (rule["rule"], rule["policy"], rule["subject"]) == ("REF-1", 2, f"{REFUND}@1.0.0")
    assert rule["message"] == "Every refund workflow checks eligibility before it drafts."
    (differs,) = rule["differences"]
    assert (differs["path"], differs["found"]) == ("procedure.spec.steps", "draft, drafted")
    assert "support/check-eligibility" in differs["wanted"]
    assert [(row["version"], row["side"], row["pinned"], row["judged"]) for row in remedy["nearest"]] == [
        ("2.0.0", "later", False, "with its suites")
    ]
    assert remedy["next"] == [
        'pawl rollback support/refund --channel production --to 2.0.0 --reason "..."',
        "pawl targets support/refund --channel production",
        "pawl fix-forward support/refund@1.0.0 --channel production",
        'pawl halt support/refund --channel production --reason "..."',
    ]
    assert hints(answer) == remedy["next"]
    (error,) = [row for row in answer["problems"] if row["severity"] == "error"]
    assert error["rule"] == "REF-1"
    assert "policy 2" in error["message"]
    assert "procedure.spec.steps (draft, drafted)" in error["message"]


def test_the_text_says_the_same(stricter: Shop) -> None:
    words = ("rollback", REFUND, "--to", "1.0.0", "--channel", "production", "--reason", "errors")
    ended = in_process("-C", str(stricter.root), *words)
    assert ended.code == 3
    for wanted in (
        "rule REF-1 of policy 2",
        "draft, drafted",
        "no earlier version of support/refund passes policy 2 now; support/refund@2.0.0, which is pinned, passes",
        "pawl fix-forward support/refund@1.0.0 --channel production",
        "pawl targets support/refund --channel production",
        "pawl halt support/refund --channel production",
    ):
        assert wanted in ended.out


def test_what_is_pinned_now_is_named_where_nothing_else_passes(stricter: Shop) -> None:
    remedy = only(stricter.rollback(REFUND, "--to", "1.0.0", code=3))
    assert [(row["version"], row["pinned"]) for row in remedy["nearest"]] == [("2.0.0", True)]
    assert remedy["next"][0] == "pawl targets support/refund --channel production"


def test_both_sides_of_the_asked_version_are_looked_at(stricter: Shop) -> None:
    stricter.edit("registry/policies/refunds.yaml", ("<= 12", "<= 30"))
    stricter.adopt("longer")
    stricter.everywhere(changed(stricter, "2.1.0", "max_steps: 6", "max_steps: 20"))
    stricter.everywhere(changed(stricter, "2.2.0", "max_steps: 20", "max_steps: 4"))
    stricter.write("registry/policies/refunds.yaml", story("policy-2.yaml"))
    stricter.pawl("policy", "adopt", "--again", "--reason", "shorter")
    remedy = only(stricter.rollback(REFUND, "--to", "2.1.0", code=3))
    assert [(row["version"], row["side"], row["pinned"]) for row in remedy["nearest"]] == [
        ("2.0.0", "earlier", False),
        ("2.2.0", "later", True),
    ]
    (differs,) = remedy["rules"][0]["differences"]
    assert differs == {"path": "procedure.spec.budget.max_steps", "found": "20", "wanted": "<= 12"}


def test_no_way_back_names_fix_forward_and_halt(stricter: Shop) -> None:
    answer = stricter.rollback(REFUND, code=3)
    remedy = only(answer)
    assert remedy["version"] is None
    assert [rule["rule"] for rule in remedy["rules"]] == ["REF-1"]
    assert "pawl fix-forward support/refund@1.0.0 --channel production" in remedy["next"]
    assert remedy["next"][-1].startswith("pawl halt support/refund")
    assert remedy["next"][-1] in hints(answer)


def test_no_earlier_version_at_all_offers_to_mend_what_is_live(released: Shop) -> None:
    remedy = only(released.rollback(REFUND, code=3))
    assert (remedy["nearest"], remedy["rules"]) == ([], [])
    assert remedy["next"] == [
        "pawl fix-forward support/refund@1.0.0 --channel production",
        'pawl halt support/refund --channel production --reason "..."',
    ]


def test_a_refused_promotion_names_the_newest_published_version_that_passes(stricter: Shop) -> None:
    changed(stricter, "2.1.0", "max_steps: 6", "max_steps: 7")
    bad = changed(stricter, "2.2.0", "max_steps: 7", "max_steps: 13")
    answer = stricter.promote(bad, to="staging", code=3)
    remedy = only(answer)
    assert [(row["version"], row["side"], row["judged"]) for row in remedy["nearest"]] == [
        ("2.1.0", "earlier", "without running suites")
    ]
    assert remedy["next"][0] == 'pawl promote support/refund@2.1.0 --to staging --reason "..."'
    assert "pawl fix-forward support/refund@2.2.0 --channel staging" in remedy["next"]
    assert "judged without running suites" in str(answer["problems"])


def test_a_version_below_the_pinned_one_is_offered_last(stricter: Shop) -> None:
    bad = changed(stricter, "2.1.0", "max_steps: 6", "max_steps: 13")
    remedy = only(stricter.promote(bad, to="production", code=3))
    assert remedy["nearest"] == []  # 2.0.0 is pinned, 1.0.0 breaks the rule
    assert remedy["looked_at"] == 1


def test_order_is_no_matter_of_another_version(released: Shop) -> None:
    released.second()
    released.pawl("publish")
    answer = released.promote(TOOL, to="production", code=3)
    assert released.codes(answer) == ["channel-order"]
    assert answer["remedies"] == []


def test_evidence_that_is_missing_is_no_matter_of_another_version(released: Shop) -> None:
    released.second()
    (released.root / "conformance/check-eligibility.yaml").unlink()
    released.pawl("publish")
    answer = released.promote(TOOL, to="staging", code=4)
    assert answer["remedies"] == []


def test_each_refused_name_has_a_remedy_of_its_own(stricter: Shop) -> None:
    bad = changed(stricter, "2.1.0", "max_steps: 6", "max_steps: 13")
    text = stricter.read("procedures/support/check-eligibility.yaml")
    stricter.write(
        "procedures/support/check-eligibility.yaml",
        text.replace("version: 1.0.0", "version: 1.0.1").replace("owner: ", "# owner: "),
    )
    stricter.pawl("publish")
    answer = stricter.promote(bad, "support/check-eligibility@1.0.1", to="staging", code=3)
    found = {remedy["name"]: [rule["rule"] for rule in remedy["rules"]] for remedy in answer["remedies"]}
    assert found == {REFUND: ["BUD-1"], "support/check-eligibility": ["OWN-1"]}


def test_a_revoked_version_is_not_offered_for_mending(stricter: Shop) -> None:
    stricter.pawl("revoke", f"{REFUND}@1.0.0", "--reason", "leaks")
    remedy = only(stricter.rollback(REFUND, "--to", "1.0.0", code=3))
    assert not [command for command in remedy["next"] if "fix-forward" in command]


def test_looking_for_the_nearest_is_bounded_and_runs_no_suite_for_a_promotion(
    stricter: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 23):
        changed(stricter, f"2.{number}.0", "max_steps: 6", f"max_steps: {12 + number}")
        stricter.edit(FILE, (f"max_steps: {12 + number}", "max_steps: 6"))
    asked: list[str] = []
    real = remedies.ask

    def counted(*words: Any, **more: Any) -> Any:
        asked.append(words[5])
        return real(*words, **more)

    monkeypatch.setattr(remedies, "ask", counted)
    monkeypatch.setattr(judging, "run_suite", lambda *_, **__: pytest.fail("a suite was run"))
    remedy = only(stricter.promote(f"{REFUND}@2.22.0", to="staging", code=3))
    assert (len(asked), remedy["looked_at"], remedy["nearest"]) == (20, 20, [])


def test_a_damaged_version_is_no_way_on(stricter: Shop) -> None:
    good = changed(stricter, "2.1.0", "max_steps: 6", "max_steps: 7")
    bad = changed(stricter, "2.2.0", "max_steps: 7", "max_steps: 13")
    path = f"registry/versions/{good.replace('@', '/')}.yaml"
    stricter.write(path, stricter.read(path) + "# x\n")
    assert only(stricter.promote(bad, to="staging", code=3))["nearest"] == []


def test_a_refused_attempt_is_recorded_as_before(stricter: Shop) -> None:
    stricter.rollback(REFUND, "--to", "1.0.0", code=3)
    record = stricter.pawl("history", "production")["records"][-1]
    assert (record["action"], record["exit_code"]) == ("refused", 3)
    assert "remedies" not in record


@pytest.mark.parametrize("live", [True, False])
def test_what_is_not_served_any_more_says_where_to_go(stricter: Shop, live: bool) -> None:
    if live:
        rule = story("policy-2.yaml").replace("level: absolute", "level: absolute\n    enforce_live: true")
        rule = rule.replace("max_steps <= 12", "max_steps <= 5").replace("{max_steps: 6}", "{max_steps: 4}")
        stricter.write("registry/policies/refunds.yaml", rule)
        stricter.adopt("shorter, and at once")
        answer = stricter.pawl("resolve", REFUND, "--channel", "production", code=3)
        assert [rule["rule"] for rule in only(answer)["rules"]] == ["BUD-1"]
        assert only(answer)["rules"][0]["differences"][0]["found"] == "6"
        assert "pawl fix-forward support/refund@2.0.0 --channel production" in hints(answer)
    else:
        stricter.pawl("revoke", f"{REFUND}@2.0.0", "--reason", "leaks")
        answer = stricter.pawl("resolve", REFUND, "--channel", "production", code=7)
        assert stricter.codes(answer) == ["revoked"]
    assert "pawl targets support/refund --channel production" in hints(answer)


def test_what_is_not_served_names_the_nearest_version_that_passes(released: Shop) -> None:
    released.release_second()
    released.pawl("revoke", f"{REFUND}@2.0.0", "--reason", "leaks")
    remedy = only(released.pawl("resolve", REFUND, "--channel", "production", code=7))
    assert [(row["version"], row["side"]) for row in remedy["nearest"]] == [("1.0.0", "earlier")]
    assert remedy["next"][0] == 'pawl rollback support/refund --channel production --to 1.0.0 --reason "..."'


def test_a_rollback_that_comes_too_late_is_told_who_rolled_back(released: Shop) -> None:
    released.release_second()
    released.rollback(REFUND)
    late = released.rollback(REFUND, code=7)
    (record,) = [row for row in released.pawl("history", "production")["records"] if row["action"] == "rollback"]
    (nothing,) = [row for row in late["problems"] if row["code"] == "no-target"]
    assert nothing["message"] == (
        f"no earlier version of {REFUND} can be live on production now: Ada <ada@example.invalid> rolled it back"
        f" from 2.0.0 to 1.0.0 at {record['at']} (serial {record['serial']})"
    )


def test_a_version_that_nobody_rolled_back_to_is_not_spoken_of_as_one(released: Shop) -> None:
    (nothing,) = [row for row in released.rollback(REFUND, code=3)["problems"] if row["code"] == "no-target"]
    assert nothing["message"] == f"no earlier version of {REFUND} can be live on production now"
