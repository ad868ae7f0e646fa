"""What each channel would say if the work tree's versions were promoted to it now.

The same evaluator is asked with the channel's own pins. What only keeps the order of things (another channel comes
first, requirements move along, suites run on the channel's own set) is no refusal here but what promotion will need.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pawl.ids import Channel, Name, parse_ref
from pawl.operations.authoring.publishing import published_form
from pawl.operations.releasing.judging import read_affected
from pawl.operations.reviewing.testing import Ran
from pawl.operations.session import Session
from pawl.operations.situations import situation_for
from pawl.operations.sources import Sources
from pawl.operations.world import World
from pawl.policy.evaluator import evaluate
from pawl.policy.situation import SuiteEvidence
from pawl.policy.verdict import FINDINGS, REFUSED, Finding, Verdict, hardest
from pawl.problems import Problem
from pawl.registry.channels import ChannelState, Pin
from pawl.registry.versions import is_prerelease
from pawl.releases.choosing import complete, unmet_after
from pawl.releases.explaining import Conflict
from pawl.releases.offers import published
from pawl.releases.planning import pin_of

LATER = frozenset({"frozen"})
"""Checks whose refusal ends by itself."""
LATER_RULES = frozenset({"approvals", "evidence", "freeze", "soak"})
"""Kinds of rules that ask for people and time, which no file can bring."""
AUTHORS = frozenset({"rule", "fit"})
"""Checks whose refusal is a fault of the files; suites, and calls that may not fit, have problems of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prospect:
    """The verdict of one channel, what it refuses, and what a promotion would need besides."""

    channel: Channel
    policy: int | None
    refs: tuple[str, ...]
    refusals: tuple[Finding, ...]
    remarks: tuple[Finding, ...]
    needs: tuple[str, ...]
    upstream: bool = False
    """Whether another channel comes before it."""

    @property
    def verdict(self) -> str:
        return "refused" if self.refusals else "allowed" if self.refs else "nothing"

    def as_dict(self) -> dict[str, Any]:
        return {
            "channel": self.channel,
            "policy": self.policy,
            "verdict": self.verdict,
            "exit_code": hardest(finding.exit_code for finding in self.refusals) if self.refusals else 0,
            "refs": list(self.refs),
            "findings": [finding.as_dict() for finding in (*self.refusals, *self.remarks)],
            "needs": list(self.needs),
        }


def prospects(
    session: Session,
    world: World,
    sources: Sources,
    names: Iterable[Name],
    ran: Iterable[Ran],
    numbers: Mapping[str, Problem],
) -> tuple[Prospect, ...]:
    """Return the prospect of promoting the work tree's ``names``, for each channel of the adopted policy.

    ``numbers``: what is wrong with a version number, by the path of the file; such a version can be promoted nowhere.
    """
    policy = world.catalog.policy
    if policy is None:
        return ()
    pins = {name: pin_of(published_form(sources.procedures[name])) for name in sorted(names)}
    evidence = _evidence(ran, session.at)
    bad = {name: numbers[sources.procedures[name].path] for name in pins if sources.procedures[name].path in numbers}
    return tuple(_prospect(session, world, sources, channel, pins, evidence, bad) for channel in policy.channels)


def _prospect(
    session: Session,
    world: World,
    sources: Sources,
    channel: Channel,
    pins: Mapping[Name, Pin],
    evidence: Mapping[Name, tuple[SuiteEvidence, ...]],
    bad: Mapping[Name, Problem],
) -> Prospect:
    policy = world.catalog.policy
    state = world.channel(channel)
    moves = {name: pin for name, pin in pins.items() if _differs(state.pins.get(name), pin)}
    number = policy.number if policy else None
    if not moves:
        return Prospect(channel=channel, policy=number, refs=(), refusals=(), remarks=(), needs=())
    situation = situation_for(session, world, action="promote", state=state, moves=moves)
    here = {pin.digest: sources.procedures[name].value for name, pin in moves.items()}
    procedures = read_affected(session.workspace, situation, here)
    situation = replace(situation, documents={digest: item.document for digest, item in procedures.items()})
    verdict = evaluate(replace(situation, evidence={name: evidence.get(name, ()) for name in moves}))
    numbers = tuple(_number(pin, bad[name]) for name, pin in moves.items() if name in bad)
    refusals, needs = _set(session, world, state, moves)
    found = _sorted(verdict, channel, moves, world)
    return replace(found, refusals=(*numbers, *refusals, *found.refusals), needs=(*found.needs, *needs))


def _number(pin: Pin, problem: Problem) -> Finding:
    return Finding(
        check="version",
        status="failed",
        code=problem.code,
        message=f"{pin.ref} cannot be published: {problem.message}",
        exit_code=FINDINGS,
        subject=str(pin.ref),
        hint=problem.hint,
    )


