"""Situations: everything that a verdict may depend on, put together in one place for every command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pawl.errors import RefusedError
from pawl.ids import Digest, Name
from pawl.operations.session import Session
from pawl.operations.world import World
from pawl.policy.facts import People, kind_of, roles_of
from pawl.policy.rules import Rule
from pawl.policy.situation import Situation, SuiteEvidence
from pawl.policy.verdict import Action
from pawl.registry.channels import ChannelState, Pin
from pawl.registry.channels_grants import ActorKind, Identity


def situation_for(
    session: Session,
    world: World,
    *,
    action: Action,
    state: ChannelState,
    moves: Mapping[Name, Pin | None] | None = None,
    subjects: tuple[Name, ...] = (),
    documents: Mapping[Digest, Mapping[str, Any]] | None = None,
    evidence: Mapping[Name, tuple[SuiteEvidence, ...]] | None = None,
    unread_suites: tuple[str, ...] = (),
    rules: tuple[Rule, ...] | None = None,
    detail: bool = False,
) -> Situation:
    """Return the situation of one question; verified in it is only what signatures vouch for now.

    ``rules`` are others than those in force: those that a plan asks about.
    """
    policy = world.catalog.policy
    upstream_name, upstream = world.upstream(state.channel)
    planned = rules is not None and rules is not world.rules
    return Situation(
        action=action,
        state=session.workspace.attested(
            state,
            policy.signers if policy else None,
            session.at,
            approvals=action == "promote",
            known=session.vouched,
        ),
        catalog=world.catalog,
        rules=world.rules if rules is None else rules,
        rules_of=len(world.catalog.policies) + 1 if planned else None,
        documents=documents or {},
        actor=session.actor,
        actor_kind=actor_kind_of(session, world),
        people=people_of(world),
        authors=world.catalog.authors,
        now=session.now,
        moves=moves or {},
        subjects=subjects,
        upstream=upstream,
        upstream_name=upstream_name if policy else None,
        channels=world.channels,
        evidence=evidence,
        unread_suites=unread_suites,
        detail=detail,
    )


def people_of(world: World) -> People | None:
    """Return the adopted people with their roles."""
    policy = world.catalog.policy
    return policy.people if policy else None


def actor_kind_of(session: Session, world: World) -> ActorKind:
    """Return what kind of actor a record says: an agent or a service where the actor says so or the adopted roles do.

    Whom the adopted people name without such a role is a person; of anybody else nothing is known.
    """
    actor = session.actor
    who = Identity(name=actor.name, email=actor.email, kind=session.actor_kind, verified=actor.verified)
    roles = roles_of(who, people_of(world))
    kind = kind_of(who, roles)
    return "human" if kind == "unknown" and roles is not None else kind


def check_decides(session: Session, world: World, what: str) -> None:
    """Refuse an AI agent what loosens a hold or puts rules in force; what only stops something is open to it."""
    if actor_kind_of(session, world) == "agent":
        message = f"{session.actor} is an AI agent, and agents {what} nothing"
        raise RefusedError(message, code="agent-decides", hint="ask a person to do it")
