"""``bump: {largest: minor}``: the largest step that a channel takes from the version it has to the next.

A first pin is no step; where the pin was taken off, what was live last counts. A step down counts as one of the same
size up. Readiness by nature: a way back can be any step.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from pawl.ids import Version
from pawl.policy.bodies import BodyReader
from pawl.policy.context import RuleContext, RuleKind, Said
from pawl.problems import Fault
from pawl.registry.versions import version_key

STEPS = ("patch", "minor")
"""What can be the largest; with a major one nothing would ever be refused."""
_SIZES = ("none", "patch", "minor", "major")


def read_bump(body: Any) -> tuple[str | None, tuple[Fault, ...]]:
    """Return the largest step, or the faults of the body."""
    reader = BodyReader("bump", body)
    largest = reader.word("largest", STEPS)
    faults = reader.finish()
    return (largest if not faults else None), faults


def step(old: str, new: str) -> str:
    """Return the size of the step between two versions; pre-releases of one version are a patch apart."""
    before, after = version_key(Version(old)), version_key(Version(new))
    if before == after:
        return "none"
    for size, one, other in zip(("major", "minor"), before.release, after.release, strict=False):
        if one != other:
            return size
    return "patch"


def _evaluate(body: Any, context: RuleContext) -> Said:
    largest, faults = read_bump(body)
    if largest is None:
        return "errored", faults[0].message
    pinned = context.facts.pinned
    if pinned is None:
        return "missing", "nobody knows what is pinned now"
    if not context.facts.moves:
        return "not-applicable", "it does not move: it is pinned here already"
    if not pinned:
        return "passed", "nothing is pinned yet, so it is no step"
    return _compared(pinned[0], str(context.procedure.get("version")), largest)


def _compared(old: str, new: str, largest: str) -> Said:
    try:
        found = step(old, new)
    except ValueError as error:
        return "errored", str(error)
    said = f"from {old} to {new} is a {found} step" if found != "none" else f"{new} is pinned already"
    if _SIZES.index(found) <= _SIZES.index(largest):
        return "passed", said
    return "failed", f"{said}, and {largest} is the largest that is allowed"


KIND = RuleKind(
    schema=MappingProxyType(
        {
            "type": "object",
            "title": "Bump",
            "description": "The largest step from what is pinned to what is promoted.",
            "properties": {"largest": {"type": "string", "enum": list(STEPS)}},
            "required": ["largest"],
            "additionalProperties": False,
        }
    ),
    check=lambda body: read_bump(body)[1],
    evaluate=_evaluate,
    code="step-too-large",
    classes=("readiness",),
)
