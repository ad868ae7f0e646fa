"""Policy outlook: what is live, and each way back, under the rules in force and under those to come.

- Both policies are asked by the one evaluator, each as it would be in force: rules, channel settings, people, number.
- Without suites: nothing is run, so a way back counts as open where nothing but results of suites is missing.
- The rules are asked at the moment of the outlook and at each later moment when one of them takes effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from pawl.canonical import timestamp
from pawl.ids import REGISTRY_JOURNAL, Digest
from pawl.operations.releasing.judging import read_affected
from pawl.operations.session import Session
from pawl.operations.situations import situation_for
from pawl.operations.world import World
from pawl.policy.evaluator import evaluate
from pawl.policy.situation import Situation
from pawl.policy.sources import rules_from
from pawl.policy.verdict import EVIDENCE, Finding
from pawl.registry.catalog import fold_registry
from pawl.registry.channels import ChannelState, Pin
from pawl.releases.plans import Plan

MAX_MOMENTS = 50
"""How many moments at which rules take effect are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What refuses a pin at one moment, by rule or code: under the policy in force, and under the one to come."""

    moment: datetime
    before: Mapping[str, Finding]
    after: Mapping[str, Finding]

    @property
    def closes(self) -> tuple[str, ...]:
        return tuple(key for key in self.after if key not in self.before)

    @property
    def opens(self) -> tuple[str, ...]:
        return tuple(sorted(set(self.before) - set(self.after)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """One pin that is asked about, live now or the target of a rollback, with the answers in the order of time."""

    state: ChannelState
    role: Literal["live", "target"]
    pin: Pin
    document: Mapping[str, Any]
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The world as it is and as it would be, the moments that were looked at, and what was foreseen."""

    before: World
    after: World
    moments: tuple[datetime, ...]
    foreseen: tuple[Foreseen, ...]

    @property
    def at(self) -> str:
        """The first moment, as it stands in records."""
        return timestamp(self.moments[0])


def world_after(session: Session, world: World, adoption: Plan) -> World:
    """Return the world as it would be: the very record that would be appended is folded in, so that nothing differs."""
    coming = (adoption.record,) if adoption.record else ()
    catalog = fold_registry((*session.workspace.journal(REGISTRY_JOURNAL), *coming))
    return replace(world, catalog=catalog, rules=rules_from(catalog.policies[-1].rules))


def outlook(session: Session, world: World, after: World, *, ahead: bool = True) -> Outlook:
    """Return the outlook at the session's moment and, with ``ahead``, at those when rules take effect after it."""
    coming = (rule.effective_on for rule in (*world.rules, *after.rules) if rule.effective_on is not None)
    later = sorted({moment for moment in coming if moment > session.now})[:MAX_MOMENTS]
    moments = (session.now, *(later if ahead else ()))
    foreseen = tuple(
        item for state in world.channels.values() for item in _channel(session, (world, after), state, moments)
    )
    return Outlook(before=world, after=after, moments=moments, foreseen=foreseen)


def _channel(
    session: Session, worlds: tuple[World, World], state: ChannelState, moments: tuple[datetime, ...]
) -> Iterator[Foreseen]:
    for name, pin in sorted(state.pins.items()):
        yield _foreseen(session, worlds, state, "live", pin, moments)
        for past in state.earlier(name):
            yield _foreseen(session, worlds, state, "target", past.pin, moments)


def _foreseen(
    session: Session,
    worlds: tuple[World, World],
    state: ChannelState,
    role: Literal["live", "target"],
    pin: Pin,
    moments: tuple[datetime, ...],
) -> Foreseen:
    procedures = read_affected(session.workspace, _situation(session, worlds[0], state, role, pin))
    documents = {digest: procedure.document for digest, procedure in procedures.items()}
    answers = []
    for moment in moments:
        then = replace(session, now=moment)
        before, after = (_refusals(_situation(then, world, state, role, pin), documents) for world in worlds)
        answers.append(Answer(moment=moment, before=before, after=after))
    return Foreseen(state=state, role=role, pin=pin, document=documents[pin.digest], answers=tuple(answers))


def _situation(session: Session, world: World, state: ChannelState, role: str, pin: Pin) -> Situation:
    if role == "live":
        return situation_for(session, world, action="audit", state=state, subjects=(pin.name,))
    return situation_for(session, world, action="rollback", state=state, moves={pin.name: pin})


def _refusals(situation: Situation, documents: Mapping[Digest, Mapping[str, Any]]) -> dict[str, Finding]:
    failures = evaluate(replace(situation, documents=documents)).failures
    return {finding.rule or finding.code: finding for finding in failures if finding.exit_code != EVIDENCE}
