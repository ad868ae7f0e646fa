"""What stands on a channel: which approvals and consents count, as those who give them are told."""

from __future__ import annotations

from typing import Any

import pytest

from people import ADA, BEN, BOT, CYD, DOE, Become
from support import FIRST, Shop, in_process


def approve(shop: Shop, *words: str, code: int = 0) -> None:
    shop.pawl("approve", *words, "--channel", "production", "--reason", "read it", code=code)


def approvals(shop: Shop) -> dict[tuple[str, str], tuple[bool, str | None]]:
    rows = production(shop)["approvals"]
    return {(row["by"]["name"], row["ref"]): (row["counts"], row["why"]) for row in rows}


def production(shop: Shop) -> dict[str, Any]:
    (found,) = [row for row in shop.pawl("status")["channels"] if row["channel"] == "production"]
    assert isinstance(found, dict)
    return found


def text(shop: Shop) -> str:
    return in_process("-C", str(shop.root), "status").out


@pytest.mark.parametrize(
    ("who", "why"),
    [(ADA, "nobody approves their own"), (CYD, "not the role risk"), (DOE, "not among"), (BOT, "an AI agent")],
)
def test_an_approval_that_counts_for_nothing_is_listed_apart(asked: Shop, act: Become, who: str, why: str) -> None:
    act(who)
    approve(asked, *FIRST, code=8)
    found = approvals(asked)
    assert [(False, True)] * 2 == [(counts, why in str(said)) for counts, said in found.values()]
    act(BEN)
    approve(asked, *FIRST)
    assert [(True, None)] * 2 == [approvals(asked)[BEN, ref] for ref in FIRST]
    good, _, bad = text(asked).partition("APPROVED, NOT COUNTED")
    assert (False, True) == (f"{who} <" in good.partition("APPROVED")[2], f"{who} <" in bad)
    assert "Ben <" in good


def test_what_is_live_by_an_approval_stays_approved(asked: Shop, act: Become) -> None:
    act(BEN)
    approve(asked, FIRST[1])
    approve(asked, *FIRST)  # the record is of the first alone, whose closure has the other
    act(ADA)
    asked.promote(*FIRST, to="production")
    assert {(BEN, ref): (True, None) for ref in FIRST} == approvals(asked)


def test_an_approval_under_an_earlier_policy_does_not_count(asked: Shop, act: Become) -> None:
    act(BEN)
    approve(asked, *FIRST)
    act(ADA)
    asked.edit("registry/policies/approvals.yaml", ("Somebody of risk says yes.", "Risk says yes."))
    asked.adopt("other words")
    assert [(False, True)] * 2 == [
        (counts, "under policy 1, and this is policy 2" in str(why)) for counts, why in approvals(asked).values()
    ]


def test_a_yes_to_a_waiver_that_does_not_count_is_told_as_such(asked: Shop, act: Become) -> None:
    words = ("--for", "P7D", "--owner", "payments", "--reason", "the fair is on", "--action", "promote")
    serial = str(asked.pawl("waive", "APP-1", FIRST[1], "--channel", "production", *words)["serial"])
    for who, code in ((BEN, 8), (CYD, 0)):
        act(who)
        approve(asked, "--waiver", serial, code=code)
        (row,) = production(asked)["waivers"]
        assert (code == 0) == row["approved_by"][-1]["counts"]
        told = {8: "nobody; not counted: Ben <", 0: "Cyd <cyd@example.invalid>; not counted: Ben <"}
        assert told[code] in text(asked)
