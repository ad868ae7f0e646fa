"""A power cut takes away what no ``fsync`` asked for: bytes of files, and names in folders that were not synced.

A model of a disk keeps the inodes whose bytes were synced, and the names that each folder had when it was synced.
"""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from pawl.io import steps
from pawl.runs.ledger import Ledger
from support import FIRST, SECOND, Shop


class Disk:
    """What would be there after a power cut, of what came since this began."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bytes: set[int] = set()
        self.names: dict[int, set[tuple[str, int]]] = {}
        for folder in (root, *(path for path in root.rglob("*") if path.is_dir())):
            self._sync_names(folder)
        self.bytes |= {path.stat().st_ino for path in root.rglob("*") if path.is_file()}

    def sync(self, handle: int) -> None:
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            self._sync_names(Path(f"/proc/self/fd/{handle}").readlink())
        else:
            self.bytes.add(status.st_ino)

    def _sync_names(self, folder: Path) -> None:
        self.names[folder.stat().st_ino] = {(entry.name, entry.inode()) for entry in os.scandir(folder)}

    def lost(self, *folders: str) -> list[str]:
        """Return the files below these folders that would not be there whole."""
        paths = (path for folder in folders for path in (self.root / folder).rglob("*") if path.is_file())
        return [str(path.relative_to(self.root)) for path in sorted(paths) if not self._stays(path)]

    def _stays(self, path: Path) -> bool:
        way = [path, *path.parents]
        way = way[: way.index(self.root)]
        known = all((part.name, part.stat().st_ino) in self.names.get(part.parent.stat().st_ino, ()) for part in way)
        return known and path.stat().st_ino in self.bytes


def watched(root: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """Return a disk that has all that is below ``root`` now, and what is synced from now on."""
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("which folder a descriptor is of cannot be seen here")
    kept, real = Disk(root), os.fsync

    def syncing(handle: int) -> None:
        real(handle)
        kept.sync(handle)

    monkeypatch.setattr(os, "fsync", syncing)
    return kept


@pytest.fixture
def disk(plain_shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Disk:
    return watched(plain_shop.root, monkeypatch)


def test_the_model_tells_what_was_not_synced(disk: Disk) -> None:
    (disk.root / "registry/new").mkdir()
    (disk.root / "registry/new/file").write_text("x", encoding="utf-8")
    assert disk.lost("registry") == ["registry/new/file"]
    with (disk.root / "registry/new/file").open("rb") as file:
        os.fsync(file.fileno())
    assert disk.lost("registry") == ["registry/new/file"]
    for folder in ("registry/new", "registry"):
        handle = os.open(disk.root / folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
    assert disk.lost("registry") == []


def test_what_a_record_speaks_of_is_on_disk_before_it(
    plain_shop: Shop, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first versions, the first record of each channel and all that follow, in folders that were not there."""
    before: list[list[str]] = []
    monkeypatch.setattr(
        steps,
        "hook",
        lambda name: before.append(disk.lost("registry/versions", "releases")) if name == "files.link" else None,
    )
    plain_shop.adopt()
    plain_shop.pawl("publish")
    for channel in ("staging", "production"):
        plain_shop.promote(*FIRST, to=channel)
    plain_shop.second()
    plain_shop.pawl("publish")
    plain_shop.promote(*SECOND, to="staging")
    plain_shop.pawl("halt", "support/refund", "--channel", "staging", "--reason", "stop")
    assert len(before) == 7
    assert [lost for lost in before if any(not name.rpartition("/")[2].startswith(".") for name in lost)] == []


def test_what_was_acknowledged_is_on_disk(plain_shop: Shop, disk: Disk) -> None:
    """All but a projection that was replaced: an older one is behind its journal and written again."""
    plain_shop.release_first(anew=True)
    assert disk.lost("registry/versions", "releases") == []
    assert set(disk.lost("registry")) <= {f"registry/channels/{name}.json" for name in ("staging", "production")}
    plain_shop.release_second(anew=True)
    plain_shop.rollback("support/refund")
    assert disk.lost("registry/versions", "releases") == []


def test_a_ledger_is_on_disk_with_its_folder(plain_shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite syncs the folder of its file; the folder's own name is ours to sync."""
    plain_shop.release_first()
    shutil.rmtree(plain_shop.root / ".pawl")
    disk = watched(plain_shop.root, monkeypatch)
    plain_shop.pawl("run", "start", "--channel", "production", "--agent", "support")
    assert ".pawl" in {name for name, _ in disk.names[plain_shop.root.stat().st_ino]}
    Ledger(plain_shop.root / "kept" / "ledger.db").close()
    assert "kept" in {name for name, _ in disk.names[plain_shop.root.stat().st_ino]}
