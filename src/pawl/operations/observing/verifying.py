"""Verify: recompute every digest and chain, and collect everything that does not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pawl.canonical import record_bytes, sha256
from pawl.conformance.evidence import entry_from_record
from pawl.errors import InvalidError, PawlError
from pawl.ids import REGISTRY_JOURNAL, Channel
from pawl.io.files import read_bounded
from pawl.operations.clocks import journal_problems
from pawl.operations.governing.signed import signature_problems
from pawl.operations.observing.anchoring import anchor_problem, read_anchor
from pawl.operations.reviewing.tampering import not_as_held
from pawl.operations.session import Report, Session
from pawl.policy.sources import rules_from
from pawl.policy.verdict import INTEGRITY
from pawl.problems import Problem
from pawl.registry.anchors import check_anchor, cut_off
from pawl.registry.catalog import Catalog, fold_registry
from pawl.registry.channels import ChannelState, fold_channel, projection
from pawl.registry.channels_projection import MEND, serial_in, why_no_json
from pawl.registry.journal import MAX_RECORD_BYTES, Record
from pawl.workspace import Workspace

if TYPE_CHECKING:
    from pawl.io.git import Repository

Value = TypeVar("Value")


@dataclass(slots=True)
class _Verification:
    workspace: Workspace
    at: str
    """What the clock here says."""
    problems: list[Problem] = field(default_factory=list)
    versions: int = 0
    records: int = 0
    statements: int = 0
    unread: list[Channel] = field(default_factory=list)
    """Channels whose journal does not read, so that nobody knows which evidence belongs to it."""

    def attempt(self, act: Callable[[], Value]) -> Value | None:
        """Return what ``act`` returns, or note why it cannot."""
        try:
            return act()
        except PawlError as error:
            self.problems.extend(error.problems)
            return None

    def error(self, code: str, message: str, path: str, hint: str | None = None) -> None:
        self.problems.append(Problem(code=code, message=message, path=path, hint=hint))


def verify(session: Session, against: Sequence[Path] = ()) -> Report:
    """Check everything that was ever recorded against the bytes that are there. Exit code 6 for any misfit.

    ``against`` are snapshots, projections and records that somebody kept: the journals must still hold what they know.
    Raises ``InvalidError`` for a file that is none.
    """
    anchors = {path: read_anchor(path) for path in against}
    workspace = session.workspace
    check = _Verification(workspace, session.at)
    records = check.attempt(lambda: workspace.journal(REGISTRY_JOURNAL))
    catalog = check.attempt(lambda: fold_registry(records)) if records is not None else None
    if records is not None and catalog is not None:
        check.records += len(records)
        check.problems.extend(journal_problems(REGISTRY_JOURNAL, records, check.at))
        _versions(check, catalog)
        for policy in catalog.policies:
            check.attempt(lambda policy=policy: rules_from(policy.rules))  # type: ignore[misc]
    statements: set[str] = set()
    for channel in _channels(check):
        statements |= _channel(check, channel, records, catalog)
    _strangers(check, catalog, statements)
    found = (anchor_problem(workspace, path, anchor) for path, anchor in anchors.items() if anchor is not None)
    check.problems.extend(problem for problem in found if problem is not None)
    _git(check, lambda: _recorded(workspace, catalog, statements))
    wrong = [problem for problem in check.problems if problem.severity == "error"]
    data = {"versions": check.versions, "records": check.records, "statements": check.statements}
    return Report(
        status="failed" if wrong else "passed",
        exit_code=INTEGRITY if wrong else 0,
        problems=tuple(check.problems),
        data=data,
    )


def _versions(check: _Verification, catalog: Catalog) -> None:
    for version in catalog.published.values():
        if check.attempt(lambda version=version: check.workspace.procedure(version)) is not None:  # type: ignore[misc]
            check.versions += 1


def _recorded(workspace: Workspace, catalog: Catalog | None, statements: set[str]) -> frozenset[str]:
    """Return the paths of frozen versions and evidence that records speak of."""
    files = [workspace.evidence / file for file in statements]
    files += [workspace.frozen_file(ref) for ref in (catalog.published if catalog is not None else ())]
    return frozenset(workspace.relative(path) for path in files)


def _channels(check: _Verification) -> Iterator[Channel]:
    """Yield every channel that has a journal or a projection: one without the other is looked at too."""
    workspace = check.workspace
    found = set(workspace.channels())
    if workspace.projections.is_dir():
        found |= {Channel(path.stem) for path in workspace.projections.glob("*.json")}
    yield from sorted(found)


def _channel(
    check: _Verification, channel: Channel, registry: tuple[Record, ...] | None, catalog: Catalog | None
) -> set[str]:
    workspace = check.workspace
    records = check.attempt(lambda: workspace.journal(channel))
    state = check.attempt(lambda: fold_channel(channel, records)) if records is not None else None
    if records is None or state is None:
        check.unread.append(channel)
        return set()
    check.records += len(records)
    check.problems.extend(journal_problems(channel, records, check.at))
    if registry is not None:
        check.attempt(lambda: check_anchor(registry, state))
    if catalog is not None:
        check.problems.extend(signature_problems(catalog, records))
    _projection(check, channel, records, state)
    found: set[str] = set()
    for record in records:
        for row in record.body["evidence"]:
            file = _statement_file(check, record, row)
            if file is not None:
                found.add(file)
                _statement(check, record, file, row["digest"])
    return found


def _projection(check: _Verification, channel: Channel, records: tuple[Record, ...], state: ChannelState) -> None:
    path = check.workspace.projection_file(channel)
    where = check.workspace.relative(path)
    if not path.exists():
        note = f"{where} is missing; the next release on {channel} writes it again"
        check.problems.append(Problem(code="projection-missing", severity="warning", message=note, path=where))
        return
    data = check.attempt(lambda: read_bounded(path, limit=MAX_RECORD_BYTES, root=check.workspace.root))
    if data is None or data == record_bytes(projection(state)):
        return
    known = serial_in(data)
    if known is not None and known > len(records) > 0:
        check.problems.append(cut_off(channel, len(records), known))
        return
    if known and data == record_bytes(projection(fold_channel(channel, records[:known]))):
        few = "one record" if known == len(records) - 1 else f"{len(records) - known} records"
        note = f"{where} is {few} behind its journal: a command was stopped in between; the next one mends it"
        check.problems.append(Problem(code="projection-behind", severity="warning", message=note, path=where))
        return
    if not records:
        message = f"{where} is there and releases/{channel}/ holds no record: the journal was removed"
    else:
        message = f"{where} is not what the {len(records)} records of releases/{channel}/ lead to"
        if why := why_no_json(data):
            message += f": {why}"
    hint = MEND if records else f"restore releases/{channel}/ from Git"
    check.error("projection-damaged", message, where, hint)


def _statement_file(check: _Verification, record: Record, row: Any) -> str | None:
    """Return where evidence is below releases/evidence/; a record that names another place is damaged."""
    try:
        file = entry_from_record(row).file
        if file.startswith("/") or "\x00" in file or not {"", ".", ".."}.isdisjoint(file.split("/")):
            raise InvalidError(f"{file[:200]!r} is no path below releases/evidence/")
    except PawlError as error:
        path = check.workspace.relative(check.workspace.record_file(record.journal, record.serial))
        hint = f"restore it from Git: git log -- {path}"
        check.error("evidence-damaged", f"record {record.serial}: {error.message}", path, hint)
        return None
    return file


def _statement(check: _Verification, record: Record, file: str, digest: str) -> None:
    path = check.workspace.evidence / file
    try:
        found = sha256(read_bounded(path, limit=MAX_RECORD_BYTES, root=check.workspace.root))
    except PawlError:
        where = check.workspace.relative(path)
        check.error("evidence-missing-file", f"{where}, stored by record {record.serial}, is gone", where)
        return
    if found != digest:
        where = check.workspace.relative(path)
        message = f"{where} is {found}, record {record.serial} stored {digest}"
        check.error("evidence-changed", message, where, f"restore it: git checkout -- {where}")
        return
    check.statements += 1


def _git(check: _Verification, recorded: Callable[[], frozenset[str]]) -> None:
    """Hold what was recorded against Git, which knows of newest records that no chain misses."""
    from pawl.io import git  # noqa: PLC0415 - slow, and only this looks at the past in Git
    from pawl.operations.observing.past import past_problems  # noqa: PLC0415 - as above
    from pawl.releases.committing import not_held  # noqa: PLC0415 - as above

    try:
        repository = git.find(check.workspace.root)
        if repository is None:
            return
        check.problems.extend(not_held(check.workspace, repository))
        if repository.head() is None:
            return
        named = {problem.path for problem in check.problems}
        differing = _differing(repository, check.workspace)
        check.problems.extend(problem for problem in differing if problem.path not in named)
        check.problems.extend(past_problems(repository, check.workspace, recorded))
    except PawlError as error:
        message = f"the journals were not held against Git: {error.message}"
        check.problems.append(Problem(code="git-not-asked", severity="warning", message=message))


def _differing(repository: Repository, workspace: Workspace) -> list[Problem]:
    """Return an error for each file below releases/ that is not what the last commit holds."""
    folder = workspace.releases.resolve()
    committed = {repository.root / path for path in repository.files_at("HEAD", folder)}
    suspect = [path for path in repository.uncommitted([folder]) if path in committed]
    found = []
    for path in suspect:
        # a command that was killed before Git's index followed its commit leaves files that only seem to differ
        if not path.is_file() or path.read_bytes() != repository.read_at("HEAD", path):
            where = path.relative_to(workspace.root.resolve()).as_posix()
            found.append(not_as_held(where, "the last commit", "HEAD", gone=not path.exists()))
    return found


def _strangers(check: _Verification, catalog: Catalog | None, statements: set[str]) -> None:
    """Warn of files that no record speaks of: what a stopped command left behind, or what somebody put there."""
    workspace = check.workspace
    if catalog is not None:
        for ref, path in workspace.frozen_refs():
            if ref is None or ref not in catalog.published:
                _stranger(check, workspace.relative(path))
    files = workspace.sources(workspace.evidence)
    strange = [path for path in files if path.relative_to(workspace.evidence).as_posix() not in statements]
    if check.unread and strange:  # a warning for each would bury why
        journals = ", ".join(f"releases/{channel}/" for channel in check.unread)
        where = workspace.relative(workspace.evidence)
        message = f"{len(strange)} files below {where}/ were held against no record, since {journals} does not read"
        check.problems.append(Problem(code="file-unrecorded", severity="note", message=message, path=where))
        return
    for path in strange:
        _stranger(check, workspace.relative(path))


def _stranger(check: _Verification, where: str) -> None:
    message = f"no record speaks of {where}, so it counts for nothing"
    check.problems.append(Problem(code="file-unrecorded", severity="warning", message=message, path=where))
