"""Check: what CI runs on a pull request. Read, validate, lint, versions, suites and policy, all faults in one run.

Every file is read whatever changed, so that no file is broken unseen. With a base, suites run for what differs from it
and for what depends on that; version numbers are held against what is published at the base, so that a branch which
publishes cannot lower its own bar.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from threading import Thread
from typing import Any

from pawl.errors import IntegrityError
from pawl.ids import Name
from pawl.lint.ignores import Ignored
from pawl.operations.authoring.bumping import Ground, ground_of
from pawl.operations.authoring.publishing import Selection, requirement_problems, select
from pawl.operations.governing.policies import policy_problems
from pawl.operations.reviewing.change_rows import change_rows, without_secrets
from pawl.operations.reviewing.diffing import effects_of
from pawl.operations.reviewing.frozen_copies import Frozen
from pawl.operations.reviewing.leftovers import leftover_problems
from pawl.operations.reviewing.linting import lint
from pawl.operations.reviewing.prospects import canary_problems, prospect_problems, prospects
from pawl.operations.reviewing.requirements import misfit_problems
from pawl.operations.reviewing.revisions import Revision, at_revision, folder_in_git
from pawl.operations.reviewing.scope import Scope, since, whole
from pawl.operations.reviewing.tampering import tampered
from pawl.operations.reviewing.testing import Ran, report, results_data, run_all, suite_problems, work_tree_runs
from pawl.operations.session import Report, Session
from pawl.operations.sources import Sources, read_sources
from pawl.operations.world import World, read_world
from pawl.policy.verdict import INTEGRITY
from pawl.problems import Problem
from pawl.workspace import Workspace


def check(session: Session, base: str | None = None, *, everything: bool = False) -> Report:
    """Report everything that is wrong with the work tree; errors are findings (1), broken records are 6.

    ``base`` is a Git revision to compare with; ``everything`` runs every suite nevertheless.
    """
    asked = _Asked(session.workspace, base) if base is not None else None
    try:
        sources = read_sources(session.workspace, hear_all=True)
    finally:
        if asked:
            asked.wait()
    revision, paths = asked.answer() if asked else (None, frozenset())
    try:
        world = read_world(session.workspace)
        ground = _ground(session, world, revision)
        frozen = tampered(session, world, revision, paths)
    except IntegrityError as error:
        return _damaged(session, sources, error.problems)
    if any(problem.severity == "error" for problem in frozen.problems):
        return _damaged(session, sources, frozen.problems)
    scope = since(revision, paths, sources, everything=everything) if revision else whole(sources)
    return _checked(session, sources, world, ground, scope, paths, frozen)


class _Asked:
    """What Git says of a base, asked while files are read: it looks at as many of them, in processes of its own."""

    def __init__(self, workspace: Workspace, base: str) -> None:
        self._workspace, self._base = workspace, base
        self._found: tuple[Revision, frozenset[str]] | None = None
        self._error: BaseException | None = None
        self._thread = Thread(target=self._ask, daemon=True)
        self._thread.start()

    def wait(self) -> None:
        self._thread.join()

    def answer(self) -> tuple[Revision, frozenset[str]]:
        """Return the revision and the files that differ from it; raises what asking raised."""
        if self._found is None:
            raise self._error or RuntimeError("Git was not asked")
        return self._found

    def _ask(self) -> None:
        try:
            revision = at_revision(self._workspace, self._base, fork=True)
            self._found = revision, frozenset(revision.changed_paths())
        except BaseException as error:  # noqa: BLE001 - raised where the answer is wanted
            self._error = error


def _checked(
    session: Session,
    sources: Sources,
    world: World,
    ground: Ground,
    scope: Scope,
    paths: frozenset[str],
    frozen: Frozen,
) -> Report:
    """Return the report on a work tree whose records can be believed; ``frozen`` is what was seen of those."""
    recorded = frozen.files if ground.catalog.head == world.catalog.head else {}
    selection = select(sources, sources.procedures, ground, recorded)
    runs = work_tree_runs(sources, scope.tested)
    ran = run_all(session, sources, world.catalog, runs)
    linted = lint(session.workspace, sources, scope.linted, scope.tested, runs)
    wrong = [*selection.problems, *_own_registry(sources, session, world, selection, ground)]
    numbers = {problem.path: problem for problem in wrong if problem.path and problem.severity == "error"}
    found = prospects(session, world, sources, _moving(scope), ran, numbers)
    if alarms := canary_problems(found):
        return _damaged(session, sources, alarms)
    problems = [
        *sources.problems,
        *linted.problems,
        *wrong,
        *requirement_problems(sources, world.catalog),
        *suite_problems(sources, world.catalog),
        *misfit_problems(scope.tested, sources, world.catalog, session.workspace),
        *_untested(scope, sources),
        *leftover_problems(session, scope, sources, world, paths),
        *policy_problems(sources, world),
        *prospect_problems(found, sources),
        *frozen.problems,
    ]
    revision = scope.revision
    data = {
        **_counts(session, sources),
        "base": {"ref": revision.ref, "commit": revision.commit} if revision else None,
        "scope": scope.kind,
        "tested": sorted({item.run.procedure.name for item in ran}),
        "new_versions": [str(sources.procedures[name].value.ref) for name in selection.new],
        "changes": without_secrets(change_rows(world, scope, sources, selection.new, ground), linted.problems),
        "ignored": [_ignored(item) for item in linted.ignored],
        "channels": [prospect.as_dict() for prospect in found],
    }
    return _answer(scope, ran, problems, data)


def _answer(scope: Scope, ran: Sequence[Ran], problems: Sequence[Problem], data: Mapping[str, Any]) -> Report:
    """Return the report; where nothing that could be tested changed, nothing was tested, which is no pass either."""
    if scope.tested or any(problem.severity == "error" for problem in problems):
        found = report(ran, problems)
        return replace(found, data={**data, **found.data})
    message = f"nothing that suites could test differs from {scope.label}, so nothing was tested"
    note = Problem(code="nothing-changed", severity="note", message=message, hint="pawl check --all runs every suite")
    return Report(status="unchanged", problems=(*problems, note), data={**data, **results_data(ran)})


def _damaged(session: Session, sources: Sources, broken: Sequence[Problem]) -> Report:
    """Return the report on records that cannot be believed: nothing else is decided on them."""
    problems = (*broken, *sources.problems)
    return Report(status="failed", exit_code=INTEGRITY, problems=problems, data=_counts(session, sources))


def _counts(session: Session, sources: Sources) -> dict[str, Any]:
    read = len(sources.procedures) + len(sources.suites) + len(sources.policies) + 1
    return {
        "folder": folder_in_git(session.workspace),
        "files": read + len(sources.unread),
        "read": read,
        "unread": len(sources.unread),
        "procedures": len(sources.procedures),
    }


def _ground(session: Session, world: World, revision: Revision | None) -> Ground:
    if revision is None:
        return ground_of(session.workspace, world.catalog)
    effects = effects_of(session.workspace, world.catalog)
    return Ground(catalog=revision.catalog(world.catalog), read=revision.published, effects=effects)


def _own_registry(
    sources: Sources, session: Session, world: World, selection: Selection, ground: Ground
) -> Iterator[Problem]:
    """Yield what the work tree's own registry says of version numbers, beside what the base's says."""
    if ground.catalog.head != world.catalog.head:
        told = {(problem.code, problem.path, problem.line) for problem in selection.problems}
        own = select(sources, sources.procedures, ground_of(session.workspace, world.catalog))
        yield from (problem for problem in own.problems if (problem.code, problem.path, problem.line) not in told)


def _moving(scope: Scope) -> Iterable[Name]:
    """What a promotion after this change would be about."""
    if scope.revision is None:
        return scope.tested
    return [name for name, change in scope.changed.items() if change.new is not None]


def _ignored(item: Ignored) -> dict[str, Any]:
    return {"code": item.problem.code, "path": item.problem.path, "reason": item.ignore.reason}


def _untested(scope: Scope, sources: Sources) -> Iterable[Problem]:
    for name in sorted(scope.tested):
        source = sources.procedures[name]
        if not sources.suites_of(source.value):
            yield Problem(
                code="suite-missing",
                severity="warning",
                message=f"no suite covers {source.value.ref}; it cannot be promoted without one",
                path=source.path,
                hint=_suite_hint(sources, name),
            )


def _suite_hint(sources: Sources, name: Name) -> str:
    about = sources.suites_about(name)
    if about:
        return f"{about[0].path} is about it, for versions {about[0].value.versions} only"
    return f"pawl new suite {name} writes a starter"
