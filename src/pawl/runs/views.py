"""The view of a channel in a workspace, and the snapshot that is taken of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from pawl.canonical import sha256, timestamp
from pawl.errors import NotFoundError
from pawl.ids import REGISTRY_JOURNAL, Channel, Digest, Name, Ref, Serial
from pawl.registry.snapshot import Entry, Withheld, snapshot_bytes
from pawl.runs.snapshot_view import not_pinned, pin_rows

if TYPE_CHECKING:  # the workspace brings Git-free but slower modules; readers of snapshots do not need them
    from pawl.policy.rules import Rule
    from pawl.policy.verdict import Verdict
    from pawl.registry.catalog import Catalog
    from pawl.registry.channels import ChannelState
    from pawl.workspace import Workspace


class WorkspaceView:
    """A view of a channel in a workspace. The registry's part (withdrawals, rules) is that of the same moment."""

    def __init__(self, workspace: Workspace, state: ChannelState, catalog: Catalog) -> None:
        self.workspace = workspace
        self.state = state
        self.catalog = catalog
        self._kept: dict[Name, tuple[Ref, str, Entry]] = {}
        """What was served before, with the mark of its frozen file: it is served again while the file has that mark."""

    @property
    def channel(self) -> Channel:
        return self.state.channel

    @property
    def serial(self) -> Serial:
        return self.state.head.serial

    @property
    def policy(self) -> int | None:
        policy = self.catalog.policy
        return policy.number if policy else None

    @property
    def digest(self) -> Digest:
        return self.state.head.digest or sha256(b"")

    @cached_property
    def live_rules(self) -> tuple[Rule, ...]:
        """The adopted rules that stop serving what breaks them."""
        from pawl.policy.served import may_watch  # noqa: PLC0415 - readers of snapshots do not need it

        policy = self.catalog.policy
        if policy is None or not may_watch(policy.rules):
            return ()
        from pawl.policy.sources import rules_from  # noqa: PLC0415 - slow to import, and few channels have such rules

        return tuple(rule for rule in rules_from(policy.rules) if rule.enforce_live)

    def names(self) -> tuple[Name, ...]:
        return tuple(self.state.pins)

    def pins(self) -> dict[str, dict[str, str]]:
        return pin_rows(self.state.pins)

    def entry(self, name: Name, now: datetime) -> Entry:
        kept = self._kept.get(name)
        if kept is not None and kept[1] == self.workspace.frozen_mark(kept[0]):
            return kept[2]
        pin = self.state.pins.get(name)
        if pin is None:
            raise not_pinned(name, self.channel)
        withheld = None
        verdict = resolve_verdict(self, name, now)
        if verdict.failures:
            first = verdict.failures[0]
            withheld = Withheld(code=first.code, message=first.message, exit_code=verdict.exit_code, hint=first.hint)
        mark = self.workspace.frozen_mark(pin.ref, settled=True)
        entry = Entry(
            kind=pin.kind,
            name=name,
            version=pin.version,
            digest=pin.digest,
            requires=pin.requires,
            warnings=tuple(finding.message for finding in verdict.warnings),
            document=None if withheld else self.workspace.procedure(pin).document,
            withheld=withheld,
        )
        if withheld is None and mark is not None and not self.live_rules:  # what no clock decides
            self._kept[name] = (pin.ref, mark, entry)
        return entry

    def stale(self, now: datetime) -> bool:  # noqa: ARG002 - a workspace is read, not copied
        return False

    def refusal(self, entry: Entry, now: datetime) -> Withheld | None:  # noqa: ARG002 - no rule here has a clock
        ref = Ref(entry.name, entry.version)
        withdrawal = self.catalog.withdrawal(ref)
        if withdrawal is not None and withdrawal.level == "revoked":
            return Withheld(code="revoked", message=f"{ref} is revoked: {withdrawal.reason}", exit_code=7)
        halt = self.state.halts.get(entry.name)
        if halt is not None and halt.version in {None, entry.version}:
            message = f"{entry.name} is halted on {self.channel} by {halt.by} since {halt.at}: {halt.reason}"
            return Withheld(code="halted", message=message, exit_code=7)
        return None

    def again(self) -> WorkspaceView:
        """Return the newest state; this view, where both journals still end with the records that it was read from."""
        known = {REGISTRY_JOURNAL: self.catalog.head.digest, self.channel: self.state.head.digest}
        if all(self.workspace.head(journal).digest == digest for journal, digest in known.items()):
            return self
        return open_channel(self.workspace, self.channel)


def open_channel(workspace: Workspace, channel: Channel) -> WorkspaceView:
    """Return the view of a channel as it is now; ``NotFoundError`` for a channel that was never written to."""
    state = workspace.served(channel)
    workspace.check_anchor(state)
    catalog = workspace.catalog()
    policy = catalog.policy
    if state.head.serial == 0 and (policy is None or channel not in policy.channels):
        known = ", ".join(workspace.channels()) or "none"
        raise NotFoundError(f"there is no channel {channel}; there are: {known}", code="channel-unknown")
    return WorkspaceView(workspace, state, catalog)


def resolve_verdict(view: WorkspaceView, name: Name, now: datetime) -> Verdict:
    """Return the evaluator's verdict on serving one pin."""
    from pawl.policy.situation import Situation  # noqa: PLC0415 - as above
    from pawl.registry.closure import closure_of  # noqa: PLC0415 - as above
    from pawl.registry.journal import Actor  # noqa: PLC0415 - as above

    rules, policy = view.live_rules, view.catalog.policy
    signers = policy.signers if policy else None
    pins = view.state.pins
    members = closure_of(name, pins).members if rules else ()
    procedures = [view.workspace.procedure(pins[member.name]) for member in members]
    situation = Situation(
        action="resolve",
        state=view.workspace.attested(view.state, signers, timestamp(now), approvals=False) if rules else view.state,
        catalog=view.catalog,
        rules=rules,
        documents={procedure.digest: procedure.document for procedure in procedures},
        actor=Actor(name="agent"),
        now=now,
        moves={},
        subjects=(name,),
        people=policy.people if policy else None,
    )
    if not rules:
        from pawl.policy.served import served_verdict  # noqa: PLC0415 - as above

        return served_verdict(situation)
    from pawl.policy.evaluator import evaluate  # noqa: PLC0415 - slow to import, and few channels have such rules

    return evaluate(situation)


def take_snapshot(view: WorkspaceView, *, now: datetime, expires: datetime | None) -> bytes:
    """Return the sealed snapshot file of everything that a channel serves now."""
    entries = {name: view.entry(name, now) for name in sorted(view.names())}
    revoked = {str(ref): why for ref, why in _revoked(view.catalog) if ref.name in entries}
    return snapshot_bytes(
        channel=view.channel,
        serial=view.serial,
        head=view.state.head.digest,
        policy=view.policy,
        created=timestamp(now),
        expires=timestamp(expires) if expires else None,
        entries=entries,
        revoked=revoked,
    )


def _revoked(catalog: Catalog) -> Iterator[tuple[Ref, str]]:
    for ref, withdrawal in catalog.withdrawals.items():
        if withdrawal.level == "revoked":
            yield ref, withdrawal.reason
