"""Who is verified, end to end: a signature counts for its record, its person, and as long as the key is allowed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from budgets import sweep
from pawl.canonical import record_bytes
from pawl.ids import Channel
from pawl.io.signatures import SigningKey, is_by, sign
from pawl.operations.governing import signed
from pawl.registry.channels import projection, state_digest
from pawl.registry.channels_fold import follow
from pawl.registry.journal import Actor, Record, seal
from pawl.registry.signatures import signed_of
from pawl.workspace import Workspace
from people import ADA, APPROVALS, BEN, CYD, address, become, make_key, set_clock, signer_line, with_people
from support import FIRST, Shop

SIGNERS = "registry/allowed_signers"
VERIFIED = APPROVALS.replace("roles: [risk]}\n    message", "roles: [risk], verified: true}\n    message")
Sign = Callable[[str, str | None], None]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("keys")
    return {who: make_key(folder, who) for who in (ADA, BEN, CYD)}


@pytest.fixture
def act(monkeypatch: pytest.MonkeyPatch, keys: dict[str, Path]) -> Sign:
    """Return a function to become somebody who signs with a key, their own where nothing else is said."""

    def become_with(who: str, key: str | None) -> None:
        become(monkeypatch, who)
        monkeypatch.setenv("PAWL_SIGNING_KEY", str(keys[key]) if key else "")

    return become_with


@pytest.fixture
def asked(shop: Shop, act: Sign, keys: dict[str, Path]) -> Shop:
    """Version 1 on staging; production wants a verified approval by risk, and Ada's and Ben's keys are adopted."""
    act(ADA, None)
    with_people(shop, VERIFIED)
    shop.write(SIGNERS, signer_line(ADA, keys[ADA]) + signer_line(BEN, keys[BEN]))
    shop.reach(Shop.to_staging)
    return shop


def approve(shop: Shop, code: int = 0) -> dict[str, Any]:
    return shop.pawl("approve", *FIRST, "--channel", "production", "--reason", "looked at it", code=code)


def promote(shop: Shop, code: int) -> str:
    """Promote dry, and return what was said."""
    refs = (*FIRST, "--to", "production", "--reason", "a release", "--dry-run")
    return str(shop.pawl("promote", *refs, code=code)["problems"])


def test_a_signature_makes_an_approval_count(asked: Shop, act: Sign) -> None:
    act(BEN, None)
    refused = approve(asked, code=8)
    assert (refused["signed"], refused["by"]["verified"]) == (False, False)
    assert "is not verified by a signature" in refused["problems"][0]["message"]
    act(BEN, BEN)
    answer = approve(asked)
    assert (answer["signed"], answer["by"]["verified"]) == (True, True)
    act(ADA, None)
    promote(asked, 0)
    asked.promote(*FIRST, to="production")
    asked.pawl("verify")


def test_the_key_of_git_signs(asked: Shop, monkeypatch: pytest.MonkeyPatch, keys: dict[str, Path]) -> None:
    become(monkeypatch, BEN)
    monkeypatch.delenv("PAWL_SIGNING_KEY")
    config = asked.root / ".git/config"
    text = config.read_text(encoding="utf-8")
    config.write_text(f"{text}[gpg]\n\tformat = ssh\n[user]\n\tsigningkey = {keys[BEN]}.pub\n", encoding="utf-8")
    assert approve(asked)["by"]["verified"]


def test_somebody_elses_key_shows_nothing(asked: Shop, act: Sign) -> None:
    for key in (ADA, CYD):  # known as another's; known to nobody
        act(BEN, key)
        answer = approve(asked, code=8)
        assert (answer["signed"], answer["by"]["verified"]) == (True, False)
        assert asked.codes(answer, "warning") == ["signature-unknown"]
    act(ADA, None)
    promote(asked, 8)
    asked.pawl("verify")  # they claim nothing


def test_a_key_that_is_taken_out_counts_no_more(asked: Shop, act: Sign, keys: dict[str, Path]) -> None:
    act(BEN, BEN)
    approve(asked)
    act(ADA, None)
    promote(asked, 0)
    whole = asked.read(SIGNERS)
    asked.write(SIGNERS, signer_line(ADA, keys[ADA]))
    assert "is not verified by a signature" in promote(asked, 8)
    (asked.root / SIGNERS).unlink()
    promote(asked, 8)
    asked.pawl("verify")  # it was true when it was recorded
    asked.write(SIGNERS, whole)
    promote(asked, 0)
    act(BEN, BEN)
    asked.write(SIGNERS, signer_line(ADA, keys[ADA]))
    assert approve(asked, code=8)["status"] == "refused"  # no repetition of one that counts


def test_a_key_that_a_change_brings_counts_once_it_is_adopted(asked: Shop, act: Sign, keys: dict[str, Path]) -> None:
    """Whoever adds a key in the pull request that needs it has gained nothing."""
    asked.write(SIGNERS, signer_line(ADA, keys[ADA]) + signer_line(BEN, keys[CYD]))
    act(BEN, CYD)
    assert not approve(asked, code=8)["by"]["verified"]
    act(ADA, None)
    promote(asked, 8)
    assert asked.adopt("another key")["policy"] == 2
    act(BEN, CYD)
    assert approve(asked)["by"]["verified"]
    act(ADA, None)
    promote(asked, 0)


def test_the_signers_are_part_of_what_is_adopted(asked: Shop, keys: dict[str, Path]) -> None:
    again = ("policy", "adopt", "--reason", "the same")
    assert asked.pawl(*again)["status"] == "unchanged"
    older = asked.read(SIGNERS)
    asked.write(SIGNERS, signer_line(CYD, keys[CYD]))
    assert asked.pawl(*again)["policy"] == 2
    asked.write(SIGNERS, older)
    assert asked.codes(asked.pawl(*again, code=3)) == ["policy-older"]
    assert asked.pawl(*again, "--again")["policy"] == 3


def test_a_key_that_has_run_out_counts_no_more(
    asked: Shop, act: Sign, keys: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    set_clock(monkeypatch, "2999-03-01T12:00:00Z")
    who, rest = signer_line(BEN, keys[BEN]).split(" ", 1)
    asked.write(SIGNERS, f'{who} valid-before="29990302" {rest}')
    asked.adopt("keys end")
    act(BEN, BEN)
    approve(asked)
    act(ADA, None)
    promote(asked, 0)
    set_clock(monkeypatch, "2999-03-02T00:00:01Z")
    promote(asked, 8)
    asked.pawl("verify")


# What somebody wrote by hand

SIGNATURES: dict[str, str | None] = {
    # by whose key the record is signed anew, or what stands there instead
    "by-ben": BEN,
    "by-ada": ADA,
    "by-nobody-known": CYD,
    "kept": "kept",
    "none": None,
    "no-text": "7",
    "rubbish": "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n",
}


def forge(shop: Shop, keys: dict[str, Path], how: str | None, until: str) -> None:
    """Append by hand the newest record once more, with another end: in every digest it fits its journal."""
    workspace = Workspace(shop.root)
    channel = Channel("production")
    state, record = workspace.channel(channel), workspace.newest(channel)
    assert record is not None
    body = {key: value for key, value in record.body.items() if key not in {"state", "signature"}}
    body["approvals"] = [{**row, "until": until} for row in record.body["approvals"]]

    def sealed(**more: Any) -> Record:
        return seal(
            journal=channel,
            after=state.head,
            action="approve",
            at=record.at,
            actor=Actor(name=BEN, email=address(BEN), verified=True),
            reason=record.reason,
            body={**body, **more},
        )

    if how in keys:
        body["signature"] = sign(SigningKey(path=keys[how]), signed_of(sealed()))
    elif how is not None:
        body["signature"] = {"kept": record.body["signature"], "7": 7}.get(how, how)
    made = sealed(state=state_digest(follow(state, sealed())))
    workspace.record_file(channel, made.serial).write_bytes(made.data)
    workspace.projection_file(channel).write_bytes(record_bytes(projection(workspace.channel(channel))))


@pytest.mark.parametrize("how", sweep(SIGNATURES, "by-ben", "by-ada", "kept", "none"))
def test_a_claim_counts_only_with_a_signature_that_holds(
    asked: Shop, act: Sign, keys: dict[str, Path], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_clock(monkeypatch, "2999-03-01T12:00:00Z")
    act(BEN, BEN)
    asked.pawl("approve", *FIRST, "--channel", "production", "--reason", "looked at it", "--for", "PT1H")
    act(ADA, None)
    set_clock(monkeypatch, "2999-03-01T14:00:00Z")
    assert "which is over" in promote(asked, 8)
    forge(asked, keys, SIGNATURES[how], "2999-04-01T00:00:00Z")
    if how == "by-ben":
        promote(asked, 0)
        asked.pawl("verify")
        return
    assert "is not verified by a signature" in promote(asked, 8)
    answer = asked.pawl("verify", code=6)
    assert asked.codes(answer) == ["signature-forged"]
    assert answer["problems"][0]["path"] == "releases/production/000002.json"


def test_a_record_is_signed_for_its_own_place(asked: Shop, act: Sign, keys: dict[str, Path]) -> None:
    act(BEN, BEN)
    until = approve(asked)["until"]
    forge(asked, keys, "kept", until)  # the very same once more
    assert asked.codes(asked.pawl("verify", code=6)) == ["signature-forged"]


def test_a_signature_that_claims_nothing_is_one_all_the_same(
    asked: Shop, act: Sign, monkeypatch: pytest.MonkeyPatch
) -> None:
    act(BEN, CYD)
    approve(asked, code=8)
    asked.pawl("verify")
    monkeypatch.setattr(signed, "is_sound", lambda *_: False)
    assert asked.codes(asked.pawl("verify", code=6)) == ["signature-forged"]


def test_without_ssh_keygen_nothing_is_verified(
    asked: Shop, act: Sign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    act(BEN, BEN)
    approve(asked)
    act(ADA, None)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which("git") or "git")
    monkeypatch.setenv("PATH", str(programs))
    is_by.cache_clear()
    promote(asked, 8)
    assert asked.codes(asked.pawl("verify"), "warning") == ["signatures-not-checked"]


def test_a_key_that_cannot_be_used_stops_the_record(asked: Shop, act: Sign, monkeypatch: pytest.MonkeyPatch) -> None:
    act(BEN, None)
    monkeypatch.setenv("PAWL_SIGNING_KEY", str(asked.root / "no-such-key"))
    before = asked.files()
    assert asked.codes(approve(asked, code=1)) == ["signing-failed"]
    assert asked.files() == before


def test_a_broken_list_of_signers_vouches_for_nothing(asked: Shop, act: Sign) -> None:
    act(BEN, BEN)
    approve(asked)
    act(ADA, None)
    (asked.root / SIGNERS).write_bytes(b"\xff\xfe")
    promote(asked, 8)
    assert asked.codes(asked.pawl("policy", "adopt", "--reason", "broken", code=1)) == ["not-utf8"]


# Waivers


def test_the_second_person_of_a_waiver_can_have_to_sign(
    asked: Shop, act: Sign, keys: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked.edit("registry/policies/approvals.yaml", ("waiver: {", "waiver: {verified: true, "))
    whole = asked.read(SIGNERS) + signer_line(CYD, keys[CYD])
    asked.write(SIGNERS, whole)
    asked.adopt("waivers are signed")
    words = ("--channel", "production", "--action", "promote", "--for", "P1D", "--owner", "o", "--reason", "r")
    for one, other in (FIRST, FIRST[::-1]):
        asked.pawl("waive", "APP-1", one, "--with", other, *words)
    yes = ("approve", "--waiver", "1", "--waiver", "2", "--channel", "production", "--reason", "r")
    act(CYD, None)
    assert "is not verified by a signature" in str(asked.pawl(*yes, code=8)["problems"])
    act(CYD, CYD)
    asked.pawl(*yes)
    act(ADA, None)
    promote(asked, 0)
    asked.write(SIGNERS, whole.replace(signer_line(CYD, keys[CYD]), ""))
    promote(asked, 8)


def test_each_record_is_looked_at_once(asked: Shop, act: Sign, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many questions a command asks: every target of every pin is one."""
    act(BEN, BEN)
    asked.pawl(
        *("waive", "APP-1", FIRST[0], "--channel", "production", "--action", "promote", "--for", "P1D"),
        *("--owner", "o", "--reason", "r"),
    )
    approve(asked)
    act(ADA, None)
    looked: list[int] = []
    real = Workspace._vouched

    def counted(self: Workspace, channel: Any, serial: Any, *words: Any) -> bool:
        looked.append(serial)
        return real(self, channel, serial, *words)

    monkeypatch.setattr(Workspace, "_vouched", counted)
    for words in (("status",), ("audit",), ("promote", *FIRST, "--to", "production", "--reason", "r", "--dry-run")):
        looked.clear()
        asked.pawl(*words)
        assert looked
        assert len(looked) == len(set(looked))
