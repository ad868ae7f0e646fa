"""What was read of a work tree: sources by name, and what is known of them without opening their files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from pawl.conformance.suites import Suite, applies
from pawl.ids import Digest, Name, Version
from pawl.io.locating import problems_of
from pawl.io.strict_yaml import load
from pawl.operations.sources.memory import Shelf
from pawl.operations.sources.unopened import Unopened
from pawl.problems import Fault, Problem
from pawl.procedures.procedure import Procedure
from pawl.registry.settings import Settings

if TYPE_CHECKING:
    from pawl.policy.rules import PolicySource

Value = TypeVar("Value")
Key = TypeVar("Key", bound=str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(Generic[Value]):
    """What one file of the work tree holds, with its path and its bytes."""

    value: Value
    path: str
    data: bytes

    def problems(self, *faults: Fault) -> tuple[Problem, ...]:
        """Return faults of the value as problems of the file."""
        return problems_of(self.path, self.data, faults) if faults else ()

    def opened(self) -> Source[Value]:
        """Return the same, parsed from what the file says at this moment if it was not in this process."""
        return self


class UnopenedSource(Source[Value]):
    """The same of a file that was not opened yet."""

    __slots__ = ("_file", "_reader")
    _file: Unopened
    _reader: Callable[[Any], Value]

    def __init__(self, file: Unopened, value: Value, reader: Callable[[Any], Value]) -> None:
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "path", file.row.path)
        object.__setattr__(self, "_file", file)
        object.__setattr__(self, "_reader", reader)

    @property
    def data(self) -> bytes:
        return self._file.data

    def opened(self) -> Source[Value]:
        return Source(value=self._reader(load(self.data)), path=self.path, data=self.data)


class Files(Mapping[Key, Source[Value]], Generic[Key, Value]):
    """Sources by name; those that nobody opened are made when they are asked for."""

    def __init__(
        self,
        found: Mapping[Key, int | Source[Value]],
        shelf: Shelf | None = None,
        make: Callable[[int], Source[Value]] | None = None,
        besides: Iterable[Key] | None = None,
    ) -> None:
        """``found`` has places on the ``shelf``, of which ``make`` makes sources, for files that were not opened.

        ``besides``: all names are those of the shelf, and all but these have their place there.
        """
        self._besides = besides
        self._found, self._shelf, self._make = found, shelf or Shelf({}), make
        self._made: dict[Key, Source[Value]] = {}
        self._columns: dict[str, dict[Key, str | None]] = {}

    def __getitem__(self, key: Key) -> Source[Value]:
        entry = self._found[key]
        if not isinstance(entry, int):
            return entry
        if key not in self._made:
            if self._make is None:
                raise KeyError(key)
            self._made[key] = self._make(entry)
        return self._made[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __contains__(self, key: object) -> bool:
        return key in self._found

    def known(self, what: str, ask: Callable[[Source[Value]], str | None]) -> Mapping[Key, str | None]:
        """Return one thing about each file by its name: a column of the memory, or what ``ask`` says of a read one."""
        if what not in self._columns:
            self._columns[what] = self._known(self._shelf.column(what), ask)
        return self._columns[what]

    def _known(self, column: Sequence[str], ask: Callable[[Source[Value]], str | None]) -> dict[Key, str | None]:
        def of(entry: int | Source[Value]) -> str | None:
            return column[entry] if isinstance(entry, int) else ask(entry)

        if self._besides is None:
            return {name: of(entry) for name, entry in self._found.items()}
        known: dict[Any, str | None] = dict(zip(self._shelf.column("name"), column, strict=True))
        for name in self._besides:
            if name in self._found:
                known[name] = of(self._found[name])
            else:
                del known[name]
        return known

    def known_of(self, name: Key, what: str, ask: Callable[[Source[Value]], str]) -> str:
        """Return the same of one file."""
        entry = self._found[name]
        return self._shelf.column(what)[entry] if isinstance(entry, int) else ask(entry)

    @cached_property
    def _read_paths(self) -> Mapping[str, Key]:
        names = self._found if self._besides is None else self._besides
        read = ((name, self._found.get(name)) for name in names)
        return {entry.path: name for name, entry in read if isinstance(entry, Source)}

    def at(self, path: str) -> Key | None:
        """Return the name in a file; None where there is none."""
        if path in self._read_paths:
            return self._read_paths[path]
        place = self._shelf.places.get(path)
        key: Any = None if place is None else self._shelf.column("name")[place]
        return key if key is not None and self._found.get(key) == place else None


class Head(NamedTuple):
    """What is known of a procedure without opening its file."""

    name: Name
    kind: str
    version: Version
    digest: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Everything that was read. ``problems`` are those of all files; ``unread`` are the files that hold nothing.

    What is asked of all files at once is answered without a value for each: of hardly any more is wanted.
    """

    settings: Settings
    procedures: Files[Name, Procedure]
    suites: Files[str, Suite]
    policies: Mapping[str, Source[PolicySource]]
    problems: tuple[Problem, ...]
    unread: tuple[str, ...]
    open_suites: bool = False
    """Whether suites that are asked for are parsed anew: what becomes evidence is what the file says now."""
    _grouped: dict[Any, Sequence[str]] = field(init=False, repr=False, default_factory=dict)
    """The names of the suites by the procedure that they are about, in their order; filled when it is asked for."""

    @property
    def heads(self) -> tuple[Head, ...]:
        """What is known of each procedure, in the order of ``procedures``; made anew for who asks."""
        return tuple(map(self.head, self.procedures))

    @property
    def versions(self) -> Mapping[Name, Version]:
        """The version of each procedure."""
        known: Mapping[Name, Any] = self.procedures.known("version", lambda source: source.value.version)
        return known

    def head(self, name: Name) -> Head:
        """Return what is known of a procedure."""
        ask = self.procedures.known_of
        return Head(
            name,
            kind=ask(name, "type", lambda source: source.value.kind),
            version=Version(ask(name, "version", lambda source: source.value.version)),
            digest=Digest(ask(name, "digest", lambda source: source.value.digest)),
        )

    def contents(self, what: Literal["blob", "file"]) -> Mapping[Name, str | None]:
        """Return what is remembered of each procedure's bytes: Git's name for them, by SHA-1, or their SHA-256.

        None where they were read in this process.
        """
        return self.procedures.known(what, lambda _: None)

    @property
    def subjects(self) -> AbstractSet[Name]:
        """The names of procedures that suites are about."""
        return self._about().keys()

    def suite_subject(self, path: str) -> Name | None:
        """Return what the suite in a file is about; None where there is none that reads."""
        name = self.suites.at(path)
        return None if name is None else Name(self._subjects()[name] or "")

    @property
    def requiring(self) -> Mapping[Name, Source[Procedure]]:
        """The procedures that require others."""
        known = self.procedures.known("requires", lambda source: "requires" if source.value.requires else "")
        return {name: self.procedures[name] for name, requires in known.items() if requires}

    def suites_about(self, name: Name) -> tuple[Source[Suite], ...]:
        """Return the suites about a procedure, whatever versions they are for, in the order of their names."""
        return tuple(self.suites[suite] for suite in self._about().get(name, ()))

    @property
    def unread_suites(self) -> tuple[str, ...]:
        return tuple(path for path in self.unread if path.startswith("conformance/"))

    def suites_of(self, procedure: Procedure) -> tuple[Suite, ...]:
        """Return every suite that is about this version, in the order of their names."""
        return tuple(source.value for source in self.suite_sources_of(procedure))

    def suite_sources_of(self, procedure: Procedure) -> tuple[Source[Suite], ...]:
        """Return the same with their files."""
        found = (source for source in self.suites_about(procedure.name) if applies(source.value, procedure))
        return tuple(source.opened() if self.open_suites else source for source in found)

    def _subjects(self) -> Mapping[str, str | None]:
        return self.suites.known("about", lambda source: source.value.about)

    def _about(self) -> Mapping[Name, Sequence[str]]:
        subjects, about = self._subjects(), self._grouped
        if not about:
            about.update(zip(subjects.values(), zip(subjects, strict=True), strict=True))
            if len(about) < len(subjects):  # of which several have suites of their own
                about.clear()
                for name, subject in sorted(subjects.items()):
                    about[subject] = (*about.get(subject, ()), name)
        return about
