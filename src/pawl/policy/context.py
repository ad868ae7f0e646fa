"""What a rule is asked with, and what a kind of rule is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

from pawl.canonical import timestamp
from pawl.policy.facts import NOTHING, Facts
from pawl.policy.verdict import REFUSED
from pawl.problems import Fault

RuleClass: TypeAlias = Literal["safety", "readiness"]
RULE_CLASSES: tuple[RuleClass, ...] = get_args(RuleClass)
RuleOutcome: TypeAlias = Literal["passed", "failed", "errored", "missing", "not-applicable"]
Said: TypeAlias = tuple[RuleOutcome, str]
"""What a demand says, and what it looked at: for a no what differs, for what is not applicable why."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RuleContext:
    """Everything that a rule can look at. ``now`` is in UTC."""

    procedure: Mapping[str, Any]
    closure: tuple[Mapping[str, Any], ...]
    channel: str
    action: str
    actor: Mapping[str, Any]
    """``name``, ``email``, ``verified``, ``kind`` and ``roles``."""
    current: Mapping[str, Any] | None
    """The document that the channel has pinned now, if any."""
    now: datetime
    facts: Facts = NOTHING
    detail: bool = False
    """Whether a yes says what it looked at, too, where that costs something."""
    explain: bool = True
    """Whether a no says what differs."""

    @property
    def at(self) -> str:
        """``now`` as it stands in records."""
        return timestamp(self.now)

    def values(self) -> dict[str, Any]:
        """Return the variables of an expression."""
        return {
            "procedure": self.procedure,
            "closure": list(self.closure),
            "channel": self.channel,
            "action": self.action,
            "actor": self.actor,
            "current": self.current,
            "now": self.now,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleKind:
    """One way to demand something. Pure, as all of this room."""

    schema: Mapping[str, Any]
    """JSON Schema of the body, for editors."""
    check: Callable[[Any], tuple[Fault, ...]]
    """The faults of a body; places are relative to it."""
    evaluate: Callable[[Any, RuleContext], Said]
    """The outcome for a body, and what it looked at; a body with a fault is errored."""
    code: str = "rule-failed"
    """The code of a no."""
    exit_code: int = REFUSED
    classes: tuple[RuleClass, ...] = RULE_CLASSES
    """The classes that a rule of this kind can have."""
    live: bool = False
    """Whether it says something of what is live and asked for, so that ``enforce_live`` makes sense."""
    actions: Callable[[Any], tuple[str, ...] | None] = lambda _body: None
    """The actions that a body is about, where it names some."""
    evidence: bool = False
    """Whether it looks at the results of suites, which are gathered last."""
    hint: str | None = None
    """What to do about a no, with ``{subject}``, ``{together}`` (it and all that moves) and ``{channel}``."""
