"""Journals that were reordered, cut, forked, spliced, doubled, renamed or spelled anew: 6, and the record is named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hostile.forging import fields_of, forge
from hostile.stored import sealed
from pawl.operations.observing.verifying import verify
from pawl.operations.session import Report, Session
from pawl.registry.journal import Actor
from pawl.workspace import Workspace
from support import FIRST, Shop

JOURNALS = ("registry", "staging", "production")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A workspace outside of Git, so that chains, projections and anchors stand alone."""
    return made(tmp_path_factory.mktemp("whole"))


def made(root: Path) -> Shop:
    shop = Shop(root)
    shop.start()
    shop.release_first()
    shop.release_second()
    for channel in ("staging", "production"):
        shop.rollback("support/refund", "--with-requirements", channel=channel)
    shop.pawl("deprecate", FIRST[1], "--reason", "old")
    for channel in ("staging", "production"):
        shop.pawl("halt", "support/refund", "--channel", channel, "--reason", f"stop {channel}")
    return shop


@pytest.fixture
def shop(whole: Shop, tmp_path: Path) -> Shop:
    shutil.copytree(whole.root, tmp_path / "shop")
    return Shop(tmp_path / "shop")


def verified(shop: Shop) -> Report:
    actor, now = Actor(name="Ada"), datetime(2999, 1, 1, tzinfo=UTC)
    return verify(Session(workspace=Workspace(shop.root), actor=actor, now=now, commit=False))


def named(shop: Shop) -> set[str]:
    """Return the paths that errors name; the exit code must be 6."""
    report = verified(shop)
    assert report.exit_code == 6
    return {str(problem.path) for problem in report.problems if problem.severity == "error"}


def swap(folder: Path, serial: int) -> None:
    one, other = record(folder, serial), record(folder, serial - 1)
    data = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(data)


def take_out(folder: Path, serial: int) -> None:
    record(folder, serial).unlink()


def empty(folder: Path, serial: int) -> None:
    record(folder, serial).write_bytes(b"")


def double(folder: Path, serial: int) -> None:
    record(folder, serial).write_bytes(record(folder, serial - 1).read_bytes())


def double_at_the_end(folder: Path, serial: int) -> None:
    record(folder, last(folder) + 1).write_bytes(record(folder, serial).read_bytes())


def rename(folder: Path, serial: int) -> None:
    record(folder, serial).rename(record(folder, 70))


def rename_ending(folder: Path, serial: int) -> None:
    record(folder, serial).rename(record(folder, serial).with_suffix(".JSON"))


def rename_digits(folder: Path, serial: int) -> None:
    record(folder, serial).rename(folder / f"{serial}.json")


def extra_field(folder: Path, serial: int) -> None:
    reseal(folder, serial, {"extra": 1})


def other_reason(folder: Path, serial: int) -> None:
    reseal(folder, serial, {"reason": "another"})


def other_actor(folder: Path, serial: int) -> None:
    reseal(folder, serial, {"actor": {"name": "Eve", "email": None, "verified": True}})


def other_format(folder: Path, serial: int) -> None:
    reseal(folder, serial, {"format": 2})


def crlf(folder: Path, serial: int) -> None:
    respell(folder, serial, lambda data: data.replace(b"\n", b"\r\n"))


def utf16(folder: Path, serial: int) -> None:
    respell(folder, serial, lambda data: data.decode().encode("utf-16"))


def byte_order_mark(folder: Path, serial: int) -> None:
    respell(folder, serial, lambda data: b"\xef\xbb\xbf" + data)


def escapes(folder: Path, serial: int) -> None:
    respell(folder, serial, lambda data: data.replace(b"support/refund", b"support\\/refund", 1) + b" ")


def compact(folder: Path, serial: int) -> None:
    respell(folder, serial, lambda data: json.dumps(json.loads(data)).encode())


def folder_in_its_place(folder: Path, serial: int) -> None:
    record(folder, serial).unlink()
    record(folder, serial).mkdir()


def link_out(folder: Path, serial: int) -> None:
    outside = folder.parents[2] / "outside.json"
    record(folder, serial).rename(outside)
    record(folder, serial).symlink_to(outside)


def from_another_journal(folder: Path, serial: int) -> None:
    other = folder.parent / ("staging" if folder.name != "staging" else "production")
    record(folder, serial).write_bytes(record(other, min(serial, last(other))).read_bytes())


def from_another_journal_as_its_own(folder: Path, serial: int) -> None:
    other = folder.parent / ("staging" if folder.name != "staging" else "production")
    fields = json.loads(record(other, min(serial, last(other))).read_bytes())
    mine = json.loads(record(folder, serial).read_bytes())
    record(folder, serial).write_bytes(
        sealed({**fields, "journal": folder.name, "serial": serial, "previous": mine["previous"]})
    )


