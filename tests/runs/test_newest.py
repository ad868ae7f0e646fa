"""Agents remember the newest state that they saw, and refuse an older one."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path

import pytest

import pawl
from support import Shop


def snapshot(shop: Shop, name: str, *more: str) -> Path:
    path = shop.root / f"{name}.json"
    shop.pawl("snapshot", "production", "--out", str(path), *more)
    return path


def put(data: Path, place: Path) -> None:
    """Put a snapshot in the place of another, as a deployment would."""
    aside = place.with_suffix(".new")
    shutil.copyfile(data, aside)
    aside.replace(place)


@pytest.fixture
def old(released: Shop) -> Path:
    return snapshot(released, "old")


@pytest.fixture
def new(released: Shop, old: Path) -> Path:
    assert old.exists()
    released.release_second()
    return snapshot(released, "new")


@pytest.fixture
def live(released: Shop) -> Path:
    return released.root / "live.json"


def refused(act: object) -> str:
    with pytest.raises(pawl.WithheldError) as found:
        act()  # type: ignore[operator]
    return found.value.problems[0].code


def test_an_older_snapshot_is_refused_by_everything_that_looks_again(old: Path, new: Path, live: Path) -> None:
    put(new, live)
    handle = pawl.open("production", snapshot=live)
    run = handle.run(agent="support")
    put(old, live)
    for act in (
        handle.reload,
        lambda: handle.run(agent="support"),
        run.checkpoint,
        lambda: run.workflow("support/refund"),
    ):
        assert refused(act) == "channel-older"
    assert handle.resolve("support/refund").version == "2.0.0"
    put(new, live)
    run.checkpoint()
    assert handle.reload().serial == handle.serial


def test_the_newest_state_that_any_of_them_saw_counts(old: Path, new: Path, live: Path) -> None:
    put(old, live)
    handle = pawl.open("production", snapshot=live)
    with handle.run(agent="support") as run:
        put(new, live)
        run.workflow("support/refund")
        put(old, live)
        assert refused(lambda: handle.run(agent="support")) == "channel-older"
        put(new, live)
        run.end("ok")


def test_a_rollback_is_newer(released: Shop, new: Path, live: Path) -> None:
    put(new, live)
    handle = pawl.open("production", snapshot=live)
    released.pawl("rollback", "support/refund", "--channel", "production", "--reason", "worse")
    put(snapshot(released, "back"), live)
    back = handle.reload()
    assert (back.serial > handle.serial, back.resolve("support/refund").version) == (True, "1.0.0")


def test_a_revocation_is_not_forgotten_at_the_same_serial(released: Shop, old: Path, live: Path) -> None:
    released.pawl("revoke", "support/refund@1.0.0", "--reason", "leaks")
    put(snapshot(released, "revoked"), live)
    handle = pawl.open("production", snapshot=live)
    put(old, live)
    assert pawl.open("production", snapshot=old).serial == handle.serial
    assert refused(handle.reload) == "channel-older"


def test_a_newer_snapshot_of_the_same_state_is_taken(released: Shop, old: Path, live: Path) -> None:
    put(old, live)
    handle = pawl.open("production", snapshot=live)
    put(snapshot(released, "again", "--expires", "PT0S"), live)
    assert handle.reload().stale


def test_what_was_seen_in_another_process_is_said_when_opening(released: Shop, old: Path, new: Path) -> None:
    seen = pawl.open("production", snapshot=new).serial
    assert refused(lambda: pawl.open("production", snapshot=old, at_least=seen)) == "channel-older"
    assert pawl.open("production", snapshot=new, at_least=seen).serial == seen
    assert pawl.open("production", workspace=released.root, at_least=seen).serial == seen
    assert refused(lambda: pawl.open("production", workspace=released.root, at_least=seen + 1)) == "channel-older"


def test_a_file_that_did_not_change_is_not_read_again(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_an_hour = old.stat().st_ctime_ns + 3600 * 10**9  # when it has stood still for long
    monkeypatch.setattr("pawl.runs.snapshot_view.time.time_ns", lambda: in_an_hour)
    handle = pawl.open("production", snapshot=old)
    read: list[str] = []
    monkeypatch.setattr("pawl.runs.snapshot_view.open_snapshot", lambda path, _channel: read.append(path))
    assert handle.reload().serial == handle.serial
    assert read == []


def test_an_age_is_refused_beside_a_serial(old: Path) -> None:
    assert refused(lambda: pawl.open("production", snapshot=old, max_age=timedelta(seconds=-1))) == "snapshot-too-old"
