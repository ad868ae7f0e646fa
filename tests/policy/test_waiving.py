"""Which waiver counts, and what is to be said of one that does not."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pawl.ids import Version
from pawl.policy.rules import DEFAULT_TERMS, WaiverTerms
from pawl.policy.waiving import Wanted, find_waiver, missed_before, review_missed, terms_of, waiver_words, why_not
from pawl.registry.channels_grants import Waiver
from pawl.registry.journal import Actor
from policy.grants import ADA, BEN, OTHER, Grants, closure_digest
from policy.make import rule
from policy.situations import PEOPLE
from registry.make import pin

A = pin("a", "2.0.0")
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER = "2026-03-02T12:00:00Z"
WANTED = Wanted(
    rule="R-1",
    action="promote",
    name=A.name,
    version=Version("2.0.0"),
    digest=A.digest,
    closure=closure_digest(A),
)
GLASS = WaiverTerms(break_glass="P1D")


def waivers(line: Grants) -> list[Waiver]:
    return list(line.state.waivers.values())


def test_the_one_that_lasts_longest_counts() -> None:
    line = (
        Grants().waived(A, until="2026-03-10T12:00:00Z").waived(A, until="2026-03-15T12:00:00Z").waived(A, until=LATER)
    )
    line.consented(1, 2, 3)
    found = find_waiver(waivers(line), WANTED, DEFAULT_TERMS, people=PEOPLE, now=NOW)
    assert found.waiver is not None
    assert (found.waiver.serial, found.objections) == (2, ())


def test_one_with_the_closure_counts_for_that_closure() -> None:
    for closure, counts in ((closure_digest(A), True), (OTHER, False)):
        line = Grants().waived(A, closure=closure).consented(1)
        found = find_waiver(waivers(line), WANTED, DEFAULT_TERMS, people=PEOPLE, now=NOW)
        assert (found.waiver is not None) == counts


def test_one_that_counts_is_not_hidden_by_one_that_does_not() -> None:
    line = Grants().waived(A).waived(A, rule="R-2").waived(A, until="2026-03-01T12:00:00Z").waived(A)
    line.consented(3, 4)
    found = find_waiver(waivers(line), WANTED, DEFAULT_TERMS, people=PEOPLE, now=NOW)
    assert found.waiver is not None
    assert found.waiver.serial == 4
    assert [words.partition(" does")[0] for words in found.objections] == ["waiver 1", "waiver 3"]


REVIEWS: list[
    tuple[dict[str, Any], bool, bool]
] = [  # the waiver, whether it was consented to, whether a review is missed
    ({"break_glass": True, "review_by": "2026-03-01T12:00:00Z"}, False, True),
    ({"break_glass": True, "review_by": "2026-03-01T12:00:01Z"}, False, False),
    ({"break_glass": True, "review_by": "2026-03-01T12:00:00Z"}, True, False),
    ({}, False, False),
    ({}, True, False),
]


@pytest.mark.parametrize(("fields", "consented", "missed"), REVIEWS)
def test_a_review_is_missed_when_its_time_has_come(fields: dict[str, Any], consented: bool, missed: bool) -> None:
    line = Grants().waived(A, at="2026-03-01T11:00:00Z", **fields)
    if consented:
        line.consented(1)
    for terms in (GLASS, None):
        assert review_missed(waivers(line)[0], terms, people=PEOPLE, now=NOW) == missed


UNBROKEN: list[dict[str, Any]] = [
    {"kind": "agent"},
    {"by": Actor(name="Carl")},
    {"until": "2026-03-01T11:45:00Z"},
    {"until": "2026-03-01T12:00:00Z"},
]


@pytest.mark.parametrize("fields", UNBROKEN)
def test_a_glass_that_never_broke_or_has_ended_needs_no_review(fields: dict[str, Any]) -> None:
    given = {"at": "2026-03-01T11:00:00Z", "break_glass": True, "review_by": "2026-03-01T11:30:00Z"}
    (waiver,) = waivers(Grants().waived(A, **{**given, **fields}))
    assert not review_missed(waiver, GLASS, people=PEOPLE, now=NOW)


CONSENTS: list[tuple[dict[str, Any], bool]] = [
    ({"by": BEN}, True),
    ({"by": ADA}, False),
    ({"by": BEN, "kind": "agent"}, False),
    ({"by": BEN, "kind": "unknown"}, False),
    ({"by": BEN, "kind": "service"}, False),
    ({"by": BEN, "at": "2026-03-01T12:00:00Z"}, True),
    ({"by": BEN, "at": "2026-03-01T12:00:01Z"}, False),
]


@pytest.mark.parametrize(("consent", "counts"), CONSENTS)
def test_who_can_be_the_second_person(consent: dict[str, Any], counts: bool) -> None:
    (waiver,) = waivers(Grants().waived(A).consented(1, **consent))
    assert (why_not(waiver, DEFAULT_TERMS, people=PEOPLE, now=NOW) is None) == counts
    assert why_not(waiver, DEFAULT_TERMS, people=None, now=NOW) is not None
    assert why_not(waiver, DEFAULT_TERMS, people={}, now=NOW) is not None


def test_a_second_consent_makes_up_for_a_first_that_does_not_count() -> None:
    (waiver,) = waivers(Grants().waived(A).consented(1, by=ADA).consented(1, by=BEN))
    assert why_not(waiver, DEFAULT_TERMS, people=PEOPLE, now=NOW) is None
    assert "approved by Ben" in waiver_words(waiver, DEFAULT_TERMS, people=PEOPLE, now=NOW)


def test_a_broken_glass_that_was_reviewed_lasts_until_its_own_end() -> None:
    line = Grants().waived(A, break_glass=True, review_by=LATER)
    assert waiver_words(waivers(line)[0], GLASS, people=PEOPLE, now=NOW).startswith(f"waived until {LATER}")
    line.consented(1)
    assert waiver_words(waivers(line)[0], GLASS, people=PEOPLE, now=NOW).startswith("waived until 2026-03-20T12:00:00Z")
    short = Grants().waived(A, break_glass=True, review_by=LATER, until="2026-03-01T18:00:00Z")
    words = waiver_words(waivers(short)[0], GLASS, people=PEOPLE, now=NOW)
    assert words.startswith("waived until 2026-03-01T18:00:00Z")


@pytest.mark.parametrize(("level", "has"), [("waivable", True), ("absolute", False), ("advisory", False)])
def test_only_a_waivable_rule_has_terms(level: str, has: bool) -> None:
    assert terms_of(rule(level=level)) == (DEFAULT_TERMS if has else None)
    if has:
        assert terms_of(rule(level=level, waiver={"break_glass": "P1D"})) == GLASS


LATE: dict[str, Any] = {"at": "2026-03-01T10:00:00Z", "break_glass": True, "review_by": "2026-03-01T11:00:00Z"}
BEFORE: list[tuple[str, dict[str, Any], bool, tuple[Actor, ...], bool]] = [
    ("nobody reviewed it", LATE, False, (), True),
    ("its review is due this very second", {**LATE, "review_by": "2026-03-01T12:00:00Z"}, False, (), True),
    ("its review is still to come", {**LATE, "review_by": "2026-03-01T12:00:01Z"}, False, (), False),
    ("somebody reviewed it", LATE, True, (), False),
    ("its maker reviewed it", LATE, True, (BEN,), True),
    ("it is of another rule", {**LATE, "rule": "R-2"}, False, (), False),
    ("it broke no glass", {"at": "2026-03-01T10:00:00Z"}, False, (), False),
    ("an agent asked for it", {**LATE, "kind": "agent"}, False, (), False),
]


@pytest.mark.parametrize(("_", "fields", "consented", "barred", "missed"), BEFORE)
def test_the_glass_is_not_broken_again_before_a_missed_review(
    _: str, fields: dict[str, Any], consented: bool, barred: tuple[Actor, ...], missed: bool
) -> None:
    line = Grants().waived(A, **fields)
    if consented:
        line.consented(1)
    line.waived(A, at="2026-03-01T12:00:00Z", break_glass=True, review_by=LATER)
    first, second = waivers(line)
    found = missed_before([first, second], second, GLASS, people=PEOPLE, now=NOW, barred=barred)
    assert (found is first) == missed
    assert found is None or missed
    counting = find_waiver([first, second], WANTED, GLASS, people=PEOPLE, now=NOW, barred=barred).waiver
    assert (counting is None) == missed or counting is first


def test_a_missed_review_of_another_procedure_is_no_reason() -> None:
    other = pin("b", "2.0.0")
    line = Grants().waived(other, **LATE).waived(A, at="2026-03-01T12:00:00Z", break_glass=True, review_by=LATER)
    first, second = waivers(line)
    assert missed_before([first, second], second, GLASS, people=PEOPLE, now=NOW) is None


def test_a_version_that_somebody_else_made_is_reviewed_by_them() -> None:
    """The maker of one version can review another's: only for their own it does not count."""
    line = Grants().waived(pin("a", "1.0.0"), **LATE).consented(1)
    line.waived(A, at="2026-03-01T12:00:00Z", break_glass=True, review_by=LATER)
    first, second = waivers(line)
    assert missed_before([first, second], second, GLASS, people=PEOPLE, now=NOW, barred=(BEN,)) is None


def test_a_consent_of_the_maker_is_told_as_one() -> None:
    (waiver,) = waivers(Grants().waived(A).consented(1))
    assert why_not(waiver, DEFAULT_TERMS, people=PEOPLE, now=NOW, barred=(BEN,)) is not None
    assert "their own version" in str(why_not(waiver, DEFAULT_TERMS, people=PEOPLE, now=NOW, barred=(BEN,)))
    assert why_not(waiver, DEFAULT_TERMS, people=PEOPLE, now=NOW) is None
