"""What a workspace's journals say: the registry, and each channel with its projection."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pawl.ids import REGISTRY_JOURNAL, Channel
from pawl.io.files import read_bounded
from pawl.registry.catalog import Catalog, fold_registry
from pawl.registry.channels import ChannelState, empty_channel, fold_channel, read_projection
from pawl.registry.journal import MAX_RECORD_BYTES, Record, chain, damaged, unseal
from pawl.workspace.journal_files import record_data, serials_of
from pawl.workspace.places import Places


@dataclass(frozen=True, slots=True)
class Journals(Places):
    """The journals of a workspace, every record checked."""

    def journal(self, journal: str) -> tuple[Record, ...]:
        """Return a whole journal, checked; empty where there is none."""
        return chain(journal, ((serial, record_data(self, journal, serial)) for serial in serials_of(self, journal)))

    def newest(self, journal: str) -> Record | None:
        """Return the newest record alone, checked by its own digest."""
        serials = serials_of(self, journal)
        return unseal(record_data(self, journal, serials[-1]), journal=journal, serial=serials[-1]) if serials else None

    def catalog(self) -> Catalog:
        return fold_registry(self.journal(REGISTRY_JOURNAL))

    def channel(self, channel: Channel) -> ChannelState:
        """Return a channel with its whole past, folded from its journal."""
        return fold_channel(channel, self.journal(channel))

    def served(self, channel: Channel) -> ChannelState:
        """Return what a channel serves now: from the projection where the newest record vouches for it.

        A missing projection is made up from the journal. One that was edited is an ``IntegrityError``; one that a
        killed command left behind its journal is passed over.
        """
        newest = self.newest(channel)
        path = self.projection_file(channel)
        if newest is None:
            if path.exists():
                raise damaged(channel, 1, "the channel has a projection and no journal")
            return empty_channel(channel)
        if not path.exists():
            return self.channel(channel)
        data = read_bounded(path, limit=MAX_RECORD_BYTES, root=self.root)
        if _is_behind(data, newest):
            return self.channel(channel)
        return read_projection(data, channel, newest)


def _is_behind(data: bytes, newest: Record) -> bool:
    """Whether a projection is that of an earlier record: a command was killed between the record and the projection."""
    try:
        fields = json.loads(data)
        return isinstance(fields["serial"], int) and fields["serial"] < newest.serial
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
