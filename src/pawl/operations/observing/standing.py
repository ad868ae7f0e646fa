"""What stands on a channel beside its pins: freezes, waivers, approvals, and how far a halt has got.

A waiver counts, is pending, has ended, or its review was missed. It is used while something that is pinned came in by
it, or is kept by it: what was overridden stays listed until it is replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, TypeAlias

from pawl.errors import PawlError
from pawl.ids import Name, Serial
from pawl.operations.governing.counting import standing_approvals
from pawl.operations.session import Session
from pawl.operations.situations import people_of
from pawl.operations.world import World
from pawl.policy.facts import read_moment
from pawl.policy.rules import DEFAULT_TERMS, Rule, WaiverTerms
from pawl.policy.verdict import Finding, Verdict
from pawl.policy.waiving import FEWER_TESTS, consent_counts, is_unreviewed, review_missed, terms_of, why_not
from pawl.problems import Problem, Severity
from pawl.registry.channels import MOVING_ACTIONS, ChannelState, Halt
from pawl.registry.channels_grants import Waiver
from pawl.registry.journal import Actor
from pawl.runs.ledger import Ledger
from pawl.runs.rows import RunRow

SOON = timedelta(days=7)
"""A waiver is told as ending so long before, or in the last quarter of its time where that is shorter."""
MAX_RUNS = 1_000
"""Open runs that are told of one halt, oldest first."""
WaiverState: TypeAlias = Literal["counts", "pending", "ended", "review-missed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """What is pinned in spite of a rule."""

    ref: str
    rule: str
    waiver: Serial
    since: Serial | None
    """The record that let it in; None where it is only kept, by what is judged of it now."""

    def as_dict(self) -> dict[str, Any]:
        return {"ref": self.ref, "rule": self.rule, "waiver": self.waiver, "since": self.since}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A waiver as it stands now."""

    waiver: Waiver
    state: WaiverState
    why_not: str | None
    until: str
    """When it stops counting, as it stands: a missed review ends it, too."""
    unreviewed: bool
    """Whether it broke the glass, and nobody who can has looked at it so far."""
    ends_soon: bool
    used_by: tuple[str, ...]
    counted: frozenset[Serial]
    """The records of those who approved it and can."""

    @property
    def unused(self) -> bool:
        return self.state == "counts" and not self.used_by

    def as_dict(self) -> dict[str, Any]:
        return {
            **self.waiver.as_dict(),
            "approved_by": [
                {**consent.as_dict(), "counts": consent.serial in self.counted} for consent in self.waiver.approved_by
            ],
            "state": self.state,
            "why_not": self.why_not,
            "counts_until": self.until,
            "unreviewed": self.unreviewed,
            "ends_soon": self.ends_soon,
            "used_by": list(self.used_by),
            "unused": self.unused,
        }


def overrides(session: Session, state: ChannelState, live: Verdict | None) -> tuple[Override, ...]:
    """Return what is pinned by a waiver: by the records that let it in, and by ``live``, what is judged of it now."""
    if not state.waivers:
        return ()
    pins = {str(pin.ref): pin for pin in state.pins.values()}
    found: dict[tuple[str, Serial], Override] = {}
    for record in session.workspace.journal(state.channel):
        for row in record.body["verdict"]["findings"] if record.action in MOVING_ACTIONS else ():
            pin = pins.get(row.get("subject"))
            if row["status"] == "waived" and "waiver" in row and pin is not None and record.serial >= pin.since:
                waiver = Serial(row["waiver"])
                rule = row.get("rule") or FEWER_TESTS
                found[str(pin.ref), waiver] = Override(ref=str(pin.ref), rule=rule, waiver=waiver, since=record.serial)
    for finding in live.findings if live is not None else ():
        if finding.status == "waived" and finding.waiver is not None:
            _kept(found, finding)
    return tuple(found.values())


