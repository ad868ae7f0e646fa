"""Reading what people write: procedures, suites, policies and registry.yaml, with all faults of all files in one run.

A file that does not read is never skipped: it is a problem with file, line and column, and what it would have held is
not there for anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from pawl.conformance.suites import Suite, applies, read_suite
from pawl.errors import Faulty, InvalidError, PawlError
from pawl.ids import Name, parse_name
from pawl.io.locating import problems_of, unreadable_problems
from pawl.io.strict_yaml import Unreadable, load
from pawl.policy.rules import PolicySource
from pawl.policy.sources import read_policy
from pawl.problems import Fault, Problem
from pawl.procedures.procedure import Procedure
from pawl.procedures.read import read_procedure
from pawl.registry.settings import Settings, read_settings
from pawl.workspace import Workspace

Value = TypeVar("Value")


class Named(Protocol):
    """What is known by a name of its own: a suite or a policy."""

    @property
    def name(self) -> str: ...


HasName = TypeVar("HasName", bound=Named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(Generic[Value]):
    """What one file of the work tree holds, with its path and its bytes."""

    value: Value
    path: str
    data: bytes

    def problems(self, *faults: Fault) -> tuple[Problem, ...]:
        """Return faults of the value as problems of the file."""
        return problems_of(self.path, self.data, faults)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Everything that was read. ``problems`` are those of all files; ``unread`` are the files that hold nothing."""

    settings: Settings
    procedures: Mapping[Name, Source[Procedure]]
    suites: Mapping[str, Source[Suite]]
    policies: Mapping[str, Source[PolicySource]]
    problems: tuple[Problem, ...]
    unread: tuple[str, ...]
    _about: Mapping[Name, tuple[Source[Suite], ...]] = field(init=False, repr=False)
    """The suites by the procedure that they are about, in the order of their names."""

    def __post_init__(self) -> None:
        about: dict[Name, list[Source[Suite]]] = {}
        for _, source in sorted(self.suites.items()):
            about.setdefault(source.value.about, []).append(source)
        object.__setattr__(self, "_about", {name: tuple(suites) for name, suites in about.items()})

    def suites_about(self, name: Name) -> tuple[Source[Suite], ...]:
        """Return the suites about a procedure, whatever versions they are for."""
        return self._about.get(name, ())

    @property
    def unread_suites(self) -> tuple[str, ...]:
        return tuple(path for path in self.unread if path.startswith("conformance/"))

    def suites_of(self, procedure: Procedure) -> tuple[Suite, ...]:
        """Return every suite that is about this version, in the order of their names."""
        return tuple(source.value for source in self.suite_sources_of(procedure))

    def suite_sources_of(self, procedure: Procedure) -> tuple[Source[Suite], ...]:
        """Return the same with their files."""
        return tuple(source for source in self.suites_about(procedure.name) if applies(source.value, procedure))


class Known(Protocol):
    """What was read before, by the kind of file and its bytes."""

    def get(self, kind: str, data: bytes) -> Any: ...
    def add(self, kind: str, data: bytes, value: Any) -> None: ...


@dataclass(slots=True)
class _Reading:
    workspace: Workspace
    known: Known | None = None
    problems: list[Problem] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    found: int = 0

    def read(self, path: Path, reader: Callable[[Any], Value], kind: str = "") -> Source[Value] | None:
        """Return what ``reader`` makes of a file of a kind, or note why it makes nothing of it."""
        self.found += 1
        where = self.workspace.relative(path)
        try:
            data = self.workspace.read_source(path)
        except PawlError as error:
            self._fail(where, *(_placed(problem, where) for problem in error.problems))
            return None
        if path.is_symlink() and path != self.workspace.settings_file:
            self._fail(where, _linked(where))
            return None
        before = self.known.get(kind, data) if self.known else None
        if before is not None:
            return Source(value=before, path=where, data=data)
        try:
            value = reader(load(data))
        except Unreadable as error:
            self._fail(where, *unreadable_problems(where, error))
        except Faulty as error:
            self._fail(where, *problems_of(where, data, error.faults))
        else:
            if self.known:
                self.known.add(kind, data, value)
            return Source(value=value, path=where, data=data)
        return None

    def refuse(self, source: Source[Any], fault: Fault) -> None:
        """Note why a file that reads still holds nothing."""
        self._fail(source.path, *source.problems(fault))

    def _fail(self, where: str, *problems: Problem) -> None:
        self.problems.extend(problems)
        self.unread.append(where)


def read_sources(workspace: Workspace, known: Known | None = None) -> Sources:
    """Read every file that people write. Raises only where registry.yaml itself does not read.

    Whoever brings along what is ``known`` wants to hear everything: the error then has the faults of all files.
    """
    reading = _Reading(workspace, known)
    settings = reading.read(workspace.settings_file, read_settings)
    if settings is None and known is None:
        raise _no_settings(reading)
    procedures = _procedures(reading)
    suites = _named(reading, workspace.conformance, read_suite, "suite")
    policies = _named(reading, workspace.policies, read_policy, "policy")
    _note_hidden(reading, workspace.policies)
    if settings is None:
        raise _no_settings(reading)
    return Sources(
        settings=settings.value,
        procedures=procedures,
        suites=suites,
        policies=policies,
        problems=tuple(reading.problems),
        unread=tuple(reading.unread),
    )


