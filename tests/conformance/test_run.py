"""Running suites: from files with an implementation to a result, with and without leave to run code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.make import suite, tool
from pawl.conformance.run import run_suite, runner_digest_for

IMPLEMENTATION = """
import time

def check(order_id):
    if order_id == "hang":
        time.sleep(60)
    if order_id == "raise":
        raise KeyError(order_id)
    if order_id == "odd":
        return {"eligible": "perhaps"}
    return {"eligible": order_id == "A1"}
"""
TOOL = tool(binding={"python": "shop:check"})


def case(order_id: Any, name: str, value: Any = ...) -> dict[str, Any]:
    expected = {"type": name} if value is ... else {"type": name, "value": value}
    return {"id": f"{name}-{order_id}", "call": {"order_id": order_id}, "assert": [expected]}


SUITE = suite(
    TOOL.name,
    case("A1", "equals", {"eligible": True}),
    case("A2", "equals", {"eligible": False}),
    case("A3", "equals", {"eligible": True}),
    case("hang", "equals", {"eligible": True}),
    case("raise", "equals", {"eligible": True}),
    case("odd", "contains", "perhaps"),
    case("A1", "accepted"),
    case(7, "rejected"),
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(IMPLEMENTATION, encoding="utf-8")
    return tmp_path


def test_a_case_that_hangs_or_breaks_fails_itself_alone(root: Path) -> None:
    result = run_suite(SUITE, TOOL, code=True, root=root, timeout=3.0)  # of which the others need a little, to start

    assert [item.outcome for item in result.cases] == [
        "passed", "passed", "failed", "errored", "errored", "failed", "passed", "passed",
    ]  # fmt: skip
    assert result.outcome == "failed"
    assert not result.partial
    assert (result.about, result.subject, result.suite_digest) == (TOOL.ref, TOOL.digest, SUITE.digest)


def test_without_leave_to_run_code_what_needs_it_is_skipped(root: Path) -> None:
    result = run_suite(SUITE, TOOL, code=False, root=root)

    assert [item.outcome for item in result.cases] == [*["skipped"] * 6, "passed", "passed"]
    assert result.outcome == "skipped"
    assert not result.passed
    assert all("switched off" in item.reasons[0] for item in result.cases[:6])


@pytest.mark.parametrize("binding", [{"mcp": {"command": ["server"], "tool": "check"}}, {"http": {"url": "x"}}])
def test_bindings_that_pawl_does_not_run_are_skipped(root: Path, binding: dict[str, Any]) -> None:
    about = tool(binding=binding)
    result = run_suite(suite(about.name, case("A1", "equals", 1)), about, code=True, root=root)

    assert result.cases[0].outcome == "skipped"
    assert f"bindings of the kind {next(iter(binding))}" in result.cases[0].reasons[0]


def test_a_filter_makes_the_run_partial(root: Path) -> None:
    result = run_suite(SUITE, TOOL, code=False, root=root, only=frozenset({"accepted-A1"}))

    assert (result.outcome, result.partial, result.passed) == ("passed", True, False)


def test_a_filter_that_matches_nothing_never_passes(root: Path) -> None:
    result = run_suite(SUITE, TOOL, code=False, root=root, only=frozenset({"nowhere"}))

    assert (result.outcome, result.cases, result.passed) == ("errored", (), False)


def test_a_suite_about_another_procedure_is_refused(root: Path) -> None:
    with pytest.raises(ValueError, match="is not about"):
        run_suite(suite("support/other", case("A1", "accepted")), TOOL, code=False, root=root)


def test_the_runner_digest_changes_with_the_implementation(root: Path) -> None:
    plain = runner_digest_for(tool(), root=root)
    before = runner_digest_for(TOOL, root=root)
    (root / "shop.py").write_text(IMPLEMENTATION + "# one byte more\n", encoding="utf-8")
    after = runner_digest_for(TOOL, root=root)
    (root / "shop.py").unlink()
    gone = runner_digest_for(TOOL, root=root)

    assert len({plain, before, after, gone}) == 4
    assert plain == runner_digest_for(tool(), root=root)
