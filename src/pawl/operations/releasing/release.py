"""Promote, roll back and remove: judge, then move the pins, or record that it was refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pawl.errors import ConflictError, NotFoundError, UsageError
from pawl.ids import REGISTRY_JOURNAL, Channel, Name, Ref, Version
from pawl.operations.clocks import now_problems
from pawl.operations.releasing.judging import Judgement, Suites, judge
from pawl.operations.releasing.remedies import Refused, remedies, remedy_without_target
from pawl.operations.releasing.sets import conflict_findings, reason_notes, set_with
from pawl.operations.releasing.targets import Sets, Target, find_targets, is_refused_by_closure
from pawl.operations.session import Report, Session, Status
from pawl.operations.situations import situation_for
from pawl.operations.sources import Sources, read_suites
from pawl.operations.world import World, read_world
from pawl.operations.writing import write
from pawl.policy.situation import Situation
from pawl.policy.verdict import REFUSED, Action, Finding, Verdict
from pawl.problems import Problem
from pawl.registry.channels import ChannelState, Pin
from pawl.releases.applying import Applied
from pawl.releases.choosing import Proposal, unmet_after
from pawl.releases.explaining import Conflict
from pawl.releases.planning import NewEvidence, pin_of, plan_moves, plan_refusal
from pawl.releases.plans import Plan
from pawl.releases.ways_on import Remedy

Moves = Mapping[Name, Pin | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a release is made."""

    reason: str
    dry_run: bool = False
    with_requirements: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Release:
    """One release under way: what it was made from and what was asked for."""

    session: Session
    world: World
    sources: Sources
    state: ChannelState
    action: Action
    options: Options
    asked: Sequence[str]
    suites: Suites
    """What suites came to so far and which versions were read: none is run or read twice for one release."""


def promote(session: Session, refs: Sequence[Ref], channel: Channel, options: Options) -> Report:
    """Pin exact versions on a channel, all of them or none."""
    try:
        return _promote(session, refs, channel, options)
    except ConflictError:
        # a race that was lost against somebody who asked for the same is no conflict
        if not _all_pinned(session, refs, channel):
            raise
        return _carry_through(_begin(session, channel, "promote", options, []), {})


def _promote(session: Session, refs: Sequence[Ref], channel: Channel, options: Options) -> Report:
    release = _begin(session, channel, "promote", options, [str(ref) for ref in refs])
    moves = {ref.name: pin_of(release.world.published(ref)) for ref in refs}
    if len(moves) < len(refs):
        raise UsageError("the same procedure is named twice: one version of each can be pinned", code="name-twice")
    return _completed(release, moves) if options.with_requirements else _carry_through(release, moves)


def rollback(
    session: Session,
    asked: Sequence[tuple[Name, Version | None]],
    channel: Channel,
    options: Options,
    to: Version | None = None,
) -> Report:
    """Move names back: to the version that is given, or to the newest earlier one that passes now."""
    if to is not None and (len(asked) != 1 or asked[0][1] is not None):
        raise UsageError(
            "--to goes with exactly one bare name; write name@version for each of several", code="to-and-ref"
        )
    if len({name for name, _ in asked}) < len(asked):
        raise UsageError("the same procedure is named twice", code="name-twice")
    words = [f"{name}@{version or to}" if version or to else name for name, version in asked]
    release = _begin(session, channel, "rollback", options, words)
    moves: dict[Name, Pin] = {}
    passed_over: list[Target] = []
    judged: Judgement | None = None
    for name, version in asked:
        _need_pinned(release, name)
        wanted = version or to
        if wanted is not None:
            moves[name] = _earlier_pin(release, Ref(name, wanted))
        else:
            target, skipped = _default_target(release, name)
            passed_over += skipped
            if target is None:
                return _no_way_back(release, name, skipped)
            moves[name], judged = target.pin, target.judgement
    if options.with_requirements:
        return _completed(release, moves, _skipped(passed_over))
    return _carry_through(release, moves, _skipped(passed_over), judged)


def remove(session: Session, names: Sequence[Name], channel: Channel, options: Options) -> Report:
    """Take pins off a channel, if nothing that stays pinned requires them."""
    release = _begin(session, channel, "remove", options, list(names))
    for name in names:
        if name not in release.state.pins and not release.state.past.get(name):
            raise _never_live(release.state, name)
    return _carry_through(release, {name: None for name in names if name in release.state.pins})


def _begin(session: Session, channel: Channel, action: Action, options: Options, asked: Sequence[str]) -> _Release:
    world = read_world(session.workspace)
    state = world.channel(channel)
    sources = read_suites(session.workspace)
    return _Release(
        session=session,
        world=world,
        sources=sources,
        state=state,
        action=action,
        options=options,
        asked=asked,
        suites=Suites(made={}, read={}),
    )


