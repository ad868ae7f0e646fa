"""The kinds of rules beside expressions and freezes: what each says, and which bodies are refused where."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.errors import Faulty
from pawl.policy.context import RuleOutcome
from pawl.policy.facts import NOTHING, ApprovalFact, Facts, ResultFact, Stay, WithdrawnFact
from pawl.policy.kinds.bump import step
from pawl.policy.kinds.known import RULE_KINDS
from pawl.policy.rules import evaluate_rule
from pawl.policy.sources import policy_document, read_policy, rules_from
from pawl.problems import Place
from pawl.registry.channels_grants import ActorKind, Identity
from policy.make import context, policy_document_of, procedure, rule_document, without

AT = "2026-03-01T12:00:00Z"
"""The moment of every context here."""
DEMANDS: dict[str, Any] = {
    "evidence": {"max_age": "P30D"},
    "approvals": {"count": 2, "roles": ["risk", "release"]},
    "soak": {"channel": "staging", "at_least": "PT24H"},
    "freeze": {"start": "2026-12-20", "duration": "P14D", "time_zone": "UTC", "reason": "Year end."},
    "bump": {"largest": "minor"},
    "withdrawn": {"refuse": ["deprecated", "yanked"]},
}


def demanding(kind: str, body: Any, **fields: Any) -> dict[str, Any]:
    base = without(rule_document(rule_class="safety" if kind == "withdrawn" else "readiness"), "require")
    return policy_document_of({**base, kind: body, **fields})


@pytest.mark.parametrize("kind", DEMANDS)
def test_every_kind_is_read_and_frozen(kind: str) -> None:
    source = read_policy(demanding(kind, DEMANDS[kind]))
    assert (source.rules[0].kind, source.rules[0].body) == (kind, DEMANDS[kind])
    assert rules_from(policy_document([source])) == source.rules
    assert hash(source.rules[0]) == hash(rules_from(policy_document([source]))[0])


def ask(kind: str, facts: Facts = NOTHING, body: Any = None, **fields: Any) -> tuple[RuleOutcome, str]:
    return RULE_KINDS[kind].evaluate(DEMANDS[kind] if body is None else body, context(facts=facts, **fields))


@pytest.mark.parametrize("kind", ["evidence", "approvals", "soak", "bump", "withdrawn"])
def test_what_is_not_told_is_missing(kind: str) -> None:
    assert ask(kind)[0] == "missing"


@pytest.mark.parametrize("kind", DEMANDS)
@pytest.mark.parametrize("body", [None, [], "x", {}, {"more": 1}, {"x": 1}])
def test_a_body_that_was_bent_is_errored(kind: str, body: Any) -> None:
    if kind == "approvals" and body == {}:
        return
    assert RULE_KINDS[kind].evaluate(body, context())[0] == "errored"


RESULTS: list[tuple[list[tuple[str, str | None]], RuleOutcome, str]] = [
    ([("s", AT)], "passed", "no older than 30 days: s of 2026-03-01T12:00:00Z"),
    ([("s", "2026-01-30T12:00:01Z")], "passed", ""),
    ([("s", "2026-01-30T12:00:00Z")], "failed", "30 days old"),
    ([("s", AT), ("t", "2026-01-01T00:00:00Z")], "failed", "the result of suite t is 59 days 12 hours old"),
    ([("s", None)], "failed", "nobody knows when suite s was run"),
    ([("s", "2026-03-01T12:00:01Z")], "failed", "which has not come yet"),
    ([], "missing", "no suite has a result"),
]


@pytest.mark.parametrize(("results", "outcome", "says"), RESULTS)
def test_the_age_of_evidence(results: list[tuple[str, str | None]], outcome: RuleOutcome, says: str) -> None:
    found, why = ask("evidence", Facts(results=tuple(ResultFact(suite=suite, at=at) for suite, at in results)))
    assert (found, says in why) == (outcome, True), why


SOAKS: list[tuple[list[tuple[str, str | None]], RuleOutcome, str]] = [
    ([("2026-02-28T12:00:00Z", None)], "passed", "for 1 day, and 1 day are needed"),
    ([("2026-02-28T12:00:01Z", None)], "failed", "it may move from 2026-03-01T12:00:01Z on"),
    ([("2026-02-01T00:00:00Z", "2026-02-01T12:00:00Z"), ("2026-03-01T00:00:00Z", None)], "passed", ""),
    ([("2026-02-01T00:00:00Z", "2026-02-01T23:59:59Z")], "failed", "for 23 hours 59 minutes of the 1 day"),
    ([("2026-02-01T00:00:00Z", "2026-02-03T00:00:00Z")], "passed", ""),
    ([("2027-01-01T00:00:00Z", None)], "failed", "for 0 seconds"),
    ([("2026-03-01T11:00:00Z", "2027-01-01T00:00:00Z")], "failed", "for 1 hour"),
    ([], "failed", "for 0 seconds"),
]


@pytest.mark.parametrize(("times", "outcome", "says"), SOAKS)
def test_the_time_on_another_channel(times: list[tuple[str, str | None]], outcome: RuleOutcome, says: str) -> None:
    found, why = ask("soak", Facts(stays={"staging": Stay(times=tuple(times))}))
    assert (found, says in why) == (outcome, True), why


def test_soaking_is_on_the_channel_that_the_rule_names_and_of_what_moves() -> None:
    long = Stay(times=(("2020-01-01T00:00:00Z", None),))
    assert ask("soak", Facts(stays={"canary": long}))[0] == "missing"
    assert ask("soak", Facts(stays={"staging": long}, moves=False))[0] == "not-applicable"
    assert ask("soak", Facts(stays={"staging": Stay(times=long.times, rejected="it was rolled back")})) == (
        "failed",
        "on staging it is rejected: it was rolled back",
    )


STEPS = [
    ("1.0.0", "1.0.0", "none"),
    ("1.0.0", "1.0.1", "patch"),
    ("1.0.0", "1.4.9", "minor"),
    ("1.9.0", "2.0.0", "major"),
    ("2.0.0", "1.9.0", "major"),
    ("1.4.0", "1.3.7", "minor"),
    ("0.9.0", "0.10.0", "minor"),
    ("1.0.0", "2.0.0a1", "major"),
    ("1.0.0rc1", "1.0.0", "patch"),
]


@pytest.mark.parametrize(("old", "new", "size"), STEPS)
@pytest.mark.parametrize("largest", ["patch", "minor"])
def test_the_largest_step(old: str, new: str, size: str, largest: str) -> None:
    assert step(old, new) == size
    about = context(procedure(version=new), facts=Facts(pinned=(old,)))
    sizes = ["none", "patch", "minor", "major"]
    expected = "passed" if sizes.index(size) <= sizes.index(largest) else "failed"
    found, why = RULE_KINDS["bump"].evaluate({"largest": largest}, about)
    assert found == expected, why


def test_a_first_pin_is_no_step_and_what_stays_takes_none() -> None:
    assert ask("bump", Facts(pinned=()))[0] == "passed"
    assert ask("bump", Facts(pinned=("0.1.0",), moves=False))[0] == "not-applicable"
    assert ask("bump", Facts(pinned=("x",)))[0] == "errored"


WITHDRAWN: list[tuple[list[str], list[str], RuleOutcome]] = [
    (["deprecated"], [], "passed"),
    (["deprecated"], ["deprecated"], "failed"),
    (["deprecated"], ["yanked"], "passed"),
    (["yanked"], ["yanked"], "failed"),
    (["deprecated", "yanked"], ["revoked", "yanked"], "failed"),
]


@pytest.mark.parametrize(("refuse", "levels", "outcome"), WITHDRAWN)
def test_what_is_withdrawn(refuse: list[str], levels: list[str], outcome: RuleOutcome) -> None:
    facts = Facts(withdrawn=tuple(WithdrawnFact(ref="a@1.0.0", level=level, reason="old") for level in levels))
    assert ask("withdrawn", facts, {"refuse": refuse})[0] == outcome


def person(name: str, kind: ActorKind = "human", *, verified: bool = False) -> Identity:
    return Identity(name=name, email=f"{name.lower()}@example.invalid", kind=kind, verified=verified)


def yes(name: str = "Ben", *roles: str, **fields: Any) -> ApprovalFact:
    values: dict[str, Any] = {
        "by": person(name, fields.pop("kind", "human"), verified=fields.pop("verified", False)),
        "roles": roles or ("risk",),
        "policy": 3,
        "at": "2026-03-01T10:00:00Z",
        "until": "2026-03-08T10:00:00Z",
    }
    return ApprovalFact(**{**values, **fields})


ONE: dict[str, Any] = {"count": 1, "roles": ["risk"]}
APPROVALS: list[tuple[dict[str, Any], list[ApprovalFact], RuleOutcome, str]] = [
    (ONE, [yes()], "passed", "approved by Ben <ben@example.invalid> until 2026-03-08T10:00:00Z"),
    ({}, [yes()], "passed", ""),
    (ONE, [], "missing", "approved by nobody: 0 of 1 by risk"),
    (ONE, [yes("Ben", "release")], "missing", "has not the role risk"),
    (ONE, [yes("Ben", "release", "risk")], "passed", ""),
    (ONE, [yes(roles=None)], "missing", "is not among the adopted people"),
    ({}, [yes(roles=None)], "missing", "is not among the adopted people"),
    ({}, [yes(roles=())], "passed", ""),
    (ONE, [yes("Author")], "missing", "nobody approves their own version"),
    (ONE, [yes("Ada")], "missing", "nobody approves their own request"),
    (ONE, [yes(kind="agent")], "missing", "is an AI agent"),
    (ONE, [yes("Ben", "risk", "agent")], "missing", "is an AI agent"),
    (ONE, [yes(kind="unknown")], "missing", "of kind unknown"),
    (ONE, [yes(kind="service")], "missing", "of kind service"),
    ({**ONE, "kinds": ["service"]}, [yes(kind="service")], "passed", ""),
    ({**ONE, "kinds": ["service"]}, [yes()], "missing", "of kind human"),
    ({**ONE, "kinds": ["human", "service"]}, [yes(kind="agent")], "missing", "is an AI agent"),
    ({**ONE, "verified": True}, [yes()], "missing", "not verified by a signature"),
    ({**ONE, "verified": True}, [yes(verified=True)], "passed", ""),
    (ONE, [yes(until="2026-03-01T12:00:00Z")], "missing", "which is over"),
    (ONE, [yes(until="2026-03-01T12:00:01Z")], "passed", ""),
    (ONE, [yes(at="2026-03-01T12:00:01Z")], "missing", "which has not come yet"),
    (ONE, [yes(at="2026-03-01T12:00:00Z")], "passed", ""),
    (ONE, [yes(policy=2)], "missing", "approved under policy 2, and this is policy 3"),
    ({**ONE, "any_policy": True}, [yes(policy=2)], "passed", ""),
    (ONE, [yes(other="another version")], "missing", "approved another version"),
    ({**ONE, "any_policy": True}, [yes(other="another closure")], "missing", "approved another closure"),
    ({**ONE, "max_age": "PT2H"}, [yes()], "missing", "an approval counts for 2 hours"),
    ({**ONE, "max_age": "PT2H1S"}, [yes()], "passed", ""),
    ({"count": 2}, [yes(), yes()], "missing", "1 of 2"),
    ({"roles": ["risk", "release"]}, [], "missing", "0 of 1 by risk or release"),
    ({"verified": True}, [], "missing", "0 of 1, verified"),
    ({}, [], "missing", "0 of 1"),
    (
        {},
        [yes(f"P{number}", "x", policy=2) for number in range(6)],
        "missing",
        "P5 <p5@example.invalid> approved under",
    ),
    ({}, [yes(f"P{number}", "x", policy=2) for number in range(7)], "missing", "; and 1 more"),
    ({"count": 2}, [yes(), yes("Cat")], "passed", "Ben <ben@example.invalid> until"),
    ({"count": 2}, [yes(), yes(until=AT), yes("Cat", kind="agent")], "missing", "1 of 2"),
]


@pytest.mark.parametrize(("body", "approvals", "outcome", "says"), APPROVALS)
def test_approvals(body: dict[str, Any], approvals: list[ApprovalFact], outcome: RuleOutcome, says: str) -> None:
    facts = Facts(policy=3, approvals=tuple(approvals), authors=(person("Author"),), requester=person("Ada"))
    found, why = ask("approvals", facts, body)
    assert (found, says in why) == (outcome, True), why


def test_nothing_more_is_said_than_there_is() -> None:
    facts = Facts(policy=3, approvals=(), authors=(person("Author"),), requester=person("Ada"))
    assert ask("approvals", facts, {})[1] == "approved by nobody: 0 of 1"
    six = replace(facts, approvals=tuple(yes(f"P{number}", "x", policy=2) for number in range(6)))
    assert "more" not in ask("approvals", six, {})[1]
    assert ask("approvals", replace(facts, approvals=None), {})[1] == "nobody knows what was approved"


def test_of_several_who_made_it_none_counts() -> None:
    both = (person("Author"), person("Ben"))
    facts = Facts(policy=3, approvals=(yes(),), authors=both, requester=person("Ada"))
    assert ask("approvals", facts, {})[0] == "missing"
    assert ask("approvals", replace(facts, approvals=(yes(), yes("Cat"))), {})[0] == "passed"


def test_without_knowing_who_made_or_asks_nobody_can_have_approved() -> None:
    for facts in (Facts(policy=3, approvals=(yes(),), authors=(person("Author"),)),
                  Facts(policy=3, approvals=(yes(),), requester=person("Ada"))):  # fmt: skip
        assert ask("approvals", facts, ONE) == ("missing", "nobody knows who made it, or who asks")


APPROVAL = st.builds(
    yes,
    st.sampled_from(["Ben", "Cat", "Dan", "Ada", "Author"]),
    kind=st.sampled_from(["human", "human", "agent", "unknown"]),
    until=st.sampled_from(["2026-03-08T10:00:00Z", AT]),
    policy=st.sampled_from([2, 3]),
    other=st.sampled_from(["", "", "another version"]),
)


@given(first=st.lists(APPROVAL, max_size=4), more=st.lists(APPROVAL, max_size=3), count=st.integers(1, 3))
def test_more_approvals_never_turn_a_yes_into_a_no(
    first: list[ApprovalFact], more: list[ApprovalFact], count: int
) -> None:
    def found(approvals: list[ApprovalFact]) -> RuleOutcome:
        facts = Facts(policy=3, approvals=tuple(approvals), authors=(person("Author"),), requester=person("Ada"))
        return ask("approvals", facts, {"count": count})[0]

    if found(first) == "passed":
        assert found([*first, *more]) == found([*more, *first]) == "passed"


REFUSED: list[tuple[str, Any, str, Place]] = [
    ("evidence", {}, "policy-field-missing", ()),
    ("evidence", "P30D", "policy-field-invalid", ()),
    ("evidence", {"max_age": 30}, "policy-field-invalid", ("max_age",)),
    ("evidence", {"max_age": "P1M"}, "policy-field-invalid", ("max_age",)),
    ("evidence", {"max_age": "P30D", "suites": 1}, "policy-field-unknown", ("suites",)),
    ("approvals", [], "policy-field-invalid", ()),
    ("approvals", {"count": 0}, "policy-field-invalid", ("count",)),
    ("approvals", {"count": 21}, "policy-field-invalid", ("count",)),
    ("approvals", {"count": True}, "policy-field-invalid", ("count",)),
    ("approvals", {"count": "1"}, "policy-field-invalid", ("count",)),
    ("approvals", {"roles": []}, "policy-field-invalid", ("roles",)),
    ("approvals", {"roles": "risk"}, "policy-field-invalid", ("roles",)),
    ("approvals", {"roles": ["risk", 1]}, "policy-field-invalid", ("roles", 1)),
    ("approvals", {"roles": ["risk", "risk"]}, "policy-field-invalid", ("roles", 1)),
    ("approvals", {"kinds": ["agent"]}, "policy-field-invalid", ("kinds", 0)),
    ("approvals", {"verified": "yes"}, "policy-field-invalid", ("verified",)),
    ("approvals", {"max_age": "1d"}, "policy-field-invalid", ("max_age",)),
    ("approvals", {"by": "ada"}, "policy-field-unknown", ("by",)),
    ("soak", {"channel": "staging"}, "policy-field-missing", ()),
    ("soak", {"channel": "Staging", "at_least": "PT1H"}, "policy-field-invalid", ("channel",)),
    ("soak", {"channel": "registry", "at_least": "PT1H"}, "policy-field-invalid", ("channel",)),
    ("soak", {"channel": "staging", "at_least": "PT0H"}, "policy-field-invalid", ("at_least",)),
    ("bump", {"largest": "major"}, "policy-field-invalid", ("largest",)),
    ("bump", {"largest": None}, "policy-field-invalid", ("largest",)),
    ("bump", {}, "policy-field-missing", ()),
    ("withdrawn", {"refuse": []}, "policy-field-invalid", ("refuse",)),
    ("withdrawn", {"refuse": ["revoked"]}, "policy-field-invalid", ("refuse", 0)),
    ("withdrawn", {}, "policy-field-missing", ()),
]


@pytest.mark.parametrize(("kind", "body", "code", "at"), REFUSED)
def test_what_is_refused_and_where(kind: str, body: Any, code: str, at: Place) -> None:
    with pytest.raises(Faulty) as caught:
        read_policy(demanding(kind, body))
    assert [(code, ("rules", 0, kind, *at))] == [(fault.code, fault.at) for fault in caught.value.faults]


@pytest.mark.parametrize("kind", ["evidence", "approvals", "soak", "bump"])
def test_what_is_readiness_by_nature_is_no_safety_rule(kind: str) -> None:
    with pytest.raises(Faulty) as caught:
        read_policy(demanding(kind, DEMANDS[kind], **{"class": "safety"}))
    assert [("rule-class", ("rules", 0, "class"))] == [(fault.code, fault.at) for fault in caught.value.faults]


def test_a_freeze_of_rollbacks_is_a_safety_rule() -> None:
    both = {**DEMANDS["freeze"], "actions": ["promote", "rollback"]}
    assert read_policy(demanding("freeze", both, **{"class": "safety"})).rules[0].rule_class == "safety"
    with pytest.raises(Faulty) as caught:
        read_policy(demanding("freeze", both))
    assert [(fault.code, fault.at) for fault in caught.value.faults] == [
        ("rule-never-applies", ("rules", 0, "freeze", "actions"))
    ]
    with pytest.raises(Faulty) as caught:
        read_policy(demanding("freeze", DEMANDS["freeze"], applies={"actions": ["rollback"]}, **{"class": "safety"}))
    assert [fault.code for fault in caught.value.faults] == ["rule-never-applies"]
    with pytest.raises(Faulty) as caught:
        read_policy(demanding("freeze", DEMANDS["freeze"], enforce_live=True, **{"class": "safety"}))
    assert [fault.code for fault in caught.value.faults] == ["rule-enforce-live"]


WAIVERS: list[tuple[dict[str, Any], str, Place]] = [
    ({"waiver": {"at_most": "P14D"}, "level": "absolute"}, "rule-waiver", ("waiver",)),
    ({"waiver": {"at_most": "P14D"}, "level": "advisory"}, "rule-waiver", ("waiver",)),
    ({"waiver": {"at_most": "P367D"}}, "policy-field-invalid", ("waiver", "at_most")),
    ({"waiver": {"at_most": ""}}, "policy-field-invalid", ("waiver", "at_most")),
    ({"waiver": {"break_glass": "1D"}}, "policy-field-invalid", ("waiver", "break_glass")),
    ({"waiver": {"roles": []}}, "policy-field-invalid", ("waiver", "roles")),
    ({"waiver": {"roles": [" "]}}, "policy-field-invalid", ("waiver", "roles", 0)),
    ({"waiver": {"for": "P1D"}}, "policy-field-unknown", ("waiver", "for")),
    ({"waiver": None}, "policy-field-invalid", ("waiver",)),
]


@pytest.mark.parametrize(("fields", "code", "at"), WAIVERS)
def test_what_a_rule_says_of_its_waivers(fields: dict[str, Any], code: str, at: Place) -> None:
    with pytest.raises(Faulty) as caught:
        read_policy(policy_document_of(rule_document(**{"level": "waivable", **fields})))
    assert [(code, ("rules", 0, *at))] == [(fault.code, fault.at) for fault in caught.value.faults]


def test_the_terms_of_waivers_are_frozen_with_the_rule() -> None:
    terms = {"at_most": "P14D", "roles": ["risk"], "verified": True, "break_glass": "P1D"}
    source = read_policy(policy_document_of(rule_document(level="waivable", waiver=terms)))
    frozen = policy_document([source])
    assert frozen["policies"][0]["rules"][0]["waiver"] == terms
    assert rules_from(frozen) == source.rules
    plain = policy_document([read_policy(policy_document_of(rule_document(level="waivable")))])
    assert "waiver" not in plain["policies"][0]["rules"][0]


def test_a_rule_of_any_kind_applies_as_others_do() -> None:
    (rule,) = read_policy(demanding("bump", DEMANDS["bump"], applies={"channels": ["staging"]})).rules
    assert evaluate_rule(rule, context()).outcome == "not-applicable"
    assert evaluate_rule(rule, context(channel="staging")).outcome == "missing"


KIND_NAMES = st.sampled_from(sorted(DEMANDS))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.sampled_from(["P1D", "staging", "minor"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(kind=KIND_NAMES, data=st.data())
def test_a_rule_with_a_faulty_body_is_a_refusal(kind: str, data: st.DataObject) -> None:
    body: Any = dict(DEMANDS[kind])
    body[data.draw(st.sampled_from([*body, "count", "verified", "spares", "other"]))] = data.draw(VALUES)
    faults = RULE_KINDS[kind].check(body)
    outcome, why = RULE_KINDS[kind].evaluate(body, context())
    assert why
    if faults:
        assert outcome == "errored" or faults[0].code == "freeze-never"
