"""The published versions of each name, as the index holds them: read where somebody asks, the final ones in order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast, overload

from pawl.ids import NUMBER_DIGITS, Name, Version, numbers_of
from pawl.io.memory import Lost
from pawl.registry.finals import Finals, SortedFinals
from pawl.registry.growing import StoredVersions
from pawl.workspace.index_rows import AT, ByKey, Source, select

K = TypeVar("K")
V = TypeVar("V")

_FEW = 4
"""How many final versions are fetched first."""
_LAST = "~"
"""Behind every key."""
_OF_NAME = "key > :first AND key < :end"


class _Texts(Mapping[K, V]):
    """Values that were all fetched, and are read where somebody asks for one."""

    def __init__(self, texts: Mapping[K, str], read: Callable[[K, Any], V]) -> None:
        self._texts = texts
        self._read = read
        self._known: dict[K, V] = {}

    def __getitem__(self, key: K) -> V:
        if key not in self._known:
            self._known[key] = self._read(key, json.loads(self._texts[key]))
        return self._known[key]

    def __contains__(self, key: object) -> bool:
        return key in self._texts

    def __iter__(self) -> Iterator[K]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


class _Finals(Finals):
    """The final versions of a name, fetched a few at a time."""

    def __init__(self, source: Source, name: Name) -> None:
        self._source = source
        self._name = name

    def below(self, version: Version | None) -> Iterator[Version]:
        return self._from("<", final_key(version) if version else _LAST, "DESC", version)

    def above(self, version: Version | None) -> Iterator[Version]:
        return self._from(">", final_key(version) if version else "", "ASC", version)

    def _from(self, side: str, start: str, order: str, version: Version | None) -> Iterator[Version]:
        where = f"journal = :journal AND name = :name AND sort {side} :start AND serial <= :serial"
        size = _FEW
        while True:
            query = select("sort", "finals", where, f"ORDER BY sort {order} LIMIT {size}")
            try:
                rows = self._source.ask(query, name=self._name, start=start)
            except Lost:
                there = SortedFinals(item.version for item in self._source.folded("names").get(self._name, ()))
                yield from there.below(version) if side == "<" else there.above(version)
                return
            for row in rows:
                version = Version(".".join(str(int(number)) for number in row[0].split(".")))
                yield version
            if len(rows) < size:
                return
            start, size = rows[-1][0], 4 * size


def final_key(version: Version) -> str:
    """Return the text that final versions are sorted by."""
    return ".".join(f"{number:0{NUMBER_DIGITS}d}" for number in numbers_of(version))


class _Versions(StoredVersions[V]):
    """The published versions of a name, read when somebody goes through them."""

    def __init__(self, source: Source, name: Name, read: Callable[[str, Any], V]) -> None:
        self._source = source
        self._name = name
        self._read = read
        self._whole: _Texts[Version, V] | None = None

    @overload
    def __getitem__(self, index: int) -> V: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[V]: ...
    def __getitem__(self, index: int | slice) -> V | Sequence[V]:
        try:
            versions = self._all()
        except Lost:
            return cast("Sequence[V]", self._source.folded("names")[self._name])[index]
        found = tuple(versions)[index]
        return versions[found] if isinstance(found, str) else tuple(versions[item] for item in found)

    def __iter__(self) -> Iterator[V]:
        try:
            return iter(self._all().values())
        except Lost:
            return iter(cast("Sequence[V]", self._source.folded("names")[self._name]))

    def __len__(self) -> int:
        try:
            return len(self._all())
        except Lost:
            return len(self._source.folded("names")[self._name])

    def finals(self) -> Finals:
        return _Finals(self._source, self._name)

    def _all(self) -> _Texts[Version, V]:
        if self._whole is None:
            query = select("key, text", "held", f"{AT} AND {_OF_NAME}", "ORDER BY place")
            rows = self._source.ask(query, part="published", **_of_name(self._name))
            texts = {Version(ref[len(self._name) + 1 :]): text for ref, text in rows}
            self._whole = _Texts(texts, lambda version, row: self._read(f"{self._name}@{version}", row))
        return self._whole

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]


def _of_name(name: Name) -> Mapping[str, str]:
    """Return what references to versions of a name stand between: what follows @ in ASCII is A, no name has either."""
    return {"first": f"{name}@", "end": f"{name}A"}


class Names(ByKey[Name, V]):
    """The published versions of each name, from those by reference."""

    def __init__(self, source: Source, read: Callable[[str, Any], V]) -> None:
        super().__init__(source, "names")
        self._value = read

    def _read(self, key: Name) -> Sequence[V] | None:
        query = select("1", "held", f"{AT} AND {_OF_NAME}", "LIMIT 1")
        there = self._source.ask(query, part="published", **_of_name(key))
        return _Versions(self._source, key, self._value) if there else None

    def _all_keys(self) -> Iterable[Name]:
        return [Name(row[0].partition("@")[0]) for row in self._source.of_all("key", "published")]
