"""The state that the index holds of a journal, read where somebody asks.

A *source* answers for one journal at one head: rows say from which record on they hold and until which, so an older
state is read from them while newer records come in. Where the rows are lost in the middle (another process found
another journal, the file is damaged) the source folds the journal's files, as without an index, up to the same head.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar, cast, overload

from pawl.ids import Digest, Name, Serial
from pawl.io.memory import Lost
from pawl.registry.channels_projection import PARTS, read_pin, texts_of
from pawl.registry.channels_state import Past
from pawl.registry.growing import Form, StoredPart, StoredRows
from pawl.registry.journal import EMPTY, Head

K = TypeVar("K")
V = TypeVar("V")

Few: TypeAlias = Mapping[str, tuple[str, str | None]]
"""The values of a part by key, each as compact JSON and as a projection holds it, in the order of the fold."""

Ask = Callable[[str, Mapping[str, Any]], Sequence[tuple[Any, ...]]]
"""Runs one query; ``Lost`` where its rows are not those of the head any more."""

_HERE = "journal = :journal AND part = :part"
_SELDOM_MANY = ("approvals", "freezes", "halts", "rejections", "waivers", "withdrawals")
"""Parts that hold little in most journals."""
_FEW = 256
"""How many values of all of them are fetched together."""
_ALL_FEW = ""
"""The name of no part: that those which are not there hold nothing."""
_SINGLY = 256
"""How many values of a part are looked up before it is read whole."""
AT = f"{_HERE} AND since <= :serial AND (until IS NULL OR until > :serial)"
_ADDED = f"{_HERE} AND serial <= :serial"
NEWEST = "EXISTS (SELECT 1 FROM journals AS known WHERE known.journal = :journal AND known.serial = :serial)"
NOW = f"{_HERE} AND until IS NULL AND {NEWEST}"
"""The same where no row of a later record is there yet, which the statement itself sees: one may come at any moment."""


def select(columns: str, table: str, where: str, more: str = "") -> str:
    """Return a query; all of it is made of what stands in this module."""
    return f"SELECT {columns} FROM {table} WHERE {where} {more}"  # noqa: S608 - as it says


class Source:
    """One journal at one head."""

    def __init__(self, journal: str, head: Head, ask: Ask, fold: Callable[[], Any]) -> None:
        self.journal = journal
        self.head = head
        self._ask = ask
        self._fold = fold
        self._folded: Any = None
        self._state: Any = None
        self._few: Mapping[str, Few] | None = None
        self.users: dict[str, list[Name]] = {}
        """Which pins were found to require a name."""

    def ask(self, query: str, **values: Any) -> Sequence[tuple[Any, ...]]:
        """Return the rows of a query about this journal at this head; ``Lost`` where they are not there any more."""
        if self._folded is not None:
            raise Lost("it was folded already")
        return self._ask(query, {"journal": self.journal, "serial": self.head.serial, **values})

    def of_all(self, what: str, part: str) -> Sequence[tuple[Any, ...]]:
        """Return columns of every row of a part that holds at the head, in the order of the fold."""
        rows = self.ask(select(what, "held", NOW, "ORDER BY place"), part=part)
        return rows or self.ask(select(what, "held", AT, "ORDER BY place"), part=part)

    def few(self, part: str) -> Few | None:
        """Return all values of a part of which there are seldom many; None for other parts, and where there are.

        All such parts are fetched together: every judgement asks for each of them.
        """
        if part not in _SELDOM_MANY:
            return None
        if self._few is None:
            self._few = self._fetch_few()
        return self._few.get(part, {} if _ALL_FEW in self._few else None)

    def _fetch_few(self) -> Mapping[str, Few]:
        parts = {f"part_{number}": part for number, part in enumerate(_SELDOM_MANY)}
        marks = ", ".join(f":{name}" for name in parts)
        here, rows = f"journal = :journal AND part IN ({marks})", None
        for when in (f"until IS NULL AND {NEWEST}", "since <= :serial AND (until IS NULL OR until > :serial)"):
            query = select(
                "part, key, text, pretty", "held", f"{here} AND {when}", f"ORDER BY part, place LIMIT {_FEW}"
            )
            rows = rows or self.ask(query, **parts)
        found: dict[str, dict[str, tuple[str, str | None]]] = {}
        for part, key, text, pretty in rows or ():
            found.setdefault(part, {})[key] = (text, pretty)
        if len(rows or ()) < _FEW:
            return {**found, _ALL_FEW: {}}
        found.popitem()  # the last part was cut off
        return found

    def one(self, part: str, key: str) -> str | None:
        """Return the JSON of one value of a part."""
        query = select("text", "held", f"{AT} AND key = :key", "ORDER BY since DESC LIMIT 1")
        rows = self.ask(query, part=part, key=key)
        return rows[0][0] if rows else None

    def kept(self, state: Callable[[Source], V]) -> V:
        """Return the state that reads from this source, made once: what it has read is not read again."""
        if self._state is None:
            self._state = state(self)
        return cast("V", self._state)

    def folded(self, name: str) -> Any:
        """Return what a part is by the fold of the journal's files; all later questions are answered so, too."""
        if self._folded is None:
            self._folded = self._fold()
        return getattr(self._folded, name)


