"""``approvals: {count: 2, roles: [risk]}``: people other than those who made and move a version have said yes to it.

- An approval counts for the digest, the closure and the policy number that it was given for, until it ends, and never
  before it was given. ``any_policy`` lets it outlive an adoption.
- Only people whom the adopted people name count, each once; with ``roles`` those who have one of them.
- Who made the version and who asks for the move do not count, and an AI agent never does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from pawl.policy.bodies import BodyReader
from pawl.policy.context import RuleContext, RuleKind, Said
from pawl.policy.durations import duration_words
from pawl.policy.facts import ApprovalFact, Facts, kind_of, read_moment
from pawl.policy.verdict import APPROVAL
from pawl.problems import Fault
from pawl.registry.channels_grants import Identity

MAX_COUNT = 20
APPROVING_KINDS = ("human", "service")
"""What can approve where a rule says so; an agent cannot, whatever a rule says."""
_MAX_SHOWN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsBody:
    """What such a rule demands."""

    count: int
    roles: tuple[str, ...]
    kinds: tuple[str, ...]
    verified: bool
    any_policy: bool
    max_age: timedelta | None


def read_approvals(body: Any) -> tuple[ApprovalsBody | None, tuple[Fault, ...]]:
    """Return the demand, or the faults of its body."""
    reader = BodyReader("approvals", body)
    max_age = reader.duration("max_age")
    demand = ApprovalsBody(
        count=reader.number("count", least=1, most=MAX_COUNT, default=1),
        roles=reader.words("roles"),
        kinds=reader.words("kinds", known=APPROVING_KINDS, default=("human",)),
        verified=reader.flag("verified"),
        any_policy=reader.flag("any_policy"),
        max_age=max_age.exact if max_age else None,
    )
    faults = reader.finish()
    return (None if faults else demand), faults


def _evaluate(body: Any, context: RuleContext) -> Said:
    demand, faults = read_approvals(body)
    if demand is None:
        return "errored", faults[0].message
    facts = context.facts
    if facts.approvals is None or not facts.authors or facts.requester is None:
        unknown = "what was approved" if facts.approvals is None else "who made it, or who asks"
        return "missing", f"nobody knows {unknown}"
    counted: list[ApprovalFact] = []
    passed_over: list[str] = []
    for approval in facts.approvals:
        why = next(_objections(approval, demand, facts, context), None)
        if why is not None:
            passed_over.append(f"{approval.by} {why}")
        elif not any(approval.by.is_same(other.by) for other in counted):
            counted.append(approval)
    yes = ", ".join(f"{item.by} until {item.until}" for item in counted[:_MAX_SHOWN]) or "nobody"
    if len(counted) >= demand.count:
        return "passed", f"approved by {yes}"
    said = f"approved by {yes}: {len(counted)} of {demand.count}{_by(demand)}"
    if not passed_over:
        return "missing", said
    more = f"; and {len(passed_over) - _MAX_SHOWN} more" if len(passed_over) > _MAX_SHOWN else ""
    return "missing", f"{said}; not counted: {'; '.join(passed_over[-_MAX_SHOWN:])}{more}"


def _objections(approval: ApprovalFact, demand: ApprovalsBody, facts: Facts, context: RuleContext) -> Iterator[str]:
    """Yield each reason why an approval does not count."""
    if approval.other:
        yield f"approved {approval.other}"
    if approval.policy != facts.policy and not demand.any_policy:
        yield f"approved under policy {approval.policy}, and this is policy {facts.policy}"
    if approval.at > context.at:
        yield f"approved at {approval.at}, which has not come yet"
    if approval.until <= context.at:
        yield f"approved until {approval.until}, which is over"
    if demand.max_age is not None and read_moment(approval.at) + demand.max_age <= context.now:
        yield f"approved at {approval.at}, and an approval counts for {duration_words(demand.max_age)}"
    yield from _objections_to(approval.by, approval.roles, demand, facts)


def _objections_to(who: Identity, roles: tuple[str, ...] | None, demand: ApprovalsBody, facts: Facts) -> Iterator[str]:
    kind = kind_of(who, roles)
    unnamed = kind == "unknown" and roles is None
    if not unnamed and (kind not in demand.kinds or kind not in APPROVING_KINDS):
        yield f"is {'an AI agent' if kind == 'agent' else f'of kind {kind}'}, and {' or '.join(demand.kinds)} counts"
    if roles is None:
        yield "is not among the adopted people"
    elif demand.roles and not set(demand.roles) & set(roles):
        yield f"has not the role {' or '.join(demand.roles)}"
    if demand.verified and not who.verified:
        yield "is not verified by a signature"
    if any(who.is_same(author) for author in facts.authors or ()):
        yield "made it, and nobody approves their own version"
    if facts.requester is None or who.is_same(facts.requester):
        yield "asks for it, and nobody approves their own request"


def _by(demand: ApprovalsBody) -> str:
    roles = f" by {' or '.join(demand.roles)}" if demand.roles else ""
    return f"{roles}, verified" if demand.verified else roles


KIND = RuleKind(
    schema=MappingProxyType(
        {
            "type": "object",
            "title": "Approvals",
            "description": "How many people must have approved, and which of them count.",
            "properties": {
                "count": {"type": "integer", "minimum": 1, "maximum": MAX_COUNT, "default": 1},
                "roles": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                "kinds": {"type": "array", "items": {"enum": list(APPROVING_KINDS)}, "minItems": 1},
                "verified": {"type": "boolean", "default": False},
                "any_policy": {"type": "boolean", "default": False},
                "max_age": {"type": "string", "description": "An ISO 8601 length of time, such as P7D."},
            },
            "additionalProperties": False,
        }
    ),
    check=lambda body: read_approvals(body)[1],
    evaluate=_evaluate,
    code="approval-needed",
    exit_code=APPROVAL,
    classes=("readiness",),
    hint='somebody else says yes with: pawl approve {together} --channel {channel} --reason "..."',
)
