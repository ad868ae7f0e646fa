"""Whom a change concerns: the channels that pin the changed procedure, and what is pinned there and requires it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pawl.ids import Channel, Name, Version
from pawl.operations.world import World
from pawl.registry.channels import ChannelState, Pin
from pawl.registry.closure import users_in
from pawl.registry.versions import satisfies


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """What is pinned, turned round: on each channel, who requires a name. Made once for many questions."""

    channels: Mapping[Channel, ChannelState]
    users: Mapping[Channel, Callable[[Name], Iterable[Name]]] = field(repr=False)

    def pinned(self, name: Name) -> list[dict[str, Any]]:
        """Return each channel that pins a procedure, and the version there."""
        pins = ((channel, state.pins.get(name)) for channel, state in sorted(self.channels.items()))
        return [{"channel": channel, "version": pin.version} for channel, pin in pins if pin]

    def used_by(self, name: Name, version: Version | None) -> list[dict[str, Any]]:
        """Return what is pinned and requires a procedure, directly or through others.

        ``still_met``: whether ``version`` is within every specifier of the procedure on the way; null where there is
        no new version.
        """
        rows: list[dict[str, Any]] = []
        for channel, state in sorted(self.channels.items()):
            through = self._through(channel, name)
            for user in sorted(through):
                pin = state.pins[user]
                direct = [state.pins[by] for by in sorted(through[user])]
                rows.append(
                    {
                        "channel": channel,
                        "kind": pin.kind,
                        "ref": str(pin.ref),
                        "requires": pin.requires.get(name),
                        "through": [str(by.ref) for by in direct if by.name != user],
                        "still_met": None if version is None else _met(direct, name, version),
                    }
                )
        return rows

    def _through(self, channel: Channel, name: Name) -> dict[Name, set[Name]]:
        """Return every user of a name with those direct ones among them that it comes to the name by."""
        users = self.users[channel]
        found: dict[Name, set[Name]] = {}
        for direct in users(name):
            waiting, seen = [direct], {direct}
            while waiting:
                user = waiting.pop()
                found.setdefault(user, set()).add(direct)
                following = {by for by in users(user) if by not in seen and by != name}
                seen |= following
                waiting += following
        return found


def affected_in(world: World) -> Affected:
    """Return who requires whom on every channel."""
    return Affected(
        channels=world.channels, users={channel: users_in(state.pins) for channel, state in world.channels.items()}
    )


def _met(direct: list[Pin], name: Name, version: Version) -> bool:
    return all(satisfies(version, by.requires[name]) for by in direct)
