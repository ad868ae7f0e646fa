"""Refusals that help: what differs, the nearest versions that would pass, and the next commands, for each refused name.

Only versions of the names that moved are looked at. Each is first asked alone, with what it requires and without its
suites; only the few that pass so are asked with everything that depends on them. After a refused rollback their suites
are run as well, since a way back must be one; after a refused promotion they are not, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from pawl.errors import IntegrityError, PawlError
from pawl.ids import Digest, Name
from pawl.operations.releasing.judging import judge
from pawl.operations.session import Session
from pawl.operations.situations import situation_for
from pawl.operations.sources import Sources
from pawl.operations.world import World
from pawl.policy.differences import OBJECTIONS, Objection, objections
from pawl.policy.evaluator import evaluate
from pawl.policy.situation import Situation, affected
from pawl.policy.verdict import EVIDENCE, Action, Finding, Verdict
from pawl.registry.channels import ChannelState, Pin
from pawl.registry.closure import closure_of
from pawl.releases.planning import pin_of
from pawl.releases.ways_on import Nearest, Remedy, earlier_and_later, published_instead, side_of
from pawl.workspace import Workspace

Moves = Mapping[Name, Pin | None]
_MAX_WHOLE = 3
"""How many versions that pass alone are asked with all that depends on them."""
_CONTENT = frozenset({"fit", "rejected", "withdrawn"})
"""Checks beside rules whose no another content can mend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A refused move: what was asked, of what, and the verdict."""

    session: Session
    world: World
    sources: Sources
    situation: Situation
    verdict: Verdict


def remedies(refused: Refused) -> tuple[Remedy, ...]:
    """Return a remedy for each name whose move was refused for what it is."""
    situation, verdict = refused.situation, refused.verdict
    said = objections(situation, verdict)
    found = []
    names = [name for name, pin in situation.moves.items() if pin is not None]
    for name in names if situation.action in {"promote", "rollback"} else ():
        mine = [finding for finding in verdict.failures if _about(finding, name, names, situation)]
        if mine:
            own = tuple(item for item in said if item.finding in mine)
            found.append(_remedy(refused, name, mine, own))
    return tuple(found)


def remedy_without_target(refused: Refused, name: Name, tried: Sequence[Pin]) -> Remedy:
    """Return what leads on where none of the earlier versions ``tried``, last live first, can be gone back to."""
    session, world, state = refused.session, refused.world, refused.situation.state
    said: tuple[Objection, ...] = ()
    if tried:
        try:
            said = objections(*ask(session, world, "rollback", state, {name: tried[0]}, name))
        except IntegrityError:
            said = ()
    return Remedy(
        name=name,
        version=None,
        action="rollback",
        channel=state.channel,
        policy=refused.verdict.policy,
        objections=said,
        nearest=(),
        looked_at=len(tried),
        fix=_fixable(world, (*tried, state.pins[name])),
        targets=bool(tried),
        halt=True,
    )


def ask(
    session: Session,
    world: World,
    action: Action,
    state: ChannelState,
    moves: Moves,
    name: Name,
    known: Mapping[Digest, Mapping[str, Any]] = MappingProxyType({}),
) -> tuple[Situation, Verdict]:
    """Return what the evaluator says of one name alone with what it requires: nothing that depends on it is asked.

    ``known`` are documents that are not published.
    """
    after = {**state.pins, **{other: pin for other, pin in moves.items() if pin is not None}}
    members = {member.name for member in closure_of(name, after).members}
    near = members | ({member.name for member in closure_of(name, state.pins).members} if name in state.pins else set())
    alone = replace(state, pins={other: pin for other, pin in state.pins.items() if other in near})
    situation = situation_for(
        session,
        world,
        action=action,
        state=alone,
        moves={other: pin for other, pin in moves.items() if other in members} if action != "resolve" else {},
        subjects=(name,) if action == "resolve" else (),
    )
    pins = [*alone.pins.values(), *situation.after.values()]
    situation = replace(situation, documents=_documents(session.workspace, pins, known))
    return situation, evaluate(situation)


def _about(finding: Finding, name: Name, names: Sequence[Name], situation: Situation) -> bool:
    """Whether a no is about this name; what depends on the names that move is the first one's matter."""
    if finding.check in {"policy", "frozen", "order"} or finding.code == "frozen":
        return False
    if finding.exit_code == EVIDENCE and situation.action == "promote":
        return False
    subject = (finding.subject or "").partition("@")[0]
    return subject == name or (name == names[0] and subject not in names and subject in situation.after)


def _remedy(refused: Refused, name: Name, mine: Sequence[Finding], said: tuple[Objection, ...]) -> Remedy:
    situation = refused.situation
    state, pin = situation.state, situation.moves[name]
    assert pin is not None  # noqa: S101 - remedies asks for nothing else
    nearest, looked_at = _nearest(refused, name, pin)
    content = any(finding.check in _CONTENT or finding.code in OBJECTIONS for finding in mine)
    return Remedy(
        name=name,
        version=pin.version,
        action=situation.action,
        channel=state.channel,
        policy=refused.verdict.policy,
        objections=said,
        nearest=nearest,
        looked_at=looked_at,
        fix=_fixable(refused.world, (pin,)) if content else None,
        targets=name in state.pins or bool(state.past.get(name)),
        halt=name in state.pins and (situation.action == "rollback" or bool(said)),
    )


