"""The table of situations: each is answered with its exit code, for its reasons and no others; laws over all."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import chain
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from budgets import examples
from pawl.policy.evaluator import evaluate
from pawl.policy.kinds.known import RULE_KINDS
from pawl.policy.situation import Situation
from pawl.policy.verdict import Answers, Verdict
from policy.grants import OTHER
from policy.situations import PEOPLE, ROWS, VERSIONS, situation_of

IDS = [row["id"] for row in ROWS]


def test_there_are_enough_of_them_and_each_is_named_once() -> None:
    assert len(ROWS) >= 120
    assert len(set(IDS)) == len(IDS)
    permitted = [row for row in ROWS if row["exit"] == 0]
    assert min(len(permitted), len(ROWS) - len(permitted)) >= 60
    assert {row["exit"] for row in ROWS} == {0, 3, 4, 7, 8}
    assert set(chain.from_iterable(rule for row in ROWS for rule in row.get("rules", ()))) >= set(RULE_KINDS)


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_each_is_answered_as_the_table_says(row: dict[str, Any]) -> None:
    verdict = evaluate(situation_of(row))
    assert (verdict.exit_code, sorted({finding.code for finding in verdict.failures})) == (
        row["exit"],
        row.get("codes", []),
    ), [finding.as_dict() for finding in verdict.failures]
    assert verdict.allowed == (row["exit"] == 0)


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_detail_changes_no_verdict_and_tells_every_rule(row: dict[str, Any]) -> None:
    situation = situation_of(row)
    plain, detailed = evaluate(situation), evaluate(replace(situation, detail=True))
    assert (plain.exit_code, plain.failures) == (detailed.exit_code, detailed.failures)
    if situation.action != "remove":
        told = {finding.rule for finding in detailed.findings}
        assert {rule.id for rule in situation.rules} <= told
        assert all(
            finding.looked_at or finding.differs or finding.status == "not-applicable" or finding.code == "rule-errored"
            for finding in detailed.findings
            if finding.rule and finding.rule != "R-1"
        )


def test_asked_before_its_suites_are_run_and_after_it_says_the_same_as_asked_anew() -> None:
    """What a suite came to may be anything: whatever looks at it is asked again."""
    for row in ROWS:
        situation = situation_of(row)
        answers: Answers = {}
        failed = {
            name: tuple(replace(suite, outcome="failed") for suite in suites)
            for name, suites in (situation.evidence or {}).items()
        }
        for evidence in (None, situation.evidence, {}, failed, None):
            asked = replace(situation, evidence=evidence)
            assert evaluate(asked, answers) == evaluate(asked), row["id"]
        evidence_kinds = {name for name, kind in RULE_KINDS.items() if kind.evidence}
        kept = [number for number, rule in enumerate(situation.rules) if f"rule {number}" in answers]
        assert not any(situation.rules[number].kind in evidence_kinds for number in kept)
        assert situation.action == "remove" or len(kept) >= sum(
            rule.kind not in evidence_kinds and rule.rule_class == "safety" and rule.enforce_live
            for rule in situation.rules
        )


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_without_what_people_granted_nothing_more_is_allowed(row: dict[str, Any]) -> None:
    """What is not told is missing, and missing is a no: of approvals, waivers, people, authors, times and evidence."""
    situation = situation_of(row)
    verdict = evaluate(situation)
    bare = replace(situation, people=None, authors=None, channels=None)
    stripped = replace(bare, state=replace(situation.state, approvals={}, waivers={}))
    for poorer in (bare, stripped, replace(situation, evidence=None), replace(situation, documents={})):
        # what lets a freeze pass is that something live must not stay, and that a waiver can keep
        if not verdict.allowed and not _frees(situation):
            assert not evaluate(poorer).allowed


def _frees(situation: Situation) -> bool:
    return bool(situation.state.freezes) and bool(situation.state.waivers)


def rows(**wanted: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.sampled_from([row for row in ROWS if all(row.get(key) == value for key, value in wanted.items())])


WAIVED = st.sampled_from([row for row in ROWS if any("waive" in event for event in row.get("events", ()))])


@given(row=WAIVED, other=st.sampled_from(sorted(VERSIONS)), data=st.data())
def test_a_waiver_never_widens_to_another_digest(row: dict[str, Any], other: Any, data: st.DataObject) -> None:
    """A rule that only a waiver of one digest lets pass refuses every other version and every other digest."""
    situation = situation_of(row)
    verdict = evaluate(situation)
    used = [finding for finding in verdict.findings if finding.status == "waived"]
    for finding in used:
        waiver = next(item for serial, item in situation.state.waivers.items() if serial == finding.waiver)
        name, _, version = (finding.subject or "").partition("@")
        pin = next(pin for ref, pin in VERSIONS.items() if str(ref) == finding.subject)
        assert (waiver.rule, waiver.name) == (finding.rule or "pawl:fewer-tests", name)
        assert waiver.digest in {None, pin.digest}
        assert waiver.versions is not None or waiver.digest == pin.digest, version
        forged = replace(waiver, digest=OTHER if waiver.digest else None, versions=None if waiver.digest else "<0")
        state = replace(situation.state, waivers={waiver.serial: forged})
        again = evaluate(replace(situation, state=state))
        assert not any(item.waiver == waiver.serial for item in again.findings)
    assume(situation.moves and other.name == "a")
    moved = {name: VERSIONS[other] for name in situation.moves if name == "a"}
    for finding in evaluate(replace(situation, moves=moved)).findings:
        if finding.status == "waived":
            waiver = next(item for item in situation.state.waivers.values() if item.serial == finding.waiver)
            assert waiver.versions is not None or waiver.digest == VERSIONS[other].digest


APPROVED = st.sampled_from([row for row in ROWS if any("approvals" in rule for rule in row.get("rules", ()))])
APPROVALS = st.lists(
    st.fixed_dictionaries(
        {"approve": st.sampled_from(["a@2.0.0", "a@2.0.0", "a@3.0.0", "a@1.5.0"])},
        optional={
            "by": st.sampled_from(["ben", "cat", "dan", "bot", "zoe", "ada"]),
            "kind": st.sampled_from(["human", "agent", "service"]),
            "until": st.sampled_from(["2026-03-01T11:30:00Z", "2026-03-05T00:00:00Z"]),
            "policy": st.sampled_from([1, 2]),
            "closure": st.just("other"),
        },
    ),
    max_size=4,
)


@examples(40)
@given(row=APPROVED, more=APPROVALS)
def test_more_approvals_never_turn_a_yes_into_a_no(row: dict[str, Any], more: list[dict[str, Any]]) -> None:
    situation = situation_of(row)
    assume(evaluate(situation).allowed)
    events = [*row.get("events", ()), *({**event, "by": event.get("by", "ben")} for event in more)]
    # somebody's newer approval takes the place of the older one, so only others' count as more
    before = {event.get("by") for event in row.get("events", ())}
    events = [event for event in events if event in row.get("events", ()) or event["by"] not in before]
    assert evaluate(situation_of({**row, "events": events})).allowed


@given(
    row=st.sampled_from(ROWS), kind=st.sampled_from(sorted(RULE_KINDS)), level=st.sampled_from(["waivable", "absolute"])
)
def test_a_rule_that_errors_is_a_refusal(row: dict[str, Any], kind: str, level: Any) -> None:
    situation = situation_of(row)
    assume(situation.action in {"promote", "rollback", "audit"})
    bent = {"require": "procedure.spec.nothing == 1"}.get(kind, {"bent": True})
    (rule,) = situation_of({"id": "x", "rules": [{"id": "R-9", "require": "true", "level": level}]}).rules
    broken = replace(rule, kind=kind, body=bent)
    for rules in ((broken,), (*situation.rules, broken), (broken, *situation.rules)):
        verdict = evaluate(replace(situation, rules=rules))
        assert not verdict.allowed
        assert any(finding.code == "rule-errored" and finding.rule == "R-9" for finding in verdict.failures)


@given(row=rows(action="rollback"), others=st.lists(st.sampled_from(ROWS), min_size=1, max_size=4))
def test_readiness_never_blocks_a_way_back(row: dict[str, Any], others: list[dict[str, Any]]) -> None:
    situation = situation_of(row)
    readiness = [rule for other in others for rule in situation_of(other).rules if rule.rule_class == "readiness"]
    with_them = evaluate(replace(situation, rules=(*situation.rules, *readiness)))
    assert (with_them.exit_code, with_them.findings) == (
        evaluate(situation).exit_code,
        evaluate(situation).findings,
    )


@given(row=st.sampled_from(ROWS), seconds=st.integers(-100_000, 100_000))
def test_a_rule_is_never_applied_before_its_moment_and_always_after(row: dict[str, Any], seconds: int) -> None:
    situation = situation_of({**row, "rules": [{"require": "false"}]})
    assume(situation.action in {"promote", "rollback", "audit"})
    assume(row.get("documents") != "none")  # what nobody could see errs, whenever a rule takes effect
    (rule,) = situation.rules
    dated = replace(rule, effective_on=situation.now + timedelta(seconds=seconds))
    verdict = evaluate(replace(situation, rules=(dated,)))
    without = evaluate(replace(situation, rules=()))
    broken = [finding for finding in verdict.failures if finding.rule]
    assert bool(broken) == (seconds <= 0)
    if seconds > 0:
        assert verdict.exit_code == without.exit_code
    else:
        assert verdict.exit_code == 3


@given(row=st.sampled_from(ROWS), level=st.sampled_from(["absolute", "waivable"]))
def test_an_absolute_rule_is_never_waived(row: dict[str, Any], level: Any) -> None:
    situation = situation_of(row)
    rules = tuple(replace(rule, level="absolute", waiver=None) for rule in situation.rules)
    verdict = evaluate(replace(situation, rules=rules))
    assert not [finding for finding in verdict.findings if finding.code == "rule-waived"]


@given(row=st.sampled_from(ROWS))
def test_taking_a_name_off_waits_for_nobody(row: dict[str, Any]) -> None:
    situation = situation_of({**row, "action": "remove", "move": dict.fromkeys(row.get("live", {"a": ""}))})
    assert evaluate(situation).allowed == bool(situation.moves)


def named(verdict: Verdict, rule: str) -> Any:
    (found,) = [finding for finding in verdict.findings if finding.rule == rule]
    return found


def row(name: str) -> dict[str, Any]:
    return next(item for item in ROWS if item["id"] == name)


def test_a_waived_rule_says_by_whom_until_when_and_why() -> None:
    found = named(evaluate(situation_of(row("waived"))), "R-1")
    assert (found.status, found.code, found.waiver) == ("waived", "rule-waived", 2)
    assert found.message == (
        "a@2.0.0 breaks rule R-1 of policy 1: It holds; waived until 2026-03-20T12:00:00Z "
        "by Ada <ada@example.invalid>, approved by Ben <ben@example.invalid> (waiver 2, payments): because"
    )
    assert found.problem().severity == "warning"
    glass = named(evaluate(situation_of(row("glass-broken"))), "R-1")
    assert "waived until 2026-03-02T11:00:00Z by Ada" in glass.message
    assert "approved by nobody yet, to be reviewed by 2026-03-02T11:00:00Z" in glass.message


OBJECTIONS = [
    ("waiver-of-another-version", "it is for another version"),
    ("waiver-of-another-closure", "it is for another closure"),
    ("waiver-of-another-action", "it is for audit, and this is promote"),
    ("waiver-of-another-range", "it is for versions <2"),
    ("waiver-is-over", "it ended at 2026-03-01T12:00:00Z"),
    ("waiver-from-the-future", "which has not come yet"),
    ("waiver-that-nobody-approved", "nobody else has approved it"),
    ("waiver-approved-without-the-role", "that takes the role risk"),
    ("waiver-approved-unverified", "verified by a signature"),
    ("waiver-beyond-the-cap", "longer than the 7 days that the policy allows"),
    ("absolute-is-never-waived", "the rule has no waivers"),
    ("glass-broken-where-it-must-not", "does not allow to break the glass"),
    ("glass-broken-and-never-reviewed", "its review was due at 2026-03-02T11:00:00Z"),
    ("glass-broken-for-too-long", "later than after the 1 day"),
    ("glass-broken-by-an-agent", "cannot break the glass"),
]


@pytest.mark.parametrize(("name", "why"), OBJECTIONS)
def test_a_waiver_that_does_not_count_is_named_with_the_reason(name: str, why: str) -> None:
    found = named(evaluate(situation_of(row(name))), "R-1")
    assert f"waiver 2 does not count: {why}" in found.hint or (
        "waiver 2 does not count" in found.hint and why in found.hint
    )


SAYS = [
    ("unapproved", "differs", "approved by nobody: 0 of 1 by risk"),
    ("approved-under-another-policy", "differs", "approved under policy 7, and this is policy 1"),
    ("approved-another-closure", "differs", "approved a@2.0.0 with another closure"),
    ("approved-another-version", "differs", "approved a@3.0.0"),
    ("approved-by-the-author", "differs", "nobody approves their own version"),
    ("approved", "looked_at", "approved by Ben <ben@example.invalid> until 2026-04-01T12:00:00Z"),
    ("soaked", "looked_at", "live on staging for 1 day, and 1 day are needed"),
    ("soaked-a-second-less", "differs", "it may move from 2026-03-01T12:00:01Z on"),
    ("soaked-and-rejected-there", "differs", "on staging it is rejected: because (reject by Ada"),
    ("stale", "differs", "30 days old"),
    ("step-too-large", "differs", "from 1.0.0 to 2.0.0 is a major step, and minor is the largest that is allowed"),
    ("deprecated-refused", "differs", "a@2.0.0 is deprecated: because"),
    ("weekend", "differs", "from 2026-02-28T23:00:00Z to 2026-03-01T23:00:00Z: Weekend."),
    ("frozen-by-rule-leaving-revoked", "looked_at", "what is live must not stay: a@1.0.0 is revoked"),
]


@pytest.mark.parametrize(("name", "field", "says"), SAYS)
def test_every_rule_says_what_it_looked_at(name: str, field: str, says: str) -> None:
    found = named(evaluate(replace(situation_of(row(name)), detail=True)), "R-1")
    assert says in getattr(found, field)


def test_a_rule_about_results_is_evidence_only_until_the_suites_were_asked() -> None:
    asked, unasked = (named(evaluate(situation_of(row(name))), "R-1") for name in ("stale", "age-before-suites"))
    assert (asked.check, asked.status, asked.exit_code) == ("rule", "failed", 4)
    assert (unasked.check, unasked.status, unasked.exit_code) == ("evidence", "missing", 4)


def test_no_rule_is_asked_when_something_is_taken_off() -> None:
    situation = situation_of({**row("required-and-removed"), "rules": [{"require": "false"}]})
    assert [finding for finding in evaluate(replace(situation, detail=True)).findings if finding.rule] == []


def test_a_need_of_approval_says_the_next_command() -> None:
    found = named(evaluate(situation_of(row("unapproved"))), "R-1")
    assert found.hint == 'somebody else says yes with: pawl approve a@2.0.0 --channel production --reason "..."'
    assert (found.status, found.message) == ("missing", "a@2.0.0 does not meet rule R-1 of policy 1: It holds.")


def test_in_detail_what_is_not_asked_says_why() -> None:
    back = evaluate(replace(situation_of(row("readiness-back")), detail=True))
    assert named(back, "R-1").message == (
        "rule R-1 is not asked of a@2.0.0: a readiness rule is asked when something is promoted, and this is rollback"
    )
    served = evaluate(replace(situation_of(row("rule-fails-resolve")), detail=True))
    assert "it has no enforce_live" in named(served, "R-1").message


def test_in_detail_an_expression_that_holds_says_what_it_looked_at() -> None:
    asked = {"id": "x", "rules": [{"require": 'procedure.version != "1.0.0"'}]}
    found = named(evaluate(replace(situation_of(asked), detail=True)), "R-1")
    assert found.looked_at == 'procedure.version is "2.0.0"'
    assert named(evaluate(situation_of(asked)), "R-1").looked_at is None


def test_what_a_recorded_freeze_says() -> None:
    frozen = evaluate(situation_of(row("frozen-a-second-longer"))).failures[0]
    assert frozen.message == (
        "production is frozen until 2026-03-01T12:00:01Z by Ada <ada@example.invalid> "
        "since 2026-03-01T11:00:00Z: because"
    )
    assert frozen.hint == 'when it may move again: pawl unfreeze production --reason "..."'
    (spared,) = [item for item in evaluate(situation_of(row("frozen-and-spared-by-role"))).findings
                 if item.check == "frozen"]  # fmt: skip
    assert (spared.status, spared.code) == ("passed", "freeze-spares")
    assert spared.message.endswith("it spares the role release, which Ada <ada@example.invalid> has")


def test_a_plan_asks_about_the_number_to_come() -> None:
    """An approval under the policy in force does not count for the next one."""
    situation = situation_of(row("approved"))
    found = named(evaluate(replace(situation, rules_of=2)), "R-1")
    assert (found.policy, found.status) == (2, "missing")
    assert "approved under policy 1, and this is policy 2" in found.differs


def test_the_roles_of_a_context_are_those_of_the_adopted_people() -> None:
    situation = situation_of(row("all-well"))
    assert situation.acting["roles"] == list(PEOPLE["ada@example.invalid"])
    assert (situation.acting["kind"], situation.acting["email"]) == ("human", "ada@example.invalid")
