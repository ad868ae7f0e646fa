"""Freezes that somebody sets: what stands still, what is spared, and how it ends."""

from __future__ import annotations

from typing import Any

import pytest

from people import ADA, BEN, become, set_clock
from support import SECOND, Shop, in_process


@pytest.fixture
def ready(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Version 1 on both channels, version 2 on staging; Ben is of release. It is noon of the first of March 2999."""
    set_clock(monkeypatch, "2999-03-01T12:00:00Z")
    shop.reach(_ready)
    return shop


def _ready(shop: Shop) -> None:
    shop.edit("registry/registry.yaml", ("channels:", "people: {ben@example.invalid: [release]}\nchannels:"))
    shop.release_first()
    shop.second()
    shop.pawl("publish")
    shop.promote(*SECOND, to="staging")


def freeze(shop: Shop, *words: str, code: int = 0, end: tuple[str, ...] = ("--for", "P1D")) -> dict[str, Any]:
    return shop.pawl("freeze", "production", "--reason", "the fair is on", *end, *words, code=code)


def unfreeze(shop: Shop, *words: str, code: int = 0) -> dict[str, Any]:
    return shop.pawl("unfreeze", "production", *words, "--reason", "it is over", code=code)


def test_a_frozen_channel_stands_still(ready: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = freeze(ready)
    assert answer["freeze"] == {
        "until": "2999-03-02T12:00:00Z",
        "actions": ["promote"],
        "spares": {"labels": {}, "names": [], "roles": []},
    }
    refused = ready.promote(*SECOND, to="production", code=7)
    assert set(ready.codes(refused)) == {"frozen"}
    assert "the fair is on" in refused["problems"][0]["message"]
    assert ready.version("support/refund") == "1.0.0"
    set_clock(monkeypatch, "2999-03-02T12:00:00Z")
    ready.promote(*SECOND, to="production")
    ready.pawl("verify")


def test_rollbacks_go_on_unless_they_are_named(ready: Shop) -> None:
    ready.promote(*SECOND, to="production")
    freeze(ready)
    ready.rollback("support/refund")
    ready.pawl("unreject", SECOND[0], "--channel", "production", "--reason", "mended")
    unfreeze(ready)
    ready.promote(SECOND[0], to="production")
    freeze(ready, "--actions", "promote,rollback")
    ready.rollback("support/refund", code=7)
    ready.pawl("halt", "support/refund", "--channel", "production", "--reason", "it hurts")
    ready.rollback("support/refund")  # leaving what must not stay is never held up


SPARED = [
    (("--spare-name", "support/*"), ADA, 0),
    (("--spare-name", "support/refund", "--spare-name", "support/check-eligibility"), ADA, 0),
    (("--spare-name", "support/refund"), ADA, 7),
    (("--spare-label", "domain=refunds"), ADA, 0),
    (("--spare-label", "domain=refunds", "--spare-label", "risk=high"), ADA, 7),
    (("--spare-role", "release"), ADA, 7),
    (("--spare-role", "release"), BEN, 0),
]


@pytest.mark.parametrize(("words", "who", "code"), SPARED)
def test_what_is_spared_moves(
    ready: Shop, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], who: str, code: int
) -> None:
    freeze(ready, *words)
    become(monkeypatch, who)
    ready.promote(*SECOND, to="production", code=code)


def test_several_freezes_are_lifted_one_by_one_or_all_at_once(ready: Shop) -> None:
    first = freeze(ready)["serial"]
    second = freeze(ready, "--actions", "rollback")["serial"]
    assert unfreeze(ready, str(first))["freezes"] == [first]
    ready.promote(*SECOND, to="production")
    third = freeze(ready)["serial"]
    assert unfreeze(ready)["freezes"] == [second, third]
    before = ready.files()
    assert ready.codes(unfreeze(ready), "note") == ["unchanged"]
    assert ready.codes(unfreeze(ready, str(first)), "note") == ["unchanged"]
    assert ready.codes(unfreeze(ready, "1", code=1)) == ["freeze-unknown"]
    assert ready.codes(unfreeze(ready, "99", code=1)) == ["freeze-unknown"]
    assert ready.files() == before


def test_a_freeze_that_is_over_needs_no_lifting(ready: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    freeze(ready)
    set_clock(monkeypatch, "2999-03-02T12:00:00Z")
    before = ready.files()
    assert ready.codes(unfreeze(ready), "note") == ["unchanged"]
    assert ready.files() == before


def test_the_same_again_writes_nothing(ready: Shop) -> None:
    freeze(ready, "--spare-name", "support/faq*")
    before = ready.files()
    assert ready.codes(freeze(ready, "--spare-name", "support/faq*"), "note") == ["unchanged"]
    assert ready.files() == before
    freeze(ready)  # spares nothing: another freeze
    assert ready.files() != before


BAD = [
    ((), (), 2, "usage"),
    (("--until", "2020-01-01"), (), 2, "end-past"),
    (("--for", "P1M"), (), 2, "usage"),
    (("--for", "P1D"), ("--actions", "resolve"), 2, "usage"),
    (("--for", "P1D"), ("--spare-name", "Support"), 2, "glob-bad"),
    (("--for", "P1D"), ("--spare-label", "domain"), 2, "usage"),
    (("--for", "P1D"), ("--spare-role", ""), 2, "spares-bad"),
]


@pytest.mark.parametrize(("end", "words", "code", "problem"), BAD)
def test_what_can_be_no_freeze(
    ready: Shop, end: tuple[str, ...], words: tuple[str, ...], code: int, problem: str
) -> None:
    before = ready.files()
    assert ready.codes(freeze(ready, *words, end=end, code=code)) == [problem]
    assert ready.files() == before


def test_stopping_does_not_wait_until_settings_or_keys_are_mended(ready: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    become(monkeypatch, ADA)
    monkeypatch.setenv("PAWL_SIGNING_KEY", str(ready.root / "no-such-key"))
    ready.write("registry/registry.yaml", "format: 1\nchannels: [\n")
    answer = freeze(ready)
    assert "signing-failed" in ready.codes(answer, "warning")
    assert answer["serial"]


def test_the_history_says_what_each_was_about(shop: Shop) -> None:
    shop.adopt()
    shop.pawl("freeze", "staging", "--until", "2199-01-01", "--reason", "holidays")
    serial = shop.pawl("history", "staging")["records"][-1]["serial"]
    shop.pawl("unfreeze", "staging", "--reason", "back again")
    text = in_process("-C", str(shop.root), "history", "staging").out
    assert "promote until 2199-01-01T00:00:00Z" in text
    assert f"freeze {serial}" in text
