"""Verdicts: what was met, what is missing, what failed, and then one ``allowed``.

A verdict without findings allows nothing. Every finding says what it looked at; every no says which exit code it means,
and where several apply, the one that is hardest to get around wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias

from pawl.problems import Problem, Severity
from pawl.values import dataclass

Status: TypeAlias = Literal["passed", "failed", "errored", "missing", "warning", "waived", "not-applicable"]
Action: TypeAlias = Literal["promote", "rollback", "remove", "resolve", "audit"]

REFUSED = 3
EVIDENCE = 4
CONFLICT = 5
INTEGRITY = 6
WITHHELD = 7
APPROVAL = 8
FINDINGS = 1
HARDEST_FIRST = (INTEGRITY, REFUSED, WITHHELD, EVIDENCE, APPROVAL, CONFLICT, FINDINGS)
"""From the no that nothing gets around to the one that is mended soonest."""

_HOLDS: frozenset[Status] = frozenset({"passed", "warning", "waived", "not-applicable"})
_TOLD: frozenset[Status] = frozenset({"warning", "waived"})
"""What holds and is worth saying all the same."""


def hardest(codes: Iterable[int]) -> int:
    """Return the exit code that wins, 0 for none; a code that is not in the order wins over all."""
    found = set(codes) - {0}
    for code in found:
        if code not in HARDEST_FIRST:
            return code
    return next((code for code in HARDEST_FIRST if code in found), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The outcome of one check. ``exit_code`` is what a no means; it counts only where the check does not hold."""

    check: str
    status: Status
    code: str
    message: str
    exit_code: int
    subject: str | None = None
    rule: str | None = None
    policy: int | None = None
    differs: str | None = None
    """For a rule that failed: what in the document is not as the rule wants it."""
    hint: str | None = None
    looked_at: str | None = None
    """For a rule that holds: what it looked at."""
    waiver: int | None = None
    """The record of the waiver that a rule was waived by."""

    @property
    def holds(self) -> bool:
        return self.status in _HOLDS

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form: what is absent is left out, and an exit code where the check holds."""
        fields = (
            "check",
            "status",
            "code",
            "message",
            "subject",
            "rule",
            "policy",
            "differs",
            "hint",
            "looked_at",
            "waiver",
        )
        row = {name: value for name in fields if (value := getattr(self, name)) is not None}
        return row if self.holds else {**row, "exit_code": self.exit_code}

    def problem(self) -> Problem:
        severity: Severity = "error" if not self.holds else "warning" if self.status in _TOLD else "note"
        message = f"{self.message} ({self.differs})" if self.differs else self.message
        return Problem(code=self.code, severity=severity, message=message, rule=self.rule, hint=self.hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the evaluator says of one action on one channel."""

    action: Action
    channel: str
    policy: int | None
    findings: tuple[Finding, ...]

    @property
    def allowed(self) -> bool:
        return bool(self.findings) and all(finding.holds for finding in self.findings)

    @property
    def failures(self) -> tuple[Finding, ...]:
        """Every finding that does not hold, hardest first."""
        wrong = (finding for finding in self.findings if not finding.holds)
        return tuple(sorted(wrong, key=lambda finding: _hardness(finding.exit_code)))

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Every finding that holds and is worth saying: warnings, and what is waived."""
        return tuple(finding for finding in self.findings if finding.status in _TOLD)

    @property
    def exit_code(self) -> int:
        """0 only where the verdict allows."""
        if self.allowed:
            return 0
        return hardest(finding.exit_code for finding in self.failures) or REFUSED

    def as_dict(self) -> dict[str, Any]:
        return {
            "action": self.action,
            "channel": self.channel,
            "policy": self.policy,
            "allowed": self.allowed,
            "findings": [finding.as_dict() for finding in self.findings],
        }


Answers: TypeAlias = dict[str, tuple[Finding, ...]]
"""What checks said of one situation, by check."""


def once(answers: Answers | None, check: str, ask: Callable[[], tuple[Finding, ...]]) -> tuple[Finding, ...]:
    """Return what a check says, which is asked only where ``answers`` has nothing of it yet."""
    if answers is None:
        return ask()
    if check not in answers:
        answers[check] = ask()
    return answers[check]


def _hardness(code: int) -> int:
    return HARDEST_FIRST.index(code) if code in HARDEST_FIRST else -1
