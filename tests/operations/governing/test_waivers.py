"""Waivers from end to end: asked for by one, approved by another, for one version and a time."""

from __future__ import annotations

from typing import Any

import pytest

from people import ADA, APPROVALS, BEN, BOT, CYD, DOE, Become, set_clock
from support import FIRST, SECOND, Shop


def waive(shop: Shop, *words: str, rule: str = "APP-1", code: int = 0, end: str = "P7D") -> dict[str, Any]:
    given = ("--channel", "production", "--owner", "payments", "--reason", "the fair is on", "--for", end)
    action = () if "--action" in words else ("--action", "promote")
    return shop.pawl("waive", rule, *words, *given, *action, code=code)


def consent(shop: Shop, serial: int, *words: str, code: int = 0) -> dict[str, Any]:
    number = ("--waiver", str(serial))
    return shop.pawl("approve", *number, "--channel", "production", "--reason", "once", *words, code=code)


def both(shop: Shop) -> list[int]:
    """Ask for both versions that are to move, and return the records."""
    first = waive(shop, FIRST[0], "--with", FIRST[1])["serial"]
    second = waive(shop, FIRST[1], "--with", FIRST[0])["serial"]
    return [first, second]


def test_a_waiver_counts_once_a_second_person_said_yes(asked: Shop, act: Become) -> None:
    first, second = both(asked)
    answer = asked.promote(*FIRST, to="production", code=8)
    assert "nobody else has approved it" in str(answer["problems"])
    for who, why in ((ADA, "asked for it"), (BEN, "has not the role release"), (DOE, "is not among"), (BOT, "agent")):
        act(who)
        said = consent(asked, first, code=8)
        assert (asked.codes(said), why in str(said["problems"])) == (["approval-not-counted"], True)
    act(CYD)
    assert consent(asked, first)["waivers"] == [{"serial": first, "rule": "APP-1", "counts": True}]
    asked.promote(*FIRST, to="production", code=8)
    consent(asked, second)
    before = asked.files()
    assert asked.codes(consent(asked, second), "note") == ["unchanged"]
    assert asked.files() == before
    act(ADA)
    told = asked.promote(*FIRST, to="production")
    assert asked.codes(told, "warning").count("rule-waived") == 2
    asked.pawl("verify")


def test_a_waiver_ends_and_is_for_one_digest(asked: Shop, act: Become, monkeypatch: pytest.MonkeyPatch) -> None:
    serials = both(asked)
    act(CYD)
    for serial in serials:
        consent(asked, serial)
    act(ADA)
    set_clock(monkeypatch, "2999-03-08T12:00:00Z")
    assert "it ended at 2999-03-08T12:00:00Z" in str(asked.promote(*FIRST, to="production", code=8)["problems"])
    set_clock(monkeypatch, "2999-03-08T11:59:59Z")
    asked.edit(
        "procedures/support/refund-draft.yaml", ("version: 1.0.0", "version: 1.0.1"), ("summary: ", "summary: And ")
    )
    asked.pawl("publish")
    asked.promote("support/refund-draft@1.0.1", to="staging")
    answer = asked.promote(FIRST[0], "support/refund-draft@1.0.1", to="production", code=8)
    assert "it is for another version" in str(answer["problems"])
    assert "it is for another closure" in str(answer["problems"])
    asked.promote(*FIRST, to="production")


def test_a_range_is_for_what_is_in_it(asked: Shop, act: Become) -> None:
    waive(asked, "support/refund", "--versions", ">=1,<2")
    serial = waive(asked, "support/refund-draft", "--versions", "==1.0.0")["serial"]
    act(CYD)
    consent(asked, serial - 1)
    consent(asked, serial)
    act(ADA)
    asked.promote(*FIRST, to="production")
    asked.second()
    asked.pawl("publish")
    asked.promote(*SECOND, to="staging")
    assert "it is for versions >=1,<2" in str(asked.promote(*SECOND, to="production", code=8)["problems"])