def _carry_through(
    release: _Release, wanted: Moves, notes: Sequence[Problem] = (), judged: Judgement | None = None
) -> Report:
    """Judge and carry out; what was ``judged`` already counts where that was about just these moves."""
    moves = {name: pin for name, pin in wanted.items() if _differs(release.state, name, pin)}
    if not moves:
        message = f"nothing to do: {release.state.channel} is at serial {release.state.head.serial} and already so"
        note = Problem(code="unchanged", severity="note", message=message)
        return Report(status="unchanged", problems=(note,), data=_data(release, moves))
    same = judged if judged is not None and judged.situation.moves == moves else None
    judgement = same or _judge(release, moves)  # damaged bytes end here, before anything is judged
    if not judgement.verdict.allowed:
        return _refuse(release, moves, judgement, notes)
    pins = {name: replace(pin, tests=judgement.tests(name)) if pin else None for name, pin in moves.items()}
    plan = plan_moves(
        action=release.action,
        state=release.state,
        catalog=release.world.catalog,
        moves=pins,
        verdict=judgement.verdict,
        evidence=judgement.new,
        stamp=release.session.stamp(release.options.reason),
    )
    return _finish(release, moves, judgement.verdict, plan, notes)


def _judge(release: _Release, moves: Moves) -> Judgement:
    return judge(
        release.session,
        release.world,
        release.sources,
        action=release.action,
        state=release.state,
        moves=moves,
        suites=release.suites,
    )


def _refuse(release: _Release, moves: Moves, judgement: Judgement, notes: Sequence[Problem]) -> Report:
    verdict = judgement.verdict
    plan = _refusal_plan(release, verdict, judgement.new)
    found = remedies(_refused(release, judgement.situation, verdict))
    advice = (*notes, *_set_advice(release, moves), *(note for remedy in found for note in remedy.notes()))
    return _finish(release, moves, verdict, plan, advice, found)


def _refused(release: _Release, situation: Situation, verdict: Verdict) -> Refused:
    return Refused(
        session=release.session,
        world=release.world,
        sources=release.sources,
        situation=situation,
        verdict=verdict,
    )


def _refusal_plan(release: _Release, verdict: Verdict, evidence: Sequence[NewEvidence]) -> Plan:
    return plan_refusal(
        attempt={"action": release.action, "refs": list(release.asked)},
        state=release.state,
        catalog=release.world.catalog,
        verdict=verdict,
        evidence=evidence,
        stamp=release.session.stamp(release.options.reason),
    )


def _finish(
    release: _Release,
    moves: Moves,
    verdict: Verdict,
    plan: Plan,
    advice: Sequence[Problem],
    ways: Sequence[Remedy] = (),
) -> Report:
    heads = {release.state.channel: release.state.head, REGISTRY_JOURNAL: release.world.catalog.head}
    clock = now_problems(release.session, heads)  # before the record is there
    applied = Applied(files=(), commit=None)
    status: Status
    if release.options.dry_run:
        status = "would" if verdict.allowed else "would-refuse"
    else:
        applied = write(release.session, plan, branch=release.sources.settings.branch)
        status = "done" if verdict.allowed else "refused"
    record = plan.record
    findings = (*verdict.failures, *verdict.warnings)
    problems = (*(finding.problem() for finding in findings), *clock, *advice, *applied.problems)
    data = {
        **_data(release, moves),
        "serial": record.serial if record and not release.options.dry_run else None,
        "verdict": verdict.as_dict(),
        "remedies": [remedy.as_dict() for remedy in ways],
        "plan": list(plan.lines()),
        "files": list(applied.files),
        "commit": applied.commit,
    }
    return Report(status=status, exit_code=verdict.exit_code, problems=problems, data=data)


def _data(release: _Release, moves: Moves) -> dict[str, Any]:
    rows = []
    for name, pin in moves.items():
        before = release.state.pins.get(name)
        rows.append(
            {
                "name": name,
                "from": before.version if before else None,
                "to": pin.version if pin else None,
                "from_digest": before.digest if before else None,
                "to_digest": pin.digest if pin else None,
            }
        )
    policy = release.world.catalog.policy
    return {
        "action": release.action,
        "channel": release.state.channel,
        "policy": policy.number if policy else None,
        "dry_run": release.options.dry_run,
        "moves": rows,
    }


def _differs(state: ChannelState, name: Name, pin: Pin | None) -> bool:
    present = state.pins.get(name)
    return (present.digest if present else None) != (pin.digest if pin else None)


def _need_pinned(release: _Release, name: Name) -> None:
    if name not in release.state.pins:
        raise _never_live(release.state, name)


def _never_live(state: ChannelState, name: Name) -> NotFoundError:
    return NotFoundError(
        f"{name} is not pinned on {state.channel}",
        code="not-pinned",
        hint=f"pawl status shows what is; pawl history {state.channel} shows what was",
    )


def _earlier_pin(release: _Release, ref: Ref) -> Pin:
    pin = pin_of(release.world.published(ref))
    if not release.state.was_live(pin.digest, ref.name):
        raise NotFoundError(
            f"{ref} was never live on {release.state.channel}, so there is nothing to go back to",
            code="never-live",
            hint=f'to move on to it: pawl promote {ref} --to {release.state.channel} --reason "..."',
        )
    return pin


