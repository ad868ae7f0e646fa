"""Drills: today's suites on the newest ways back of a channel, so that readiness is measured before it is needed.

Each target is judged as a rollback to it would be, by the one evaluator; the suites are run again whatever is stored.
The record of a drill holds what every target came to and the evidence for it, and moves nothing. A rollback to a target
that was drilled finds that evidence and runs no suite. No targets at all is no pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Any

from pawl.errors import NotFoundError
from pawl.ids import Channel, Name
from pawl.operations.releasing.judging import Suites
from pawl.operations.releasing.targets import Sets, Target, find_targets, target_row
from pawl.operations.session import Report, Session
from pawl.operations.sources import read_suites
from pawl.operations.world import World, read_world
from pawl.operations.writing import write
from pawl.policy.verdict import FINDINGS, INTEGRITY
from pawl.problems import Problem
from pawl.registry.channels import ChannelState
from pawl.releases.applying import Applied
from pawl.releases.planning import plan_drill
from pawl.releases.plans import Plan

LAST = 3
"""How many targets of each pin are drilled where nobody says."""
REASON = "a drill of the ways back"


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillOptions:
    """How a drill is held. Results that are younger than ``older_than`` need not be made again."""

    last: int = LAST
    older_than: timedelta = timedelta()
    reason: str = REASON
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drilled:
    """One pin with the targets that were tried."""

    name: Name
    targets: tuple[Target, ...]

    @property
    def ways(self) -> list[str]:
        return [target.pin.version for target in self.targets if target.verdict.allowed]


def drill(session: Session, channel: Channel, names: Sequence[Name], options: DrillOptions) -> Report:
    """Run the suites on the newest ways back of every pin, or of ``names``, and store what they come to."""
    world = read_world(session.workspace)
    state = world.channel(channel)
    for name in names:
        if name not in state.pins:
            raise NotFoundError(
                f"{name} is not pinned on {channel}", code="not-pinned", hint="pawl status shows what is pinned"
            )
    sources = read_suites(session.workspace)
    since = session.now - options.older_than
    drilled = []
    for number, name in enumerate(sorted(set(names)) or sorted(state.pins)):
        # one record holds the evidence for several closures of one version: the mark keeps their files apart
        suites = Suites(since=since, mark=f"-{number}")
        found = find_targets(session, world, sources, state, name, suites, Sets())
        drilled.append(_Drilled(name=name, targets=tuple(islice(found, options.last))))
    if not any(pin.targets for pin in drilled):
        return _nothing(world, state, drilled, options)
    plan = _plan(session, world, state, drilled, options)
    applied = Applied(files=(), commit=None)
    if not options.dry_run:
        applied = write(session, plan, branch=sources.settings.branch)
    problems = (*_problems(state, drilled), *applied.problems)
    closed = [pin for pin in drilled if not pin.ways]
    damaged = any(target.verdict.exit_code == INTEGRITY for pin in drilled for target in pin.targets)
    record = plan.record
    return Report(
        status=_status(options, closed=bool(closed or damaged)),
        exit_code=INTEGRITY if damaged else FINDINGS if closed else 0,
        problems=problems,
        data={
            **_data(world, state, drilled, options),
            "plan": list(plan.lines()),
            "serial": record.serial if record and not options.dry_run else None,
            "files": list(applied.files),
            "commit": applied.commit,
        },
    )


def _status(options: DrillOptions, *, closed: bool) -> Any:
    if options.dry_run:
        return "would-refuse" if closed else "would"
    return "failed" if closed else "passed"


def _plan(
    session: Session, world: World, state: ChannelState, drilled: Sequence[_Drilled], options: DrillOptions
) -> Plan:
    targets = [target for pin in drilled for target in pin.targets]
    return plan_drill(
        state=state,
        catalog=world.catalog,
        last=options.last,
        targets=[_recorded(target) for target in targets],
        evidence=[new for target in targets if target.judgement for new in target.judgement.new],
        stamp=session.stamp(options.reason),
    )


def _recorded(target: Target) -> dict[str, Any]:
    return {
        "name": target.pin.name,
        "version": target.pin.version,
        "digest": target.pin.digest,
        "allowed": target.verdict.allowed,
        **({"with": target.refs} if target.together else {}),
        "exit_code": target.verdict.exit_code,
        "why": [finding.message for finding in target.verdict.failures],
    }


def _nothing(world: World, state: ChannelState, drilled: Sequence[_Drilled], options: DrillOptions) -> Report:
    what = f"nothing that is pinned on {state.channel}" if drilled else f"nothing is pinned on {state.channel}, so it"
    message = f"{what} has an earlier version to go back to: there was nothing to drill, which is no pass"
    hint = "a way back begins with the second version that is promoted; until then: pawl halt"
    problem = Problem(code="nothing-to-drill", message=message, hint=hint)
    return Report(status="failed", exit_code=FINDINGS, problems=(problem,), data=_data(world, state, drilled, options))


def _data(world: World, state: ChannelState, drilled: Sequence[_Drilled], options: DrillOptions) -> dict[str, Any]:
    policy = world.catalog.policy
    run = [target.judgement.new for pin in drilled for target in pin.targets if target.judgement]
    return {
        "channel": state.channel,
        "policy": policy.number if policy else None,
        "last": options.last,
        "dry_run": options.dry_run,
        "suites_run": sum(len(new) for new in run),
        "ways_back": {pin.name: pin.ways for pin in drilled},
        "pins": [
            {
                "name": pin.name,
                "pinned": state.pins[pin.name].version,
                "targets": [target_row(target, state.channel) for target in pin.targets],
                "more": len(state.earlier(pin.name)) - len(pin.targets),
            }
            for pin in drilled
        ],
    }


def _problems(state: ChannelState, drilled: Sequence[_Drilled]) -> list[Problem]:
    rows = []
    for pin in drilled:
        for target in pin.targets:
            if not target.verdict.allowed:
                why = "; ".join(finding.problem().message for finding in target.verdict.failures)
                message = f"{target.pin.ref} could not be gone back to: {why}"
                rows.append(Problem(code="target-skipped", severity="note", message=message))
        if not pin.ways:
            rows.append(_closed(state, pin))
    return rows


def _closed(state: ChannelState, pin: _Drilled) -> Problem:
    present, tried, channel = state.pins[pin.name].ref, len(pin.targets), state.channel
    why = f"none of the {tried} that were tried can be live now" if tried else "no other version was ever live there"
    return Problem(
        code="no-way-back",
        message=f"{channel}: there is no way back from {present}: {why}",
        hint=f"pawl targets {pin.name} --channel {channel} shows every earlier version and its verdict",
    )
