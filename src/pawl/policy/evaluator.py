"""The one evaluator: a situation in, a verdict out.

Check, promote, rollback, resolve, audit, targets and plan all ask here, so that the same input has the same verdict on
every path. It reads no clock, no file and no environment; whoever asks has put everything into the
:class:`~pawl.policy.situation.Situation`. What the evaluator is not told counts as missing, and missing is a no. With
each gate, known-bad canaries are asked as well.
"""

from __future__ import annotations

from collections.abc import Mapping

from pawl.ids import Name
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
from pawl.policy.verdict import Answers, Finding, Verdict, once
from pawl.registry.closure import Closure, closure_of


def evaluate(situation: Situation, answers: Answers | None = None) -> Verdict:
    """Return the verdict on ``situation``, with a finding for every check that was made.

    ``answers`` is for whoever asks twice of one situation, before its suites are run and after: what does not look at
    ``evidence`` is put there, and is not asked again.
    """
    policy = situation.catalog.policy
    return Verdict(
        action=situation.action,
        channel=situation.state.channel,
        policy=policy.number if policy else None,
        findings=(*canary_findings(situation, _checked), *_checked(situation, answers)),
    )


def _checked(situation: Situation, answers: Answers | None = None) -> tuple[Finding, ...]:
    after = situation.after
    closures = {name: closure_of(name, after) for name in affected(situation)}
    return (
        *once(answers, "channel", lambda: _without_evidence(situation, closures)),
        *rule_findings(situation, closures, answers),
        *evidence_findings(situation, closures),
        *kept_tests_findings(situation, closures),
    )


def _without_evidence(situation: Situation, closures: Mapping[Name, Closure]) -> tuple[Finding, ...]:
    """Return the findings of the checks of the channel, none of which looks at what suites came to."""
    return (
        *policy_findings(situation),
        *order_findings(situation),
        *requirement_findings(situation, closures),
        *fit_checks(situation, closures),
        *withdrawal_findings(situation, closures),
        *rejection_findings(situation),
        *halt_findings(situation),
        *freeze_findings(situation, closures),
    )
