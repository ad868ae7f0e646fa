"""What users of other systems said about approvals, waivers and freezes."""

from __future__ import annotations

from typing import Any

import pytest

from people import ADA, APPROVALS, BEN, BOT, CYD, DOE, Become, become, set_clock, stage
from support import FIRST, SECOND, Shop

NEW = "support/refund-draft@1.0.1"
WAIVABLE = """\
policy: drafts
owner: compliance
rules:
  - id: DRA-1
    class: safety
    level: waivable
    enforce_live: true
    applies: {channels: [production]}
    require: 'procedure.kind != "prompt"'
    message: No prompt is live.
    tests:
      - {name: a prompt, procedure: {kind: prompt}, channel: production, expect: denied}
      - {name: a tool, procedure: {kind: tool}, channel: production, expect: allowed}
"""


@pytest.fixture
def act(monkeypatch: pytest.MonkeyPatch) -> Become:
    set_clock(monkeypatch, "2999-03-01T12:00:00Z")
    become(monkeypatch, ADA)
    return lambda who: become(monkeypatch, who)


@pytest.fixture
def asked(shop: Shop, act: Become) -> Shop:
    """Version 1 on staging; production wants an approval by risk."""
    stage(shop)
    act(ADA)
    return shop


def approve(shop: Shop, *refs: str, code: int = 0) -> dict[str, Any]:
    return shop.pawl("approve", *refs, "--channel", "production", "--reason", "looked at it", code=code)


def publish_draft(shop: Shop, version: str) -> None:
    path = "procedures/support/refund-draft.yaml"
    text = shop.read(path)
    before = text.partition("version: ")[2].split()[0]
    shop.edit(path, (f"version: {before}", f"version: {version}"), ("summary: ", "summary: And "))
    shop.pawl("publish")
    shop.promote(f"support/refund-draft@{version}", to="staging")


def test_atlantis_4243_only_who_may_approve_counts(asked: Shop, act: Become) -> None:
    for who in (ADA, CYD, DOE, BOT):
        act(who)
        approve(asked, *FIRST, code=8)
        row = asked.pawl("history", "production")["records"][-1]
        assert (row["action"], row["actor"]["name"]) == ("approve", who)
        act(ADA)
        assert set(asked.codes(asked.promote(*FIRST, to="production", code=8))) == {"approval-needed"}
    act(BEN)
    approve(asked, *FIRST)
    act(ADA)
    asked.promote(*FIRST, to="production")


def test_atlantis_4962_who_is_not_verified_does_not_count(asked: Shop, act: Become) -> None:
    rule = APPROVALS.replace("roles: [risk]}\n    message", "roles: [risk], verified: true}\n    message")
    asked.write("registry/policies/approvals.yaml", rule)
    asked.adopt("signed")
    act(BEN)
    assert "is not verified by a signature" in approve(asked, *FIRST, code=8)["problems"][0]["message"]
    assert asked.pawl("history", "production")["records"][-1]["action"] == "approve"
    act(ADA)
    asked.promote(*FIRST, to="production", code=8)


def test_objectstack_ai_objectstack_4466_an_exception_is_no_approval(asked: Shop, act: Become) -> None:
    given = ("--channel", "production", "--owner", "payments", "--reason", "the fair is on", "--for", "P7D")
    asked.pawl("waive", "OWN-1", FIRST[0], *given, "--action", "promote", code=3)
    serial = asked.pawl("waive", "APP-1", FIRST[0], *given, "--action", "promote")["serial"]
    record = asked.read(f"releases/production/{serial:06d}.json")
    for word in ('"action": "waive"', '"rule": "APP-1"', '"until": "2999-03-08T12:00:00Z"', '"digest": "sha256:'):
        assert word in record
    assert '"approvals"' not in record
    assert asked.pawl("history", "production")["records"][-1]["reason"] == "the fair is on"


CHANGED: dict[str, str] = {
    "policy": "approved under policy 1, and this is policy 2",
    "closure": "approved support/refund@1.0.0 with another closure",
    "order": "approved under policy 1, and this is policy 2",
}


@pytest.mark.parametrize("what", CHANGED)
def test_kargo_2365_what_changed_is_approved_anew(asked: Shop, act: Become, what: str) -> None:
    act(BEN)
    approve(asked, *FIRST)
    act(ADA)
    refs = FIRST
    if what == "closure":
        publish_draft(asked, "1.0.1")
        refs = (FIRST[0], NEW)
    elif what == "order":
        asked.edit("registry/registry.yaml", ("channels:", "channels:\n  trial: {}"))
        asked.adopt("another order")
    else:
        asked.edit("registry/policies/approvals.yaml", ("says yes", "agrees"))
        asked.adopt("other words")
    assert CHANGED[what] in str(asked.promote(*refs, to="production", code=8)["problems"])


def test_kyverno_14491_an_exception_has_an_end(asked: Shop) -> None:
    before = asked.files()
    words = ("APP-1", FIRST[0], "--channel", "production", "--action", "promote", "--owner", "o", "--reason", "r")
    for end in ((), ("--until", ""), ("--for", "P0D"), ("--until", "never")):
        asked.pawl("waive", *words, *end, code=2)
    asked.pawl("waive", *words, "--until", "9999-01-01", code=3)
    assert asked.files() == before


