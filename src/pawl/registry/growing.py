"""Going on from a state of any size: what a fold changes, laid over what was there, without copying it.

An :class:`Overlay` is a dictionary over another one, :class:`Joined` adds to sequences by key, :class:`Longer` to one
sequence; each is told apart from a copy by nothing but its cost. What they lie over may be *stored*: read where
somebody asks, and with its JSON at hand.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from types import MappingProxyType
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar, overload

from pawl.ids import Name
from pawl.registry.finals import Finals

K = TypeVar("K")
V = TypeVar("V")

Form: TypeAlias = Literal["compact", "pretty"]
"""How JSON is written: as a state is hashed, or as a projection holds it."""


class StoredPart(Mapping[K, V]):
    """A part of a channel's state whose JSON is stored."""

    @abstractmethod
    def texts(self, form: Form) -> Mapping[str, str]:
        """Return the JSON of every value by its key as text."""


class StoredPins(StoredPart[K, V]):
    """Pins of which it is stored who requires whom, and their JSON in long pieces."""

    @abstractmethod
    def joined(self, form: Form, changes: Mapping[str, str | None]) -> str | None:
        """Return ``channels_projection.joined`` of all, with ``changes`` laid over them: JSON by key, None for what is
        gone. None where it has to be made from the single texts."""

    @abstractmethod
    def users_of(self, name: Name) -> Iterable[Name]:
        """Return the names of the pins that require ``name`` directly."""


class StoredRows(Sequence[V]):
    """Rows that are stored by what each is about."""

    @abstractmethod
    def of(self, subject: str) -> Sequence[V]:
        """Return the rows about one subject, in their order."""


class StoredVersions(Sequence[V]):
    """The published versions of a name, of which the final ones are stored in order."""

    @abstractmethod
    def finals(self) -> Finals:
        """Return the final ones, in the order of their numbers."""


class Change(NamedTuple, Generic[K, V]):
    """What became of one key: its value, or nothing where it is gone, and whether it now stands behind all others."""

    key: K
    value: tuple[V, ...]
    last: bool


class Overlay(MutableMapping[K, V]):
    """A dictionary over another one, which stays as it is; order is that of a copy that was changed alike."""

    def __init__(self, base: Mapping[K, V]) -> None:
        self.base = base
        self.put: dict[K, V] = {}
        self.gone: set[K] = set()
        """Keys of the base that are not there any more, or stand behind its others again."""
        self._changed: dict[K, bool] = {}

    def touches(self, key: K) -> bool:
        """Whether the base no longer says what is at ``key``."""
        return key in self.put or key in self.gone

    def changes(self) -> list[Change[K, V]]:
        """Return what was changed since this was asked last: of each key how it came out."""
        changed, self._changed = self._changed, {}
        return [Change(key, (self.put[key],) if key in self.put else (), last=last) for key, last in changed.items()]

    def __getitem__(self, key: K) -> V:
        if key in self.put:
            return self.put[key]
        if key in self.gone:
            raise KeyError(key)
        return self.base[key]

    def __setitem__(self, key: K, value: V) -> None:
        new = key not in self
        self.put[key] = value
        last = self._changed.pop(key, False) or new
        self._changed[key] = last

    def __delitem__(self, key: K) -> None:
        if key not in self:
            raise KeyError(key)
        self.put.pop(key, None)
        if key in self.base:
            self.gone.add(key)
        self._changed.pop(key, None)
        self._changed[key] = False

    def __contains__(self, key: object) -> bool:
        return key in self.put or (key not in self.gone and key in self.base)

    def __iter__(self) -> Iterator[K]:
        yield from (key for key in self.base if key not in self.gone)
        yield from (key for key in self.put if key in self.gone or key not in self.base)

    def __len__(self) -> int:
        return len(self.base) - len(self.gone) + sum(key in self.gone or key not in self.base for key in self.put)


class Joined(Mapping[K, Sequence[V]]):
    """Sequences by key, each of which may have become longer."""

    def __init__(self, base: Mapping[K, Sequence[V]]) -> None:
        self._base = base
        self._new: dict[K, list[V]] = {}
        self._added: list[tuple[K, V]] = []

    def add(self, key: K, value: V) -> None:
        """Put a value behind those of its key."""
        self._new.setdefault(key, []).append(value)
        self._added.append((key, value))

    def additions(self) -> list[tuple[K, V]]:
        """Return what was added since this was asked last."""
        added, self._added = self._added, []
        return added

    def __getitem__(self, key: K) -> Sequence[V]:
        if key not in self._new:
            return self._base[key]
        return (*self._base.get(key, ()), *self._new[key])

    def __contains__(self, key: object) -> bool:
        return key in self._new or key in self._base

    def __iter__(self) -> Iterator[K]:
        yield from self._base
        yield from (key for key in self._new if key not in self._base)

    def __len__(self) -> int:
        return len(self._base) + sum(key not in self._base for key in self._new)


class Longer(Sequence[V]):
    """A sequence that may have become longer."""

    def __init__(self, base: Sequence[V] = ()) -> None:
        self._base = base
        self._new: list[V] = []
        self._told = 0

    def append(self, value: V) -> None:
        self._new.append(value)

    def additions(self) -> list[V]:
        """Return what was added since this was asked last."""
        told, self._told = self._told, len(self._new)
        return self._new[told:]

    @overload
    def __getitem__(self, index: int) -> V: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[V]: ...
    def __getitem__(self, index: int | slice) -> V | Sequence[V]:
        if isinstance(index, slice):
            return tuple(self)[index]
        if index < 0 and -index <= len(self._new):
            return self._new[index]
        before = len(self._base)
        place = index + before + len(self._new) if index < 0 else index
        if place < 0:
            raise IndexError(index)
        return self._new[place - before] if place >= before else self._base[place]

    def __iter__(self) -> Iterator[V]:
        yield from self._base
        yield from self._new

    def __len__(self) -> int:
        return len(self._base) + len(self._new)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]


def read_only(value: MutableMapping[K, V]) -> Mapping[K, V]:
    """Return a mapping that a fold was made with, for those who read the state."""
    return MappingProxyType(value) if isinstance(value, dict) else value