REFUSED = [
    ("OWN-1", FIRST[0], "P7D", (), 3, "rule-not-waivable"),
    ("NO-1", FIRST[0], "P7D", (), 3, "rule-unknown"),
    ("app-1", FIRST[0], "P7D", (), 3, "rule-unknown"),
    ("APP-1", FIRST[0], "P15D", (), 3, "waiver-too-long"),
    ("pawl:fewer-tests", FIRST[0], "P31D", (), 3, "waiver-too-long"),
    ("pawl:fewer-tests", FIRST[0], "P7D", ("--action", "promote,rollback"), 2, "action-bad"),
    ("APP-1", FIRST[0], "P7D", ("--action", "remove"), 2, "usage"),
    ("APP-1", "support/refund", "P7D", (), 2, "waiver-of-what"),
    ("APP-1", FIRST[0], "P7D", ("--versions", ">=1"), 2, "waiver-of-what"),
    ("APP-1", "support/refund", "P7D", ("--versions", "about 1"), 2, "versions-bad"),
    ("APP-1", "support/refund", "P7D", ("--versions", " "), 2, "versions-bad"),
    ("APP-1", "support/refund@9.0.0", "P7D", (), 1, "version-unknown"),
    ("APP-1", "support/nothing", "P7D", ("--versions", ">=1"), 1, "name-unknown"),
    ("APP-1", FIRST[0], "P7D", ("--until", "2999-04-01"), 2, "usage"),
    ("APP-1", FIRST[0], "P7D", ("--break-glass",), 2, "review-missing"),
    ("APP-1", FIRST[0], "P7D", ("--review-by", "2999-03-02"), 2, "review-missing"),
    ("APP-1", FIRST[0], "P7D", ("--break-glass", "--review-by", "2999-03-03"), 3, "waiver-too-long"),
    ("APP-1", FIRST[0], "P7D", ("--break-glass", "--review-by", "2999-02-01"), 2, "end-past"),
    ("pawl:fewer-tests", FIRST[0], "P7D", ("--break-glass", "--review-by", "2999-03-02"), 3, "glass-kept"),
]


@pytest.mark.parametrize(("rule", "what", "end", "more", "code", "problem"), REFUSED)
def test_what_can_be_no_waiver_is_not_recorded(
    asked: Shop, rule: str, what: str, end: str, more: tuple[str, ...], code: int, problem: str
) -> None:
    before = asked.files()
    answer = waive(asked, what, *more, rule=rule, end=end, code=code)
    assert asked.codes(answer) == [problem]
    assert asked.files() == before


def test_the_cap_is_named(asked: Shop) -> None:
    assert "14 days (P14D)" in waive(asked, FIRST[0], end="P15D", code=3)["problems"][0]["message"]
    waive(asked, FIRST[0], end="P14D")


def test_the_same_again_writes_nothing_and_a_dry_run_neither(asked: Shop) -> None:
    before = asked.files()
    assert waive(asked, FIRST[0], "--dry-run")["status"] == "would"
    assert asked.files() == before
    waive(asked, FIRST[0])
    before = asked.files()
    assert asked.codes(waive(asked, FIRST[0]), "note") == ["unchanged"]
    assert asked.files() == before


def test_no_waiver_is_an_approval(asked: Shop, act: Become) -> None:
    act(BEN)  # who could approve, asks for a waiver instead
    serial = both(asked)[0]
    record = asked.pawl("history", "production")["records"][-1]
    assert (record["action"], record["serial"]) == ("waive", serial + 1)
    assert '"approvals"' not in asked.read(f"releases/production/{serial:06d}.json")
    act(ADA)
    asked.promote(*FIRST, to="production", code=8)


def test_breaking_the_glass(asked: Shop, act: Become, monkeypatch: pytest.MonkeyPatch) -> None:
    glass = ("--break-glass", "--review-by", "2999-03-02T12:00:00Z")
    act(ADA)  # has not the role that approves waivers
    refused = waive(asked, FIRST[0], *glass, "--with", FIRST[1], code=8)
    assert asked.codes(refused) == ["waiver-not-counted"]
    assert "cannot break the glass" in refused["problems"][0]["message"]
    act(CYD)
    first = waive(asked, FIRST[0], *glass, "--with", FIRST[1])
    second = waive(asked, FIRST[1], *glass, "--with", FIRST[0])
    assert (first["counts"], asked.codes(first, "note")) == (True, ["waiver-pending"])
    act(ADA)
    set_clock(monkeypatch, "2999-03-02T12:00:00Z")
    assert "its review was due" in str(asked.promote(*FIRST, to="production", code=8)["problems"])
    set_clock(monkeypatch, "2999-03-02T11:59:59Z")
    asked.promote(*FIRST, to="production")
    act(CYD)
    assert "asked for it" in str(consent(asked, second["serial"], code=8)["problems"])


