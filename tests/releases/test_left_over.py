"""Records that Git could not commit: the next writing command commits them even if it finds nothing to do, readers warn
of them, and the warning says what stands in the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support import FIRST, Shop, git, in_process

PROMOTE = ("promote", *FIRST, "--to", "staging", "--reason", "a release")


@pytest.fixture
def pending(shop: Shop) -> Shop:
    """A promotion that Git could not commit; what stood in the way is gone."""
    shop.publish_first()
    lock = shop.root / ".git" / "HEAD.lock"
    lock.touch()
    assert shop.pawl(*PROMOTE)["commit"] is None
    lock.unlink()
    return shop


def committed(shop: Shop) -> bool:
    return git(shop.root, "status", "--porcelain", "--untracked-files=all", "--", "registry", "releases") == ""


@pytest.mark.parametrize(
    "words", [PROMOTE, ("publish",), ("policy", "adopt", "--reason", "the same")], ids=lambda w: w[0]
)
def test_a_command_with_nothing_to_do_commits_what_is_pending(pending: Shop, words: tuple[str, ...]) -> None:
    answer = pending.pawl(*words)
    assert (answer["status"], answer["commit"]) == ("unchanged", git(pending.root, "rev-parse", "HEAD").strip())
    assert set(pending.codes(answer, "note")) >= {"unchanged", "committed-late"}
    assert any(file.startswith("releases/staging/") for file in answer["files"])
    assert committed(pending)
    again = pending.pawl(*words)
    assert (again["status"], "commit" in again, "committed-late" in pending.codes(again, "note")) == (
        "unchanged",
        False,
        False,
    )


def test_a_repeat_with_push_pushes_what_was_pending(pending: Shop, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "remote.git")
    git(pending.root, "remote", "add", "origin", str(tmp_path / "remote.git"))
    git(pending.root, "push", "-q", "-u", "origin", "main")
    answer = pending.pawl(*PROMOTE, "--push")
    assert (answer["status"], answer["pushed"]["commit"]) == ("unchanged", answer["commit"])
    assert git(tmp_path / "remote.git", "rev-parse", "main").strip() == answer["commit"]


def test_the_note_reaches_a_person(pending: Shop) -> None:
    ended = in_process("-C", str(pending.root), *PROMOTE)
    assert (ended.code, "is committed now" in ended.out) == (0, True), ended.out


@pytest.mark.parametrize("option", ["--no-commit", "--dry-run"])
def test_it_is_left_where_no_commit_is_asked_for(pending: Shop, option: str) -> None:
    head = git(pending.root, "rev-parse", "HEAD")
    assert "commit" not in pending.pawl(*PROMOTE, option)
    assert git(pending.root, "rev-parse", "HEAD") == head


def test_it_is_left_on_another_branch_than_that_of_the_journals(pending: Shop) -> None:
    pending.edit("registry/registry.yaml", ("format: 1", "format: 1\nbranch: main"))
    git(pending.root, "switch", "-q", "-c", "side")
    head = git(pending.root, "rev-parse", "HEAD")
    answer = pending.pawl(*PROMOTE)
    assert git(pending.root, "rev-parse", "HEAD") == head
    assert "git switch main" in warning(answer)["hint"]


def test_where_it_still_cannot_be_committed_it_says_so_again(pending: Shop) -> None:
    (pending.root / ".git" / "HEAD.lock").touch()
    answer = pending.pawl(*PROMOTE)
    assert (answer["status"], answer["commit"]) == ("unchanged", None)
    assert "HEAD.lock" in warning(answer)["hint"]


@pytest.mark.parametrize("words", [("status",), ("status", "--channel", "staging"), ("verify",)], ids=" ".join)
def test_readers_warn_of_what_is_pending(pending: Shop, words: tuple[str, ...]) -> None:
    found = warning(pending.pawl(*words))
    assert "releases/staging" in found["message"]
    assert "next writing command" in found["hint"]
    pending.pawl("publish")
    assert "not-committed" not in pending.codes(pending.pawl(*words), "warning")


def test_a_damaged_journal_keeps_no_warning_from_the_others(pending: Shop) -> None:
    record = pending.root / "releases" / "registry" / "000001.json"
    record.write_bytes(record.read_bytes().replace(b"rules", b"RULES"))
    newest = pending.root / "releases" / "registry" / "000002.json"
    newest.write_bytes(b"{")
    answer = pending.pawl("verify", code=6)
    assert "releases/staging" in warning(answer)["message"]
    assert "git-not-asked" not in pending.codes(answer, "warning")


@pytest.mark.parametrize("name", ["HEAD.lock", "refs/heads/main.lock", "index.lock"])
def test_the_hint_names_the_file_that_a_git_left_behind(shop: Shop, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("pawl.io.git.index.INDEX_LOCK_SECONDS", 0.05)
    shop.publish_first()
    lock = shop.root / ".git" / name
    lock.touch()
    found = warning(shop.pawl(*PROMOTE))
    assert f"if none runs, remove {lock.resolve()}" in found["hint"]
    assert "branch moved" not in found["message"]


def _failing_filter(shop: Shop) -> str:
    git(shop.root, "config", "filter.broken.clean", "echo my-filter-says-no >&2; exit 3")
    git(shop.root, "config", "filter.broken.required", "true")
    (shop.root / ".git" / "info").mkdir(exist_ok=True)
    shop.write(".git/info/attributes", "*.json filter=broken\n")
    return "broken"


def _encoding(shop: Shop) -> str:
    (shop.root / ".git" / "info").mkdir(exist_ok=True)
    shop.write(".git/info/attributes", "*.json working-tree-encoding=UTF-16\n")
    return "UTF-16"


def _signature(shop: Shop) -> str:
    git(shop.root, "config", "commit.gpgsign", "true")
    git(shop.root, "config", "gpg.program", "/bin/false")
    return "sign"


@pytest.mark.parametrize("cause", [_failing_filter, _encoding, _signature], ids=lambda cause: cause.__name__)
def test_what_git_says_is_told_and_is_to_be_mended_first(shop: Shop, cause: Any) -> None:
    shop.publish_first()
    said = cause(shop)
    found = warning(shop.pawl(*PROMOTE))
    assert said in found["message"]
    assert "once that is mended, the next writing command commits it" in found["hint"]


def test_a_lock_file_that_cannot_be_had_says_what_to_look_at(shop: Shop) -> None:
    shop.publish_first()
    lock = shop.root / ".pawl" / "lock"
    lock.unlink(missing_ok=True)
    lock.mkdir(parents=True)
    ended = in_process("-C", str(shop.root), *PROMOTE, "-o", "json")
    (problem,) = json.loads(ended.out)["problems"]
    assert (ended.code, problem["code"]) == (1, "cannot-lock")
    assert "move it away" in problem["hint"]


def warning(answer: dict[str, Any]) -> dict[str, Any]:
    (found,) = (row for row in answer["problems"] if row["code"] == "not-committed")
    assert found["severity"] == "warning"
    return found  # type: ignore[no-any-return]
