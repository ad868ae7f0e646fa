"""Real Git with a fixed identity and a home of its own, and processes that are killed at a named step."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pawl.io import steps
from pawl.io.git import Repository, find

GitCommand = Callable[..., str]
StepsOf = Callable[[Callable[[], object]], list[str]]
KilledAt = Callable[[int, Callable[[], object]], bool]


@pytest.fixture(autouse=True)
def no_hook() -> Iterator[None]:
    """Steps have no listener before and after each test."""
    steps.hook = None
    yield
    steps.hook = None


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give Git a home with a fixed identity and nothing from the machine."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / ".gitconfig").write_text(
        "[user]\n\tname = Ada Example\n\temail = ada@example.invalid\n[init]\n\tdefaultBranch = main\n",
        encoding="utf-8",
    )
    for name in list(os.environ):
        if name.startswith("GIT_") or name == "EMAIL":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return folder


@pytest.fixture
def root(tmp_path: Path, home: Path) -> Path:
    """Return the root of an empty repository, in a folder with a space and an umlaut."""
    folder = tmp_path / "work träe"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@pytest.fixture
def git(root: Path) -> GitCommand:
    """Return a function that runs Git in the repository and returns what it prints."""

    def run(*arguments: str, check: bool = True, folder: Path = root) -> str:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=False)
        assert not check or done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    return run


@pytest.fixture
def repository(root: Path, git: GitCommand) -> Iterator[Repository]:
    """Return a repository with one commit of ``first`` and ``kept``."""
    for name in ("first", "kept"):
        (root / name).write_text(f"{name}\n", encoding="utf-8")
    git("add", "first", "kept")
    git("commit", "-q", "-m", "start")
    found = find(root)
    assert found is not None
    yield found
    found.close()


@pytest.fixture
def steps_of() -> StepsOf:
    """Return a function that does something and returns the steps it went through."""

    def run(action: Callable[[], object]) -> list[str]:
        names: list[str] = []
        steps.hook = names.append
        action()
        steps.hook = None
        return names

    return run


@pytest.fixture
def killed_at() -> KilledAt:
    """Return a function that does something in a child killed at a step; it says whether the child came that far."""

    def run(number: int, action: Callable[[], object]) -> bool:
        child = os.fork()
        if child == 0:
            counter = iter(range(1_000_000))

            def hook(_name: str) -> None:
                if next(counter) == number:
                    os.kill(os.getpid(), signal.SIGKILL)

            steps.hook = hook
            try:
                action()
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        return os.WIFSIGNALED(status)

    return run
