"""Reading what people write: procedures, suites, policies and registry.yaml, with all faults of all files in one run.

A file that does not read is never skipped: it is a problem with file, line and column, and what it would have held is
not there for anybody. Procedures and suites whose files show no change since they read well are not opened; whoever
asks for more than their heads has them read and hashed at that moment (``unopened``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pawl.canonical import digest_of
from pawl.conformance.suites import Suite, read_suite
from pawl.errors import Faulty, IntegrityError, InvalidError, PawlError
from pawl.ids import Name, parse_name
from pawl.io.locating import problems_of, unreadable_problems
from pawl.io.strict_yaml import Unreadable, load
from pawl.operations.sources.files import UNMARKED, Looked, PackedMark, look, read_quickly
from pawl.operations.sources.memory import Row, Shelf, SourceMemory, open_sources
from pawl.operations.sources.unopened import Unopened, UnopenedProcedure, UnopenedSuite, remembered_document
from pawl.operations.sources.values import Files, Source, Sources, UnopenedSource
from pawl.policy.rules import PolicySource
from pawl.policy.sources import policy_document, read_policy, rules_from
from pawl.problems import Fault, Problem
from pawl.procedures.procedure import Procedure
from pawl.procedures.read import read_procedure
from pawl.registry.settings import Settings, read_settings, settings_of
from pawl.workspace import MAX_SOURCE_BYTES, Workspace

Value = TypeVar("Value")
Named = TypeVar("Named", Procedure, Suite, PolicySource)


@dataclass(slots=True)
class _Reading:
    workspace: Workspace
    memory: SourceMemory = field(default_factory=SourceMemory)
    problems: list[Problem] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def read(self, path: Path, reader: Callable[[Any], Value]) -> Source[Value] | None:
        """Return what ``reader`` makes of a file, or note why it makes nothing of it."""
        where = self.workspace.relative(path)
        try:
            data = self.workspace.read_source(path)
        except PawlError as error:
            self._fail(where, *(_placed(problem, where) for problem in error.problems))
            return None
        if path.is_symlink() and path != self.workspace.settings_file:
            self._fail(where, _linked(where))
            return None
        return self._made(where, data, reader)

    def open(self, where: str, reader: Callable[[Any], Named], kind: str, known: str | None) -> Source[Named] | bool:
        """Return the same of a file that shows a change: True where its bytes are those ``known``, False for nothing.

        ``known`` is the SHA-256 of the bytes that the memory knows of.
        """
        found = read_quickly(f"{self.workspace.root}/{where}", MAX_SOURCE_BYTES)
        if found is None:
            return self.read(self.workspace.root / where, reader) or False
        data, mark = found
        file = hashlib.sha256(data).hexdigest()
        if known == file:
            if mark != UNMARKED:
                self.memory.mark(kind, where, file, mark)
            return True
        source = self._made(where, data, reader)
        if source is not None and (mark != UNMARKED or known is None):
            self._note(source, kind, mark, file)
        return source or False

    def settings(self) -> Settings | None:
        """Return what registry.yaml says, which is always opened; it is parsed where it was not read as before."""
        path = self.workspace.settings_file
        where = self.workspace.relative(path)
        row = self.memory.row(where)
        if row is not None:
            with suppress(PawlError):  # what is wrong is told below
                if hashlib.sha256(self.workspace.read_source(path)).hexdigest() == row.file:
                    document = remembered_document(self.memory, row)
                    if document is not None:
                        return settings_of(document)
        source = self.read(path, read_settings)
        if source is None:
            return None
        with suppress(ValueError):  # what has no canonical form is parsed every time
            document = source.value.document
            file = hashlib.sha256(source.data).hexdigest()
            row = Row(where, "settings", file, digest=digest_of(document))
            self.memory.note(row, UNMARKED, json.dumps(document, separators=(",", ":")))
        return source.value

    def _made(self, where: str, data: bytes, reader: Callable[[Any], Value]) -> Source[Value] | None:
        try:
            return Source(value=reader(load(data)), path=where, data=data)
        except Unreadable as error:
            self._fail(where, *unreadable_problems(where, error))
        except Faulty as error:
            self._fail(where, *problems_of(where, data, error.faults))
        return None

    def _note(self, source: Source[Any], kind: str, mark: PackedMark, file: str) -> None:
        """Have it remembered what a file read as, unless it stands in the wrong place."""
        value = source.value
        if kind == "policy":
            document = policy_document((value,))
            row = Row(source.path, kind, file, name=value.name, digest=digest_of(document))
            self.memory.note(row, mark, json.dumps(document, separators=(",", ":")))
            return
        of_procedure = kind == "procedure"
        if of_procedure and source.path != f"procedures/{value.name}.yaml":
            return
        made = hashlib.sha1(usedforsecurity=False)  # how Git names content; nothing is trusted because of it
        made.update(b"blob %d\x00" % len(source.data))
        made.update(source.data)
        requires = value.requires if of_procedure else {}
        row = Row(
            path=source.path,
            kind=kind,
            file=file,
            blob=made.hexdigest(),
            name=value.name,
            digest=value.digest,
            type=value.kind if of_procedure else "",
            version=value.version if of_procedure else value.versions,
            about=None if of_procedure else value.about,
            requires=json.dumps(requires) if requires else None,
        )
        self.memory.note(row, mark, json.dumps(value.document, separators=(",", ":")))

    def refuse(self, source: Source[Any], fault: Fault) -> None:
        """Note why a file that reads still holds nothing."""
        self._fail(source.path, *source.problems(fault))

    def _fail(self, where: str, *problems: Problem) -> None:
        self.problems.extend(problems)
        self.unread.append(where)


def read_sources(workspace: Workspace, *, hear_all: bool = False) -> Sources:
    """Read every file that people write. Raises only where registry.yaml itself does not read.

    The error then has the faults of that file alone, or with ``hear_all`` those of all files.
    """
    reading = _Reading(workspace, open_sources(workspace))
    settings = reading.settings()
    if settings is None and not hear_all:
        raise _no_settings(reading)
    procedures = _procedures(reading)
    suites = _suites(reading)
    policies = _policies(reading)
    _note_hidden(reading, workspace.policies)
    reading.memory.save()
    if settings is None:
        raise _no_settings(reading)
    return Sources(
        settings=settings,
        procedures=procedures,
        suites=suites,
        policies=policies,
        problems=tuple(reading.problems),
        unread=tuple(reading.unread),
    )


def read_suites(workspace: Workspace, *, opened: bool = True) -> Sources:
    """Read the settings and the suites alone: what published versions are judged by, whatever else is being edited.

    ``opened``: the suites that are asked for are parsed at that moment, because what they come to is stored.
    """
    reading = _Reading(workspace, open_sources(workspace))
    settings = reading.settings()
    if settings is None:
        raise _no_settings(reading)
    suites = _suites(reading)
    reading.memory.save()
    return Sources(
        settings=settings,
        procedures=Files({}),
        suites=suites,
        policies={},
        problems=tuple(reading.problems),
        unread=tuple(reading.unread),
        open_suites=opened,
    )


def read_policies(workspace: Workspace) -> Mapping[str, Source[PolicySource]]:
    """Return the policy sources of the work tree that read, by name: what may be in force, or not yet."""
    reading = _Reading(workspace)
    return _all(reading, workspace.policies, "policy", read_policy, lambda _: None)


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


def _procedures(reading: _Reading) -> Files[Name, Procedure]:
    def right(source: Source[Procedure]) -> bool:
        name, wanted = source.value.name, source.path.removeprefix("procedures/").removesuffix(".yaml")
        if name == wanted:  # only what stands in its place is remembered
            return True
        message = f"the name {name} is not the file's path, which is {wanted}"
        reading.refuse(
            source, Fault(code="name-not-path", message=message, at=("name",), hint=_name_hint(name, wanted))
        )
        return False

    return _all(reading, reading.workspace.procedures, "procedure", read_procedure, UnopenedProcedure, right)


def _suites(reading: _Reading) -> Files[str, Suite]:
    return _all(reading, reading.workspace.conformance, "suite", read_suite, UnopenedSuite)


def _policies(reading: _Reading) -> Files[str, PolicySource]:
    return _all(reading, reading.workspace.policies, "policy", read_policy, _policy_of)


def _policy_of(file: Unopened) -> PolicySource | None:
    """Return a policy from the document that its bytes were read as."""
    known = file.remembered()
    with suppress(IntegrityError):
        rules = rules_from(known) if known is not None else ()
        if rules:
            return PolicySource(name=file.row.name, owner=rules[0].owner, rules=rules)
    return None


def _all(
    reading: _Reading,
    folder: Path,
    kind: str,
    reader: Callable[[Any], Named],
    unopened: Callable[[Unopened], Named | None],
    right: Callable[[Source[Named]], bool] = lambda _: True,
) -> Files[Any, Named]:
    """Return every file of a kind. ``unopened`` makes a value of one that shows no change; ``right`` refuses others."""
    shelf = reading.memory.shelf(kind)

    def make(place: int) -> Source[Named]:
        path, file = shelf.column("path")[place], shelf.column("file")[place]
        row = reading.memory.row(path, file)
        seen = Unopened(reading.workspace, reading.memory, row or Row(path, kind, file))
        value = unopened(seen) if row is not None else None
        if value is None:  # the memory no longer says more of it
            return Source(value=reader(load(seen.data)), path=path, data=seen.data)
        return UnopenedSource(seen, value, reader)

    looked = look(reading.workspace.root, folder, shelf.known, notes=".md")
    entries = _entries(reading, looked, shelf, kind, reader, right)
    if looked.folders and looked.paths is not shelf.known.paths:
        reading.memory.keep(kind, looked, shelf)
    found = _in_place(looked, shelf, entries)
    if found is None:
        return Files(_named(entries, shelf, kind, reading, make), shelf, make)
    return Files(found, shelf, make, besides=[shelf.column("name")[index] for index in looked.differing])


def _entries(
    reading: _Reading,
    looked: Looked,
    shelf: Shelf,
    kind: str,
    reader: Callable[[Any], Named],
    right: Callable[[Source[Named]], bool],
) -> list[int | Source[Named] | None]:
    """Return of each file its place on the shelf if it shows no change, else a source, or nothing."""
    entries: list[int | Source[Named] | None]
    if looked.paths is shelf.known.paths:
        entries = [*range(len(looked.paths))]
    else:
        entries = [shelf.places.get(path) for path in looked.paths]
    for index in looked.differing:
        path, place = looked.paths[index], entries[index]
        entry: Source[Named] | bool | None = None
        if looked.folders and path.endswith(".yaml"):
            known = shelf.column("file")[place] if isinstance(place, int) else None
            entry = reading.open(path, reader, kind, known)
        elif _is_read(reading, reading.workspace.root / path):
            entry = reading.read(reading.workspace.root / path, reader)
        if entry is not True:
            entries[index] = entry if entry and right(entry) else None
    return entries


def _in_place(
    looked: Looked, shelf: Shelf, entries: Sequence[int | Source[Named] | None]
) -> dict[str, int | Source[Named]] | None:
    """Return entries by their names if these are those of the shelf, which need no look at each then; else None."""
    names = shelf.column("name")
    if looked.paths is not shelf.known.paths:
        return None
    found = dict(zip(names, entries, strict=True))
    read = [(names[index], entries[index]) for index in looked.differing]
    if len(found) < len(names) or any(isinstance(entry, Source) and entry.value.name != name for name, entry in read):
        return None
    for name, entry in read:
        if entry is None:
            del found[name]
    return found  # type: ignore[return-value]


def _name_hint(name: Name, wanted: str) -> str:
    move = f"move the file to procedures/{name}.yaml"
    try:
        return f"write name: {parse_name(wanted)}, or {move}"
    except ValueError:  # no name can be this path, say one with capitals
        return move


def _named(
    entries: Iterable[int | Source[Named] | None],
    shelf: Shelf,
    field_name: str,
    reading: _Reading,
    make: Callable[[int], Source[Named]],
) -> dict[str, int | Source[Named]]:
    """Return entries by their names; of two of one name the first by path."""
    found: dict[str, int | Source[Named]] = {}
    names = shelf.column("name")
    for entry in entries:
        if entry is None:
            continue
        name = names[entry] if isinstance(entry, int) else entry.value.name
        if name not in found:
            found[name] = entry
            continue
        both = [make(one) if isinstance(one, int) else one for one in (found[name], entry)]
        first, second = sorted(both, key=lambda one: one.path)
        found[name] = first
        message = f"the {field_name} {name} stands in two files: {first.path} and {second.path}"
        hint = "give one of them another name; which is older is not known here, and the first by path is what is read"
        reading.refuse(second, Fault(code=f"{field_name}-name-twice", message=message, at=(field_name,), hint=hint))
    return found


def _is_read(reading: _Reading, path: Path) -> bool:
    """Whether a file is one to read; what is not is noted, unless it is text for people."""
    where = reading.workspace.relative(path)
    if path.is_symlink() and not path.is_file() and path.suffix != ".yaml":
        message = f"{where} is a link to no file, and folders are not followed: what is behind it is not read"
        problem = Problem(code="path-outside", message=message, path=where, hint="move the files here")
    elif path.suffix == ".yaml":
        return True
    elif path.suffix.lower() in {".yaml", ".yml", ".json"}:
        message = f"{where} is not read: files here end in .yaml"
        problem = Problem(code="file-ending", message=message, path=where, hint="rename it")
    elif path.suffix != ".md":
        message = f"{where} is not read: files here end in .yaml"
        problem = Problem(code="file-ignored", severity="warning", message=message, path=where)
    else:
        return False
    reading.problems.append(problem)
    if problem.severity == "error":
        reading.unread.append(where)
    return False


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
