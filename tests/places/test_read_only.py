"""A checkout that nobody may write: everything that reads works and writes nothing, everything that writes says so."""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pawl
from people import set_clock
from support import FIRST, Shop, story

WRITES = {"os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.symlink", "os.link", "os.truncate", "os.chmod"}

_sealed: list[Path] = []


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Answer as a read-only file system does, below the sealed folder; an audit hook cannot be taken out again."""
    if not _sealed or (event not in WRITES and event not in {"open", "sqlite3.connect"}):
        return
    if event == "open" and not (
        isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    ):
        return
    for argument in arguments[:2]:
        if isinstance(argument, (str, bytes, os.PathLike)) and argument:
            path = os.path.abspath(os.fsdecode(argument))  # noqa: PTH100 - inside of every open
            if path.startswith(f"{_sealed[0]}/"):
                if event == "sqlite3.connect":
                    error = sqlite3.OperationalError("attempt to write a readonly database")
                    error.sqlite_errorcode = sqlite3.SQLITE_READONLY
                    raise error
                raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)


sys.addaudithook(_refuse)


@contextlib.contextmanager
def read_only(root: Path) -> Iterator[None]:
    """Let a folder be one that cannot be written, for root too: by its modes, and by what Python is told."""
    paths = [root, *(path for path in root.rglob("*") if not path.is_symlink())]
    modes = {path: path.stat().st_mode for path in paths}
    for path in reversed(paths):
        path.chmod(modes[path] & ~0o222)
    _sealed.append(root)
    try:
        yield
    finally:
        _sealed.clear()
        for path in paths:
            path.chmod(modes[path])


def everything(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def folders(root: Path) -> set[str]:
    return {str(path) for path in root.rglob("*") if path.is_dir()}


READS: tuple[tuple[str, ...], ...] = (
    ("status",),
    ("list",),
    ("show", FIRST[0]),
    ("history", "production"),
    ("history", "production", "--at", "2026-01-01"),
    ("verify",),
    ("check",),
    ("audit",),
    ("targets", "support/refund", "--channel", "production"),
    ("resolve", "support/refund", "--channel", "production"),
    ("render", FIRST[1], "--input", "order_id=A1", "--input", "amount=2"),
    ("test", FIRST[1].partition("@")[0]),
    ("diff", FIRST[0]),
    ("policy", "show"),
    ("policy", "test"),
    ("why", "support/refund@2.0.0", "--channel", "production"),
    ("promote", "support/refund@1.0.0", "--to", "staging", "--reason", "try", "--dry-run"),
)


@pytest.fixture(params=["fresh", "used"])
def checkout(live: Shop, request: pytest.FixtureRequest) -> Shop:
    """A clone as an agent has it: without a private folder, or with one that commands have used before."""
    shutil.rmtree(live.root / ".pawl")
    if request.param == "used":
        for words in (("status",), ("check",), ("list",)):
            live.pawl(*words)
        gc.collect()  # memories of commands in this process close, and their logs go, before anybody looks
    return live


def test_what_reads_says_the_same_and_writes_nothing(
    checkout: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_clock(monkeypatch, "2999-01-01T12:00:00Z")
    other = Shop(Path(shutil.copytree(checkout.root, tmp_path / "other")))
    wanted = {words: other.pawl(*words, code=_code(words)) for words in READS}
    before, held = everything(checkout.root), folders(checkout.root)
    with read_only(checkout.root):
        for words in READS:
            assert wanted[words] == checkout.pawl(*words, code=_code(words)), words
    assert (before, held) == (everything(checkout.root), folders(checkout.root))


def _code(words: tuple[str, ...]) -> int:
    return 4 if words[0] == "promote" else 0


def test_agents_are_served_with_a_ledger_elsewhere(checkout: Shop, tmp_path: Path) -> None:
    before = everything(checkout.root)
    with read_only(checkout.root):
        handle = pawl.open("production", workspace=checkout.root, ledger=tmp_path / "runs.db")
        with handle.run(agent="support") as run:
            assert run.prompt("support/refund-draft", order_id="A1", amount=2)[0]["content"]
            run.checkpoint()
            run.end("ok")
        out = tmp_path / "agents.json"
        checkout.pawl("snapshot", "production", "--out", str(out))
        assert "2.0.0" == pawl.open("production", snapshot=out).resolve("support/refund").version
    assert before == everything(checkout.root)


def test_agents_without_a_ledger_are_served_and_cannot_record(checkout: Shop) -> None:
    before = everything(checkout.root)
    with read_only(checkout.root):
        handle = pawl.open("production", workspace=checkout.root)
        assert "2.0.0" == handle.resolve("support/refund").version
        with pytest.raises(pawl.PawlError) as caught, handle.run(agent="support"):
            pass
    assert "ledger" in str(caught.value)
    assert before == everything(checkout.root)


WRITING: tuple[tuple[str, ...], ...] = (
    ("publish",),
    ("policy", "adopt", "--reason", "milder"),
    ("rollback", "support/refund", "--channel", "production", "--reason", "back"),
    ("halt", "support/refund", "--channel", "production", "--reason", "stop"),
    ("freeze", "production", "--until", "2999-01-01", "--reason", "stop"),
    ("bump", "support/refund"),
    ("new", "prompt", "support/hello"),
    ("run", "start", "--channel", "production", "--agent", "a"),
)


@pytest.mark.parametrize("words", WRITING, ids=lambda words: words[0])
def test_what_writes_says_so_and_leaves_nothing_half_done(live: Shop, words: tuple[str, ...]) -> None:
    live.edit("procedures/support/refund.yaml", ("version: 2.0.0", "version: 3.0.0"), ("max_steps: 6", "max_steps: 5"))
    if words[0] == "bump":
        live.edit("procedures/support/refund.yaml", ("version: 3.0.0", "version: 2.0.0"))
    if words[0] == "policy":
        live.write("registry/policies/refunds.yaml", story("policy-2.yaml"))
    before = everything(live.root)
    with read_only(live.root):
        answer = live.pawl(*words, code=1)
    (code,) = live.codes(answer)
    assert code == {"run": "ledger-unusable", "bump": "cannot-write", "new": "cannot-write"}.get(
        words[0], "cannot-lock"
    )
    assert before == everything(live.root)
    live.pawl("verify")
