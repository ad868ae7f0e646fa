"""Whoever reads while a channel moves sees one complete state or another, never a mixture."""

from __future__ import annotations

import multiprocessing
import os
import threading
from pathlib import Path

import pytest

import pawl
from support import Shop

READS = 10_000
NAMES = ("support/refund", "support/refund-draft")


def states(shop: Shop) -> list[bytes]:
    """Return snapshots of two states in which every pin differs, the newer one last."""
    found = []
    path = shop.root / "one.json"
    for turn in range(2):
        if turn:
            shop.release_second()
        shop.pawl("snapshot", "production", "--out", str(path))
        found.append(path.read_bytes())
    return found


def read(place: Path, reads: int) -> set[tuple[int, tuple[tuple[str, str], ...]]]:
    """Open the snapshot again and again; return the states that were seen: serial and pins."""
    seen = set()
    for _ in range(reads):
        handle = pawl.open("production", snapshot=place)
        pins = tuple((name, handle.resolve(name).version) for name in sorted(handle.names()))
        seen.add((handle.serial, pins))
    return seen


def _reader(place: Path, reads: int, out: multiprocessing.Queue[object]) -> None:
    try:
        out.put(read(place, reads))
    except BaseException as error:  # noqa: BLE001 - told to the test
        out.put(error)


def _replace(place: Path, data: bytes) -> None:
    aside = place.with_name(f"{place.name}.{os.getpid()}")
    aside.write_bytes(data)
    aside.replace(place)


@pytest.mark.slow
def test_ten_thousand_reads_of_a_file_that_is_replaced_see_whole_states(released: Shop, tmp_path: Path) -> None:
    both = states(released)
    place = tmp_path / "live.json"
    whole = set()
    for data in both:
        _replace(place, data)
        whole |= read(place, 1)
    context = multiprocessing.get_context("fork")
    out: multiprocessing.Queue[object] = context.Queue()
    readers = [context.Process(target=_reader, args=(place, READS // 2, out)) for _ in range(2)]
    for reader in readers:
        reader.start()
    turn = 0
    while any(reader.is_alive() for reader in readers):
        _replace(place, both[turn % 2])
        turn += 1
    seen = [out.get() for _ in readers]
    for reader in readers:
        reader.join()
    assert turn > 10
    assert [found if isinstance(found, Exception) else found <= whole for found in seen] == [True, True]  # type: ignore[operator]
    assert set().union(*seen) == whole  # type: ignore[arg-type]


def test_runs_and_reloads_during_a_promotion_see_one_state_each(released: Shop) -> None:
    """Threads of one handle on a workspace; every run's pins are those of its serial."""
    handle = pawl.open("production", workspace=released.root)
    seen: dict[int, set[tuple[str, ...]]] = {}
    stop, faults = threading.Event(), []

    def agent() -> None:
        try:
            while not stop.is_set():
                current = handle.reload()
                with current.run(agent="support") as run:
                    versions = tuple(current.resolve(name).version for name in NAMES)
                    if run.serial == current.serial:
                        seen.setdefault(run.serial, set()).add(versions)
                    run.end("ok")
        except BaseException as error:  # noqa: BLE001 - told below
            faults.append(error)

    threads = [threading.Thread(target=agent) for _ in range(2)]
    for thread in threads:
        thread.start()
    released.release_second(anew=True)
    stop.set()
    for thread in threads:
        thread.join()
    assert faults == []
    assert seen
    assert all(len(versions) == 1 for versions in seen.values()), seen
