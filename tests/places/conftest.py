"""A workspace in Git that is made once and copied: two versions live, one way back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support import Shop, git


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Versions 1 and 2 of the story on both channels, everything committed."""
    root = tmp_path_factory.mktemp("places") / "shop"
    root.mkdir()
    git(root, "init", "-q", "-b", "main", "--template=")
    git(root, "config", "user.name", "Ada")
    git(root, "config", "user.email", "ada@example.invalid")
    shop = Shop(root)
    shop.start()
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    shop.release_first()
    shop.release_second()
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "sources")
    git(root, "repack", "-adq")  # one pack is copied sooner than a hundred objects
    return root


@pytest.fixture
def live(made_once: Path, tmp_path: Path) -> Shop:
    """A copy of it."""
    return Shop(Path(shutil.copytree(made_once, tmp_path / "live")))
