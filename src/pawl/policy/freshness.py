"""How fresh results must be, so that whoever gathers them runs again what a rule would find too old."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from pawl.policy.kinds.evidence import read_evidence
from pawl.policy.rules import Rule, matches


def longest_age(
    rules: Iterable[Rule], *, procedure: Mapping[str, Any], channel: str, action: str, now: datetime
) -> timedelta | None:
    """Return the age from which on results are made again: too old for some rule of a promotion; ``None`` for any age.

    On the way back no age is asked, and none blocks it: what a promotion would find too old is run again, and counts by
    what it comes to then.
    """
    asked = "promote" if action == "rollback" else action
    ages = []
    for rule in rules:
        demand = read_evidence(rule.body)[0] if rule.kind == "evidence" and asked == "promote" else None
        if demand and matches(rule, procedure=procedure, channel=channel, action=asked, now=now).applies:
            ages.append(demand.max_age)
    return min(ages, default=None)
