"""The registry and every channel, read once and checked against each other."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any

from pawl.conformance.evidence import subject_of
from pawl.errors import NotFoundError, PawlError
from pawl.ids import REGISTRY_JOURNAL, Channel, Digest, Ref, Version
from pawl.policy.rules import Rule
from pawl.policy.sources import rules_from
from pawl.registry.catalog import Catalog, Published
from pawl.registry.channels import ChannelState, empty_channel
from pawl.registry.growing import StoredRows
from pawl.registry.journal import Head
from pawl.workspace import Workspace
from pawl.workspace.journal_files import lost


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """All state that decisions rest on. ``rules`` are the adopted ones."""

    catalog: Catalog
    channels: Mapping[Channel, ChannelState]
    rules: tuple[Rule, ...]
    _evidence: Mapping[Digest, tuple[Mapping[str, Any], ...]] = field(init=False, repr=False, compare=False)
    """The evidence entries of channels that are not stored, by the digest of their subject."""

    def __post_init__(self) -> None:
        found: dict[Digest, list[Mapping[str, Any]]] = {}
        for state in self.channels.values():
            for row in () if isinstance(state.evidence, StoredRows) else state.evidence:
                found.setdefault(subject_of(row), []).append(row)
        object.__setattr__(self, "_evidence", {digest: tuple(rows) for digest, rows in found.items()})

    @property
    def heads(self) -> Mapping[str, Head]:
        """Where each journal ends."""
        return {REGISTRY_JOURNAL: self.catalog.head, **{name: state.head for name, state in self.channels.items()}}

    def evidence_of(self, subject: Digest) -> tuple[Mapping[str, Any], ...]:
        """Return the evidence entries on one version, as the records of all channels hold them."""
        stored = [
            state.evidence.of(subject) for state in self.channels.values() if isinstance(state.evidence, StoredRows)
        ]
        return (*(row for rows in stored for row in rows), *self._evidence.get(subject, ()))

    def channel(self, channel: Channel) -> ChannelState:
        """Return a channel's state; ``NotFoundError`` for one that neither a journal nor the adopted policy knows."""
        policy = self.catalog.policy
        if channel in self.channels:
            return self.channels[channel]
        if policy is None or channel in policy.channels:
            return empty_channel(channel)
        known = ", ".join(sorted({*self.channels, *policy.channels})) or "none"
        raise NotFoundError(
            f"there is no channel {channel}; adopted channels: {known}",
            code="channel-unknown",
            hint="a new channel in registry/registry.yaml counts after: pawl policy adopt",
        )

    def upstream(self, channel: Channel) -> tuple[Channel | None, ChannelState | None]:
        """Return the channel that versions must have been live on first, by the adopted settings."""
        policy = self.catalog.policy
        name = policy.channels.get(channel) if policy else None
        return name, self.channels.get(name) if name else None

    def published(self, ref: Ref) -> Published:
        """Return a published version; ``NotFoundError`` says what there is instead."""
        return published_in(self.catalog, ref)


def published_in(catalog: Catalog, ref: Ref) -> Published:
    """Return a published version; ``NotFoundError`` says what there is instead."""
    found = catalog.published.get(ref)
    if found is not None:
        return found
    raise missing_version(ref, [item.version for item in catalog.versions_of(ref.name)])


def missing_version(ref: Ref, versions: list[Version]) -> NotFoundError:
    if not versions:
        return NotFoundError(
            f"{ref.name} has never been published",
            code="name-unknown",
            hint="pawl list shows every published name; pawl publish freezes new ones",
        )
    return NotFoundError(
        f"{ref} has never been published; there are {', '.join(versions[-8:])}",
        code="version-unknown",
        hint=f"pawl show {ref.name} lists its versions",
    )


def read_world(workspace: Workspace) -> World:
    """Read every journal and check that none was cut behind what the others know; ``IntegrityError`` otherwise."""
    catalog = workspace.catalog()
    if not catalog.head.serial:
        _refuse_unread(workspace)
    channels = {}
    for channel in workspace.known_channels():
        channels[channel] = workspace.whole(channel)
    for state in channels.values():
        workspace.check_anchor(state, catalog.head)
    policy = catalog.policy
    return World(catalog=catalog, channels=channels, rules=rules_from(policy.rules) if policy else ())


def _refuse_unread(workspace: Workspace) -> None:
    """Refuse a registry without a record where the last commit has its first one and versions are frozen here.

    A first publish that was killed before its record leaves frozen versions too, and Git knows of none then.
    """
    if next(workspace.frozen_refs(), None) is None:
        return
    from pawl.io import git  # noqa: PLC0415 - slow, and a workspace with records does not ask

    first = workspace.record_file(REGISTRY_JOURNAL, 1)
    known = False
    with suppress(PawlError):  # a Git that fails knows nothing
        repository = git.find(workspace.root)
        if repository is not None:
            with closing(repository):
                name = (workspace.root.resolve() / workspace.relative(first)).relative_to(repository.root)
                known = repository.holds(name.as_posix())
    if known:
        raise lost(REGISTRY_JOURNAL, "the last commit has its record 1")
