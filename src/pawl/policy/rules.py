"""Rules: what they are, when they apply, and what they say of one procedure.

- A rule applies where every part of its ``applies`` fits and its ``effective_on`` has come; a part that is left out
  fits everything. ``names`` are globs (:mod:`pawl.policy.globs`); each of ``labels`` must be on the procedure.
- From the very moment of ``effective_on`` on the rule holds; before it, it does not apply.
- Passed means that the rule was asked and said yes. An expression that cannot be evaluated is errored, which is a no.
- What a rule demands is its *kind*: one key of the rule (``require``, ``approvals``), with one entry in
  :data:`pawl.policy.kinds.known.RULE_KINDS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

from pawl.policy.context import RuleClass, RuleContext, RuleOutcome
from pawl.policy.kinds.known import RULE_KINDS
from pawl.problems import Fault
from pawl.procedures.globs import glob_matches

Level: TypeAlias = Literal["advisory", "waivable", "absolute"]
Expectation: TypeAlias = Literal["allowed", "denied"]
RuleAction: TypeAlias = Literal["promote", "rollback", "resolve", "audit"]

LEVELS: tuple[Level, ...] = get_args(Level)
ACTIONS: tuple[RuleAction, ...] = get_args(RuleAction)
"""The actions that rules are asked about; taking a pin off a channel is never held up by a rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applies:
    """What a rule is about; an empty part fits everything."""

    kinds: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RuleTest:
    """One example that a rule's author gives: a snippet and what the rule must say of it."""

    name: str
    procedure: Mapping[str, Any]
    """Put over the skeleton of its kind as a merge patch."""
    expect: Expectation
    channel: str | None = None
    action: str | None = None
    closure: tuple[Mapping[str, Any], ...] = ()
    """The other members of the closure."""
    current: Mapping[str, Any] | None = None
    actor: Mapping[str, Any] | None = None
    now: datetime | None = None
    given: Mapping[str, Any] | None = None
    """What else is known, as :mod:`pawl.policy.given` reads it; ``None`` where nothing is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiverTerms:
    """What a waiver of a rule needs to count. Lengths of time are ISO 8601."""

    at_most: str = "P30D"
    """How long it may last."""
    roles: tuple[str, ...] = ()
    """Of these roles is who approves it; anybody among the adopted people where there are none."""
    verified: bool = False
    """Whether a signature must vouch for who approves."""
    break_glass: str | None = None
    """Until when at the latest a waiver that counts before anybody approved it is reviewed; ``None`` allows none."""


DEFAULT_TERMS = WaiverTerms()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of one policy. Two rules are equal when they decide the same; ``tests`` decide nothing."""

    policy: str
    owner: str
    """Who keeps the policy that the rule comes from."""
    id: str
    rule_class: RuleClass
    level: Level
    applies: Applies
    kind: str
    """The key that says what the rule demands, one of ``RULE_KINDS``."""
    body: Any = field(hash=False)
    """What stands under that key; for ``require`` the expression."""
    message: str
    effective_on: datetime | None = None
    """In UTC."""
    enforce_live: bool = False
    waiver: WaiverTerms | None = None
    """Where the rule says what its waivers need."""
    tests: tuple[RuleTest, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySource:
    """One source that was read and found valid."""

    name: str
    owner: str
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Whether a rule applies, and why not."""

    applies: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """What a rule said; ``looked_at`` tells what differs where it is no yes, or why the rule was not asked."""

    rule: str
    outcome: RuleOutcome
    level: Level
    rule_class: RuleClass
    message: str
    looked_at: str = ""


def matches(rule: Rule, *, procedure: Mapping[str, Any], channel: str, action: str, now: datetime) -> Match:
    """Return whether ``rule`` applies to a procedure's document, or the first reason why not. ``now`` is in UTC."""
    reason = next(_misfits(rule, procedure=procedure, channel=channel, action=action, now=now), None)
    return Match(applies=reason is None, reason=reason or "it applies")


def _misfits(rule: Rule, *, procedure: Mapping[str, Any], channel: str, action: str, now: datetime) -> Iterator[str]:
    applies = rule.applies
    kind, name = procedure["kind"], procedure["name"]
    if rule.effective_on is not None and now < rule.effective_on:
        yield f"it takes effect on {moment_text(rule.effective_on)}"
    if applies.kinds and kind not in applies.kinds:
        yield f"it is about kind {_either(applies.kinds)}, and this is a {kind}"
    if applies.names and not any(glob_matches(glob, name) for glob in applies.names):
        yield f"it is about {_either(applies.names)}, which {name} does not match"
    if applies.channels and channel not in applies.channels:
        yield f"it is about channel {_either(applies.channels)}, and this is {channel}"
    if applies.actions and action not in applies.actions:
        yield f"it is about {_either(applies.actions)}, and this is {action}"
    labels = procedure.get("labels") or {}
    for label, wanted in applies.labels:
        if labels.get(label) != wanted:
            yield f"it is about label {label}: {wanted}, which {name} does not have"


def evaluate_rule(rule: Rule, context: RuleContext) -> RuleResult:
    """Return what ``rule`` says. A kind of rule that is not known is errored, and so a refusal."""
    match = matches(rule, procedure=context.procedure, channel=context.channel, action=context.action, now=context.now)
    kind = RULE_KINDS.get(rule.kind)
    outcome: RuleOutcome
    if not match.applies:
        outcome, looked_at = "not-applicable", match.reason
    elif kind is None:
        outcome, looked_at = "errored", f"this pawl knows no rule of the kind {rule.kind}"
    else:
        outcome, looked_at = kind.evaluate(rule.body, context)
    return RuleResult(
        rule=rule.id,
        outcome=outcome,
        level=rule.level,
        rule_class=rule.rule_class,
        message=rule.message,
        looked_at=looked_at,
    )


def check_rules(rules: Iterable[Rule]) -> tuple[Fault, ...]:
    """Return the faults of what each rule demands, placed at ``rules/<index>/<kind>`` as in a source's document."""
    faults: list[Fault] = []
    for index, rule in enumerate(rules):
        kind = RULE_KINDS.get(rule.kind)
        if kind is None:
            faults.append(unknown_kind(rule.kind).under("rules", index))
        else:
            faults.extend(fault.under("rules", index, rule.kind) for fault in kind.check(rule.body))
    return tuple(faults)


def unknown_kind(kind: str) -> Fault:
    """Return the fault of a rule that demands something in a way that is not known, placed at its key."""
    return Fault(
        code="rule-kind-unknown",
        message=f"this pawl knows no rule of the kind {kind}; it knows {_either(tuple(RULE_KINDS))}",
        at=(kind,),
        on_key=True,
    )


def moment_text(moment: datetime) -> str:
    """Return a moment in UTC the way it is written everywhere: RFC 3339 with Z."""
    return moment.isoformat().replace("+00:00", "Z")


def _either(words: tuple[str, ...]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
