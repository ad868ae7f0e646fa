"""Canaries: what is known to be bad is refused with every gate, and a gate that lets it through refuses everything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from pawl.canonical import record_bytes
from pawl.policy import canaries as gate
from pawl.policy import evaluator, rules
from pawl.policy.canaries import BUILT_IN, GATED, WELL, Canary
from pawl.policy.checks import rules as checks_rules
from pawl.policy.context import RuleContext, Said
from pawl.policy.evaluator import evaluate
from pawl.policy.kinds import known as kinds
from pawl.policy.rule_tests import denied_answers
from pawl.policy.rules import Rule, RuleResult, RuleTest
from pawl.policy.situation import Situation
from pawl.policy.sources import policy_document, read_policy, rules_from
from pawl.policy.verdict import INTEGRITY, Action, Finding, Verdict
from policy.make import policy_document_of, rule, rule_document
from support import FIRST, SECOND, Shop

SMALL = {"procedure": {"spec": {"budget": {"tokens": 201}}}, "expect": "denied", "name": "large"}
RULE = rule(
    id="SMALL",
    require="has(procedure.spec.budget) && procedure.spec.budget.tokens <= 200 || procedure.name.startsWith('canary')",
    tests=[SMALL, {"procedure": {"spec": {"budget": {"tokens": 200}}}, "expect": "allowed"}],
)


def asked(*asked_rules: Rule, action: Action = "promote") -> Verdict:
    return evaluate(replace(WELL, action=action, rules=asked_rules))


def canaries(verdict: Verdict) -> list[tuple[str, str | None]]:
    return [(finding.code, finding.rule) for finding in verdict.findings if finding.check == "canary"]


@pytest.mark.parametrize("action", sorted(GATED))
def test_where_nothing_is_wrong_it_is_allowed(action: Action) -> None:
    verdict = asked(RULE, action=action)
    assert verdict.allowed
    assert canaries(verdict) == [("canaries-refused", None)]
    (told,) = (finding for finding in verdict.findings if finding.check == "canary")
    assert told.message.startswith(f"all {len(BUILT_IN)} built-in canaries and 1 denied examples")


@pytest.mark.parametrize("canary", BUILT_IN, ids=lambda canary: f"{canary.situation.action} {canary.about}")
def test_each_built_in_canary_is_refused_for_its_own_reason_alone(canary: Canary) -> None:
    verdict = evaluate(canary.situation)
    assert {finding.code for finding in verdict.failures} == {canary.code}


@pytest.mark.parametrize("action", ["audit", "resolve", "remove"])
def test_what_is_no_gate_asks_none(action: Action) -> None:
    situation = replace(WELL, action=action, moves={}, subjects=tuple(WELL.state.pins), rules=(RULE,))
    assert canaries(evaluate(situation)) == []


def nothing(*_: Any, **__: Any) -> Iterator[Finding]:
    yield from ()


def yes(found_rule: Rule, _: RuleContext) -> RuleResult:
    return RuleResult(
        rule=found_rule.id, outcome="passed", level=found_rule.level, rule_class=found_rule.rule_class, message=""
    )


@pytest.mark.parametrize(
    ("module", "check"),
    [
        (evaluator, "policy_findings"),
        (evaluator, "requirement_findings"),
        (evaluator, "withdrawal_findings"),
        (evaluator, "rejection_findings"),
        (evaluator, "freeze_findings"),
        (evaluator, "rule_findings"),
        (evaluator, "evidence_findings"),
        (checks_rules, "evaluate_rule"),
    ],
)
@pytest.mark.parametrize("action", sorted(GATED))
def test_an_evaluator_without_one_of_its_checks_refuses_everything(
    monkeypatch: pytest.MonkeyPatch, module: Any, check: str, action: Action
) -> None:
    monkeypatch.setattr(module, check, yes if check == "evaluate_rule" else nothing)
    verdict = asked(rule(id="OTHER"), action=action)
    assert not verdict.allowed
    assert verdict.exit_code == INTEGRITY
    assert {code for code, _ in canaries(verdict)} == {"canary-passed"}


def always(_: Any, __: RuleContext) -> Said:
    return "passed", ""


@pytest.fixture
def new_process() -> Iterator[None]:
    """What a process remembers is asked anew, as the next command would; nothing of it is left behind."""
    gate._asked.cache_clear()
    yield
    gate._asked.cache_clear()


@pytest.fixture
def broken(new_process: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No expression says no any more."""
    bent = {**kinds.RULE_KINDS, "require": replace(kinds.RULE_KINDS["require"], evaluate=always)}
    monkeypatch.setattr(rules, "RULE_KINDS", bent)


@pytest.fixture
def counted(new_process: None, monkeypatch: pytest.MonkeyPatch) -> list[Rule]:
    """The rules whose denied examples were asked."""
    asked_of: list[Rule] = []

    def asked_now(of: Rule) -> Any:
        asked_of.append(of)
        return denied_answers(of)

    monkeypatch.setattr(gate, "denied_answers", asked_now)
    return asked_of


