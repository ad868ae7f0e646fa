"""What the table of situations cannot say, and a fault in the evaluator could turn from a no into a yes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from changes.make import end, workflow
from pawl.changes import fitting
from pawl.ids import Channel, Name
from pawl.policy import canaries
from pawl.policy.canaries import BUILT_IN, WELL, canary_findings
from pawl.policy.checks.fit import MAX_TOLD, fit_findings
from pawl.policy.evaluator import evaluate
from pawl.policy.freshness import longest_age
from pawl.policy.kinds.known import RULE_KINDS
from pawl.policy.rules import WaiverTerms
from pawl.policy.situation import Situation
from pawl.policy.sources import read_policy
from pawl.policy.verdict import Finding, Status, Verdict
from pawl.policy.waiving import review_missed
from pawl.problems import Fault, Severity
from pawl.registry.channels import empty_channel
from policy.make import NOW, context, policy_document_of, procedure, rule
from policy.situations import ROWS, situation_of
from policy.test_fit import ALL, OLD, T1, T2, findings, line, takes
from policy.test_kinds import DEMANDS
from registry.make import pin

TEXT = {"type": "string"}


def finding(code: str, status: Status, exit_code: int = 3) -> Finding:
    return Finding(check="rule", status=status, code=code, message="It is so.", exit_code=exit_code)


@pytest.mark.parametrize("kind", sorted(set(DEMANDS) - {"require"}))
def test_a_body_with_more_than_its_kind_knows_is_no_yes(kind: str) -> None:
    said = RULE_KINDS[kind].evaluate({**DEMANDS[kind], "unless": "friday"}, context())
    assert said[0] == "errored"


# Fit, as the evaluator asks it


def test_the_evaluator_asks_whether_it_fits() -> None:
    documents = {member.digest: document for member, document in ALL}
    situation = replace(WELL, state=OLD, moves={T2[0].name: T2[0]}, documents=documents)
    assert "call-incomplete" in {item.code for item in evaluate(situation).failures}


def test_one_call_that_stays_as_it_is_hides_no_other() -> None:
    steps = [{"id": name, "tool": name, "with": {"a": "${{ inputs.a }}"}, "then": then} for name, then in
             (("s", "t"), ("t", "done"))]  # fmt: skip
    caller = pin("w", "1.0.0", s=">=1", t=">=1")
    document = {**workflow(*steps, end("done"), inputs=takes(a=TEXT)), "name": "w", "version": "1.0.0"}
    other = pin("s", "1.0.0")
    documents = {
        caller.digest: document,
        other.digest: {**T1[1], "name": "s"},
        **{member.digest: known for member, known in ALL if member.name == "t"},
    }
    state = line((caller, other, T1[0]))
    pins = {**state.pins, Name("t"): T2[0]}
    found = fit_findings([Name("w")], pins, action="promote", state=state, documents=documents)
    assert [item.status for item in found] == ["failed"]


def test_what_refuses_is_told_before_what_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    def misfit(code: str, severity: Severity) -> fitting.Misfit:
        fault = Fault(code=code, message="It does not fit.", severity=severity)
        return fitting.Misfit(fault=fault, callees=frozenset({"t"}))

    many = [*(misfit("call-doubtful", "warning") for _ in range(MAX_TOLD + 5)), misfit("call-incomplete", "error")]
    monkeypatch.setattr(fitting, "find_misfits", lambda *_: iter(many))
    found = findings("promote", OLD, T2)
    assert (len(found), found[0].status, found[1].status) == (MAX_TOLD, "failed", "warning")


# Canaries


def ask_that_says(status: Status, code: str | None = None) -> Any:
    """Return an evaluator that says of every canary the same: under its own code, or under another."""
    codes = {id(canary.situation): canary.code for canary in BUILT_IN}

    def ask(situation: Situation) -> tuple[Finding, ...]:
        return (finding(code or codes[id(situation)], status),)

    return ask


@pytest.mark.parametrize(
    ("ask", "refused"),
    [
        (ask_that_says("failed"), True),
        (ask_that_says("errored"), True),
        (ask_that_says("passed"), False),
        (ask_that_says("waived"), False),
        (ask_that_says("failed", "something-else"), False),
        (lambda _: (), False),
    ],
)
def test_a_canary_is_refused_for_its_own_reason_or_it_passed(ask: Any, refused: bool) -> None:
    found = canary_findings(replace(WELL, rules=(rule(),)), ask)
    assert all(item.holds for item in found) == refused
    assert len(found) == (1 if refused else len(BUILT_IN))


@pytest.mark.parametrize("error", [RecursionError, ZeroDivisionError])
def test_an_example_that_ends_in_an_error_is_an_alarm(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def fail(_: Any) -> Iterator[Any]:
        raise error

    monkeypatch.setattr(canaries, "denied_answers", fail)
    found = canary_findings(replace(WELL, rules=(rule(),)), ask_that_says("failed"))
    assert [(item.code, item.status, item.exit_code) for item in found] == [("canary-passed", "failed", 6)]


# Situations and verdicts


def test_other_channels_are_those_that_were_told() -> None:
    before, third = empty_channel(Channel("before")), empty_channel(Channel("third"))
    situation = replace(WELL, upstream=before, upstream_name="before", channels={Channel("third"): third})
    assert situation.other("canary") is situation.state
    assert situation.other("before") is before
    assert situation.other("third") is third
    assert situation.other("fourth") is None
    assert replace(situation, channels=None).other("third") is None
    assert replace(situation, upstream=None).other("before") is None
    told = replace(situation, upstream_name=None, channels={Channel("before"): third})
    assert told.other("before") is third


def test_a_verdict_tells_what_holds_and_is_worth_saying() -> None:
    statuses: tuple[Status, ...] = ("passed", "warning", "waived", "not-applicable", "failed", "missing", "errored")
    items = tuple(finding(status, status) for status in statuses)
    verdict = Verdict(action="promote", channel="c", policy=1, findings=items)
    assert [item.code for item in verdict.warnings] == ["warning", "waived"]
    assert [item.code for item in verdict.failures] == ["failed", "missing", "errored"]
    assert items[0].as_dict() == {"check": "rule", "status": "passed", "code": "passed", "message": "It is so."}
    assert items[4].as_dict()["exit_code"] == 3
    assert items[0].problem().message == "It is so."


def test_a_no_of_an_unknown_kind_comes_first() -> None:
    findings_ = (finding("one", "failed", 6), finding("two", "failed", 99))
    verdict = Verdict(action="promote", channel="c", policy=1, findings=findings_)
    assert ([item.code for item in verdict.failures], verdict.exit_code) == (["two", "one"], 99)


def test_only_evidence_waits_for_suites() -> None:
    """What a suite cannot mend is no evidence that is missing, also before any suite was asked."""
    row = next(row for row in ROWS if row["id"] == "no-suite-asked")
    situation = situation_of({**row, "rules": [{"require": "false"}]})
    assert {item.code: item.check for item in evaluate(situation).failures} == {
        "rule-failed": "rule",
        "evidence-missing": "evidence",
    }


def test_a_review_counts_only_by_whom_the_rule_wants() -> None:
    row = next(row for row in ROWS if row["id"] == "glass-broken-and-reviewed")
    situation = situation_of(row)
    (waiver,) = situation.state.waivers.values()
    for roles, missed in (((), False), (("risk",), False), (("release", "audit"), True)):
        terms = WaiverTerms(break_glass="P1D", roles=roles)
        assert review_missed(waiver, terms, people=situation.people, now=situation.now) == missed


def test_only_rules_of_evidence_say_how_old_it_may_be() -> None:
    """An approval's greatest age is none of a result, though both are said alike."""
    document = {"id": "R-1", "class": "readiness", "level": "absolute", "message": "It holds."}
    rules = read_policy(policy_document_of({**document, "approvals": {"max_age": "P7D"}})).rules
    assert longest_age(rules, procedure=procedure(), channel="production", action="promote", now=NOW) is None
