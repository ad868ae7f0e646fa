"""Approve: one person's yes to versions, or to somebody's waiver, recorded whether it counts or not.

- The yes is to one digest with the closure that it would have on the channel, given what is pinned and what is approved
  together, under the policy number in force, and it ends.
- It counts if some rule that asks for approvals would count it. Whether it does is asked of the rules themselves, with
  somebody else as who asks for the promotion. Where no rule asks, the least that any rule wants is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from pawl.canonical import timestamp
from pawl.errors import RefusedError, UsageError
from pawl.ids import Channel, Name, Ref
from pawl.operations.governing.counting import Approving, approving_in, verdicts, why_not_counted
from pawl.operations.governing.recording import Drafted, Scene, draft, end_in_time, scene_of
from pawl.operations.session import Report, Session
from pawl.operations.situations import situation_for
from pawl.policy.durations import duration_words
from pawl.policy.kinds.known import RULE_KINDS
from pawl.policy.situation import affected
from pawl.policy.verdict import APPROVAL
from pawl.problems import Problem, Severity
from pawl.registry.catalog import Adopted
from pawl.registry.channels import ChannelState
from pawl.registry.channels_grants import Approval
from pawl.releases.planning import pin_of

USUAL = timedelta(days=30)
LONGEST = timedelta(days=366)


def approve(
    session: Session, refs: Sequence[Ref], channel: Channel, reason: str, *, until: datetime | None, dry_run: bool
) -> Report:
    """Record an approval of exact versions. Exit code 8 where one of them does not count, with the reason."""
    scene = scene_of(session, channel, reason)
    policy = _policy(scene)
    end = _end(session, until)
    approving = _approving(scene, refs)
    new = [name for name in approving.pins if _present(approving, name, end if until else None) is None]
    if not new:
        kept = [found for name in approving.pins if (found := _present(approving, name, None))]
        told = "; ".join(f"{found.ref} until {found.until}" for found in kept)
        return scene.unchanged(f"you approved this already: {told}", policy=policy.number)
    rows = [_row(approving, name, policy, end) for name in new]
    what = ", ".join(row["ref"] for row in rows)
    drafted = draft(scene, "approve", {"approvals": rows}, what)
    judged = drafted.judged
    told_rows, problems = [], list[Problem]()
    for row, name in zip(rows, new, strict=True):
        counts, said = _counts(approving, name, judged, drafted)
        told_rows.append({**row, "counts": counts})
        problems += said
    refused = any(not row["counts"] for row in told_rows)
    dropped = {name for name, row in zip(new, told_rows, strict=True) if not row["counts"]}
    problems += _wanting(approving, judged, dropped)
    data = {"policy": policy.number, "until": end, "approvals": told_rows}
    return drafted.finish(data, problems=tuple(problems), exit_code=APPROVAL if refused else 0, dry_run=dry_run)


def _policy(scene: Scene) -> Adopted:
    policy = scene.world.catalog.policy
    if policy is None:
        message = "no policy has been adopted, and an approval is given under a policy"
        raise RefusedError(message, code="no-policy", hint='pawl policy adopt --reason "..."')
    return policy


def _end(session: Session, until: datetime | None) -> str:
    end = end_in_time(session, until or session.now + USUAL, "the approval")
    if end > timestamp(session.now + LONGEST):
        message = f"an approval lasts {duration_words(LONGEST)} at most"
        raise UsageError(message, code="end-late", hint="give an earlier end, and approve again then")
    return end


def _approving(scene: Scene, refs: Sequence[Ref]) -> Approving:
    pins = {ref.name: pin_of(scene.world.published(ref)) for ref in refs}
    if len(pins) < len(refs):
        raise UsageError("the same procedure is named twice: one version of each can be pinned", code="name-twice")
    situation = situation_for(scene.session, scene.world, action="promote", state=scene.state, moves=pins)
    return approving_in(scene.session, replace(situation, state=scene.judged), pins)


def _row(approving: Approving, name: Name, policy: Adopted, end: str) -> dict[str, Any]:
    pin = approving.pins[name]
    closure = approving.closure(name)
    return {
        "ref": str(pin.ref),
        "digest": pin.digest,
        "closure": closure.digest,
        "policy": policy.number,
        "until": end,
    }


def _present(approving: Approving, name: Name, end: str | None) -> Approval | None:
    """Return the same person's equal approval that counts still; of that very end, if one was asked for."""
    me, state = approving.situation.requester, approving.situation.state
    closure, policy = approving.closure(name).digest, approving.situation.policy
    for row in state.approvals.get(approving.pins[name].digest, ()):
        same = row.by.is_same(me) and row.by.kind == me.kind and (row.closure, row.policy) == (closure, policy)
        if same and end in {None, row.until} and verdicts(approving, name, state, row.by, row.at).ok:
            return row
    return None


def _counts(
    approving: Approving, name: Name, state: ChannelState, drafted: Drafted
) -> tuple[bool, tuple[Problem, ...]]:
    """Return whether the approval that was drafted counts for a version, and what there is to say of it."""
    said = verdicts(approving, name, state, drafted.by, drafted.record.at)
    ref, channel = approving.pins[name].ref, state.channel
    problems = []
    for rule, (outcome, looked_at) in said.asked:
        if outcome != "passed":
            why = why_not_counted(looked_at)
            rule_text = f" for rule {rule}" if rule else ""
            message = f"the approval of {ref} on {channel} does not count{rule_text}: {why}"
            severity: Severity = "warning" if said.ok else "error"
            problems.append(Problem(code="approval-not-counted", severity=severity, message=message, rule=rule))
        elif rule is None:
            message = f"no rule asks for approvals of {ref} on {channel}"
            problems.append(Problem(code="approval-not-asked", severity="note", message=message))
    return said.ok, tuple(problems)


def _wanting(approving: Approving, state: ChannelState, told: Collection[Name]) -> Iterator[Problem]:
    """Yield what is still missing, for the versions and for what is pinned and requires them."""
    names = affected(approving.situation)
    together = " ".join(str(approving.situation.after[name].ref) for name in names)
    for name in names:
        if name in told:
            continue
        context = approving.context(name, state)
        for rule in approving.asking(context):
            outcome, looked_at = RULE_KINDS["approvals"].evaluate(rule.body, context)
            if outcome == "passed":
                continue
            ref = approving.situation.after[name].ref
            also = "" if name in approving.pins else "is pinned, requires what is approved and "
            hint = f'pawl approve {together} --channel {state.channel} --reason "..."'
            message = f"{ref} {also}needs more for rule {rule.id}: {looked_at}"
            yield Problem(code="approval-needed", severity="note", message=message, rule=rule.id, hint=hint)
