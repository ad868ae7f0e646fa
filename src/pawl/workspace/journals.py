"""What a workspace's journals say: the registry, and each channel with its projection."""

from __future__ import annotations

import os
import time
from contextlib import suppress

from pawl.canonical import sha256
from pawl.errors import IntegrityError
from pawl.ids import REGISTRY_JOURNAL, Channel, Digest
from pawl.io.file_marks import mark_of
from pawl.io.files import read_bounded
from pawl.io.memory import Lost
from pawl.registry.anchors import check_anchor, check_anchored, cut_off
from pawl.registry.catalog import Catalog, fold_registry
from pawl.registry.channels import ChannelState, empty_channel, fold_channel, projection_bytes, read_projection
from pawl.registry.channels_projection import serial_in
from pawl.registry.growing import StoredRows
from pawl.registry.journal import EMPTY, MAX_RECORD_BYTES, Head, Record, unseal
from pawl.values import dataclass, field
from pawl.workspace.index import Index
from pawl.workspace.index_rows import Source, digest_in, time_in
from pawl.workspace.index_states import catalog_from, channel_from
from pawl.workspace.journal_files import chain_after, lost, record_data, serials_of
from pawl.workspace.places import Places


@dataclass(frozen=True, slots=True)
class Journals(Places):
    """The journals of a workspace. Their states come from the index where it knows them, else from the files alone."""

    _index: Index = field(default_factory=Index, init=False, repr=False, compare=False)

    @property
    def _indexed(self) -> Index:
        return self._index.of(self.root)

    def journal(self, journal: str) -> tuple[Record, ...]:
        """Return a whole journal, checked; empty where there is none."""
        return chain_after(self, journal, EMPTY, serials_of(self, journal))

    def head(self, journal: str) -> Head:
        """Return the serial and the digest of the newest record, which is checked by itself alone."""
        source = self._indexed.source(journal)
        if source is not None:
            return source.head
        newest = self.newest(journal)
        return newest.head if newest else EMPTY

    def newest(self, journal: str) -> Record | None:
        """Return the newest record alone, checked by its own digest."""
        source = self._indexed.source(journal)
        serials = serials_of(self, journal) if source is None else [source.head.serial]
        if not serials or not serials[-1]:
            return None
        return self.record(journal, serials[-1])

    def record(self, journal: str, serial: int) -> Record:
        """Return one record alone, checked by its own digest."""
        return unseal(record_data(self, journal, serial), journal=journal, serial=serial)

    def catalog(self) -> Catalog:
        """Return what the registry knows; ``IntegrityError`` where it has no record and a channel knows of one."""
        source = self._indexed.source(REGISTRY_JOURNAL)
        if source is not None and source.head.serial:
            return source.kept(catalog_from)
        catalog = fold_registry(self.journal(REGISTRY_JOURNAL))
        if not catalog.head.serial:
            for channel in self.known_channels():
                self.check_anchor(self.served(channel))
        return catalog

    def known_channels(self) -> tuple[Channel, ...]:
        """Return every channel that has a journal or a projection; to read one without its journal is an error."""
        return tuple(sorted({*self.channels(), *self.projected()}))

    def channel(self, channel: Channel) -> ChannelState:
        """Return a channel with its whole past, by its journal."""
        source = self._indexed.source(channel)
        with suppress(Lost):
            if source is not None and source.head.serial:
                return source.kept(channel_from)
        return fold_channel(channel, self.journal(channel))

    def served(self, channel: Channel) -> ChannelState:
        """Return what a channel serves now, checked against its projection where there is one.

        One that was edited is an ``IntegrityError``; one that a killed command left behind its journal is passed over,
        and so is a missing one. A release that comes between the reading of record and projection is no damage.
        """
        seen = None
        while True:
            try:
                return self._served(channel)
            except IntegrityError:
                now = serials_of(self, channel)[-1:]
                if now == seen:
                    raise
                seen = now

    def _served(self, channel: Channel) -> ChannelState:
        source = self._indexed.source(channel)
        with suppress(Lost):
            if source is not None and source.head.serial:
                state = source.kept(channel_from)
                self._check_projection(source, state)
                return state
        return self._served_by_files(channel)

    def appended(self, record: Record, projected: Digest | None = None) -> None:
        """Have a record folded on that was appended just now, under the lock; ``projected`` is the digest of the bytes
        of its channel's projection, which was written as well."""
        self._indexed.appended(record, projected)

    def whole(self, channel: Channel) -> ChannelState:
        """Return a channel with its whole past, its projection checked as that of what is served."""
        state = self.served(channel)
        return state if isinstance(state.evidence, StoredRows) else self.channel(channel)

    def time_of(self, journal: str, head: Head) -> str:
        """Return the time that a record is of which was found to be the newest of a journal; RFC 3339 in UTC."""
        source = self._indexed.known(journal, head)
        with suppress(Lost):
            if source is not None:
                return time_in(source)
        return self.record(journal, head.serial).at

    def check_anchor(self, state: ChannelState, registry: Head = EMPTY) -> None:
        """Raise ``IntegrityError`` where the registry lacks the record that a channel's newest one was judged on.

        ``registry`` is where the registry was found to end just now; it is not looked at again where that is enough.
        """
        if not state.registry.serial:
            return
        known = self._indexed.known(REGISTRY_JOURNAL, registry)
        with suppress(Lost):
            if known is not None and digest_in(known, state.registry.serial) == state.registry.digest:
                return
        source = self._indexed.source(REGISTRY_JOURNAL)
        with suppress(Lost):
            if source is not None:
                check_anchored(digest_in(source, state.registry.serial), state)
                return
        check_anchor(self.journal(REGISTRY_JOURNAL), state)

    def registry_was_at(self, head: Head, now: Head) -> bool:
        """Whether the registry, which ends at ``now``, ended at ``head`` once; False where the index cannot tell."""
        known = self._indexed.known(REGISTRY_JOURNAL, now)
        with suppress(Lost):
            return known is not None and digest_in(known, head.serial) == head.digest
        return False

    def _check_projection(self, source: Source, state: ChannelState) -> None:
        path, now = self.projection_file(state.channel), time.time_ns()
        try:
            mark = mark_of(os.lstat(path), now)
        except OSError:
            mark = None
            if not path.exists():
                return
        if mark is not None and self._indexed.has_projection(source, mark):
            return
        data = read_bounded(path, limit=MAX_RECORD_BYTES, root=self.root)
        digest = sha256(data)
        known = self._indexed.is_projection(source, digest)
        if not known and data != projection_bytes(state):
            newest = self.record(state.channel, state.head.serial)
            if not _is_behind(data, newest):
                read_projection(data, state.channel, newest)
        elif mark is not None or not known:
            self._indexed.found_projection(source, digest, mark)

    def _served_by_files(self, channel: Channel) -> ChannelState:
        """Return what the projection says where the newest record vouches for it, else what the journal comes to."""
        newest = self.newest(channel)
        path = self.projection_file(channel)
        if newest is None:
            if path.exists():
                raise lost(channel, f"{self.relative(path)} is there")
            return empty_channel(channel)
        if not path.exists():
            return fold_channel(channel, self.journal(channel))
        data = read_bounded(path, limit=MAX_RECORD_BYTES, root=self.root)
        if _is_behind(data, newest):
            return fold_channel(channel, self.journal(channel))
        return read_projection(data, channel, newest)


def _is_behind(data: bytes, newest: Record) -> bool:
    """Whether a projection is that of an earlier record: a command was killed between the record and the projection.

    ``IntegrityError`` where it is that of a later one, since then it is the journal that is not whole.
    """
    known = serial_in(data)
    if known is not None and known > newest.serial:
        problem = cut_off(Channel(newest.journal), newest.serial, known)
        raise IntegrityError(problem.message, problems=(problem,))
    return known is not None and known < newest.serial
