"""What users of other systems said about the journal and history, snapshots, runs, and output for CI."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

import pawl
from support import FIRST, SECOND, Shop, in_process, in_subprocess

from .test_releases import refused_by_policy

INPUTS = {"order_id": "A1", "amount": 20}


# Journal and history


def test_langfuse_16007_what_was_live_at_any_moment(plain_shop: Shop, clock: Callable[[str], None]) -> None:
    shop = plain_shop
    clock("2026-03-01T12:00:00+00:00")
    shop.release_first()
    clock("2026-03-02T12:00:00+00:00")
    shop.release_second()
    clock("2026-03-03T12:00:00+00:00")
    shop.rollback("support/refund")
    wanted = [
        ("2026-03-01T11:59:59Z", 0, None),
        ("2026-03-01T12:00:00Z", 1, "1.0.0"),
        ("2026-03-02T11:59:59Z", 1, "1.0.0"),
        ("2026-03-02T12:00:00Z", 2, "2.0.0"),
        ("2026-03-02T13:00:00+01:00", 2, "2.0.0"),
        ("2026-03-03T12:00:00Z", 3, "1.0.0"),
        ("2099-01-01", 3, "1.0.0"),
    ]
    for at, serial, version in wanted:
        answer = shop.pawl("history", "production", "--at", at)
        pin = answer["pins"].get("support/refund")
        assert (serial, version) == (answer["serial"], pin["version"] if pin else None), at
        assert answer["policy"] == (1 if serial else None)
    row = shop.pawl("history", "production")["records"][-1]
    move = row["moves"][0]
    assert ("rollback", 3, "2.0.0", "1.0.0") == (row["action"], row["serial"], move["from"], move["to"])
    assert move["from_digest"] == shop.pawl("show", SECOND[0])["digest"]
    assert move["to_digest"] == shop.pawl("show", FIRST[0])["digest"]
    assert (row["reason"], bool(row["actor"]["name"])) == ("errors went up", True)


def test_msaad00_agent_bom_3697_a_journal_without_its_newest_record_is_damaged(released: Shop) -> None:
    shop = released
    shop.release_second()
    shop.pawl("halt", "support/refund", "--channel", "production", "--reason", "stop", "--no-commit")
    shop.pawl("verify")  # what is not committed yet is no damage
    (shop.root / "releases/production/000003.json").unlink()
    (shop.root / "releases/production/000002.json").unlink()
    (shop.root / "registry/channels/production.json").unlink()
    answer = shop.pawl("verify", code=6)
    assert "releases/production/000002.json" in [problem.get("path") for problem in answer["problems"]]


def test_theupdateframework_python_tuf_12_bad_clocks_change_no_order(
    plain_shop: Shop, clock: Callable[[str], None]
) -> None:
    shop = plain_shop
    clock("2026-03-02T12:00:00+00:00")
    shop.release_first()
    clock("2026-03-01T12:00:00+00:00")  # a day back
    shop.release_second()
    assert shop.version("support/refund") == "2.0.0"
    assert [row["serial"] for row in shop.pawl("history", "production")["records"]] == [1, 2]
    shop.pawl("verify")


@pytest.mark.parametrize(("now", "code"), [("2026-03-01T11:59:59", 7), ("2026-03-01T12:00:00", 0)])
def test_theupdateframework_python_tuf_37_an_end_that_is_reached_is_over(
    plain_shop: Shop, clock: Callable[[str], None], now: str, code: int
) -> None:
    shop = plain_shop
    clock("2026-02-01T12:00:00+00:00")
    shop.publish_first()
    words = ("--channel", "staging", "--reason", "no", "--until", "2026-03-01T12:00:00Z")
    shop.pawl("reject", FIRST[0], *words)
    clock(f"{now}+00:00")
    shop.promote(*FIRST, to="staging", code=code)


# Snapshots


def test_langfuse_10138_everything_served_says_what_it_is(live: Shop, tmp_path: Path) -> None:
    out = tmp_path / "production.json"
    live.pawl("snapshot", "production", "--out", str(out), "--expires", "PT0S")
    digest = live.pawl("show", FIRST[1])["digest"]
    for handle, stale in (
        (pawl.open("production", workspace=live.root), False),
        (pawl.open("production", snapshot=out, ledger=tmp_path / "runs.db"), True),
    ):
        with handle.run(agent="support") as run:
            served = run.prompt("support/refund-draft", **INPUTS).served
            run.end("ok")
        found = (served.name, served.version, served.digest, served.channel, served.serial, served.stale)
        assert found == ("support/refund-draft", "1.0.0", digest, "production", 1, stale)
    answer = live.pawl("render", "support/refund-draft", "--channel", "production", "--input", "order_id=A1",
                       "--input", "amount=20")  # fmt: skip
    assert (digest, 1, "production") == (answer["digest"], answer["serial"], answer["channel"])


def test_posthog_71509_a_moved_channel_is_seen_by_the_next_open(moved: Shop) -> None:
    assert pawl.open("production", workspace=moved.root).resolve("support/refund").version == "2.0.0"
    moved.rollback("support/refund", "--to", "1.0.0")
    assert pawl.open("production", workspace=moved.root).resolve("support/refund").version == "1.0.0"


def test_posthog_posthog_python_744_another_format_is_never_half_used(live: Shop, tmp_path: Path) -> None:
    out = tmp_path / "production.json"
    live.pawl("snapshot", "production", "--out", str(out))
    document = json.loads(out.read_text(encoding="utf-8"))
    for key, value in (("format", 2), ("format", "1"), ("channel", "staging"), ("serial", 99)):
        out.write_text(json.dumps({**document, key: value}), encoding="utf-8")
        with pytest.raises(pawl.PawlError):
            pawl.open("production", snapshot=out)


# Runs


def test_langfuse_6973_uses_are_recorded_without_an_id_from_the_caller(moved: Shop) -> None:
    with pawl.open("production", workspace=moved.root).run(agent="support") as run:
        run.workflow("support/refund")
        run.tool("support/check-eligibility")
        run.prompt("support/refund-draft", **INPUTS)
        run.end("drafted")
    shown = moved.pawl("runs", "show", run.id)
    assert [(use["kind"], use["name"], use["version"]) for use in shown["uses"]] == [
        ("workflow", "support/refund", "2.0.0"),
        ("tool", "support/check-eligibility", "1.0.0"),
        ("prompt", "support/refund-draft", "1.0.0"),
    ]
    assert all(use["digest"].startswith("sha256:") for use in shown["uses"])
    assert (shown["channel"], shown["serial"]) == ("production", 2)


def test_opensearch_project_agent_health_497_a_killed_run_is_there_and_unfinished(live: Shop) -> None:
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - it never comes back
        run = pawl.open("production", workspace=live.root).run(agent="support", session="s-1")
        os.write(go, run.id.encode())
        run.prompt("support/refund-draft", order_id="SECRET-ORDER", amount=20)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    run_id = os.read(ready, 200).decode()
    os.close(ready)
    os.close(go)
    shown = live.pawl("runs", "show", run_id)
    assert (shown["finished"], shown["outcome"], shown["policy"]) == (False, None, 1)
    assert shown["pins"]["support/refund"]["version"] == "1.0.0"
    assert [row["run_id"] for row in live.pawl("runs", "list", "--open")["runs"]] == [run_id]
    assert b"SECRET-ORDER" not in b"".join(path.read_bytes() for path in (live.root / ".pawl").glob("runs.db*"))


def test_langchain_ai_docs_3843_a_run_ends_on_what_it_began_with(live: Shop) -> None:
    begun = live.pawl("run", "start", "--channel", "production", "--agent", "support")["run_id"]
    live.release_second()
    assert live.pawl("run", "use", begun, "support/refund")["version"] == "1.0.0"
    later = live.pawl("run", "start", "--channel", "production", "--agent", "support")["run_id"]
    assert live.pawl("run", "use", later, "support/refund")["version"] == "2.0.0"


# Output and exit codes


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("check",), 0),
        (("show", "support/nobody@1.0.0"), 1),
        (("promote", FIRST[0]), 2),
        (("status", "--nonsense"), 2),
        (("nonsense",), 2),
        (("promote", FIRST[0], "--to", "production", "--reason", ""), 2),
    ],
)
def test_hashicorp_setup_terraform_328_one_object_with_the_code_of_the_process(
    live: Shop, words: tuple[str, ...], code: int
) -> None:
    ended = in_subprocess("-C", str(live.root), *words, "-o", "json")
    answer = json.loads(ended.out)
    assert (code, code) == (ended.code, answer["exit_code"])
    assert {"command", "status", "exit_code", "problems"} <= set(answer)
    assert "\x1b" not in ended.out + ended.err


def test_helm_rollback_dry_run_never_sounds_like_success(moved: Shop) -> None:
    before = moved.files()
    words = ("rollback", "support/refund", "--channel", "production", "--reason", "r", "--dry-run")
    assert moved.pawl(*words)["status"] == "would"
    text = in_process("-C", str(moved.root), *words).out
    assert "would" in text
    assert "\ndone" not in text
    assert before == moved.files()
    moved.pawl("revoke", FIRST[0], "--reason", "leaks")
    assert moved.pawl(*words, "--to", "1.0.0", code=7)["status"] == "would-refuse"
    assert moved.rollback("support/refund", "--to", "1.0.0", code=7)["status"] == "refused"


def test_flux2_4772_a_refusal_says_all_that_helps(third: Shop) -> None:
    answer = refused_by_policy(third)
    text = in_process(
        "-C", str(third.root), "rollback", "support/refund", "--to", "1.0.0", "--channel", "production",
        "--reason", "r",
    ).out  # fmt: skip
    said = json.dumps(answer["problems"])
    for words in ("REF-1", "policy 2", "support/check-eligibility", "support/refund@2.0.0", "pawl rollback"):
        assert words in text, words
        assert words in said, words