def _kept(found: dict[tuple[str, Serial], Override], finding: Finding) -> None:
    ref, waiver = finding.subject or "", Serial(finding.waiver or 0)
    kept = Override(ref=ref, rule=finding.rule or FEWER_TESTS, waiver=waiver, since=None)
    found.setdefault((ref, waiver), kept)


def standing_waivers(
    session: Session, world: World, state: ChannelState, overridden: Iterable[Override]
) -> tuple[Standing, ...]:
    """Return every waiver that was ever asked for on a channel, as it stands now."""
    policy = world.catalog.policy
    signers, known = policy.signers if policy else None, session.vouched
    attested = session.workspace.attested(state, signers, session.at, approvals=False, known=known)
    used: dict[Serial, list[str]] = {}
    for item in overridden:
        used.setdefault(item.waiver, []).append(item.ref)
    rules = {rule.id: rule for rule in world.rules}
    return tuple(
        _waiver(session, world, waiver, _terms(rules, waiver.rule), used.get(serial, ()))
        for serial, waiver in attested.waivers.items()
    )


def _terms(rules: Mapping[str, Rule], rule: str) -> WaiverTerms | None:
    if rule == FEWER_TESTS:
        return DEFAULT_TERMS
    found = rules.get(rule)
    return terms_of(found) if found is not None else None


def _waiver(session: Session, world: World, waiver: Waiver, terms: WaiverTerms | None, used: Sequence[str]) -> Standing:
    people = people_of(world)
    barred = _barred(world, waiver)
    why = why_not(waiver, terms, people=people, now=session.now, barred=barred)
    unreviewed = is_unreviewed(waiver, terms, people=people, now=session.now, barred=barred)
    until = min(waiver.until, waiver.review_by) if unreviewed and waiver.review_by else waiver.until
    state: WaiverState = "counts" if why is None else "pending"
    if waiver.until <= session.at:
        state = "ended"
    if review_missed(waiver, terms, people=people, now=session.now):
        state = "review-missed"
    return Standing(
        waiver=waiver,
        state=state,
        why_not=why,
        until=until,
        unreviewed=unreviewed,
        ends_soon=state == "counts" and _ends_soon(session, waiver, until),
        used_by=tuple(sorted(used)),
        counted=frozenset(
            consent.serial
            for consent in waiver.approved_by
            if consent_counts(waiver, consent, terms, people=people, now=session.now, barred=barred)
        ),
    )


def _barred(world: World, waiver: Waiver) -> tuple[Actor, ...]:
    """Who made the version: nobody consents to do without approvals for their own."""
    kinds = {rule.id: rule.kind for rule in world.rules}
    if waiver.digest is None or kinds.get(waiver.rule) != "approvals":
        return ()
    return tuple(world.catalog.authors.get(waiver.digest, ()))


def _ends_soon(session: Session, waiver: Waiver, until: str) -> bool:
    end = read_moment(until)
    return end - session.now <= min(SOON, (end - read_moment(waiver.at)) / 4)


def waiver_problems(state: ChannelState, found: Iterable[Standing], *, live: bool) -> Iterator[Problem]:
    """Yield what somebody should know of waivers, one line for each.

    ``live``: whether this is about what is live alone; a missed review is an error there only if something is pinned.
    """
    for item in found:
        told = _told(state, item, live=live)
        if told is not None:
            yield told


def _told(state: ChannelState, item: Standing, *, live: bool) -> Problem | None:
    waiver, used = item.waiver, "nothing pinned needs it"
    if item.used_by:
        used = f"{', '.join(item.used_by)} is pinned by it"
    what = f"{state.channel}: waiver {waiver.serial} of rule {waiver.rule} for {waiver.covers} ({waiver.owner})"
    approve = f'pawl approve --waiver {waiver.serial} --channel {state.channel} --reason "..." by a second person'
    code, message, hint = "", "", None
    severity: Severity = "warning"
    if item.state == "review-missed":
        code, hint, severity = "review-missed", approve, "error" if item.used_by or not live else "warning"
        message = f"{what} broke the glass, and its review was due at {waiver.review_by}: it counts no more; {used}"
    elif item.state == "ended" and item.used_by:
        code, message = "waiver-ended", f"{what} ended at {waiver.until}; {used} still"
    elif item.state == "counts" and item.unreviewed:
        code, hint = "review-due", approve
        message = f"{what} broke the glass and is to be reviewed by {waiver.review_by}; {used}"
    elif item.ends_soon or item.unused:
        code, message = (
            "waiver-ending" if item.ends_soon else "waiver-unused",
            f"{what} counts until {item.until}; {used}",
        )
    return Problem(code=code, severity=severity, message=message, hint=hint) if code else None


