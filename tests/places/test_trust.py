"""What somebody with a kind of access can and cannot do, where no other room shows it; see docs/security.md."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pawl
from pawl.io.files import Lock
from support import FIRST, Shop, git, story

EDITS = {
    "a procedure": ("procedures/support/refund-draft.yaml", "You draft refunds", "You grant refunds"),
    "a rule": ("registry/policies/refunds.yaml", "procedure.spec.budget.max_steps <= 12", "true"),
    "a channel": ("registry/registry.yaml", "  production:", "  canary: {}\n  production:"),
}


@pytest.mark.parametrize("what", EDITS)
def test_an_edit_serves_and_allows_nothing_by_itself(live: Shop, what: str) -> None:
    """What is served, and what would be allowed, is of what was published and adopted."""
    asked = (("resolve", "support/refund-draft", "--channel", "production"), ("audit",), ("policy", "show"),
             ("render", FIRST[1], "--input", "order_id=A1", "--input", "amount=2"))  # fmt: skip
    before = [live.pawl(*words) for words in asked]
    file, old, new = EDITS[what]
    live.edit(file, (old, new))
    assert before == [live.pawl(*words) for words in asked]
    live.pawl("resolve", "support/refund-draft", "--channel", "canary", code=1)


def test_a_record_that_a_pull_request_brings_is_a_file_of_its_diff(live: Shop, tmp_path: Path) -> None:
    """Records are told from sources by their folder, so that owners of the code can be asked for them."""
    git(tmp_path, "clone", "-q", str(live.root), "fork")
    fork = Shop(tmp_path / "fork")
    git(fork.root, "switch", "-q", "-c", "mine")
    fork.pawl("halt", "support/refund", "--channel", "production", "--reason", "mine")
    names = git(fork.root, "diff", "--name-only", "origin/main", "HEAD").split()
    assert names == ["registry/channels/production.json", "releases/production/000003.json"]


def test_whoever_writes_a_snapshot_file_can_write_another(live: Shop, tmp_path: Path) -> None:
    """It is sealed and not signed: a whole other one is taken, and its digest is another one."""
    other = Shop(tmp_path / "other")
    other.root.mkdir()
    other.start()
    other.edit("procedures/support/refund-draft.yaml", ("You draft refunds", "You grant refunds"))
    other.release_first()
    mine = live.pawl("snapshot", "production", "--out", str(tmp_path / "agents.json"))["digest"]
    theirs = other.pawl("snapshot", "production", "--out", str(tmp_path / "agents.json"))["digest"]
    assert mine != theirs
    handle = pawl.open("production", snapshot=tmp_path / "agents.json", ledger=tmp_path / "runs.db")
    with handle.run(agent="a") as run:
        assert "You grant refunds" in json.dumps(run.prompt("support/refund-draft", order_id="A1", amount=2))
        run.end("ok")


def test_whoever_holds_the_lock_keeps_writers_waiting_and_no_reader(
    live: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pawl.releases.applying.LOCK_SECONDS", 0.1)
    with Lock(live.root / ".pawl" / "lock", timeout=1.0):
        for words in (("status",), ("verify",), ("resolve", "support/refund", "--channel", "production")):
            live.pawl(*words)
        live.pawl("halt", "support/refund", "--channel", "production", "--reason", "stop", code=5)
    live.pawl("halt", "support/refund", "--channel", "production", "--reason", "stop")


def test_an_adoption_is_open_to_whoever_writes_the_registry(live: Shop) -> None:
    """It is recorded with who and why, and the next audit judges what is live by it."""
    live.write("registry/policies/refunds.yaml", story("policy-1.yaml").partition("  - id: BUD-1")[0])
    answer = live.pawl("policy", "adopt", "--reason", "fewer rules")
    assert "plan-looser" in live.codes(answer, "warning")
    assert git(live.root, "show", "--name-only", "--format=", "HEAD").split() == [answer["files"][0]]
