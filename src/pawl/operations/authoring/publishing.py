"""Publish: freeze what the work tree holds as versions that never change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pawl.canonical import content_digest, sha256
from pawl.errors import ConflictError, InvalidError, NotFoundError
from pawl.ids import Name, Ref, Serial, Version
from pawl.operations.authoring.bumping import Ground, Step, ground_of, reused, step_to
from pawl.operations.reviewing.linting import lint_new
from pawl.operations.session import Report, Session
from pawl.operations.sources import Source, Sources, read_sources
from pawl.operations.sources.recorded import MANY, copy_path, recorded_before, remember_recorded
from pawl.operations.uncommitted import uncommitted_notes
from pawl.operations.world import read_world
from pawl.operations.writing import write
from pawl.problems import Fault, Problem
from pawl.procedures.procedure import Procedure
from pawl.registry.catalog import Catalog, Published
from pawl.registry.closure import requirement_cycles
from pawl.registry.versions import satisfies
from pawl.releases.planning import plan_publish


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The versions that are new, each with the way to it, and what the registry was asked about.

    ``same``: the SHA-256 of frozen copies by their paths, of which the work tree has the very bytes.
    """

    new: Mapping[Name, Step]
    same: Mapping[str, str]
    problems: tuple[Problem, ...]


PUBLISH_TRIES = 5


def publish(session: Session, names: Sequence[Name], *, dry_run: bool = False, reason: str | None = None) -> Report:
    """Freeze every new version, or those of ``names``, under one record; nothing at all if one of them cannot be.

    Where somebody else wrote meanwhile it is decided again: the same version may be frozen by now, and others do not
    stand in the way. So it ends in ``ConflictError`` only where the registry keeps moving, or is locked all the time.
    """
    turn = 1
    while True:
        try:
            return _publish(session, names, dry_run=dry_run, reason=reason)
        except ConflictError as error:
            if turn == PUBLISH_TRIES or error.problems[0].code != "conflict":
                raise
            turn += 1


def _publish(session: Session, names: Sequence[Name], *, dry_run: bool, reason: str | None) -> Report:
    world = read_world(session.workspace)
    sources = read_sources(session.workspace)
    chosen = _chosen(sources, names)
    known = recorded_before(session.workspace, world.catalog)
    selection = select(sources, chosen, ground_of(session.workspace, world.catalog), known)
    if len(selection.same) >= MANY:
        remember_recorded(session.workspace, world.catalog, selection.same)
    # what is frozen is what its file says now, whatever is remembered of it
    new = [sources.procedures[name].opened() for name in selection.new]
    blocking = (
        *sources.problems,
        *selection.problems,
        *requirement_problems(sources, world.catalog),
        *lint_new(session.workspace, sources, new),
    )
    if any(problem.severity == "error" for problem in blocking):
        raise InvalidError("nothing was published", problems=blocking)
    if not selection.new:
        note = Problem(code="unchanged", severity="note", message="nothing to publish: every version is frozen already")
        return Report(status="unchanged", problems=(*blocking, note), data={"published": []})
    versions = [(published_form(source), source.data) for source in new]
    plan = plan_publish(world.catalog, versions, session.stamp(reason or _reason(new)))
    rows = [
        {"name": item.name, "version": item.version, "kind": item.kind, "digest": item.digest} for item, _ in versions
    ]
    data: dict[str, Any] = {"published": rows, "plan": list(plan.lines()), "dry_run": dry_run}
    if dry_run:
        return Report(status="would", problems=blocking, data={**data, "serial": None, "commit": None, "files": []})
    applied = write(session, plan, branch=sources.settings.branch)
    record = plan.record
    files = [session.workspace.procedure_file(item.name) for item, _ in versions]
    return Report(
        status="done",
        problems=(*blocking, *applied.problems, *uncommitted_notes(session.workspace, applied, files)),
        data={
            **data,
            "serial": record.serial if record else None,
            "commit": applied.commit,
            "files": list(applied.files),
        },
    )