DEEDS: tuple[Callable[[Path, int], None], ...] = (
    *(swap, take_out, empty, double, double_at_the_end, rename, rename_ending, rename_digits, extra_field),
    *(other_reason, other_actor, other_format, crlf, utf16, byte_order_mark, escapes, compact, folder_in_its_place),
    *(link_out, from_another_journal, from_another_journal_as_its_own),
)


def record(folder: Path, serial: int) -> Path:
    return folder / f"{serial:06d}.json"


def last(folder: Path) -> int:
    return len(list(folder.glob("*.json")))


def respell(folder: Path, serial: int, change: Callable[[bytes], bytes]) -> None:
    path = record(folder, serial)
    path.write_bytes(change(path.read_bytes()))


def reseal(folder: Path, serial: int, fields: dict[str, object]) -> None:
    respell(folder, serial, lambda data: sealed({**json.loads(data), **fields}))


def test_it_is_whole_before(whole: Shop) -> None:
    assert verified(whole).exit_code == 0
    assert all(last(whole.root / "releases" / journal) >= 3 for journal in JOURNALS)


LAST_OF_THE_REGISTRY = {take_out, extra_field, other_reason, other_actor}
"""What is done to a record that no later one speaks of: Git and kept files alone know, see test_branch_history.py."""
CASES = [
    pytest.param(deed, journal, where, id=f"{deed.__name__}-{journal}-{where}")
    for deed in DEEDS
    for journal in JOURNALS
    for where in ("middle", "last")
    if (journal, where) != ("registry", "last") or deed not in LAST_OF_THE_REGISTRY
]


@pytest.mark.parametrize(("deed", "journal", "where"), CASES)
def test_every_deed_is_found_and_named(shop: Shop, deed: Callable[[Path, int], None], journal: str, where: str) -> None:
    folder = shop.root / "releases" / journal
    serial = last(folder) if where == "last" else 2
    deed(folder, serial)
    near = {f"releases/{journal}/{number:06d}.json" for number in range(1, last(folder) + 3)}
    near |= {f"registry/channels/{journal}.json", "releases/registry" if journal == "registry" else ""}
    assert named(shop) & near


def test_records_of_another_workspace(shop: Shop, tmp_path: Path) -> None:
    """Same story, same names, another time: each record is whole by itself."""
    (tmp_path / "other").mkdir()
    other = made(tmp_path / "other")
    forge(other, "production", lambda rows: rows[0].update(reason="another first release"))
    folder = shop.root / "releases" / "production"
    for serial in range(1, last(folder) + 1):
        before = record(folder, serial).read_bytes()
        record(folder, serial).write_bytes(record(other.root / "releases" / "production", serial).read_bytes())
        assert {path for path in named(shop) if path.startswith(("releases/production/", "registry/channels/"))}
        record(folder, serial).write_bytes(before)


def test_an_earlier_record_of_the_same_serial(shop: Shop) -> None:
    """Somebody kept record 2 before a reset; it follows record 1 and is no longer what record 3 follows."""
    folder = shop.root / "releases" / "production"
    kept = sealed({**fields_of(shop, "production")[1], "reason": "before the reset"})
    record(folder, 2).write_bytes(kept)
    assert "releases/production/000003.json" in named(shop)


@pytest.mark.parametrize("channel", ["staging", "production"])
@pytest.mark.parametrize("count", [1, 2])
def test_a_cut_is_told_by_the_number_of_the_record(shop: Shop, channel: str, count: int) -> None:
    folder = shop.root / "releases" / channel
    serial = last(folder)
    for number in range(count):
        record(folder, serial - number).unlink()
    problems = [problem for problem in verified(shop).problems if problem.severity == "error"]
    assert any(f"record {serial}" in problem.message for problem in problems), problems
    assert "journal-truncated" in {problem.code for problem in problems}


def test_a_registry_that_was_cut_behind_what_a_channel_was_judged_on(shop: Shop) -> None:
    for number in (last(shop.root / "releases/registry"), last(shop.root / "releases/registry") - 1):
        record(shop.root / "releases/registry", number).unlink()
    assert "releases/registry" in named(shop)


def test_a_channel_without_its_journal(shop: Shop) -> None:
    shutil.rmtree(shop.root / "releases/production")
    assert "registry/channels/production.json" in named(shop)


def test_a_projection_of_another_channel(shop: Shop) -> None:
    channels = shop.root / "registry/channels"
    (channels / "production.json").write_bytes((channels / "staging.json").read_bytes())
    assert "registry/channels/production.json" in named(shop)
