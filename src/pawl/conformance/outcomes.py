"""Outcomes of cases and suites, and their tally: values, each with its reason.

Only ``passed`` is a pass. ``failed`` says no; ``errored`` could not tell; ``skipped`` was not run; ``inconclusive`` was
looked at and gave no answer. Nothing is ever counted as passed because nothing went wrong: a suite passes when it has
at least one case and every case passed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from pawl.ids import Digest, Name, Ref

Outcome: TypeAlias = Literal["passed", "failed", "errored", "skipped", "inconclusive"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

WORST_FIRST: tuple[Outcome, ...] = ("failed", "errored", "inconclusive", "skipped", "passed")
"""What decides where several outcomes meet: a plain no first, then what could not tell, then what was not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """What one case came to; ``reasons`` is empty only where it passed."""

    id: str
    outcome: Outcome
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """What an implementation gave back: a JSON value."""

    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class NotReturned:
    """Why there is no result of an implementation: it was not run, or it broke."""

    outcome: Literal["skipped", "errored"]
    reason: str


Observation: TypeAlias = Returned | NotReturned


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many of each outcome; their sum is the total."""

    passed: int = 0
    failed: int = 0
    errored: int = 0
    skipped: int = 0
    inconclusive: int = 0

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.errored + self.skipped + self.inconclusive

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            passed=self.passed + other.passed,
            failed=self.failed + other.failed,
            errored=self.errored + other.errored,
            skipped=self.skipped + other.skipped,
            inconclusive=self.inconclusive + other.inconclusive,
        )

    def as_dict(self) -> dict[str, int]:
        """Return the JSON form: every outcome, and the total."""
        return {**{outcome: getattr(self, outcome) for outcome in OUTCOMES}, "total": self.total}


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteResult:
    """What one suite came to on one version. ``partial`` says that a filter left cases out."""

    suite: Name
    suite_digest: Digest
    about: Ref
    subject: Digest
    cases: tuple[CaseResult, ...]
    partial: bool = False

    @property
    def tally(self) -> Tally:
        return tally_of(case.outcome for case in self.cases)

    @property
    def outcome(self) -> Outcome:
        """The outcome of the whole; ``errored`` where no case was run."""
        return fold(case.outcome for case in self.cases)

    @property
    def passed(self) -> bool:
        """Whether every case of the suite was run and passed; a partial run never is a pass of the suite."""
        return self.outcome == "passed" and not self.partial

    def of(self, outcome: Outcome) -> tuple[str, ...]:
        """Return the ids of the cases with one outcome, in the order of the suite."""
        return tuple(case.id for case in self.cases if case.outcome == outcome)


def tally_of(outcomes: Iterable[Outcome]) -> Tally:
    """Return how often each outcome occurs."""
    counts: dict[Outcome, int] = dict.fromkeys(OUTCOMES, 0)
    for outcome in outcomes:
        counts[outcome] += 1
    return Tally(**counts)


def tally_of_suites(results: Iterable[SuiteResult]) -> Tally:
    """Return the sum over suites."""
    return sum((result.tally for result in results), Tally())


def fold(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the outcome of several together: ``passed`` only where there is one and all are; none is ``errored``."""
    found = set(outcomes)
    return next((outcome for outcome in WORST_FIRST if outcome in found), "errored")
