"""Rollback targets: every earlier version of a procedure with its verdict as of now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pawl.errors import IntegrityError, NotFoundError
from pawl.ids import Channel, Name
from pawl.operations.judging import judge
from pawl.operations.session import Report, Session
from pawl.operations.sources import Sources, read_suites
from pawl.operations.world import World, read_world
from pawl.policy.verdict import INTEGRITY, Finding, Verdict
from pawl.registry.channels import ChannelState, Pin


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One version that was live before; ``until`` is the serial of the record that ended it last."""

    pin: Pin
    until: int
    verdict: Verdict


def find_targets(session: Session, world: World, sources: Sources, state: ChannelState, name: Name) -> Iterator[Target]:
    """Yield the targets of ``name``, last live first. Suites without valid evidence are run, nothing is stored."""
    for past in state.earlier(name):
        yield Target(pin=past.pin, until=past.until, verdict=_verdict(session, world, sources, state, past.pin))


def _verdict(session: Session, world: World, sources: Sources, state: ChannelState, pin: Pin) -> Verdict:
    try:
        return judge(session, world, sources, action="rollback", state=state, moves={pin.name: pin}).verdict
    except IntegrityError as error:
        finding = Finding(
            check="integrity",
            status="failed",
            code=error.problems[0].code,
            message=error.message,
            exit_code=INTEGRITY,
            subject=str(pin.ref),
        )
        policy = world.catalog.policy
        return Verdict(
            action="rollback",
            channel=state.channel,
            policy=policy.number if policy else None,
            findings=(finding,),
        )


def targets(session: Session, name: Name, channel: Channel) -> Report:
    """Report every earlier version of ``name`` on ``channel`` with its verdict."""
    world = read_world(session.workspace)
    state = world.channel(channel)
    if name not in state.pins and not state.past.get(name):
        raise NotFoundError(
            f"{name} was never pinned on {channel}", code="not-pinned", hint="pawl status shows what is pinned"
        )
    sources = read_suites(session.workspace)
    rows = [target_row(target) for target in find_targets(session, world, sources, state, name)]
    pin = state.pins.get(name)
    policy = world.catalog.policy
    return Report(
        status="done",
        data={
            "name": name,
            "channel": channel,
            "serial": state.head.serial,
            "policy": policy.number if policy else None,
            "pinned": pin.version if pin else None,
            "targets": rows,
        },
    )


def target_row(target: Target) -> dict[str, Any]:
    """Return a target as JSON: version, digest, verdict, and why not."""
    failures = target.verdict.failures
    return {
        "version": target.pin.version,
        "digest": target.pin.digest,
        "live_until": target.until,
        "allowed": target.verdict.allowed,
        "exit_code": target.verdict.exit_code,
        "reasons": [finding.as_dict() for finding in failures],
    }