def override_problems(state: ChannelState, found: Iterable[Override]) -> Iterator[Problem]:
    """Yield a warning for each pin that a rule was waived for."""
    for item in found:
        how = f"came in at serial {item.since}" if item.since is not None else "is kept"
        message = f"{state.channel}: {item.ref} {how} by waiver {item.waiver} of rule {item.rule}"
        yield Problem(
            code="overridden",
            severity="warning",
            message=message,
            rule=item.rule,
            hint="it is told until another version is pinned",
        )


def freezes(session: Session, state: ChannelState) -> list[dict[str, Any]]:
    """Return every freeze that was not lifted, and whether it is in force."""
    return [
        {**freeze.as_dict(), "in_force": freeze.until is None or freeze.until > session.at}
        for freeze in state.freezes.values()
    ]


def freeze_problems(state: ChannelState, rows: Iterable[Mapping[str, Any]]) -> Iterator[Problem]:
    for row in rows:
        if row["in_force"]:
            until = f" until {row['until']}" if row["until"] else ""
            what = f"{state.channel} is frozen for {' and '.join(row['actions'])}{until}"
            message = f"{what} by {row['by']} since {row['at']}: {row['reason']}"
            yield Problem(code="frozen", severity="warning", message=message)


def approvals(session: Session, world: World, state: ChannelState) -> list[dict[str, Any]]:
    """Return every approval that has not ended, whether it is of the policy in force, and whether it counts."""
    policy = world.catalog.policy
    number = policy.number if policy else None
    return [
        {
            **item.approval.as_dict(),
            "of_this_policy": item.approval.policy == number,
            "counts": item.counts,
            "why": item.why,
        }
        for item in standing_approvals(session, world, state)
    ]


def halts(session: Session, state: ChannelState, problems: list[Problem]) -> list[dict[str, Any]]:
    """Return every halt, with the open runs of this workspace's ledger that it is about and whether they know."""
    if not state.halts:
        return []
    try:
        file = session.workspace.ledger_file
        if not file.exists():
            return [_halt(name, halt, ()) for name, halt in state.halts.items()]
        with Ledger(file) as ledger:
            return [
                _halt(name, halt, ledger.open_with(state.channel, name, halt.version, limit=MAX_RUNS))
                for name, halt in state.halts.items()
            ]
    except PawlError as error:
        message = f"nothing is said of open runs: {error.message}"
        problems.append(Problem(code="ledger-not-asked", severity="warning", message=message))
        return [_halt(name, halt, ()) for name, halt in state.halts.items()]


def _halt(name: Name, halt: Halt, runs: Sequence[RunRow]) -> dict[str, Any]:
    """``knows`` are runs that came to a checkpoint, or began, since; ``waiting`` go on until they come to one."""
    rows = [(run.knows(halt.serial), _run(run)) for run in runs]
    return {
        "name": name,
        **halt.as_dict(),
        "runs": {
            "knows": [row for knows, row in rows if knows],
            "waiting": [row for knows, row in rows if not knows],
            "all": len(rows) < MAX_RUNS,
        },
    }


def _run(run: RunRow) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "agent": run.agent,
        "serial": run.serial,
        "started_at": run.started_at,
        "checked_at": run.checked_at,
        "checked_serial": run.checked_serial,
        "stopped": bool(run.stopped),
    }
