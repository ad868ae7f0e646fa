"""Workspaces that are made once for many tests, each of which works on a copy."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from releases.commands import Bases


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bases]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HOME", str(tmp_path_factory.getbasetemp()))
        patched.setenv("GIT_CONFIG_NOSYSTEM", "1")
        yield Bases(tmp_path_factory.mktemp("bases"))
