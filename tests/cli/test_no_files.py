"""Pipes, sockets and folders where pawl keeps files of its own: no command waits for them, and none crashes."""

from __future__ import annotations

import os
import shlex
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support import Shop, in_process


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        before = Path.cwd()
        os.chdir(path.parent)  # the name of a socket is short
        try:
            made.bind(path.name)
        finally:
            os.chdir(before)


KINDS: dict[str, Callable[[Path], None]] = {"fifo": os.mkfifo, "folder": Path.mkdir, "socket": _socket}
COMMANDS = (
    "check",
    "status",
    "verify",
    "show support/refund@1.0.0",
    "render support/refund-draft --channel production --input order_id=A1 --input amount=20",
    "run start --channel production --agent desk",
    "runs list",
    "halt support/refund --channel production --reason stop",
)
PRIVATE = (
    ".pawl/sources.db",
    ".pawl/documents/*",
    ".pawl/lock",
    ".pawl/runs.db",
    ".pawl/runs.db-wal",
    ".pawl/.gitignore",
)
SHARED = ("registry/channels/production.json", "releases/production/000001.json", "releases/evidence/**/*.json")


@pytest.fixture(autouse=True)
def nobody_waits() -> Iterator[None]:
    def late(*_: object) -> None:
        raise AssertionError("a command waits")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def put(shop: Shop, where: str, kind: str) -> None:
    paths = sorted(shop.root.glob(where)) if "*" in where else [shop.root / where]
    assert paths
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        KINDS[kind](path)


OTHER = [pytest.param(where, kind, marks=pytest.mark.slow) for where in PRIVATE for kind in KINDS if kind != "fifo"]


@pytest.mark.parametrize(("where", "kind"), [*((where, "fifo") for where in (*PRIVATE, *SHARED)), *OTHER])
def test_no_command_waits_for_what_is_no_file(released: Shop, where: str, kind: str) -> None:
    in_process("-C", str(released.root), "runs", "list")
    put(released, where, kind)
    codes = {}
    for line in COMMANDS:
        ended = in_process("-C", str(released.root), *shlex.split(line))
        assert ended.code in range(9), line + ended.out + ended.err
        codes[line.split()[0]] = ended.code
    if where in {".pawl/sources.db", ".pawl/documents/*", ".pawl/.gitignore"}:
        assert set(codes.values()) == {0}, codes
    if where in SHARED:
        assert codes["verify"] == 6 or (where == "registry/channels/production.json" and codes["verify"] != 0)


@pytest.mark.parametrize("kind", KINDS)
def test_init_does_not_wait_either(tmp_path: Path, kind: str) -> None:
    KINDS[kind](tmp_path / ".gitignore")
    assert in_process("init", str(tmp_path)).code == 1


def test_the_private_folder_is_hidden_without_following_a_link(released: Shop, tmp_path: Path) -> None:
    hidden = released.root / ".pawl" / ".gitignore"
    hidden.unlink()
    hidden.symlink_to(tmp_path / "outside")
    released.pawl(*shlex.split(COMMANDS[-1]))
    assert not (tmp_path / "outside").exists()
