"""Verdicts: empty allows nothing, any no is a no, and the no that is hardest to get around gives the exit code."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.policy.verdict import HARDEST_FIRST, Answers, Finding, Status, Verdict, hardest, once

ORDER = (6, 3, 7, 4, 8, 5, 1)
HOLDS = {"passed", "warning", "waived", "not-applicable"}


def finding(status: Status, exit_code: int = 3, **more: Any) -> Finding:
    return Finding(check="rule", status=status, code="c", message="m", exit_code=exit_code, **more)


def verdict(*findings: Finding) -> Verdict:
    return Verdict(action="promote", channel="staging", policy=1, findings=findings)


def test_the_order_is_the_documented_one() -> None:
    assert HARDEST_FIRST == ORDER


@pytest.mark.parametrize(("harder", "easier"), list(combinations(ORDER, 2)))
def test_of_two_codes_the_harder_wins_in_either_order(harder: int, easier: int) -> None:
    for pair in permutations((harder, easier)):
        assert hardest(pair) == harder
        assert hardest((0, *pair, 0)) == harder
        found = verdict(*(finding("failed", code) for code in pair))
        assert (found.exit_code, found.allowed) == (harder, False)
        assert [item.exit_code for item in found.failures] == [harder, easier]


@pytest.mark.parametrize("code", ORDER)
def test_one_code_is_itself(code: int) -> None:
    assert hardest((code,)) == hardest((code, code, 0)) == code


def test_no_code_is_no_failure_and_an_unknown_one_is_never_hidden() -> None:
    assert hardest(()) == hardest((0, 0)) == 0
    for unknown in (2, 70, 99):
        assert hardest((6, unknown)) == unknown


def test_nothing_looked_at_allows_nothing() -> None:
    assert (verdict().allowed, verdict().exit_code) == (False, 3)


@pytest.mark.parametrize("status", get_args(Status))
def test_each_status_holds_or_does_not(status: Status) -> None:
    item = finding(status, 4)
    assert item.holds == (status in HOLDS)
    assert verdict(item).allowed == item.holds
    assert verdict(finding("passed"), item).exit_code == (0 if item.holds else 4)
    assert ("exit_code" in item.as_dict()) != item.holds
    severity = "error" if not item.holds else "warning" if status in {"warning", "waived"} else "note"
    assert item.problem().severity == severity


STATUSES: st.SearchStrategy[Status] = st.sampled_from(get_args(Status))


@given(rows=st.lists(st.tuples(STATUSES, st.sampled_from(ORDER)), min_size=1, max_size=8))
def test_allowed_and_the_exit_code_say_the_same(rows: list[tuple[Status, int]]) -> None:
    found = verdict(*(finding(status, code) for status, code in rows))
    wrong = [code for status, code in rows if status not in HOLDS]
    assert found.allowed == (not wrong) == (found.exit_code == 0)
    assert found.exit_code == (min(wrong, key=ORDER.index) if wrong else 0)
    assert sorted(item.exit_code for item in found.failures) == sorted(wrong)
    assert found.as_dict()["allowed"] == found.allowed


@given(rows=st.lists(st.tuples(STATUSES, st.sampled_from(ORDER)), max_size=6), data=st.data())
def test_more_findings_never_turn_a_no_into_a_yes(rows: list[tuple[Status, int]], data: st.DataObject) -> None:
    findings = [finding(status, code) for status, code in rows]
    more = data.draw(st.lists(st.builds(finding, STATUSES), max_size=4))
    if rows and not verdict(*findings).allowed:
        assert not verdict(*findings, *more).allowed
    assert verdict(*findings).allowed == verdict(*reversed(findings)).allowed


def test_what_differs_stands_in_the_problem() -> None:
    assert finding("failed", differs="max_steps is 40").problem().message == "m (max_steps is 40)"
    assert finding("failed", rule="REF-1").problem().rule == "REF-1"


def test_a_check_is_asked_once_where_somebody_keeps_answers() -> None:
    asked = []

    def ask() -> tuple[Finding, ...]:
        asked.append(1)
        return (finding("passed"),)

    answers: Answers = {}
    assert [once(answers, "a", ask) for _ in range(3)] == [(finding("passed"),)] * 3
    assert (len(asked), list(answers)) == (1, ["a"])
    once(answers, "b", ask)
    once(None, "a", ask)
    once(None, "a", ask)
    assert len(asked) == 4