@pytest.fixture
def excepted(asked: Shop, act: Become) -> Shop:
    """Drafts 1.0.0 and then 1.0.1 live by a waiver until the eighth of March; 1.0.2 on staging, approved by nobody."""
    asked.write("registry/policies/drafts.yaml", WAIVABLE)
    asked.adopt("no prompts")
    words = ("--channel", "production", "--owner", "o", "--reason", "r", "--for", "P7D")
    actions = "promote,rollback,resolve,audit"
    waiver = asked.pawl("waive", "DRA-1", "support/refund-draft", "--versions", "<2", *words, "--action", actions)
    act(BEN)
    asked.pawl("approve", "--waiver", str(waiver["serial"]), "--channel", "production", "--reason", "for the fair")
    approve(asked, *FIRST)
    act(ADA)
    asked.promote(*FIRST, to="production")
    publish_draft(asked, "1.0.1")
    act(BEN)
    approve(asked, NEW, FIRST[0])
    act(ADA)
    asked.promote(NEW, to="production")
    publish_draft(asked, "1.0.2")
    return asked


def verdicts(shop: Shop, *, over: bool) -> dict[str, tuple[int, bool]]:
    """Ask on every path; return each one's exit code and whether rule DRA-1 is among what refuses."""

    def told(answer: dict[str, Any]) -> tuple[int, bool]:
        return answer["exit_code"], "DRA-1" in str([row for row in answer["problems"] if row["severity"] == "error"])

    newest, name = "support/refund-draft@1.0.2", "support/refund-draft"
    code, bad = (3, 3) if over else (8, 0)
    dry = ("--reason", "r", "--dry-run")
    channel = ("--channel", "production")
    found = {
        "promote": told(shop.promote(newest, to="production", code=code)),
        "several": told(shop.promote(newest, FIRST[0], to="production", code=code)),
        "dry": told(shop.pawl("promote", newest, "--to", "production", *dry, code=code)),
        "rollback": told(shop.pawl("rollback", name, "--to", "1.0.0", *channel, *dry, code=bad)),
        "resolve": told(shop.pawl("resolve", name, *channel, code=bad)),
        "audit": told(shop.pawl("audit", *channel, code=bad)),
    }
    (target,) = shop.pawl("targets", name, *channel)["targets"]
    found["targets"] = (0 if target["allowed"] else 3, "DRA-1" in str(target))
    shop.edit("procedures/support/refund-draft.yaml", ("summary: And", "summary: And and"), ("1.0.2", "1.0.3"))
    asked = {row["channel"]: row for row in shop.pawl("check", code=1 if over else 0)["channels"]}
    findings = [row for row in asked["production"]["findings"] if row["status"] == "failed"]
    found["check"] = (asked["production"]["exit_code"], "DRA-1" in str(findings))
    assert over or "APP-1" in str(asked["production"]["needs"])
    return found


def test_artifact_keeper_artifact_keeper_2010_every_path_knows_the_end(
    excepted: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = verdicts(excepted, over=False)
    assert {path for path, (_, refuses) in before.items() if refuses} == set()
    excepted.edit("procedures/support/refund-draft.yaml", ("1.0.3", "1.0.2"), ("summary: And and", "summary: And"))
    set_clock(monkeypatch, "2999-03-08T12:00:00Z")  # the very moment
    after = verdicts(excepted, over=True)
    assert after == dict.fromkeys(after, (3, True))


def test_artifact_keeper_artifact_keeper_2010_a_plan_knows_the_end_too(
    excepted: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    (excepted.root / "registry/policies/drafts.yaml").unlink()
    assert excepted.pawl("policy", "plan")["changes"] == []
    set_clock(monkeypatch, "2999-03-08T12:00:00Z")
    changes = excepted.pawl("policy", "plan")["changes"]
    told = {(row["channel"], row["version"], row["role"], *row["no_longer_broken"]) for row in changes}
    assert {("production", "1.0.1", "live", "DRA-1"), ("production", "1.0.0", "target", "DRA-1")} <= told


def test_argo_cd_29558_a_freeze_says_whom_and_what_it_spares(shop: Shop, act: Become) -> None:
    shop.edit("registry/registry.yaml", ("channels:", "people: {ben@example.invalid: [release]}\nchannels:"))
    shop.release_first()
    shop.second()
    shop.pawl("publish")
    shop.promote(*SECOND, to="staging")
    spares = ("--spare-role", "release", "--spare-name", "support/faq*", "--spare-label", "risk=low")
    serial = shop.pawl("freeze", "production", "--reason", "the fair is on", "--for", "P7D", *spares)["serial"]
    refused = shop.promote(*SECOND, to="production", code=7)
    assert set(shop.codes(refused)) == {"frozen"}
    record = shop.read(f"releases/production/{serial:06d}.json")
    for word in ('"release"', '"support/faq*"', '"risk": "low"', '"until": "2999-03-08T12:00:00Z"'):
        assert word in record
    act(BEN)
    shop.promote(*SECOND, to="production")


def test_argo_cd_11817_no_edit_gets_round_a_freeze(shop: Shop, act: Become) -> None:
    act(ADA)
    shop.release_first()
    shop.second()
    shop.pawl("publish")
    shop.promote(*SECOND, to="staging")
    shop.pawl("freeze", "production", "--reason", "the fair is on", "--for", "P7D")
    shop.edit("registry/channels/production.json", ("2999-03-08T12:00:00Z", "2999-03-01T12:00:01Z"))
    assert "projection-damaged" in shop.codes(shop.pawl("verify", code=6))
    shop.promote(*SECOND, to="production", code=6)


def test_argo_rollouts_1292_unfreeze_of_an_open_channel_does_nothing(released: Shop) -> None:
    before = released.files()
    answer = released.pawl("unfreeze", "production", "--reason", "r")
    assert (answer["status"], "is open" in answer["problems"][0]["message"]) == ("unchanged", True)
    assert released.files() == before
