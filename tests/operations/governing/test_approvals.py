"""Approvals from end to end: what one is bound to, whose counts, and what ends it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from people import ADA, APPROVALS, BEN, BOT, CYD, DOE, Become, become, set_clock, stage, with_people
from support import FIRST, Shop


@pytest.fixture
def act(monkeypatch: pytest.MonkeyPatch) -> Become:
    return lambda who: become(monkeypatch, who)


@pytest.fixture
def asked(shop: Shop) -> Shop:
    """Version 1 on staging; production wants an approval by risk."""
    return stage(shop)


def approve(shop: Shop, *words: str, code: int = 0, channel: str = "production") -> dict[str, Any]:
    return shop.pawl("approve", *words, "--channel", channel, "--reason", "looked at it", code=code)


def test_somebody_else_with_the_role_lets_it_pass(asked: Shop, act: Become) -> None:
    assert set(asked.codes(asked.promote(*FIRST, to="production", code=8))) == {"approval-needed"}
    mine = approve(asked, *FIRST, code=8)
    assert (mine["status"], asked.codes(mine)) == ("refused", ["approval-not-counted"] * 2)
    assert "nobody approves their own version" in mine["problems"][0]["message"]
    asked.promote(*FIRST, to="production", code=8)
    act(BEN)
    answer = approve(asked, *FIRST)
    assert [(row["ref"], row["counts"], row["policy"]) for row in answer["approvals"]] == [
        (ref, True, 1) for ref in FIRST
    ]
    act(ADA)
    asked.promote(*FIRST, to="production")
    rows = [row["action"] for row in asked.pawl("history", "production")["records"]]
    assert rows == ["refused", "approve", "refused", "approve", "promote"]
    asked.pawl("verify")


def test_the_one_who_asks_does_not_count(asked: Shop, act: Become) -> None:
    act(BEN)
    approve(asked, *FIRST)
    answer = asked.promote(*FIRST, to="production", code=8)
    assert "nobody approves their own request" in str(answer["problems"])


@pytest.mark.parametrize(
    ("who", "why"),
    [
        (CYD, "has not the role risk"),
        (DOE, "is not among the adopted people"),
        (BOT, "is an AI agent"),
        (ADA, "made it"),
    ],
)
def test_a_yes_that_does_not_count_is_a_row_and_8(asked: Shop, act: Become, who: str, why: str) -> None:
    act(who)
    answer = approve(asked, *FIRST, code=8)
    assert why in answer["problems"][0]["message"]
    assert answer["by"]["kind"] == {BOT: "agent", DOE: "unknown"}.get(who, "human")
    assert asked.pawl("history", "production")["records"][-1]["action"] == "approve"
    act(ADA)
    asked.promote(*FIRST, to="production", code=8)


def test_an_agent_by_the_environment_never_approves(asked: Shop, act: Become, monkeypatch: pytest.MonkeyPatch) -> None:
    act(BEN)
    monkeypatch.setenv("PAWL_ACTOR_KIND", "agent")
    assert "is an AI agent" in approve(asked, *FIRST, code=8)["problems"][0]["message"]
    monkeypatch.delenv("PAWL_ACTOR_KIND")
    approve(asked, *FIRST)  # the same person, by hand: no repetition of the attempt before
    act(ADA)
    asked.promote(*FIRST, to="production")


def change_rules(shop: Shop) -> None:
    shop.edit("registry/policies/approvals.yaml", ("Somebody of risk says yes.", "Somebody of risk agrees."))
    shop.adopt("other words")


def lose_role(shop: Shop) -> None:
    shop.edit("registry/registry.yaml", ("ben@example.invalid: [risk]", "ben@example.invalid: [release]"))
    shop.adopt("roles change")


def lose_role_where_policies_do_not_matter(shop: Shop) -> None:
    shop.edit(
        "registry/policies/approvals.yaml",
        ("roles: [risk]}\n    message", "roles: [risk], any_policy: true}\n    message"),
    )
    lose_role(shop)


def move_something_it_requires(shop: Shop) -> None:
    """The draft moves to 1.0.1 where it is live, so that the workflow would have another closure."""
    draft = "procedures/support/refund-draft.yaml"
    shop.edit(draft, ("version: 1.0.0", "version: 1.0.1"), ("summary: ", "summary: Once more. "))
    shop.pawl("publish")
    shop.promote("support/refund-draft@1.0.1", to="staging")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (change_rules, "approved under policy 1, and this is policy 2"),
        (lose_role, "approved under policy 1, and this is policy 2"),
        (lose_role_where_policies_do_not_matter, "has not the role risk"),
    ],
)
def test_what_was_approved_is_asked_for_again(
    asked: Shop, act: Become, change: Callable[[Shop], None], words: str
) -> None:
    act(BEN)
    approve(asked, *FIRST)
    act(ADA)
    change(asked)
    answer = asked.promote(*FIRST, to="production", code=8)
    assert words in str(answer["problems"])


def test_another_closure_is_asked_for_again(asked: Shop, act: Become) -> None:
    act(BEN)
    approve(asked, *FIRST)
    act(ADA)
    move_something_it_requires(asked)
    answer = asked.promote(FIRST[0], "support/refund-draft@1.0.1", to="production", code=8)
    assert "approved support/refund@1.0.0 with another closure" in str(answer["problems"])
    assert "approved support/refund-draft@1.0.0" in str(answer["problems"])


def test_what_stays_and_requires_it_is_approved_with_it(asked: Shop, act: Become) -> None:
    act(BEN)
    approve(asked, *FIRST)
    act(ADA)
    asked.promote(*FIRST, to="production")
    move_something_it_requires(asked)
    act(BEN)
    answer = approve(asked, "support/refund-draft@1.0.1")
    (note,) = [row for row in answer["problems"] if row["code"] == "approval-needed"]
    assert "support/refund@1.0.0 is pinned, requires what is approved" in note["message"]
    words = note["hint"].split()[2:4]
    act(ADA)
    asked.promote("support/refund-draft@1.0.1", to="production", code=8)
    act(BEN)
    approve(asked, *words)  # as the hint says
    act(ADA)
    asked.promote("support/refund-draft@1.0.1", to="production")


def test_the_hint_of_a_refusal_leads_on(asked: Shop, act: Become) -> None:
    answer = asked.promote(*FIRST, to="production", code=8)
    hint = next(row["hint"] for row in answer["problems"] if row["code"] == "approval-needed")
    refs = [word for word in hint.split() if "@" in word]
    assert set(refs) == set(FIRST)
    act(BEN)
    approve(asked, *refs)
    act(ADA)
    asked.promote(*FIRST, to="production")


def test_the_same_again_writes_nothing(asked: Shop, act: Become) -> None:
    act(BEN)
    approve(asked, *FIRST)
    before = asked.files()
    assert asked.codes(approve(asked, *FIRST), "note") == ["unchanged"]
    assert asked.codes(approve(asked, FIRST[1]), "note") == ["unchanged"]
    assert asked.files() == before
    longer = approve(asked, *FIRST, "--for", "P60D")
    assert (longer["status"], len(longer["approvals"])) == ("done", 2)


def test_a_dry_run_says_the_same_and_writes_nothing(asked: Shop, act: Become) -> None:
    before = asked.files()
    assert approve(asked, *FIRST, "--dry-run", code=8)["status"] == "would-refuse"
    act(BEN)
    answer = approve(asked, *FIRST, "--dry-run")
    assert (answer["status"], answer["serial"], answer["commit"]) == ("would", None, None)
    assert asked.files() == before


def test_what_can_be_no_approval(asked: Shop, act: Become) -> None:
    act(BEN)
    before = asked.files()
    cases: tuple[tuple[int, tuple[str, ...]], ...] = (
        (2, ()),
        (
            2,
            (
                FIRST[0],
                "--waiver",
                "1",
            ),
        ),
        (
            2,
            (
                FIRST[0],
                FIRST[0],
            ),
        ),
        (
            2,
            (
                FIRST[0],
                "--until",
                "2020-01-01",
            ),
        ),
        (
            2,
            (
                FIRST[0],
                "--for",
                "P367D",
            ),
        ),
        (
            2,
            (
                FIRST[0],
                "--for",
                "P1D",
                "--until",
                "2999-01-01",
            ),
        ),
        (
            2,
            (
                "--waiver",
                "1",
                "--for",
                "P1D",
            ),
        ),
        (1, ("support/refund@9.0.0",)),
        (1, ("support/nothing@1.0.0",)),
        (
            1,
            (
                "--waiver",
                "1",
            ),
        ),
    )
    for code, words in cases:
        approve(asked, *words, code=code)
    approve(asked, FIRST[0], code=1, channel="elsewhere")
    assert asked.files() == before


def test_nothing_is_approved_without_a_policy(shop: Shop) -> None:
    shop.pawl("publish")
    assert shop.codes(approve(shop, FIRST[0], code=3)) == ["no-policy"]


def test_where_nobody_asks_it_is_said(asked: Shop, act: Become) -> None:
    act(BEN)
    answer = approve(asked, *FIRST, channel="staging")
    assert asked.codes(answer, "note") == ["approval-not-asked"] * 2
    act(DOE)
    approve(asked, *FIRST, channel="staging", code=8)


def test_where_no_rule_of_the_policy_is_about_approvals_it_is_said_as_well(shop: Shop, act: Become) -> None:
    with_people(shop)
    (shop.root / "registry/policies/approvals.yaml").unlink()
    shop.publish_first()
    act(BEN)
    answer = approve(shop, *FIRST, channel="staging")
    assert shop.codes(answer, "note") == ["approval-not-asked"] * 2
    assert approve(shop, *FIRST, channel="staging")["status"] == "unchanged"
    act(DOE)
    approve(shop, *FIRST, channel="staging", code=8)


def test_two_rules_count_each_their_own(shop: Shop, act: Become) -> None:
    second = APPROVALS.partition("rules:\n")[2].replace("APP-1", "APP-2")
    two = APPROVALS + second.replace("roles: [risk]}\n    message", "roles: [release]}\n    message").replace(
        "roles: [risk], verified", "roles: [release], verified"
    )
    with_people(shop, two)
    shop.publish_first()
    shop.promote(*FIRST, to="staging")
    act(BEN)
    answer = approve(shop, *FIRST)
    assert {row["rule"] for row in answer["problems"] if row["code"] == "approval-not-counted"} == {"APP-2"}
    assert {row["rule"] for row in answer["problems"] if row["code"] == "approval-needed"} == {"APP-2"}
    act(CYD)
    approve(shop, *FIRST)
    act(ADA)
    shop.promote(*FIRST, to="production")


def test_an_approval_ends(asked: Shop, act: Become, monkeypatch: pytest.MonkeyPatch) -> None:
    act(BEN)
    set_clock(monkeypatch, "2999-03-01T12:00:00Z")
    answer = approve(asked, *FIRST, "--until", "2999-03-02T12:00:00Z")
    assert answer["until"] == "2999-03-02T12:00:00Z"
    act(ADA)
    set_clock(monkeypatch, "2999-03-02T12:00:00Z")
    assert "which is over" in str(asked.promote(*FIRST, to="production", code=8)["problems"])
    set_clock(monkeypatch, "2999-03-02T11:59:59Z")
    asked.promote(*FIRST, to="production")


def test_without_an_end_it_is_thirty_days(asked: Shop, act: Become, monkeypatch: pytest.MonkeyPatch) -> None:
    act(BEN)
    set_clock(monkeypatch, "2999-03-01T12:00:00Z")
    assert approve(asked, *FIRST)["until"] == "2999-03-31T12:00:00Z"
