"""Recording who allows, waives or stops something on a channel, signed where the actor has a key for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pawl.canonical import timestamp
from pawl.errors import PawlError, UsageError
from pawl.ids import Channel
from pawl.io import git
from pawl.io.signatures import find_key, sign
from pawl.operations.governing.interventions import carry_out
from pawl.operations.session import Report, Session
from pawl.operations.situations import actor_kind_of
from pawl.operations.world import World, read_world
from pawl.problems import Problem
from pawl.registry.channels import ChannelState, follow
from pawl.registry.channels_grants import Identity
from pawl.registry.journal import Actor, Record
from pawl.releases.planning import intervention_bytes, plan_intervention
from pawl.releases.plans import Plan
from pawl.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One intervention under way. ``state`` is the channel as it is stored; ``judged`` the same for judging."""

    session: Session
    world: World
    state: ChannelState
    reason: str

    @property
    def channel(self) -> Channel:
        return self.state.channel

    @property
    def judged(self) -> ChannelState:
        policy = self.world.catalog.policy
        return self.session.workspace.attested(self.state, policy.signers if policy else None, self.session.at)

    def unchanged(self, message: str, **data: Any) -> Report:
        """Return the report of what already holds."""
        note = Problem(code="unchanged", severity="note", message=message)
        return Report(status="unchanged", problems=(note,), data={"channel": self.channel, **data})


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """An intervention that is planned, and signed where there is a key. ``by`` is who does it."""

    scene: Scene
    plan: Plan
    record: Record
    by: Identity
    signed: bool
    problems: tuple[Problem, ...]

    @property
    def judged(self) -> ChannelState:
        """The channel for judging, as it would be with this record."""
        return follow(self.scene.judged, self.record)

    def finish(
        self, data: Mapping[str, Any], *, problems: tuple[Problem, ...] = (), exit_code: int = 0, dry_run: bool = False
    ) -> Report:
        """Write the record, unless it is a dry run. An attempt that does not count is recorded all the same."""
        told = {
            "action": self.record.action,
            "channel": self.scene.channel,
            "by": self.by.as_dict(),
            "signed": self.signed,
            "dry_run": dry_run,
            **data,
        }
        if dry_run:
            report = Report(status="would", data={**told, "serial": None, "files": [], "commit": None})
        else:
            report = carry_out(self.scene.session, self.plan, told)
        status = report.status if not exit_code else "would-refuse" if dry_run else "refused"
        told_problems = (*problems, *self.problems, *report.problems)
        return Report(status=status, exit_code=exit_code, problems=told_problems, data=report.data)


def scene_of(session: Session, channel: Channel, reason: str) -> Scene:
    """Return where an intervention takes place."""
    world = read_world(session.workspace)
    return Scene(session=session, world=world, state=world.channel(channel), reason=reason)


def draft(scene: Scene, action: str, body: Mapping[str, Any], what: str) -> Drafted:
    """Plan an intervention, signed by the actor where there is a key; it says verified only if the signature holds."""
    session, catalog = scene.session, scene.world.catalog
    kind = actor_kind_of(session, scene.world)
    body = {**body, "actor_kind": kind}
    stamp = session.stamp(scene.reason)
    workspace, actor = session.workspace, replace(session.actor, verified=False)
    data = intervention_bytes(action, body, state=scene.state, catalog=catalog, stamp=stamp)
    signature, key, unsigned = _signature(workspace, actor, data, needed=action not in _STOPS)
    adopted = catalog.policy.signers if catalog.policy else None
    verified = workspace.vouches(actor.email, data, signature, adopted, session.at)
    actor = replace(actor, verified=verified)
    plan = plan_intervention(
        action,
        body,
        state=scene.state,
        catalog=catalog,
        stamp=replace(stamp, actor=actor),
        what=what,
        signature=signature,
    )
    record = plan.record
    if record is None:
        raise AssertionError("an intervention is a record")
    unknown = (_unknown_key(actor.email or "", key),) if signature and not verified else ()
    by = Identity(name=actor.name, email=actor.email, kind=kind, verified=verified)
    problems = (*unsigned, *unknown)
    return Drafted(scene=scene, plan=plan, record=record, by=by, signed=signature is not None, problems=problems)


_STOPS = frozenset({"freeze"})
"""What only stops something: it does not wait until a key can be used."""


def _signature(
    workspace: Workspace, actor: Actor, data: bytes, *, needed: bool
) -> tuple[str | None, str, tuple[Problem, ...]]:
    """Return the actor's signature, by which key, and why there is none where that was no choice."""
    if not actor.email:
        return None, "", ()
    try:
        key = find_key(workspace.root, in_git=git.find(workspace.root) is not None)
        return (sign(key, data) if key else None), str(key), ()
    except PawlError as error:
        if needed:
            raise
        return None, "", tuple(replace(problem, severity="warning") for problem in error.problems)


def end_in_time(session: Session, end: datetime, what: str) -> str:
    """Return an end as it stands in records; ``UsageError`` for one that is past."""
    text = timestamp(end)
    if text <= session.at:
        message = f"{what} ends at {text}, which is past: it is {session.at}"
        raise UsageError(message, code="end-past", hint="give an end in the future, such as --for P7D")
    return text


def _unknown_key(email: str, key: str) -> Problem:
    return Problem(
        code="signature-unknown",
        severity="warning",
        message=f"signed with {key}, which is not {email}'s by registry/allowed_signers as adopted and as it is now",
        hint='add "ADDRESS KEY" to registry/allowed_signers, then: pawl policy adopt --reason "..."',
    )
