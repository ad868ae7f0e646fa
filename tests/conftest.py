"""What all tests share: a person and a home of their own for Git, and workspaces to work in."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import kept
from budgets import choose_profile
from support import Shop

choose_profile()


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: tests wait for disks and for Git."""
    return (os.cpu_count() or 1) + 1


def pytest_collection() -> None:
    """Leave garbage alone while tests are collected: nearly all that is made then stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def kept_outcomes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What set-ups come to is kept while the tests run, by all processes of the runner in one place."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "kept"
    folder.mkdir(exist_ok=True)
    kept.OUTCOMES.append(kept.Kept(folder))
    yield
    kept.OUTCOMES.clear()


@pytest.fixture(autouse=True)
def nobodys_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test sees the settings, the caches or the repository of whoever runs it."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path_factory.getbasetemp()))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "ada@example.invalid")


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A workspace in Git with the refund story's first version, checked in and nothing released."""
    root = tmp_path / "shop"
    root.mkdir()
    made = Shop(root)
    made.reach(Shop.start_in_git)
    return made


@pytest.fixture
def plain_shop(tmp_path: Path) -> Shop:
    """The same outside of Git, for tests that need many commands and no commits."""
    root = tmp_path / "shop"
    root.mkdir()
    made = Shop(root)
    made.start()
    return made


@pytest.fixture
def released(shop: Shop) -> Shop:
    """Version 1 on staging and production under policy 1."""
    shop.release_first()
    return shop
