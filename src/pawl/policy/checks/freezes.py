"""The check of recorded freezes: a channel that somebody stopped stands still until it ends or is lifted.

A freeze that is dated in the future holds at once: no clock loosens one. Serving, auditing and taking a pin off are
never held up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pawl.ids import Name, Ref
from pawl.policy.facts import Facts
from pawl.policy.kinds.freeze import spared
from pawl.policy.leaving import Leaving
from pawl.policy.situation import Situation
from pawl.policy.verdict import WITHHELD, Finding
from pawl.registry.channels_grants import Freeze
from pawl.registry.closure import Closure


def freeze_findings(situation: Situation, closures: Mapping[Name, Closure]) -> Iterator[Finding]:
    """Yield what each freeze in force says of each procedure that the move touches."""
    leaving = Leaving(situation)
    for freeze in situation.state.freezes.values():
        if situation.action not in freeze.actions or (freeze.until is not None and freeze.until <= situation.at):
            continue
        for name, closure in closures.items():
            yield _finding(situation, freeze, name, closure, leaving)


def _finding(situation: Situation, freeze: Freeze, name: Name, closure: Closure, leaving: Leaving) -> Finding:
    channel = situation.state.channel
    subject = str(Ref(name, closure.root.version))
    until = f" until {freeze.until}" if freeze.until else ""
    said = f"{channel} is frozen{until} by {freeze.by} since {freeze.at}: {freeze.reason}"
    why = _excepted(situation, freeze, name, closure, leaving)
    if why is not None:
        message = f"{said}; {why}"
        return Finding(
            check="frozen", status="passed", code="freeze-spares", message=message, exit_code=WITHHELD, subject=subject
        )
    return Finding(
        check="frozen",
        status="failed",
        code="frozen",
        message=said,
        exit_code=WITHHELD,
        subject=subject,
        hint=f'when it may move again: pawl unfreeze {channel} --reason "..."',
    )


def _excepted(situation: Situation, freeze: Freeze, name: Name, closure: Closure, leaving: Leaving) -> str | None:
    document = situation.documents.get(closure.root.digest) or {}
    facts = Facts(roles=situation.roles, requester=situation.requester)
    why = spared(freeze.spares, name=name, labels=document.get("labels"), facts=facts)
    if why is not None:
        return why
    left = leaving.why(name, closure, since=freeze.at)
    return f"what is live must not stay: {left}" if left else None