class Held(StoredPart[K, V]):
    """A part whose values change: looked up one by one, or read whole once somebody goes through it."""

    def __init__(
        self, source: Source, part: str, read: Callable[[str, Any], V], key: Callable[[str], K], *, small: bool = False
    ) -> None:
        self._source = source
        self._left = 0 if small else _SINGLY
        self._part = part
        self._read = read
        self._key = key
        self._known: dict[K, V] = {}
        self._whole: Mapping[K, str] | None = None
        """The JSON of every value that is there."""

    def texts(self, form: Form) -> Mapping[str, str]:
        try:
            few = self._source.few(self._part)
            if few is not None:
                return {key: cast("str", pair[form == "pretty"]) for key, pair in few.items()}
            what = "key, pretty" if form == "pretty" else "key, text"
            return dict(cast("Sequence[tuple[str, str]]", self._source.of_all(what, self._part)))
        except Lost:
            return texts_of(self._source.folded(self._part), PARTS[self._part], form)

    def __getitem__(self, key: K) -> V:
        try:
            return self.stored(key)
        except Lost:
            return cast("V", self._source.folded(self._part)[key])

    def stored(self, key: K) -> V:
        """Return a value as the rows have it; ``Lost`` where they cannot say, and nothing else is asked then."""
        if key not in self._known:
            text = self._text(key)
            if text is None:
                raise KeyError(key)
            self._known[key] = self._read(str(key), json.loads(text))
        return self._known[key]

    def __contains__(self, key: object) -> bool:
        try:
            return key in self._known or self._text(cast("K", key)) is not None
        except Lost:
            return key in self._source.folded(self._part)

    def __iter__(self) -> Iterator[K]:
        try:
            return iter(self._all())
        except Lost:
            return iter(self._source.folded(self._part))

    def __len__(self) -> int:
        try:
            return len(self._all())
        except Lost:
            return len(self._source.folded(self._part))

    def _text(self, key: K) -> str | None:
        if self._whole is not None or not self._left or self._source.few(self._part) is not None:
            return self._all().get(key)
        self._left -= 1
        return self._source.one(self._part, str(key))

    def _all(self) -> Mapping[K, str]:
        if self._whole is None:
            few = self._source.few(self._part)
            if few is not None:
                self._whole = {self._key(key): pair[0] for key, pair in few.items()}
            else:
                rows = self._source.of_all("key, text", self._part)
                self._whole = {self._key(key): text for key, text in rows}
        return self._whole


class _Rows(StoredRows[V]):
    """Rows of one kind, which are only ever added to."""

    def __init__(self, source: Source, part: str) -> None:
        self._source = source
        self._part = part
        self._whole: Sequence[V] | None = None

    @abstractmethod
    def _value(self, row: tuple[Any, ...]) -> V: ...

    @abstractmethod
    def _folded(self) -> Sequence[V]: ...

    @overload
    def __getitem__(self, index: int) -> V: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[V]: ...
    def __getitem__(self, index: int | slice) -> V | Sequence[V]:
        if index == -1 and self._whole is None:
            try:
                rows = self._ask("ORDER BY id DESC LIMIT 1")
                return self._value(rows[0])
            except Lost:
                return self._folded()[-1]
        return self._all()[index]

    def __iter__(self) -> Iterator[V]:
        return iter(self._all())

    def __reversed__(self) -> Iterator[V]:
        return reversed(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self._all()) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def _ask(self, more: str, **values: Any) -> Sequence[tuple[Any, ...]]:
        query = select("text, key, serial", "added", f"{_ADDED} {self._narrow}", more)
        return self._source.ask(query, part=self._part, **self._values, **values)

    _narrow = ""
    _values: Mapping[str, Any] = {}

    def _all(self) -> Sequence[V]:
        if self._whole is None:
            try:
                self._whole = tuple(self._value(row) for row in self._ask("ORDER BY id"))
            except Lost:
                return self._folded()
        return self._whole


