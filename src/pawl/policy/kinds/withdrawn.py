"""``withdrawn: {refuse: [deprecated]}``: nothing in the closure is withdrawn, as mildly as the rule says.

Without any rule a deprecated version warns, a yanked one gets no new pins and a revoked one is refused. This makes it
stricter, never milder.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from pawl.policy.bodies import BodyReader
from pawl.policy.context import RuleContext, RuleKind, Said
from pawl.policy.verdict import WITHHELD
from pawl.problems import Fault

LEVELS = ("deprecated", "yanked")
"""What can be refused beyond what is refused anyway."""


def read_withdrawn(body: Any) -> tuple[tuple[str, ...], tuple[Fault, ...]]:
    """Return the levels that are refused, or the faults of the body."""
    reader = BodyReader("withdrawn", body)
    refuse = reader.words("refuse", known=LEVELS, needed=True)
    return refuse, reader.finish()


def _evaluate(body: Any, context: RuleContext) -> Said:
    refuse, faults = read_withdrawn(body)
    if faults:
        return "errored", faults[0].message
    withdrawn = context.facts.withdrawn
    if withdrawn is None:
        return "missing", "nobody knows what is withdrawn"
    wrong = [f"{item.ref} is {item.level}: {item.reason}" for item in withdrawn if item.level in refuse]
    if wrong:
        return "failed", "; ".join(wrong)
    return "passed", f"nothing in its closure is {' or '.join(refuse)}"


KIND = RuleKind(
    schema=MappingProxyType(
        {
            "type": "object",
            "title": "Withdrawn",
            "description": "Which withdrawals refuse that otherwise only warn.",
            "properties": {"refuse": {"type": "array", "items": {"enum": list(LEVELS)}, "minItems": 1}},
            "required": ["refuse"],
            "additionalProperties": False,
        }
    ),
    check=lambda body: read_withdrawn(body)[1],
    evaluate=_evaluate,
    code="withdrawn-refused",
    exit_code=WITHHELD,
    live=True,
)
