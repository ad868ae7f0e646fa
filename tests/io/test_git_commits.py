"""Commits by objects written here are those of ``git add`` and ``git commit``, whatever Git is set to."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from budgets import sweep
from pawl.errors import InvalidError
from pawl.io.git import Repository, find

GitCommand = Callable[..., str]

FILES = {
    "plain": b"a\n",
    "no-end": b"a",
    "empty": b"",
    "crlf": b"a\r\nb\r\n",
    "mixed": b"a\r\nb\n",
    "ident": b"$Id: something $\n",
    "binary": bytes(range(256)),
    "new folder/deeper/file": b"x\n",
    "sorted.a/x": b"1",
    "sorted/x": b"2",
    "sorted-a": b"3\x00",
    "shout": b"quiet\n",
}
SETTINGS: dict[str, tuple[list[tuple[str, str]], str]] = {
    "nothing": ([], ""),
    "autocrlf": ([("core.autocrlf", "true")], ""),
    "autocrlf input": ([("core.autocrlf", "input")], ""),
    "text=auto": ([], "* text=auto\n"),
    "eol": ([("core.eol", "crlf")], "* text eol=crlf\n"),
    "no text": ([("core.autocrlf", "true")], "* -text\n"),
    "ident": ([], "* ident\n"),
    "filter": ([("filter.shout.clean", "tr a-z A-Z")], "shout filter=shout\n"),
    "filter here": ([("filter.shout.clean", "tr a-z A-Z")], "no-end filter=shout\nplain filter=shout\n"),
    "encoding": ([], "sorted-a working-tree-encoding=UTF-16LE\n"),
    "file modes": ([("core.fileMode", "false")], ""),
    "shared": ([("core.sharedRepository", "group")], ""),
    "fsync": ([("core.fsync", "all")], ""),
    "compression": ([("core.compression", "9")], ""),
    "split index": ([("core.splitIndex", "true")], ""),
    "untracked cache": ([("core.untrackedCache", "true")], ""),
}


CHOSEN = ("nothing", "autocrlf", "text=auto", "ident", "filter here", "encoding", "shared", "split index")


@pytest.mark.parametrize("name", sweep(SETTINGS, *CHOSEN))
@pytest.mark.parametrize("without", [(), ("crlf", "mixed", "binary")], ids=["all", "no carriage return"])
def test_trees_are_those_of_git_add(
    repository: Repository, git: GitCommand, tmp_path: Path, name: str, without: tuple[str, ...]
) -> None:
    root = repository.root
    settings, attributes = SETTINGS[name]
    (root / "crlf").write_bytes(b"old\r\n")
    (root / "script").write_bytes(b"1")
    (root / "script").chmod(0o755)
    git("add", "-A")
    git("commit", "-q", "-m", "before")
    for setting in settings:
        git("config", *setting)
    if attributes:
        (root / ".gitattributes").write_text(attributes, encoding="utf-8")
    files = {**{file: data for file, data in FILES.items() if file not in without}, "script": b"2"}
    for file, data in files.items():
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (root / "plain").chmod(0o755)
    (root / "first").unlink()
    theirs = tmp_path / "theirs"
    shutil.copytree(root, theirs, symlinks=True)
    names = [*files, "first", *([".gitattributes"] if attributes else [])]
    git("add", "--", *names, folder=theirs)
    git("commit", "-q", "-m", "m", folder=theirs)
    new = repository.commit([Path(file) for file in names], "m")
    assert git("ls-tree", "-r", "-t", new) == git("ls-tree", "-r", "-t", "HEAD", folder=theirs)
    assert set(git("status", "--porcelain").splitlines()) <= {" M crlf"}, (
        "an attribute may change how it would be stored"
    )
    assert git("log", "-1", "--format=%an %ae %cn %ce %B") == git(
        "log", "-1", "--format=%an %ae %cn %ce %B", folder=theirs
    )
    git("fsck", "--strict", "--no-dangling")


def test_objects_are_for_reading_only_and_shared_ones_as_git_makes_them(
    repository: Repository, git: GitCommand
) -> None:
    objects = repository.root / ".git" / "objects"
    (repository.root / "a").write_bytes(b"1")
    repository.commit([Path("a")], "m")
    loose = [path for path in objects.glob("??/*") if path.is_file()]
    assert {path.stat().st_mode & 0o222 for path in loose} == {0}
    assert list(objects.rglob("tmp_obj_*")) == []


def test_objects_that_are_packed_or_there_are_no_trouble(repository: Repository, git: GitCommand) -> None:
    path = repository.root / "folder" / "a"
    path.parent.mkdir()
    path.write_bytes(b"1")
    first = repository.commit([path], "m")
    git("gc", "-q", "--prune=now")
    path.write_bytes(b"2")
    repository.commit([path], "m")
    path.write_bytes(b"1")
    third = repository.commit([path], "m")
    assert git("rev-parse", f"{first}^{{tree}}") == git("rev-parse", f"{third}^{{tree}}")
    git("fsck", "--strict", "--no-dangling")


@pytest.mark.parametrize("there", ["file in place of a folder", "folder in place of a file"])
def test_files_and_folders_that_change_places(repository: Repository, git: GitCommand, there: str) -> None:
    root = repository.root
    old, new = ("x", "x/y") if there.startswith("file") else ("x/y", "x")
    (root / old).parent.mkdir(exist_ok=True)
    (root / old).write_bytes(b"1")
    repository.commit([root / old], "m")
    shutil.rmtree(root / "x", ignore_errors=True)
    (root / "x").unlink(missing_ok=True)
    (root / new).parent.mkdir(exist_ok=True)
    (root / new).write_bytes(b"2")
    head = repository.head()
    with pytest.raises(InvalidError):
        repository.commit([root / new], "m")
    assert repository.head() == head
    assert git("status", "--porcelain", "--untracked-files=no") == f" D {old}\n"


def test_the_last_file_of_a_folder_takes_the_folder_with_it(repository: Repository, git: GitCommand) -> None:
    root = repository.root
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "c").write_bytes(b"1")
    repository.commit([root / "a/b/c"], "m")
    (root / "a" / "b" / "c").unlink()
    repository.commit([root / "a/b/c", root / "first"], "m")
    assert git("ls-tree", "-t", "-r", "--name-only", "HEAD") == "first\nkept\n"
    for name in ("first", "kept"):
        (root / name).unlink()
    repository.commit([root / "first", root / "kept"], "m")
    assert git("ls-tree", "-r", "HEAD") == ""


def test_messages_are_in_the_encoding_that_git_is_told(repository: Repository, git: GitCommand) -> None:
    git("config", "i18n.commitEncoding", "ISO-8859-1")
    (repository.root / "a").write_bytes(b"1")
    new = repository.commit([Path("a")], "plain words")
    assert "\nencoding ISO-8859-1\n" in git("cat-file", "commit", new)


def commit_in_and_out(repository: Repository) -> None:
    """Commit a file in a folder that a sparse checkout will have, and two in one that it will not."""
    paths = [repository.root / name for name in ("in/a", "out/a", "out/b")]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"1\n")
    repository.commit(paths, "m")


def test_a_sparse_checkout_commits_what_is_written_outside_of_it(repository: Repository, git: GitCommand) -> None:
    root = repository.root
    commit_in_and_out(repository)
    git("sparse-checkout", "set", "in")
    assert not (root / "out" / "a").exists()
    (root / "out").mkdir()
    (root / "out" / "a").write_bytes(b"2\n")
    new = repository.commit([root / "out" / "a"], "m")
    assert repository.read_at(new, "out/a") == b"2\n"
    assert repository.read_at(new, "out/b") == b"1\n"
    assert git("status", "--porcelain") == ""


LOOKS_AWAY = {
    "assume-unchanged": ("--assume-unchanged",),
    "skip-worktree": ("--skip-worktree",),
    "both": ("--assume-unchanged", "--skip-worktree"),
}
FORMS = {"usual": (), "split": ("--split-index",), "shorter": ("--index-version=4",)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("marks", LOOKS_AWAY)
@pytest.mark.parametrize("more", [0, 40], ids=["few", "many"])
def test_entries_that_git_is_told_to_look_away_from_become_what_is_committed(
    repository: Repository, git: GitCommand, marks: str, form: str, more: int
) -> None:
    root = repository.root
    names = ["d/a", "d/b", "d/aa", *(f"d/{number}" for number in range(more))]
    (root / "d").mkdir()
    for name in names:
        (root / name).write_bytes(b"1\n")
    (root / "d" / "b").chmod(0o755)
    git("add", "-A")
    git("commit", "-q", "-m", "many")
    for mark in LOOKS_AWAY[marks]:
        git("update-index", mark, "d/a", "d/b", "first")
    if FORMS[form]:
        git("update-index", *FORMS[form])
    (root / "d" / "a").write_bytes(b"2\n")
    (root / "d" / "b").write_bytes(b"2\n")
    (root / "new").write_bytes(b"2\n")
    new = repository.commit([root / name for name in (*names, "new")], "m")
    assert git("status", "--porcelain") == ""
    assert git("diff-files") == ""  # no entry waits for Git to look at its file
    assert git("ls-files", "-v", "d/a", "d/b", "new") == "H d/a\nH d/b\nH new\n"
    assert not git("ls-files", "-v", "first").startswith("H")  # not committed here, so as it was
    (root / "user's").write_bytes(b"3")
    git("add", "user's")
    git("commit", "-q", "-m", "the user's next")
    assert git("diff", "--name-only", new, "HEAD") == "user's\n"
    assert git("ls-tree", "HEAD", "d/b").startswith("100755 ")


def test_a_git_that_trusts_every_entry_has_what_is_committed_in_its_index(
    repository: Repository, git: GitCommand
) -> None:
    git("config", "core.ignoreStat", "true")
    for data in (b"1\n", b"2\n", b"3\n"):
        (repository.root / "a").write_bytes(data)
        new = repository.commit([repository.root / "a"], "m")
        assert git("rev-parse", ":a") == git("rev-parse", f"{new}:a")
        assert git("diff", "--cached", "--name-only") == ""


def test_a_marked_file_in_a_repository_with_long_ids(home: Path, tmp_path: Path) -> None:
    root = tmp_path / "long"
    subprocess.run(["git", "init", "-q", "--object-format=sha256", str(root)], check=True)
    repository = find(root)
    assert repository is not None
    (root / "a").write_bytes(b"1")
    repository.commit([Path("a")], "m")
    subprocess.run(["git", "update-index", "--skip-worktree", "a"], cwd=root, check=True)
    (root / "a").write_bytes(b"2")
    repository.commit([Path("a")], "m")
    assert subprocess.run(["git", "status", "--porcelain"], cwd=root, check=True, capture_output=True).stdout == b""
    repository.close()


def test_a_marked_file_that_is_not_there_keeps_its_mark_and_its_place(repository: Repository, git: GitCommand) -> None:
    """As in a sparse checkout with the index of a few folders only, which Git is asked about."""
    root = repository.root
    commit_in_and_out(repository)
    git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
    (root / "out").mkdir()
    (root / "out" / "a").write_bytes(b"2\n")
    git("update-index", "--assume-unchanged", "in/a")
    (root / "in" / "a").write_bytes(b"2\n")
    repository.commit([root / "out" / "a", root / "in" / "a"], "m")
    assert git("status", "--porcelain") == ""
    assert "S out/b\n" in git("ls-files", "-v")


def test_a_kept_date_and_zone_are_followed(
    repository: Repository, git: GitCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_AUTHOR_DATE", "1700000000 +0530")
    (repository.root / "a").write_bytes(b"1")
    new = repository.commit([Path("a")], "m")
    assert git("log", "-1", "--format=%ad", "--date=raw", new) == "1700000000 +0530\n"
    monkeypatch.setenv("GIT_AUTHOR_DATE", "no date")
    (repository.root / "a").write_bytes(b"2")
    other = find(repository.root)
    assert other is not None
    with pytest.raises(InvalidError):
        other.commit([Path("a")], "m")
    assert repository.head() == new


def test_a_commit_has_the_date_of_its_making_and_not_of_the_question_who_commits(
    repository: Repository, git: GitCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    assert repository.identity() == ("Ada Example", "ada@example.invalid")
    monkeypatch.setattr("pawl.io.git.commit.time.time", lambda: 2_000_000_000.9)
    (repository.root / "a").write_bytes(b"1")
    new = repository.commit([Path("a")], "m")
    assert git("log", "-1", "--format=%ad %cd", "--date=raw", new) == "2000000000 +0530 2000000000 +0530\n"


@pytest.mark.parametrize("hidden", ["", "\n\tname = x\n\temail ="])
def test_half_an_identity_is_none(root: Path, home: Path, hidden: str) -> None:
    (home / ".gitconfig").write_text(f"[user]{hidden}\n[committer]\n\tname = y\n", encoding="utf-8")
    found = find(root)
    assert found is not None
    (root / "a").write_bytes(b"1")
    with pytest.raises(InvalidError) as caught:
        found.commit([Path("a")], "m")
    assert caught.value.problems[0].code == "git-no-identity"
    assert found.head() is None


def test_a_prepared_commit_that_never_comes_leaves_no_process(repository: Repository) -> None:
    repository.prepare("m")
    before = subprocess.run(["git", "status", "--porcelain"], cwd=repository.root, check=True, capture_output=True)
    repository.close()
    assert before.stdout == b""
    (repository.root / "a").write_bytes(b"1")
    repository.prepare("another message")
    new = repository.commit([Path("a")], "m")
    assert repository.head() == new


def test_settled_is_what_head_the_index_and_the_work_tree_agree_on(repository: Repository, git: GitCommand) -> None:
    path = repository.root / "first"
    missing = repository.root / "missing"
    assert repository.unsettled([path, missing, repository.root / "kept"]) == (missing,)
    path.write_bytes(b"changed\n")
    assert repository.unsettled([path]) == (path,)
    git("add", "first")
    assert repository.unsettled([path]) == (path,)
    path.write_bytes(b"first\n")
    assert repository.unsettled([path]) == (path,)
    git("add", "first")
    assert repository.unsettled([path]) == ()
