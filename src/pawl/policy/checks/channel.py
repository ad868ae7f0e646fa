"""The checks that hold whatever the rules are: policy, order, closure, fit, withdrawals, rejections and halts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pawl.canonical import timestamp
from pawl.ids import Name, Ref
from pawl.policy.checks.fit import fit_findings
from pawl.policy.situation import MOVING, Situation
from pawl.policy.verdict import REFUSED, WITHHELD, Finding, Status
from pawl.registry.closure import Closure


def policy_findings(situation: Situation) -> Iterator[Finding]:
    if situation.action == "remove":
        return
    policy = situation.catalog.policy
    channel = situation.state.channel
    if policy is None:
        yield Finding(
            check="policy",
            status="missing",
            code="no-policy",
            message="no policy has been adopted, so nothing is allowed",
            exit_code=REFUSED,
            hint='write rules under registry/policies/ and run: pawl policy adopt --reason "..."',
        )
        return
    known = channel in policy.channels
    yield Finding(
        check="policy",
        status="passed" if known else "failed",
        code="policy-adopted" if known else "channel-not-adopted",
        message=f"policy {policy.number} is in force" + ("" if known else f" and knows no channel {channel}"),
        exit_code=REFUSED,
        policy=policy.number,
        hint=None if known else 'channel settings take effect with: pawl policy adopt --reason "..."',
    )


def order_findings(situation: Situation) -> Iterator[Finding]:
    upstream, before = situation.upstream_name, situation.upstream
    if situation.action != "promote" or upstream is None:
        return
    for pin in situation.moves.values():
        if pin is None:
            continue
        was = before is not None and before.was_live(pin.digest, pin.name)
        yield Finding(
            check="order",
            status="passed" if was else "failed",
            code="channel-order",
            message=f"{pin.ref} {'was' if was else 'was never'} live on {upstream}",
            exit_code=REFUSED,
            subject=str(pin.ref),
            hint=None if was else f'promote it there first: pawl promote {pin.ref} --to {upstream} --reason "..."',
        )


def requirement_findings(situation: Situation, closures: Mapping[Name, Closure]) -> Iterator[Finding]:
    if situation.action == "resolve":
        return
    removed = [name for name, pin in situation.moves.items() if pin is None]
    for name in removed if not closures else ():
        message = f"nothing that stays pinned requires {name}"
        yield Finding(check="closure", status="passed", code="closure-complete", message=message, exit_code=REFUSED)
    for closure in closures.values():
        root = Ref(closure.root.name, closure.root.version)
        if not closure.unmet:
            yield _requirement(root, "passed", f"everything that {root} requires is pinned with it")
        for unmet in closure.unmet:
            yield _requirement(root, "failed", str(unmet))


def _requirement(root: Ref, status: Status, message: str) -> Finding:
    hint = "move the set together; --with-requirements proposes it" if status == "failed" else None
    return Finding(
        check="closure",
        status=status,
        code="requirement-unmet" if status == "failed" else "closure-complete",
        message=message,
        exit_code=REFUSED,
        subject=str(root),
        hint=hint,
    )


def fit_checks(situation: Situation, closures: Mapping[Name, Closure]) -> Iterator[Finding]:
    return fit_findings(
        closures,
        situation.after,
        action=situation.action,
        state=situation.state,
        documents=situation.documents,
    )


def withdrawal_findings(situation: Situation, closures: Mapping[Name, Closure]) -> Iterator[Finding]:
    seen: set[Ref] = set()
    for closure in closures.values():
        for member in closure.members:
            ref = Ref(member.name, member.version)
            withdrawal = situation.catalog.withdrawal(ref)
            if withdrawal is None or ref in seen:
                continue
            seen.add(ref)
            is_new = situation.action in MOVING and member.name in situation.moves
            final = withdrawal.level == "revoked" or (withdrawal.level == "yanked" and is_new)
            yield Finding(
                check="withdrawn",
                status="failed" if final else "warning",
                code=withdrawal.level,
                message=f"{ref} is {withdrawal.level}: {withdrawal.reason}",
                exit_code=WITHHELD,
                subject=str(ref),
                hint="choose another version" if final else "plan the move to another version",
            )


def rejection_findings(situation: Situation) -> Iterator[Finding]:
    if situation.action not in MOVING:
        return
    now = timestamp(situation.now)
    channel = situation.state.channel
    for pin in situation.moves.values():
        rejection = situation.state.rejections.get(pin.content) if pin else None
        if pin is None or rejection is None or not rejection.holds(now):
            continue
        how = "rolled back" if rejection.cause == "rollback" else "rejected"
        same = "" if rejection.ref == str(pin.ref) else f" (as {rejection.ref}, which has the same content)"
        yield Finding(
            check="rejected",
            status="failed",
            code="rejected",
            message=f"{pin.ref} was {how} on {channel}{same} by {rejection.by} at {rejection.at}: {rejection.reason}",
            exit_code=WITHHELD,
            subject=str(pin.ref),
            hint=f'fix it in a new version, or: pawl unreject {rejection.ref} --channel {channel} --reason "..."',
        )


def halt_findings(situation: Situation) -> Iterator[Finding]:
    if situation.action == "remove":
        return
    serves = situation.action == "resolve"
    names = situation.subjects if situation.action not in MOVING else tuple(situation.moves)
    channel = situation.state.channel
    for name in names:
        halt = situation.state.halted(name) if situation.action not in MOVING else situation.state.halts.get(name)
        if halt is None:
            continue
        yield Finding(
            check="halted",
            status="failed" if serves else "warning",
            code="halted",
            message=f"{name} is halted on {channel} by {halt.by} since {halt.at}: {halt.reason}",
            exit_code=WITHHELD,
            subject=name,
            hint=f'when it may be served again: pawl resume {name} --channel {channel} --reason "..."',
        )
