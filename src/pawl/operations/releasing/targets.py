"""Rollback targets: every earlier version of a procedure with its verdict as of now.

Where requirements alone speak against a version, it is judged again with the set that would move along with it: it is
a way back if that set is, by one command.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from pawl.errors import IntegrityError, NotFoundError
from pawl.ids import Channel, Name
from pawl.operations.releasing.judging import DEFAULT_SUITES, Judgement, Suites, judge
from pawl.operations.releasing.sets import set_with
from pawl.operations.session import Report, Session
from pawl.operations.sources import Sources, read_suites
from pawl.operations.world import World, read_world
from pawl.policy.verdict import INTEGRITY, Finding, Verdict
from pawl.registry.channels import ChannelState, Past, Pin
from pawl.releases.choosing import Proposal

Answer: TypeAlias = Literal["allowed", "refused", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One version that was live before; ``until`` is the serial of the record that ended it last."""

    pin: Pin
    until: int
    verdict: Verdict
    judgement: Judgement | None = None
    """None where its files are damaged, so that nothing could be judged."""
    together: tuple[Pin, ...] = ()
    """What moves along with it, in the set that ``verdict`` is on; empty where it moves alone."""
    alone: Verdict | None = None
    """The verdict on moving it alone, where that is another one."""
    unasked: bool = False
    """Whether requirements alone speak against it and no set was looked for any more."""

    @property
    def answer(self) -> Answer:
        """Return the verdict in one word; unknown where nothing but suites that were not run speaks against it."""
        if self.verdict.allowed:
            return "allowed"
        undecided = self.unasked or (self.judgement is not None and self.judgement.undecided)
        return "unknown" if undecided else "refused"

    @property
    def words(self) -> str:
        """The version, and what moves along with it."""
        return self.pin.version + (f" with {', '.join(self.refs)}" if self.together else "")

    @property
    def refs(self) -> list[str]:
        return [str(pin.ref) for pin in self.together]

    def command(self, channel: Channel) -> str:
        """Return the command that goes back to it."""
        along = " --with-requirements" if self.together else ""
        return f'pawl rollback {self.pin.ref} --channel {channel}{along} --reason "..."'

    @property
    def fresh(self) -> bool | None:
        """Whether no suite has to run for a rollback to it; None where something else refuses it already."""
        rows = self.judgement.evidence() if self.judgement is not None else []
        return all(row["stored"] for row in rows) if rows else None


@dataclass(slots=True)
class Sets:
    """Whether sets are looked for, and for how many targets more; each search is bounded by itself."""

    left: int = 1_000

    def take(self) -> bool:
        self.left -= 1
        return self.left >= 0


def find_targets(
    session: Session,
    world: World,
    sources: Sources,
    state: ChannelState,
    name: Name,
    suites: Suites = DEFAULT_SUITES,
    sets: Sets | None = None,
) -> Iterator[Target]:
    """Yield the targets of ``name``, last live first. Suites without valid evidence are run, nothing is stored.

    Without ``sets`` each is judged as a rollback that moves it alone.
    """
    for number, past in enumerate(state.earlier(name)):
        marked = replace(suites, mark=f"{suites.mark}.{number}") if suites.mark else suites
        target = _target(session, world, sources, state, past, {}, marked)
        yield target if sets is None else _with_set(session, world, sources, state, past, target, marked, sets)


def _with_set(
    session: Session,
    world: World,
    sources: Sources,
    state: ChannelState,
    past: Past,
    alone: Target,
    suites: Suites,
    sets: Sets,
) -> Target:
    """Return the target as it is with what would move along; as it is alone, where nothing else could help."""
    if not is_refused_by_closure(alone.verdict):
        return alone
    if not sets.take():
        return replace(alone, unasked=True)
    found = set_with(session, world, state, "rollback", {past.pin.name: past.pin})
    if not isinstance(found, Proposal) or len(found.moves) == 1:
        return alone
    target = _target(session, world, sources, state, past, found.moves, suites)
    return replace(target, alone=alone.verdict)


def is_refused_by_closure(verdict: Verdict) -> bool:
    """Whether nothing but requirements, or calls that do not fit, speaks against it."""
    failures = verdict.failures
    return bool(failures) and all(finding.check in {"closure", "fit"} for finding in failures)


def _target(
    session: Session,
    world: World,
    sources: Sources,
    state: ChannelState,
    past: Past,
    moves: Mapping[Name, Pin],
    suites: Suites,
) -> Target:
    pin = past.pin
    along = tuple(other for name, other in moves.items() if name != pin.name)
    wanted = {pin.name: pin, **moves}
    try:
        judgement = judge(session, world, sources, action="rollback", state=state, moves=wanted, suites=suites)
    except IntegrityError as error:
        return Target(pin=pin, until=past.until, verdict=_damaged(world, state, pin, error), together=along)
    return Target(pin=pin, until=past.until, verdict=judgement.verdict, judgement=judgement, together=along)


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
    found = find_targets(session, world, sources, state, name, Suites(made={}), Sets())
    rows = [target_row(target, channel) for target in found]
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


def target_row(target: Target, channel: Channel) -> dict[str, Any]:
    """Return a target as JSON: version, digest, verdict and why not, what moves along, and how old the evidence is."""
    return {
        "version": target.pin.version,
        "digest": target.pin.digest,
        "live_until": target.until,
        "verdict": target.answer,
        "allowed": target.verdict.allowed,
        "exit_code": target.verdict.exit_code,
        "with": target.refs,
        "command": target.command(channel) if target.answer != "refused" else None,
        "reasons": [finding.as_dict() for finding in target.verdict.failures],
        "evidence": target.judgement.evidence() if target.judgement is not None else [],
        "fresh": target.fresh,
    }
