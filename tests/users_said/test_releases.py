"""What users of other systems said about promotion, rollback and withdrawal."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pawl
from pawl.operations.releasing import release
from pawl.operations.releasing.judging import judge
from support import FIRST, SECOND, Shop, in_process, in_subprocess, soon, story

TOOL = "support/check-eligibility@1.0.0"


# Promotion


def test_kargo_7032_every_promote_is_a_row_or_a_conflict(live: Shop) -> None:
    live.second()
    live.pawl("publish")
    ended: list[int] = []

    def promote(*refs: str) -> None:
        words = ("promote", *refs, "--to", "staging", "--reason", "race", "-o", "json")
        ended.append(in_subprocess("-C", str(live.root), *words).code)

    threads = [threading.Thread(target=promote, args=refs) for refs in (SECOND, (SECOND[0],), (TOOL,), (SECOND[0],))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = live.pawl("history", "staging")["records"][1:]
    assert set(ended) <= {0, 3, 5}
    assert ended.count(3) <= len(rows) <= sum(code != 5 for code in ended)
    assert sum(row["action"] == "refused" for row in rows) == ended.count(3)
    live.pawl("verify")


def test_kargo_3016_what_was_rolled_back_does_not_come_back_by_itself(moved: Shop) -> None:
    moved.rollback("support/refund")
    assert moved.codes(moved.promote(SECOND[0], to="production", code=7)) == ["rejected"]
    held = [row for row in moved.pawl("status")["channels"][0]["rejections"] if row["holds"]]
    assert ("support/refund@2.0.0", "errors went up") == (held[0]["ref"], held[0]["reason"])
    assert held[0]["by"]
    (row,) = [
        row
        for row in moved.pawl("targets", "support/refund", "--channel", "production")["targets"]
        if row["version"] == "2.0.0"
    ]
    assert not row["allowed"]
    assert "errors went up" in str(row["reasons"])
    moved.edit("procedures/support/refund.yaml", ("version: 2.0.0", "version: 2.1.0"), ("max_steps: 6", "max_steps: 7"))
    moved.pawl("publish")
    moved.everywhere("support/refund@2.1.0")  # a newer digest may pass
    answer = moved.rollback("support/refund")  # passes over the rejected 2.0.0
    assert answer["moves"][0]["to"] == "1.0.0"
    moved.pawl("unreject", SECOND[0], "--channel", "production", "--reason", "mended")
    moved.promote(SECOND[0], to="production")


def test_kargo_3016_a_rejected_version_stays_off(live: Shop) -> None:
    live.second()
    live.pawl("publish")
    live.pawl("reject", SECOND[0], "--channel", "staging", "--reason", "leaks")
    assert "leaks" in str(live.promote(*SECOND, to="staging", code=7)["problems"])
    live.pawl("unreject", SECOND[0], "--channel", "staging", "--reason", "does not")
    live.promote(*SECOND, to="staging")


def test_sqlmesh_4292_a_channel_is_always_said(live: Shop) -> None:
    live.second()
    live.pawl("publish")
    assert live.codes(live.pawl("promote", *SECOND, "--reason", "r", code=2)) == ["usage"]
    live.pawl("rollback", "support/refund", "--reason", "r", code=2)
    live.pawl("resolve", "support/refund", code=2)
    words = ("-C", str(live.root), "promote", *SECOND, "--to", "staging", "--reason", "r")
    for more in (("--dry-run",), ()):
        out = in_process(*words, *more).out
        assert [line for line in out.splitlines() if "serial" in line and "staging" not in line] == []
        assert "ON STAGING" in out


def test_langfuse_9278_pins_without_a_file_are_listed_and_can_be_taken_off(live: Shop) -> None:
    for name in ("refund", "refund-draft"):
        (live.root / f"procedures/support/{name}.yaml").unlink()
    assert live.codes(live.pawl("status"), "warning").count("file-gone") == 4
    live.pawl("remove", "support/refund", "support/refund-draft", "--channel", "production", "--reason", "retired")
    live.pawl("resolve", "support/refund", "--channel", "production", code=1)
    assert live.pawl("history", "production")["records"][-1]["action"] == "remove"
    assert live.pawl("show", FIRST[0])["pinned_on"] == ["staging"]


# Rollback


def test_helm_1796_the_default_target_was_live_and_passes(third: Shop) -> None:
    third.promote(FIRST[0], TOOL, to="production", code=4)  # refused: fewer tests, so never a target
    third.pawl("reject", SECOND[0], "--channel", "production", "--reason", "slow")
    answer = third.rollback("support/refund")
    assert answer["moves"][0]["to"] == "1.0.0"
    skipped = [problem["message"] for problem in answer["problems"] if problem["code"] == "target-skipped"]
    assert [("2.0.0" in message, "slow" in message) for message in skipped] == [(True, True)]


def ways_back(shop: Shop) -> list[tuple[object, ...]]:
    """Return every target with its verdict; how old its evidence is goes on without anybody."""
    rows = shop.pawl("targets", "support/refund", "--channel", "production")["targets"]
    return [(row["version"], row["digest"], row["live_until"], row["verdict"], row["reasons"]) for row in rows]


@pytest.mark.slow
def test_helm_3668_refused_attempts_push_nothing_out(moved: Shop) -> None:
    before = ways_back(moved)
    for _ in range(300):
        moved.promote(FIRST[0], to="production", code=4)
    assert ways_back(moved) == before
    assert len(moved.pawl("history", "production")["records"]) == 302


def refused_by_policy(shop: Shop) -> dict[str, Any]:
    shop.write("registry/policies/refunds.yaml", story("policy-2.yaml"))
    shop.adopt("stricter")
    return shop.rollback("support/refund", "--to", "1.0.0", code=3)


def test_curie_2296_having_been_live_is_not_enough(third: Shop) -> None:
    answer = refused_by_policy(third)
    (error,) = [problem for problem in answer["problems"] if problem["severity"] == "error"]
    assert error["rule"] == "REF-1"
    assert "policy 2" in error["message"]
    assert "support/check-eligibility" in json.dumps(answer["verdict"]["findings"])
    assert "support/refund@2.0.0" in str([row for row in answer["problems"] if row["code"] == "way-out"])
    assert third.version("support/refund") == "2.1.0"


def test_argo_rollouts_2168_a_rollback_runs_suites_again_and_ends_in_seconds(moved: Shop) -> None:
    shutil.rmtree(moved.root / "releases/evidence", ignore_errors=True)
    moved.edit("conformance/refund-without-check.yaml", ("a-request-gets-a-draft", "a-request-gets-one"))
    with soon():
        answer = moved.rollback("support/refund")
    assert "run now" in json.dumps(answer["verdict"]["findings"])


@pytest.mark.parametrize("git", [False, True])
def test_argo_cd_21480_a_rollback_needs_no_git(moved: Shop, tmp_path: Path, git: bool) -> None:
    """Neither where the folder is in no repository, nor where it is and git itself is not there."""
    if git:
        (moved.root / ".git").mkdir()
    environment = {**os.environ, "PATH": str(tmp_path)}
    for words in (
        ("targets", "support/refund", "--channel", "production"),
        ("resolve", "support/refund", "--channel", "production"),
        ("rollback", "support/refund", "--channel", "production", "--reason", "r", "--no-commit"),
    ):
        ended = in_subprocess("-C", str(moved.root), *words, "-o", "json", env=environment)
        assert ended.code == 0, ended
    assert moved.version("support/refund") == "1.0.0"


def test_argo_rollouts_1292_with_nothing_to_undo_nothing_happens(moved: Shop) -> None:
    before = moved.files()
    for answer in (
        moved.pawl("resume", "support/refund", "--channel", "production", "--reason", "r"),
        moved.rollback("support/refund", "--to", "2.0.0"),
        moved.pawl("unreject", SECOND[0], "--channel", "production", "--reason", "r"),
        moved.pawl("restore", SECOND[0], "--reason", "r"),
    ):
        assert answer["status"] == "unchanged"
        assert answer["problems"][0]["severity"] == "note"
    assert before == moved.files()


# Withdrawal


def test_uv_19112_each_grade_of_withdrawal_does_what_it_says(live: Shop) -> None:
    with pawl.open("production", workspace=live.root).run(agent="support") as run:
        run.workflow("support/refund")
        live.pawl("deprecate", FIRST[0], "--reason", "old")
        assert live.codes(live.pawl("resolve", "support/refund", "--channel", "production"), "warning") != []
        live.pawl("yank", FIRST[0], "--reason", "bad")
        served = live.pawl("resolve", "support/refund", "--channel", "production")
        assert "yanked" in str(served["problems"])
        run.workflow("support/refund")
        live.pawl("revoke", FIRST[0], "--reason", "leaks")
        with pytest.raises(pawl.WithheldError):
            run.checkpoint()
        run.end("stopped")
    refused = live.pawl("resolve", "support/refund", "--channel", "production", code=7)
    assert "revoked" in refused["problems"][0]["message"]
    assert "support/refund" in live.pawl("snapshot", "production")["withheld"]


def test_mlflow_24825_missing_has_a_code_for_each_kind(live: Shop) -> None:
    codes = [
        live.codes(live.pawl("show", "support/nobody@1.0.0", code=1)),
        live.codes(live.pawl("show", "support/refund@9.0.0", code=1)),
        live.codes(live.pawl("resolve", "support/nobody", "--channel", "production", code=1)),
    ]
    (live.root / "registry/versions/support/refund/1.0.0.yaml").unlink()
    codes.append(live.codes(live.pawl("resolve", "support/refund", "--channel", "production", code=6)))
    assert codes == [["name-unknown"], ["version-unknown"], ["not-pinned"], ["frozen-changed"]]
    live.pawl("verify", code=6)


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Do something between the judging of the next release and its writing."""

    def slow(*values: Any, **more: Any) -> Any:
        found = judge(*values, **more)
        monkeypatch.setattr(release, "judge", judge)
        act()
        return found

    monkeypatch.setattr(release, "judge", slow)


def test_posthog_70862_a_revoked_version_is_pinned_in_no_order(live: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    live.second()
    live.pawl("publish")
    words = ("revoke", TOOL, "--reason", "leaks", "-o", "json")
    meanwhile(monkeypatch, lambda: in_subprocess("-C", str(live.root), *words))
    live.promote(*SECOND, to="staging", code=5)
    assert live.version("support/refund", "staging") == "1.0.0"
    live.promote(*SECOND, to="staging", code=7)
