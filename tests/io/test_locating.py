"""Faults become problems with a path, a line and a column."""

from __future__ import annotations

from pawl.io.locating import problems_of, unreadable_problems
from pawl.io.text import LocatedFault, Unreadable
from pawl.problems import Fault, Problem

YAML = b"name: a\nversion: 1.10\nspec:\n  steps:\n    - {id: x}\n"


def test_faults_get_path_line_and_column() -> None:
    faults = [
        Fault(code="unknown-field", message="unknown", at=("spec", "steps", 0, "id"), on_key=True, hint="drop it"),
        Fault(code="missing-field", message="owner is missing", at=("owner",), severity="warning"),
    ]
    assert problems_of("p.yaml", YAML, faults) == (
        Problem(code="unknown-field", message="unknown", path="p.yaml", line=5, column=8, hint="drop it"),
        Problem(code="missing-field", message="owner is missing", severity="warning", path="p.yaml", line=1, column=1),
    )


def test_numbers_are_shown_as_written() -> None:
    (problem,) = problems_of("p.yaml", YAML, [Fault(code="not-a-string", message="version is text", at=("version",))])
    assert problem.message == "version is text (written 1.10)"
    assert (problem.line, problem.column) == (2, 10)
    (problem,) = problems_of("p.yaml", YAML, [Fault(code="x", message="1.10 is no version", at=("version",))])
    assert problem.message == "1.10 is no version"
    (problem,) = problems_of("p.yaml", b"a: 1.5\n", [Fault(code="x", message="too large", at=("a",))])
    assert problem.message == "too large"


def test_json_is_placed_too_and_what_is_unreadable_has_no_line() -> None:
    fault = Fault(code="x", message="wrong", at=("a", 1))
    assert problems_of("p.json", b'{\n  "a": [1,\n   2]\n}\n', [fault])[0].line == 3
    assert problems_of("p.json", b"{", [fault]) == (Problem(code="x", message="wrong", path="p.json"),)
    assert problems_of("p.json", b"{", []) == ()


def test_unreadable_files_keep_their_order() -> None:
    faults = (
        LocatedFault(code="b", message="second", line=2, column=1),
        LocatedFault(code="a", message="first", line=1, column=9, hint="look"),
    )
    assert unreadable_problems("p.yaml", Unreadable(faults)) == (
        Problem(code="a", message="first", path="p.yaml", line=1, column=9, hint="look"),
        Problem(code="b", message="second", path="p.yaml", line=2, column=1),
    )