def read_suites(workspace: Workspace, known: Known | None = None) -> Sources:
    """Read the settings and the suites alone: what published versions are judged by, whatever else is being edited."""
    settings = read_settings_file(workspace)
    reading = _Reading(workspace, known)
    suites = _named(reading, workspace.conformance, read_suite, "suite")
    return Sources(
        settings=settings,
        procedures={},
        suites=suites,
        policies={},
        problems=tuple(reading.problems),
        unread=tuple(reading.unread),
    )


def read_policies(workspace: Workspace) -> Mapping[str, Source[PolicySource]]:
    """Return the policy sources of the work tree that read, by name: what may be in force, or not yet."""
    return _named(_Reading(workspace), workspace.policies, read_policy, "policy")


def read_settings_file(workspace: Workspace) -> Settings:
    """Return what registry.yaml says; ``InvalidError`` with every fault where it does not read."""
    reading = _Reading(workspace)
    read = reading.read(workspace.settings_file, read_settings)
    if read is None:
        raise _no_settings(reading)
    return read.value


def _no_settings(reading: _Reading) -> InvalidError:
    return InvalidError("registry/registry.yaml is not valid", problems=tuple(reading.problems))


def read_one(workspace: Workspace, path: Path, reader: Callable[[Any], Value]) -> Value:
    """Return what ``reader`` makes of one file; ``InvalidError`` with every fault."""
    reading = _Reading(workspace)
    read = reading.read(path, reader)
    if read is None:
        raise InvalidError(f"{workspace.relative(path)} is not valid", problems=tuple(reading.problems))
    return read.value


def _procedures(reading: _Reading) -> dict[Name, Source[Procedure]]:
    found: dict[Name, Source[Procedure]] = {}
    folder = reading.workspace.procedures
    for path in _yaml_files(reading, folder):
        source = reading.read(path, read_procedure, "procedure")
        if source is None:
            continue
        name = source.value.name
        wanted = path.relative_to(folder).as_posix().removesuffix(".yaml")
        if name == wanted:
            found[name] = source
            continue
        message = f"the name {name} is not the file's path, which is {wanted}"
        reading.refuse(
            source, Fault(code="name-not-path", message=message, at=("name",), hint=_name_hint(name, wanted))
        )
    return found


def _name_hint(name: Name, wanted: str) -> str:
    move = f"move the file to procedures/{name}.yaml"
    try:
        return f"write name: {parse_name(wanted)}, or {move}"
    except ValueError:  # no name can be this path, say one with capitals
        return move


def _named(
    reading: _Reading, folder: Path, reader: Callable[[Any], HasName], field_name: str
) -> dict[str, Source[HasName]]:
    found: dict[str, Source[HasName]] = {}
    for path in _yaml_files(reading, folder):
        source = reading.read(path, reader, field_name)
        if source is None:
            continue
        name = source.value.name
        other = found.get(name)
        if other is None:
            found[name] = source
            continue
        first, second = sorted((other, source), key=lambda one: one.path)
        found[name] = first
        message = f"the {field_name} {name} stands in two files: {first.path} and {second.path}"
        hint = "give one of them another name; which is older is not known here, and the first by path is what is read"
        reading.refuse(second, Fault(code=f"{field_name}-name-twice", message=message, at=(field_name,), hint=hint))
    return found


def _yaml_files(reading: _Reading, folder: Path) -> list[Path]:
    files = []
    for path in reading.workspace.sources(folder):
        where = reading.workspace.relative(path)
        if path.is_symlink() and not path.is_file() and path.suffix != ".yaml":
            message = f"{where} is a link to no file, and folders are not followed: what is behind it is not read"
            reading.problems.append(
                Problem(code="path-outside", message=message, path=where, hint="move the files here")
            )
            reading.unread.append(where)
        elif path.suffix == ".yaml":
            files.append(path)
        elif path.suffix.lower() in {".yaml", ".yml", ".json"}:
            message = f"{where} is not read: files here end in .yaml"
            reading.problems.append(Problem(code="file-ending", message=message, path=where, hint="rename it"))
            reading.unread.append(where)
        elif path.suffix != ".md":
            message = f"{where} is not read: files here end in .yaml"
            reading.problems.append(Problem(code="file-ignored", severity="warning", message=message, path=where))
    return files


def _note_hidden(reading: _Reading, folder: Path) -> None:
    """Warn of what is hidden below a folder: a rule that somebody believes to be there would not be."""
    for path in reading.workspace.hidden(folder):
        where = reading.workspace.relative(path)
        message = f"{where} is not read: its name begins with a dot"
        reading.problems.append(Problem(code="file-ignored", severity="warning", message=message, path=where))


def _linked(where: str) -> Problem:
    """A link inside the workspace: a review of its file, and a revision in Git, would not show what it comes to."""
    message = f"{where} is a symbolic link, and what people write is read from the file itself"
    return Problem(code="file-linked", message=message, path=where, hint="put a copy of the file in the link's place")


def _placed(problem: Problem, where: str) -> Problem:
    return Problem(code=problem.code, severity=problem.severity, message=problem.message, path=where, hint=problem.hint)
