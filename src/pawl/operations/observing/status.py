"""Status: every channel's pins with their ways back, what stands beside them, and what somebody should know.

It runs nothing and writes nothing: a way back whose suites would have to run is unknown here, and a drill finds out. A
break-glass waiver whose review was missed makes it fail; all else is told and changes no exit code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import Any

from pawl.errors import IntegrityError, InvalidError, PawlError
from pawl.ids import Channel, Name
from pawl.operations.clocks import now_problems
from pawl.operations.observing import standing
from pawl.operations.observing.auditing import live_verdict
from pawl.operations.releasing.judging import Suites
from pawl.operations.releasing.targets import Sets, find_targets, target_row
from pawl.operations.session import Report, Session
from pawl.operations.sources import Sources, read_suites
from pawl.operations.world import World, read_world
from pawl.policy.verdict import FINDINGS
from pawl.problems import Problem
from pawl.registry.channels import ChannelState, empty_channel

LAST = 3
"""How many targets of a pin are judged here; pawl targets shows all of them."""
MAX_SETS = 50
"""For how many targets of a channel a set is looked for here, where requirements alone speak against them."""
_TOLD = 5
_STORED = Suites(run=False)


def status(session: Session, channel: Channel | None = None) -> Report:
    """Report every channel, or one: its pins, the ways back from them, and everything that somebody should know."""
    world = read_world(session.workspace)
    policy = world.catalog.policy
    channels = [channel] if channel else sorted({*world.channels, *(policy.channels if policy else ())})
    problems = list(now_problems(session, world.heads))
    sources = _sources(session, problems)
    rows = []
    for name in channels:
        state = world.channel(name) if channel else world.channels.get(name) or empty_channel(name)
        rows.append(_channel_row(session, world, sources, state, problems))
    if policy is None:
        problems.append(
            Problem(
                code="no-policy",
                severity="warning",
                message="no policy has been adopted, so nothing can be promoted",
                hint='pawl policy adopt --reason "..."',
            )
        )
    problems += _not_committed(session)
    red = any(problem.severity == "error" for problem in problems)
    return Report(
        status="failed" if red else "done",
        exit_code=FINDINGS if red else 0,
        problems=tuple(problems),
        data={
            "policy": policy.number if policy else None,
            "registry_serial": world.catalog.head.serial,
            "published": len(world.catalog.published),
            "channels": rows,
        },
    )


def _not_committed(session: Session) -> tuple[Problem, ...]:
    """Warn of records that Git could not commit; what Git cannot say is for verify to tell."""
    from pawl.io import git  # noqa: PLC0415 - slow, and only this looks into Git
    from pawl.releases.committing import not_held  # noqa: PLC0415 - as above

    try:
        repository = git.find(session.workspace.root)
        if repository is None:
            return ()
        with closing(repository):
            return not_held(session.workspace, repository)
    except (PawlError, OSError):
        return ()


def _sources(session: Session, problems: list[Problem]) -> Sources | None:
    """Return the suites, those unopened whose files show no change; None where registry.yaml does not read."""
    try:
        return read_suites(session.workspace, opened=False)
    except InvalidError as error:
        problems.extend(replace(problem, severity="warning") for problem in error.problems)
        return None


def _channel_row(
    session: Session, world: World, sources: Sources | None, state: ChannelState, problems: list[Problem]
) -> dict[str, Any]:
    pins = []
    sets = Sets(MAX_SETS)
    for name in sorted(state.pins):
        pins.append({**_pin_row(session, world, state, name), **_ways_back(session, world, sources, state, name, sets)})
        problems.extend(_pin_problems(session, world, state, name))
    policy = world.catalog.policy
    overridden = _overridden(session, world, state)
    waivers = standing.standing_waivers(session, world, state, overridden)
    freezes = standing.freezes(session, state)
    problems += [
        *_way_problems(state, pins),
        *standing.freeze_problems(state, freezes),
        *standing.waiver_problems(state, waivers, live=False),
        *standing.override_problems(state, overridden),
    ]
    return {
        "channel": state.channel,
        "after": policy.channels.get(state.channel) if policy else None,
        "serial": state.head.serial,
        "pins": pins,
        "rejections": [
            {**rejection.as_dict(), "holds": rejection.holds(session.at)} for rejection in state.rejections.values()
        ],
        "halts": standing.halts(session, state, problems),
        "freezes": freezes,
        "waivers": [waiver.as_dict() for waiver in waivers],
        "overridden": [item.as_dict() for item in overridden],
        "approvals": standing.approvals(session, world, state),
    }


def _overridden(session: Session, world: World, state: ChannelState) -> tuple[standing.Override, ...]:
    if not state.waivers:
        return ()
    try:
        live = live_verdict(session, world, state, world.rules)
    except IntegrityError:  # what is damaged is told with its pin
        live = None
    return standing.overrides(session, state, live)


def _pin_row(session: Session, world: World, state: ChannelState, name: Name) -> dict[str, Any]:
    pin, halt = state.pins[name], state.halted(name)
    withdrawal = world.catalog.withdrawal(pin.ref)
    return {
        "name": name,
        "kind": pin.kind,
        "version": pin.version,
        "digest": pin.digest,
        "since": pin.since,
        "halted": halt.as_dict() if halt else None,
        "withdrawn": withdrawal.level if withdrawal else None,
        "file_gone": not session.workspace.procedure_file(name).exists(),
    }


def _ways_back(
    session: Session, world: World, sources: Sources | None, state: ChannelState, name: Name, sets: Sets
) -> dict[str, Any]:
    """Return the newest ways back as far as stored evidence tells, and how many more there are."""
    earlier = len(state.earlier(name))
    if sources is None:
        return {"ways_back": [], "more_targets": earlier}
    found = islice(find_targets(session, world, sources, state, name, _STORED, sets), LAST)
    rows = [target_row(target, state.channel) for target in found]
    return {"ways_back": rows, "more_targets": earlier - len(rows)}


def _pin_problems(session: Session, world: World, state: ChannelState, name: Name) -> Iterator[Problem]:
    pin, halt = state.pins[name], state.halted(name)
    withdrawal = world.catalog.withdrawal(pin.ref)
    if withdrawal:
        message = f"{pin.ref} is {withdrawal.level} and pinned on {state.channel}: {withdrawal.reason}"
        yield Problem(code=withdrawal.level, severity="warning", message=message)
    if halt:
        message = f"{name} is halted on {state.channel} by {halt.by} since {halt.at}: {halt.reason}"
        yield Problem(code="halted", severity="warning", message=message)
    if not session.workspace.frozen_file(pin.ref).exists():
        message = f"the frozen file of {pin.ref}, pinned on {state.channel}, is gone: it is not served"
        hint = "restore it from Git; pawl verify names everything that does not fit"
        yield Problem(code="frozen-changed", severity="warning", message=message, hint=hint)
    if not session.workspace.procedure_file(name).exists():
        message = f"{pin.ref} is pinned on {state.channel}, and procedures/{name}.yaml is gone"
        hint = f'if it is no longer wanted: pawl remove {name} --channel {state.channel} --reason "..."'
        yield Problem(code="file-gone", severity="warning", message=message, hint=hint)


def _way_problems(state: ChannelState, pins: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    """Yield one line for all pins without a way back, one for those of which it is not known, one for the new ones."""
    closed, unknown, new = [], [], []
    for pin in pins:
        answers = {row["verdict"] for row in pin["ways_back"]}
        if "allowed" in answers:
            continue
        if not answers and not pin["more_targets"]:
            new.append(pin["name"])
        elif "unknown" in answers or pin["more_targets"]:
            unknown.append(pin["name"])
        else:
            closed.append(pin["name"])
    channel = state.channel
    if closed:
        hint = f"pawl targets {closed[0]} --channel {channel} says why"
        message = f"{channel}: no earlier version could be live now of {_listed(closed)}"
        yield Problem(code="no-way-back", severity="warning", message=message, hint=hint)
    if unknown:
        message = f"{channel}: without running suites no way back is known of {_listed(unknown)}"
        yield Problem(code="way-back-unknown", severity="warning", message=message, hint=f"pawl drill {channel}")
    if new:
        message = f"{channel}: no other version was ever live of {_listed(new)}"
        yield Problem(code="no-way-back", severity="note", message=message)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
    return ", ".join(names[:_TOLD]) + more
