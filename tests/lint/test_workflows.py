"""Inputs of workflows that change nothing."""

from __future__ import annotations

import pytest

from pawl.io.strict_yaml import load
from pawl.lint.check import lint_procedure
from pawl.lint.settings import LintSettings
from pawl.procedures.read import read_procedure

STEPS = '- {id: done, end: {outcome: done, output: {a: "${{ %s }}"}}}'
WHOLE: list[tuple[str, list[str]]] = [
    ("inputs.id", ["note"]),
    ("has(inputs.note) ? inputs.note : inputs.id", []),
    ("inputs", []),
    ("size(inputs)", []),
    ("'none'", ["id", "note"]),
]


@pytest.mark.parametrize(("expression", "unused"), WHOLE)
def test_inputs_of_a_workflow_that_nothing_uses(expression: str, unused: list[str]) -> None:
    text = (
        "kind: workflow\nname: a/b\nversion: 1.0.0\nsummary: S.\nowner: o\nspec:\n"
        "  inputs: {type: object, properties: {id: {type: string}, note: {type: string}}, required: [id]}\n  steps:\n"
        f"    {STEPS % expression}\n"
    )
    faults = lint_procedure(read_procedure(load(text.encode())), LintSettings())
    unmeant = [fault.at[-1] for fault in faults if fault.code == "workflow-input-unused"]
    assert unmeant == unused
