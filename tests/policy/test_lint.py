"""Warnings: what is allowed and probably not meant."""

from __future__ import annotations

from typing import Any

import pytest

from pawl.policy.lint import policy_warnings, unmatched_rules
from pawl.policy.sources import read_policy
from policy.make import policy_document_of, rule, rule_document, without

PROCEDURES = [("prompt", "support/refund-draft"), ("workflow", "support/refund")]
CHANNELS = ["staging", "production"]

UNMATCHED: list[tuple[dict[str, Any], list[tuple[str, tuple[Any, ...]]]]] = [
    ({}, []),
    ({"kinds": ["workflow"], "names": ["support/refund*"], "channels": ["production"]}, []),
    ({"names": ["support/refnd*"]}, [("warning", ("names", 0))]),
    ({"names": ["support/*", "billing/*"]}, [("warning", ("names", 1))]),
    ({"kinds": ["workflow"], "names": ["support/refund-draft"]}, [("warning", ("names", 0))]),
    ({"kinds": ["tool"]}, [("note", ("kinds",))]),
    ({"kinds": ["tool", "prompt"]}, []),
    ({"channels": ["prod", "production"]}, [("warning", ("channels", 0))]),
    ({"names": ["x"], "channels": ["prod"]}, [("warning", ("names", 0)), ("warning", ("channels", 0))]),
]


@pytest.mark.parametrize(("applies", "expected"), UNMATCHED)
def test_a_part_that_fits_nothing_is_told(applies: dict[str, Any], expected: list[tuple[str, tuple[Any, ...]]]) -> None:
    one = rule(applies=applies) if applies else rule()
    faults = unmatched_rules([rule(), one], PROCEDURES, CHANNELS)
    assert expected == [(fault.severity, fault.at[3:]) for fault in faults]
    assert all(fault.at[:3] == ("rules", 1, "applies") and fault.code == "rule-unmatched" for fault in faults)


def test_a_slip_gets_a_hint() -> None:
    (fault,) = unmatched_rules([rule(applies={"names": ["support/refnd*"]})], PROCEDURES, CHANNELS)
    assert fault.message == "rule R-1 applies to less than it says: no procedure here matches support/refnd*"
    assert fault.hint == "did you mean support/refund?"


def test_an_empty_workspace_has_nothing_to_match() -> None:
    assert unmatched_rules([rule()], [], []) == ()
    assert len(unmatched_rules([rule(applies={"names": ["*"]})], [], [])) == 1


@pytest.mark.parametrize(
    ("require", "told"),
    [
        ("procedure.owner != ''", []),
        ("procedure.owmer != '' && has(procedure.spec.anything)", ["procedure.owmer"]),
        ("actor.verfied == true", ["actor.verfied"]),
        ("procedure['labels'].risk == 'x' && procedure['lables'].risk == 'x'", ["procedure.lables"]),
        ("current == null || current.whatever == 1", []),
    ],
)
def test_a_field_that_no_document_has_is_told(require: str, told: list[str]) -> None:
    source = read_policy(policy_document_of(rule_document(require=require)))
    found = policy_warnings(source)
    assert [("rule-field-unknown", ("rules", 0, "require"), "warning")] * len(told) == [
        (fault.code, fault.at, fault.severity) for fault in found
    ]
    assert all(text in fault.message for text, fault in zip(told, found, strict=True))


def test_a_rule_without_a_message_is_told() -> None:
    document = rule_document()
    del document["message"]
    (fault,) = policy_warnings(read_policy(policy_document_of(document)))
    assert (fault.code, fault.severity) == ("rule-message-missing", "warning")


@pytest.mark.parametrize(("channel", "told"), [("staging", False), ("canary", True)])
def test_waiting_for_a_channel_that_is_not_there_is_told(channel: str, told: bool) -> None:
    document = without(rule_document(rule_class="readiness"), "require")
    body = {"channel": channel, "at_least": "PT1H"}
    (one,) = read_policy(policy_document_of({**document, "soak": body})).rules
    faults = unmatched_rules([one], PROCEDURES, CHANNELS)
    assert [(fault.code, fault.at) for fault in faults] == (
        [("rule-unmatched", ("rules", 0, "soak", "channel"))] if told else []
    )
