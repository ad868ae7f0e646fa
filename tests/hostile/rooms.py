"""Targets that need a folder: a workspace with a spoilt file, the command line, ledgers, caches.

The workspace is made once for a process; after every input its files are what they were.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pawl
from hostile.limits import DeedError
from hostile.mutation import TOKENS, by_bytes
from hostile.stored import example_snapshot, resealed, sealed
from hostile.table import Target
from pawl.errors import PawlError
from pawl.ids import parse_ref
from pawl.runs.ledger import Ledger
from pawl.runs.rows import RunStart, Use
from support import FIRST, Shop, in_process

LOOKING: tuple[tuple[str, ...], ...] = (
    *(("verify",), ("status",), ("list",), ("check", "--no-code"), ("history", "production"), ("audit",)),
    *(("resolve", "support/refund", "--channel", "production"), ("show", "support/refund@1.0.0")),
    *(("targets", "support/refund", "--channel", "production"), ("policy", "show"), ("policy", "plan")),
    ("promote", "support/refund@1.0.0", "--to", "production", "--reason", "r", "--dry-run"),
    ("rollback", "support/refund", "--channel", "production", "--reason", "r", "--dry-run"),
    ("render", "support/refund-draft@1.0.0", "--input", "order_id=A1", "--input", "amount=20"),
)
"""Commands that only look."""
_HOLES = {
    "NAME": ("support/refund", "support/refund-draft", "x", "a/b/c"),
    "REF": ("support/refund@1.0.0", "support/refund-draft@1.0.0", "x@1.0.0"),
    "CHANNEL": ("production", "staging", "x"),
    "TIME": ("2026-12-15", "2026-12-15T09:00:00Z"),
    "TEXT": ("amount=20", "order_id=A1", "a", "1"),
    "KIND": ("procedure", "suite", "policy", "prompt", "output"),
    "FORMAT": ("mcp", "json", "text", "github"),
}
_LINES: tuple[tuple[str, ...], ...] = (
    *(
        ("resolve", "NAME", "--channel", "CHANNEL"),
        ("show", "REF"),
        ("diff", "REF", "REF"),
        ("why", "REF", "--channel", "CHANNEL"),
    ),
    *(
        ("render", "REF", "--input", "TEXT", "--input", "TEXT"),
        ("history", "CHANNEL", "--at", "TIME"),
        ("list", "TEXT"),
    ),
    *(("targets", "NAME", "--channel", "CHANNEL"), ("schema", "KIND"), ("export", "NAME", "--format", "FORMAT")),
    *(("promote", "REF", "REF", "--to", "CHANNEL", "--reason", "TEXT", "--dry-run"), ("test", "NAME", "--no-code")),
    *(("rollback", "NAME", "--channel", "CHANNEL", "--to", "REF", "--reason", "TEXT", "--dry-run"), ("TEXT", "TEXT")),
    *(
        ("runs", "show", "TEXT"),
        ("runs", "affected", "REF"),
        ("check", "-o", "FORMAT", "--no-code"),
        ("status", "-o", "FORMAT"),
    ),
    *(("check", "--base", "TEXT", "--no-code"), ("audit", "--channel", "CHANNEL", "--require-way-back", "TEXT")),
)


def temporary(name: str) -> Path:
    """Return a folder that is gone when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix=f"pawl-hostile-{name}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def shop() -> Shop:
    """Return a workspace outside of Git with version 1 released; .pawl is filled, and nothing is written later on."""
    os.environ.setdefault("GIT_CEILING_DIRECTORIES", tempfile.gettempdir())
    made = Shop(temporary("shop"))
    made.start()
    made.adopt()
    made.pawl("publish")
    made.everywhere(*FIRST)
    for words in LOOKING:
        in_process("-C", str(made.root), *words)
    return made


@cache
def _whole() -> dict[str, bytes]:
    return _kept(shop())


def _kept(of: Shop) -> dict[str, bytes]:
    return of.files("registry", "releases", "procedures", "conformance")


def _run(*words: str) -> bool:
    """Run a command; it must end with one of the codes of the table, and never as a crash."""
    ended = in_process("-C", str(shop().root), *words)
    if ended.code not in range(9):
        raise DeedError(f"pawl {' '.join(words)[:200]!r} ended with {ended.code}: {ended.err[-1_500:]}")
    return ended.code == 0


def _make_spoilt(rng: Random) -> bytes:
    whole = _whole()
    name = rng.choice(sorted(whole))
    data = by_bytes([whole[name]])(rng)
    if name.startswith("releases/") and name.count("/") == 2 and rng.random() < 0.6:
        data = resealed(rng, [json.loads(whole[name])])
    words = rng.choice(LOOKING)
    return json.dumps({"file": name, "data": data.decode("latin-1"), "words": words}).encode()


