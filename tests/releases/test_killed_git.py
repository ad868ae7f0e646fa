"""A Git that dies at any of its calls: the record stands, what is missing is said, and the next command commits it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gits import git_in_front
from support import FIRST, Shop, git, in_process

MOST_PROCESSES = 6
"""Of a promotion from the command line: who commits, then one for all reading, one each for settings, files, branch
and index. Each costs a millisecond or two, so a seventh is seen here."""
PROMOTE = ("promote", *FIRST, "--to", "staging", "--reason", "a release")
ENDS = {"killed": "kill -9 $$", "137": "exit 137", "silent": "exit 0"}


@pytest.fixture
def ready(shop: Shop) -> Shop:
    shop.adopt()
    shop.pawl("publish")
    return shop


def test_a_promotion_starts_few_git_processes(ready: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = git_in_front(tmp_path / "front", monkeypatch)
    assert ready.pawl(*PROMOTE)["commit"]
    calls.stop()
    assert sorted(calls.commands()) == ["cat-file", "hash-object", "update-index", "update-ref", "var", "var"]
    assert len(calls.commands()) <= MOST_PROCESSES


def clean_after(shop: Shop) -> None:
    """The next writing command has committed everything that is there, and all of it holds together."""
    assert git(shop.root, "status", "--porcelain", "--", "registry", "releases") == ""
    assert git(shop.root, "fsck", "--no-dangling", "--strict") == ""
    assert not (shop.root / ".git" / "index.lock").exists()
    shop.pawl("verify")


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("number", range(2, MOST_PROCESSES + 1))
def test_a_git_that_dies_at_one_call_loses_nothing(
    ready: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str, number: int
) -> None:
    head = git(ready.root, "rev-parse", "HEAD")
    calls = git_in_front(tmp_path / "front", monkeypatch, f"[ $n = {number} ] && {ENDS[end]}")
    ended = in_process("-C", str(ready.root), *PROMOTE, "-o", "json")
    calls.stop()
    answer = json.loads(ended.out)
    if ended.code:  # it died while it was asked what HEAD holds: nothing has happened
        assert (ended.code, ready.codes(answer)) == (1, ["git-failed"])
        assert not (ready.root / "releases" / "staging").exists()
        ready.pawl(*PROMOTE)
    elif answer["commit"]:  # it was tried again, or nothing was missing
        assert answer["commit"] == git(ready.root, "rev-parse", "HEAD").strip()
    else:
        assert "not-committed" in ready.codes(answer, "warning")
        assert git(ready.root, "rev-parse", "HEAD") == head
    ready.pawl("verify")
    assert ready.version("support/refund", "staging") == "1.0.0"
    ready.pawl("halt", "support/refund", "--channel", "staging", "--reason", "next")
    clean_after(ready)


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        ("var GIT_AUTHOR_IDENT", [(1, "git-failed")]),
        # asked before the record is written, and again for the commit
        ("cat-file", [(1, "git-failed"), (0, "not-committed")]),
        *((words, [(0, "not-committed")]) for words in ("var -l", "hash-object", "update-ref", "update-index")),
    ],
)
def test_a_git_that_dies_at_every_call_of_a_kind(
    ready: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, codes: list[tuple[int, str]]
) -> None:
    head = git(ready.root, "rev-parse", "HEAD")
    calls = git_in_front(tmp_path / "front", monkeypatch, f"case \"$said\" in *' {words} '*) kill -9 $$;; esac")
    ended = in_process("-C", str(ready.root), *PROMOTE, "-o", "json")
    calls.stop()
    assert git(ready.root, "rev-parse", "HEAD") == head
    answer = json.loads(ended.out)
    severity = "error" if ended.code else "warning"
    assert next((ended.code, code) for code in ready.codes(answer, severity)) in codes
    ready.pawl("verify")
    ready.pawl("promote", *FIRST, "--to", "staging", "--reason", "again")
    ready.pawl("halt", "support/refund", "--channel", "staging", "--reason", "next")
    clean_after(ready)
