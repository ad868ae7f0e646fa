"""Running the examples that a rule carries.

- A snippet is laid over the smallest valid procedure of its kind as a JSON merge patch (RFC 7396): objects merge, a
  null takes a field away, all else replaces. The result need not be a valid procedure.
- What a test leaves out is chosen so that the rule applies: the first of its kinds, a name that its first glob covers,
  its labels, its first channel and action, and a time at which it is in force. A test that states one of them asks
  whether the rule keeps out.
- ``closure`` holds the other members; the procedure itself comes first, as it does when the rule is in force.
- ``given`` says what else is known (:mod:`pawl.policy.given`).
- Allowed is passed or not applicable; denied is failed or missing. A rule that errors refuses, but an error is no
  answer: it meets neither expectation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from pawl.policy.context import RuleContext
from pawl.policy.given import facts_from
from pawl.policy.globs import matching_example
from pawl.policy.rules import Expectation, Rule, RuleTest, evaluate_rule
from pawl.policy.skeletons import KNOWN_KINDS, SKELETONS
from pawl.problems import Fault, Severity

Answer: TypeAlias = Literal["allowed", "denied", "errored"]

CHANNEL = "production"
ACTION = "promote"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
"""The time of a test whose rule is in force from the start."""
ACTOR: Mapping[str, Any] = {
    "name": "Example",
    "email": "example@example.invalid",
    "verified": False,
    "kind": "human",
    "roles": [],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleTestResult:
    """What became of one example; ``reason`` says why the rule answered as it did."""

    rule: str
    test: str
    expect: Expectation
    answer: Answer
    reason: str

    @property
    def passed(self) -> bool:
        return self.answer == self.expect


def rule_tests(rule: Rule) -> tuple[RuleTestResult, ...]:
    """Return the result of each of the rule's tests, in their order; empty where it has none."""
    return tuple(_run(rule, test) for test in rule.tests)


def denied_answers(rule: Rule) -> tuple[tuple[str, Answer], ...]:
    """Return the name of each of the rule's denied examples with what the rule says of it now, without reasons."""
    results = (_run(rule, test, explain=False) for test in rule.tests if test.expect == "denied")
    return tuple((result.test, result.answer) for result in results)


def rule_test_faults(rules: Iterable[Rule], *, required: bool = False) -> tuple[Fault, ...]:
    """Return an error for each test that does not pass, and a warning for each rule that no test has seen say no.

    Where tests are ``required``, such a rule is an error.
    """
    severity: Severity = "error" if required else "warning"
    found: list[Fault] = []
    for index, rule in enumerate(rules):
        results = rule_tests(rule)
        for number, result in enumerate(results):
            if not result.passed:
                at = ("rules", index, "tests", number)
                found.append(Fault(code="rule-test-failed", message=_failure(result), at=at, hint=_hint(result)))
        if not any(result.expect == "denied" for result in results):
            has = "tests, and in none of them it says no" if results else "no tests"
            message = f"rule {rule.id} has {has}: a rule that is never seen to refuse may hold nothing up"
            hint = "give it tests: at least one with expect: denied, and one with expect: allowed"
            at_rule = ("rules", index)
            found.append(Fault(code="rule-untested", message=message, at=at_rule, severity=severity, hint=hint))
    return tuple(found)


def merge_patch(base: Any, patch: Any) -> Any:
    """Return ``base`` changed by ``patch`` as RFC 7396 says; neither of them is touched."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(base) if isinstance(base, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def _run(rule: Rule, test: RuleTest, *, explain: bool = True) -> RuleTestResult:
    try:
        context = _context(rule, test, explain=explain)
    except (OverflowError, ValueError, KeyError, TypeError, AttributeError) as error:
        # an example that somebody wrote is read and checked before; one in a journal may have been bent by hand
        reason = f"the example cannot be set up: {type(error).__name__}: {error}"
        return RuleTestResult(rule=rule.id, test=test.name, expect=test.expect, answer="errored", reason=reason)
    result = evaluate_rule(rule, context)
    answers: dict[str, Answer] = {
        "passed": "allowed",
        "not-applicable": "allowed",
        "failed": "denied",
        "missing": "denied",
    }
    return RuleTestResult(
        rule=rule.id,
        test=test.name,
        expect=test.expect,
        answer=answers.get(result.outcome, "errored"),
        reason=("does not apply: " if result.outcome == "not-applicable" else "") + result.looked_at,
    )


def _context(rule: Rule, test: RuleTest, *, explain: bool) -> RuleContext:
    applies = rule.applies
    kind = (applies.kinds or KNOWN_KINDS)[0]
    fitting = {
        "kind": kind,
        "name": matching_example(applies.names[0]) if applies.names else "example",
        **({"labels": dict(applies.labels)} if applies.labels else {}),
    }
    procedure = _laid_over(fitting, test.procedure)
    same = {"kind": procedure["kind"], "name": procedure["name"]}
    actor = {**ACTOR, **(test.actor or {})}
    current = None if test.current is None else _laid_over(same, test.current)
    now = test.now or max(NOW, rule.effective_on or NOW)
    return RuleContext(
        procedure=procedure,
        closure=(procedure, *(_laid_over({"name": "other"}, member) for member in test.closure)),
        channel=test.channel or (applies.channels or (CHANNEL,))[0],
        action=test.action or (applies.actions or (ACTION,))[0],
        actor=actor,
        current=current,
        now=now,
        facts=facts_from(test.given, current=current, actor=actor, now=now),
        explain=explain,
    )


def _laid_over(fitting: Mapping[str, Any], snippet: Mapping[str, Any]) -> dict[str, Any]:
    wanted = merge_patch(fitting, snippet)
    document: dict[str, Any] = merge_patch(SKELETONS[wanted["kind"]], fitting)
    return dict(merge_patch(document, snippet))


def _failure(result: RuleTestResult) -> str:
    said = "could not be evaluated, which meets no expectation" if result.answer == "errored" else result.answer
    why = f" ({result.reason})" if result.reason else ""
    return f"test {result.test} of rule {result.rule} expects {result.expect}, and the rule says {said}{why}"


def _hint(result: RuleTestResult) -> str | None:
    return "ask has(...) before a field that may be absent" if result.answer == "errored" else None
