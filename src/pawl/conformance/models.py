"""The document of a suite, as people write it: strict, frozen, without unknown fields.

Also the source of ``pawl schema suite``. What a field means is told in its description; what goes beyond one field is
checked in ``suites.py``.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pawl.conformance.assertions import ASSERTIONS, NEGATION, NOT_RUN

_NAME = r"^[a-z0-9]([a-z0-9_-]*[a-z0-9])?(/[a-z0-9]([a-z0-9_-]*[a-z0-9])?)*$"
CASE_ID = r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$"
MAX_CASE_ID = 128
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def _types(schema: dict[str, Any]) -> None:
    names = sorted((*ASSERTIONS, *NOT_RUN))
    schema["enum"] = [*names, *(NEGATION + name for name in names)]


class _Document(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", populate_by_name=False)


class AssertionDocument(_Document):
    """One expectation of a case."""

    type: str = Field(
        description="What is expected: promptfoo's types, or accepted, rejected, outcome, path; not- turns one round.",
        json_schema_extra=_types,
    )
    value: Any = Field(default=None, description="What the type compares with: a text, a list, a JSON Schema, ...")
    threshold: float = Field(default=0, ge=0, description="levenshtein: how many edits are allowed, 5 without it.")
    role: str = Field(default="", min_length=1, description="Look only at rendered messages of this role.")
    message: int = Field(default=0, description="Look at one rendered message: 0 is the first, -1 the last.")


class CaseDocument(_Document):
    """One case: what goes in, and what is expected of what comes out."""

    id: str = Field(
        pattern=CASE_ID, max_length=MAX_CASE_ID, description="The case's name, once in a suite; evidence lists it."
    )
    inputs: dict[str, Any] = Field(default={}, description="Inputs of a prompt or a workflow.")
    given: dict[str, Any] = Field(
        default={}, description="Workflow: the scripted result of each step that makes a call, by step id."
    )
    call: Any = Field(default=None, description="Tool: the arguments of the call.")
    answer: Any = Field(default=None, description="Prompt: a recorded answer; the assertions look at it.")
    expectations: list[AssertionDocument] = Field(
        alias="assert", description="What must hold; a case without assertions is refused."
    )


class SuiteDocument(_Document):
    """A conformance suite: cases that every version of one procedure must pass."""

    suite: str = Field(pattern=_NAME, max_length=128, description="The suite's name, once in a workspace.")
    about: str = Field(pattern=_NAME, max_length=128, description="The procedure under test.")
    versions: str = Field(
        default="", min_length=1, description="Which versions of it, as a specifier such as >=2; without it, all."
    )
    cases: list[CaseDocument] = Field(description="At least one case.")


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a suite, for editors."""
    return {"$schema": DIALECT, **SuiteDocument.model_json_schema(by_alias=True)}
