"""A workspace as it stands at a Git revision: its procedures, its published versions, and what differs from there.

Two commits matter. The *tip* is the one that REF names: what has been published is read there. Files are read at the
tip too, or, with ``fork=True``, at the newest commit that REF and HEAD have in common: what somebody else did on REF
since is then no change of ours, as in a pull request. Everything is read from Git's objects, so what the work tree
holds in those places now plays no part; and it is bounded and strict, like every file that people wrote.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from pawl.canonical import digest_of, sha256
from pawl.errors import Faulty, IntegrityError, InvalidError, NotFoundError, PawlError
from pawl.ids import REGISTRY_JOURNAL, Name, parse_name
from pawl.io import git
from pawl.io.locating import problems_of, unreadable_problems
from pawl.io.strict_yaml import Unreadable, load
from pawl.problems import Fault, Problem
from pawl.procedures.procedure import Procedure
from pawl.procedures.read import read_procedure
from pawl.registry.catalog import Catalog, Published, fold_registry
from pawl.registry.journal import MAX_RECORD_BYTES, chain, damaged, is_sealed_by
from pawl.workspace import MAX_SOURCE_BYTES, Workspace

_RECORD = re.compile(r"([0-9]{6,})\.json\Z")
_REMOTE_BRANCH = re.compile(r"(?:refs/remotes/)?(\w[\w.-]*)/(\w[\w./-]*)\Z")
_UNSHALLOW = "git fetch --unshallow; in a workflow of GitHub: fetch-depth: 0"
_NOTHING = ("", "")
_REF = re.compile(r"\w[\w./@#+-]*[~^\d]*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A workspace at ``commit``, and what REF says at ``tip``; both are the same unless the fork was asked for."""

    workspace: Workspace
    repository: git.Repository
    ref: str
    """As the user wrote it."""
    tip: str
    commit: str
    prefix: str
    """The folder of procedures in the repository."""
    entries: Mapping[str, tuple[str, str]]
    """File below that folder -> its mode and the id of its content."""

    @property
    def files(self) -> Mapping[Name, tuple[str, str]]:
        """Name of a procedure -> its file's mode and the id of its content."""
        return {name: self.entries[self._file(name)] for name in self.names_besides(())}

    def names_besides(self, names: Iterable[str]) -> list[Name]:
        """Return the names of procedures that have a file here and are not among others, in no order."""
        start, rest = len(self.prefix), self.entries.keys() - set(map(self._file, names))
        stems = (path[start:-5] for path in rest if path.endswith(".yaml"))
        return [name for stem in stems if (name := _name(stem)) is not None]

    def unlike(self, blobs: Mapping[Name, str | None]) -> list[Name]:
        """Return the names of procedures whose file has not the content here that Git names so."""
        there, prefix = self.entries, self.prefix
        return [
            name
            for name, blob in blobs.items()
            if (found := there.get(f"{prefix}{name}.yaml", _NOTHING))[1] != blob or found[0] not in git.REGULAR
        ]

    def _file(self, name: str) -> str:
        return f"{self.prefix}{name}.yaml"

    def same(self, name: Name, data: bytes) -> bool:
        """Whether a procedure's file has exactly these bytes here."""
        mode, object_id = self.entries.get(self._file(name), _NOTHING)
        if mode not in git.REGULAR:
            return False
        # how Git names content; nothing is trusted because of it
        made = hashlib.sha256() if len(object_id) == 64 else hashlib.sha1(usedforsecurity=False)
        made.update(b"blob %d\x00" % len(data))
        made.update(data)
        return made.hexdigest() == object_id

    def procedure(self, name: Name) -> Procedure | None:
        """Return a procedure, or None if it has no file here; ``InvalidError`` with every fault if it does not read."""
        if self._file(name) not in self.entries:
            return None
        path = f"procedures/{name}.yaml"
        where = f"{self.ref}:{path}"
        try:
            procedure = self._read(name, path, where)
        except PawlError as error:
            raise InvalidError(f"{where} does not read", problems=_placed(error.problems, where)) from None
        return procedure

    def catalog(self, here: Catalog | None = None) -> Catalog:
        """Return what the registry's journal says at the tip; ``IntegrityError`` if a record does not fit.

        ``here`` is what the work tree's says: it says the same where both end with one record, for each record seals
        the one before it.
        """
        folder = f"releases/{REGISTRY_JOURNAL}"
        try:
            names = self._names_at(self.tip, folder)
            serials = sorted(_serial(name) for name in names)
            if here is not None and serials == [*range(1, here.head.serial + 1)] and self._ends_with(here, folder):
                return here
            records = ((serial, self._record(f"{folder}/{serial:06d}.json", serial)) for serial in serials)
            return fold_registry(chain(REGISTRY_JOURNAL, records))
        except IntegrityError as error:
            raise IntegrityError(
                f"at {self.ref}: {error.message}", problems=_placed(error.problems, None, at=self.ref)
            ) from None

    def _ends_with(self, here: Catalog, folder: str) -> bool:
        serial = here.head.serial
        data = self._record(f"{folder}/{serial:06d}.json", serial) if serial else b""
        return not serial or is_sealed_by(data, here.head.digest)

    def published(self, version: Published) -> Procedure:
        """Return a version that the catalog at the tip knows, from its frozen copy there, checked by its digests."""
        path = f"registry/versions/{version.name}/{version.version}.yaml"
        data = self._blob(self.tip, path, MAX_SOURCE_BYTES)
        document = None if data is None else _vouched(data, version)
        if document is None:
            message = f"{version.ref} is not as it was published: its file is {'gone' if data is None else 'another'}"
            problem = Problem(code="frozen-changed", message=message, path=f"{self.ref}:{path}")
            raise IntegrityError(message, problems=(problem,))
        return Procedure(
            kind=version.kind,
            name=version.name,
            version=version.version,
            document=document,
            digest=version.digest,
        )

    def changed_paths(self) -> tuple[str, ...]:
        """Return the files of the workspace that differ between ``commit`` and the work tree, from the root, sorted.

        New ones count before Git knows them; ignored ones do where people write, since pawl reads those as well. What
        is new where only pawl writes is no change of a file that stood there: whoever looks for that reads the folder.
        """
        space = self.workspace
        read = [path for path in (space.procedures, space.conformance, space.policies) if path.is_dir()]
        prefix = _prefix(space, self.repository)
        changed = self.repository.changed_since(self.commit, space.root, read, (space.versions, space.releases))
        return tuple(path.removeprefix(prefix) for path in changed)

    def suite_subject(self, path: str) -> Name | None:
        """Return what the suite in a file was about, or None where there was none that reads."""
        with suppress(PawlError, Unreadable, ValueError):
            data = self._blob(self.commit, path, MAX_SOURCE_BYTES)
            document = load(data) if data is not None else None
            return parse_name(document["about"]) if isinstance(document, dict) and "about" in document else None
        return None

    def held(self, folder: Path) -> tuple[str, ...]:
        """Return the files below a folder of the workspace as of ``commit``, from the root."""
        prefix = _prefix(self.workspace, self.repository)
        return tuple(path.removeprefix(prefix) for path in self.repository.files_at(self.commit, folder))

    def _read(self, name: Name, path: str, where: str) -> Procedure:
        mode, _ = self.entries[self._file(name)]
        if mode not in git.REGULAR:
            raise InvalidError("it is a link there, and links are not followed in Git", code="not-a-file")
        data = self._blob(self.commit, path, MAX_SOURCE_BYTES)
        if data is None:
            raise InvalidError("Git lists it and does not hold its content", code="git-failed", hint="git fetch")
        try:
            procedure = read_procedure(load(data))
        except Unreadable as error:
            raise InvalidError(where, problems=unreadable_problems(where, error)) from None
        except Faulty as error:
            raise InvalidError(where, problems=problems_of(where, data, error.faults)) from None
        if procedure.name != name:
            fault = Fault(code="name-not-path", message=f"the name {procedure.name} is not the file's path, {name}")
            raise InvalidError(where, problems=problems_of(where, data, (fault,)))
        return procedure

    def _record(self, path: str, serial: int) -> bytes:
        try:
            data = self._blob(self.tip, path, MAX_RECORD_BYTES)
        except InvalidError as error:
            raise damaged(REGISTRY_JOURNAL, serial, error.message) from None
        if data is None:
            raise damaged(REGISTRY_JOURNAL, serial, "it is no regular file")
        return data

    def _blob(self, commit: str, path: str, limit: int) -> bytes | None:
        return self.repository.blob_at(commit, _prefix(self.workspace, self.repository) + path, limit=limit)

    def _names_at(self, commit: str, folder: str) -> tuple[str, ...]:
        prefix = f"{_prefix(self.workspace, self.repository)}{folder}/"
        files = self.repository.files_at(commit, self.workspace.root / folder)
        return tuple(file.removeprefix(prefix) for file in files)