def test_fewer_tests_are_waived_by_name(asked: Shop, act: Become) -> None:
    act(BEN)
    asked.pawl("approve", *FIRST, "--channel", "production", "--reason", "fine")
    act(ADA)
    asked.promote(*FIRST, to="production")
    asked.edit(
        "procedures/support/refund-draft.yaml", ("version: 1.0.0", "version: 1.0.1"), ("summary: ", "summary: And ")
    )
    asked.pawl("publish")
    new = "support/refund-draft@1.0.1"
    asked.promote(new, to="staging")
    suite = asked.read("conformance/refund-draft.yaml")
    cases = suite.split("\n  - id: ")
    asked.write("conformance/refund-draft.yaml", "\n  - id: ".join(cases[:-1]) + "\n")
    act(BEN)
    asked.pawl("approve", new, FIRST[0], "--channel", "production", "--reason", "fine")
    act(ADA)
    assert asked.codes(asked.promote(new, to="production", code=4)) == ["fewer-tests"]
    serial = waive(asked, new, rule="pawl:fewer-tests")["serial"]
    asked.promote(new, to="production", code=4)
    act(BEN)
    consent(asked, serial)
    act(ADA)
    assert "tests-waived" in asked.codes(asked.promote(new, to="production"), "warning")


def test_a_safety_rule_is_waived_for_the_way_back_too(asked: Shop, act: Become) -> None:
    rule = APPROVALS.replace("class: readiness", "class: safety").replace(
        "approvals: {count: 1, roles: [risk]}", 'require: \'procedure.kind != "prompt" || channel == "staging"\''
    )
    body = rule.partition("    tests:")[0] + (
        "    tests:\n      - {name: tool, procedure: {kind: tool}, channel: production, expect: allowed}\n"
        "      - {name: prompt, procedure: {kind: prompt}, channel: production, expect: denied}\n"
    )
    asked.write("registry/policies/approvals.yaml", body)
    asked.adopt("another rule")
    assert "rule-failed" in asked.codes(asked.promote(*FIRST, to="production", code=3))
    serial = waive(asked, FIRST[1], "--action", "promote,rollback,audit")["serial"]
    act(CYD)
    consent(asked, serial)
    act(ADA)
    asked.promote(*FIRST, to="production")
    assert "rule-waived" in asked.codes(asked.pawl("audit", "--channel", "production"), "warning")


def test_the_glass_is_not_broken_again_before_the_missed_review(
    asked: Shop, act: Become, monkeypatch: pytest.MonkeyPatch
) -> None:
    act(CYD)
    glass = ("--break-glass", "--review-by")
    serial = waive(asked, FIRST[0], *glass, "2999-03-02T00:00:00Z")["serial"]
    waive(asked, FIRST[0], "--with", FIRST[1], *glass, "2999-03-02T06:00:00Z")
    set_clock(monkeypatch, "2999-03-02T12:00:00Z")
    before = asked.files()
    answer = waive(asked, "support/refund", "--versions", ">=1", *glass, "2999-03-03T00:00:00Z", code=3)
    assert asked.codes(answer) == ["review-missed"]
    assert f"waiver {serial} of rule APP-1" in answer["problems"][0]["message"]
    assert asked.files() == before
    waive(asked, FIRST[1], *glass, "2999-03-03T00:00:00Z")
    waive(asked, FIRST[0])


def test_who_made_the_version_does_not_consent_to_do_without_approvals(
    asked: Shop, act: Become, monkeypatch: pytest.MonkeyPatch
) -> None:
    act(CYD)
    asked.edit("procedures/support/refund-draft.yaml", ("version: 1.0.0", "version: 1.0.1"))
    asked.edit("procedures/support/refund-draft.yaml", ("summary: ", "summary: And "))
    asked.pawl("publish")
    act(ADA)
    serial = waive(asked, "support/refund-draft@1.0.1")["serial"]
    act(CYD)
    answer = consent(asked, serial, code=8)
    assert "made the version" in answer["problems"][0]["message"]
