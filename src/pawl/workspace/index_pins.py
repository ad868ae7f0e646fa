"""The pins of a channel as the index holds them, which may be thousands: single rows, and their JSON in long pieces.

Every record names the digest of the whole state, and the projection holds all of it. So the JSON of the pins that are
there now is kept in pieces of some dozens of pins, in the order of their names: a change makes only the pieces anew in
which it is, and all others are put together as they are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pawl.ids import Name
from pawl.io.memory import Lost
from pawl.registry.channels_projection import SEPARATOR, Part, joined
from pawl.registry.growing import Form, StoredPart, StoredPins
from pawl.workspace.index_rows import NEWEST, Held, Source, select

V = TypeVar("V")

OF_PIECE = "journal = :journal AND part = 'pins' AND until IS NULL AND key >= :low AND key < :high"
"""The pins of one piece."""
HELD_PINS = "held INDEXED BY held_pins"
"""Where they are looked for: by the index that has only those of now, since many may have been there before."""
_LAST = b""
"""Behind every name: texts come before blobs."""


class HeldPins(Held[Name, V], StoredPins[Name, V]):
    """The pins of a channel."""

    def joined(self, form: Form, changes: Mapping[str, str | None]) -> str | None:
        try:
            return self._joined(form, changes)
        except Lost:
            return None

    def _joined(self, form: Form, changes: Mapping[str, str | None]) -> str | None:
        column = "pretty" if form == "pretty" else "text"
        where = f"journal = :journal AND {NEWEST}"
        pieces = dict(self._source.ask(select(f"first, {column}", "pieces", where, "ORDER BY first")))
        if not pieces:  # there are none, or this head is not the newest any more
            return None
        firsts = list(pieces)
        for place, keys in by_piece(firsts, changes).items():
            low, high = bounds(firsts, place)
            rows = self._source.ask(select(f"key, {column}", HELD_PINS, f"{OF_PIECE} AND {NEWEST}"), low=low, high=high)
            if not rows:  # no piece is empty: another record came meanwhile
                return None
            texts = dict(rows) | {key: changes[key] for key in keys}
            pieces[firsts[place]] = joined({key: text for key, text in texts.items() if text is not None}, form)
        return SEPARATOR[form].join([text for text in pieces.values() if text])

    def users_of(self, name: Name) -> Iterable[Name]:
        known = self._source.users.get(name)
        if known is not None:
            return known
        where = "journal = :journal AND wanted = :name AND since <= :serial AND (until IS NULL OR until > :serial)"
        try:
            rows = self._source.ask(select("name", "needs", where), name=name)
            return self._source.users.setdefault(name, [Name(row[0]) for row in rows])
        except Lost:
            return [pin.name for pin in self._source.folded("pins").values() if name in pin.requires]


def by_piece(firsts: Sequence[str], keys: Iterable[str]) -> Mapping[int, list[str]]:
    """Return keys by the place of the piece that holds them, given the first key of each; the first has all before."""
    found: dict[int, list[str]] = {}
    for key in keys:
        found.setdefault(max(0, bisect_right(firsts, key) - 1), []).append(key)
    return found


def bounds(firsts: Sequence[str], place: int) -> tuple[str, str | bytes]:
    """Return from which key on and before which one a piece holds all keys."""
    return firsts[place] if place else "", firsts[place + 1] if place + 1 < len(firsts) else _LAST


def held(source: Source, name: str, part: Part) -> StoredPart[Any, Any]:
    """Return a part of a channel's state."""
    kind = HeldPins if name == "pins" else Held
    return kind(source, name, part.read, part.key)
