"""Resolving: which version a channel serves, from a handle that is open, and from nothing but files."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pawl
from benchmarks.harness import FLOOR, OWN_TAIL, Benchmark, Contest, Rival, Setting
from benchmarks.sides import calling, looped_and_each
from benchmarks.workspaces import NAME, STAGING, forget, make, promote_to_staging, publish_all, ref
from pawl.canonical import canonical_bytes
from pawl.ids import Name
from pawl.io.file_marks import SETTLED_NS
from pawl.runs.views import open_channel, take_snapshot
from pawl.workspace import Workspace

VERSION = "1.0.0"
TEXT = f"Write about {{{{amount}}}} for order {{{{order_id}}}}, version {VERSION}."
"""What peers keep under the name; each of them has a word of its own for which version that is."""


def released(folder: Path, *more: str) -> tuple[Workspace, Path]:
    """Return a workspace with one live prompt and ``more`` live versions, and a snapshot of it."""
    workspace = make(folder / "workspace", procedures=3)
    publish_all(workspace)
    promote_to_staging(workspace, ref(VERSION), *more)
    snapshot = folder / "staging.json"
    snapshot.write_bytes(take_snapshot(open_channel(workspace, STAGING), now=datetime.now(UTC), expires=None))
    return workspace, snapshot


def says(expected: str) -> Callable[[Any, Any], bool]:
    """Return the comparison with a peer that answers with a text of its own: both found what was pinned there."""
    return lambda made, answer: bool(made == VERSION and answer == expected)


def _settle(setting: Setting) -> None:
    """Wait until files are older than what may still change unseen: agents rarely resolve what came this second."""
    time.sleep(setting.pick(full=1.1, quick=1.1, tiny=0.0) * SETTLED_NS / 1e9)


def _warm(setting: Setting) -> Iterator[Contest]:
    workspace, snapshot = released(setting.folder)
    _settle(setting)
    table: dict[Name, str] = {NAME: VERSION}

    def look_up(name: Name) -> str:
        return table[name]

    rivals = _warm_rivals(setting)
    handles = {
        "snapshot": pawl.open(STAGING, snapshot=snapshot),
        "workspace": pawl.open(STAGING, workspace=workspace.root),
    }
    for name, handle in handles.items():
        yield Contest(
            name=f"resolve, open {name}",
            product=looped_and_each(lambda handle=handle: handle.resolve(NAME).version),  # type: ignore[misc] # at once
            floor=calling(lambda: look_up(NAME)),
            agree=str.__eq__,
            rivals=rivals,
            goals={FLOOR: 6, OWN_TAIL: 3, "langfuse": 1 / 9, "openfeature": 1 / 50, "mlflow": 1 / 150},
            calls=setting.pick(full=2_000, quick=1_000, tiny=10),
        )


def _warm_rivals(setting: Setting) -> tuple[Rival, ...]:
    asked = (
        ("langfuse", setting.peers.work("langfuse", "cached", text=TEXT), says(TEXT)),
        ("openfeature", setting.peers.work("openfeature", "evaluate", version=VERSION), says(VERSION)),
        ("mlflow", setting.peers.work("mlflow", "load", cached=True, text=TEXT), says(TEXT)),
    )
    return tuple(Rival(peer=peer, side=side, agree=agree) for peer, side, agree in asked if side)


def _cold(setting: Setting) -> Iterator[Contest]:
    workspace, snapshot = released(setting.folder)
    _settle(setting)
    side = setting.peers.work("mlflow", "load", cached=False, text=TEXT)
    rivals = (Rival(peer="mlflow", side=side, agree=says(TEXT)),) if side else ()
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
    handle = pawl.open(STAGING, workspace=workspace.root)

    def opened() -> str:
        return pawl.open(STAGING, workspace=workspace.root).resolve(NAME).version

    def contest(
        name: str, act: Callable[[], str], floor: Callable[[], str], before: Callable[[], object] = lambda: None
    ) -> Contest:
        return Contest(
            name=name,
            product=calling(act),
            floor=calling(floor),
            agree=str.__eq__,
            rivals=rivals,
            goals={FLOOR: 3, "mlflow": 1 / 350},
            calls=1 if name.endswith("nothing remembered") else setting.pick(full=100, quick=50, tiny=1),
            before=before,
        )

    yield contest(
        "open a snapshot and resolve",
        lambda: pawl.open(STAGING, snapshot=snapshot).resolve(NAME).version,
        lambda: str(_read([snapshot])[0]["procedures"][NAME]["version"]),
    )
    yield contest(
        "resolve in an open workspace",
        lambda: handle.resolve(NAME).version,
        lambda: str(_read(files[:1])[0]["version"]),
    )
    yield contest("open a workspace and resolve", opened, lambda: str(_read(files)[0]["version"]))
    yield contest(
        "open a workspace and resolve, nothing remembered",
        opened,
        lambda: str(_read(files)[0]["version"]),
        lambda: forget(workspace),
    )


def _read(files: list[Path]) -> list[Any]:
    found = []
    for path in files:
        data = path.read_bytes()
        hashlib.sha256(data).hexdigest()
        found.append(json.loads(data))
    return found


RESOLVE = Benchmark(
    about="resolve a pinned version in process, warm",
    floor="a function that looks a name up in a dict",
    prepare=_warm,
)
RESOLVE_COLD = Benchmark(
    about="resolve from files, every digest checked",
    floor="open, read, SHA-256 and json.loads of the same files (the document as JSON)",
    prepare=_cold,
)