def _set(
    session: Session, world: World, state: ChannelState, moves: Mapping[Name, Pin]
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """Return why nothing consistent can be made of the moves, or what moves along with them.

    That another channel comes first is no reason here: it will have been there by then.
    """
    if not unmet_after(state, moves):
        return (), ()
    found = complete(state, moves, published(state, world.catalog, None, session.at))
    if isinstance(found, Conflict):
        message = " ".join(found.sentences)
        no = Finding(
            check="closure",
            status="failed",
            code="no-consistent-set",
            message=message,
            exit_code=REFUSED,
            hint=found.hint,
        )
        return (no,), ()
    asked = " ".join(str(pin.ref) for pin in moves.values())
    command = f'pawl promote {asked} --to {state.channel} --with-requirements --reason "..."'
    return (), (*(f"{reason}" for reason in found.reasons), f"they move as one: {command}")


def _sorted(verdict: Verdict, channel: Channel, moves: Mapping[Name, Pin], world: World) -> Prospect:
    refusals: list[Finding] = []
    remarks: list[Finding] = []
    needs: dict[str, None] = {}
    unpublished = [str(pin.ref) for pin in moves.values() if pin.ref not in world.catalog.published]
    if unpublished:
        needs[f"publish {', '.join(unpublished)}: pawl publish"] = None
    refs = tuple(str(pin.ref) for pin in moves.values())
    early = [finding.subject or "" for finding in verdict.failures if finding.check == "order"]
    if early:
        upstream = world.upstream(channel)[0]
        command = f'pawl promote {" ".join(early)} --to {upstream} --reason "..."'
        needs[f"on {upstream} first: {command}"] = None
    kinds = {rule.id: rule.kind for rule in world.rules}
    for finding in verdict.findings:
        if finding.status in {"passed", "not-applicable"} or finding.check in {"order", "closure"}:
            continue
        about_rule = finding.check != "canary" and kinds.get(finding.rule or "") in LATER_RULES
        later = finding.check in LATER or about_rule
        if finding.check == "evidence" and finding.subject not in refs:
            needs[f"the suites of {finding.subject} run with it"] = None
        elif finding.status in {"warning", "waived"}:
            remarks.append(finding)
        elif later:
            needs[f"{finding.message}: {finding.hint}" if finding.hint else finding.message] = None
        else:
            refusals.append(finding)
    return Prospect(
        channel=channel,
        policy=verdict.policy,
        refs=refs,
        refusals=tuple(refusals),
        remarks=tuple(remarks),
        needs=tuple(needs),
        upstream=world.upstream(channel)[0] is not None,
    )


def canary_problems(found: Iterable[Prospect]) -> tuple[Problem, ...]:
    """Return what says that the gate itself cannot be believed, each once however many channels say it."""
    alarms = (finding for prospect in found for finding in prospect.refusals if finding.check == "canary")
    return tuple(dict.fromkeys(finding.problem() for finding in alarms))


def prospect_problems(found: Iterable[Prospect], sources: Sources) -> Iterator[Problem]:
    """Yield what channels say against the files, each once however many channels say it, placed at the file.

    How what moves fits what it calls is told where its file is looked at; here, how what stays would.
    """
    seen: set[tuple[str, str]] = set()
    for prospect in found:
        rules = (finding for finding in prospect.remarks if finding.check == "rule")
        for finding in (*prospect.refusals, *rules):
            moving = finding.check == "fit" and finding.subject in prospect.refs
            if finding.check not in AUTHORS or moving or (finding.message, finding.rule or "") in seen:
                continue
            seen.add((finding.message, finding.rule or ""))
            problem = finding.problem()
            source = sources.procedures.get(Name((finding.subject or "").partition("@")[0]))
            path = source.path if source else None
            # a pre-release is tried on the first channels; that the later ones do not take it is what it is for
            tried = prospect.upstream and finding.check == "rule" and _is_prerelease(finding.subject)
            severity = "warning" if tried else problem.severity
            yield replace(problem, message=f"{prospect.channel}: {problem.message}", path=path, severity=severity)


def _is_prerelease(ref: str | None) -> bool:
    return ref is not None and is_prerelease(parse_ref(ref).version)


def _differs(pinned: Pin | None, pin: Pin) -> bool:
    return pinned is None or pinned.digest != pin.digest


def _evidence(ran: Iterable[Ran], at: str) -> dict[Name, tuple[SuiteEvidence, ...]]:
    found: dict[Name, tuple[SuiteEvidence, ...]] = {}
    for item in ran:
        result = item.result
        told = SuiteEvidence(
            suite=result.suite,
            cases=len(result.cases),
            outcome=result.outcome,
            reason="run on the work tree",
            at=at,
        )
        name = result.about.name
        found[name] = (*found.get(name, ()), told)
    return found
