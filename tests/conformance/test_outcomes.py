"""Outcomes: only passed is a pass, nothing is none, and the tally adds up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.make import procedure, result_of, suite
from pawl.conformance.outcomes import OUTCOMES, Outcome, Tally, fold, tally_of, tally_of_suites

outcomes = st.lists(st.sampled_from(OUTCOMES), max_size=12)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([], "errored"),
        (["passed"], "passed"),
        (["passed", "skipped"], "skipped"),
        (["skipped", "skipped"], "skipped"),
        (["skipped", "inconclusive"], "inconclusive"),
        (["inconclusive", "errored"], "errored"),
        (["errored", "failed", "passed"], "failed"),
    ],
)
def test_the_worst_outcome_decides(found: list[Outcome], expected: Outcome) -> None:
    assert expected == fold(found)


@given(outcomes)
def test_a_pass_needs_at_least_one_case_and_all_of_them(found: list[Outcome]) -> None:
    assert (fold(found) == "passed") == (bool(found) and all(outcome == "passed" for outcome in found))


@given(outcomes, outcomes)
def test_the_sum_of_a_tally_is_its_total(left: list[Outcome], right: list[Outcome]) -> None:
    both = tally_of(left) + tally_of(right)

    assert tally_of([*left, *right]) == both
    assert len(left) + len(right) == both.total
    assert both.total == both.as_dict()["total"] == sum(both.as_dict()[outcome] for outcome in OUTCOMES)


def test_a_partial_run_is_no_pass_of_the_suite() -> None:
    about = procedure("tool", "a", {})
    of = suite("a", *({"id": f"c{number}", "assert": [{"type": "accepted"}]} for number in range(2)))

    assert result_of(of, about, "passed", "passed").passed
    assert not result_of(of, about, "passed", partial=True).passed
    assert not result_of(of, about).passed
    assert result_of(of, about, "passed", "skipped").of("skipped") == ("c1",)
    assert Tally(passed=3, failed=1) == tally_of_suites(
        [result_of(of, about, "passed", "passed"), result_of(of, about, "passed", "failed")]
    )
