"""What every operation is told once: where, who, when, and what it may do; and the report that it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pawl.canonical import timestamp
from pawl.errors import UsageError
from pawl.problems import Problem
from pawl.registry.channels_grants import ActorKind
from pawl.registry.journal import Actor
from pawl.workspace import Workspace

if TYPE_CHECKING:  # only what writes needs plans and Git
    from pawl.io.git import Repository
    from pawl.releases.planning import Stamp

Status: TypeAlias = Literal["done", "unchanged", "would", "would-refuse", "refused", "passed", "failed"]
"""``would`` and ``would-refuse`` are those of a dry run, which never sounds like success."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One command or call. ``now`` is one value for all of it."""

    workspace: Workspace
    actor: Actor
    now: datetime
    repository: Repository | None = None
    """The one of the workspace, where it was asked who acts: what it answered holds for all of the command."""
    commit: bool = True
    """Whether written files are committed where there is Git."""
    run_code: bool = True
    """Whether implementations of tools may be run."""
    actor_kind: ActorKind = "unknown"
    """What the actor says to be; a claim that takes rights away is believed, one that would give some is not."""
    vouched: dict[Any, bool] = field(default_factory=dict, repr=False, compare=False)
    """Which records signatures were found to vouch for so far: each is looked at once."""

    @property
    def at(self) -> str:
        """``now`` as it stands in records: RFC 3339 in UTC to the second."""
        return timestamp(self.now)

    def stamp(self, reason: str | None) -> Stamp:
        from pawl.releases.planning import Stamp  # noqa: PLC0415 - as above

        return Stamp(actor=self.actor, at=self.at, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an operation came to. ``data`` is JSON; the command line adds nothing to it."""

    status: Status
    exit_code: int = 0
    problems: tuple[Problem, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)


MAX_REASON = 2_000


def checked_reason(reason: str) -> str:
    """Return a reason without blanks around it, or raise ``UsageError`` where it says nothing, too much or a secret."""
    text = reason.strip()
    if not text:
        raise UsageError("a reason is needed: it is what the history will say", code="reason-missing")
    if len(text) > MAX_REASON or any((ord(char) < 32 and char not in "\n\t") or _is_half(char) for char in text):
        message = f"a reason is UTF-8 of at most {MAX_REASON} characters without control characters"
        raise UsageError(message, code="reason-bad")
    if _holds_secret(text):
        message = "the reason seems to hold a secret, and the history keeps it for ever"
        raise UsageError(message, code="reason-secret", hint="say why without it, and replace it where it was issued")
    return text


def _holds_secret(text: str) -> bool:
    from pawl.lint.secret_formats import may_hold_secret  # noqa: PLC0415 - only what writes has a reason

    if not may_hold_secret(text, text.casefold()):
        return False
    from pawl.lint.secrets import seems_secret  # noqa: PLC0415 - slow, and few texts have a mark of a secret

    return seems_secret(text)


def _is_half(char: str) -> bool:
    """Whether a character is half of a surrogate pair: it came from bytes that are no UTF-8, and cannot be written."""
    return "\ud800" <= char <= "\udfff"