def _spoilt(data: bytes) -> bool:
    try:
        given = json.loads(data)
        path, text, words = shop().root / str(given["file"]), given["data"].encode("latin-1"), given["words"]
        before = _whole()[given["file"]]
    except (ValueError, KeyError, TypeError, AttributeError, UnicodeError):
        return False
    path.write_bytes(text)
    try:
        taken = _run(*words)
        after = _kept(shop())
        if after != {**_whole(), given["file"]: text}:
            raise DeedError(f"{words} wrote into the workspace")
    finally:
        path.write_bytes(before)
    return taken


def _make_line(rng: Random) -> bytes:
    words = []
    for word in rng.choice(_LINES):
        good = rng.choice(_HOLES[word]) if word in _HOLES else word
        if word in _HOLES and rng.random() < 0.6:
            good = by_bytes([good.encode()], [token for token in TOKENS if len(token) < 30])(rng).decode(
                "utf-8", "replace"
            )
        words.append(good[:500])
    if rng.random() < 0.2:
        words.insert(
            rng.randrange(len(words) + 1), rng.choice(("--", "-", "", "-C", "--help", "-o", "--reason=", "--to"))
        )
    return json.dumps(words).encode()


def _line(data: bytes) -> bool:
    words = json.loads(data)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return False
    taken = _run(*words)
    if _kept(shop()) != _whole():
        raise DeedError(f"{words} wrote into the workspace")
    return taken


@cache
def _ledger_bytes() -> bytes:
    path = temporary("ledger") / "runs.db"
    pins = {"a/b": {"version": "1.0.0", "digest": "sha256:" + "0" * 64, "kind": "tool"}}
    with Ledger(path) as ledger:
        for number in range(4):
            start = RunStart(
                run_id=f"r{number}",
                channel="production",
                serial=number + 1,
                snapshot="s",
                policy=1,
                pins=pins,
                agent="a",
                session=None,
                started_at="2026-06-01T00:00:00Z",
            )
            ledger.start(start)
            use = Use(at="2026-06-01T00:00:01Z", kind="tool", name="a/b", version="1.0.0", digest="sha256:" + "0" * 64)
            ledger.use(start.run_id, use)
        ledger.end("r1", "done", "2026-06-01T00:00:02Z")
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    return path.read_bytes()


@cache
def _desk() -> Path:
    return temporary("desk")


def _make_ledger(rng: Random) -> bytes:
    return by_bytes([_ledger_bytes()])(rng)


def _ledger(data: bytes) -> bool:
    for path in _desk().glob("runs.db*"):
        path.unlink()
    path = _desk() / "runs.db"
    path.write_bytes(data)
    with Ledger(path) as ledger:
        row = ledger.show("r1")
        ledger.uses("r1")
        ledger.runs(limit=10)
        ledger.affected(parse_ref("a/b@1.0.0"))
        use = Use(at="2026-06-01T00:00:03Z", kind="tool", name="a/b", version="1.0.0", digest="sha256:" + "0" * 64)
        ledger.use("r2", use)
    return row is not None


def _all_of(used: object) -> None:
    if isinstance(used, pawl.PinnedTool):
        used.definition()
        used.call({"order_id": "A1"})
    elif isinstance(used, pawl.PinnedWorkflow):
        used.next({"order_id": "A1", "amount": 20})


def _opened(data: bytes) -> bool:
    path = _desk() / "snapshot.json"
    path.write_bytes(data)
    channel = pawl.open("production", snapshot=path)
    taken = False
    with channel.run(agent="a") as run:
        for name in channel.names():
            for use in (lambda name: run.prompt(name, order_id="A1", amount=20), run.tool, run.workflow):
                try:
                    _all_of(use(name))
                    taken = True
                except PawlError:
                    continue
        run.end("done")
    return taken


def _make_opened(rng: Random) -> bytes:
    if rng.random() < 0.9:
        return resealed(rng, [example_snapshot()])
    return by_bytes([sealed(example_snapshot())])(rng)


def _cache(data: bytes) -> bool:
    """A spoilt cache changes no answer."""
    root = shop().root
    path = root / ".pawl" / "sources"
    whole = path.read_bytes() if path.exists() else b""
    path.write_bytes(data)
    try:
        taken = _run("check", "--no-code")
    finally:
        path.write_bytes(whole)
    if not taken:
        raise DeedError("check fails with this cache and passes without")
    return True


def _make_cache(rng: Random) -> bytes:
    path = shop().root / ".pawl" / "sources"
    return by_bytes([path.read_bytes() if path.exists() else b"pawl\n"])(rng)


def targets() -> Iterator[Target]:
    """Yield the targets of this module."""
    shared = (tempfile.gettempdir(),)
    yield Target(name="ledger", make=_make_ledger, call=_ledger, share=1, free=shared)
    yield Target(name="opened", make=_make_opened, call=_opened, share=4, free=shared)
    yield Target(
        name="workspace", make=_make_spoilt, call=_spoilt, share=1, seconds=20, free=(*shared, "subprocess.Popen")
    )
    yield Target(name="line", make=_make_line, call=_line, share=1, seconds=20, free=(*shared, "subprocess.Popen"))
    yield Target(name="cache", make=_make_cache, call=_cache, share=0.3, seconds=20, free=(*shared, "subprocess.Popen"))
