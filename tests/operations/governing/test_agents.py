"""What an AI agent may not do: put rules in force, or lift what somebody stopped. It may stop things."""

from __future__ import annotations

import pytest

from people import ADA, APPROVALS, BOT, CYD, become, set_clock, with_people
from support import FIRST, Shop

WHY = ("--reason", "it seems fine")
ON = ("--channel", "production", *WHY)
LOOSENS = {
    "policy adopt": ("policy", "adopt", *WHY),
    "unfreeze": ("unfreeze", "production", *WHY),
    "resume": ("resume", "support/refund", *ON),
    "unreject": ("unreject", FIRST[0], *ON),
    "restore": ("restore", FIRST[0], *WHY),
}


@pytest.fixture
def stopped(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Version 1 on both channels; then an agent by its role freezes, halts, rejects and yanks."""
    set_clock(monkeypatch, "2999-03-01T12:00:00Z")
    become(monkeypatch, ADA)
    with_people(shop, APPROVALS.replace("channels: [production]", "names: [other/*]"))
    shop.release_first()
    become(monkeypatch, BOT)
    shop.reach(_stopped)
    return shop


def _stopped(shop: Shop) -> None:
    shop.pawl("freeze", "production", *WHY, "--for", "P1D")
    shop.pawl("halt", "support/refund", *ON)
    shop.pawl("reject", FIRST[0], *ON)
    shop.pawl("yank", FIRST[0], *WHY)
    shop.edit("registry/policies/approvals.yaml", ("Somebody of risk says yes.", "Somebody says yes."))


@pytest.mark.parametrize("command", LOOSENS)
@pytest.mark.parametrize("who", [BOT, CYD])
def test_an_agent_stops_things_and_loosens_none(
    stopped: Shop, monkeypatch: pytest.MonkeyPatch, command: str, who: str
) -> None:
    become(monkeypatch, who)
    if who == CYD:
        monkeypatch.setenv("PAWL_ACTOR_KIND", "agent")
    before = stopped.files()
    answer = stopped.pawl(*LOOSENS[command], code=3)
    assert stopped.codes(answer) == ["agent-decides"]
    assert stopped.files() == before
    become(monkeypatch, CYD)
    monkeypatch.delenv("PAWL_ACTOR_KIND", raising=False)
    assert stopped.pawl(*LOOSENS[command])["status"] in {"done", "unchanged"}
    if command != "policy adopt":
        assert stopped.files() != before
