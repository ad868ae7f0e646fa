"""Test: run conformance on the work tree or on published versions. Nothing is stored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pawl.conformance.outcomes import SuiteResult, tally_of_suites
from pawl.conformance.run import run_suite
from pawl.conformance.suites import Suite
from pawl.errors import InvalidError, NotFoundError
from pawl.ids import Name, parse_ref
from pawl.operations.reviewing.requirements import required
from pawl.operations.session import Report, Session
from pawl.operations.sources import Sources, read_sources
from pawl.operations.world import published_in, read_world
from pawl.policy.verdict import FINDINGS
from pawl.problems import Fault, Problem
from pawl.procedures.procedure import Procedure
from pawl.registry.catalog import Catalog


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One suite to be run on one version; ``path`` is the suite's file."""

    suite: Suite
    path: str
    procedure: Procedure


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A run and what it came to."""

    run: Run
    result: SuiteResult


def test(session: Session, wanted: str | None, cases: Sequence[str]) -> Report:
    """Run every suite, one suite, or those about NAME or NAME@VERSION; ``cases`` keeps only cases of these ids."""
    sources = read_sources(session.workspace)
    broken = tuple(problem for problem in sources.problems if problem.severity == "error")
    catalog = read_world(session.workspace).catalog
    runs = _chosen(session, sources, catalog, wanted, broken)
    ran = run_all(session, sources, catalog, runs, only=frozenset(cases) or None)
    return report(ran, (*broken, *_unknown_cases(runs, cases)))


def _unknown_cases(runs: Sequence[Run], cases: Sequence[str]) -> Iterator[Problem]:
    """A filter that fits nothing is a typing error, and what it was to keep was not tested."""
    known = {case.id for run in runs for case in run.suite.cases}
    for case in dict.fromkeys(cases) if known & set(cases) else ():  # where none fits, nothing is tested, which is told
        if case not in known:
            yield Problem(code="case-unknown", message=f"no suite that was chosen has a case {case[:80]!r}")


def report(ran: Sequence[Ran], problems: Iterable[Problem]) -> Report:
    """Return the report of suites that were run; it passes only where something was run and all of it passed."""
    found = [*problems, *(problem for item in ran for problem in result_problems(item))]
    if not any(item.result.cases for item in ran):
        hint = "pawl new suite NAME writes a starter under conformance/"
        found.append(Problem(code="nothing-tested", message="no case was run, and nothing is no pass", hint=hint))
    failed = any(problem.severity == "error" for problem in found)
    return Report(
        status="failed" if failed else "passed",
        exit_code=FINDINGS if failed else 0,
        problems=tuple(found),
        data=results_data(ran),
    )


def results_data(ran: Sequence[Ran]) -> dict[str, Any]:
    """Return what was run as JSON: each suite with its cases, and the tally over all."""
    return {
        "suites": [
            {
                "suite": item.result.suite,
                "about": str(item.result.about),
                "outcome": item.result.outcome,
                "path": item.run.path,
                "tally": item.result.tally.as_dict(),
                "cases": [
                    {"id": case.id, "outcome": case.outcome, "reasons": list(case.reasons)}
                    for case in item.result.cases
                ],
            }
            for item in ran
        ],
        "tally": tally_of_suites(item.result for item in ran).as_dict(),
    }


def run_all(
    session: Session, sources: Sources, catalog: Catalog, runs: Iterable[Run], *, only: frozenset[str] | None = None
) -> tuple[Ran, ...]:
    """Run suites one after the other, beside what their procedures require; ``only`` keeps the cases of these ids."""
    settings = sources.settings
    return tuple(
        Ran(
            run=run,
            result=run_suite(
                run.suite,
                run.procedure,
                code=session.run_code,
                root=session.workspace.root,
                python_path=settings.python_path,
                only=only,
                closure=required(run.procedure, sources, catalog, session.workspace),
            ),
        )
        for run in runs
    )


def work_tree_runs(sources: Sources, names: Collection[Name] | None = None) -> tuple[Run, ...]:
    """Return every suite with the work tree's version of the procedure that it is about, or those of ``names``."""
    runs = [
        Run(suite=source.value, path=source.path, procedure=sources.procedures[name].value)
        for name in (sources.subjects if names is None else names)
        if name in sources.procedures
        for source in sources.suite_sources_of(sources.procedures[name].value)
    ]
    return tuple(sorted(runs, key=lambda run: run.suite.name))


def result_problems(item: Ran) -> tuple[Problem, ...]:
    """Return a problem for every case that did not pass, coded by its outcome."""
    return tuple(
        Problem(
            code=f"case-{case.outcome}",
            message=f"{item.result.suite}: {case.id} {case.outcome}: {'; '.join(case.reasons)}",
            path=item.run.path,
        )
        for case in item.result.cases
        if case.outcome != "passed"
    )


def _chosen(
    session: Session, sources: Sources, catalog: Catalog, wanted: str | None, broken: Sequence[Problem]
) -> tuple[Run, ...]:
    if wanted is None:
        return work_tree_runs(sources)
    if "@" in wanted:
        return _of_published(session, sources, catalog, wanted)
    runs = tuple(run for run in work_tree_runs(sources) if wanted in {run.suite.name, run.suite.about})
    if runs:
        return runs
    if broken:
        raise InvalidError(f"no suite {wanted} was found among the files that read", problems=tuple(broken))
    known = wanted in sources.suites or wanted in sources.procedures
    raise NotFoundError(
        f"no suite fits {wanted}'s version here" if known else f"there is no suite and no procedure {wanted}",
        code="nothing-tested",
        hint=f"pawl new suite {wanted} writes a starter" if known else "pawl test without a name runs every suite",
    )


def _of_published(session: Session, sources: Sources, catalog: Catalog, wanted: str) -> tuple[Run, ...]:
    ref = parse_ref(wanted)
    procedure = session.workspace.procedure(published_in(catalog, ref))
    runs = tuple(
        Run(suite=source.value, path=source.path, procedure=procedure) for source in sources.suite_sources_of(procedure)
    )
    if not runs:
        raise NotFoundError(
            f"no suite is about {ref}", code="nothing-tested", hint=f"pawl new suite {ref.name} writes a starter"
        )
    return runs


def suite_problems(sources: Sources, catalog: Catalog) -> tuple[Problem, ...]:
    """Return a problem for each suite about a procedure that is neither in the work tree nor published."""
    problems: list[Problem] = []
    for name in sources.subjects:
        if name in sources.procedures or name in catalog.names:
            continue
        if f"procedures/{name}.yaml" in sources.unread:  # which is told of that file
            continue
        for source in sources.suites_about(name):
            message = f"the suite {source.value.name} is about {name}, which is neither here nor published"
            problems += source.problems(Fault(code="suite-about-unknown", message=message, at=("about",)))
    return tuple(problems)
