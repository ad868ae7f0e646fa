"""pawl why: the whole verdict as a tree, the same verdict as everywhere, and nothing stored."""

from __future__ import annotations

from typing import Any

import pytest

from support import FIRST, Shop, in_process

WAIVABLE = """\
policy: drafts
owner: compliance
rules:
  - id: DRA-1
    class: safety
    level: waivable
    applies: {channels: [production], kinds: [prompt]}
    require: procedure.owner == "compliance"
    message: Compliance owns every prompt.
    tests:
      - {name: theirs, procedure: {owner: compliance}, expect: allowed}
      - {name: another, procedure: {owner: payments}, expect: denied}
  - id: FAST-1
    class: readiness
    level: advisory
    soak: {channel: staging, at_least: P30D}
    message: A month on staging is better.
    tests:
      - {name: short, procedure: {}, given: {live: {staging: PT1H}}, expect: denied}
      - {name: long, procedure: {}, given: {live: {staging: P31D}}, expect: allowed}
"""


def branch(answer: dict[str, Any], check: str) -> dict[str, Any]:
    (found,) = [row for row in answer["tree"] if row["check"] == check]
    assert isinstance(found, dict)
    return found


def rule(answer: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [row for row in branch(answer, "rule")["rules"] if row["rule"] == name]
    assert isinstance(found, dict)
    return found


@pytest.fixture
def moved(plain_shop: Shop) -> Shop:
    """Version 2 is live, version 1 was; a rule of tomorrow is adopted today."""
    plain_shop.release_first()
    plain_shop.release_second()
    plain_shop.reach(_tomorrow)
    return plain_shop


def _tomorrow(shop: Shop) -> None:
    shop.write("registry/policies/drafts.yaml", WAIVABLE)
    shop.adopt("prompts are compliance's")


def why(shop: Shop, ref: str, *words: str, code: int = 0) -> dict[str, Any]:
    return shop.pawl("why", ref, "--channel", "production", *words, code=code)


def test_every_check_and_every_rule_is_told(moved: Shop) -> None:
    answer = why(moved, "support/refund-draft@1.0.0", code=3)
    checks = ["canary", "policy", "order", "closure", "fit", "withdrawn", "rejected", "halted", "frozen", "rule"]
    assert [*checks, "evidence", "tests"] == [row["check"] for row in answer["tree"]]
    assert {"OWN-1", "BUD-1", "DRA-1", "FAST-1"} == {row["rule"] for row in branch(answer, "rule")["rules"]}
    assert all(row["status"] and (row.get("rules") or row["findings"]) for row in answer["tree"])
    assert all(row["findings"] for row in branch(answer, "rule")["rules"])


def test_a_rule_says_whose_it_is_where_it_stands_and_what_it_looked_at(moved: Shop) -> None:
    answer = why(moved, "support/refund-draft@1.0.0", code=3)
    no = rule(answer, "DRA-1")
    assert ("failed", "drafts", "compliance", 2) == (no["status"], no["source"], no["owner"], no["policy"])
    line = moved.read(no["path"]).splitlines()[no["line"] - 1]
    assert ("registry/policies/drafts.yaml", True, False) == (no["path"], "DRA-1" in line, no["edited"])
    assert "procedure.owner" in no["findings"][0]["differs"]
    assert '"payments"' in no["findings"][0]["differs"]
    held = rule(answer, "OWN-1")
    assert ("passed", 'procedure.owner is "payments"') == (held["status"], held["findings"][0]["looked_at"])
    assert rule(answer, "FAST-1")["status"] == "warning"
    far = rule(answer, "BUD-1")["findings"][0]
    assert "not-applicable" == far["status"]
    assert "workflow" in far["message"]


def test_a_rule_that_was_edited_since_says_so(moved: Shop) -> None:
    moved.edit("registry/policies/drafts.yaml", ("Compliance owns every prompt.", "Compliance owns prompts."))
    assert rule(why(moved, "support/refund-draft@1.0.0", code=3), "DRA-1")["edited"] is True
    (moved.root / "registry/policies/drafts.yaml").unlink()
    assert rule(why(moved, "support/refund-draft@1.0.0", code=3), "DRA-1")["path"] is None


def test_on_the_way_back_readiness_is_told_as_not_asked(moved: Shop) -> None:
    answer = why(moved, "support/refund@1.0.0", "--action", "rollback", code=0)
    soak = rule(answer, "FAST-1")
    assert "not-applicable" == soak["status"]
    assert "a readiness rule" in soak["findings"][0]["message"]
    assert ["not-applicable"] * 2 == [branch(answer, check)["status"] for check in ("order", "tests")]


CASES = [
    ("promote", "support/refund@1.0.0", ("promote", "support/refund@1.0.0", "--to", "production")),
    ("rollback", "support/refund@1.0.0", ("rollback", "support/refund@1.0.0", "--channel", "production")),
]


@pytest.mark.parametrize(("action", "ref", "words"), CASES, ids=[case[0] for case in CASES])
def test_the_verdict_and_the_exit_code_are_those_of_the_dry_run(
    moved: Shop, action: str, ref: str, words: tuple[str, ...]
) -> None:
    ended = in_process("-C", str(moved.root), *words, "--reason", "x", "--dry-run", "-o", "json")
    dry = moved.pawl(*words, "--reason", "x", "--dry-run", code=ended.code)
    answer = why(moved, ref, "--action", action, code=ended.code)
    asked = [row for row in answer["verdict"]["findings"] if row["status"] != "not-applicable"]
    bare = [{key: value for key, value in row.items() if key != "looked_at"} for row in asked]
    told = [row for row in dry["verdict"]["findings"] if row["status"] != "not-applicable"]
    assert [{key: value for key, value in row.items() if key != "looked_at"} for row in told] == bare
    assert (dry["status"], dry["exit_code"]) == (answer["status"], answer["exit_code"])


def test_nothing_is_stored(moved: Shop) -> None:
    before = moved.files()
    why(moved, "support/refund@1.0.0", code=4)
    why(moved, "support/refund@1.0.0", "--action", "rollback")
    assert before == moved.files()


def test_what_is_pinned_is_judged_all_the_same(moved: Shop) -> None:
    answer = why(moved, "support/refund@2.0.0")
    assert ["pinned-already"] == moved.codes(answer, "note")


def test_what_was_never_live_or_never_was_is_no_way_back(moved: Shop) -> None:
    assert ["version-unknown"] == moved.codes(why(moved, "support/refund@9.0.0", code=1))
    moved.edit("procedures/support/refund.yaml", ("version: 2.0.0", "version: 2.1.0"), ("max_steps: 6", "max_steps: 5"))
    moved.pawl("publish")
    assert ["never-live"] == moved.codes(why(moved, "support/refund@2.1.0", "--action", "rollback", code=1))
    answer = why(moved, "support/refund@2.1.0", code=3)
    assert "failed" == branch(answer, "order")["status"]
    evidence = branch(answer, "evidence")["findings"][0]
    assert ("evidence-not-asked", []) == (evidence["code"], answer["evidence"])


def test_the_text_is_a_tree(moved: Shop) -> None:
    ended = in_process("-C", str(moved.root), "why", "support/refund-draft@1.0.0", "--channel", "production")
    assert ended.code == 3
    lines = ended.out.splitlines()
    assert lines[0].startswith("support/refund-draft@1.0.0 on production")
    assert any(line.startswith("├─ policy: passed") for line in lines)
    assert any(line.startswith("│  ├─ DRA-1: failed") and "registry/policies/drafts.yaml:" in line for line in lines)
    assert any('differs: `procedure.owner == "compliance"` is false' in line for line in lines)


def test_before_any_policy_everything_is_refused(plain_shop: Shop) -> None:
    plain_shop.pawl("publish")
    answer = plain_shop.pawl("why", FIRST[0], "--channel", "staging", code=3)
    assert ("missing", []) == (branch(answer, "policy")["status"], branch(answer, "rule")["rules"])
