"""Check: what CI runs on a pull request. Read, validate, lint, versions, suites and policy, all faults in one run."""

from __future__ import annotations

from dataclasses import replace

from pawl.ids import Name
from pawl.operations.policies import policy_problems
from pawl.operations.publishing import published_form, select
from pawl.operations.session import Report, Session
from pawl.operations.sources import Sources, read_sources
from pawl.operations.testing import report, run_all, suite_problems, work_tree_runs
from pawl.operations.world import World, read_world
from pawl.policy.evaluator import Situation, evaluate
from pawl.problems import Problem
from pawl.procedures.read import warnings
from pawl.registry.channels import empty_channel
from pawl.releases.planning import pin_of


def check(session: Session) -> Report:
    """Report everything that is wrong with the work tree; errors are findings (1)."""
    world = read_world(session.workspace)
    sources = read_sources(session.workspace)
    problems: list[Problem] = list(sources.problems)
    for source in sources.procedures.values():
        problems += source.problems(*warnings(source.value))
    every = tuple(sources.procedures.values())
    selection = select(every, sources, world.catalog, session.workspace)
    problems += selection.problems
    problems += suite_problems(sources, frozenset(ref.name for ref in world.catalog.published))
    problems += _untested(sources)
    problems += policy_problems(sources, world)
    problems += _policy_verdicts(session, world, sources)
    ran = run_all(session, sources, work_tree_runs(sources))
    found = report(ran, problems)
    counts = {
        "files": len(sources.procedures) + len(sources.suites) + len(sources.policies) + len(sources.unread) + 1,
        "read": len(sources.procedures) + len(sources.suites) + len(sources.policies) + 1,
        "unread": len(sources.unread),
        "procedures": len(sources.procedures),
        "new_versions": [str(source.value.ref) for source in selection.new],
    }
    return replace(found, data={**counts, **found.data})


def _untested(sources: Sources) -> list[Problem]:
    return [
        Problem(
            code="suite-missing",
            severity="warning",
            message=f"no suite covers {source.value.ref}; it cannot be promoted without one",
            path=source.path,
            hint=_suite_hint(sources, source.value.name),
        )
        for source in sources.procedures.values()
        if not sources.suites_of(source.value)
    ]


def _suite_hint(sources: Sources, name: Name) -> str:
    about = [source for source in sources.suites.values() if source.value.about == name]
    if about:
        return f"{about[0].path} is about it, for versions {about[0].value.versions} only"
    return f"pawl new suite {name} writes a starter"


def _policy_verdicts(session: Session, world: World, sources: Sources) -> list[Problem]:
    """Return what the adopted rules say of the work tree's procedures, as if all were promoted to each channel."""
    policy = world.catalog.policy
    if policy is None:
        return []
    pins = {name: pin_of(published_form(source)) for name, source in sources.procedures.items()}
    documents = {source.value.digest: source.value.document for source in sources.procedures.values()}
    problems: dict[tuple[str, str], Problem] = {}
    for channel in policy.channels:
        situation = Situation(
            action="promote",
            state=empty_channel(channel),
            catalog=world.catalog,
            rules=world.rules,
            documents=documents,
            actor=session.actor,
            now=session.now,
            moves=pins,
        )
        for finding in evaluate(situation).findings:
            if finding.check != "rule" or finding.status in {"passed", "not-applicable"}:
                continue
            problem = finding.problem()
            source = sources.procedures[_name(finding.subject)]
            placed = replace(problem, message=f"{channel}: {problem.message}", path=source.path)
            problems.setdefault((finding.message, finding.rule or ""), placed)
    return list(problems.values())


def _name(subject: str | None) -> Name:
    return Name((subject or "").partition("@")[0])
