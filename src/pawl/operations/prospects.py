"""What each channel would say if the work tree's versions were promoted to it now.

The same evaluator is asked with the channel's own pins. What only keeps the order of things (another channel comes
first, requirements move along, suites run on the channel's own set) is no refusal here but what promotion will need.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pawl.ids import Channel, Digest, Name
from pawl.operations.judging import read_affected
from pawl.operations.publishing import published_form
from pawl.operations.session import Session
from pawl.operations.situations import situation_for
from pawl.operations.sources import Sources
from pawl.operations.testing import Ran
from pawl.operations.world import World
from pawl.policy.evaluator import SuiteEvidence, affected, evaluate
from pawl.policy.verdict import Finding, Verdict, hardest
from pawl.problems import Problem
from pawl.procedures.procedure import Procedure
from pawl.registry.channels import Pin
from pawl.releases.planning import pin_of

LATER = frozenset({"order", "closure", "frozen", "tests"})
"""Checks whose refusal a promotion of the right set at the right time does not meet."""
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
    session: Session, world: World, sources: Sources, names: Iterable[Name], ran: Iterable[Ran]
) -> tuple[Prospect, ...]:
    """Return the prospect of promoting the work tree's ``names``, for each channel of the adopted policy."""
    policy = world.catalog.policy
    if policy is None:
        return ()
    pins = {name: pin_of(published_form(sources.procedures[name])) for name in sorted(names)}
    evidence = _evidence(ran, session.at)
    return tuple(_prospect(session, world, sources, channel, pins, evidence) for channel in policy.channels)


def _prospect(
    session: Session,
    world: World,
    sources: Sources,
    channel: Channel,
    pins: Mapping[Name, Pin],
    evidence: Mapping[Name, tuple[SuiteEvidence, ...]],
) -> Prospect:
    policy = world.catalog.policy
    state = world.channel(channel)
    moves = {name: pin for name, pin in pins.items() if _differs(state.pins.get(name), pin)}
    number = policy.number if policy else None
    if not moves:
        return Prospect(channel=channel, policy=number, refs=(), refusals=(), remarks=(), needs=())
    situation = situation_for(session, world, action="promote", state=state, moves=moves)
    here: dict[Digest, Procedure] = {source.value.digest: source.value for source in sources.procedures.values()}
    procedures = read_affected(session.workspace, situation, here)
    situation = replace(situation, documents={digest: item.document for digest, item in procedures.items()})
    known = {name: evidence.get(name, ()) for name in affected(situation)}
    verdict = evaluate(replace(situation, evidence=known))
    tested = {str(pin.ref) for name, pin in moves.items() if name in evidence}
    return _sorted(verdict, channel, moves, tested, world)


def _sorted(verdict: Verdict, channel: Channel, moves: Mapping[Name, Pin], tested: set[str], world: World) -> Prospect:
    refusals: list[Finding] = []
    remarks: list[Finding] = []
    needs: dict[str, None] = {}
    unpublished = [str(pin.ref) for pin in moves.values() if pin.ref not in world.catalog.published]
    if unpublished:
        needs[f"publish {', '.join(unpublished)}: pawl publish"] = None
    kinds = {rule.id: rule.kind for rule in world.rules}
    for finding in verdict.findings:
        if finding.status in {"passed", "not-applicable"}:
            continue
        about_rule = finding.check != "canary" and kinds.get(finding.rule or "") in LATER_RULES
        later = finding.check in LATER or about_rule
        if finding.check == "evidence" and finding.subject not in tested:
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
        refs=tuple(str(pin.ref) for pin in moves.values()),
        refusals=tuple(refusals),
        remarks=tuple(remarks),
        needs=tuple(needs),
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
            yield replace(problem, message=f"{prospect.channel}: {problem.message}", path=path)


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