def at_revision(workspace: Workspace, ref: str, *, fork: bool = False) -> Revision:
    """Return a workspace as it stands at ``ref``, or with ``fork`` where HEAD and ``ref`` parted.

    Raises ``NotFoundError`` where there is no Git, no such commit, or nothing in common.
    """
    repository = git.find(workspace.root)
    if repository is None:
        message = f"{workspace.root} is in no Git work tree, so there is no revision {ref[:200]!r} to compare with"
        raise NotFoundError(
            message, code="no-repository", hint="name a published version instead: pawl diff NAME@X.Y.Z"
        )
    tip = repository.resolve(ref)
    if tip is None:
        message = f"{ref[:200]!r} names no commit in this repository"
        raise NotFoundError(message, code="unknown-revision", hint=_fetch_hint(repository, ref))
    commit = _parted(repository, ref, tip) if fork else tip
    entries = repository.entries_at(commit, workspace.procedures)
    prefix = f"{_prefix(workspace, repository)}procedures/"
    return Revision(
        workspace=workspace, repository=repository, ref=ref, tip=tip, commit=commit, prefix=prefix, entries=entries
    )


def folder_in_git(workspace: Workspace) -> str:
    """Return the folder of a workspace in its repository, for reports that name files from there; empty at its root.

    It is empty too where there is no Git that answers: then no report is read against a repository either.
    """
    try:
        repository = git.find(workspace.root)
    except PawlError:
        return ""
    return _prefix(workspace, repository).rstrip("/") if repository else ""


