"""Choosing versions: what a rollback could go back to, and which set moves consistently.

Pure: candidates come from the channel's history and from the catalog, and every choice is handed to the evaluator
before anything counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain

from pawl.ids import Name
from pawl.registry.catalog import Catalog
from pawl.registry.channels import ChannelState, Pin
from pawl.registry.closure import Unmet, closure_of, dependents_of
from pawl.registry.versions import is_prerelease, newest_first, satisfies
from pawl.releases.planning import pin_of

MAX_ROUNDS = 200
"""How many procedures a proposal may pull in before it gives up."""

Candidates = Callable[[Name], Iterator[Pin]]


def live_before(state: ChannelState) -> Candidates:
    """Return the candidates of a rollback: what was live on the channel, last live first."""

    def candidates(name: Name) -> Iterator[Pin]:
        present = state.pins.get(name)
        return chain((present,) if present else (), (past.pin for past in state.earlier(name)))

    return candidates


def published(state: ChannelState, catalog: Catalog, upstream: ChannelState | None) -> Candidates:
    """Return the candidates of a promotion: what is pinned, then final published versions from the newest down.

    Where another channel comes first, only what was live there.
    """

    def candidates(name: Name) -> Iterator[Pin]:
        present = state.pins.get(name)
        if present:
            yield present
        there = {item.version: item for item in catalog.versions_of(name)}
        for version in newest_first(there):
            item = there[version]
            withdrawn = catalog.withdrawal(item.ref)
            usable = not (is_prerelease(version) or item.content in state.rejections)
            entered = upstream is None or upstream.was_live(item.digest, name)
            if usable and entered and (withdrawn is None or withdrawn.level == "deprecated"):
                yield pin_of(item)

    return candidates


def unmet_after(state: ChannelState, moves: Mapping[Name, Pin | None]) -> tuple[Unmet, ...]:
    """Return every requirement that ``moves`` would leave unmet, of what moves and of what is pinned beside it."""
    after = _after(state, moves)
    roots = [name for name in moves if name in after]
    found: dict[Unmet, None] = {}
    for name in (*roots, *dependents_of(moves, after)):
        found.update(dict.fromkeys(closure_of(name, after).unmet))
    return tuple(found)


def complete(
    state: ChannelState, moves: Mapping[Name, Pin | None], candidates: Candidates
) -> Mapping[Name, Pin | None] | None:
    """Return ``moves`` with the fewest further moves found that leave no requirement unmet; ``None`` if none is found.

    What was asked for stays as asked. A requirement that is not met moves what is required; where that was asked for or
    has no fitting candidate, the one who requires it moves. Candidates are tried in their order.
    """
    chosen = dict(moves)
    for _ in range(MAX_ROUNDS):
        unmet = unmet_after(state, chosen)
        if not unmet:
            return chosen
        if not any(_mend(chosen, moves, wrong, candidates) for wrong in unmet):
            return None
    return None


def _mend(
    chosen: dict[Name, Pin | None], asked: Mapping[Name, Pin | None], wrong: Unmet, candidates: Candidates
) -> bool:
    if wrong.name not in chosen:
        for pin in candidates(wrong.name):
            if satisfies(pin.version, wrong.specifier):
                chosen[wrong.name] = pin
                return True
    there = chosen.get(wrong.name)
    if wrong.by.name in asked or wrong.by.name in chosen:
        return False
    for pin in candidates(wrong.by.name):
        wanted = pin.requires.get(wrong.name)
        if wanted is None or (there is not None and satisfies(there.version, wanted)):
            chosen[wrong.by.name] = pin
            return True
    return False


def _after(state: ChannelState, moves: Mapping[Name, Pin | None]) -> dict[Name, Pin]:
    pins = {name: pin for name, pin in state.pins.items() if name not in moves}
    return pins | {name: pin for name, pin in moves.items() if pin is not None}