class Evidence(_Rows[Mapping[str, Any]]):
    """Every evidence entry of a channel, by its subject."""

    def __init__(self, source: Source) -> None:
        super().__init__(source, "evidence")

    def of(self, subject: str) -> Sequence[Mapping[str, Any]]:
        try:
            return [self._value(row) for row in self._ask("AND key = :key ORDER BY id", key=subject)]
        except Lost:
            return [row for row in self._folded() if row["key"]["subject"] == subject]

    def _value(self, row: tuple[Any, ...]) -> Mapping[str, Any]:
        return cast("Mapping[str, Any]", json.loads(row[0]))

    def _folded(self) -> Sequence[Mapping[str, Any]]:
        return cast("Sequence[Mapping[str, Any]]", self._source.folded("evidence"))


class Times(_Rows[Past]):
    """When a name was at what on a channel before, by the version's digest."""

    _narrow = "AND key = :name"

    def __init__(self, source: Source, name: Name) -> None:
        super().__init__(source, "past")
        self._values = {"name": name}

    def of(self, subject: str) -> Sequence[Past]:
        try:
            return [self._value(row) for row in self._ask("AND about = :about ORDER BY id", about=subject)]
        except Lost:
            return [past for past in self._folded() if past.pin.digest == subject]

    def _value(self, row: tuple[Any, ...]) -> Past:
        text, name, until = row
        return Past(pin=read_pin(name, json.loads(text)), until=until)

    def _folded(self) -> Sequence[Past]:
        return cast("Sequence[Past]", self._source.folded("past")[self._values["name"]])


class ByKey(Mapping[K, Sequence[V]], Generic[K, V]):
    """Sequences by key, each read when somebody asks for it."""

    def __init__(self, source: Source, part: str) -> None:
        self._source = source
        self._part = part
        self._known: dict[K, Sequence[V]] = {}
        self._keys: Mapping[K, None] | None = None

    @abstractmethod
    def _read(self, key: K) -> Sequence[V] | None:
        """Return the sequence of a key; None where there is none."""

    @abstractmethod
    def _all_keys(self) -> Iterable[K]:
        """Return the keys in the order in which they came."""

    def __getitem__(self, key: K) -> Sequence[V]:
        if key not in self._known:
            try:
                found = self._read(key)
            except Lost:
                return cast("Sequence[V]", self._source.folded(self._part)[key])
            if found is None:
                raise KeyError(key)
            self._known[key] = found
        return self._known[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._there())

    def __len__(self) -> int:
        return len(self._there())

    def _there(self) -> Mapping[K, Any]:
        if self._keys is None:
            try:
                self._keys = dict.fromkeys(self._all_keys())
            except Lost:
                return cast("Mapping[K, Any]", self._source.folded(self._part))
        return self._keys


class _Added(ByKey[K, V]):
    def _all_keys(self) -> Iterable[K]:
        query = select("key", "added", _ADDED, "GROUP BY key ORDER BY min(id)")
        return (row[0] for row in self._source.ask(query, part=self._part))

    def _rows(self, key: K, more: str = "") -> Sequence[tuple[Any, ...]]:
        query = select("text", "added", f"{_ADDED} AND key = :key", f"ORDER BY id {more}")
        return self._source.ask(query, part=self._part, key=key)


class Pasts(_Added[Name, Past]):
    """What was live before, by name."""

    def _read(self, key: Name) -> Sequence[Past] | None:
        return Times(self._source, key) if self._rows(key, "LIMIT 1") else None


class ByText(_Added[K, V]):
    """Short sequences, read whole."""

    def __init__(self, source: Source, part: str, value: Callable[[Any], V]) -> None:
        super().__init__(source, part)
        self._value = value

    def _read(self, key: K) -> Sequence[V] | None:
        return tuple(self._value(json.loads(row[0])) for row in self._rows(key)) or None


def digest_in(source: Source, serial: Serial) -> Digest | None:
    """Return the digest of a record at or before the head; None where there is none. ``Lost`` as for any question."""
    query = select("digest", "records", "journal = :journal AND serial = :wanted AND :wanted <= :serial")
    rows = source.ask(query, wanted=serial)
    return Digest(rows[0][0]) if rows else None


def time_in(source: Source) -> str:
    """Return the time that the record at the head is of. ``Lost`` as for any question."""
    rows = source.ask(select("at", "records", "journal = :journal AND serial = :serial"))
    if not rows:
        raise Lost(f"record {source.head.serial} is not there")
    return str(rows[0][0])


def anchor_in(source: Source) -> Head:
    """Return the registry's newest record as the record at the head names it. ``Lost`` as for any question."""
    query = select("anchor, anchored", "records", "journal = :journal AND serial = :serial")
    rows = source.ask(query)
    return Head(serial=Serial(rows[0][0]), digest=rows[0][1]) if rows else EMPTY
