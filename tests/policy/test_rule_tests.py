"""The examples that rules carry."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.policy.rule_tests import merge_patch, rule_test_faults, rule_tests
from pawl.policy.sources import read_policy
from policy.make import policy_document_of, rule, rule_document, without

DENIED: dict[str, Any] = {"procedure": {}, "expect": "denied"}
ALLOWED: dict[str, Any] = {"procedure": {}, "expect": "allowed"}
OWNER = "has(procedure.owner) && procedure.owner != ''"
CHECKS = "procedure.spec.steps.exists(s, has(s.tool) && s.tool == 'support/check-eligibility')"


def _answers(*tests: dict[str, Any], **fields: Any) -> list[str]:
    return [result.answer for result in rule_tests(rule(tests=list(tests), **fields))]


def test_a_snippet_is_laid_over_the_smallest_procedure() -> None:
    owned = {"procedure": {"owner": "payments"}, "expect": "allowed"}
    assert _answers(DENIED, owned, require=OWNER) == ["denied", "allowed"]


def test_a_null_takes_a_field_away_and_lists_replace() -> None:
    steps = [{"id": "a", "tool": "support/check-eligibility"}]
    tests = ({"procedure": {"spec": {"steps": steps}}, "expect": "allowed"}, DENIED)
    assert _answers(*tests, require=CHECKS, applies={"kinds": ["workflow"]}) == ["allowed", "denied"]
    without = {"procedure": {"spec": {"steps": None}}, "expect": "denied"}
    assert _answers(without, require="has(procedure.spec.steps)", applies={"kinds": ["workflow"]}) == ["denied"]


FITTING: list[dict[str, Any]] = [
    {"applies": {"kinds": ["tool", "prompt"]}, "require": "procedure.kind != 'tool'"},
    {"applies": {"names": ["support/refund*"]}, "require": "procedure.name != 'support/refund'"},
    {"applies": {"names": ["*/draft"]}, "require": "procedure.name != 'example/draft'"},
    {"applies": {"channels": ["canary"]}, "require": "channel != 'canary'"},
    {"applies": {"actions": ["audit"]}, "require": "action != 'audit'"},
    {"applies": {"labels": {"risk": "high"}}, "require": "procedure.labels.risk != 'high'"},
    {"effective_on": "2031-01-01", "require": "now < timestamp('2031-01-01T00:00:00Z')"},
    {"require": "channel != 'production' || action != 'promote' || actor.verified"},
    {"require": "current != null"},
    {"require": "size(closure) != 1 || closure[0].name != procedure.name"},
]


@pytest.mark.parametrize("fields", FITTING)
def test_what_is_left_out_makes_the_rule_apply(fields: dict[str, Any]) -> None:
    assert _answers(DENIED, **fields) == ["denied"]


KEPT_OUT: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"applies": {"kinds": ["tool"]}}, {"procedure": {"kind": "prompt"}}),
    ({"applies": {"names": ["support/*"]}}, {"procedure": {"name": "billing/x"}}),
    ({"applies": {"channels": ["production"]}}, {"channel": "staging"}),
    ({"applies": {"actions": ["rollback"]}}, {"action": "promote"}),
    ({"applies": {"labels": {"risk": "high"}}}, {"procedure": {"labels": {"risk": "low"}}}),
    ({"applies": {"labels": {"risk": "high"}}}, {"procedure": {"labels": None}}),
    ({"effective_on": "2031-01-01"}, {"now": "2030-12-31T23:59:59Z"}),
]


@pytest.mark.parametrize(("fields", "test"), KEPT_OUT)
def test_what_is_stated_can_keep_the_rule_out(fields: dict[str, Any], test: dict[str, Any]) -> None:
    (result,) = rule_tests(rule(require="false", tests=[{**ALLOWED, **test}], **fields))
    assert (result.answer, result.passed) == ("allowed", True)
    assert result.reason.startswith("does not apply: ")


def test_the_rest_of_the_world_can_be_given() -> None:
    closure = [{"kind": "tool", "name": "orders/refund", "spec": {"effects": ["orders:write"]}}]
    writes = "closure.exists(p, has(p.spec.effects) && 'orders:write' in p.spec.effects)"
    assert _answers(DENIED, {**ALLOWED, "closure": closure}, require=writes) == ["denied", "allowed"]
    same = "current == null || (current.name == procedure.name && current.version != procedure.version)"
    tests = ({**DENIED, "current": {}}, {**ALLOWED, "current": {"version": "0.9.0"}})
    assert _answers(*tests, require=same) == ["denied", "allowed"]
    tests = (DENIED, {**ALLOWED, "actor": {"verified": True}})
    assert _answers(*tests, require="actor.verified && actor.email != ''") == ["denied", "allowed"]


GIVEN: list[tuple[str, Any, list[tuple[dict[str, Any], str]]]] = [
    (
        "approvals",
        {"count": 1, "roles": ["risk"]},
        [
            ({}, "denied"),
            ({"given": {"approvals": []}}, "denied"),
            ({"given": {"approvals": [{"by": "ben@example.invalid", "roles": ["risk"]}]}}, "allowed"),
            ({"given": {"approvals": [{"by": "ben@example.invalid", "roles": ["release"]}]}}, "denied"),
            ({"given": {"approvals": [{"by": "ben@example.invalid"}]}}, "denied"),
            ({"given": {"approvals": [{"by": "b@example.invalid", "roles": ["risk"], "kind": "agent"}]}}, "denied"),
            ({"given": {"approvals": [{"by": "b@example.invalid", "roles": ["risk"], "ended": True}]}}, "denied"),
            (
                {"given": {"approvals": [{"by": "b@example.invalid", "roles": ["risk"], "of": "another-policy"}]}},
                "denied",
            ),
            (
                {"given": {"approvals": [{"by": "b@example.invalid", "roles": ["risk"], "of": "another-version"}]}},
                "denied",
            ),
            (
                {
                    "given": {
                        "author": "b@example.invalid",
                        "approvals": [{"by": "b@example.invalid", "roles": ["risk"]}],
                    }
                },
                "denied",
            ),
            (
                {
                    "actor": {"email": "b@example.invalid"},
                    "given": {"approvals": [{"by": "b@example.invalid", "roles": ["risk"]}]},
                },
                "denied",
            ),
        ],
    ),
    (
        "soak",
        {"channel": "staging", "at_least": "PT24H"},
        [
            ({}, "denied"),
            ({"given": {"live": {"staging": "PT24H"}}}, "allowed"),
            ({"given": {"live": {"staging": "PT23H59M"}}}, "denied"),
            ({"given": {"live": {"canary": "P9D"}}}, "denied"),
            ({"given": {"moves": False}}, "allowed"),
        ],
    ),
    (
        "evidence",
        {"max_age": "P30D"},
        [
            ({}, "denied"),
            ({"given": {"evidence": {"refund": "P29D"}}}, "allowed"),
            ({"given": {"evidence": {"refund": "P29D", "other": "P31D"}}}, "denied"),
        ],
    ),
    (
        "bump",
        {"largest": "minor"},
        [
            ({}, "allowed"),
            ({"current": {"version": "1.0.0"}, "procedure": {"version": "1.1.0"}}, "allowed"),
            ({"current": {"version": "1.0.0"}, "procedure": {"version": "2.0.0"}}, "denied"),
            ({"current": {"version": None}, "procedure": {"version": "2.0.0"}}, "errored"),
        ],
    ),
    (
        "withdrawn",
        {"refuse": ["deprecated"]},
        [({}, "allowed"), ({"given": {"withdrawn": {"support/lookup@1.0.0": "deprecated"}}}, "denied")],
    ),
    (
        "freeze",
        {"start": "2026-12-20", "duration": "P14D", "time_zone": "UTC", "reason": "x", "spares": {"roles": ["risk"]}},
        [
            ({}, "allowed"),
            ({"now": "2026-12-24"}, "denied"),
            ({"now": "2026-12-24", "actor": {"roles": ["risk"]}}, "allowed"),
            ({"now": "2026-12-24", "given": {"leaving": "it is revoked"}}, "allowed"),
            ({"now": "2027-01-03"}, "allowed"),
            ({"now": "0001-01-01", "given": {"live": {"staging": "P30D"}}}, "errored"),
        ],
    ),
]


@pytest.mark.parametrize(("kind", "body", "rows"), GIVEN, ids=[row[0] for row in GIVEN])
def test_what_a_kind_needs_can_be_given(kind: str, body: Any, rows: list[tuple[dict[str, Any], str]]) -> None:
    tests = [{"procedure": {}, "expect": "allowed", **test} for test, _ in rows]
    document = without(rule_document(rule_class="readiness", tests=tests), "require")
    (one,) = read_policy(policy_document_of({**document, kind: body})).rules
    assert [result.answer for result in rule_tests(one)] == [answer for _, answer in rows]


def test_an_error_meets_no_expectation() -> None:
    results = rule_tests(rule(require="procedure.owner != ''", tests=[DENIED, ALLOWED]))
    assert [(result.answer, result.passed) for result in results] == [("errored", False), ("errored", False)]
    fault = rule_test_faults([rule(require="procedure.owner != ''", tests=[DENIED])])[0]
    assert "could not be evaluated" in fault.message
    assert "procedure.owner is absent" in fault.message
    assert fault.hint is not None


FAULTS: list[tuple[list[dict[str, Any]], list[tuple[str, str, int]]]] = [
    ([], [("rule-untested", "warning", 2)]),
    ([{**ALLOWED, "procedure": {"owner": "a"}}], [("rule-untested", "warning", 2)]),
    ([DENIED], []),
    ([{**ALLOWED, "procedure": {"owner": "a"}}, DENIED], []),
    ([DENIED, ALLOWED], [("rule-test-failed", "error", 4)]),
    ([{**DENIED, "procedure": {"owner": "a"}}], [("rule-test-failed", "error", 4)]),
]


@pytest.mark.parametrize(("tests", "expected"), FAULTS)
def test_a_rule_must_be_seen_to_refuse(tests: list[dict[str, Any]], expected: list[tuple[str, str, int]]) -> None:
    faults = rule_test_faults([rule(tests=[DENIED], require="false"), rule(require=OWNER, tests=tests)])
    assert expected == [(fault.code, fault.severity, len(fault.at)) for fault in faults]
    assert all(fault.at[:2] == ("rules", 1) for fault in faults)


def test_a_failing_test_says_what_differs() -> None:
    named = {**ALLOWED, "name": "a team", "procedure": {"owner": ""}}
    (fault, _) = rule_test_faults([rule(require=OWNER, tests=[named])])
    assert fault.message == (
        "test a team of rule R-1 expects allowed, and the rule says denied "
        "(`procedure.owner != ''` is false: procedure.owner is \"\")"
    )


@pytest.mark.parametrize(
    ("base", "patch", "merged"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        (["a"], {"a": 1}, {"a": 1}),
    ],
)
def test_merge_patch_is_that_of_rfc_7396(base: Any, patch: Any, merged: Any) -> None:
    assert merged == merge_patch(base, patch)


@given(
    st.recursive(st.booleans() | st.integers(), lambda inner: st.dictionaries(st.text(max_size=3), inner, max_size=3))
)
def test_a_patch_over_nothing_is_the_patch(patch: Any) -> None:
    assert patch == merge_patch(None, patch)
