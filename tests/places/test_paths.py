"""Workspaces at odd paths, behind links, with other permissions, and a current folder that is gone."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import pawl
from support import Shop, git, in_process

ODD: dict[str, bytes] = {
    "blanks-and-quotes": b' o\'brien "x" $HOME `id` %s ',
    "line-break": b"a\nb\tc",
    "composed": "caf\u00e9 \u4f60\u597d".encode(),
    "decomposed": "cafe\u0301".encode(),
    "no-utf-8": b"caf\xe9\xff",
    "like-an-option": b"--help",
    "like-a-pattern": b"[a]*?{b}",
    "colon-and-backslash": b"a:b\\c",
    "control": b"a\x1b[31mb",
    "longest-name": b"x" * 255,
}
QUICK = ("line-break", "no-utf-8")


def works(root: Path, elsewhere: Path, *, ledger: bool = True) -> None:
    """Look, serve, record a run, go back, and check everything, with and without the path on the command line."""
    shop = Shop(root)
    for words in (("status",), ("check",), ("audit",), ("verify",), ("list",)):
        shop.pawl(*words)
    if ledger:
        started = shop.pawl("run", "start", "--channel", "production", "--agent", "a")["run_id"]
        shop.pawl("run", "use", started, "support/refund")
    commit = shop.pawl("rollback", "support/refund", "--channel", "production", "--reason", "back")["commit"]
    assert git(root, "rev-parse", "HEAD").strip() == commit
    assert "" == git(root, "status", "--porcelain")
    shop.pawl("snapshot", "production", "--out", str(root.parent / "agents.json"))
    handle = pawl.open("production", snapshot=root.parent / "agents.json", ledger=elsewhere / "runs.db")
    with handle.run(agent="a") as run:
        assert "1.0.0" == run.workflow("support/refund").served.version
        run.end("ok")
    assert "1.0.0" == pawl.open("production", workspace=root).resolve("support/refund").version
    done = subprocess.run([sys.executable, "-m", "pawl", "verify"], cwd=root, capture_output=True, check=False)
    assert (0, b"") == (done.returncode, done.stderr)


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in ODD]
)
def test_odd_names_of_folders(made_once: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / os.fsdecode(ODD[name])
    try:
        shutil.copytree(made_once, folder / "shop")
    except OSError as error:
        pytest.skip(f"this file system has no such name: {error.strerror}")
    works(folder / "shop", tmp_path)


def test_a_path_of_almost_the_greatest_length(made_once: Path, tmp_path: Path) -> None:
    """As long as the longest file inside allows. SQLite opens no path of that length, which is told."""
    longest = max(len(os.fsencode(path.relative_to(made_once))) for path in made_once.rglob("*"))
    folder = tmp_path
    while len(os.fsencode(folder)) + longest < 4096 - 300:
        folder /= "d" * min(200, 4096 - 300 - longest - len(os.fsencode(folder)))
    folder.mkdir(parents=True)
    shop = Shop(Path(shutil.copytree(made_once, folder / "shop")))
    works(shop.root, tmp_path, ledger=False)
    answer = shop.pawl("run", "start", "--channel", "production", "--agent", "a", code=1)
    assert ["ledger-unusable"] == shop.codes(answer)


def test_a_path_beyond_the_greatest_length_is_told(tmp_path: Path) -> None:
    ended = in_process("-C", str(tmp_path / ("/".join(["d" * 200] * 30))), "status", "-o", "json")
    assert ended.code in {1, 2}
    assert 1 == len(json.loads(ended.out)["problems"])


def test_a_linked_workspace_is_the_workspace(live: Shop, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("live")
    works(tmp_path / "link", tmp_path)
    assert "1.0.0" == live.version("support/refund")
    assert (tmp_path / "link").is_symlink()


def test_a_link_in_a_circle_is_told(tmp_path: Path) -> None:
    (tmp_path / "round").symlink_to("round")
    ended = in_process("-C", str(tmp_path / "round" / "below"), "status", "-o", "json")
    assert ended.code in {1, 2}
    assert 1 == len(json.loads(ended.out)["problems"])


def gone(*command: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a folder that was removed."""
    line = 'mkdir "$0" && cd "$0" && rmdir "$0" && exec "$@"'
    folder = str(Path(os.environ["HOME"]) / "gone")
    return subprocess.run(["sh", "-c", line, folder, *command], capture_output=True, timeout=300, check=False)


@pytest.mark.parametrize("words", [("status",), ("init",), ("publish",)])
def test_a_current_folder_that_is_gone_is_told(words: tuple[str, ...]) -> None:
    found = gone(sys.executable, "-m", "pawl", *words, "-o", "json")
    assert (1, b"") == (found.returncode, found.stderr)
    assert 1 == len(json.loads(found.stdout)["problems"])


def test_from_a_folder_that_is_gone_another_workspace_is_served(live: Shop) -> None:
    found = gone(sys.executable, "-m", "pawl", "-C", str(live.root), "resolve", "support/refund", "--channel",
                 "production", "-o", "json")  # fmt: skip
    assert (0, "2.0.0") == (found.returncode, json.loads(found.stdout)["version"])


@pytest.mark.parametrize("mask", [0o077, 0o000])
def test_files_have_the_permissions_of_the_umask_and_none_is_executable(live: Shop, mask: int) -> None:
    before = {path for path in live.root.rglob("*") if ".git" not in path.parts}
    old = os.umask(mask)
    try:
        live.pawl("rollback", "support/refund", "--channel", "production", "--reason", "back")
        live.pawl("run", "start", "--channel", "production", "--agent", "a")
    finally:
        os.umask(old)
    new = [path for path in live.root.rglob("*") if ".git" not in path.parts and path not in before and path.is_file()]
    assert any(path.name == "000003.json" for path in new)
    for path in new:
        if path.parts[-2] != ".pawl":
            assert (0o666 & ~mask) == stat.S_IMODE(path.stat().st_mode), path
    live.pawl("verify")
