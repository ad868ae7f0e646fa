"""What the rules to come hold up less firmly than those in force, by rule and owner, so that nobody does it unseen.

Compared are its level, its class, its moment, whether it is there, and (:mod:`pawl.policy.softening`) what it demands,
where it applies and how it is waived. What cannot be compared is named when it changes: it may be looser.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from pawl.policy.rules import LEVELS, Rule, moment_text
from pawl.policy.softening import softened


@dataclass(frozen=True, slots=True, kw_only=True)
class Loosened:
    """A rule in force that would hold less firmly, or not at all."""

    rule: str
    policy: str
    owner: str
    how: tuple[str, ...]


def loosened(old: Iterable[Rule], new: Iterable[Rule], now: datetime) -> tuple[Loosened, ...]:
    """Return every rule of ``old`` that is gone from ``new`` or is looser there."""
    coming = {rule.id.casefold(): rule for rule in new}
    found = []
    for rule in old:
        after = coming.get(rule.id.casefold())
        how = ("it is gone",) if after is None else tuple(_looser(rule, after, now))
        if how:
            found.append(Loosened(rule=rule.id, policy=rule.policy, owner=rule.owner, how=how))
    return tuple(found)


def _looser(old: Rule, new: Rule, now: datetime) -> Iterator[str]:
    if LEVELS.index(new.level) < LEVELS.index(old.level):
        yield f"it was {old.level} and would be {new.level}"
    if old.rule_class == "safety" and new.rule_class == "readiness":
        yield "it was safety and would be readiness, which holds no rollback up"
    if old.enforce_live and not new.enforce_live:
        yield "it would no longer stop what is live"
    if new.effective_on is not None and new.effective_on > max(old.effective_on or now, now):
        yield f"it would hold from {moment_text(new.effective_on)} on only"
    if old.owner != new.owner or old.policy != new.policy:
        yield f"it would be of policy {new.policy}, which {new.owner} keeps"
    yield from softened(old, new)
