"""The schema for editors agrees with the reader where a schema can."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pawl.policy.models import json_schema
from policy.make import policy_document_of, rule_document
from policy.test_reading import REFUND_POLICY

VALIDATOR = Draft202012Validator(json_schema())


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize(
    "document",
    [
        REFUND_POLICY,
        policy_document_of(rule_document(effective_on="2026-12-15", enforce_live=True)),
        policy_document_of(
            rule_document(tests=[{"procedure": {}, "expect": "denied", "closure": [], "now": "2026-01-01"}])
        ),
    ],
)
def test_it_takes_what_the_reader_takes(document: Any) -> None:
    assert VALIDATOR.is_valid(document)


@pytest.mark.parametrize(
    "document",
    [
        {},
        policy_document_of(),
        policy_document_of(rule_document(require=1)),
        policy_document_of(rule_document(level="hard")),
        policy_document_of(rule_document(nothing=1)),
        policy_document_of(rule_document(applies={"kinds": ["worklow"]})),
        policy_document_of(rule_document(applies={"names": ["A?"]})),
        policy_document_of({key: value for key, value in rule_document().items() if key != "require"}),
    ],
)
def test_it_refuses_what_the_reader_refuses(document: Any) -> None:
    assert not VALIDATOR.is_valid(document)
