"""People who act on a shop whose first version is on staging, and whose production asks for approvals."""

from __future__ import annotations

import pytest

from people import ADA, Become, become, set_clock, stage
from support import Shop


@pytest.fixture
def act(monkeypatch: pytest.MonkeyPatch) -> Become:
    set_clock(monkeypatch, "2999-03-01T12:00:00Z")
    return lambda who: become(monkeypatch, who)


@pytest.fixture
def asked(shop: Shop, act: Become) -> Shop:
    """Version 1 on staging; production wants an approval by risk, which can be waived by release."""
    act(ADA)
    return stage(shop)
