"""Resolving: which version a channel serves, from a handle that is open, and from nothing but files."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pawl
from benchmarks.harness import Benchmark, Contest, Setting
from benchmarks.workspaces import NAME, STAGING, make, promote_to_staging, publish_all, ref
from pawl.canonical import canonical_bytes
from pawl.ids import Name
from pawl.runs.views import open_channel, take_snapshot
from pawl.workspace import Workspace


def released(folder: Path) -> tuple[Workspace, Path]:
    """Return a workspace with one live prompt, and a snapshot of it."""
    workspace = make(folder / "workspace", procedures=3)
    publish_all(workspace)
    promote_to_staging(workspace, ref("1.0.0"))
    snapshot = folder / "staging.json"
    snapshot.write_bytes(take_snapshot(open_channel(workspace, STAGING), now=datetime.now(UTC), expires=None))
    return workspace, snapshot


def _warm(setting: Setting) -> Iterator[Contest]:
    workspace, snapshot = released(setting.folder)
    calls = 10 if setting.tiny else 1_000
    table: dict[Name, str] = {NAME: "1.0.0"}

    def look_up(name: Name) -> str:
        return table[name]

    handles = {
        "snapshot": pawl.open(STAGING, snapshot=snapshot),
        "workspace": pawl.open(STAGING, workspace=workspace.root),
    }
    for name, handle in handles.items():
        yield Contest(
            name=f"resolve, open {name}",
            product=lambda handle=handle: handle.resolve(NAME).version,  # type: ignore[misc] # bound at once
            floor=lambda: look_up(NAME),
            agree=str.__eq__,
            calls=calls,
        )


def _cold(setting: Setting) -> Iterator[Contest]:
    workspace, snapshot = released(setting.folder)
    calls = 1 if setting.tiny else 20
    yield Contest(
        name="open a snapshot and resolve",
        product=lambda: pawl.open(STAGING, snapshot=snapshot).resolve(NAME).version,
        floor=lambda: _read([snapshot])[0]["procedures"][NAME]["version"],
        agree=str.__eq__,
        calls=calls,
    )
    document = setting.folder / "document.json"
    document.write_bytes(
        canonical_bytes(dict(open_channel(workspace, STAGING).entry(NAME, datetime.now(UTC)).document or {}))
    )
    files = [
        document,
        *sorted(workspace.releases.glob("registry/*.json")),
        max(workspace.releases.glob(f"{STAGING}/*.json")),
        workspace.projection_file(STAGING),
    ]
    cache = workspace.private / "documents"
    for name, before in (("no cache", lambda: shutil.rmtree(cache, ignore_errors=True)), ("with cache", lambda: None)):
        yield Contest(
            name=f"open a workspace and resolve, {name}",
            product=lambda: pawl.open(STAGING, workspace=workspace.root).resolve(NAME).version,
            floor=lambda: _read(files)[0]["version"],
            agree=str.__eq__,
            before=before,
        )


def _read(files: list[Path]) -> list[Any]:
    found = []
    for path in files:
        data = path.read_bytes()
        hashlib.sha256(data).hexdigest()
        found.append(json.loads(data))
    return found


RESOLVE = Benchmark(
    about="resolve a name on a channel that is open",
    floor="a function that looks a name up in a dict",
    prepare=_warm,
)
RESOLVE_COLD = Benchmark(
    about="open a channel from files, every digest checked, and resolve a name",
    floor="read, SHA-256 and json.loads of the same files (the document as JSON)",
    prepare=_cold,
)
