"""How fresh results must be."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pawl.policy.freshness import longest_age
from pawl.policy.sources import read_policy
from policy.make import NOW, policy_document_of, procedure, rule_document, without


def evidence(max_age: str, number: int, **fields: Any) -> dict[str, Any]:
    document = without(rule_document(id=f"R-{number}", rule_class="readiness", **fields), "require")
    return {**document, "evidence": {"max_age": max_age}}


CASES: list[tuple[list[dict[str, Any]], str, timedelta | None]] = [
    ([rule_document(id="X")], "promote", None),
    ([evidence("P30D", 1)], "promote", timedelta(days=30)),
    ([evidence("P30D", 1), evidence("PT1H", 2)], "promote", timedelta(hours=1)),
    ([evidence("P30D", 1), evidence("PT1H", 2, applies={"channels": ["staging"]})], "promote", timedelta(days=30)),
    ([evidence("P30D", 1, effective_on="2026-03-02")], "promote", None),
    ([evidence("P30D", 1, level="advisory")], "promote", timedelta(days=30)),
    ([evidence("P30D", 1)], "rollback", timedelta(days=30)),
    ([evidence("P30D", 1, applies={"actions": ["promote"]})], "rollback", timedelta(days=30)),
    ([evidence("P30D", 1)], "remove", None),
]


@pytest.mark.parametrize(("rules", "action", "age"), CASES)
def test_the_shortest_age_of_the_rules_that_are_asked(
    rules: list[dict[str, Any]], action: str, age: timedelta | None
) -> None:
    read = read_policy(policy_document_of(*rules)).rules
    assert longest_age(read, procedure=procedure(), channel="production", action=action, now=NOW) == age
