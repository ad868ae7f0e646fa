"""What users of other systems said about rules: that they refused nothing, failed open, or could be switched off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import pytest

from pawl.policy import canaries, rules
from pawl.policy.kinds import known as kinds
from support import FIRST, SECOND, Shop, in_process, story

TEXT = "registry/policies/refunds.yaml"
QUIET = """\
policy: quiet
owner: risk
rules:
  - {id: QUIET-1, class: safety, level: absolute, require: has(procedure.owner), message: An owner.}
"""


def test_conftest_181_without_an_adopted_policy_nothing_passes(shop: Shop) -> None:
    shop.pawl("publish")
    assert "no-policy" in shop.codes(shop.promote(*FIRST, to="staging", code=3))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("policy: quiet\nowner: risk\nrules: []\n", "policy-empty"),
        (QUIET, "rule-untested"),
        (QUIET.replace("An owner.}", "M., tests: [{procedure: {owner: a}, expect: allowed}]}"), "rule-untested"),
        (QUIET.replace("has(procedure.owner)", "'true'"), "rule-untested"),
    ],
)
def test_conftest_298_a_rule_that_was_never_seen_to_refuse_is_not_adopted(shop: Shop, text: str, code: str) -> None:
    shop.edit("registry/registry.yaml", ("format: 1", "format: 1\npolicy: {require_tests: true}"))
    shop.write("registry/policies/quiet.yaml", text)
    assert code in shop.codes(shop.pawl("policy", "test", code=1))
    assert code in shop.codes(shop.pawl("policy", "adopt", "--reason", "r", code=1))
    assert shop.codes(shop.pawl("policy", "show", code=1)) == ["no-policy"]


def test_atlantis_1550_a_rule_that_looks_at_nothing_is_told(shop: Shop) -> None:
    some = QUIET.replace("level: absolute", "level: absolute, applies: {names: [nobody/*]}")
    shop.write("registry/policies/quiet.yaml", some)
    answer = shop.pawl("policy", "test")
    assert "rule-unmatched" in {problem["code"] for problem in answer["problems"]}


def test_atlantis_1550_every_verdict_lists_the_rules_that_ran(released: Shop) -> None:
    released.second()
    released.pawl("publish")
    verdict = released.promote(*SECOND, to="staging")["verdict"]
    assert {row["rule"] for row in verdict["findings"] if row["check"] == "rule"} == {"OWN-1", "BUD-1"}
    assert [row["code"] for row in verdict["findings"] if row["check"] == "canary"] == ["canaries-refused"]


@pytest.mark.parametrize("action", ["promote", "rollback"])
def test_conftest_181_a_gate_that_refuses_nothing_any_more_moves_nothing(
    released: Shop, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    released.release_second()
    monkeypatch.setattr(canaries, "_asked", lru_cache(canaries._asked.__wrapped__))  # as in a process of its own
    always = replace(kinds.RULE_KINDS["require"], evaluate=lambda _body, _context: ("passed", ""))
    monkeypatch.setattr(rules, "RULE_KINDS", {**kinds.RULE_KINDS, "require": always})
    if action == "promote":
        answer = released.promote("support/refund-draft@1.0.0", FIRST[0], to="staging", code=6)
    else:
        answer = released.rollback("support/refund", "--to", "1.0.0", code=6)
    assert set(released.codes(answer)) == {"canary-passed"}
    assert "BUD-1 no longer refuses its own denied example unbounded" in str(answer["problems"])


def test_gatekeeper_3538_a_rule_that_errs_is_a_refusal_that_names_it(released: Shop) -> None:
    released.edit(
        TEXT,
        ('has(procedure.owner) && procedure.owner != ""', 'has(procedure.owner) && procedure.labels.team != ""'),
        ("procedure: {owner: payments}", "procedure: {owner: payments, labels: {team: a}}"),
    )
    released.adopt("a rule that errs where there are no labels")
    released.second()
    released.pawl("publish")
    ways = (
        released.promote(*SECOND, to="staging", code=3),
        released.pawl("promote", *SECOND, "--to", "staging", "--reason", "r", "--dry-run", code=3),
        released.pawl("audit", code=3),
        released.pawl("check", code=1),
    )
    for answer in ways:
        assert ("rule-errored", "OWN-1") in {(row["code"], row.get("rule")) for row in answer["problems"]}


@pytest.mark.parametrize("action", ["promote", "rollback", "audit", "resolve"])
def test_opa_4338_a_damaged_policy_is_6_and_no_older_one_stands_in(released: Shop, action: str) -> None:
    released.write(TEXT, story("policy-2.yaml"))
    released.adopt("stricter")
    path = next(
        path for path in sorted(released.files("releases/registry"), reverse=True) if "REF-1" in released.read(path)
    )
    released.edit(path, ('"level": "absolute"', '"level": "advisory"'))
    words = {
        "promote": ("promote", FIRST[0], "--to", "production", "--reason", "r"),
        "rollback": ("rollback", "support/refund", "--channel", "production", "--reason", "r"),
        "audit": ("audit",),
        "resolve": ("resolve", "support/refund", "--channel", "production"),
    }
    assert in_process("-C", str(released.root), *words[action]).code == 6


def no_rules_here(shop: Shop) -> None:
    (shop.root / TEXT).unlink()


EDITS: dict[str, Callable[[Shop], object]] = {
    "no file": no_rules_here,
    "a milder level": lambda shop: shop.edit(TEXT, ("level: absolute", "level: advisory")),
    "a date to come": lambda shop: shop.edit(TEXT, ("class: safety", "class: safety\n    effective_on: 2999-01-01")),
    "fewer demands on adoption": lambda shop: shop.edit(
        "registry/registry.yaml", ("format: 1", "format: 1\npolicy: {require_tests: false, require_grace: false}")
    ),
    "other people": lambda shop: shop.edit(
        "registry/registry.yaml", ("format: 1", "format: 1\npeople: {me@example.invalid: [risk]}")
    ),
    "no order": lambda shop: shop.edit("registry/registry.yaml", ("{after: staging}", "{}")),
}


@pytest.mark.parametrize("edit", EDITS)
def test_atlantis_3908_no_edit_switches_a_rule_off(released: Shop, edit: str) -> None:
    released.edit(
        "procedures/support/refund.yaml", ("version: 1.0.0", "version: 1.1.0"), ("max_steps: 6", "max_steps: 99")
    )
    released.pawl("publish")
    EDITS[edit](released)
    answer = released.promote("support/refund@1.1.0", to="production", code=3)
    assert {"channel-order", "rule-failed"} <= set(released.codes(answer))
    assert answer["policy"] == 1
