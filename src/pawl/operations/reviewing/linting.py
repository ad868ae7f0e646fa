"""Lint of the work tree: what is found in files, in what is used together, and in what cases render to.

What registry.yaml ignores is taken out and counted. That an ignore fits nothing can only be told where everything was
looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pawl.errors import Faulty
from pawl.ids import Name
from pawl.io.locating import problems_of
from pawl.lint.check import lint_closure, lint_procedure
from pawl.lint.ignores import Ignored, apply_ignores
from pawl.lint.prompts import rendered_faults
from pawl.lint.secrets import secret_faults
from pawl.operations.reviewing.testing import Run
from pawl.operations.sources import Source, Sources
from pawl.problems import Fault, Problem
from pawl.procedures.procedure import Procedure
from pawl.procedures.render import render
from pawl.procedures.tokens import ESTIMATE, Counter, exact_counter
from pawl.registry.closure import closure_of
from pawl.workspace import Workspace

_KEPT_BY_GIT = "what is committed stays in the history"
MAX_RENDERED = 200
"""Cases of one suite that are rendered to be looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Linted:
    """What lint found, without what is ignored, and what is."""

    problems: tuple[Problem, ...]
    ignored: tuple[Ignored, ...]


def lint(
    workspace: Workspace, sources: Sources, names: frozenset[Name], roots: Iterable[Name], runs: Iterable[Run]
) -> Linted:
    """Return what is found in ``names`` and their suites, in closures of ``roots`` and in messages of ``runs``.

    Where all names are linted, so are the suites about what is not here.
    """
    exact = _exact(sources)
    found: dict[Problem, None] = dict.fromkeys(_uncounted(workspace, sources))
    for name in sorted(names):
        source = sources.procedures[name]
        faults = lint_procedure(source.value, sources.settings.lint, counters=(ESTIMATE, *exact))
        found.update(dict.fromkeys(source.problems(*faults)))
    roots = frozenset(roots)
    found.update(dict.fromkeys(_together(sources, roots)))
    found.update(dict.fromkeys(_rendered(sources, runs, exact)))
    found.update(dict.fromkeys(_secrets(sources, names, roots)))
    applied = apply_ignores(found, sources.settings.lint.ignores)
    unused = _of_settings(workspace, applied.unused) if names == sources.procedures.keys() else ()
    return Linted(problems=(*applied.kept, *unused), ignored=applied.ignored)


def lint_new(workspace: Workspace, sources: Sources, new: Iterable[Source[Procedure]]) -> tuple[Problem, ...]:
    """Return the errors of versions about to be frozen; warnings are for check to tell."""
    counters = (ESTIMATE, *_exact(sources))
    found = [*_uncounted(workspace, sources)]
    for source in new:
        faults = lint_procedure(source.value, sources.settings.lint, counters=counters)
        found += (problem for problem in source.problems(*faults) if problem.severity == "error")
    return apply_ignores(found, sources.settings.lint.ignores).kept


def _exact(sources: Sources) -> tuple[Counter, ...]:
    """Return the way of counting that registry.yaml asks for beside the estimate, if it does and it is there."""
    encoding = sources.settings.lint.encoding
    counter = exact_counter(encoding) if encoding is not None else None
    return (counter,) if counter is not None else ()


def _uncounted(workspace: Workspace, sources: Sources) -> tuple[Problem, ...]:
    """Return an error where tokens are to be counted exactly and cannot be: what nobody counted fits no budget."""
    encoding = sources.settings.lint.encoding
    if encoding is None or _exact(sources):
        return ()
    message = f"tokens are to be counted in {encoding}, and the extra that counts them is not installed"
    hint = 'pip install "pawl-release[tokens]"'
    return _of_settings(
        workspace, (Fault(code="tokens-uncounted", message=message, at=("lint", "encoding"), hint=hint),)
    )


def _of_settings(workspace: Workspace, faults: Sequence[Fault]) -> tuple[Problem, ...]:
    path = workspace.settings_file
    return problems_of(workspace.relative(path), workspace.read_source(path), faults) if faults else ()


def _together(sources: Sources, roots: frozenset[Name]) -> Iterator[Problem]:
    here: Mapping[Name, Procedure] = _Values(sources.procedures)
    for root in sorted(roots & sources.requiring.keys()):
        members = (here[member.name] for member in closure_of(root, here).members)
        for name, fault in lint_closure(members, sources.settings.lint):
            yield from sources.procedures[name].problems(fault)


class _Values(Mapping[Name, Procedure]):
    """The procedures of sources, each made when it is asked for."""

    def __init__(self, sources: Mapping[Name, Source[Procedure]]) -> None:
        self._sources = sources

    def __getitem__(self, name: Name) -> Procedure:
        return self._sources[name].value

    def __iter__(self) -> Iterator[Name]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)


def _secrets(sources: Sources, names: frozenset[Name], roots: frozenset[Name]) -> Iterator[Problem]:
    """Secrets in suites, which are as public as procedures: they stand in the same repository."""
    everything = names == sources.procedures.keys()
    wanted = sources.subjects if everything else names | roots
    found = [source for name in wanted for source in sources.suites_about(name)]
    for source in sorted(found, key=lambda source: source.value.name):
        yield from source.problems(*secret_faults(source.value.document, because=_KEPT_BY_GIT))


def _rendered(sources: Sources, runs: Iterable[Run], exact: Sequence[Counter]) -> Iterator[Problem]:
    """What only shows once values stand in a prompt, once for each message however many cases show it.

    Rendering holds budgets by the estimate; what ``exact`` counts is held here.
    """
    for run in runs:
        if run.procedure.kind != "prompt" or run.procedure.name not in sources.procedures:
            continue
        told: dict[Fault, None] = {}
        for case in run.suite.cases[:MAX_RENDERED]:
            try:
                messages = render(run.procedure, case.inputs or {}).messages
                faults = rendered_faults(messages, run.procedure.spec, exact)
            except (Faulty, ValueError, RecursionError):
                continue  # the case itself says so
            for fault in faults:
                if not any(fault.at == other.at and fault.code == other.code for other in told):
                    message = f"{fault.message} (suite {run.suite.name}, case {case.id})"
                    told[replace(fault, message=message)] = None
        yield from sources.procedures[run.procedure.name].problems(*told)