def _parted(repository: git.Repository, ref: str, tip: str) -> str:
    head = repository.head()
    found = repository.merge_base(tip, head) if head else None
    if found is None:
        shallow = repository.is_shallow()
        why = "history was cut when this repository was cloned" if shallow else "their histories have no common commit"
        hint = _UNSHALLOW if shallow else f"merge {ref} first"
        message = f"where HEAD and {ref[:200]} parted is not known: {why}"
        raise NotFoundError(message, code="no-merge-base", hint=hint)
    return found


def _fetch_hint(repository: git.Repository, ref: str) -> str | None:
    """Return how to get a commit that may just not have been fetched; nothing where fetching brings no such name."""
    branch = _REMOTE_BRANCH.match(ref)
    if not branch and ".." not in ref and repository.is_shallow():
        return _UNSHALLOW  # the one fetch that brings everything, older commits (HEAD~1) too
    if not _REF.match(ref) or ".." in ref:
        return None
    fetch = f"git fetch {shlex.quote(branch[1])} {shlex.quote(branch[2])}" if branch else "git fetch --all --tags"
    return f"{fetch}; in a workflow of GitHub: fetch-depth: 0" if branch else fetch


def _prefix(workspace: Workspace, repository: git.Repository) -> str:
    """Return the folder of the workspace in its repository, with a slash behind it, or nothing if they are the same."""
    folder = PurePosixPath(workspace.root.resolve().relative_to(repository.root))
    return "" if folder == PurePosixPath() else f"{folder}/"


def _name(stem: str) -> Name | None:
    """Return the name of a file below procedures/; None for one that holds nothing wherever it stands."""
    try:
        return parse_name(stem)
    except ValueError:
        return None


def _serial(name: str) -> int:
    found = _RECORD.match(name)
    if found is None:
        raise damaged(REGISTRY_JOURNAL, 1, f"{name} is no record of it")
    return int(found[1])


def _vouched(data: bytes, version: Published) -> Any:
    """Return the document in frozen bytes, or None if they are not those that were recorded."""
    if sha256(data) != version.file:
        return None
    with suppress(Unreadable):
        document = load(data)
        return document if digest_of(document) == version.digest else None
    return None


def _placed(problems: tuple[Problem, ...], where: str | None, *, at: str = "") -> tuple[Problem, ...]:
    return tuple(_moved(problem, where or f"{at}:{problem.path}") for problem in problems)


def _moved(problem: Problem, where: str) -> Problem:
    return Problem(
        code=problem.code,
        severity=problem.severity,
        message=problem.message,
        path=where,
        line=problem.line,
        column=problem.column,
        hint=problem.hint,
    )
