"""What users of other systems said about rollback, as far as it takes rules to show it."""

from __future__ import annotations

from collections.abc import Callable

from support import FIRST, Shop

RULES = """  - id: AGE-1
    class: readiness
    level: absolute
    evidence: {max_age: P1D}
    message: Results are a day old at most.
  - id: SOAK-1
    class: readiness
    level: absolute
    applies: {channels: [production]}
    soak: {channel: staging, at_least: PT24H}
    message: A day on staging comes first.
"""


def test_argo_rollouts_2168_neither_soak_nor_age_blocks_a_rollback(
    plain_shop: Shop, clock: Callable[[str], None]
) -> None:
    clock("2026-03-01T12:00:00+00:00")
    plain_shop.release_first()
    plain_shop.release_second()
    path = "registry/policies/refunds.yaml"
    plain_shop.write(path, plain_shop.read(path) + RULES)
    plain_shop.adopt("more rules")
    clock("2026-04-01T12:00:00+00:00")
    held = plain_shop.promote(FIRST[0], to="production", code=3)
    assert "soak-short" in plain_shop.codes(held)
    answer = plain_shop.rollback("support/refund")
    assert answer["moves"][0]["to"] == "1.0.0"
    ran = [row["message"] for row in answer["verdict"]["findings"] if row["check"] == "evidence"]
    assert [text for text in ran if "run now" not in text] == []  # on this closure it never ran before
