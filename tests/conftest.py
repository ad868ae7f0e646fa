"""What all tests share: a person and a home of their own for Git, and workspaces to work in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support import Shop, git

settings.register_profile(
    "quick", deadline=None, derandomize=True, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", deadline=None, max_examples=1_000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


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
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.name", "Ada")
    git(root, "config", "user.email", "ada@example.invalid")
    made = Shop(root)
    made.start()
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
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
