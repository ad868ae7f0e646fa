"""A release that comes while a reader is between two files is no damage; a projection that is edited is."""

from __future__ import annotations

import pytest

from pawl.errors import IntegrityError
from pawl.ids import Channel
from pawl.workspace import Workspace
from support import Shop

STAGING = Channel("staging")


def test_a_release_between_record_and_projection_is_read_again(released: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    real, moved = Workspace._served, False

    def late(self: Workspace, channel: Channel) -> object:
        nonlocal moved
        if not moved:
            moved = True
            released.pawl("halt", "support/refund", "--channel", "staging", "--reason", "now")
            raise IntegrityError("the projection is that of the record after")
        return real(self, channel)

    monkeypatch.setattr(Workspace, "_served", late)
    assert Workspace(released.root).served(STAGING).head.serial == 2


def test_an_edited_projection_is_damage_all_the_same(released: Shop) -> None:
    released.edit("registry/channels/staging.json", ('"serial": 1\n', '"serial": 7\n'))
    with pytest.raises(IntegrityError):
        Workspace(released.root).served(STAGING)
