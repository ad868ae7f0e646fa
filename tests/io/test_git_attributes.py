"""Files are stored as ``git add`` stores them, wherever it is said how; Git is asked only where something is said."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gits import git_in_front
from pawl.io.git import Repository, attributes, find
from pawl.io.git.place import locate
from pawl.io.git.settings import Settings

GitCommand = Callable[..., str]

FILTER = "*.loud filter=loud\n"
STORED = b"QUIET\n"


def in_the_root(root: Path, _git: GitCommand, _home: Path) -> None:
    (root / ".gitattributes").write_text(FILTER, encoding="utf-8")


def in_a_folder(root: Path, _git: GitCommand, _home: Path) -> None:
    (root / "deep" / ".gitattributes").write_text(FILTER, encoding="utf-8")


def in_the_index_alone(root: Path, git: GitCommand, home: Path) -> None:
    in_a_folder(root, git, home)
    git("add", "deep/.gitattributes")
    git("commit", "-q", "-m", "attributes")
    (root / "deep" / ".gitattributes").unlink()


def in_the_roots_index_alone(root: Path, git: GitCommand, home: Path) -> None:
    in_the_root(root, git, home)
    git("add", ".gitattributes")
    git("commit", "-q", "-m", "attributes")
    (root / ".gitattributes").unlink()


def in_a_second_index_file(root: Path, git: GitCommand, home: Path) -> None:
    git("config", "core.splitIndex", "true")
    in_the_index_alone(root, git, home)
    git("update-index", "--split-index")


def in_an_index_of_another_form(root: Path, git: GitCommand, home: Path) -> None:
    git("update-index", "--index-version=4")
    in_the_index_alone(root, git, home)


def in_the_repository(root: Path, _git: GitCommand, _home: Path) -> None:
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "attributes").write_text(FILTER, encoding="utf-8")


def in_the_users_folder(_root: Path, _git: GitCommand, home: Path) -> None:
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "attributes").write_text(FILTER, encoding="utf-8")


def in_a_file_that_is_named(_root: Path, git: GitCommand, home: Path) -> None:
    (home / "mine").write_text(FILTER, encoding="utf-8")
    git("config", "core.attributesFile", "~/mine")


def by_a_macro(root: Path, _git: GitCommand, _home: Path) -> None:
    (root / ".gitattributes").write_text("[attr]noise filter=loud\n", encoding="utf-8")
    (root / "deep" / ".gitattributes").write_text("a.* noise\n", encoding="utf-8")


PLACES = [
    in_the_root,
    in_a_folder,
    in_the_index_alone,
    in_the_roots_index_alone,
    in_a_second_index_file,
    in_an_index_of_another_form,
    in_the_repository,
    in_the_users_folder,
    in_a_file_that_is_named,
    by_a_macro,
]


@pytest.fixture
def deep(repository: Repository, git: GitCommand) -> Path:
    path = repository.root / "deep" / "a.loud"
    path.parent.mkdir()
    git("config", "filter.loud.clean", "tr a-z A-Z")
    return path


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_a_filter_is_followed_wherever_it_is_named(
    repository: Repository, git: GitCommand, home: Path, deep: Path, place: Callable[[Path, GitCommand, Path], None]
) -> None:
    place(repository.root, git, home)
    deep.write_bytes(b"quiet\n")
    new = repository.commit([deep], "m")
    assert repository.read_at(new, deep) == STORED
    assert git("status", "--porcelain", "--", str(deep)) == ""
    git("add", "deep/a.loud")
    assert git("rev-parse", ":deep/a.loud") == git("rev-parse", f"{new}:deep/a.loud")


def test_attributes_of_the_machine_are_looked_at(
    repository: Repository, git: GitCommand, deep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep.write_bytes(b"quiet\n")
    calls = git_in_front(tmp_path / "prefix", monkeypatch)
    shutil.move(tmp_path / "prefix" / "programs", tmp_path / "prefix" / "bin")
    monkeypatch.setenv("PATH", os.environ["PATH"].replace("programs", "bin", 1))
    (tmp_path / "prefix" / "etc").mkdir()
    (tmp_path / "prefix" / "etc" / "gitattributes").write_text("* -text\n", encoding="utf-8")
    repository.commit([deep], "m")
    assert "hash-object" not in calls.commands()
    (tmp_path / "prefix" / "etc" / "gitattributes").write_text(FILTER, encoding="utf-8")
    deep.write_bytes(b"quieter\n")
    repository.commit([deep], "m")
    assert "hash-object" in calls.commands()


@pytest.mark.parametrize("text", ["", "* -text\n", "* text=auto eol=lf\n*.png binary\n", None])
def test_git_is_not_asked_to_store_what_it_would_store_as_it_is(
    repository: Repository,
    git: GitCommand,
    deep: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str | None,
) -> None:
    if text is not None:
        (repository.root / ".gitattributes").write_text(text, encoding="utf-8")
    deep.write_bytes(b"quiet\n")
    calls = git_in_front(tmp_path / "front", monkeypatch)
    new = repository.commit([deep], "m")
    calls.stop()
    assert sorted(calls.commands()) == ["update-index", "update-ref", "var"]
    assert git("rev-parse", f"{new}:deep/a.loud") == git("hash-object", "deep/a.loud")


@pytest.mark.parametrize("odd", ["link", "folder", "attr.tree", "%(prefix)/x"])
def test_git_is_asked_where_it_is_not_clear_what_is_said(
    repository: Repository, git: GitCommand, deep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    here = repository.root / ".gitattributes"
    if odd == "link":
        here.symlink_to("first")
    elif odd == "folder":
        here.mkdir()
    elif odd == "attr.tree":
        git("config", "attr.tree", "HEAD")
    else:
        git("config", "core.attributesFile", odd)
    deep.write_bytes(b"quiet\n")
    calls = git_in_front(tmp_path / "front", monkeypatch)
    repository.commit([deep], "m")
    calls.stop()
    assert "hash-object" in calls.commands()
    assert git("status", "--porcelain", "deep") == ""


def test_a_pipe_of_attributes_is_not_waited_for(repository: Repository, home: Path) -> None:
    os.mkfifo(home / "pipe")
    settings = Settings(config={"core.attributesfile": str(home / "pipe")}, said={})
    found = locate(repository.root)
    assert found is not None
    assert not attributes.stored_as_they_are(found, settings, [b"first"])
    assert attributes.stored_as_they_are(found, Settings(config={}, said={}), [b"first"])


def test_a_file_of_attributes_without_end_is_not_read_to_its_end(
    repository: Repository, deep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attributes, "_MOST_BYTES", 100)
    (repository.root / ".gitattributes").write_bytes(b"# x\n" * 100)
    deep.write_bytes(b"quiet\n")
    calls = git_in_front(tmp_path / "front", monkeypatch)
    found = find(repository.root)
    assert found is not None
    found.commit([deep], "m")
    calls.stop()
    assert "hash-object" in calls.commands()
