"""The document of a policy source, as people write it: strict, frozen, without unknown fields.

Also the source of ``pawl schema policy``. What a rule demands (``require``) is no field here: the kinds of rules bring
their own (:data:`pawl.policy.kinds.known.RULE_KINDS`). What goes beyond one field is checked in ``rule_checks.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pawl.policy.context import RuleClass
from pawl.policy.given import AUTHOR, OF
from pawl.policy.kinds.known import RULE_KINDS
from pawl.policy.rules import DEFAULT_TERMS, Expectation, Level, RuleAction
from pawl.policy.skeletons import KNOWN_KINDS
from pawl.problems import Fault
from pawl.procedures.shapes import shape_faults
from pawl.registry.channels_grants import ActorKind

Withdrawn: TypeAlias = Literal["deprecated", "yanked", "revoked"]
MAX_MESSAGE = 1000
MAX_WORD = 128
RULE_FIELD = 3
"""How deep the fields of a rule lie: below rules and an index."""
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_WORD = r"^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$"
_ID = r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$"
_GLOB = r"^[a-z0-9_/*-]+$"
_MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"


class _Document(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", populate_by_name=False)


class AppliesDocument(_Document):
    """What a rule is about. A part that is left out fits everything."""

    kinds: list[str] = Field(
        default=[],
        min_length=1,
        description="Kinds of procedures.",
        json_schema_extra={"items": {"type": "string", "enum": list(KNOWN_KINDS)}},
    )
    names: list[str] = Field(
        default=[],
        min_length=1,
        description="Names of procedures; * stands for any characters, / among them: support/refund*",
        json_schema_extra={"items": {"type": "string", "pattern": _GLOB}},
    )
    channels: list[str] = Field(default=[], min_length=1, description="Channels, by their exact names.")
    actions: list[RuleAction] = Field(default=[], min_length=1, description="What somebody is about to do.")
    labels: dict[str, str] = Field(default={}, min_length=1, description="Labels that the procedure has, all of them.")


class ActorDocument(_Document):
    """Who acts in a test."""

    name: str = Field(default="Example", description="The actor's name.")
    email: str = Field(default="example@example.invalid", description="The actor's address.")
    verified: bool = Field(default=False, description="Whether a signature vouches for the actor.")
    kind: ActorKind = Field(default="human", description="What kind of actor it is.")
    roles: list[str] = Field(default=[], min_length=1, description="The actor's roles.")


class GivenApprovalDocument(_Document):
    """An approval in a test."""

    by: str = Field(min_length=1, max_length=MAX_WORD, description="The address of who approved.")
    roles: list[str] = Field(
        default=[], description="The roles of the adopted people; left out: they do not name them."
    )
    kind: ActorKind = Field(default="human", description="What kind of actor approved.")
    verified: bool = Field(default=False, description="Whether a signature vouches for the approval.")
    of: str = Field(
        default="this",
        description="What was approved: this, or something else than the test is about.",
        json_schema_extra={"enum": list(OF)},
    )
    age: str = Field(default="PT1H", description="How long ago it was given, as an ISO 8601 length of time.")
    ended: bool = Field(default=False, description="Whether it has come to its end.")


class GivenDocument(_Document):
    """What else is known in a test. What is left out is not known, which is a no to a rule that needs it."""

    approvals: list[GivenApprovalDocument] = Field(default=[], description="Approvals on the channel.")
    author: str = Field(default=AUTHOR, min_length=1, description="The address of who made the version.")
    live: dict[str, str] = Field(default={}, description="Channel: how long it has been live there, such as PT30H.")
    evidence: dict[str, str] = Field(default={}, description="Suite: how old its newest result is, such as P3D.")
    withdrawn: dict[str, Withdrawn] = Field(default={}, description="name@version in the closure: how it is withdrawn.")
    moves: bool = Field(default=True, description="Whether the procedure itself moves, not only what it requires.")
    leaving: str = Field(default="", min_length=1, description="Why what is live now must not stay.")


class RuleTestDocument(_Document):
    """An example of what the rule must say. What is left out is chosen so that the rule applies."""

    name: str = Field(default="", min_length=1, max_length=MAX_WORD, description="What the example shows.")
    procedure: dict[str, Any] = Field(
        description="What matters of a procedure: laid over the smallest one of its kind; null takes a field away."
    )
    expect: Expectation = Field(description="What the rule must say; an expression that errors meets neither.")
    channel: str = Field(default="", min_length=1, description="The channel in question.")
    action: RuleAction = Field(default="promote", description="What somebody is about to do.")
    closure: list[dict[str, Any]] = Field(
        default=[], description="What matters of the procedures that this one requires, each with its kind."
    )
    current: dict[str, Any] = Field(default={}, description="What matters of the version that is pinned now.")
    actor: ActorDocument = Field(default=ActorDocument(), description="Who acts.")
    now: str = Field(default="", min_length=1, description="The date or time of the test, as in effective_on.")
    given: GivenDocument = Field(default=GivenDocument(), description="Approvals, times and the like.")


class WaiverDocument(_Document):
    """What a waiver of the rule needs to count."""

    at_most: str = Field(default=DEFAULT_TERMS.at_most, description="How long it may last, such as P14D.")
    roles: list[str] = Field(default=[], min_length=1, description="Who approves it has one of these roles.")
    verified: bool = Field(default=False, description="Whether a signature must vouch for who approves it.")
    break_glass: str = Field(
        default="", min_length=1, description="How soon one is reviewed that counts before anybody approved it: P1D."
    )


class RuleDocument(_Document):
    """One rule: what must hold, for what, and how firmly."""

    id: str = Field(
        max_length=MAX_WORD,
        description="The rule's name in every refusal, once in all policies.",
        json_schema_extra={"pattern": _ID},
    )
    rule_class: RuleClass = Field(
        alias="class", description="safety holds for promote, rollback, resolve and audit; readiness for promote only."
    )
    level: Level = Field(description="advisory warns, waivable can be waived for a time, absolute cannot.")
    applies: AppliesDocument = Field(
        default=AppliesDocument(), description="What the rule is about; without it, every procedure on every channel."
    )
    message: str = Field(
        default="", min_length=1, max_length=MAX_MESSAGE, description="What must hold, for the person who is refused."
    )
    effective_on: str = Field(
        default="",
        min_length=1,
        description="From when on the rule holds: a date (from 00:00 UTC) or an RFC 3339 time.",
        json_schema_extra={"pattern": _MOMENT},
    )
    enforce_live: bool = Field(
        default=False, description="Whether a live pin that breaks this safety rule is no longer served."
    )
    waiver: WaiverDocument = Field(default=WaiverDocument(), description="What a waiver of this rule needs.")
    tests: list[RuleTestDocument] = Field(default=[], description="Examples, permitted ones and denied ones.")


class PolicyDocument(_Document):
    """A policy source: rules with one owner."""

    policy: str = Field(
        max_length=MAX_WORD,
        description="The policy's name, once in a workspace.",
        json_schema_extra={"pattern": _WORD},
    )
    owner: str = Field(min_length=1, max_length=MAX_WORD, description="Who keeps these rules.")
    rules: list[RuleDocument] = Field(min_length=1, description="At least one rule.")


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a policy source, for editors."""
    schema: dict[str, Any] = {"$schema": DIALECT, **PolicyDocument.model_json_schema(by_alias=True)}
    rule = schema["$defs"]["RuleDocument"]
    for name, kind in RULE_KINDS.items():
        rule["properties"][name] = dict(kind.schema)
    rule["oneOf"] = [{"required": [name]} for name in RULE_KINDS]
    for definition in (schema, *schema["$defs"].values()):
        for value in definition.get("properties", {}).values():
            if value.get("default") in ("", [], {}):
                # These stand for "left out"; written down they are refused.
                del value["default"]
    return schema


def structural_faults(error: ValidationError) -> Iterator[Fault]:
    """Yield what pydantic found as faults in our words."""
    for fault in shape_faults(error, PolicyDocument, prefix="policy"):
        key = fault.at[-1] if fault.at else None
        if fault.at == ("rules",) and "empty" in fault.message:
            message = "the policy has no rules: it needs at least one, or it holds nothing up"
            yield Fault(code="policy-empty", message=message, at=fault.at)
        elif fault.on_key and len(fault.at) == RULE_FIELD and (close := get_close_matches(str(key), RULE_KINDS, n=1)):
            yield replace(fault, hint=f"did you mean {close[0]}?")
        else:
            yield fault
