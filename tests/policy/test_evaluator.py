"""The evaluator in tables: each check on each action, and what it is not told counts as missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.conformance.outcomes import Outcome
from pawl.ids import Channel, Name
from pawl.policy.evaluator import evaluate
from pawl.policy.rules import Rule
from pawl.policy.situation import Situation, SuiteEvidence, affected
from pawl.policy.verdict import Action, Finding, Verdict
from pawl.registry.channels import ChannelState, Pin
from policy.make import rule
from registry.make import ADA, Line, adopted, catalog, pin, published, withdrawn

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
A, B = Name("a"), Name("b")
A1, A2, B1 = pin("a", "1.0.0"), pin("a", "2.0.0"), pin("b")
USES_A = pin("u", "1.0.0", a=">=1,<2")
GOOD = SuiteEvidence(suite="s", cases=2, outcome="passed", reason="run now")
MOVES: tuple[Action, ...] = ("promote", "rollback")
ALL: tuple[Action, ...] = ("promote", "rollback", "remove", "resolve", "audit")


def document(member: Pin, **fields: Any) -> dict[str, Any]:
    whole = {"kind": "tool", "name": member.name, "version": member.version, "owner": "payments", "spec": {}}
    return {**whole, **fields}


def situation(action: Action = "promote", **fields: Any) -> Situation:
    """Return a situation in which everything is well, with ``fields`` in place of its own."""
    state = fields.pop("state", Line().pinned(A1).state)
    moves: Mapping[Name, Pin | None] = fields.pop("moves", None) or {}
    if not moves and action in MOVES:
        moves = {A: A2}
    elif not moves and action == "remove":
        moves = {A: None}
    known = [A1, A2, B1, USES_A, *(item for item in moves.values() if item), *state.pins.values()]
    values: dict[str, Any] = {
        "action": action,
        "state": state,
        "catalog": catalog(published(A1, A2, B1, USES_A), adopted(1)),
        "rules": (rule(),),
        "documents": {item.digest: document(item) for item in known},
        "actor": ADA,
        "now": NOW,
        "moves": moves,
        "subjects": () if action in {"promote", "rollback", "remove"} else tuple(state.pins),
        "evidence": {Name(item.name): (GOOD,) for item in known},
    }
    return Situation(**{**values, **fields})


def failures(verdict: Verdict) -> list[tuple[str, int]]:
    return [(item.code, item.exit_code) for item in verdict.failures]


def of_check(verdict: Verdict, check: str) -> list[Finding]:
    return [item for item in verdict.findings if item.check == check]


@pytest.mark.parametrize("action", ALL)
def test_all_well_is_allowed_on_every_action(action: Action) -> None:
    verdict = evaluate(situation(action))
    assert failures(verdict) == []
    assert verdict.allowed
    assert verdict.policy == 1


@pytest.mark.parametrize("action", ALL)
def test_without_a_policy_only_taking_off_is_allowed(action: Action) -> None:
    verdict = evaluate(situation(action, catalog=catalog(published(A1, A2)), rules=()))
    assert failures(verdict) == ([] if action == "remove" else [("no-policy", 3)])


@pytest.mark.parametrize("action", ALL)
def test_a_channel_that_policy_does_not_know(action: Action) -> None:
    other = catalog(published(A1, A2), adopted(1, {"production": None}))
    verdict = evaluate(situation(action, catalog=other))
    assert failures(verdict) == ([] if action == "remove" else [("channel-not-adopted", 3)])


def upstream(*members: Pin) -> ChannelState:
    line = Line(Channel("dev"))
    for member in members:
        line.pinned(member)
    return line.state


ORDER: list[tuple[Action, ChannelState | None, bool]] = [
    ("promote", upstream(A2), True),
    ("promote", upstream(A2, A1), True),
    ("promote", upstream(A1), False),
    ("promote", upstream(), False),
    ("promote", None, False),
    ("promote", upstream(pin("b", "2.0.0")), False),
    ("rollback", upstream(), True),
]


@pytest.mark.parametrize(("action", "before", "allowed"), ORDER)
def test_the_order_of_channels(action: Action, before: ChannelState | None, allowed: bool) -> None:
    verdict = evaluate(situation(action, upstream=before, upstream_name="dev"))
    assert failures(verdict) == ([] if allowed else [("channel-order", 3)])
    assert evaluate(situation(action, upstream=before)).allowed


@pytest.mark.parametrize("action", MOVES)
def test_requirements_of_what_moves_and_of_its_dependents(action: Action) -> None:
    both = Line().pinned(A1, USES_A).state
    verdict = evaluate(situation(action, state=both, moves={A: A2}))
    assert failures(verdict) == [("requirement-unmet", 3)]
    assert verdict.failures[0].subject == "u@1.0.0"
    alone = evaluate(situation(action, state=Line().state, moves={USES_A.name: USES_A}))
    assert failures(alone) == [("requirement-unmet", 3)]
    assert evaluate(situation(action, state=Line().state, moves={USES_A.name: USES_A, A: A1})).allowed


def test_what_is_required_is_not_taken_off() -> None:
    both = Line().pinned(A1, USES_A).state
    assert failures(evaluate(situation("remove", state=both, moves={A: None}))) == [("requirement-unmet", 3)]
    assert evaluate(situation("remove", state=both, moves={USES_A.name: None})).allowed
    assert evaluate(situation("remove", state=both, moves={A: None, USES_A.name: None})).allowed


WITHDRAWALS: list[tuple[str, str, dict[Action, str]]] = [
    # level, of what: of the version that moves or is asked about; of a member of its closure that stays
    ("deprecated", "a@1.0.0", dict.fromkeys(("promote", "rollback", "resolve", "audit"), "warning")),
    ("yanked", "a@1.0.0", {"promote": "failed", "rollback": "failed", "resolve": "warning", "audit": "warning"}),
    ("revoked", "a@1.0.0", dict.fromkeys(("promote", "rollback", "resolve", "audit"), "failed")),
]


@pytest.mark.parametrize(("level", "ref", "expected"), WITHDRAWALS)
def test_withdrawals(level: str, ref: str, expected: dict[Action, str]) -> None:
    withdrew = catalog(published(A1, A2, USES_A), adopted(1), withdrawn(ref, level))
    for action, status in expected.items():
        state = Line().pinned(A2).state if action in MOVES else Line().pinned(A1).state
        verdict = evaluate(situation(action, state=state, moves={A: A1} if action in MOVES else {}, catalog=withdrew))
        (found,) = of_check(verdict, "withdrawn")
        assert (found.status, found.code, found.exit_code, found.subject) == (status, level, 7, ref), action
        assert verdict.exit_code == (7 if status == "failed" else 0)


@pytest.mark.parametrize(("level", "allowed"), [("deprecated", True), ("yanked", True), ("revoked", False)])
def test_withdrawals_of_a_member_that_stays(level: str, allowed: bool) -> None:
    withdrew = catalog(published(A1, A2, USES_A), adopted(1), withdrawn("a@1.0.0", level))
    moves = {USES_A.name: USES_A}
    for action in MOVES:
        assert evaluate(situation(action, moves=moves, catalog=withdrew)).allowed == allowed
    state = Line().pinned(A1, USES_A).state
    for action in ("resolve", "audit"):
        found = situation(action, state=state, subjects=(USES_A.name,), catalog=withdrew)
        assert evaluate(found).allowed == allowed


def test_what_is_left_may_be_withdrawn() -> None:
    withdrew = catalog(published(A1, A2), adopted(1), withdrawn("a@1.0.0", "revoked"))
    assert evaluate(situation("rollback", catalog=withdrew)).allowed
    assert evaluate(situation("promote", catalog=withdrew)).allowed
    assert evaluate(situation("remove", catalog=withdrew)).allowed


SAME = pin("a", "2.0.1", content="2.0.0")
REJECTIONS: list[tuple[Action, Pin, str | None, bool]] = [
    ("promote", A2, None, False),
    ("rollback", A2, None, False),
    ("promote", SAME, None, False),
    ("promote", pin("a", "2.1.0"), None, True),
    ("promote", A2, "2026-03-01T12:00:01Z", False),
    ("promote", A2, "2026-03-01T12:00:00Z", True),
    ("rollback", A2, "2026-01-01T00:00:00Z", True),
]


@pytest.mark.parametrize(("action", "member", "until", "allowed"), REJECTIONS)
def test_rejections(action: Action, member: Pin, until: str | None, allowed: bool) -> None:
    state = Line().pinned(A1).rejected(A2, until).state
    verdict = evaluate(situation(action, state=state, moves={A: member}))
    assert failures(verdict) == ([] if allowed else [("rejected", 7)])
    if not allowed and member is SAME:
        assert "as a@2.0.0, which has the same content" in verdict.failures[0].message


@pytest.mark.parametrize("action", ["resolve", "audit", "remove"])
def test_a_rejection_of_what_is_live_stops_no_serving(action: Action) -> None:
    assert evaluate(situation(action, state=Line().pinned(A1).rejected(A1).state)).allowed


HALTS: list[tuple[Action, str | None, str | None]] = [
    ("resolve", None, "failed"),
    ("resolve", "1.0.0", "failed"),
    ("resolve", "2.0.0", None),
    ("audit", None, "warning"),
    ("audit", "2.0.0", None),
    ("promote", None, "warning"),
    ("promote", "1.0.0", "warning"),
    ("rollback", None, "warning"),
    ("remove", None, None),
]


@pytest.mark.parametrize(("action", "version", "status"), HALTS)
def test_halts_stop_serving_and_nothing_else(action: Action, version: str | None, status: str | None) -> None:
    verdict = evaluate(situation(action, state=Line().pinned(A1).halted("a", version).state))
    assert [item.status for item in of_check(verdict, "halted")] == ([status] if status else [])
    assert verdict.exit_code == (7 if status == "failed" else 0)


def no(**fields: Any) -> Rule:
    return rule(require="false", **fields)


RULES: list[tuple[Rule, dict[Action, int]]] = [
    (no(), {"promote": 3, "rollback": 3, "audit": 3, "resolve": 0, "remove": 0}),
    (no(rule_class="readiness"), {"promote": 3, "rollback": 0, "audit": 0, "resolve": 0, "remove": 0}),
    (no(enforce_live=True), {"promote": 3, "rollback": 3, "audit": 3, "resolve": 3, "remove": 0}),
    (no(level="waivable"), {"promote": 3, "rollback": 3, "audit": 3}),
    (no(level="advisory"), {"promote": 0, "rollback": 0, "audit": 0, "resolve": 0}),
    (no(applies={"kinds": ["workflow"]}), {"promote": 0, "rollback": 0, "audit": 0}),
    (no(applies={"channels": ["production"]}), {"promote": 0, "rollback": 0, "audit": 0}),
    (no(applies={"actions": ["rollback"]}), {"promote": 0, "rollback": 3, "audit": 0}),
    (no(effective_on="2026-03-02"), {"promote": 0, "rollback": 0, "audit": 0}),
    (no(effective_on="2026-03-01"), {"promote": 3, "rollback": 3, "audit": 3}),
    (rule(require="procedure.spec.gone > 3"), {"promote": 3, "rollback": 3, "audit": 3}),
    (rule(require="procedure.spec.gone > 3", level="advisory"), {"promote": 0, "rollback": 0, "audit": 0}),
    (rule(require="1/0 == 1"), {"promote": 3, "rollback": 3, "audit": 3}),
    (rule(require='current.version == "1.0.0"'), {"promote": 0, "rollback": 0, "audit": 0}),
    (rule(require="closure.size() == 1"), {"promote": 0, "rollback": 0, "audit": 0}),
]


@pytest.mark.parametrize(("asked", "expected"), RULES, ids=range(len(RULES)))
def test_rules(asked: Rule, expected: dict[Action, int]) -> None:
    for action, code in expected.items():
        verdict = evaluate(situation(action, rules=(asked,)))
        assert verdict.exit_code == code, (action, failures(verdict))
        assert all(item.rule == asked.id and item.policy == 1 for item in of_check(verdict, "rule"))


def test_a_document_that_nobody_gave_is_no_yes() -> None:
    verdict = evaluate(situation("promote", documents={}))
    assert failures(verdict) == [("rule-errored", 3)]
    known = {A1.digest: document(A1)}
    member_missing = situation("promote", state=Line().state, moves={USES_A.name: USES_A, A: A1}, documents=known)
    assert {item.subject for item in evaluate(member_missing).failures} == {"u@1.0.0"}


def suite(outcome: Outcome | None, cases: int = 2) -> SuiteEvidence:
    return SuiteEvidence(suite="s", cases=cases, outcome=outcome, reason="of it")


EVIDENCE: list[tuple[Mapping[Name, tuple[SuiteEvidence, ...]] | None, bool]] = [
    ({A: (GOOD,)}, True),
    ({A: (GOOD, replace(GOOD, suite="t"))}, True),
    (None, False),
    ({}, False),
    ({A: ()}, False),
    ({B: (GOOD,)}, False),
    ({A: (suite("failed"),)}, False),
    ({A: (suite("errored"),)}, False),
    ({A: (suite("skipped"),)}, False),
    ({A: (suite("inconclusive"),)}, False),
    ({A: (suite(None),)}, False),
    ({A: (suite("passed", cases=0),)}, False),
    ({A: (GOOD, suite("failed"))}, False),
]


@pytest.mark.parametrize(("evidence", "allowed"), EVIDENCE)
@pytest.mark.parametrize("action", MOVES)
def test_only_passed_is_a_pass(
    action: Action, evidence: Mapping[Name, tuple[SuiteEvidence, ...]] | None, allowed: bool
) -> None:
    verdict = evaluate(situation(action, evidence=evidence))
    assert verdict.allowed == allowed
    assert verdict.exit_code == (0 if allowed else 4)
    for other in ("resolve", "audit", "remove"):
        assert evaluate(situation(other, evidence=evidence)).allowed


def test_dependents_need_evidence_as_well() -> None:
    both = Line().pinned(A1, USES_A).state
    newer = pin("a", "1.5.0")
    base = situation(state=both, moves={A: newer})
    assert affected(base) == (A, USES_A.name)
    assert evaluate(base).allowed
    assert evaluate(replace(base, evidence={A: (GOOD,)})).exit_code == 4


def with_cases(*cases: int) -> tuple[SuiteEvidence, ...]:
    return tuple(replace(GOOD, suite=f"s{number}", cases=count) for number, count in enumerate(cases))


FEWER = [
    ({"s": 2}, (2,), True),
    ({"s": 2}, (3,), True),
    ({"s": 2}, (1,), False),
    ({"s": 2, "t": 2}, (4,), False),
    ({"s": 2, "t": 2}, (1, 3), True),
    ({"s": 2, "t": 2}, (1, 2), False),
    ({}, (1,), True),
]


@pytest.mark.parametrize(("before", "now", "allowed"), FEWER)
def test_tests_do_not_silently_disappear(before: dict[str, int], now: tuple[int, ...], allowed: bool) -> None:
    state = Line().pinned(replace(A1, tests=before)).state
    evidence = {A: with_cases(*now)}
    assert failures(evaluate(situation("promote", state=state, evidence=evidence))) == (
        [] if allowed else [("fewer-tests", 4)]
    )
    assert evaluate(situation("rollback", state=state, evidence=evidence)).allowed


def test_suites_that_do_not_read_stop_the_way_forward_only() -> None:
    unread = ("conformance/x.yaml",)
    assert evaluate(situation("promote", unread_suites=unread)).exit_code == 4
    assert evaluate(situation("rollback", unread_suites=unread)).allowed


def test_all_that_is_wrong_is_said_at_once() -> None:
    withdrew = catalog(published(A1, A2), adopted(1), withdrawn("a@2.0.0", "yanked"))
    state = Line().pinned(replace(A1, tests={"s": 9})).rejected(A2).state
    verdict = evaluate(
        situation(state=state, catalog=withdrew, rules=(no(),), upstream=upstream(), upstream_name="dev",
                  evidence={A: (suite("failed"),)})
    )  # fmt: skip
    codes = [code for code, _ in failures(verdict)]
    assert sorted(codes) == ["channel-order", "evidence-failed", "fewer-tests", "rejected", "rule-failed", "yanked"]
    assert verdict.exit_code == 3


ACTIONS: st.SearchStrategy[Action] = st.sampled_from(ALL)


@given(action=ACTIONS, halted=st.booleans(), rejected=st.booleans(), level=st.sampled_from(["yanked", "revoked", None]))
def test_the_same_situation_has_the_same_verdict(
    action: Action, halted: bool, rejected: bool, level: str | None
) -> None:
    line = Line().pinned(A1)
    line = line.halted("a") if halted else line
    line = line.rejected(A2) if rejected else line
    steps = [published(A1, A2), adopted(1)] + ([withdrawn("a@2.0.0", level)] if level else [])
    first, second = (evaluate(situation(action, state=line.state, catalog=catalog(*steps))) for _ in range(2))
    assert first == second
    assert first.allowed == (not first.failures)
    if action in MOVES and (rejected or level):
        assert not first.allowed
    if action == "remove":
        assert first.allowed
