"""The verdict on serving a pin that no rule watches: the evaluator's, without what only other verdicts need.

Resolving asks for no order, requirement, fit, rejection, freeze or evidence, and no rule is there to be asked; what is
left are three checks. A test compares this with the evaluator on every such situation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pawl.policy.checks.channel import halt_findings, policy_findings, withdrawal_findings
from pawl.policy.situation import Situation, affected
from pawl.policy.verdict import Verdict
from pawl.registry.closure import closure_of


def may_watch(document: Any) -> bool:
    """Whether the frozen form of adopted rules may hold one that is asked when something is served.

    False only where every rule says that it has no ``enforce_live``; whatever else is there is for their reader.
    """
    try:
        rules = [rule for policy in document["policies"] for rule in policy["rules"]]
        return not all(isinstance(rule, Mapping) and rule["enforce_live"] is False for rule in rules)
    except (KeyError, TypeError):
        return True


def served_verdict(situation: Situation) -> Verdict:
    """Return the verdict on a ``resolve`` without rules; ``ValueError`` for any other situation."""
    if situation.action != "resolve" or situation.rules:
        raise ValueError("only what is served without rules is judged by these checks alone")
    policy = situation.catalog.policy
    closures = {name: closure_of(name, situation.after) for name in affected(situation)}
    return Verdict(
        action=situation.action,
        channel=situation.state.channel,
        policy=policy.number if policy else None,
        findings=(
            *policy_findings(situation),
            *withdrawal_findings(situation, closures),
            *halt_findings(situation),
        ),
    )
