"""Views: what a channel serves, read from a workspace or from a snapshot file.

A view is one consistent state: it does not change under its reader. ``refusal`` asks the place that the view came from
what holds *now*, so that a halt or a revocation reaches a run that keeps an older state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pawl.canonical import sha256, timestamp
from pawl.errors import IntegrityError, NotFoundError, PawlError, RefusedError, WithheldError
from pawl.ids import REGISTRY_JOURNAL, Channel, Digest, Name, Ref, Serial
from pawl.problems import Problem
from pawl.procedures.procedure import Procedure
from pawl.registry.snapshot import MAX_BYTES, Entry, Snapshot, Withheld, read_snapshot, snapshot_bytes

if TYPE_CHECKING:  # the workspace brings Git-free but slower modules; readers of snapshots do not need them
    from pawl.policy.rules import Rule
    from pawl.policy.verdict import Verdict
    from pawl.registry.catalog import Catalog
    from pawl.registry.channels import ChannelState
    from pawl.workspace import Workspace


class View(Protocol):
    """What agents are served from."""

    @property
    def channel(self) -> Channel: ...
    @property
    def serial(self) -> Serial: ...
    @property
    def policy(self) -> int | None: ...
    @property
    def digest(self) -> Digest:
        """The identity of the state: of the snapshot, or of the channel's newest record."""

    def names(self) -> tuple[Name, ...]: ...
    def pins(self) -> dict[str, dict[str, str]]:
        """Return name -> version, digest and kind of every pin."""

    def entry(self, name: Name, now: datetime) -> Entry:
        """Return a pin, served or withheld; ``NotFoundError`` where nothing is pinned."""

    def stale(self, now: datetime) -> bool: ...
    def refusal(self, entry: Entry, now: datetime) -> Withheld | None:
        """Return why an entry, of this view or of an older one, must not be used any more, as of now."""

    def again(self) -> View:
        """Return a view of the newest state of the same place."""


def raise_withheld(withheld: Withheld) -> None:
    """Raise the error that belongs to a withheld pin."""
    kinds: Mapping[int, type[PawlError]] = {3: RefusedError, 6: IntegrityError}
    kind = kinds.get(withheld.exit_code, WithheldError)
    problem = Problem(code=withheld.code, message=withheld.message, hint=withheld.hint)
    raise kind(withheld.message, problems=(problem,))


def not_pinned(name: Name, channel: Channel) -> NotFoundError:
    return NotFoundError(
        f"{name} is not pinned on {channel}",
        code="not-pinned",
        hint=f'pawl status shows what is; to pin it: pawl promote {name}@X.Y.Z --to {channel} --reason "..."',
    )


@dataclass(frozen=True, slots=True, eq=False)
class SnapshotView:
    """A view of a snapshot file."""

    path: Path
    snapshot: Snapshot

    @property
    def channel(self) -> Channel:
        return self.snapshot.channel

    @property
    def serial(self) -> Serial:
        return self.snapshot.serial

    @property
    def policy(self) -> int | None:
        return self.snapshot.policy

    @property
    def digest(self) -> Digest:
        return self.snapshot.digest

    def names(self) -> tuple[Name, ...]:
        return tuple(self.snapshot.entries)

    def pins(self) -> dict[str, dict[str, str]]:
        return _pin_rows(self.snapshot.entries)

    def entry(self, name: Name, now: datetime) -> Entry:  # noqa: ARG002 - what it says was true when it was made
        try:
            return self.snapshot.entries[name]
        except KeyError:
            raise not_pinned(name, self.channel) from None

    def stale(self, now: datetime) -> bool:
        return self.snapshot.stale(timestamp(now))

    def refusal(self, entry: Entry, now: datetime) -> Withheld | None:  # noqa: ARG002 - as above
        ref = str(Ref(entry.name, entry.version))
        reason = self.snapshot.revoked.get(ref)
        if reason is not None:
            return Withheld(code="revoked", message=f"{ref} is revoked: {reason}", exit_code=7)
        here = self.snapshot.entries.get(entry.name)
        return here.withheld if here is not None and (here.version == entry.version or _whole_name(here)) else None

    def again(self) -> SnapshotView:
        return open_snapshot(self.path, self.channel)


def _pin_rows(pins: Mapping[Name, Any]) -> dict[str, dict[str, str]]:
    return {name: {"version": pin.version, "digest": pin.digest, "kind": pin.kind} for name, pin in pins.items()}


