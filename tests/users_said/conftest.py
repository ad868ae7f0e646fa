"""Workspaces outside of Git that are copied instead of made, and a clock that tests set."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from people import set_clock
from support import Shop


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("template") / "shop"
    root.mkdir()
    shop = Shop(root)
    shop.start()
    shop.release_first()
    return root


@pytest.fixture
def live(template: Path, tmp_path: Path) -> Shop:
    """Version 1 on staging and production, outside of Git."""
    return Shop(Path(shutil.copytree(template, tmp_path / "live")))


@pytest.fixture
def moved(live: Shop) -> Shop:
    """Version 2 on staging and production, version 1 before it."""
    live.release_second()
    return live


@pytest.fixture
def third(moved: Shop) -> Shop:
    """Versions 1, 2 and 2.1 were live on both channels, one after the other."""
    moved.reach(_release_third)
    return moved


def _release_third(shop: Shop) -> None:
    publish_patch(shop)
    shop.everywhere("support/refund@2.1.0")


def publish_patch(shop: Shop, version: str = "2.1.0", steps: str = "5") -> None:
    shop.edit(
        "procedures/support/refund.yaml",
        ("version: 2.0.0", f"version: {version}"),
        ("max_steps: 6", f"max_steps: {steps}"),
    )
    shop.pawl("publish")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that sets what commands read as the time of day."""

    def set_to(at: str) -> None:
        set_clock(monkeypatch, at)

    set_to("2026-03-01T12:00:00+00:00")
    return set_to
