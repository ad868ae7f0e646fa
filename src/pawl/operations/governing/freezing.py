"""Freezes that somebody sets at once: the channel stands still for some actions until an end, or until unfreeze."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pawl.errors import NotFoundError, UsageError
from pawl.ids import Channel, Serial
from pawl.operations.governing.recording import Scene, draft, end_in_time, scene_of
from pawl.operations.session import Report, Session
from pawl.operations.situations import check_decides
from pawl.policy.globs import glob_fault
from pawl.registry.channels_grants import Freeze, Spares


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to stand still, and what is spared."""

    until: datetime
    actions: Sequence[str]
    roles: Sequence[str] = ()
    names: Sequence[str] = ()
    labels: Mapping[str, str]

    def spares(self) -> Spares:
        """Return whom and what it spares; ``UsageError`` for a glob that fits nothing."""
        for glob in self.names:
            fault = glob_fault(glob)
            if fault:
                raise UsageError(f"the glob {glob!r} {fault}", code="glob-bad")
        if not all((*self.roles, *self.labels, *self.labels.values())):
            raise UsageError("a role and a label are no empty text", code="spares-bad")
        return Spares(
            labels=tuple(sorted(self.labels.items())),
            names=tuple(dict.fromkeys(self.names)),
            roles=tuple(dict.fromkeys(self.roles)),
        )


def freeze(session: Session, channel: Channel, reason: str, wanted: Wanted) -> Report:
    """Let a channel stand still. Who has the same freeze already is told so."""
    scene = scene_of(session, channel, reason)
    until, spares = end_in_time(session, wanted.until, "the freeze"), wanted.spares()
    actions = tuple(dict.fromkeys(wanted.actions))
    body = {"until": until, "actions": list(actions), "spares": spares.as_dict()}
    for present in _in_force(scene):
        if (present.until, set(present.actions), present.spares) == (until, set(actions), spares):
            return scene.unchanged(f"{channel} is frozen so already, since {present.at}: freeze {present.serial}")
    return draft(scene, "freeze", {"freeze": body}, f"for {' and '.join(actions)}").finish({"freeze": body})


def unfreeze(session: Session, channel: Channel, serial: Serial | None, reason: str) -> Report:
    """Lift one freeze of a channel, or all that are in force."""
    scene = scene_of(session, channel, reason)
    check_decides(session, scene.world, "unfreeze")
    present = _in_force(scene)
    if serial is not None and serial not in {item.serial for item in present}:
        return _not_in_force(scene, serial)
    if not present:
        return scene.unchanged(f"{channel} is open: no freeze is in force that somebody set")
    lifted = [item.serial for item in present if serial in {None, item.serial}]
    return draft(scene, "unfreeze", {"freezes": lifted}, ", ".join(map(str, lifted))).finish({"freezes": lifted})


def _not_in_force(scene: Scene, serial: Serial) -> Report:
    records = scene.session.workspace.journal(scene.channel)
    if not 1 <= serial <= len(records) or records[serial - 1].action != "freeze":
        raise NotFoundError(
            f"record {serial} of {scene.channel} is no freeze",
            code="freeze-unknown",
            hint=f"pawl history {scene.channel} shows them with their numbers",
        )
    return scene.unchanged(f"freeze {serial} of {scene.channel} is over or was lifted")


def _in_force(scene: Scene) -> tuple[Freeze, ...]:
    at = scene.session.at
    return tuple(item for item in scene.state.freezes.values() if item.until is None or item.until > at)
