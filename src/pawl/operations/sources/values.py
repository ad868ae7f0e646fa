"""What was read of a work tree: sources by name, and what is known of them without opening their files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pawl.conformance.suites import Suite, applies
from pawl.ids import Digest, Name, Version
from pawl.io.locating import problems_of
from pawl.io.strict_yaml import load
from pawl.operations.sources.memory import ABOUT, BLOB, DIGEST, FILE, PATH, REQUIRES, TYPE, VERSION, Row
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

    def __init__(self, entries: dict[Key, Any], make: Callable[[Row], Source[Value]]) -> None:
        self._entries, self._make = entries, make

    def __getitem__(self, key: Key) -> Source[Value]:
        entry = self._entries[key]
        if type(entry) is tuple:
            entry = self._entries[key] = self._make(Row(*entry))
        source: Source[Value] = entry
        return source

    def __iter__(self) -> Iterator[Key]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def entries(self) -> Iterator[tuple[Key, Any]]:
        """Yield each name with a plain tuple in the order of ``Row``, or with the source that was read."""
        return iter(self._entries.items())


class Head(NamedTuple):
    """What is known of a procedure without opening its file."""

    name: Name
    kind: str
    version: Version
    digest: Digest
    requires: bool
    """Whether it requires anything."""
    blob: str | None
    """Git's name for the bytes, by SHA-1, where it was remembered."""
    file: str | None
    """The SHA-256 of the bytes, where it was remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Everything that was read. ``problems`` are those of all files; ``unread`` are the files that hold nothing."""

    settings: Settings
    procedures: Mapping[Name, Source[Procedure]]
    suites: Mapping[str, Source[Suite]]
    policies: Mapping[str, Source[PolicySource]]
    problems: tuple[Problem, ...]
    unread: tuple[str, ...]
    open_suites: bool = False
    """Whether suites that are asked for are parsed anew: what becomes evidence is what the file says now."""
    _about: Mapping[Name, tuple[str, ...]] = field(init=False, repr=False)
    """The names of the suites by the procedure that they are about, in their order."""
    heads: tuple[Head, ...] = field(init=False, repr=False)
    """What is known of each procedure, in the order of ``procedures``."""

    def __post_init__(self) -> None:
        about: dict[Name, list[str]] = {}
        for name, subject, _ in sorted(_suite_heads(self.suites)):
            about.setdefault(Name(subject), []).append(name)
        object.__setattr__(self, "_about", {name: tuple(suites) for name, suites in about.items()})
        object.__setattr__(self, "heads", tuple(_heads(self.procedures)))

    @property
    def subjects(self) -> Iterable[Name]:
        """The names of procedures that suites are about, each once."""
        return self._about.keys()

    def suite_paths(self) -> dict[str, Name]:
        """Return what each suite is about, by the path of its file."""
        return {path: Name(subject) for _, subject, path in _suite_heads(self.suites)}

    @property
    def requiring(self) -> Mapping[Name, Source[Procedure]]:
        """The procedures that require others."""
        return {head.name: self.procedures[head.name] for head in self.heads if head.requires}

    def suites_about(self, name: Name) -> tuple[Source[Suite], ...]:
        """Return the suites about a procedure, whatever versions they are for."""
        return tuple(self.suites[suite] for suite in self._about.get(name, ()))

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


def _suite_heads(suites: Mapping[str, Source[Suite]]) -> Iterator[tuple[str, str, str]]:
    """Yield name, subject and path of each suite."""
    if isinstance(suites, Files):
        for name, entry in suites.entries():
            yield (name, entry[ABOUT], entry[PATH]) if type(entry) is tuple else (name, entry.value.about, entry.path)
    else:
        yield from ((name, source.value.about, source.path) for name, source in suites.items())


def _heads(procedures: Mapping[Name, Source[Procedure]]) -> Iterator[Head]:
    entries = procedures.entries() if isinstance(procedures, Files) else procedures.items()
    for name, entry in entries:
        if type(entry) is tuple:
            requires = entry[REQUIRES] is not None
            yield Head(name, entry[TYPE], entry[VERSION], entry[DIGEST], requires, entry[BLOB], entry[FILE])
        else:
            value = entry.value
            yield Head(name, value.kind, value.version, value.digest, bool(value.requires), None, None)