def select(
    sources: Sources, chosen: Iterable[Name], ground: Ground, recorded: Mapping[str, str] | None = None
) -> Selection:
    """Sort procedures into new and published ones, and say what their version numbers make impossible.

    ``recorded``: the SHA-256 of frozen copies by their paths, where it is known; a file of the same bytes is published.
    """
    new: list[Name] = []
    same: dict[str, str] = {}
    problems: list[Problem] = []
    files = sources.contents("file")
    for name in _unlike(recorded, sources, chosen) if recorded else chosen:
        head = sources.head(name)
        published = ground.catalog.published.get(Ref(head.name, head.version))
        if published is None:
            new.append(name)
        elif published.file == f"sha256:{files[name]}":
            same[copy_path(name, head.version)] = published.file
        elif published.digest != head.digest:
            source = sources.procedures[name]
            problems += source.problems(reused(source.value, ground)[1])
    steps = {name: step_to(sources.procedures[name].value, ground) for name in new}
    for name, step in steps.items():
        problems += sources.procedures[name].problems(*step.faults, *step.warnings)
    return Selection(new=steps, same=same, problems=tuple(problems))


def _unlike(recorded: Mapping[str, str], sources: Sources, chosen: Iterable[Name]) -> list[Name]:
    """Return the names whose files have other bytes than the frozen copies of their versions."""
    files, versions = sources.contents("file"), sources.versions
    return [name for name in chosen if recorded.get(copy_path(name, versions[name])) != f"sha256:{files[name]}"]


def requirement_problems(sources: Sources, catalog: Catalog) -> tuple[Problem, ...]:
    """Return a problem for every requirement that nobody can ever meet, and for every cycle of requirements."""
    problems: list[Problem] = []
    unread = frozenset(sources.unread)
    requiring = sources.requiring
    for source in requiring.values():
        for name, specifier in source.value.requires.items():
            versions = _versions_there(name, sources, catalog)
            if any(satisfies(version, specifier) for version in versions) or f"procedures/{name}.yaml" in unread:
                continue  # what a file that does not read would hold is not known, and its own problems say so
            if not versions:
                fault = Fault(
                    code="requirement-unknown",
                    message=f"{name} is required, and there is no such procedure here or in the registry",
                    at=("requires", name),
                    on_key=True,
                    hint=f"write procedures/{name}.yaml, or correct the name",
                )
                problems += source.problems(fault)
            else:
                fault = Fault(
                    code="requirement-unmet",
                    message=f"no version of {name} is within {specifier}; there are {', '.join(sorted(versions))}",
                    at=("requires", name),
                )
                problems += source.problems(fault)
    members: Mapping[Name, Procedure] = {name: source.value for name, source in requiring.items()}
    for cycle in requirement_cycles(members):
        message = f"requirements go round in a circle: {' -> '.join((*cycle, cycle[0]))}"
        fault = Fault(code="requirement-cycle", message=message, at=("requires",), on_key=True)
        problems += sources.procedures[cycle[0]].problems(fault)
    return tuple(problems)


def _versions_there(name: Name, sources: Sources, catalog: Catalog) -> set[Version]:
    here = {sources.procedures[name].value.version} if name in sources.procedures else set()
    return here | {item.version for item in catalog.versions_of(name)}


def _chosen(sources: Sources, names: Sequence[Name]) -> Iterable[Name]:
    missing = [name for name in names if name not in sources.procedures]
    if missing:
        unread = [problem for problem in sources.problems if problem.severity == "error"]
        if unread:
            raise InvalidError("nothing was published", problems=tuple(unread))
        raise NotFoundError(
            f"there is no procedures/{missing[0]}.yaml",
            code="name-unknown",
            hint=f"pawl new KIND {missing[0]} writes one",
        )
    return dict.fromkeys(names) or sources.procedures


def published_form(source: Source[Procedure]) -> Published:
    """Return a source as it would stand in the registry."""
    procedure = source.value
    return Published(
        kind=procedure.kind,
        name=procedure.name,
        version=procedure.version,
        digest=procedure.digest,
        content=content_digest(procedure.document),
        file=sha256(source.data),
        requires=procedure.requires,
        serial=Serial(0),
        at="",
    )


def _reason(sources: Sequence[Source[Procedure]]) -> str:
    """Return the history's words for a publish: what each version says it changes."""
    said = [f"{source.value.ref}: {changes}" for source in sources if (changes := source.value.document.get("changes"))]
    return "; ".join(said)[:2_000] or "published"
