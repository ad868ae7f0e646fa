"""What check shows a person."""

from __future__ import annotations

from typing import Any

import pytest

from cli.reports_data import channel, data, row, suite, tally
from pawl.cli.check_lines import MAX_ROWS, check_lines


def shown(**more: Any) -> list[str]:
    return list(check_lines(data(**more)))


def test_everything_is_there() -> None:
    assert shown() == [
        "5 files, 5 read; 2 procedures",
        "compared with origin/main (111111111111)",
        "CHANGED         FROM   TO     REQUIRED  LOWEST  ENOUGH  CHANGES",
        "support/refund  1.0.0  1.1.0  major     2.0.0   no      1",
        "to be published: support/refund@1.1.0",
        "SUITE   ABOUT                 OUTCOME  PASSED  OF",
        "refund  support/refund@1.1.0  failed   2       3",
        "  refund: failed-0 failed: because of it",
        "suites: 1 of 2 passed",
        "cases: 5 passed, 1 failed, 0 errored, 0 skipped, 0 inconclusive, 6 total",
        "CHANNEL     POLICY  VERDICT           OF",
        "production  2       refused (exit 3)  support/refund@1.1.0",
        "  production: failed rule REF-1: every refund checks eligibility (no step calls it) [rule-failed]",
        "  production needs: publish support/refund@1.1.0: pawl publish",
    ]


def test_where_all_is_well_it_is_short() -> None:
    lines = shown(base=None, changes=[], new_versions=[], suites=[suite(passed=3)], channels=[])
    assert lines == [
        "5 files, 5 read; 2 procedures",
        "suites: 1 of 1 passed",
        "cases: 3 passed, 0 failed, 0 errored, 0 skipped, 0 inconclusive, 3 total",
    ]


@pytest.mark.parametrize("found", [{}, {"unread": 2}])
def test_nothing_tested_is_said(found: dict[str, Any]) -> None:
    lines = shown(suites=[], **found)
    assert "no case was run, and nothing is no pass" in lines
    assert lines[0].endswith("read, 2 not; 2 procedures") == bool(found)


def test_an_answer_without_findings_shows_nothing() -> None:
    assert list(check_lines({})) == []


@pytest.mark.parametrize(
    ("more", "cells"),
    [
        ({"state": "added", "from": None, "smallest": None, "required": "none"}, "- 1.1.0 none - no added"),
        ({"state": "removed", "to": None, "smallest": None, "required": "none"}, "1.0.0 - none - - removed"),
        ({"enough": True}, "1.0.0 1.1.0 major 2.0.0 yes 1"),
        ({"enough": None, "smallest": None}, "1.0.0 1.1.0 major - - 1"),
    ],
)  # fmt: skip
def test_rows_of_changes(more: dict[str, Any], cells: str) -> None:
    assert shown(changes=[row(**more)])[3].split() == ["support/refund", *cells.split()]


@pytest.mark.parametrize("hostile", ["\x1b[2J", "a\nb", "\u202e"])
def test_nothing_from_a_file_reaches_the_terminal_as_a_command(hostile: str) -> None:
    finding = {"status": "failed", "code": "x", "message": hostile, "rule": hostile, "differs": hostile}
    cases = [{"id": hostile, "outcome": "failed", "reasons": [hostile]}]
    lines = shown(
        base={"ref": hostile, "commit": "1" * 40},
        suites=[{**suite(failed=1), "suite": hostile, "cases": cases}],
        channels=[channel(findings=[finding], needs=[hostile], refs=[hostile])],
        changes=[row(name=hostile)],
    )
    assert all(line.isprintable() for line in lines)


def test_a_crowd_is_bounded_and_says_so() -> None:
    many = MAX_ROWS + 5
    lines = shown(
        changes=[row()] * many,
        suites=[suite(failed=2)] * many,
        channels=[channel(needs=["x"] * many)],
    )
    for wanted in ("procedures changed", "suites did not pass", "cases did not pass", "needs of production"):
        assert any(line.startswith("and ") and wanted in line for line in lines)
    assert len(lines) < 6 * MAX_ROWS


def test_the_tally_of_the_made_up_run_adds_up() -> None:
    assert tally(passed=1, failed=2)["total"] == 3
