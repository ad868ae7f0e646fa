"""The one evaluator: a situation in, a verdict out.

Check, promote, rollback, resolve, audit, targets and plan all ask here, so that the same input has the same verdict on
every path. It reads no clock, no file and no environment; whoever asks has put everything into the :class:`Situation`.
What the evaluator is not told counts as missing, and missing is a no.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pawl.canonical import timestamp
from pawl.conformance.outcomes import Outcome
from pawl.ids import Digest, Name, Ref
from pawl.policy.context import RuleContext
from pawl.policy.fit import fit_findings
from pawl.policy.rules import Rule, evaluate_rule, matches
from pawl.policy.verdict import EVIDENCE, REFUSED, WITHHELD, Action, Finding, Status, Verdict
from pawl.registry.catalog import Catalog
from pawl.registry.channels import ChannelState, Pin
from pawl.registry.closure import Closure, closure_of, dependents_of
from pawl.registry.journal import Actor

MOVING: frozenset[Action] = frozenset({"promote", "rollback", "remove"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteEvidence:
    """What is known of one suite on one closure: the newest valid result, or that there is none and why."""

    suite: str
    cases: int
    outcome: Outcome | None
    reason: str
    """How the result came about (run now, reused from when), or why it is not a pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Everything that a verdict may depend on."""

    action: Action
    state: ChannelState
    """The channel as it is."""
    catalog: Catalog
    rules: tuple[Rule, ...]
    """The adopted rules; those of ``catalog.policy`` except in a plan, which asks about rules to come."""
    rules_of: int | None = None
    """The number that the rules would be adopted under, where they are not those in force."""
    documents: Mapping[Digest, Mapping[str, Any]]
    """At least those of every affected procedure and its closure."""
    actor: Actor
    now: datetime
    moves: Mapping[Name, Pin | None]
    """What would be pinned instead; ``None`` takes a name off the channel."""
    subjects: tuple[Name, ...] = ()
    """Which pins are asked about where nothing moves."""
    upstream: ChannelState | None = None
    """The channel that versions must have been live on first."""
    upstream_name: str | None = None
    evidence: Mapping[Name, tuple[SuiteEvidence, ...]] | None = None
    """By affected procedure; ``None`` where no suite has been asked yet."""
    unread_suites: tuple[str, ...] = ()
    """Files under conformance/ that do not read: nobody knows what they would test."""

    @property
    def after(self) -> Mapping[Name, Pin]:
        """The pins as they would be."""
        pins = {name: pin for name, pin in self.state.pins.items() if name not in self.moves}
        return pins | {name: pin for name, pin in self.moves.items() if pin is not None}


def affected(situation: Situation) -> tuple[Name, ...]:
    """Return what the verdict covers: what moves and everything pinned that requires it, or the subjects."""
    if situation.action not in MOVING:
        return situation.subjects
    after = situation.after
    moved = [name for name in situation.moves if name in after]
    return (*moved, *(name for name in dependents_of(situation.moves, after) if name not in moved))


def evaluate(situation: Situation) -> Verdict:
    """Return the verdict on ``situation``, with a finding for every check that was made."""
    after = situation.after
    closures = {name: closure_of(name, after) for name in affected(situation)}
    findings = [
        *_policy(situation),
        *_order(situation),
        *_requirements(situation, closures),
        *_fit(situation, closures),
        *_withdrawals(situation, closures),
        *_rejections(situation),
        *_halts(situation),
        *_rules(situation, closures),
        *_evidence(situation, closures),
        *_tests(situation),
    ]
    policy = situation.catalog.policy
    return Verdict(
        action=situation.action,
        channel=situation.state.channel,
        policy=policy.number if policy else None,
        findings=tuple(findings),
    )


def _policy(situation: Situation) -> Iterator[Finding]:
    if situation.action == "remove":
        return
    policy = situation.catalog.policy
    channel = situation.state.channel
    if policy is None:
        yield Finding(
            check="policy",
            status="missing",
            code="no-policy",
            message="no policy has been adopted, so nothing is allowed",
            exit_code=REFUSED,
            hint='write rules under registry/policies/ and run: pawl policy adopt --reason "..."',
        )
        return
    known = channel in policy.channels
    yield Finding(
        check="policy",
        status="passed" if known else "failed",
        code="policy-adopted" if known else "channel-not-adopted",
        message=f"policy {policy.number} is in force" + ("" if known else f" and knows no channel {channel}"),
        exit_code=REFUSED,
        policy=policy.number,
        hint=None if known else 'channel settings take effect with: pawl policy adopt --reason "..."',
    )


def _order(situation: Situation) -> Iterator[Finding]:
    upstream, before = situation.upstream_name, situation.upstream
    if situation.action != "promote" or upstream is None:
        return
    for pin in situation.moves.values():
        if pin is None:
            continue
        was = before is not None and before.was_live(pin.digest, pin.name)
        yield Finding(
            check="order",
            status="passed" if was else "failed",
            code="channel-order",
            message=f"{pin.ref} {'was' if was else 'was never'} live on {upstream}",
            exit_code=REFUSED,
            subject=str(pin.ref),
            hint=None if was else f'promote it there first: pawl promote {pin.ref} --to {upstream} --reason "..."',
        )


def _requirements(situation: Situation, closures: Mapping[Name, Closure]) -> Iterator[Finding]:
    if situation.action == "resolve":
        return
    removed = [name for name, pin in situation.moves.items() if pin is None]
    for name in removed if not closures else ():
        message = f"nothing that stays pinned requires {name}"
        yield Finding(check="closure", status="passed", code="closure-complete", message=message, exit_code=REFUSED)
    for closure in closures.values():
        root = Ref(closure.root.name, closure.root.version)
        if not closure.unmet:
            yield _requirement(root, "passed", f"everything that {root} requires is pinned with it")
        for unmet in closure.unmet:
            yield _requirement(root, "failed", str(unmet))


def _requirement(root: Ref, status: Status, message: str) -> Finding:
    hint = "move the set together; --with-requirements proposes it" if status == "failed" else None
    return Finding(
        check="closure",
        status=status,
        code="requirement-unmet" if status == "failed" else "closure-complete",
        message=message,
        exit_code=REFUSED,
        subject=str(root),
        hint=hint,
    )


def _fit(situation: Situation, closures: Mapping[Name, Closure]) -> Iterator[Finding]:
    return fit_findings(
        closures,
        situation.after,
        action=situation.action,
        state=situation.state,
        documents=situation.documents,
    )


def _withdrawals(situation: Situation, closures: Mapping[Name, Closure]) -> Iterator[Finding]:
    seen: set[Ref] = set()
    for closure in closures.values():
        for member in closure.members:
            ref = Ref(member.name, member.version)
            withdrawal = situation.catalog.withdrawal(ref)
            if withdrawal is None or ref in seen:
                continue
            seen.add(ref)
            is_new = situation.action in MOVING and member.name in situation.moves
            final = withdrawal.level == "revoked" or (withdrawal.level == "yanked" and is_new)
            yield Finding(
                check="withdrawn",
                status="failed" if final else "warning",
                code=withdrawal.level,
                message=f"{ref} is {withdrawal.level}: {withdrawal.reason}",
                exit_code=WITHHELD,
                subject=str(ref),
                hint="choose another version" if final else "plan the move to another version",
            )


def _rejections(situation: Situation) -> Iterator[Finding]:
    if situation.action not in MOVING:
        return
    now = timestamp(situation.now)
    channel = situation.state.channel
    for pin in situation.moves.values():
        rejection = situation.state.rejections.get(pin.content) if pin else None
        if pin is None or rejection is None or not rejection.holds(now):
            continue
        how = "rolled back" if rejection.cause == "rollback" else "rejected"
        same = "" if rejection.ref == str(pin.ref) else f" (as {rejection.ref}, which has the same content)"
        yield Finding(
            check="rejected",
            status="failed",
            code="rejected",
            message=f"{pin.ref} was {how} on {channel}{same} by {rejection.by} at {rejection.at}: {rejection.reason}",
            exit_code=WITHHELD,
            subject=str(pin.ref),
            hint=f'fix it in a new version, or: pawl unreject {rejection.ref} --channel {channel} --reason "..."',
        )


def _halts(situation: Situation) -> Iterator[Finding]:
    if situation.action == "remove":
        return
    serves = situation.action == "resolve"
    names = situation.subjects if situation.action not in MOVING else tuple(situation.moves)
    channel = situation.state.channel
    for name in names:
        halt = situation.state.halted(name) if situation.action not in MOVING else situation.state.halts.get(name)
        if halt is None:
            continue
        yield Finding(
            check="halted",
            status="failed" if serves else "warning",
            code="halted",
            message=f"{name} is halted on {channel} by {halt.by} since {halt.at}: {halt.reason}",
            exit_code=WITHHELD,
            subject=name,
            hint=f'when it may be served again: pawl resume {name} --channel {channel} --reason "..."',
        )


def _rules(situation: Situation, closures: Mapping[Name, Closure]) -> Iterator[Finding]:
    if situation.action == "remove":
        return
    for rule in situation.rules:
        if rule.rule_class == "readiness" and situation.action != "promote":
            continue
        if situation.action == "resolve" and not rule.enforce_live:
            continue
        for name, closure in closures.items():
            yield _rule(situation, rule, name, closure)


def _rule(situation: Situation, rule: Rule, name: Name, closure: Closure) -> Finding:
    policy = situation.catalog.policy
    number = situation.rules_of or (policy.number if policy else None)
    subject = str(Ref(name, closure.root.version))

    def finding(status: Status, code: str, message: str, differs: str | None = None) -> Finding:
        return Finding(
            check="rule",
            status=status,
            code=code,
            message=message,
            exit_code=REFUSED,
            subject=subject,
            rule=rule.id,
            policy=number,
            differs=differs,
        )

    document = situation.documents.get(closure.root.digest)
    members = [situation.documents.get(member.digest) for member in closure.members]
    if document is None or any(member is None for member in members):
        return finding("errored", "rule-errored", f"rule {rule.id} could not see all of {subject}")
    channel, action, now = situation.state.channel, situation.action, situation.now
    match = matches(rule, procedure=document, channel=channel, action=action, now=now)
    if not match.applies:
        message = f"rule {rule.id} does not apply to {subject}: {match.reason}"
        return finding("not-applicable", "rule-not-applicable", message)
    pin = situation.state.pins.get(name)
    context = RuleContext(
        procedure=document,
        closure=tuple(member for member in members if member is not None),
        channel=channel,
        action=action,
        actor=situation.actor.as_dict(),
        current=situation.documents.get(pin.digest) if pin else None,
        now=now,
    )
    result = evaluate_rule(rule, context)
    if result.outcome == "passed":
        return finding("passed", "rule-passed", f"rule {rule.id} holds for {subject}")
    errored = result.outcome == "errored"
    status: Status = "warning" if rule.level == "advisory" else "errored" if errored else "failed"
    says = f": {rule.message}" if rule.message else ""
    message = f"{subject} breaks rule {rule.id} of policy {number}{says}"
    return finding(status, "rule-errored" if errored else "rule-failed", message, result.looked_at or None)


def _evidence(situation: Situation, closures: Mapping[Name, Closure]) -> Iterator[Finding]:
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
                outcome = suite.outcome or "missing"
                message = f"suite {suite.suite} on {subject}: {outcome}: {suite.reason}"
                yield _evidence_finding(subject, "failed", f"evidence-{outcome}", message, hint=f"pawl test {subject}")


def _evidence_finding(subject: str, status: Status, code: str, message: str, hint: str | None = None) -> Finding:
    return Finding(
        check="evidence", status=status, code=code, message=message, exit_code=EVIDENCE, subject=subject, hint=hint
    )


def _tests(situation: Situation) -> Iterator[Finding]:
    """A promotion with fewer suites or cases than the release it replaces: tests do not silently disappear."""
    if situation.action != "promote" or situation.evidence is None:
        return
    for name, pin in situation.moves.items():
        before = situation.state.pins.get(name)
        if before is None or pin is None:
            continue
        new = {suite.suite: suite.cases for suite in situation.evidence.get(name, ())}
        old_cases, new_cases = sum(before.tests.values()), sum(new.values())
        fewer = len(new) < len(before.tests) or new_cases < old_cases
        yield Finding(
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
