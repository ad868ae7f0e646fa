"""The checks of conformance: passing evidence for every affected closure, and no fewer tests than before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from pawl.ids import Name, Ref
from pawl.policy.rules import DEFAULT_TERMS
from pawl.policy.situation import Situation
from pawl.policy.verdict import EVIDENCE, Finding, Status
from pawl.policy.waiving import FEWER_TESTS, Wanted, find_waiver, waiver_words
from pawl.registry.channels import Pin
from pawl.registry.closure import Closure


def evidence_findings(situation: Situation, closures: Mapping[Name, Closure]) -> Iterator[Finding]:
    if situation.action not in {"promote", "rollback"}:
        return
    for path in situation.unread_suites:
        # A way back is not closed by a broken file that may be about something else; a way forward is.
        status: Status = "missing" if situation.action == "promote" else "warning"
        message = f"{path} does not read, so nobody knows what it tests"
        yield _evidence_finding(situation.state.channel, status, "suite-unread", message, hint="pawl check shows why")
    for name, closure in closures.items():
        subject = str(Ref(name, closure.root.version))
        known = None if situation.evidence is None else situation.evidence.get(name)
        if known is None:
            yield _evidence_finding(
                subject, "missing", "evidence-missing", f"the suites of {subject} have not been run"
            )
        elif not known:
            yield _evidence_finding(
                subject,
                "missing",
                "suite-missing",
                f"no conformance suite covers {subject}",
                hint=f"pawl new suite {name} writes a starter under conformance/",
            )
        for suite in known or ():
            if suite.outcome == "passed" and suite.cases > 0:
                message = f"suite {suite.suite} passed on {subject} ({suite.cases} cases, {suite.reason})"
                yield _evidence_finding(subject, "passed", "evidence-passed", message)
            else:
                # a pass of no cases is no pass
                outcome = "inconclusive" if suite.outcome == "passed" else suite.outcome or "missing"
                message = f"suite {suite.suite} on {subject}: {outcome}: {suite.reason}"
                yield _evidence_finding(subject, "failed", f"evidence-{outcome}", message, hint=f"pawl test {subject}")


def _evidence_finding(subject: str, status: Status, code: str, message: str, hint: str | None = None) -> Finding:
    return Finding(
        check="evidence", status=status, code=code, message=message, exit_code=EVIDENCE, subject=subject, hint=hint
    )


def kept_tests_findings(situation: Situation, closures: Mapping[Name, Closure]) -> Iterator[Finding]:
    """A promotion with fewer suites or cases than what is or was last live: tests do not silently disappear."""
    if situation.action != "promote" or situation.evidence is None:
        return
    for name, pin in situation.moves.items():
        before = situation.state.last(name)
        if before is None or pin is None:
            continue
        new = {suite.suite: suite.cases for suite in situation.evidence.get(name, ())}
        old_cases, new_cases = sum(before.tests.values()), sum(new.values())
        fewer = len(new) < len(before.tests) or new_cases < old_cases
        found = Finding(
            check="tests",
            status="failed" if fewer else "passed",
            code="fewer-tests" if fewer else "tests-kept",
            message=(
                f"{pin.ref} is tested by {len(new)} suites with {new_cases} cases, "
                f"{before.ref} was by {len(before.tests)} with {old_cases}"
            ),
            exit_code=EVIDENCE,
            subject=str(pin.ref),
            hint="bring the missing suites or cases back, under whatever name" if fewer else None,
        )
        yield _waived(situation, found, pin, closures[name]) if fewer else found


def _waived(situation: Situation, found: Finding, pin: Pin, closure: Closure) -> Finding:
    """Return the finding as waived where somebody waived it: tests disappear, and not silently."""
    wanted = Wanted(
        rule=FEWER_TESTS,
        action=situation.action,
        name=pin.name,
        version=pin.version,
        digest=pin.digest,
        closure=closure.digest,
    )
    people, now = situation.people, situation.now
    waived = find_waiver(situation.state.waivers.values(), wanted, DEFAULT_TERMS, people=people, now=now)
    if waived.waiver is None:
        return replace(found, hint="; ".join((found.hint or "", *waived.objections)))
    message = f"{found.message}; {waiver_words(waived.waiver, DEFAULT_TERMS, people=people, now=now)}"
    return replace(found, status="waived", code="tests-waived", message=message, hint=None, waiver=waived.waiver.serial)
