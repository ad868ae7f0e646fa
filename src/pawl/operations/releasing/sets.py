"""Consistent sets: what would move along with what was asked for, by the action that asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pawl.ids import Name
from pawl.operations.session import Session
from pawl.operations.world import World
from pawl.policy.verdict import REFUSED, Action, Finding
from pawl.problems import Problem
from pawl.registry.channels import ChannelState, Pin, empty_channel
from pawl.releases.choosing import Proposal, complete
from pawl.releases.explaining import Conflict
from pawl.releases.offers import live_before, published


def set_with(
    session: Session, world: World, state: ChannelState, action: Action, asked: Mapping[Name, Pin]
) -> Proposal | Conflict:
    """Return the smallest consistent set with ``asked`` in it, or why there is none."""
    catalog, at = world.catalog, session.at
    if action == "rollback":
        return complete(state, asked, live_before(state, catalog, at))
    name, upstream = world.upstream(state.channel)
    before = empty_channel(name) if name is not None and upstream is None else upstream
    return complete(state, asked, published(state, catalog, before, at))


def conflict_findings(conflict: Conflict) -> tuple[Finding, ...]:
    """The first sentence is the no; those that explain it hold, so that it stands in the record with them."""
    first, *others = conflict.sentences
    no = Finding(
        check="closure",
        status="failed",
        code="no-consistent-set",
        message=first,
        exit_code=REFUSED,
        hint=conflict.hint,
    )
    return (no, *(replace(no, status="warning", message=sentence, hint=None) for sentence in others))


def reason_notes(proposal: Proposal) -> tuple[Problem, ...]:
    """Return why each further move is in a set, as notes."""
    notes = [Problem(code="consistent-set", severity="note", message=str(reason)) for reason in proposal.reasons]
    if not proposal.smallest:
        message = "a smaller set may exist: the search for it gave up"
        notes.append(Problem(code="consistent-set", severity="note", message=message))
    return tuple(notes)
