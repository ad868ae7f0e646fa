"""What each name could still be at, narrowed by what must hold beside it.

A *value* of a name is a pin, or ``None`` where it would not be pinned. What was asked for has one value. Every other
name has its present one first and then its usable offers. Two names *agree* where neither requires what the other is
not; of a channel as it is, everything agrees, since each release saw to that.

Narrowing is arc consistency that starts at what must move and goes on only from names that must move too. A name that
nothing forces to move is looked at by its neighbours and leads no further, so a channel of a thousand pins costs what
is connected to the move.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from pawl.ids import Digest, Name
from pawl.registry.channels import Pin
from pawl.registry.versions import satisfies
from pawl.releases.offers import Offers

Value: TypeAlias = Pin | None

MAX_VERSIONS = 20_000
"""How many versions are looked at before a search gives up."""
MAX_OF_ONE = 200
"""How many offers of one name are tried, from the first on."""


class GaveUp(Exception):  # noqa: N818 - it never leaves the room: choosing makes a conflict or a weaker promise of it
    """The search came to one of its bounds; the text says to which."""


@dataclass(slots=True)
class Versions:
    """The values of every name, read once each and only when somebody asks."""

    pins: Mapping[Name, Pin]
    asked: Mapping[Name, Pin]
    offers: Offers
    users: dict[Name, list[Name]] = field(default_factory=dict)
    """Name -> what is pinned and requires it."""
    _known: dict[Name, tuple[Value, ...]] = field(default_factory=dict)
    _read: int = 0

    def __post_init__(self) -> None:
        for pin in self.pins.values():
            for wanted in pin.requires:
                self.users.setdefault(wanted, []).append(pin.name)

    def of(self, name: Name) -> tuple[Value, ...]:
        """Return the values of a name, the one to be preferred first."""
        if name not in self._known:
            self._known[name] = self._values(name)
            self._read += len(self._known[name])
            if self._read > MAX_VERSIONS:
                raise GaveUp(f"gave up after looking at {MAX_VERSIONS} versions")
        return self._known[name]

    def _values(self, name: Name) -> tuple[Value, ...]:
        present = self.pins.get(name)
        if name in self.asked:
            asked = self.asked[name]
            return (present if present is not None and present.digest == asked.digest else asked,)
        seen = {present.digest} if present else set()
        found: list[Value] = [present]
        for offer in self.offers(name):
            if offer.bar is None and offer.pin.digest not in seen:
                seen.add(offer.pin.digest)
                found.append(offer.pin)
        return tuple(found[: MAX_OF_ONE + 1])

    def stays(self, name: Name, value: Value) -> bool:
        """Whether ``value`` is what the channel has now."""
        return value is self.pins.get(name)

    def moves(self, values: Iterable[tuple[Name, Value]]) -> dict[Name, Pin]:
        """Return what would be pinned anew, without what was asked for."""
        return {
            name: value
            for name, value in values
            if value is not None and name not in self.asked and not self.stays(name, value)
        }

    def agree(self, name: Name, value: Value, other: Name, beside: Value) -> bool:
        """Whether two names can be at these values together."""
        if self.stays(name, value) and self.stays(other, beside):
            return True
        return meets(value, other, beside) and meets(beside, name, value)


def meets(user: Value, name: Name, value: Value) -> bool:
    """Whether ``user`` requires nothing of ``name`` that ``value`` is not."""
    wanted = user.requires.get(name) if user is not None else None
    return wanted is None or (value is not None and satisfies(value.version, wanted))


@dataclass(slots=True)
class Domains:
    """What is left of the values of each name that was looked at. ``empty`` is the name that has none left."""

    versions: Versions
    live: dict[Name, tuple[Value, ...]] = field(default_factory=dict)
    blame: dict[tuple[Name, Digest | None], Name] = field(default_factory=dict)
    """Name and value that were struck out -> the name that this was for."""
    empty: Name | None = None
    _mentions: dict[Name, dict[Name, None]] = field(default_factory=dict)
    """Name -> those looked at that require it in some version."""
    _touched: set[Name] = field(default_factory=set)

    def copy(self) -> Domains:
        mentions = {name: dict(users) for name, users in self._mentions.items()}
        return Domains(self.versions, dict(self.live), dict(self.blame), self.empty, mentions, set(self._touched))

    def of(self, name: Name) -> tuple[Value, ...]:
        if name not in self.live:
            self.live[name] = self.versions.of(name)
            for value in self.live[name]:
                for wanted in value.requires if value else ():
                    self._mentions.setdefault(wanted, {})[name] = None
        return self.live[name]

    def forced(self) -> set[Name]:
        """Return the names that must move in every set, without what was asked for."""
        asked, stays = self.versions.asked, self.versions.stays
        return {name for name, values in self.live.items() if name not in asked and not stays(name, values[0])}

    def first(self) -> dict[Name, Pin]:
        """Return the further moves where every name is at the first value that is left."""
        return self.versions.moves((name, values[0]) for name, values in self.live.items())

    def clash(self) -> tuple[Name, Name] | None:
        """Return two names that do not agree at their first values, where one moves; ``None`` if all goes together."""
        stays = self.versions.stays
        for name in sorted(self.live):
            value = self.of(name)[0]
            if value is None or stays(name, value):
                continue
            for other in sorted({*value.requires, *self.versions.users.get(name, ())} - {name}):
                if not self.versions.agree(name, value, other, self.of(other)[0]):
                    return name, other
        return None

    def narrow(self, name: Name, values: tuple[Value, ...]) -> bool:
        """Leave ``name`` only these values, and all others what goes with it; ``False`` where nothing goes."""
        self.of(name)
        self.live[name] = values
        return self.follow((name,))

    def follow(self, names: Iterable[Name]) -> bool:
        """Strike out everything that does not go with what is left of ``names``; ``False`` where a name is emptied."""
        waiting = deque(names)
        while waiting:
            name = waiting.popleft()
            for other in self._neighbours(name):
                for item, by in ((other, name), (name, other)):
                    if self._revise(item, by) and item not in waiting:
                        waiting.append(item)
                    if self.empty is not None:
                        return False
        return True

    def _neighbours(self, name: Name) -> list[Name]:
        required = {wanted for value in self.of(name) if value for wanted in value.requires}
        return sorted({*required, *self.versions.users.get(name, ()), *self._mentions.get(name, ())} - {name})

    def _revise(self, name: Name, by: Name) -> bool:
        """Strike out the values of ``name`` that agree with none of ``by``; ``True`` where others must hear of it."""
        before = self.of(name)
        against = [by]
        if name not in self._touched:
            self._touched.add(name)
            against += sorted({wanted for value in before if value for wanted in value.requires} - {name, by})
        for other in against:
            beside = self.of(other)
            left = []
            for value in self.live[name]:
                if any(self.versions.agree(name, value, other, there) for there in beside):
                    left.append(value)
                else:
                    self.blame[name, value.digest if value else None] = other
            self.live[name] = tuple(left)
        after = self.live[name]
        if not after:
            self.empty = name
            return True
        return len(after) < len(before) and (len(after) == 1 or not self.versions.stays(name, after[0]))