def test_one_process_asks_the_rules_of_one_text_once(counted: list[Rule]) -> None:
    frozen = [
        policy_document([read_policy(policy_document_of(rule_document(id=name, require=RULE.body, tests=[SMALL])))])
        for name in ("A", "B")
    ]
    for number in (0, 1, 0, 1):
        again = rules_from(json.loads(record_bytes(frozen[number])))
        assert canaries(evaluate(replace(WELL, rules=again))) == [("canaries-refused", None)]
    assert [of.id for of in counted] == ["A", "B"]


def test_commands_of_one_process_ask_once_and_again_after_an_adoption(shop: Shop, counted: list[Rule]) -> None:
    shop.release_first(anew=True)
    shop.release_second(anew=True)
    once = [of.id for of in counted]
    assert once
    assert len(set(once)) == len(once)
    shop.rollback("support/refund", "--to", "1.0.0")
    assert [of.id for of in counted] == once
    shop.edit("registry/policies/refunds.yaml", ("Every procedure has an owner.", "Each procedure has an owner."))
    shop.adopt()
    shop.promote(*SECOND, to="staging")
    assert [of.id for of in counted] == [*once, *once]


def test_a_rule_whose_denied_example_passes_refuses_everything() -> None:
    bent = replace(RULE, body="true || procedure.name == ''")
    verdict = asked(bent)
    assert canaries(verdict) == [("canary-passed", "SMALL")]
    (failure,) = verdict.failures
    assert (failure.exit_code, verdict.exit_code) == (INTEGRITY, INTEGRITY)
    assert "SMALL no longer refuses its own denied example large (allowed)" in failure.message


def test_a_rule_that_is_not_in_force_yet_has_canaries_too() -> None:
    bent = replace(RULE, body="true || procedure.name == ''", effective_on=WELL.now.replace(year=2999))
    assert canaries(asked(bent)) == [("canary-passed", "SMALL")]


def test_a_rule_that_errs_on_its_example_no_longer_shows_that_it_refuses() -> None:
    erring = replace(RULE, body="procedure.spec.nothing", effective_on=WELL.now.replace(year=2999))
    assert canaries(asked(erring)) == [("canary-passed", "SMALL")]


def test_an_example_that_cannot_be_asked_counts_as_passed() -> None:
    odd = RuleTest(name="odd", procedure={}, expect="denied", given={"approvals": [{}]})
    verdict = asked(replace(RULE, tests=(odd,)))
    assert canaries(verdict) == [("canary-passed", "SMALL")]
    assert "own denied example odd (errored)" in verdict.failures[0].message


def test_rules_without_examples_have_no_canaries_of_their_own() -> None:
    (found,) = [finding for finding in asked(replace(RULE, tests=())).findings if finding.check == "canary"]
    assert "and 0 denied examples" in found.message


def test_examples_are_told_apart_though_the_rules_decide_the_same() -> None:
    bent = replace(RULE, body="true || procedure.name == ''", tests=())
    assert canaries(asked(bent)) == [("canaries-refused", None)]
    assert canaries(asked(replace(bent, tests=RULE.tests))) == [("canary-passed", "SMALL")]


def test_the_situation_in_question_changes_nothing_about_canaries() -> None:
    other: Situation = replace(WELL, rules=(RULE,), evidence=None)
    assert canaries(evaluate(other)) == [("canaries-refused", None)]


def test_promote_and_rollback_answer_6_and_leave_a_row_and_the_pins(
    released: Shop, request: pytest.FixtureRequest
) -> None:
    released.second()
    released.pawl("publish")
    request.getfixturevalue("broken")
    before = released.files("registry/versions")
    answer = released.promote(*SECOND, to="staging", code=6)
    assert set(released.codes(answer)) == {"canary-passed"}
    assert {problem.get("rule") for problem in answer["problems"]} >= {"OWN-1", "BUD-1"}
    assert released.pawl("promote", *SECOND, "--to", "staging", "--reason", "r", "--dry-run", code=6)
    rows = released.pawl("history", "staging")["records"]
    assert [row["action"] for row in rows] == ["promote", "refused"]
    assert released.version("support/refund", "staging") == FIRST[0].partition("@")[2]
    assert released.files("registry/versions") == before


def test_a_way_back_is_closed_and_a_check_says_6_while_the_gate_cannot_be_believed(
    shop: Shop, request: pytest.FixtureRequest
) -> None:
    shop.release_first()
    shop.release_second()
    request.getfixturevalue("broken")
    assert set(shop.codes(shop.rollback("support/refund", "--to", "1.0.0", code=6))) == {"canary-passed"}
    assert shop.version("support/refund") == "2.0.0"
    shop.edit("procedures/support/refund.yaml", ("version: 2.0.0", "version: 2.0.1"), ("max_steps: 6", "max_steps: 7"))
    assert "canary-passed" in shop.codes(shop.pawl("check", code=6))
