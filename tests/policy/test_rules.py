"""When a rule applies and what it says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pawl.policy.context import RuleOutcome
from pawl.policy.kinds.known import RULE_KINDS
from pawl.policy.rules import Applies, Rule, check_rules, evaluate_rule, matches
from policy.make import NOW, context, procedure, rule

APPLIES: list[tuple[dict[str, Any], bool, str]] = [
    ({}, True, "it applies"),
    ({"kinds": ["workflow"]}, True, "it applies"),
    ({"kinds": ["prompt", "tool"]}, False, "it is about kind prompt or tool, and this is a workflow"),
    ({"names": ["support/refund*"]}, True, "it applies"),
    ({"names": ["billing/*", "support/*"]}, True, "it applies"),
    ({"names": ["billing/*"]}, False, "it is about billing/*, which support/refund does not match"),
    ({"channels": ["production"]}, True, "it applies"),
    ({"channels": ["staging"]}, False, "it is about channel staging, and this is production"),
    ({"actions": ["promote", "rollback"]}, True, "it applies"),
    ({"actions": ["rollback"]}, False, "it is about rollback, and this is promote"),
    ({"labels": {"risk": "high"}}, True, "it applies"),
    ({"labels": {"risk": "high", "domain": "x"}}, False, "label domain: x"),
    ({"labels": {"risk": "low"}}, False, "label risk: low"),
    ({"kinds": ["workflow"], "names": ["support/*"], "channels": ["staging"]}, False, "channel staging"),
]


def _match(one: Rule, now: datetime = NOW, **fields: Any) -> tuple[bool, str]:
    found = matches(one, procedure=procedure(**fields), channel="production", action="promote", now=now)
    return found.applies, found.reason


@pytest.mark.parametrize(("applies", "expected", "reason"), APPLIES)
def test_every_part_must_fit(applies: dict[str, Any], expected: bool, reason: str) -> None:
    one = rule(applies=applies) if applies else rule()
    found, why = _match(one, labels={"risk": "high", "domain": "refunds"})
    assert (expected, True) == (found, reason in why)


def test_a_procedure_without_labels_has_none_of_them() -> None:
    assert not _match(rule(applies={"labels": {"risk": "high"}}))[0]


@pytest.mark.parametrize(
    ("effective_on", "begins"),
    [
        ("2026-12-15", datetime(2026, 12, 15, tzinfo=UTC)),
        ("2026-12-15T09:30:00Z", datetime(2026, 12, 15, 9, 30, tzinfo=UTC)),
        ("2026-12-15T01:00:00+02:00", datetime(2026, 12, 14, 23, tzinfo=UTC)),
        ("2026-12-15T00:00:00.5Z", datetime(2026, 12, 15, 0, 0, 0, 500000, tzinfo=UTC)),
    ],
)
def test_a_rule_holds_from_the_very_moment_on(effective_on: str, begins: datetime) -> None:
    one = rule(effective_on=effective_on, require="false")
    tick = timedelta(microseconds=1)
    assert not _match(one, begins - tick)[0]
    assert "takes effect on 2026-12-1" in _match(one, begins - tick)[1]
    assert _match(one, begins)[0]
    assert _match(one, begins + timedelta(days=10_000))[0]
    assert evaluate_rule(one, context(now=begins - tick)).outcome == "not-applicable"
    assert evaluate_rule(one, context(now=begins)).outcome == "failed"


SAYS: list[tuple[str, RuleOutcome]] = [
    ("true", "passed"),
    ("false", "failed"),
    ('procedure.owner == "payments"', "passed"),
    ('procedure.owner == ""', "failed"),
    ('procedure.summary != ""', "errored"),
    ("procedure.spec", "errored"),
    ("procedure.owner", "errored"),
    ('closure.all(p, p.owner == "payments")', "passed"),
    ("closure.exists(p, p.kind == 'tool')", "failed"),
    ("channel == 'production' && action == 'promote'", "passed"),
    ("actor.verified", "failed"),
    ("current == null", "passed"),
    ("now < timestamp('2026-03-01T12:00:00Z')", "failed"),
    ("now <= timestamp('2026-03-01T12:00:00Z')", "passed"),
]


@pytest.mark.parametrize(("require", "outcome"), SAYS)
def test_what_a_rule_says(require: str, outcome: str) -> None:
    result = evaluate_rule(rule(require=require), context())
    assert outcome == result.outcome
    assert (outcome == "passed") == (result.looked_at == "")
    assert (
        result.rule,
        result.level,
        result.rule_class,
        result.message,
    ) == ("R-1", "absolute", "safety", "It holds.")


def test_a_rule_that_does_not_apply_is_not_asked() -> None:
    result = evaluate_rule(rule(require="1 / 0 == 1", applies={"kinds": ["tool"]}), context())
    assert (result.outcome, result.looked_at) == ("not-applicable", "it is about kind tool, and this is a workflow")


def test_the_pinned_document_can_be_compared() -> None:
    one = rule(require="current == null || current.owner == procedure.owner")
    assert evaluate_rule(one, context(current=procedure(owner="payments"))).outcome == "passed"
    assert evaluate_rule(one, context(current=procedure(owner="growth"))).outcome == "failed"


def _raw(**fields: Any) -> Rule:
    values: dict[str, Any] = {
        "policy": "house",
        "owner": "compliance",
        "id": "R-1",
        "rule_class": "safety",
        "level": "absolute",
        "applies": Applies(),
        "kind": "require",
        "body": "true",
        "message": "",
    }
    return Rule(**{**values, **fields})


def test_an_unknown_kind_of_rule_is_errored_and_a_fault() -> None:
    one = _raw(kind="moon")
    assert evaluate_rule(one, context()).outcome == "errored"
    assert [(fault.code, fault.at) for fault in check_rules([one])] == [("rule-kind-unknown", ("rules", 0, "moon"))]


def test_an_expression_that_does_not_compile_is_errored_and_a_fault() -> None:
    for body in ("nobody.knows == 1", "1 +", '"text"', ""):
        one = _raw(body=body)
        assert evaluate_rule(one, context()).outcome == "errored"
        assert {("rules", 0, "require")} == {fault.at for fault in check_rules([one])}


def test_check_rules_reports_every_rule() -> None:
    rules = [_raw(body="a"), _raw(), _raw(body="b"), _raw(body=7)]
    assert {0, 2, 3} == {fault.at[1] for fault in check_rules(rules)}


def test_every_rule_kind_says_what_it_is() -> None:
    assert list(RULE_KINDS) == ["require", "evidence", "approvals", "soak", "freeze", "bump", "withdrawn"]
    assert all(kind.schema["description"] for kind in RULE_KINDS.values())
