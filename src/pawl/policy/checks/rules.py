"""The check of the rules: each rule that is asked, on each procedure that the verdict covers.

- Readiness rules are asked on promotions only, so no way back ever waits for one. On resolving, only safety rules with
  ``enforce_live`` are asked.
- What an advisory rule says is a warning. A no of a waivable rule is waived where a waiver counts; a no of an absolute
  rule never is. A rule that could not be evaluated is errored, which no waiver mends.
- With ``detail``, rules that are not asked are told, too, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from pawl.ids import Digest, Name, Ref
from pawl.policy.context import RuleContext, RuleKind, RuleOutcome
from pawl.policy.gathering import facts_of
from pawl.policy.kinds.known import RULE_KINDS
from pawl.policy.leaving import Leaving
from pawl.policy.rules import Rule, evaluate_rule
from pawl.policy.situation import Situation
from pawl.policy.verdict import REFUSED, Answers, Finding, Status, once
from pawl.policy.waiving import Barred, Wanted, find_waiver, terms_of, waiver_words
from pawl.registry.closure import Closure


def rule_findings(
    situation: Situation, closures: Mapping[Name, Closure], answers: Answers | None = None
) -> Iterator[Finding]:
    """Yield the finding of each rule on each procedure; only rules about evidence are asked where ``answers`` are."""
    if situation.action == "remove":
        return
    subjects = _Subjects(situation, closures)
    about_evidence = {name for name, kind in RULE_KINDS.items() if kind.evidence}
    for number, rule in enumerate(situation.rules):
        why = _why_not_asked(rule, situation)
        if why is None:
            kept = None if rule.kind in about_evidence else answers
            yield from once(kept, f"rule {number}", partial(subjects.ask, rule))
        elif situation.detail:
            for closure in closures.values():
                subject = _Subject(closure=closure, context=None)
                message = f"rule {rule.id} is not asked of {subject.ref}: {why}"
                yield _finding(
                    situation, rule, subject, status="not-applicable", code="rule-not-applicable", message=message
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    closure: Closure
    context: RuleContext | None
    """What rules are asked with; ``None`` where not every document of the closure is known."""

    @property
    def ref(self) -> str:
        return str(Ref(self.closure.root.name, self.closure.root.version))


class _Subjects:
    """What rules are asked about, gathered when the first one is asked."""

    def __init__(self, situation: Situation, closures: Mapping[Name, Closure]) -> None:
        self._situation = situation
        self._closures = closures
        self._known: list[_Subject] | None = None

    def ask(self, rule: Rule) -> tuple[Finding, ...]:
        """Return what a rule says of each procedure."""
        if self._known is None:
            self._known = self._gather()
        return tuple(_rule(self._situation, rule, subject) for subject in self._known)

    def _gather(self) -> list[_Subject]:
        situation = self._situation
        asked = [rule for rule in situation.rules if _why_not_asked(rule, situation) is None]
        leaving = Leaving(situation)
        return [_subject(situation, name, closure, asked, leaving) for name, closure in self._closures.items()]


def _why_not_asked(rule: Rule, situation: Situation) -> str | None:
    if rule.rule_class == "readiness" and situation.action != "promote":
        return f"a readiness rule is asked when something is promoted, and this is {situation.action}"
    if situation.action == "resolve" and not rule.enforce_live:
        return "it has no enforce_live, so it holds no serving up"
    return None


def _subject(situation: Situation, name: Name, closure: Closure, rules: list[Rule], leaving: Leaving) -> _Subject:
    members = [situation.documents.get(member.digest) for member in closure.members]
    known = tuple(member for member in members if member is not None)
    pin = situation.state.pins.get(name)
    context = None
    if len(known) == len(members):
        context = RuleContext(
            procedure=known[0],
            closure=known,
            channel=situation.state.channel,
            action=situation.action,
            actor=situation.acting,
            current=situation.documents.get(pin.digest) if pin else None,
            now=situation.now,
            facts=facts_of(situation, name, closure, rules, leaving),
            detail=situation.detail,
        )
    return _Subject(closure=closure, context=context)


def _rule(situation: Situation, rule: Rule, subject: _Subject) -> Finding:
    if subject.context is None:
        message = f"rule {rule.id} could not see all of {subject.ref}"
        return _finding(situation, rule, subject, status="errored", code="rule-errored", message=message)
    result = evaluate_rule(rule, subject.context)
    looked_at = result.looked_at or None
    if result.outcome == "not-applicable":
        message = f"rule {rule.id} does not apply to {subject.ref}: {looked_at}"
        return _finding(situation, rule, subject, status="not-applicable", code="rule-not-applicable", message=message)
    if result.outcome == "passed":
        message = f"rule {rule.id} holds for {subject.ref}"
        found = _finding(situation, rule, subject, status="passed", code="rule-passed", message=message)
        return replace(found, looked_at=looked_at)
    kind = RULE_KINDS.get(rule.kind)
    if result.outcome == "errored" or kind is None:
        status: Status = "warning" if rule.level == "advisory" else "errored"
        found = _finding(
            situation, rule, subject, status=status, code="rule-errored", message=_says(situation, rule, subject)
        )
        return replace(found, differs=looked_at)
    return replace(_no(situation, rule, subject, kind, result.outcome), differs=looked_at)


def _no(situation: Situation, rule: Rule, subject: _Subject, kind: RuleKind, outcome: RuleOutcome) -> Finding:
    """Return the finding of a rule that was asked and does not hold: a warning, waived, or a refusal."""
    hint = _hint(situation, subject, kind) if kind.hint else None
    found = _finding(
        situation,
        rule,
        subject,
        status="missing" if outcome == "missing" else "failed",
        code=kind.code,
        message=_says(situation, rule, subject),
    )
    # where no suite was asked so far, whoever asks them next must see that only evidence is missing
    check = "evidence" if kind.evidence and situation.evidence is None else "rule"
    found = replace(found, check=check, exit_code=kind.exit_code, hint=hint)
    if rule.level == "advisory":
        return replace(found, status="warning")
    root, terms = subject.closure.root, terms_of(rule)
    wanted = Wanted(
        rule=rule.id,
        action=situation.action,
        name=root.name,
        version=root.version,
        digest=root.digest,
        closure=subject.closure.digest,
    )
    waivers = situation.state.waivers.values()
    people, now = situation.people, situation.now
    barred = _barred(situation, root.digest) if rule.kind == "approvals" else ()
    waived = find_waiver(waivers, wanted, terms, people=people, now=now, barred=barred)
    if waived.waiver is not None:
        words = waiver_words(waived.waiver, terms, people=people, now=now, barred=barred)
        message = f"{found.message.removesuffix('.')}; {words}"
        return replace(
            found, status="waived", code="rule-waived", message=message, hint=None, waiver=waived.waiver.serial
        )
    return replace(found, hint="; ".join((*((hint,) if hint else ()), *waived.objections)) or None)


def _barred(situation: Situation, digest: Digest) -> Barred:
    """Return whose approval would not count, and so whose consent to do without one does not either."""
    return (*(situation.authors.get(digest, ()) if situation.authors is not None else ()), situation.requester)


def _hint(situation: Situation, subject: _Subject, kind: RuleKind) -> str:
    moving = sorted(str(pin.ref) for pin in situation.moves.values() if pin is not None)
    together = " ".join((subject.ref, *(ref for ref in moving if ref != subject.ref)))
    return (kind.hint or "").format(subject=subject.ref, together=together, channel=situation.state.channel)


def _says(situation: Situation, rule: Rule, subject: _Subject) -> str:
    breaks = "breaks" if rule.kind == "require" else "does not meet"
    says = f": {rule.message}" if rule.message else ""
    return f"{subject.ref} {breaks} rule {rule.id} of policy {situation.policy}{says}"


def _finding(
    situation: Situation, rule: Rule, subject: _Subject, *, status: Status, code: str, message: str
) -> Finding:
    return Finding(
        check="rule",
        status=status,
        code=code,
        message=message,
        exit_code=REFUSED,
        subject=subject.ref,
        rule=rule.id,
        policy=situation.policy,
    )
