"""The story as data: what is written to which file, what is typed, and how each command must end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """A sentence for the reader."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """Put one of the story's files into the workspace, with words exchanged."""

    path: str
    source: str
    words: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Type:
    """A command as a person types it, and the exit code that it must have."""

    words: tuple[str, ...]
    code: int = 0


Scene: TypeAlias = Say | Write | Type

_TUNED = (
    ("version: 2.0.0", "version: 2.1.0"),
    ("max_steps: 6", "max_steps: 2"),
    ("Checks eligibility before it drafts.", "A tighter budget."),
)

STORY: tuple[Scene, ...] = (
    Say(
        text="A support agent drafts refunds. Its workflow, its prompt and their suites are files, reviewed like code."
    ),
    Write(path="registry/registry.yaml", source="registry.yaml"),
    Write(path="registry/policies/refunds.yaml", source="policy-1.yaml"),
    Write(path="procedures/support/refund-draft.yaml", source="refund-draft.yaml"),
    Write(path="procedures/support/refund.yaml", source="refund-1.yaml"),
    Write(path="conformance/refund-draft.yaml", source="suite-refund-draft.yaml"),
    Write(path="conformance/refund.yaml", source="suite-refund-1.yaml"),
    Type(words=("check",)),
    Type(words=("policy", "adopt", "--reason", "the rules we start with")),
    Type(words=("publish",)),
    Say(text="Production takes only what was live on staging, and a workflow only with everything that it requires."),
    Type(words=("promote", "support/refund@1.0.0", "--to", "staging", "--reason", "first release"), code=3),
    Type(
        words=(
            "promote",
            "support/refund@1.0.0",
            "support/refund-draft@1.0.0",
            "--to",
            "staging",
            "--reason",
            "first release",
        )
    ),
    Type(
        words=(
            "promote",
            "support/refund@1.0.0",
            "support/refund-draft@1.0.0",
            "--to",
            "production",
            "--reason",
            "first release",
        )
    ),
    Say(text="Version 2 checks eligibility first. Without a suite for the new tool it does not get in."),
    Write(path="procedures/support/check-eligibility.yaml", source="check-eligibility.yaml"),
    Write(path="procedures/support/refund.yaml", source="refund-2.yaml"),
    Write(path="conformance/refund.yaml", source="suite-refund-2.yaml"),
    Write(path="conformance/refund-without-check.yaml", source="suite-refund-1-kept.yaml"),
    Type(words=("publish",)),
    Type(
        words=(
            "promote",
            "support/refund@2.0.0",
            "support/check-eligibility@1.0.0",
            "--to",
            "staging",
            "--reason",
            "check first",
        ),
        code=4,
    ),
    Write(path="conformance/check-eligibility.yaml", source="suite-check-eligibility.yaml"),
    Type(
        words=(
            "promote",
            "support/refund@2.0.0",
            "support/check-eligibility@1.0.0",
            "--to",
            "staging",
            "--reason",
            "check first",
        )
    ),
    Type(
        words=(
            "promote",
            "support/refund@2.0.0",
            "support/check-eligibility@1.0.0",
            "--to",
            "production",
            "--reason",
            "check first",
        )
    ),
    Say(text="Finance makes the check a rule. The plan says beforehand which way back that closes."),
    Write(path="registry/policies/refunds.yaml", source="policy-2.yaml"),
    Type(words=("policy", "plan")),
    Type(words=("policy", "adopt", "--reason", "finance asks for the check")),
    Say(text="Errors go up. Going back to version 1 would break today's policy, so it is refused, and nothing moves."),
    Type(
        words=(
            "rollback",
            "support/refund",
            "--channel",
            "production",
            "--to",
            "1.0.0",
            "--reason",
            "errors went up",
        ),
        code=3,
    ),
    Type(words=("resolve", "support/refund", "--channel", "production")),
    Say(text="The way out: a tuned version 2.1.0 goes out, proves worse, and the rollback finds 2.0.0 by itself."),
    Write(path="procedures/support/refund.yaml", source="refund-2.yaml", words=_TUNED),
    Type(words=("publish",)),
    Type(words=("promote", "support/refund@2.1.0", "--to", "staging", "--reason", "a tighter budget")),
    Type(words=("promote", "support/refund@2.1.0", "--to", "production", "--reason", "a tighter budget")),
    Type(words=("targets", "support/refund", "--channel", "production")),
    Type(words=("rollback", "support/refund", "--channel", "production", "--reason", "too tight")),
    Say(text="What was rolled back does not come back by itself. Every attempt is in the history; all of it verifies."),
    Type(words=("promote", "support/refund@2.1.0", "--to", "production", "--reason", "try again"), code=7),
    Type(words=("history", "production")),
    Type(words=("verify",)),
)
