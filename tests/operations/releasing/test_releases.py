"""What releases allow and refuse, in tables: order, closures, withdrawals, rejections, evidence, races, cuts."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from pawl.operations.releasing import judging
from pawl.policy.verdict import HARDEST_FIRST, hardest
from support import FIRST, SECOND, Shop, in_process, in_subprocess, story


def test_the_hardest_code_wins_in_every_pair() -> None:
    for index, harder in enumerate(HARDEST_FIRST):
        for easier in HARDEST_FIRST[index:]:
            assert hardest((easier, harder, 0)) == harder
    assert hardest(()) == 0
    assert hardest((99, 6)) == 99


WITHDRAWALS = [
    # level, promote it, serve it where it is pinned, roll back to it
    ("deprecate", 0, 0, 0),
    ("yank", 7, 0, 7),
    ("revoke", 7, 7, 7),
]


@pytest.mark.parametrize(("level", "promoted", "served", "back"), WITHDRAWALS)
def test_withdrawals(released: Shop, level: str, promoted: int, served: int, back: int) -> None:
    shop = released
    shop.pawl("remove", "support/refund", "--channel", "staging", "--reason", "to pin it anew")
    shop.release_second()
    shop.rollback("support/refund", "--to", "1.0.0")
    answer = shop.pawl(level, "support/refund@1.0.0", "--reason", "leaks")
    assert answer["pinned_on"] == ["production"]
    found = shop.pawl("resolve", "support/refund", "--channel", "production", code=served)
    assert shop.codes(found, "error" if served else "warning") in (["revoked"], ["served-with-warning"])
    assert "support/refund@1.0.0" in str(found["problems"])
    shop.rollback("support/refund", "--to", "1.0.0", channel="staging", code=back)
    shop.pawl("unreject", "support/refund@2.0.0", "--channel", "staging", "--reason", "to free the way")
    shop.promote(*FIRST, to="staging", code=promoted)
    snapshot = shop.pawl("snapshot", "production")
    assert ("support/refund" in snapshot["withheld"]) == bool(served)
    assert ("document" in snapshot["snapshot"]["procedures"]["support/refund"]) != bool(served)


def test_a_revoked_member_of_the_closure_stops_the_whole(released: Shop) -> None:
    shop = released
    shop.release_second()
    shop.pawl("revoke", "support/check-eligibility@1.0.0", "--reason", "leaks")
    shop.pawl("resolve", "support/refund", "--channel", "production", code=7)
    shop.pawl("audit", code=7)


def test_what_was_rejected_does_not_return_under_another_number(released: Shop) -> None:
    shop = released
    shop.release_second()
    shop.rollback("support/refund")
    shop.edit("procedures/support/refund.yaml", ("version: 2.0.0", "version: 2.0.1"), ("Checks", "Again checks"))
    shop.pawl("publish")
    refused = shop.promote("support/refund@2.0.1", to="production", code=3)  # staging first is the harder no
    assert shop.codes(refused) == ["channel-order", "rejected"]
    shop.promote("support/refund@2.0.1", to="staging")
    shop.promote("support/refund@2.0.1", to="production", code=7)
    shop.pawl("unreject", "support/refund@2.0.1", "--channel", "production", "--reason", "looked into")
    shop.promote("support/refund@2.0.1", to="production")


def test_a_rejection_ends_when_it_says(released: Shop) -> None:
    shop = released
    shop.release_second()
    shop.pawl("reject", "support/refund@1.0.0", "--channel", "production", "--reason", "no", "--until", "2020-01-01")
    assert shop.rollback("support/refund")["moves"][0]["to"] == "1.0.0"


def test_rollback_passes_over_what_is_no_way_back(released: Shop) -> None:
    shop = released
    shop.release_second()
    shop.edit("procedures/support/refund.yaml", ("version: 2.0.0", "version: 2.1.0"), ("max_steps: 6", "max_steps: 5"))
    shop.pawl("publish")
    shop.everywhere("support/refund@2.1.0")
    shop.pawl("reject", "support/refund@2.0.0", "--channel", "production", "--reason", "slow")
    answer = shop.rollback("support/refund")
    assert answer["moves"][0]["to"] == "1.0.0"
    skipped = [problem["message"] for problem in answer["problems"] if problem["code"] == "target-skipped"]
    assert len(skipped) == 1
    assert "support/refund@2.0.0" in skipped[0]
    assert "slow" in skipped[0]


def test_many_refusals_do_not_push_out_the_last_good_version(released: Shop) -> None:
    shop = released
    shop.release_second()
    before = verdicts(shop)
    for _ in range(12):
        shop.promote("support/refund@1.0.0", "support/check-eligibility@1.0.0", to="production", code=4)
    assert before == verdicts(shop)
    assert shop.pawl("history", "production")["records"][-1]["serial"] == 14


def verdicts(shop: Shop) -> list[tuple[object, ...]]:
    """Return every target with its verdict; how old its evidence is goes on without anybody."""
    rows = shop.pawl("targets", "support/refund", "--channel", "production")["targets"]
    return [(row["version"], row["digest"], row["live_until"], row["verdict"], row["reasons"]) for row in rows]


def test_a_halt_holds_until_it_is_resumed(released: Shop) -> None:
    shop = released
    shop.release_second()
    shop.pawl("halt", "support/refund@2.0.0", "--channel", "production", "--reason", "stop")
    shop.pawl("resolve", "support/refund", "--channel", "production", code=7)
    shop.rollback("support/refund")
    assert shop.version("support/refund") == "1.0.0"  # only version 2 was halted
    shop.pawl("halt", "support/refund", "--channel", "production", "--reason", "all of it")
    shop.pawl("resolve", "support/refund", "--channel", "production", code=7)
    serial = shop.pawl("resume", "support/refund", "--channel", "production", "--reason", "mended")["serial"]
    again = shop.pawl("resume", "support/refund", "--channel", "production", "--reason", "mended")
    assert again["status"] == "unchanged"
    assert shop.pawl("history", "production")["records"][-1]["serial"] == serial


def test_asking_for_what_holds_writes_nothing(released: Shop) -> None:
    shop = released
    before = shop.files()
    assert shop.promote(*FIRST, to="production")["status"] == "unchanged"
    assert shop.rollback("support/refund", "--to", "1.0.0")["status"] == "unchanged"
    assert shop.adopt()["status"] == "unchanged"
    assert shop.pawl("publish")["status"] == "unchanged"
    assert before == shop.files()


def test_a_dry_run_writes_nothing_and_has_the_real_code(released: Shop) -> None:
    shop = released
    shop.second()
    shop.pawl("publish")
    before = shop.files()
    good = shop.pawl("promote", *SECOND, "--to", "staging", "--reason", "two", "--dry-run")
    bad = shop.pawl("promote", SECOND[0], "--to", "staging", "--reason", "alone", "--dry-run", code=3)
    assert ("would", "would-refuse", None) == (good["status"], bad["status"], bad["serial"])
    assert before == shop.files()
    assert good["plan"] == shop.promote(*SECOND, to="staging")["plan"]


def test_dependents_are_judged_too(released: Shop) -> None:
    shop = released
    shop.edit(
        "procedures/support/refund-draft.yaml", ("version: 1.0.0", "version: 2.0.0"), ("First version.", "Second.")
    )
    shop.pawl("publish")
    refused = shop.promote("support/refund-draft@2.0.0", to="staging", code=3)
    assert shop.codes(refused) == ["requirement-unmet"]
    assert "support/refund@1.0.0 requires support/refund-draft >=1,<2" in str(refused["problems"])
    broken = shop.pawl("remove", "support/refund-draft", "--channel", "staging", "--reason", "gone", code=3)
    assert shop.codes(broken) == ["requirement-unmet"]


def test_with_requirements_moves_the_set(released: Shop) -> None:
    shop = released
    shop.second()
    shop.pawl("publish")
    words = ("promote", SECOND[0], "--to", "staging", "--reason", "the set", "--with-requirements")
    assert {row["name"] for row in shop.pawl(*words)["moves"]} == {"support/refund", "support/check-eligibility"}


def test_evidence_is_reused_only_for_the_very_same(released: Shop) -> None:
    shop = released
    reused = [
        finding["message"]
        for finding in json.loads(shop.read("releases/production/000001.json"))["verdict"]["findings"]
        if finding["code"] == "evidence-passed"
    ]
    assert all("reused from" in message for message in reused)
    shop.pawl("remove", "support/refund", "--channel", "staging", "--reason", "to pin it anew")
    shop.edit("conformance/refund.yaml", ("a-request-gets-a-draft", "a-request-gets-one"))
    again = shop.promote(FIRST[0], to="staging")
    assert "run now" in str(again["verdict"]["findings"])


def test_evidence_that_failed_stands(released: Shop) -> None:
    shop = released
    shop.second()
    shop.edit("conformance/refund.yaml", ("[eligibility, denied]", "[eligibility, drafted]"))
    shop.pawl("publish")
    refused = shop.promote(*SECOND, to="staging", code=4)
    assert shop.codes(refused) == ["evidence-failed"]
    again = shop.promote(*SECOND, to="staging", code=4)
    assert "on exactly these digests" in str(again["problems"])
    shop.edit("conformance/refund.yaml", ("[eligibility, drafted]", "[eligibility, denied]"))
    shop.promote(*SECOND, to="staging")


def test_tests_do_not_silently_disappear(released: Shop) -> None:
    shop = released
    shop.edit("procedures/support/refund-draft.yaml", ("version: 1.0.0", "version: 1.1.0"), ("400", "500"))
    text = shop.read("conformance/refund-draft.yaml")
    shop.write("conformance/refund-draft.yaml", text.partition("  - id: amount-is-needed")[0])
    shop.pawl("publish")
    assert shop.codes(shop.promote("support/refund-draft@1.1.0", to="staging", code=4)) == ["fewer-tests"]


BROKEN_SUITE = "suite: [\n"


def test_a_suite_that_does_not_read_stops_the_way_forward_only(released: Shop) -> None:
    shop = released
    shop.release_second()
    shop.edit("procedures/support/refund.yaml", ("version: 2.0.0", "version: 2.1.0"), ("max_steps: 6", "max_steps: 5"))
    shop.pawl("publish")
    shop.write("conformance/other.yaml", BROKEN_SUITE)
    assert shop.codes(shop.promote("support/refund@2.1.0", to="staging", code=4)) == ["suite-unread"]
    assert shop.codes(shop.rollback("support/refund"), "warning") == ["suite-unread"]


def test_without_an_adopted_policy_nothing_goes_out(shop: Shop) -> None:
    shop.pawl("publish")
    refused = shop.pawl("promote", *FIRST, "--to", "staging", "--reason", "early", code=3)
    assert shop.codes(refused) == ["no-policy"]


def test_channels_count_from_their_adoption(released: Shop) -> None:
    shop = released
    shop.edit("registry/registry.yaml", ("  staging: {}", "  staging: {}\n  beta: {after: staging}"))
    shop.pawl("promote", *FIRST, "--to", "beta", "--reason", "early", code=1)
    shop.adopt("a channel more")
    shop.promote(*FIRST, to="beta")


def test_policies_go_back_only_on_purpose(released: Shop) -> None:
    shop = released
    shop.write("registry/policies/refunds.yaml", story("policy-2.yaml"))
    shop.adopt("stricter")
    shop.write("registry/policies/refunds.yaml", story("policy-1.yaml"))
    assert shop.codes(shop.pawl("policy", "adopt", "--reason", "back", code=3)) == ["policy-older"]
    assert shop.pawl("policy", "adopt", "--reason", "back", "--again")["policy"] == 3


def test_what_is_live_and_breaks_a_new_rule_is_seen_and_can_be_left(released: Shop) -> None:
    shop = released
    shop.write("registry/policies/refunds.yaml", story("policy-2.yaml"))
    assert [change["role"] for change in shop.pawl("policy", "plan")["changes"]] == ["live", "live"]
    shop.adopt("stricter")
    assert "REF-1" in str(shop.pawl("audit", code=3)["problems"])
    assert shop.version("support/refund") == "1.0.0"
    shop.release_second()
    shop.pawl("audit")


def test_enforce_live_stops_serving(released: Shop) -> None:
    shop = released
    shop.write("registry/policies/refunds.yaml", story("policy-2.yaml") + "    enforce_live: true\n")
    shop.adopt("at once")
    refused = shop.pawl("resolve", "support/refund", "--channel", "production", code=3)
    assert "REF-1" in str(refused["problems"])
    assert shop.version("support/refund-draft") == "1.0.0"


def test_history_tells_any_moment(released: Shop) -> None:
    shop = released
    rows = shop.pawl("history", "production")["records"]
    at = rows[0]["at"]
    then = shop.pawl("history", "production", "--at", at)
    assert (1, "1.0.0", 1) == (then["serial"], then["pins"]["support/refund"]["version"], then["policy"])
    assert shop.pawl("history", "production", "--at", "2020-01-01")["pins"] == {}


# Cut, spliced and edited journals: nobody believes them


def cut_tail(shop: Shop) -> None:
    (shop.root / "releases/production/000001.json").unlink()


def cut_tail_and_projection(shop: Shop) -> None:
    shutil.copy(shop.root / "releases/staging/000001.json", shop.root / "releases/production/000001.json")


def cut_registry(shop: Shop) -> None:
    (shop.root / "releases/registry/000002.json").unlink()


def edit_projection(shop: Shop) -> None:
    path = shop.root / "registry/channels/production.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"1.0.0"', '"9.0.0"', 1), encoding="utf-8")


def conflict_in_journal(shop: Shop) -> None:
    path = shop.root / "releases/production/000001.json"
    path.write_text("<<<<<<< ours\n" + path.read_text(encoding="utf-8"), encoding="utf-8")


def stranger_in_journal(shop: Shop) -> None:
    shop.write("releases/production/latest.json", "{}")


@pytest.mark.parametrize(
    "damage",
    [cut_tail, cut_tail_and_projection, cut_registry, edit_projection, conflict_in_journal, stranger_in_journal],
)
def test_damage_is_6_for_everybody(released: Shop, damage: Any) -> None:
    shop = released
    damage(shop)
    shop.pawl("verify", code=6)
    shop.promote(*FIRST, to="production", code=6)
    shop.pawl("resolve", "support/refund", "--channel", "production", code=6)


def test_a_missing_projection_is_made_again(released: Shop) -> None:
    shop = released
    path = shop.root / "registry/channels/production.json"
    before = path.read_bytes()
    path.unlink()
    assert shop.version("support/refund") == "1.0.0"
    assert shop.codes(shop.pawl("verify"), "warning") == ["projection-missing"]
    shop.pawl("deprecate", "support/refund@1.0.0", "--reason", "any record")
    assert path.read_bytes() == before


# Races


def test_two_at_once_make_one_record(shop: Shop) -> None:
    shop.publish_first()
    words = ("-C", str(shop.root), "promote", *FIRST, "--to", "staging", "--reason", "race", "-o", "json")
    ended: list[int] = []
    threads = [threading.Thread(target=lambda: ended.append(in_subprocess(*words).code)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(ended) <= {0, 5}
    assert 0 in ended
    assert [row["action"] for row in shop.pawl("history", "staging")["records"]] == ["promote"]
    shop.pawl("verify")


def test_the_loser_of_a_race_is_told_and_writes_nothing(released: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = released
    shop.second()
    shop.pawl("publish")
    judged = judging.judge

    def slow(*values: Any, **more: Any) -> Any:
        found = judged(*values, **more)
        monkeypatch.setattr("pawl.operations.releasing.release.judge", judged)
        words = ("halt", "support/refund", "--channel", "staging", "--reason", "meanwhile", "-o", "json")
        assert in_subprocess("-C", str(shop.root), *words).code == 0
        return found

    monkeypatch.setattr("pawl.operations.releasing.release.judge", slow)
    before = shop.files("releases/evidence")
    ended = in_process("-C", str(shop.root), "promote", *SECOND, "--to", "staging", "--reason", "late", "-o", "json")
    assert (5, before) == (ended.code, shop.files("releases/evidence"))
    assert "moved from record 1 to 2" in ended.out


def test_a_read_only_checkout_serves(released: Shop, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(released.root, copy, ignore=shutil.ignore_patterns(".git", ".pawl"))
    assert Shop(copy).version("support/refund") == "1.0.0"
