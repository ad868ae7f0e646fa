"""Whole commands in every kind of checkout, and called by Git itself."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import Shop, git, in_process

PAWL = f"'{sys.executable}' -m pawl"
BACK = ("support/refund", "--channel", "production", "--reason", "errors went up")


def rolls_back(shop: Shop) -> None:
    """Look, go back, and look again: the commit holds exactly the record and the projection."""
    shop.pawl("status")
    before = git(shop.root, "rev-parse", "HEAD")
    answer = shop.pawl("rollback", *BACK)
    assert git(shop.root, "rev-parse", "HEAD").strip() == answer["commit"]
    assert git(shop.root, "rev-parse", "HEAD^") == before
    changed = git(shop.root, "diff", "--name-only", "HEAD^", "HEAD").split()
    assert changed[0] == "registry/channels/production.json"
    assert changed[-1] == "releases/production/000003.json"
    assert git(shop.root, "status", "--porcelain") == ""
    assert shop.version("support/refund") == "1.0.0"
    shop.pawl("verify")


def test_a_linked_work_tree(live: Shop, tmp_path: Path) -> None:
    git(live.root, "worktree", "add", "-q", str(tmp_path / "linked tree"), "-b", "other")
    rolls_back(Shop(tmp_path / "linked tree"))
    assert live.version("support/refund") == "2.0.0"
    assert git(live.root, "status", "--porcelain") == ""


def test_a_shallow_clone(live: Shop, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{live.root}", "shallow")
    rolls_back(Shop(tmp_path / "shallow"))


def test_a_submodule(live: Shop, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(live.root), "inner")
    git(outer, "commit", "-q", "-m", "with a shop")
    rolls_back(Shop(outer / "inner"))
    assert git(outer, "status", "--porcelain") == " M inner\n"  # its commit is newer: the outer one's turn


def test_a_workspace_in_a_folder_of_a_larger_repository(live: Shop, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    (outer / "ops").mkdir(parents=True)
    git(outer, "init", "-q")
    shutil.rmtree(live.root / ".git")
    shutil.copytree(live.root, outer / "ops" / "shop")
    git(outer, "add", "-A")
    git(outer, "commit", "-q", "-m", "with a shop")
    shop = Shop(outer / "ops" / "shop")
    commit = shop.pawl("rollback", *BACK)["commit"]
    names = git(outer, "show", "--name-only", "--format=", commit).split()
    assert names[0] == "ops/shop/registry/channels/production.json"
    shop.pawl("verify")
    assert git(outer, "status", "--porcelain") == ""


def test_a_bare_clone_has_no_workspace(live: Shop, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(live.root), "bare.git")
    before = sorted(str(path) for path in (tmp_path / "bare.git").rglob("*"))
    for words in (("status",), ("publish",), ("rollback", *BACK)):
        ended = in_process("-C", str(tmp_path / "bare.git"), *words, "-o", "json")
        assert (1, "no-workspace") == (ended.code, json.loads(ended.out)["problems"][0]["code"])
    assert sorted(str(path) for path in (tmp_path / "bare.git").rglob("*")) == before


@pytest.fixture
def sparse(live: Shop, tmp_path: Path) -> Shop:
    """A checkout that leaves releases/ out."""
    git(tmp_path, "clone", "-q", "--no-checkout", str(live.root), "sparse")
    root = tmp_path / "sparse"
    git(root, "sparse-checkout", "set", "--no-cone", "/*", "!/releases/")
    git(root, "checkout", "-q", "main")
    assert not (root / "releases").exists()
    return Shop(root)


def test_a_sparse_checkout_without_the_journals_serves_and_writes_nothing(sparse: Shop) -> None:
    before = sparse.files("registry"), git(sparse.root, "rev-parse", "HEAD")
    for words, code in (
        (("resolve", "support/refund", "--channel", "production"), 6),
        (("verify",), 6),
        (("promote", "support/refund@2.0.0", "--to", "staging", "--reason", "again"), 6),
        (("rollback", *BACK), 6),
        (("status",), 6),
        (("history", "production"), 6),
        (("policy", "adopt", "--reason", "begin again"), 6),
    ):
        assert sparse.codes(sparse.pawl(*words, code=code)) != [], words
    assert (sparse.files("registry"), git(sparse.root, "rev-parse", "HEAD")) == before
    assert not (sparse.root / "releases").exists() or sparse.files("releases") == {}
    assert git(sparse.root, "status", "--porcelain") == ""


def test_a_record_that_git_has_is_not_written_a_second_time(live: Shop) -> None:
    """Whoever lost the folder of the journals begins no new ones over them."""
    shutil.rmtree(live.root / "releases")
    shutil.rmtree(live.root / "registry" / "channels")
    answer = live.pawl("policy", "adopt", "--reason", "begin again", code=6)
    (problem,) = answer["problems"]
    assert (problem["code"], problem["path"]) == ("journal-damaged", "releases/registry/000001.json")
    assert not list((live.root / "releases").rglob("*.json"))
    git(live.root, "restore", "--source=HEAD", "--staged", "--worktree", "releases", "registry/channels")
    live.pawl("verify")


def hooked(shop: Shop, name: str, script: str) -> None:
    path = shop.root / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\nset -e\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def test_a_pre_commit_hook_checks_and_stops_what_is_wrong(live: Shop) -> None:
    hooked(live, "pre-commit", f"{PAWL} check >&2")
    live.write("notes.txt", "mine")
    git(live.root, "add", "notes.txt")
    git(live.root, "commit", "-q", "-m", "notes")
    live.edit("procedures/support/refund.yaml", ("kind: workflow", "kind: no-such"))
    git(live.root, "add", "-u")
    with pytest.raises(subprocess.CalledProcessError):
        git(live.root, "commit", "-q", "-m", "broken")
    assert git(live.root, "log", "-1", "--format=%s").strip() == "notes"


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["staged", "everything"])
def test_a_hook_that_releases_mixes_nothing_into_the_commit_around_it(live: Shop, every: bool) -> None:
    """Either Git holds the index, and the record waits for the next command; or the commit around it is too late."""
    hooked(live, "pre-commit", f"{PAWL} rollback {' '.join(BACK[:3])} --reason hook -o json > .git/answer.json")
    live.edit("conformance/refund-draft.yaml", ("suite: refund-draft", "# mine\nsuite: refund-draft"))
    words = ("commit", "-q", "-a", "-m", "mine") if every else ("commit", "-q", "-m", "mine")
    if every:
        git(live.root, *words)
    else:
        git(live.root, "add", "-u")
        with pytest.raises(subprocess.CalledProcessError):
            git(live.root, *words)
    answer = json.loads(live.read(".git/answer.json"))
    assert 0 == answer["exit_code"]
    assert every == (answer["commit"] is None) == ("not-committed" in live.codes(answer, "warning"))
    (live.root / ".git/hooks/pre-commit").unlink()
    if not every:
        git(live.root, *words)
    names = git(live.root, "show", "--name-only", "--format=", "HEAD").split()
    assert names == ["conformance/refund-draft.yaml"]
    live.pawl("halt", "support/refund-draft", "--channel", "production", "--reason", "stop")
    assert git(live.root, "status", "--porcelain") == ""
    live.pawl("verify")


def test_a_post_checkout_hook_takes_a_snapshot_of_what_was_checked_out(live: Shop, tmp_path: Path) -> None:
    first = git(live.root, "log", "--format=%H", "--grep", "support/refund@1.0.0.*on production").split()[-1]
    hooked(live, "post-checkout", f"{PAWL} snapshot production --out '{tmp_path}/agents.json' >&2")
    for commit, serial in ((first, 1), ("main", 2)):
        git(live.root, "checkout", "-q", commit)
        assert json.loads((tmp_path / "agents.json").read_text(encoding="utf-8"))["serial"] == serial


@pytest.mark.slow
def test_bisect_finds_the_release_that_moved_a_pin(live: Shop) -> None:
    oldest = git(live.root, "log", "--format=%H", "--grep", "support/refund@1.0.0.*on production").split()[-1]
    git(live.root, "bisect", "start", "HEAD", oldest)
    script = f'{PAWL} resolve support/refund --channel production -o json | grep -q \'"version": "1.0.0"\''
    found = git(live.root, "bisect", "run", "sh", "-c", script)
    assert "is the first bad commit" in found
    assert "support/refund@2.0.0" in git(live.root, "log", "-1", "--format=%s", "refs/bisect/bad")
    git(live.root, "bisect", "reset")
    live.pawl("verify")
