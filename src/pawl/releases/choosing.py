"""Choosing a set: what was asked for, and the fewest further moves that leave no requirement unmet.

Pure. What was asked for stays exactly as asked. A further move is a name that would be pinned at another version than
now, or pinned where it is not; the fewer, the better, and nothing moves that need not. resolvelib finds a consistent
set; narrowing tells which names move in every set; where there are more moves than that, a search tries to do without
them until nothing smaller can be left. Every choice is handed to the evaluator before anything counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pawl.ids import Name
from pawl.registry.channels import ChannelState, Pin
from pawl.registry.closure import Unmet, closure_of, dependents_of
from pawl.registry.growing import Overlay
from pawl.releases.domains import Domains, GaveUp, Versions
from pawl.releases.explaining import Conflict, Reason, conflict_of, gave_up, reasons_for
from pawl.releases.offers import Offers

MAX_TRIES = 300
"""How many partial choices the search for something smaller looks at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A consistent set: what was asked for, and the further moves with a reason for each, in the order of names."""

    moves: Mapping[Name, Pin]
    reasons: tuple[Reason, ...]
    smallest: bool
    """Whether it is proved that no set has fewer further moves; ``False`` only where the search gave up."""


def complete(state: ChannelState, asked: Mapping[Name, Pin], offers: Offers) -> Proposal | Conflict:
    """Return the smallest consistent set with ``asked`` in it, or why there is none.

    The channel is taken to hold together as it is. Where several sets are smallest, the one that comes first by the
    order of offers and names is taken, the same one each time.
    """
    versions = Versions(state.pins, asked, offers)
    domains = Domains(versions)
    try:
        if not domains.follow(sorted(asked)):
            return conflict_of(state.channel, domains, ())
        if domains.clash() is None and not domains.forced():
            return Proposal(moves=asked, reasons=(), smallest=True)
        return _search(state.channel, domains)
    except GaveUp as error:
        return gave_up(state.channel, asked, str(error))


def _search(channel: str, domains: Domains) -> Proposal | Conflict:
    from pawl.releases.resolving import resolve  # noqa: PLC0415 - resolvelib is needed only where a set is looked for

    versions = domains.versions
    found = resolve(domains)
    best = None if found.moves is None else _needed(versions, found.moves)
    waiting = [domains]
    tries = 0
    while waiting and tries < MAX_TRIES:
        node = waiting.pop()
        if best is not None and len(node.forced()) >= len(best):
            continue
        tries += 1
        clash = node.clash()
        if clash is None:
            best = _needed(versions, node.first())
            continue
        waiting.extend(_parts(node, clash))
    if best is None and waiting:
        raise GaveUp(f"gave up after {tries} tries")
    if best is None:
        return conflict_of(channel, domains, found.causes)
    reasons = reasons_for(versions, best)
    moves = {**versions.asked, **{name: best[name] for name in sorted(best)}}
    return Proposal(moves=moves, reasons=tuple(reasons[name] for name in sorted(best)), smallest=not waiting)


def _parts(node: Domains, clash: tuple[Name, Name]) -> list[Domains]:
    """Return the choices that are left where two names do not agree: one is at its first value, or at none but it."""
    open_names = [name for name in clash if len(node.of(name)) > 1]
    if not open_names:
        return []
    name = min(open_names, key=lambda item: (len(node.of(item)), item))
    values = node.of(name)
    parts = []
    for part in (values[1:], values[:1]):  # the last one is looked at first
        child = node.copy()
        if child.narrow(name, part):
            parts.append(child)
    return parts


def _needed(versions: Versions, moves: Mapping[Name, Pin]) -> dict[Name, Pin]:
    """Return the moves without those that nothing forces: they can stay where they are."""
    return {name: moves[name] for name in reasons_for(versions, moves)}


def unmet_after(state: ChannelState, moves: Mapping[Name, Pin | None]) -> tuple[Unmet, ...]:
    """Return every requirement that ``moves`` would leave unmet, of what moves and of what is pinned beside it."""
    after = Overlay(state.pins)
    for name, pin in moves.items():
        if pin is not None:
            after[name] = pin
        elif name in after:
            del after[name]
    roots = [name for name in moves if name in after]
    found: dict[Unmet, None] = {}
    for name in (*roots, *dependents_of(moves, after)):
        found.update(dict.fromkeys(closure_of(name, after).unmet))
    return tuple(found)