def _whole_name(entry: Entry) -> bool:
    return entry.withheld is not None and entry.withheld.code == "halted"


def open_snapshot(path: Path, channel: Channel | None) -> SnapshotView:
    """Return the view of a snapshot file; ``IntegrityError`` or ``InvalidError`` for one that cannot be trusted."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise NotFoundError(f"the snapshot {path} cannot be read: {error.strerror}", code="snapshot-missing") from None
    return SnapshotView(path, read_snapshot(data, channel=channel))


@dataclass(frozen=True, eq=False)
class WorkspaceView:
    """A view of a channel in a workspace. The registry's part (withdrawals, rules) is that of the same moment."""

    workspace: Workspace
    state: ChannelState
    catalog: Catalog

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
        from pawl.policy.sources import rules_from  # noqa: PLC0415 - readers of snapshots do not need it

        policy = self.catalog.policy
        return tuple(rule for rule in (rules_from(policy.rules) if policy else ()) if rule.enforce_live)

    def names(self) -> tuple[Name, ...]:
        return tuple(self.state.pins)

    def pins(self) -> dict[str, dict[str, str]]:
        return _pin_rows(self.state.pins)

    def entry(self, name: Name, now: datetime) -> Entry:
        pin = self.state.pins.get(name)
        if pin is None:
            raise not_pinned(name, self.channel)
        withheld = None
        verdict = resolve_verdict(self, name, now)
        if verdict.failures:
            first = verdict.failures[0]
            withheld = Withheld(code=first.code, message=first.message, exit_code=verdict.exit_code, hint=first.hint)
        return Entry(
            kind=pin.kind,
            name=name,
            version=pin.version,
            digest=pin.digest,
            requires=pin.requires,
            warnings=tuple(finding.message for finding in verdict.warnings),
            document=None if withheld else self.workspace.procedure(pin).document,
            withheld=withheld,
        )

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
        newest = {journal: self.workspace.newest(journal) for journal in known}
        if known == {journal: record.digest if record else None for journal, record in newest.items()}:
            return self
        return open_channel(self.workspace, self.channel)


def open_channel(workspace: Workspace, channel: Channel) -> WorkspaceView:
    """Return the view of a channel as it is now; ``NotFoundError`` for a channel that was never written to."""
    from pawl.registry.anchors import check_anchor  # noqa: PLC0415 - as above
    from pawl.registry.catalog import fold_registry  # noqa: PLC0415 - readers of snapshots do not need it

    state = workspace.served(channel)
    records = workspace.journal(REGISTRY_JOURNAL)
    catalog = fold_registry(records)
    check_anchor(records, state)
    policy = catalog.policy
    if state.head.serial == 0 and (policy is None or channel not in policy.channels):
        known = ", ".join(workspace.channels()) or "none"
        raise NotFoundError(f"there is no channel {channel}; there are: {known}", code="channel-unknown")
    return WorkspaceView(workspace, state, catalog)


def resolve_verdict(view: WorkspaceView, name: Name, now: datetime) -> Verdict:
    """Return the evaluator's verdict on serving one pin."""
    from pawl.policy.evaluator import evaluate  # noqa: PLC0415 - as above
    from pawl.policy.situation import Situation  # noqa: PLC0415 - as above
    from pawl.registry.closure import closure_of  # noqa: PLC0415 - as above
    from pawl.registry.journal import Actor  # noqa: PLC0415 - as above

    rules, policy = view.live_rules, view.catalog.policy
    signers = policy.signers if policy else None
    pins = view.state.pins
    members = closure_of(name, pins).members if rules else ()
    procedures = [view.workspace.procedure(pins[member.name]) for member in members]
    return evaluate(
        Situation(
            action="resolve",
            state=view.workspace.attested(view.state, signers, timestamp(now), approvals=False)
            if rules
            else view.state,
            catalog=view.catalog,
            rules=rules,
            documents={procedure.digest: procedure.document for procedure in procedures},
            actor=Actor(name="agent"),
            now=now,
            moves={},
            subjects=(name,),
            people=policy.people if policy else None,
        )
    )


def procedure_of(entry: Entry) -> Procedure:
    """Return the procedure that an entry serves; raises where it is withheld, or its document is not its digest's."""
    if entry.withheld is not None:
        raise_withheld(entry.withheld)
    if entry.document is None:
        raise IntegrityError(f"{entry.name}@{entry.version} has no document")
    return Procedure(
        kind=entry.kind, name=entry.name, version=entry.version, document=entry.document, digest=entry.digest
    )


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
