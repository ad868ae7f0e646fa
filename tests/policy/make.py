"""Small builders for the tests of policies."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pawl.policy.context import RuleContext
from pawl.policy.rules import Rule
from pawl.policy.sources import read_policy

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ACTOR = {"name": "Ada", "email": "ada@example.invalid", "verified": False, "kind": "human", "roles": ["release"]}


def rule_document(**fields: Any) -> dict[str, Any]:
    """Return a rule that is valid, with ``fields`` in place of its own; ``rule_class`` stands for ``class``."""
    if "rule_class" in fields:
        fields["class"] = fields.pop("rule_class")
    document = {"id": "R-1", "class": "safety", "level": "absolute", "require": "true", "message": "It holds."}
    return {**document, **fields}


def without(document: dict[str, Any], field: str) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != field}


def policy_document_of(*rules: dict[str, Any], policy: str = "house") -> dict[str, Any]:
    return {"policy": policy, "owner": "compliance", "rules": list(rules)}


def rule(**fields: Any) -> Rule:
    return read_policy(policy_document_of(rule_document(**fields))).rules[0]


def procedure(kind: str = "workflow", name: str = "support/refund", **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "name": name, "version": "1.0.0", "owner": "payments", "spec": {}, **fields}


def context(document: dict[str, Any] | None = None, **fields: Any) -> RuleContext:
    document = document or procedure()
    values: dict[str, Any] = {
        "procedure": document,
        "closure": (document,),
        "channel": "production",
        "action": "promote",
        "actor": ACTOR,
        "current": None,
        "now": NOW,
    }
    return RuleContext(**{**values, **fields})