def _fixable(world: World, pins: Iterable[Pin]) -> Any:
    """Return the first version that may be given out at all."""
    for pin in pins:
        withdrawal = world.catalog.withdrawal(pin.ref)
        if withdrawal is None or withdrawal.level != "revoked":
            return pin.version
    return None


def _nearest(refused: Refused, name: Name, asked: Pin) -> tuple[tuple[Nearest, ...], int]:
    state, world = refused.situation.state, refused.world
    present = state.pins.get(name)
    found: list[Nearest] = []
    looked_at = 0
    if refused.situation.action == "promote":
        versions = published_instead(
            world.catalog.versions_of(name), asked.version, present.version if present else None
        )
        pin, looked_at = _first(refused, name, [pin_of(item) for item in versions])
        if pin is not None:
            side = side_of(pin.version, asked.version)
            found.append(Nearest(pin=pin, side=side, pinned=False, suites=False))
        return tuple(found), looked_at
    for side, pins in earlier_and_later(state, name, asked.version):
        pin, number = _first(refused, name, pins)
        looked_at += number
        if pin is not None:
            is_pinned = present is not None and pin.digest == present.digest
            found.append(Nearest(pin=pin, side=side, pinned=is_pinned, suites=not is_pinned))
    return tuple(found), looked_at


def _first(refused: Refused, name: Name, pins: Sequence[Pin]) -> tuple[Pin | None, int]:
    """Return the first version that passes, and how many were looked at."""
    whole = 0
    for number, pin in enumerate(pins, 1):
        try:
            if _passes_alone(refused, name, pin):
                whole += 1
                if _passes(refused, name, pin):
                    return pin, number
        except IntegrityError:
            continue  # damaged is no way on; verify names it
        if whole == _MAX_WHOLE:
            return None, number
    return None, len(pins)


def _passes_alone(refused: Refused, name: Name, pin: Pin) -> bool:
    situation = refused.situation
    moves = {**situation.moves, name: pin} if situation.action == "promote" else {name: pin}
    _, verdict = ask(refused.session, refused.world, situation.action, situation.state, moves, name)
    others = {other for other in situation.moves if other != name}
    return _no_failure(verdict, others)


def _passes(refused: Refused, name: Name, pin: Pin) -> bool:
    """Whether a version passes with everything that depends on it; after a rollback with its suites."""
    situation, state = refused.situation, refused.situation.state
    present = state.pins.get(name)
    if situation.action == "rollback":
        if present is not None and present.digest == pin.digest:
            return True  # nothing moves, so nothing that depends on it is touched
        moves = {name: pin}
        judged = judge(refused.session, refused.world, refused.sources, action="rollback", state=state, moves=moves)
        return judged.verdict.allowed
    situation = replace(situation, moves={**situation.moves, name: pin}, evidence=None)
    after = situation.after
    members = [member for other in affected(situation) for member in closure_of(other, after).members]
    pins = [after[member.name] for member in members]
    documents = _documents(refused.session.workspace, pins, situation.documents)
    others = {other for other in situation.moves if other != name}
    return _no_failure(evaluate(replace(situation, documents=documents)), others)


def _no_failure(verdict: Verdict, others: set[Name]) -> bool:
    """Whether nothing but unasked suites speaks against a move; what is said of ``others`` is their matter."""
    return not any(
        finding.exit_code != EVIDENCE and (finding.subject or "").partition("@")[0] not in others
        for finding in verdict.failures
    )


def _documents(
    workspace: Workspace, pins: Iterable[Pin], known: Mapping[Digest, Mapping[str, Any]]
) -> dict[Digest, Mapping[str, Any]]:
    found = dict(known)
    for pin in pins:
        if pin.digest not in found:
            found[pin.digest] = workspace.procedure(pin).document
    return found


def remedy_for_served(session: Session, world: World, state: ChannelState, name: Name) -> tuple[Verdict, Remedy]:
    """Return why a pin is not served, with what leads on: the versions that were live here before and pass."""
    situation, verdict = ask(session, world, "resolve", state, {}, name)
    pin = state.pins[name]
    nearest: list[Nearest] = []
    looked_at = 0
    for past in state.earlier(name)[:_MAX_SERVED]:
        looked_at += 1
        try:
            _, judged = ask(session, world, "rollback", state, {name: past.pin}, name)
        except PawlError:
            continue
        if _no_failure(judged, set()):
            side = side_of(past.pin.version, pin.version)
            nearest.append(Nearest(pin=past.pin, side=side, pinned=False, suites=False))
            break
    return verdict, Remedy(
        name=name,
        version=pin.version,
        action="rollback",
        channel=state.channel,
        policy=verdict.policy,
        objections=objections(situation, verdict),
        nearest=tuple(nearest),
        looked_at=looked_at,
        fix=_fixable(world, (pin,)),
        targets=bool(state.earlier(name)),
        halt=False,
    )


_MAX_SERVED = 20
