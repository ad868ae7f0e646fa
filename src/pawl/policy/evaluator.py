"""The one evaluator: a situation in, a verdict out.

Check, promote, rollback, resolve, audit, targets and plan all ask here, so that the same input has the same verdict on
every path. It reads no clock, no file and no environment; whoever asks has put everything into the
:class:`~pawl.policy.situation.Situation`. What the evaluator is not told counts as missing, and missing is a no. With
each gate, known-bad canaries are asked as well.
"""

from __future__ import annotations

from pawl.policy.canaries import canary_findings
from pawl.policy.checks.channel import (
    fit_checks,
    halt_findings,
    order_findings,
    policy_findings,
    rejection_findings,
    requirement_findings,
    withdrawal_findings,
)
from pawl.policy.checks.evidence import evidence_findings, kept_tests_findings
from pawl.policy.checks.freezes import freeze_findings
from pawl.policy.checks.rules import rule_findings
from pawl.policy.situation import Situation, affected
from pawl.policy.verdict import Finding, Verdict
from pawl.registry.closure import closure_of


def evaluate(situation: Situation) -> Verdict:
    """Return the verdict on ``situation``, with a finding for every check that was made."""
    policy = situation.catalog.policy
    return Verdict(
        action=situation.action,
        channel=situation.state.channel,
        policy=policy.number if policy else None,
        findings=(*canary_findings(situation, _checked), *_checked(situation)),
    )


def _checked(situation: Situation) -> tuple[Finding, ...]:
    after = situation.after
    closures = {name: closure_of(name, after) for name in affected(situation)}
    return (
        *policy_findings(situation),
        *order_findings(situation),
        *requirement_findings(situation, closures),
        *fit_checks(situation, closures),
        *withdrawal_findings(situation, closures),
        *rejection_findings(situation),
        *halt_findings(situation),
        *freeze_findings(situation, closures),
        *rule_findings(situation, closures),
        *evidence_findings(situation, closures),
        *kept_tests_findings(situation, closures),
    )
