"""A suite that is edited along with a major change closes the way back to what is live, and check says so."""

from __future__ import annotations

from typing import Any

import pytest

from support import Shop, git

NAME = "support/refund"
SUITE = "conformance/refund.yaml"


def closing(shop: Shop) -> list[dict[str, Any]]:
    problems = shop.pawl("check", "--base", "main")["problems"]
    return [problem for problem in problems if problem["code"] == "way-back-closing"]


@pytest.fixture
def branch(released: Shop) -> Shop:
    """A branch with version 2 of the workflow and its suite, which covers version 1 as well."""
    released.reach(_branched)
    released.second()
    (released.root / "conformance/refund-without-check.yaml").unlink()
    text = "".join(line for line in released.read(SUITE).splitlines(True) if not line.startswith("versions:"))
    released.write(SUITE, text)
    return released


def _branched(shop: Shop) -> None:
    git(shop.root, "add", "-A")
    git(shop.root, "commit", "-q", "--allow-empty", "-m", "released")
    git(shop.root, "switch", "-q", "-c", "second")


def test_an_edited_suite_that_fails_on_what_is_live(branch: Shop) -> None:
    before = branch.files()
    (problem,) = closing(branch)
    assert (SUITE, "warning") == (problem["path"], problem["severity"])
    assert f"suite refund also covers {NAME}@1.0.0, which is live on production and staging" in problem["message"]
    assert "versions: '>=2.0.0'" in problem["hint"]
    assert before == branch.files()


def test_a_suite_with_versions_closes_nothing(branch: Shop) -> None:
    branch.edit(SUITE, (f"about: {NAME}\n", f"about: {NAME}\nversions: '>=2'\n"))
    assert [] == closing(branch)


def test_a_suite_that_did_not_change_is_not_tried(branch: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    git(branch.root, "restore", "--", SUITE)
    monkeypatch.setattr("pawl.operations.reviewing.leftovers.run_suite", None)
    problems = branch.pawl("check", "--base", "main", code=1)["problems"]  # version 2 needs what this suite lacks
    assert "way-back-closing" not in {problem["code"] for problem in problems}


def test_it_tries_a_bounded_number(branch: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pawl.operations.reviewing.leftovers.MAX_PINS", 0)
    assert [] == closing(branch)
