"""Recorded interventions: halt and resume, reject and unreject on a channel; withdrawals in the registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pawl.errors import InvalidError, NotFoundError, RefusedError, WithheldError
from pawl.ids import Channel, Name, Ref, Version
from pawl.operations.session import Report, Session
from pawl.operations.situations import check_decides
from pawl.operations.sources import read_settings_file
from pawl.operations.world import World, read_world
from pawl.operations.writing import write
from pawl.problems import Problem
from pawl.registry.catalog import LEVELS, WithdrawalLevel
from pawl.registry.channels import ChannelState
from pawl.releases.planning import plan_intervention, plan_restore, plan_withdraw
from pawl.releases.plans import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scene:
    session: Session
    world: World
    state: ChannelState
    reason: str

    def intervene(self, action: str, body: Mapping[str, Any], what: str) -> Report:
        plan = plan_intervention(
            action,
            body,
            state=self.state,
            catalog=self.world.catalog,
            stamp=self.session.stamp(self.reason),
            what=what,
        )
        return carry_out(self.session, plan, {"action": action, "channel": self.state.channel, **body})

    def unchanged(self, message: str) -> Report:
        note = Problem(code="unchanged", severity="note", message=message)
        return Report(status="unchanged", problems=(note,), data={"channel": self.state.channel})


def halt(session: Session, name: Name, version: Version | None, channel: Channel, reason: str) -> Report:
    """Stop serving a name on a channel, or only one version of it, until it is resumed."""
    scene = _scene(session, channel, reason)
    pin = scene.state.pins.get(name)
    if pin is None or (version is not None and pin.version != version):
        wanted = Ref(name, version) if version else name
        raise NotFoundError(
            f"{wanted} is not pinned on {channel}", code="not-pinned", hint="pawl status shows what is pinned"
        )
    present = scene.state.halts.get(name)
    if present is not None and present.version in {version, None}:
        return scene.unchanged(f"{name} is halted on {channel} already, since {present.at}")
    return scene.intervene("halt", {"name": name, "version": version}, str(Ref(name, version) if version else name))


def resume(session: Session, name: Name, version: Version | None, channel: Channel, reason: str) -> Report:
    """Serve a halted name again."""
    scene = _scene(session, channel, reason)
    check_decides(session, scene.world, "resume")
    present = scene.state.halts.get(name)
    if present is None or (version is not None and present.version not in {version, None}):
        if name not in scene.state.pins and name not in scene.state.past:
            raise NotFoundError(f"{name} was never pinned on {channel}", code="not-pinned")
        return scene.unchanged(f"{name} is not halted on {channel}: it is served")
    return scene.intervene("resume", {"name": name}, name)


def reject(session: Session, ref: Ref, channel: Channel, reason: str, until: str | None) -> Report:
    """Keep a version's content off a channel, under whatever version number, until it is unrejected."""
    scene = _scene(session, channel, reason)
    version = scene.world.published(ref)
    present = scene.state.rejections.get(version.content)
    if present is not None and present.holds(session.at) and present.until == until:
        return scene.unchanged(f"{ref} is rejected on {channel} already, since {present.at}")
    row = {"ref": str(ref), "content": version.content, "cause": "reject", "until": until}
    return scene.intervene("reject", {"rejects": [row]}, str(ref))


def unreject(session: Session, ref: Ref, channel: Channel, reason: str) -> Report:
    """Let rejected or rolled-back content be promoted again."""
    scene = _scene(session, channel, reason)
    check_decides(session, scene.world, "unreject")
    version = scene.world.published(ref)
    if version.content not in scene.state.rejections:
        return scene.unchanged(f"{ref} is not rejected on {channel}")
    return scene.intervene("unreject", {"ref": str(ref), "unrejects": [version.content]}, str(ref))


