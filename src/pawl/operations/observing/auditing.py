"""Audit: what is live against today's policy, and whether there is a way back."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from pawl.errors import IntegrityError
from pawl.ids import Channel, Name
from pawl.operations.observing.standing import override_problems, overrides, standing_waivers, waiver_problems
from pawl.operations.releasing.judging import Suites, read_affected
from pawl.operations.releasing.targets import Sets, Target, find_targets
from pawl.operations.session import Report, Session
from pawl.operations.situations import situation_for
from pawl.operations.sources import Sources, read_sources
from pawl.operations.world import World, read_world
from pawl.policy.evaluator import evaluate
from pawl.policy.rules import Rule
from pawl.policy.verdict import FINDINGS, INTEGRITY, REFUSED, WITHHELD, Verdict, hardest
from pawl.problems import Problem, Severity
from pawl.registry.channels import ChannelState


def live_verdict(session: Session, world: World, state: ChannelState, rules: tuple[Rule, ...]) -> Verdict:
    """Return the verdict of ``rules`` on everything that is pinned on a channel."""
    situation = situation_for(session, world, action="audit", state=state, subjects=tuple(state.pins), rules=rules)
    procedures = read_affected(session.workspace, situation)
    return evaluate(replace(situation, documents={item.digest: item.document for item in procedures.values()}))


def audit(
    session: Session, channel: Channel | None, require_way_back: int | None, *, except_first: bool = False
) -> Report:
    """Report what is live and breaks a rule (3), and, where it is required, what has no way back (1).

    What is live by a waiver whose review was missed breaks its rule (3), even one that is asked on promotions alone.
    ``except_first``: a pin that has no way back because no other version was ever live is told, and no finding.
    """
    world = read_world(session.workspace)
    states = [world.channel(channel)] if channel else list(world.channels.values())
    auditing = _Audit(
        session=session,
        world=world,
        sources=read_sources(session.workspace),
        require_way_back=require_way_back,
        except_first=except_first,
    )
    rows = [auditing.channel(state) for state in states]
    code = hardest(auditing.codes)
    return Report(
        status="failed" if code else "passed",
        exit_code=code,
        problems=tuple(auditing.problems),
        data={"channels": rows, "require_way_back": require_way_back},
    )


@dataclass(slots=True, kw_only=True)
class _Audit:
    """One audit under way: what it asks, and what it has found so far."""

    session: Session
    world: World
    sources: Sources
    require_way_back: int | None
    except_first: bool
    problems: list[Problem] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)

    def channel(self, state: ChannelState) -> dict[str, Any]:
        """Return the row of a channel."""
        policy = self.world.catalog.policy
        row: dict[str, Any] = {
            "channel": state.channel,
            "serial": state.head.serial,
            "policy": policy.number if policy else None,
            "pins": len(state.pins),
            "findings": [],
            "ways_back": {},
            "together": [],
            "first": [],
            "waivers": [],
            "overridden": [],
        }
        if not state.pins:
            message = f"nothing is pinned on {state.channel}"
            self.problems.append(Problem(code="channel-empty", severity="note", message=message))
            self.problems += _exceptions(self.session, self.world, state, None, row)
            return row
        try:
            verdict = live_verdict(self.session, self.world, state, self.world.rules)
        except IntegrityError as error:
            self.problems.extend(error.problems)
            self.codes.append(INTEGRITY)
            return row
        self._live(state, verdict, row)
        for name in sorted(state.pins):
            self._ways_back(state, name, row)
        return row

    def _live(self, state: ChannelState, verdict: Verdict, row: dict[str, Any]) -> None:
        """Note what is to be said of what is live, and of the waivers that let it in."""
        row["findings"] = [finding.as_dict() for finding in verdict.findings if finding.status != "not-applicable"]
        told = _exceptions(self.session, self.world, state, verdict, row)
        self.problems += told
        self.codes += [REFUSED for problem in told if problem.severity == "error"]
        for finding in (*verdict.failures, *verdict.warnings):
            problem = finding.problem()
            self.problems.append(replace(problem, message=f"{state.channel}: {problem.message}"))
        self.codes += [REFUSED if finding.exit_code != WITHHELD else WITHHELD for finding in verdict.failures]

    def _ways_back(self, state: ChannelState, name: Name, row: dict[str, Any]) -> None:
        """Note the ways back of one pin, and whether there are as many as are required."""
        found = find_targets(self.session, self.world, self.sources, state, name, Suites(made={}), Sets())
        ways = [target for target in found if target.verdict.allowed]
        row["ways_back"][name] = [target.pin.version for target in ways]
        row["together"] += [_together(target, state) for target in ways if target.together]
        if not state.earlier(name):
            row["first"].append(name)
        if len(ways) < (self.require_way_back or 1):
            spared = self.except_first and name in row["first"]
            self.problems.append(_no_way(state, name, ways, spared=spared, required=self.require_way_back))
            self.codes += [FINDINGS] if self.require_way_back and not spared else []


def _exceptions(
    session: Session, world: World, state: ChannelState, live: Verdict | None, row: dict[str, Any]
) -> list[Problem]:
    """Note in ``row`` which waivers there are and what they let in, and return what is to be said of that."""
    overridden = overrides(session, state, live)
    waivers = standing_waivers(session, world, state, overridden)
    row["waivers"] = [waiver.as_dict() for waiver in waivers]
    row["overridden"] = [item.as_dict() for item in overridden]
    told = {(finding.subject, finding.waiver) for finding in (live.warnings if live else ())}
    untold = [item for item in overridden if (item.ref, item.waiver) not in told]
    return [*waiver_problems(state, waivers, live=True), *override_problems(state, untold)]


def _together(target: Target, state: ChannelState) -> dict[str, Any]:
    command = target.command(state.channel)
    return {"name": target.pin.name, "version": target.pin.version, "with": target.refs, "command": command}


def _no_way(state: ChannelState, name: Name, ways: list[Target], *, spared: bool, required: int | None) -> Problem:
    there = f"only {', '.join(target.words for target in ways)}" if ways else "no earlier version"
    message = f"{state.channel}: {name}@{state.pins[name].version} could be rolled back to {there} now"
    hint = f"pawl targets {name} --channel {state.channel} shows every earlier version and its verdict"
    if not state.earlier(name):
        message = f"{message}: no other version was ever live there"
        hint = "a way back begins with the second version that is promoted; until then: pawl halt"
    severity: Severity = "note" if spared else "error" if required else "warning"
    return Problem(code="no-way-back", severity=severity, message=message, hint=hint)
