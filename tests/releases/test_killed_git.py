"""A Git that dies at any of its calls: the record stands, what is missing is said, and the next command commits it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gits import git_in_front
from support import FIRST, Shop, git, in_process

MOST_PROCESSES = 3
"""Of a promotion from the command line: one each for settings (and who acts), branch and index. Each costs a
millisecond or two, so a fourth is seen here."""
PROMOTE = ("promote", *FIRST, "--to", "staging", "--reason", "a release")
ENDS = {"killed": "kill -9 $$", "137": "exit 137", "silent": "exit 0"}


@pytest.fixture
def ready(shop: Shop) -> Shop:
    shop.publish_first()
    return shop


def test_a_promotion_starts_few_git_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shop").mkdir()
    shop = Shop(tmp_path / "shop")  # no copy of a set-up: those have packs, which one more process reads
    shop.start_in_git()
    shop.adopt()
    shop.pawl("publish")
    calls = git_in_front(tmp_path / "front", monkeypatch)
    assert shop.pawl(*PROMOTE)["commit"]
    calls.stop()
    assert sorted(calls.commands()) == ["update-index", "update-ref", "var"]
    assert len(calls.commands()) <= MOST_PROCESSES


def clean_after(shop: Shop) -> None:
    """The next writing command has committed everything that is there, and all of it holds together."""
    assert git(shop.root, "status", "--porcelain", "--", "registry", "releases") == ""
    assert git(shop.root, "fsck", "--no-dangling", "--strict") == ""
    assert not (shop.root / ".git" / "index.lock").exists()
    shop.pawl("verify")


@pytest.mark.parametrize("end", ["killed", *(pytest.param(end, marks=pytest.mark.slow) for end in ("137", "silent"))])
@pytest.mark.parametrize("number", range(1, MOST_PROCESSES + 1))
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


def is_usual(_shop: Shop) -> None:
    """Nothing that Git must be asked for."""


def has_a_filter(shop: Shop) -> None:
    """What is stored is for Git to say."""
    shop.write(".gitattributes", "*.large filter=large\n")


def is_packed(shop: Shop) -> None:
    """Objects have no files of their own."""
    git(shop.root, "gc", "-q", "--prune=now")


@pytest.mark.parametrize(
    ("words", "place", "end"),
    [
        ("var -l", is_usual, (1, "git-failed")),  # asked before anything is written
        ("update-ref", is_usual, (0, "not-committed")),
        ("update-index", is_usual, (0, "not-committed")),
        ("hash-object", has_a_filter, (0, "not-committed")),
        ("cat-file", is_packed, (0, "not-committed")),
    ],
)
def test_a_git_that_dies_at_every_call_of_a_kind(
    ready: Shop,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    place: Callable[[Shop], None],
    end: tuple[int, str],
) -> None:
    place(ready)
    head = git(ready.root, "rev-parse", "HEAD")
    calls = git_in_front(tmp_path / "front", monkeypatch, f"case \"$said\" in *' {words} '*) kill -9 $$;; esac")
    ended = in_process("-C", str(ready.root), *PROMOTE, "-o", "json")
    calls.stop()
    assert git(ready.root, "rev-parse", "HEAD") == head
    answer = json.loads(ended.out)
    severity = "error" if ended.code else "warning"
    assert next((ended.code, code) for code in ready.codes(answer, severity)) == end
    ready.pawl("verify")
    ready.pawl("promote", *FIRST, "--to", "staging", "--reason", "again")
    ready.pawl("halt", "support/refund", "--channel", "staging", "--reason", "next")
    clean_after(ready)


def test_whoever_goes_back_needs_no_git_that_works(
    ready: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refusal says how; the next command with a Git commits what was left."""
    calls = git_in_front(tmp_path / "front", monkeypatch, ENDS["killed"])
    ended = in_process("-C", str(ready.root), *PROMOTE, "-o", "json")
    assert ended.code == 1
    assert "--no-commit" in json.loads(ended.out)["problems"][0]["hint"]
    ready.pawl(*PROMOTE, "--no-commit")
    calls.stop()
    assert ready.version("support/refund", "staging") == "1.0.0"
    ready.pawl("halt", "support/refund", "--channel", "staging", "--reason", "next")
    clean_after(ready)
