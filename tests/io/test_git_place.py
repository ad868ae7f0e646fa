"""Where a repository is: seen from the files it is what Git itself says, and what is unusual is asked of Git."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pawl.errors import InvalidError
from pawl.io.git import find
from pawl.io.git import place as git_place
from pawl.io.git import process as git_process
from pawl.io.git.place import locate

GitCommand = Callable[..., str]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str | bytes, ...]]:
    """Return what Git was asked so far."""
    calls: list[tuple[str | bytes, ...]] = []
    real = git_process.run

    def run(folder: Path, *words: str | bytes, **more: object) -> object:
        calls.append(words)
        return real(folder, *words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(git_place, "run", run)
    return calls


def said(folder: Path) -> list[str]:
    """Return what Git says: root, folder of HEAD, folder of objects."""
    words = ("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir")
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.splitlines()


def seen(folder: Path) -> list[str]:
    place = locate(folder)
    return [str(path) for path in (place.root, place.git_dir, place.common)] if place else []


@pytest.fixture
def started(root: Path, git: GitCommand) -> Path:
    (root / "deep" / "er").mkdir(parents=True)
    (root / "deep" / "file").write_text("x", encoding="utf-8")
    git("add", "-A")
    git("commit", "-q", "-m", "start")
    return root


def test_the_usual_places_are_seen_without_asking(
    started: Path, git: GitCommand, tmp_path: Path, asked: list[object]
) -> None:
    linked = tmp_path / "linked tree"
    git("worktree", "add", "-q", "-b", "side", str(linked))
    shallow = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{started}", str(shallow)], check=True)
    for folder in (started, started / "deep" / "er", linked, linked / "deep", shallow):
        assert seen(folder) == said(folder)
    git("config", "user.name", 'A "quoted" name; with [odd] #signs')
    git("config", "alias.x", "!echo 'a\\b'")
    assert seen(started) == said(started)
    assert len(asked) == 1, "values in quotes are for Git to read"


@pytest.mark.parametrize(
    "setting",
    [("core.worktree", "../elsewhere"), ("extensions.worktreeConfig", "true"), ("include.path", "more"),
     ("includeIf.onbranch:main.path", "more"), ("core.bare", "no")],
    ids=lambda setting: setting[0],
)  # fmt: skip
def test_what_could_move_the_work_tree_is_asked(
    started: Path, git: GitCommand, asked: list[object], setting: tuple[str, str]
) -> None:
    (started / "elsewhere").mkdir()
    (started / ".git" / "more").write_text("[core]\n\tbare = false\n", encoding="utf-8")
    git("config", *setting)
    assert seen(started) == said(started)
    assert len(asked) == 1


def test_submodules_are_asked(started: Path, git: GitCommand, asked: list[object]) -> None:
    git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(started), "module")
    assert seen(started / "module" / "deep") == said(started / "module" / "deep")
    assert len(asked) == 1


def test_a_bare_repository_inside_a_work_tree_is_none(started: Path) -> None:
    bare = started / "deep" / "bare.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    assert (locate(bare), locate(bare / "objects")) == (None, None)
    assert locate(started / ".git" / "objects") is None


def test_a_bare_setting_makes_it_no_work_tree(started: Path, git: GitCommand) -> None:
    git("config", "core.bare", "true")
    assert locate(started) is None


def test_ceilings_are_respected(started: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(started))
    assert locate(started / "deep" / "er") is None
    assert seen(started) == said(started)


def test_a_git_folder_that_is_none_is_passed_over(started: Path) -> None:
    (started / "deep" / ".git").mkdir()
    assert seen(started / "deep") == said(started)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_somebody_else_is_an_error_and_not_none(started: Path) -> None:
    for path in (started, started / ".git"):
        os.chown(path, 12345, 12345)
    with pytest.raises(InvalidError, match="dubious ownership"):
        locate(started / "deep")


@pytest.mark.parametrize("version", ["1", "99"])
def test_an_unknown_format_is_an_error_and_not_none(started: Path, git: GitCommand, version: str) -> None:
    """Seen or asked, no later step gets an answer from a repository that this Git does not know."""
    config = started / ".git" / "config"
    text = config.read_text(encoding="utf-8").replace(
        "repositoryformatversion = 0", f"repositoryformatversion = {version}"
    )
    config.write_text(text + "[extensions]\n\tfromTheFuture = true\n", encoding="utf-8")

    def commit() -> None:
        found = find(started)
        assert found is not None
        found.commit([started / "deep" / "file"], "m")

    with pytest.raises(InvalidError):
        commit()
