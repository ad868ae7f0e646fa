"""Files that are named for what lint finds in them, and a procedure of each kind in which it finds nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pawl.io.strict_yaml import load
from pawl.lint.check import lint_closure, lint_procedure
from pawl.lint.codes import ALWAYS, IGNORABLE
from pawl.lint.profiles import PROFILES, TABLE_CODES, Profile
from pawl.lint.settings import LintSettings
from pawl.procedures.procedure import Procedure
from pawl.procedures.read import read_procedure

FILES = sorted((Path(__file__).parent / "found").glob("*.yaml"))
EVERY: tuple[Profile, ...] = PROFILES
CLEAN = {
    "prompt": """
kind: prompt
name: orders/draft
version: 1.0.0
summary: Drafts a refund.
owner: payments
spec:
  inputs:
    type: object
    properties: {order: {type: string}}
    required: [order]
    additionalProperties: false
  messages:
    - {role: system, content: "Be brief. Answer as JSON: {\\"text\\": \\"...\\"}"}
    - role: user
      content: |
        Refund {{ order }}.
  output:
    type: object
    properties: {text: {type: string}}
    required: [text]
    additionalProperties: false
  budget: {tokens: 100}
""",
    "tool": """
kind: tool
name: orders/check
version: 1.0.0
summary: Checks an order.
owner: payments
spec:
  description: Says whether an order can be refunded. Call it before any draft.
  inputSchema:
    type: object
    properties:
      order: {type: string, description: "The order, such as A1.", minLength: 1}
      lines: {type: array, items: {type: integer}, description: Which lines; all without it.}
    required: [order, lines]
    additionalProperties: false
  outputSchema:
    type: object
    properties: {eligible: {type: boolean}}
    required: [eligible]
  annotations: {readOnlyHint: true}
""",
    "workflow": """
kind: workflow
name: orders/refund
version: 1.0.0
summary: From a request to a draft.
owner: payments
requires: {orders/check: ">=1,<2", orders/draft: ">=1,<2"}
spec:
  inputs: {type: object, properties: {order: {type: string}}, required: [order]}
  steps:
    - id: check
      tool: orders/check
      with: {order: "${{ inputs.order }}", lines: []}
      switch: [{when: result.eligible, then: draft}, {then: denied}]
    - {id: draft, prompt: orders/draft, with: {order: "${{ inputs.order }}"}, then: drafted}
    - {id: drafted, end: {outcome: drafted}}
    - {id: denied, end: {outcome: denied}}
  budget: {max_steps: 4}
""",
}


def read(text: str | bytes) -> Procedure:
    return read_procedure(load(text.encode() if isinstance(text, str) else text))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_has_what_it_is_named_for_and_nothing_else(path: Path) -> None:
    found = lint_procedure(read(path.read_bytes()), LintSettings(profiles=EVERY))
    assert {fault.code for fault in found} == {path.stem.partition("--")[0]}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_found_has_a_place_in_the_file(path: Path) -> None:
    procedure = read(path.read_bytes())
    for fault in lint_procedure(procedure, LintSettings(profiles=EVERY)):
        here: Any = procedure.document
        for part in fault.at:
            here = here[part]
        assert fault.at
        assert "\n" not in fault.message


def test_there_is_a_file_for_every_code_of_one_procedure_that_only_lint_finds() -> None:
    """Secrets are made while testing, so that nobody takes this repository for a place that holds some."""
    elsewhere = {
        *("schema-closed-object", "schema-optional-property", "schema-ref", "tool-count", "tool-name-clash"),
        *("prompt-secret", "summary-missing", "owner-missing", "requires-unused"),
        *("workflow-unreachable", "workflow-unguarded", "tool-description-long"),
    }
    assert {path.stem.partition("--")[0] for path in FILES} == (IGNORABLE | ALWAYS | TABLE_CODES) - elsewhere


@pytest.mark.parametrize("kind", CLEAN)
def test_a_clean_procedure_has_no_findings(kind: str) -> None:
    assert lint_procedure(read(CLEAN[kind]), LintSettings(profiles=EVERY)) == ()


def test_clean_procedures_together_have_no_findings() -> None:
    every = [read(text) for text in (CLEAN["workflow"], CLEAN["tool"], CLEAN["prompt"])]
    assert lint_closure(every, LintSettings(profiles=EVERY)) == ()
