"""Reading policy sources: what is refused, where, and that nothing else ever comes out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pawl.errors import Faulty
from pawl.policy.kinds.known import RULE_KINDS
from pawl.policy.models import json_schema
from pawl.policy.rules import Applies
from pawl.policy.sources import read_policy
from pawl.problems import Fault, Place
from policy.make import policy_document_of, rule_document, without

REFUND_POLICY: dict[str, Any] = {
    "policy": "refunds",
    "owner": "compliance",
    "rules": [
        {
            "id": "REF-1",
            "class": "safety",
            "level": "absolute",
            "applies": {"kinds": ["workflow"], "names": ["support/refund*"], "channels": ["production"]},
            "require": 'procedure.spec.steps.exists(s, has(s.tool) && s.tool == "support/check-eligibility")',
            "message": "Every refund workflow checks eligibility before it drafts.",
        }
    ],
}


def test_a_policy_is_read() -> None:
    source = read_policy(REFUND_POLICY)
    (one,) = source.rules
    assert (source.name, source.owner) == ("refunds", "compliance")
    assert (one.policy, one.owner, one.id) == ("refunds", "compliance", "REF-1")
    assert (
        one.rule_class,
        one.level,
        one.kind,
        one.enforce_live,
        one.effective_on,
    ) == ("safety", "absolute", "require", False, None)
    assert Applies(kinds=("workflow",), names=("support/refund*",), channels=("production",)) == one.applies


def test_a_message_is_one_line() -> None:
    document = policy_document_of(rule_document(message="It\n  holds. \n"))
    assert read_policy(document).rules[0].message == "It holds."


def _with(**fields: Any) -> dict[str, Any]:
    return policy_document_of(rule_document(**fields))


def _without(field: str) -> dict[str, Any]:
    return policy_document_of(without(rule_document(), field))


def _test(**fields: Any) -> dict[str, Any]:
    return _with(tests=[{"procedure": {}, "expect": "denied", **fields}])


def _faults(document: Any) -> tuple[Fault, ...] | None:
    """Return the faults of a document, or ``None`` where it can be read."""
    try:
        read_policy(document)
    except Faulty as error:
        return error.faults
    return None


RULE: Place = ("rules", 0)
TEST: Place = ("rules", 0, "tests", 0)
REFUSED: list[tuple[str, Any, str, Place]] = [
    ("no-object", [], "policy-field-invalid", ()),
    ("null", None, "policy-field-invalid", ()),
    ("empty", {}, "policy-field-missing", ()),
    ("no-rules", policy_document_of(), "policy-empty", ("rules",)),
    ("rules-missing", {"policy": "a", "owner": "b"}, "policy-field-missing", ()),
    ("rules-null", {"policy": "a", "owner": "b", "rules": None}, "policy-field-invalid", ("rules",)),
    ("unknown-field", {**_with(), "enabled": False}, "policy-field-unknown", ("enabled",)),
    ("rule-unknown-field", _with(enabled=False), "policy-field-unknown", (*RULE, "enabled")),
    ("applies-unknown-field", _with(applies={"except": ["x"]}), "policy-field-unknown", (*RULE, "applies", "except")),
    ("policy-name", {**_with(), "policy": "House Rules"}, "policy-field-invalid", ("policy",)),
    ("owner-blank", {**_with(), "owner": " "}, "policy-field-invalid", ("owner",)),
    ("id-missing", _without("id"), "policy-field-missing", RULE),
    ("id-blank", _with(id="R 1"), "policy-field-invalid", (*RULE, "id")),
    ("id-newline", _with(id="R-1\n"), "policy-field-invalid", (*RULE, "id")),
    ("class-missing", _without("class"), "policy-field-missing", RULE),
    ("class-unknown", _with(rule_class="security"), "policy-field-invalid", (*RULE, "class")),
    ("level-missing", _without("level"), "policy-field-missing", RULE),
    ("level-unknown", _with(level="mandatory"), "policy-field-invalid", (*RULE, "level")),
    ("no-demand", _without("require"), "policy-field-missing", RULE),
    ("require-number", _with(require=1), "policy-field-invalid", (*RULE, "require")),
    ("require-list", _with(require=["true"]), "policy-field-invalid", (*RULE, "require")),
    ("kinds-empty", _with(applies={"kinds": []}), "policy-field-invalid", (*RULE, "applies", "kinds")),
    ("kind-unknown", _with(applies={"kinds": ["worklow"]}), "policy-field-invalid", (*RULE, "applies", "kinds", 0)),
    ("names-text", _with(applies={"names": "support/*"}), "policy-field-invalid", (*RULE, "applies", "names")),
    ("glob-stars", _with(applies={"names": ["a", "a/**"]}), "glob-invalid", (*RULE, "applies", "names", 1)),
    ("glob-case", _with(applies={"names": ["Support/*"]}), "glob-invalid", (*RULE, "applies", "names", 0)),
    ("channel-glob", _with(applies={"channels": ["prod*"]}), "policy-field-invalid", (*RULE, "applies", "channels", 0)),
    (
        "channel-taken",
        _with(applies={"channels": ["registry"]}),
        "policy-field-invalid",
        (*RULE, "applies", "channels", 0),
    ),
    (
        "action-unknown",
        _with(applies={"actions": ["remove"]}),
        "policy-field-invalid",
        (*RULE, "applies", "actions", 0),
    ),
    ("labels-empty", _with(applies={"labels": {}}), "policy-field-invalid", (*RULE, "applies", "labels")),
    ("label-number", _with(applies={"labels": {"a": 1}}), "policy-field-invalid", (*RULE, "applies", "labels", "a")),
    ("message-empty", _with(message=""), "policy-field-invalid", (*RULE, "message")),
    ("message-escape", _with(message="a\x1b[31m"), "policy-field-invalid", (*RULE, "message")),
    ("date-none", _with(effective_on="2026-02-30"), "policy-field-invalid", (*RULE, "effective_on")),
    ("date-short", _with(effective_on="2026-2-3"), "policy-field-invalid", (*RULE, "effective_on")),
    ("date-week", _with(effective_on="2026-W10"), "policy-field-invalid", (*RULE, "effective_on")),
    ("time-naive", _with(effective_on="2026-02-03T10:00:00"), "policy-field-invalid", (*RULE, "effective_on")),
    ("time-ancient", _with(effective_on="0001-01-01T00:00:00+10:00"), "policy-field-invalid", (*RULE, "effective_on")),
    ("enforce-text", _with(enforce_live="true"), "policy-field-invalid", (*RULE, "enforce_live")),
    (
        "enforce-readiness",
        _with(rule_class="readiness", enforce_live=True),
        "rule-enforce-live",
        (*RULE, "enforce_live"),
    ),
    (
        "never-readiness",
        _with(rule_class="readiness", applies={"actions": ["rollback"]}),
        "rule-never-applies",
        (*RULE, "applies", "actions"),
    ),
    ("never-resolve", _with(applies={"actions": ["resolve"]}), "rule-never-applies", (*RULE, "applies", "actions")),
    ("test-expect", _test(expect="refused"), "policy-field-invalid", (*TEST, "expect")),
    ("test-field", _test(evidence=[]), "policy-field-unknown", (*TEST, "evidence")),
    ("test-kind", _test(procedure={"kind": "worklow"}), "policy-test-invalid", (*TEST, "procedure", "kind")),
    ("test-kind-null", _test(procedure={"kind": None}), "policy-test-invalid", (*TEST, "procedure", "kind")),
    ("test-kind-list", _test(procedure={"kind": []}), "policy-test-invalid", (*TEST, "procedure", "kind")),
    ("test-name-null", _test(procedure={"name": None}), "policy-test-invalid", (*TEST, "procedure", "name")),
    ("test-name-number", _test(procedure={"name": 1}), "policy-test-invalid", (*TEST, "procedure", "name")),
    ("test-labels", _test(procedure={"labels": []}), "policy-test-invalid", (*TEST, "procedure", "labels")),
    ("test-closure-kind", _test(closure=[{"name": "a"}]), "policy-test-invalid", (*TEST, "closure", 0, "kind")),
    ("given-field", _test(given={"soaked": "P1D"}), "policy-field-unknown", (*TEST, "given", "soaked")),
    (
        "given-live",
        _test(given={"live": {"staging": "1d"}}),
        "policy-field-invalid",
        (*TEST, "given", "live", "staging"),
    ),
    ("given-age", _test(given={"evidence": {"s": "P1Y"}}), "policy-field-invalid", (*TEST, "given", "evidence", "s")),
    (
        "given-of",
        _test(given={"approvals": [{"by": "a", "of": "that"}]}),
        "policy-field-invalid",
        (*TEST, "given", "approvals", 0, "of"),
    ),
    (
        "given-kind",
        _test(given={"approvals": [{"by": "a", "kind": "robot"}]}),
        "policy-field-invalid",
        (*TEST, "given", "approvals", 0, "kind"),
    ),
    ("given-null", _test(given=None), "policy-field-invalid", (*TEST, "given")),
    ("test-now", _test(now="today"), "policy-field-invalid", (*TEST, "now")),
    ("test-current", _test(current={"name": 1}), "policy-test-invalid", (*TEST, "current", "name")),
]


@pytest.mark.parametrize(("document", "code", "at"), [pytest.param(*row, id=name) for name, *row in REFUSED])
def test_what_is_refused_and_where(document: Any, code: str, at: Place) -> None:
    with pytest.raises(Faulty) as caught:
        read_policy(document)
    assert [(code, at)] == [(fault.code, fault.at) for fault in caught.value.faults][:1]


@pytest.mark.parametrize("require", ["", "1 +", "nobody == 1", '"text"', "1", "procedure.x(", "f(1)"])
def test_an_expression_must_compile_to_a_truth_value(require: str) -> None:
    with pytest.raises(Faulty) as caught:
        read_policy(_with(require=require))
    assert {(*RULE, "require")} == {fault.at for fault in caught.value.faults}


def test_a_rule_that_demands_two_things_is_refused() -> None:
    with pytest.raises(Faulty) as caught:
        read_policy(_with(soak={}))
    assert [("rule-kind-twice", (*RULE, "soak"))] == [(fault.code, fault.at) for fault in caught.value.faults]


def test_ids_are_there_once_whatever_their_case() -> None:
    with pytest.raises(Faulty) as caught:
        read_policy(policy_document_of(rule_document(id="REF-1"), rule_document(), rule_document(id="ref-1")))
    assert [(f.code, f.at) for f in caught.value.faults] == [("rule-duplicate", ("rules", 2, "id"))]


def test_all_faults_come_at_once() -> None:
    first = rule_document(id="A", require="1 +", applies={"names": ["X"], "channels": ["P"]}, effective_on="soon")
    second = rule_document(id="A", require="nobody", tests=[{"procedure": {"kind": "x"}, "expect": "denied"}])
    with pytest.raises(Faulty) as caught:
        read_policy(policy_document_of(first, second))
    assert {
        ("rules", 0, "require"),
        ("rules", 0, "applies", "names", 0),
        ("rules", 0, "applies", "channels", 0),
        ("rules", 0, "effective_on"),
        ("rules", 1, "require"),
        ("rules", 1, "id"),
        ("rules", 1, "tests", 0, "procedure", "kind"),
    } == {fault.at for fault in caught.value.faults}


def test_a_fault_of_shape_does_not_hide_a_missing_demand() -> None:
    broken = rule_document(level=7)
    del broken["require"]
    with pytest.raises(Faulty) as caught:
        read_policy(policy_document_of(broken))
    assert {"policy-field-invalid", "policy-field-missing"} == {fault.code for fault in caught.value.faults}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=8), children, max_size=3),
    max_leaves=12,
)
FIELDS = """policy owner rules id class level applies kinds names channels actions labels require message
    effective_on enforce_live tests procedure expect closure current name actor now kind soak"""
fields = st.sampled_from(FIELDS.split())
likely = st.recursive(
    json_values
    | st.sampled_from(["safety", "readiness", "absolute", "true", "a", "denied", "tool", "2026-01-01", "a/*"]),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(fields, children, max_size=8),
    max_leaves=25,
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(json_values | likely)
def test_reading_raises_nothing_but_faults(document: Any) -> None:
    with pytest.raises(Faulty) as caught:
        read_policy(document)
    assert caught.value.faults


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(field=fields, where=st.sampled_from(["policy", "rule", "applies", "test"]), value=likely)
def test_any_value_in_any_field_is_read_or_a_fault(field: str, where: str, value: Any) -> None:
    test = {"procedure": {}, "expect": "denied"}
    document: dict[str, Any] = _with(tests=[test], applies={"kinds": ["tool"]})
    rule = document["rules"][0]
    {"policy": document, "rule": rule, "applies": rule["applies"], "test": test}[where][field] = value
    before = json.dumps(document)
    faults = _faults(document)
    assert faults is None or faults
    assert all(fault.message and fault.code for fault in faults or ())
    assert before == json.dumps(document)


def test_the_schema_for_editors_knows_rules_and_kinds() -> None:
    schema = json_schema()
    rule = schema["$defs"]["RuleDocument"]
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert {"id", "class", "level"} == set(rule["required"])
    assert rule["oneOf"] == [{"required": [kind]} for kind in RULE_KINDS]
    assert rule["additionalProperties"] is False
    assert "default" not in rule["properties"]["message"]
