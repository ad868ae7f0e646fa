"""``evidence: {max_age: P30D}``: the results of the suites that let a version in are not older than this.

Readiness by nature: on the way back suites are run again and no age is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from pawl.policy.bodies import BodyReader
from pawl.policy.context import RuleContext, RuleKind, Said
from pawl.policy.durations import duration_words
from pawl.policy.facts import ResultFact, read_moment
from pawl.policy.verdict import EVIDENCE
from pawl.problems import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceBody:
    """What such a rule demands."""

    max_age: timedelta


def read_evidence(body: Any) -> tuple[EvidenceBody | None, tuple[Fault, ...]]:
    """Return the demand, or the faults of its body."""
    reader = BodyReader("evidence", body)
    max_age = reader.duration("max_age", needed=True)
    faults = reader.finish()
    return (EvidenceBody(max_age=max_age.exact) if max_age and not faults else None), faults


def _evaluate(body: Any, context: RuleContext) -> Said:
    demand, faults = read_evidence(body)
    if demand is None:
        return "errored", faults[0].message
    results = context.facts.results
    if results is None:
        return "missing", "no suite has been asked yet"
    if not results:
        return "missing", "no suite has a result"
    wrong = [said for result in results if (said := _wrong(result, demand, context))]
    if wrong:
        return "failed", "; ".join(wrong)
    newest = ", ".join(f"{result.suite} of {result.at}" for result in results)
    return "passed", f"no older than {duration_words(demand.max_age)}: {newest}"


def _wrong(result: ResultFact, demand: EvidenceBody, context: RuleContext) -> str | None:
    if result.at is None:
        return f"nobody knows when suite {result.suite} was run"
    if result.at > context.at:
        return f"the result of suite {result.suite} is of {result.at}, which has not come yet"
    age = context.now - read_moment(result.at)
    if age >= demand.max_age:
        return (
            f"the result of suite {result.suite} is {duration_words(age)} old, of {result.at}, "
            f"and at most {duration_words(demand.max_age)} are allowed"
        )
    return None


KIND = RuleKind(
    schema=MappingProxyType(
        {
            "type": "object",
            "title": "Evidence",
            "description": "How old the results of suites may be when a version is promoted.",
            "properties": {"max_age": {"type": "string", "description": "An ISO 8601 length of time, such as P30D."}},
            "required": ["max_age"],
            "additionalProperties": False,
        }
    ),
    check=lambda body: read_evidence(body)[1],
    evaluate=_evaluate,
    code="evidence-stale",
    exit_code=EVIDENCE,
    classes=("readiness",),
    evidence=True,
    hint="pawl test {subject} runs its suites; promoting runs what is too old again",
)