def withdraw(session: Session, ref: Ref, level: WithdrawalLevel, reason: str) -> Report:
    """Deprecate, yank or revoke a version in the registry, for every channel."""
    world = read_world(session.workspace)
    world.published(ref)
    present = world.catalog.withdrawal(ref)
    if present is not None and LEVELS.index(present.level) >= LEVELS.index(level):
        if present.level == level:
            note = Problem(code="unchanged", severity="note", message=f"{ref} is {level} already, since {present.at}")
            return Report(status="unchanged", problems=(note,), data={"ref": str(ref), "level": level})
        raise RefusedError(
            f"{ref} is {present.level}, which is more than {level}",
            code="withdrawal-weaker",
            hint=None if present.level == "revoked" else f'first: pawl restore {ref} --reason "..."',
        )
    plan = plan_withdraw(world.catalog, ref, level, session.stamp(reason))
    pinned = [channel for channel, state in world.channels.items() if _pins(state, ref)]
    report = carry_out(session, plan, {"ref": str(ref), "level": level, "pinned_on": pinned})
    return _with(report, _still_pinned(ref, level, pinned))


def restore(session: Session, ref: Ref, reason: str) -> Report:
    """Take a deprecation or a yank back. A revocation is final."""
    world = read_world(session.workspace)
    check_decides(session, world, "restore")
    world.published(ref)
    present = world.catalog.withdrawal(ref)
    if present is None:
        note = Problem(code="unchanged", severity="note", message=f"{ref} is not withdrawn")
        return Report(status="unchanged", problems=(note,), data={"ref": str(ref)})
    if present.level == "revoked":
        raise WithheldError(
            f"{ref} was revoked by {present.actor} at {present.at} ({present.reason}); a revocation is final",
            code="revoked",
            hint="publish the content as a new version, if it is safe now",
        )
    return carry_out(session, plan_restore(world.catalog, ref, session.stamp(reason)), {"ref": str(ref), "level": None})


def _scene(session: Session, channel: Channel, reason: str) -> _Scene:
    world = read_world(session.workspace)
    return _Scene(session=session, world=world, state=world.channel(channel), reason=reason)


def carry_out(session: Session, plan: Plan, data: Mapping[str, Any]) -> Report:
    """Apply the plan of an intervention and report it."""
    branch, unread = _branch(session, plan)
    applied = write(session, plan, branch=branch)
    record = plan.record
    return Report(
        status="done",
        problems=(*unread, *applied.problems),
        data={
            **data,
            "serial": record.serial if record else None,
            "files": list(applied.files),
            "commit": applied.commit,
        },
    )


_STOPS = frozenset({"halt", "reject", "withdraw", "freeze"})


def _branch(session: Session, plan: Plan) -> tuple[str | None, tuple[Problem, ...]]:
    """Return the branch for journals. What only stops something does not wait until registry.yaml is mended."""
    try:
        return read_settings_file(session.workspace).branch, ()
    except InvalidError as error:
        if plan.record is None or plan.record.action not in _STOPS:
            raise
        return None, tuple(replace(problem, severity="warning") for problem in error.problems)


def _with(report: Report, problems: Sequence[Problem]) -> Report:
    return Report(
        status=report.status, exit_code=report.exit_code, problems=(*report.problems, *problems), data=report.data
    )


def _pins(state: ChannelState, ref: Ref) -> bool:
    pin = state.pins.get(ref.name)
    return pin is not None and pin.version == ref.version


def _still_pinned(ref: Ref, level: WithdrawalLevel, channels: Sequence[Channel]) -> tuple[Problem, ...]:
    if not channels or level == "deprecated":
        return ()
    effect = "is refused there from now on" if level == "revoked" else "goes on being served there with a warning"
    where = ", ".join(channels)
    hint = f'pawl rollback {ref.name} --channel {channels[0]} --reason "..."'
    message = f"{ref} is pinned on {where} and {effect}"
    return (Problem(code="withdrawn-but-pinned", severity="warning", message=message, hint=hint),)
