"""The audit of dependencies: a finding fails unless it is accepted for now, and what was not looked up is named."""

from __future__ import annotations

import importlib.util
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PLACE = Path(__file__).parents[2] / ".ci" / "audit.py"
TODAY = date(2027, 1, 31)
FOUND = {"name": "jinja2", "version": "3.1.6", "vulns": [{"id": "PYSEC-1", "aliases": ["CVE-1"], "fix_versions": []}]}
CLEAN: dict[str, Any] = {"name": "click", "version": "8.1.8", "vulns": []}
SKIPPED = {"name": "packaging", "skip_reason": "not found"}


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", PLACE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def listed(audit: ModuleType, **other: str) -> dict[str, Any]:
    row = {"id": "'CVE-1'", "package": "'jinja2'", "reason": "'no such filter here'", "until": "2027-02-01", **other}
    found: dict[str, Any] = audit.accepted("[[accepted]]\n" + "\n".join(f"{key} = {row[key]}" for key in row))
    return found


def test_nothing_known_is_good_and_what_was_not_looked_up_is_named(audit: ModuleType) -> None:
    lines, good = audit.judge([CLEAN, SKIPPED], {}, TODAY)
    assert good
    assert lines == ["1 of 2 packages were looked up", "no data could be had, so nothing is known, of: packaging"]


@pytest.mark.parametrize(
    ("terms", "good"),
    [({}, True), ({"until": "2027-01-31"}, False), ({"package": "'click'"}, False), ({"id": "'CVE-2'"}, False)],
)
def test_a_finding_is_bad_unless_it_is_accepted_for_now(audit: ModuleType, terms: dict[str, str], good: bool) -> None:
    assert not audit.judge([FOUND, CLEAN], {}, TODAY)[1]
    assert good == audit.judge([FOUND, CLEAN], listed(audit, **terms), TODAY)[1]


def test_what_is_accepted_and_gone_is_told(audit: ModuleType) -> None:
    lines, good = audit.judge([CLEAN], listed(audit), TODAY)
    assert good
    assert lines[0] == "CVE-1 is accepted and not found: take it off the list"


@pytest.mark.parametrize(
    "terms", [{"reason": "' '"}, {"until": "'soon'"}, {"until": "2027-01-31T00:00:00Z"}, {"other": "1"}]
)
def test_an_acceptance_without_reason_or_end_is_refused(audit: ModuleType, terms: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="has id, package, reason and until"):
        listed(audit, **terms)


def test_the_list_of_the_repository_reads(audit: ModuleType) -> None:
    audit.accepted(audit.ACCEPTED.read_text(encoding="utf-8"))


def test_a_place_that_says_nothing_is_no_finding(
    audit: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit.sys, "executable", "false")
    assert audit.ask(tmp_path, "pypi") == "it said nothing"
