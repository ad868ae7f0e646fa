"""From a situation to the facts that rules look at: for one procedure, what its kinds of rules need and no more."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pawl.ids import Name, Ref
from pawl.policy.facts import ApprovalFact, Facts, ResultFact, Stay, roles_of
from pawl.policy.leaving import Leaving, withdrawn_in
from pawl.policy.rules import Rule
from pawl.policy.situation import Situation
from pawl.registry.channels_grants import Approval, Identity
from pawl.registry.closure import Closure


def facts_of(situation: Situation, name: Name, closure: Closure, rules: Collection[Rule], leaving: Leaving) -> Facts:
    """Return what is known of ``name`` for ``rules``."""
    kinds = {rule.kind for rule in rules}
    last = situation.state.last(name)
    return Facts(
        moves=name in situation.moves,
        pinned=(last.version,) if last else (),
        policy=situation.policy,
        approvals=approvals_of(situation, closure) if "approvals" in kinds else None,
        authors=_authors(situation, closure),
        requester=situation.requester,
        roles=situation.roles,
        stays=_stays(situation, closure, rules) if "soak" in kinds else None,
        results=_results(situation, name) if "evidence" in kinds else None,
        withdrawn=withdrawn_in(situation, closure) if "withdrawn" in kinds else None,
        leaving=leaving.why(name, closure) if "freeze" in kinds else "",
    )


def approvals_of(situation: Situation, closure: Closure) -> tuple[ApprovalFact, ...]:
    """Return every approval of some version of the procedure, those of this very one last."""
    root = closure.root
    mine = [
        approval
        for rows in situation.state.approvals.values()
        for approval in rows
        if approval.ref.partition("@")[0] == root.name
    ]
    found = [
        ApprovalFact(
            by=approval.by,
            roles=roles_of(approval.by, situation.people),
            policy=approval.policy,
            at=approval.at,
            until=approval.until,
            other=_other(approval, closure),
        )
        for approval in mine
    ]
    return tuple(sorted(found, key=lambda fact: not fact.other))


def _other(approval: Approval, closure: Closure) -> str:
    if approval.digest != closure.root.digest:
        return approval.ref
    return "" if approval.closure == closure.digest else f"{approval.ref} with another closure"


def _authors(situation: Situation, closure: Closure) -> tuple[Identity, ...] | None:
    found = situation.authors.get(closure.root.digest) if situation.authors is not None else None
    if not found:
        return None
    return tuple(
        Identity(name=actor.name, email=actor.email, kind="unknown", verified=actor.verified) for actor in found
    )


def _stays(situation: Situation, closure: Closure, rules: Collection[Rule]) -> Mapping[str, Stay]:
    found: dict[str, Stay] = {}
    root = closure.root
    for rule in rules:
        channel = rule.body.get("channel") if rule.kind == "soak" and isinstance(rule.body, Mapping) else None
        state = situation.other(channel) if isinstance(channel, str) else None
        if state is None or channel is None:
            continue
        published = situation.catalog.published.get(Ref(root.name, root.version))
        rejection = state.rejections.get(published.content) if published else None
        held = rejection is not None and rejection.holds(situation.at)
        found[channel] = Stay(
            times=state.live_times(root.digest, root.name),
            rejected=f"{rejection.reason} ({rejection.cause} by {rejection.by})" if rejection and held else "",
        )
    return found


def _results(situation: Situation, name: Name) -> tuple[ResultFact, ...] | None:
    known = None if situation.evidence is None else situation.evidence.get(name)
    return None if known is None else tuple(ResultFact(suite=suite.suite, at=suite.at) for suite in known)
