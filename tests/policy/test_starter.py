"""The policy that a new workspace starts with."""

from __future__ import annotations

import re

import pytest

from pawl.io.strict_yaml import load
from pawl.policy.facts import Facts, ResultFact
from pawl.policy.lint import policy_warnings
from pawl.policy.rule_tests import rule_test_faults, rule_tests
from pawl.policy.rules import PolicySource, evaluate_rule
from pawl.policy.skeletons import KNOWN_KINDS
from pawl.policy.sources import merge, policy_document, read_policy, rules_from
from pawl.policy.starter import DEFAULT_POLICY_TEXT, policy_starter
from pawl.procedures.kinds import starter
from policy.make import context


@pytest.fixture(scope="module")
def source() -> PolicySource:
    return read_policy(load(DEFAULT_POLICY_TEXT.encode()))


def test_it_reads_and_nothing_is_to_be_said_of_it(source: PolicySource) -> None:
    assert source.name == "default"
    assert policy_warnings(source) == ()
    assert rule_test_faults(source.rules, required=True) == ()
    assert source.rules == rules_from(policy_document([source]))


def test_every_rule_has_a_permitted_and_a_denied_example(source: PolicySource) -> None:
    for rule in source.rules:
        assert {"allowed", "denied"} == {result.answer for result in rule_tests(rule)}, rule.id


def test_what_is_commented_out_can_be_switched_on(source: PolicySource) -> None:
    """The lines behind the last rule, without their signs."""
    commented = re.sub(r"^#( {2}.*)?$", r"\1", DEFAULT_POLICY_TEXT, flags=re.MULTILINE)
    whole = read_policy(load(commented.encode()))
    assert [rule.id for rule in whole.rules if rule not in source.rules] == ["SECOND-PAIR-OF-EYES", "SOAK"]
    assert policy_warnings(whole) == ()
    assert rule_test_faults(whole.rules, required=True) == ()
    for rule in whole.rules:
        assert {"allowed", "denied"} == {result.answer for result in rule_tests(rule)}, rule.id


def test_what_helps_people_work_never_holds_a_rollback_up(source: PolicySource) -> None:
    assert [rule.id for rule in source.rules if rule.rule_class == "safety"] == [
        "TOOL-EFFECTS",
        "WORKFLOW-BUDGET",
        "DEPRECATED",
    ]
    assert not any(rule.enforce_live for rule in source.rules)
    assert {kind for rule in source.rules for kind in rule.applies.kinds} == set(KNOWN_KINDS)


@pytest.mark.parametrize("name", ["refunds", "team/refunds", "a", "1", "id-name_x"])
def test_a_new_policy_is_one_to_start_from(name: str, source: PolicySource) -> None:
    new = read_policy(load(policy_starter(name).encode()))
    assert new.name == name.rpartition("/")[2]
    assert policy_warnings(new) == ()
    assert rule_test_faults(new.rules, required=True) == ()
    assert len(merge([source, new])) == len(source.rules) + 1


@pytest.mark.parametrize("kind", KNOWN_KINDS)
def test_a_new_procedure_passes_every_rule(source: PolicySource, kind: str) -> None:
    document = load(starter(kind, "support/example").encode())
    facts = Facts(results=(ResultFact(suite="support/example", at="2026-02-27T12:00:00Z"),), withdrawn=())
    for rule in source.rules:
        result = evaluate_rule(rule, context(document, facts=facts))
        assert result.outcome in {"passed", "not-applicable"}, (rule.id, result.looked_at)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("owner", None),
        ("owner", " "),
        ("summary", None),
        ("changes", None),
        ("labels", None),
        ("labels", {"risk": None}),
        ("spec.effects", None),
        ("spec.annotations", None),
        ("spec.annotations", {"readOnlyHint": None, "destructiveHint": None}),
        ("spec.annotations", {"readOnlyHint": False, "destructiveHint": True}),
    ],
)
def test_a_null_is_no_answer(source: PolicySource, field: str, value: object) -> None:
    """A field that is written and null is none; it must not pass for one that is given."""
    document = {**context().procedure, "kind": "tool", "summary": "A tool.", "changes": "First.", "spec": {}}
    inner = document["spec"] if field.startswith("spec.") else document
    inner[field.removeprefix("spec.")] = value
    ids = {"owner": "OWNER", "summary": "SUMMARY", "changes": "CHANGES", "labels": "TOOL-RISK"}
    (rule,) = (rule for rule in source.rules if rule.id == ids.get(field, "TOOL-EFFECTS"))
    assert evaluate_rule(rule, context(document)).outcome in {"failed", "errored"}