def _default_target(release: _Release, name: Name) -> tuple[Target | None, list[Target]]:
    """Return the newest earlier version that passes, with its set where that was asked for, and what is passed over."""
    skipped: list[Target] = []
    sets = Sets() if release.options.with_requirements else None
    asked = (release.session, release.world, release.sources, release.state, name)
    for target in find_targets(*asked, release.suites, sets):
        if target.verdict.allowed:
            return target, skipped
        skipped.append(target)
    return None, skipped


def _no_way_back(release: _Release, name: Name, skipped: Sequence[Target]) -> Report:
    """No earlier version passes: a refusal with the reason for each of them."""
    channel = release.state.channel
    nothing = Finding(
        check="target",
        status="missing",
        code="no-target",
        message=f"no earlier version of {name} can be live on {channel} now{_rolled_back(release, name)}",
        exit_code=skipped[0].verdict.exit_code if skipped else REFUSED,
        subject=name,
    )
    verdict = _verdict_of(release, (nothing,))
    situation = situation_for(release.session, release.world, action="rollback", state=release.state)
    way = remedy_without_target(_refused(release, situation, verdict), name, [target.pin for target in skipped])
    needing = [target.pin for target in skipped if is_refused_by_closure(target.verdict) and not target.together]
    advice = _set_advice(release, {name: needing[0]}) if needing else ()
    notes = (*_skipped(skipped), *advice, *way.notes())
    return _finish(release, {}, verdict, _refusal_plan(release, verdict, ()), notes, (way,))


def _rolled_back(release: _Release, name: Name) -> str:
    """Say who rolled back already, if that is what made live what is live: to ask twice is often to ask too late."""
    pin = release.state.pins[name]
    record = release.session.workspace.record(release.state.channel, pin.since)
    if record.action != "rollback":
        return ""
    left = next((move["from"] for move in record.body["moves"] if move["name"] == name), None)
    before = f" from {left['version']}" if left else ""
    return f": {record.actor} rolled it back{before} to {pin.version} at {record.at} (serial {pin.since})"


def _refused_by(release: _Release, moves: Moves, findings: Sequence[Finding], notes: Sequence[Problem]) -> Report:
    """A refusal before anything could be judged."""
    verdict = _verdict_of(release, findings)
    return _finish(release, moves, verdict, _refusal_plan(release, verdict, ()), notes)


def _verdict_of(release: _Release, findings: Sequence[Finding]) -> Verdict:
    policy = release.world.catalog.policy
    return Verdict(
        action=release.action,
        channel=release.state.channel,
        policy=policy.number if policy else None,
        findings=tuple(findings),
    )


def _skipped(targets: Sequence[Target]) -> tuple[Problem, ...]:
    rows = []
    for target in targets:
        why = "; ".join(finding.problem().message for finding in target.verdict.failures) or "nothing speaks for it"
        rule = next((finding.rule for finding in target.verdict.failures if finding.rule), None)
        rows.append(
            Problem(
                code="target-skipped",
                severity="note",
                message=f"passed over {target.pin.name}@{target.words}: {why}",
                rule=rule,
            )
        )
    return tuple(rows)


def _completed(release: _Release, asked: Mapping[Name, Pin], notes: Sequence[Problem] = ()) -> Report:
    """Carry through the smallest set with ``asked`` in it, or refuse with why there is none."""
    found = _set_with(release, asked)
    if isinstance(found, Conflict):
        moves = {name: pin for name, pin in asked.items() if _differs(release.state, name, pin)}
        return _refused_by(release, moves, conflict_findings(found), notes)
    return _carry_through(release, found.moves, (*notes, *reason_notes(found)))


def _set_with(release: _Release, asked: Mapping[Name, Pin]) -> Proposal | Conflict:
    return set_with(release.session, release.world, release.state, release.action, asked)


def _set_advice(release: _Release, moves: Moves) -> tuple[Problem, ...]:
    """Where requirements are unmet, say which set would move together, as a command and with reasons, or why none."""
    asked = {name: pin for name, pin in moves.items() if pin is not None}
    if release.action == "remove" or not unmet_after(release.state, asked):
        return ()
    found = _set_with(release, asked)
    if isinstance(found, Conflict):
        notes = tuple(Problem(code="no-consistent-set", severity="note", message=line) for line in found.sentences)
        return (replace(notes[0], hint=found.hint), *notes[1:])
    verb, option = ("rollback", "--channel") if release.action == "rollback" else ("promote", "--to")
    refs = " ".join(str(pin.ref) for pin in found.moves.values())
    command = f'pawl {verb} {refs} {option} {release.state.channel} --reason "..."'
    message = f"this set moves together: {command}"
    return (Problem(code="consistent-set", severity="note", message=message, hint=command), *reason_notes(found))


def _all_pinned(session: Session, refs: Sequence[Ref], channel: Channel) -> bool:
    pins = session.workspace.channel(channel).pins
    return all(ref.name in pins and pins[ref.name].version == ref.version for ref in refs)
