"""List finds published procedures by what they say, and what it keeps for that never tells of another past."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from pawl.io.memory import Lost, Memory
from pawl.operations.observing import listing
from pawl.workspace import Workspace
from support import Shop, in_process

PROMPT = """kind: prompt
name: support/{name}
version: {version}
summary: {summary}
owner: {owner}
labels: {labels}
spec:
  messages: [{{role: user, content: Write.}}]
"""

FITTING: tuple[tuple[list[str], list[str]], ...] = (
    (["--search", "english"], ["greeting"]),
    (["--search", "Visitor"], ["farewell", "greeting"]),
    (["--search", "visitor   leave"], ["farewell"]),
    (["--search", "front desk"], ["farewell"]),
    (["--search", "risk=low"], ["greeting"]),
    (["--search", "greet talk prompt"], ["greeting"]),
    (["--search", "greet leave"], []),
    (["--search", "%"], []),
    (["--owner", "care"], ["greeting"]),
    (["--owner", "car"], []),
    (["--label", "domain=talk"], ["greeting"]),
    (["--label", "domain=talk=small"], ["farewell"]),
    (["--label", "domain=talk", "--label", "risk=high"], []),
    (["well", "--search", "visitor"], ["farewell"]),
    (["--search", "visitor", "--kind", "workflow"], []),
    (["--search", ""], ["farewell", "greeting", "refund", "refund-draft"]),
    (["greet"], ["greeting"]),
    (["ree", "ting"], ["greeting"]),
    (["--kind", "workflow"], ["refund"]),
)
"""Words of the command, and what they find."""


def write(shop: Shop, name: str, summary: str, owner: str = "care", labels: str = "{}", version: str = "1.0.0") -> None:
    text = PROMPT.format(name=name, version=version, summary=summary, owner=owner, labels=labels)
    shop.write(f"procedures/support/{name}.yaml", text)


@pytest.fixture
def filled(released: Shop) -> Shop:
    released.reach(_filled)
    return released


def _filled(shop: Shop) -> None:
    write(shop, "greeting", "Greets a visitor in ENGLISH.", labels="{domain: talk, risk: low}")
    write(shop, "farewell", "Takes leave of a visitor.", owner="front desk", labels='{domain: "talk=small"}')
    shop.pawl("publish", "support/greeting", "support/farewell")


@pytest.fixture(params=[True, False], ids=["settled", "new"])
def settled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether records are so old that a look at what the system says of them is enough."""
    if request.param:
        later = time.time_ns() + 3600 * 10**9
        monkeypatch.setattr(time, "time_ns", lambda: later)
    return bool(request.param)


def names(shop: Shop, *words: str) -> list[str]:
    return [row["name"].removeprefix("support/") for row in shop.pawl("list", *words)["procedures"]]


def test_all_that_is_wanted_fits(filled: Shop) -> None:
    assert [(words, names(filled, *words)) for words, _ in FITTING] == list(FITTING)


def test_rows_say_what_was_asked_about(filled: Shop) -> None:
    (row,) = filled.pawl("list", "--search", "english")["procedures"]
    assert row == {
        "name": "support/greeting",
        "kind": "prompt",
        "newest": "1.0.0",
        "versions": 1,
        "pins": {},
        "owner": "care",
        "summary": "Greets a visitor in ENGLISH.",
        "labels": {"domain": "talk", "risk": "low"},
    }
    assert "summary" not in filled.pawl("list")["procedures"][0]
    head, line, *_ = in_process("-C", str(filled.root), "list", "--search", "english").out.splitlines()
    assert head.split() == ["NAME", "KIND", "NEWEST", "VERSIONS", "PINNED", "OWNER", "SUMMARY"]
    assert line.endswith("care   Greets a visitor in ENGLISH.")
    assert in_process("-C", str(filled.root), "list", "--search", "nothing").out.startswith("nothing published fits\n")


def test_the_newest_version_speaks(filled: Shop) -> None:
    assert names(filled, "--search", "english") == ["greeting"]
    write(filled, "greeting", "Greets in French.", version="1.1.0")
    filled.pawl("publish", "support/greeting")
    assert names(filled, "--search", "english") == []
    (row,) = filled.pawl("list", "--search", "french")["procedures"]
    assert (row["newest"], row["versions"]) == ("1.1.0", 2)


def test_a_release_moves_the_pins_that_are_listed(filled: Shop) -> None:
    (before,) = filled.pawl("list", "--search", "drafts")["procedures"]
    filled.pawl("remove", "support/refund", "support/refund-draft", "--channel", "production", "--reason", "over")
    (after,) = filled.pawl("list", "--search", "drafts")["procedures"]
    assert (sorted(before["pins"]), sorted(after["pins"])) == (["production", "staging"], ["staging"])


@pytest.mark.parametrize("words", [[], ["--search", "visitor"]], ids=["all", "search"])
def test_nothing_is_read_again_while_no_record_changed(
    filled: Shop, words: list[str], settled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = filled.pawl("list", *words)
    monkeypatch.setattr(listing, "read_world", _never)
    monkeypatch.setattr(Workspace, "procedure", _never)
    assert filled.pawl("list", *words) == first


def test_a_changed_byte_of_an_old_record_changes_no_answer_and_verify_finds_it(filled: Shop, settled: bool) -> None:
    filled.pawl("list", "--search", "visitor")
    record = filled.root / "releases" / "registry" / "000001.json"
    data = record.read_bytes()
    record.write_bytes(data.replace(b'"at": "2', b'"at": "1', 1))
    assert names(filled, "--search", "visitor") == ["farewell", "greeting"]
    assert filled.pawl("verify", code=6)["problems"]
    for kept in ("index.db", "listed.db"):
        (filled.root / ".pawl" / kept).unlink()
    assert filled.pawl("list", "--search", "visitor", code=6)["problems"]
    record.write_bytes(data)
    assert names(filled, "--search", "english") == ["greeting"]


def test_a_frozen_version_that_was_changed_is_not_read_for_the_list(filled: Shop) -> None:
    frozen = filled.root / "registry" / "versions" / "support" / "greeting" / "1.0.0.yaml"
    frozen.write_text(frozen.read_text(encoding="utf-8").replace("ENGLISH", "English"), encoding="utf-8")
    assert filled.codes(filled.pawl("list", "--search", "english", code=6)) == ["frozen-changed"]
    assert names(filled) == ["farewell", "greeting", "refund", "refund-draft"]


def test_without_a_memory_the_answer_is_the_same(filled: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "open_memory", lambda *_, **__: None)
    assert names(filled, "--search", "visitor") == ["farewell", "greeting"]
    assert not (filled.root / ".pawl" / "listed.db").exists()


def test_a_memory_that_is_lost_in_between_costs_time_alone(filled: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Memory):
        def __init__(self) -> None:
            pass

        def reading(self) -> Any:
            raise Lost("gone")

        def close(self) -> None:
            pass

    monkeypatch.setattr(listing, "open_memory", lambda *_, **__: Broken())
    assert names(filled, "--search", "visitor") == ["farewell", "greeting"]


@pytest.mark.parametrize("label", ["domain", "=talk", ""])
def test_a_label_is_a_pair(filled: Shop, label: str) -> None:
    ended = in_process("-C", str(filled.root), "list", "--label", label)
    assert (ended.code, "is not KEY=VALUE" in ended.err) == (2, True)


def _never(*_: object) -> Iterator[None]:
    raise AssertionError("read again")
