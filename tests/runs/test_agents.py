"""What agents hold: a run keeps its state, is stopped by halts and revocations, and is recorded."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
from datetime import timedelta
from pathlib import Path

import pytest

import pawl
from pawl.ids import parse_ref
from pawl.runs.ledger import Ledger
from pawl.runs.rows import RunStart, Use
from support import SECOND, Shop

INPUTS = {"order_id": "A1", "amount": 20}


def channel(shop: Shop) -> pawl.ChannelHandle:
    return pawl.open("production", workspace=shop.root)


def test_a_run_serves_records_and_ends(released: Shop) -> None:
    with channel(released).run(agent="support", session="s-1") as run:
        messages = run.prompt("support/refund-draft", **INPUTS)
        run.end("drafted")
    assert messages == [dict(message) for message in messages]
    assert ("support/refund-draft@1.0.0", 1, False) == (
        messages.served.ref,
        messages.served.serial,
        messages.served.stale,
    )
    shown = released.pawl("runs", "show", run.id)
    assert ("drafted", ["support/refund-draft"]) == (shown["outcome"], [use["name"] for use in shown["uses"]])
    assert "A1" not in json.dumps(shown)


def test_leaving_by_an_exception_records_an_error(released: Shop) -> None:
    with pytest.raises(ZeroDivisionError), channel(released).run(agent="support") as run:
        _ = 1 / 0
    assert released.pawl("runs", "show", run.id)["outcome"] == "error"


def test_a_run_keeps_its_state_while_the_channel_moves(released: Shop) -> None:
    shop = released
    with channel(shop).run(agent="support") as run:
        shop.release_second(anew=True)
        assert run.workflow("support/refund").served.version == "1.0.0"
        with pytest.raises(pawl.NotFoundError):
            run.tool("support/check-eligibility")
        run.end("drafted")
    with channel(shop).run(agent="support") as later:
        assert later.workflow("support/refund").served.version == "2.0.0"
        later.end("drafted")


def test_a_workflow_is_driven_step_by_step(released: Shop) -> None:
    released.release_second()
    with channel(released).run(agent="support") as run:
        flow = run.workflow("support/refund")
        first = flow.next(INPUTS)
        assert ("eligibility", "tool", {"order_id": "A1"}) == (first.step, first.kind, first.arguments)
        tool = run.tool(first.name)
        assert tool.call(first.arguments)["name"] == "check-eligibility"
        assert tool.definition()["inputSchema"]["type"] == "object"
        with pytest.raises(pawl.InvalidError):
            tool.call({"order_id": 7})
        with pytest.raises(pawl.InvalidError):
            tool.check_result({"eligible": "yes"})
        end = flow.next(INPUTS, [("eligibility", tool.check_result({"eligible": False}))])
        assert end.outcome == "denied"
        with pytest.raises(pawl.InvalidError):
            flow.next({"order_id": "A1"})
        run.end(end.outcome)


@pytest.mark.parametrize(
    "stop", [("halt", "support/refund", "--channel", "production"), ("revoke", "support/refund@1.0.0")]
)
def test_a_stop_reaches_open_runs(released: Shop, stop: tuple[str, ...]) -> None:
    with channel(released).run(agent="support") as run:
        run.workflow("support/refund")
        released.pawl(*stop, "--reason", "stop")
        with pytest.raises(pawl.WithheldError):
            run.workflow("support/refund")
        with pytest.raises(pawl.WithheldError):
            run.checkpoint()
        assert run.prompt("support/refund-draft", **INPUTS)
        run.end("stopped")


@pytest.mark.parametrize("source", ["workspace", "snapshot"])
def test_a_revocation_reaches_what_requires_it(released: Shop, source: str) -> None:
    """Of the workflow and the prompt that it requires, the prompt is revoked; what requires nothing of it goes on."""
    file = snapshot(released)
    opened = channel(released) if source == "workspace" else pawl.open("production", snapshot=file)
    with opened.run(agent="support") as run:
        run.workflow("support/refund")
        released.pawl("revoke", "support/refund-draft@1.0.0", "--reason", "leaks")
        if source == "snapshot":
            snapshot(released)
        with pytest.raises(pawl.WithheldError, match=r"support/refund-draft@1\.0\.0 is revoked: leaks"):
            run.workflow("support/refund")


def test_wrong_inputs_give_every_problem_and_no_messages(released: Shop) -> None:
    with channel(released).run(agent="support") as run:
        with pytest.raises(pawl.InvalidError) as wrong:
            run.prompt("support/refund-draft", amount="twenty", more=1)
        assert len(wrong.value.problems) == 3
        with pytest.raises(pawl.InvalidError):
            run.prompt("support/refund")
        with pytest.raises(pawl.UsageError):
            run.prompt("../secrets")
        run.end("wrong")
        with pytest.raises(pawl.UsageError):
            run.prompt("support/refund-draft", **INPUTS)


def snapshot(shop: Shop, *more: str) -> Path:
    path = shop.root / "production.snapshot.json"
    shop.pawl("snapshot", "production", "--out", str(path), *more)
    return path


def test_a_snapshot_serves_without_the_workspace(released: Shop, tmp_path: Path) -> None:
    path = shutil.copy(snapshot(released), tmp_path / "alone.json")
    handle = pawl.open("production", snapshot=path, ledger=tmp_path / "runs.db")
    with handle.run(agent="support") as run:
        assert run.prompt("support/refund-draft", **INPUTS)[1]["role"] == "user"
        run.end("ok")
    with Ledger(tmp_path / "runs.db") as ledger:
        assert [row.outcome for row in ledger.runs()] == ["ok"]
    assert handle.resolve("support/refund").version == "1.0.0"


def test_a_new_snapshot_reaches_an_open_run(released: Shop) -> None:
    path = snapshot(released)
    with pawl.open("production", snapshot=path).run(agent="support") as run:
        run.workflow("support/refund")
        released.release_second(anew=True)
        released.pawl("revoke", "support/refund@1.0.0", "--reason", "leaks")
        snapshot(released)
        with pytest.raises(pawl.WithheldError):
            run.workflow("support/refund")
        run.end("stopped")


def test_snapshots_that_cannot_be_trusted_are_refused(released: Shop) -> None:
    path = snapshot(released)
    data = path.read_bytes()
    with pytest.raises(pawl.InvalidError):
        pawl.open("staging", snapshot=path)
    for place in range(0, len(data), max(1, len(data) // 60)):
        changed = bytearray(data)
        changed[place] ^= 1
        path.write_bytes(bytes(changed))
        with pytest.raises(pawl.PawlError):
            pawl.open("production", snapshot=path)
    path.write_bytes(data[:-20])
    with pytest.raises(pawl.IntegrityError):
        pawl.open("production", snapshot=path)


def test_a_snapshot_past_its_time_is_stale(released: Shop) -> None:
    path = snapshot(released, "--expires", "PT0S")
    handle = pawl.open("production", snapshot=path)
    assert handle.stale
    assert handle.resolve("support/refund").stale
    with pytest.raises(pawl.WithheldError):
        pawl.open("production", snapshot=path, max_age=timedelta(seconds=-1))


def test_two_workspaces_with_the_same_names_never_cross(released: Shop, tmp_path: Path) -> None:
    other = Shop(tmp_path / "other")
    shutil.copytree(released.root, other.root)
    other.release_second()
    assert [channel(shop).resolve("support/refund").version for shop in (released, other, released)] == [
        "1.0.0",
        "2.0.0",
        "1.0.0",
    ]


def test_unknown_channels_names_and_places(released: Shop, tmp_path: Path) -> None:
    with pytest.raises(pawl.NotFoundError):
        pawl.open("beta", workspace=released.root)
    with pytest.raises(pawl.NotFoundError):
        pawl.open("production", workspace=tmp_path / "nowhere")
    with pytest.raises(pawl.UsageError):
        pawl.open("Production", workspace=released.root)
    with pytest.raises(pawl.NotFoundError):
        channel(released).resolve("support/nothing")


# The ledger


def start(run_id: str) -> RunStart:
    pins = {"a/b": {"version": "1.0.0", "digest": "sha256:0", "kind": "prompt"}}
    return RunStart(
        run_id=run_id, channel="production", serial=1, snapshot="x", policy=1, pins=pins, agent="support", session=None,
        started_at="2026-01-01T00:00:00Z",
    )  # fmt: skip


USE = Use(at="2026-01-02T00:00:00Z", kind="prompt", name="a/b", version="1.0.0", digest="sha256:0")


def _many(path: Path, worker: int) -> None:
    with Ledger(path) as ledger:
        for turn in range(10):
            ledger.start(start(f"{worker}-{turn}"))
            ledger.use(f"{worker}-{turn}", USE)
            ledger.end(f"{worker}-{turn}", "ok", "2026-01-03T00:00:00Z")


def test_many_processes_share_a_ledger(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_many, args=(path, worker)) for worker in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 6
    with Ledger(path) as ledger:
        assert len(ledger.runs(limit=1000)) == 60
        assert len(ledger.affected(parse_ref("a/b@1.0.0")).used) == 60


def test_what_a_call_recorded_outlives_its_process(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    child = os.fork()
    if child == 0:  # pragma: no cover - it never comes back
        Ledger(path).start(start("killed"))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    with Ledger(path) as ledger:
        assert [(row.run_id, row.ended_at) for row in ledger.runs(open_only=True)] == [("killed", None)]


def test_a_ledger_that_is_none_is_an_integrity_error(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(pawl.IntegrityError):
        Ledger(path)


def test_affected_in_a_span_of_time(tmp_path: Path) -> None:
    ref = parse_ref("a/b@1.0.0")
    with Ledger(tmp_path / "runs.db") as ledger:
        ledger.start(start("used"))
        ledger.use("used", USE)
        ledger.start(start("only-pinned"))
        assert [row.run_id for row in ledger.affected(ref).pinned_only] == ["only-pinned"]
        assert ledger.affected(ref, since="2026-01-02T00:00:01Z").used == ()
        assert [row.run_id for row in ledger.affected(ref, until="2026-01-03T00:00:00Z").used] == ["used"]


def test_a_run_of_version_two_is_found_by_its_version(released: Shop) -> None:
    released.release_second()
    with channel(released).run(agent="support") as run:
        run.workflow("support/refund")
        run.end("ok")
    assert [row["run_id"] for row in released.pawl("runs", "affected", SECOND[0])["used"]] == [run.id]


@pytest.mark.parametrize("arguments", ["x", None, [1], 7])
def test_arguments_that_are_no_object_are_pawls_own_error(released: Shop, arguments: object) -> None:
    released.release_second()
    with channel(released).run(agent="support") as run:
        with pytest.raises(pawl.InvalidError):
            run.tool("support/check-eligibility").call(arguments)  # type: ignore[arg-type]
        with pytest.raises(pawl.UsageError):
            run.tool(7)  # type: ignore[arg-type]
        run.end("wrong")
