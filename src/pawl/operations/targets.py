"""Rollback targets: every earlier version of a procedure with its verdict as of now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from pawl.errors import IntegrityError, NotFoundError
from pawl.ids import Channel, Name
from pawl.operations.judging import DEFAULT_SUITES, Judgement, Suites, judge
from pawl.operations.session import Report, Session
from pawl.operations.sources import Sources, read_suites
from pawl.operations.world import World, read_world
from pawl.policy.verdict import INTEGRITY, Finding, Verdict
from pawl.registry.channels import ChannelState, Past, Pin

Answer: TypeAlias = Literal["allowed", "refused", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One version that was live before; ``until`` is the serial of the record that ended it last."""

    pin: Pin
    until: int
    verdict: Verdict
    judgement: Judgement | None = None
    """None where its files are damaged, so that nothing could be judged."""

    @property
    def answer(self) -> Answer:
        """Return the verdict in one word; unknown where nothing but suites that were not run speaks against it."""
        if self.verdict.allowed:
            return "allowed"
        return "unknown" if self.judgement is not None and self.judgement.undecided else "refused"

    @property
    def fresh(self) -> bool | None:
        """Whether no suite has to run for a rollback to it; None where something else refuses it already."""
        rows = self.judgement.evidence() if self.judgement is not None else []
        return all(row["stored"] for row in rows) if rows else None


def find_targets(
    session: Session,
    world: World,
    sources: Sources,
    state: ChannelState,
    name: Name,
    suites: Suites = DEFAULT_SUITES,
) -> Iterator[Target]:
    """Yield the targets of ``name``, last live first. Suites without valid evidence are run, nothing is stored."""
    for number, past in enumerate(state.earlier(name)):
        marked = replace(suites, mark=f"{suites.mark}.{number}") if suites.mark else suites
        yield _target(session, world, sources, state, past, marked)


def _target(
    session: Session, world: World, sources: Sources, state: ChannelState, past: Past, suites: Suites
) -> Target:
    pin = past.pin
    try:
        judgement = judge(session, world, sources, action="rollback", state=state, moves={pin.name: pin}, suites=suites)
    except IntegrityError as error:
        return Target(pin=pin, until=past.until, verdict=_damaged(world, state, pin, error))
    return Target(pin=pin, until=past.until, verdict=judgement.verdict, judgement=judgement)


def _damaged(world: World, state: ChannelState, pin: Pin, error: IntegrityError) -> Verdict:
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
        action="rollback", channel=state.channel, policy=policy.number if policy else None, findings=(finding,)
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
    """Return a target as JSON: version, digest, verdict and why not, and how old the evidence is."""
    return {
        "version": target.pin.version,
        "digest": target.pin.digest,
        "live_until": target.until,
        "verdict": target.answer,
        "allowed": target.verdict.allowed,
        "exit_code": target.verdict.exit_code,
        "reasons": [finding.as_dict() for finding in target.verdict.failures],
        "evidence": target.judgement.evidence() if target.judgement is not None else [],
        "fresh": target.fresh,
    }
