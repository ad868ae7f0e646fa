"""What a version requires, as far as it is there: what its calls are judged by before anything is pinned together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pawl.ids import Name
from pawl.operations.sources import Sources
from pawl.problems import Problem
from pawl.procedures.procedure import Procedure
from pawl.registry.catalog import Catalog
from pawl.registry.versions import is_prerelease, newest_first, satisfies
from pawl.workspace import Workspace


def required(procedure: Procedure, sources: Sources, catalog: Catalog, workspace: Workspace) -> dict[Name, Procedure]:
    """Return what a procedure requires directly: the work tree's version where it is within the range, else the newest
    published one that is. What nobody has is left out; that it is missing is told elsewhere."""
    found: dict[Name, Procedure] = {}
    for name, specifier in procedure.requires.items():
        here = sources.procedures.get(name)
        if here is not None and satisfies(here.value.version, specifier):
            found[name] = here.value
            continue
        there = {item.version: item for item in catalog.versions_of(name) if satisfies(item.version, specifier)}
        finals = [version for version in there if not is_prerelease(version)]
        if finals:
            found[name] = workspace.procedure(there[newest_first(finals)[0]])
    return found


def misfit_problems(
    names: frozenset[Name], sources: Sources, catalog: Catalog, workspace: Workspace
) -> Iterator[Problem]:
    """Yield what does not fit between the work tree's ``names`` and what they call."""
    from pawl.changes.fitting import misfits  # noqa: PLC0415 - not for running suites alone

    for name in sorted(names):
        source = sources.procedures[name]
        callees = required(source.value, sources, catalog, workspace)
        documents: dict[str, Mapping[str, Any]] = {callee: procedure.document for callee, procedure in callees.items()}
        yield from source.problems(*misfits(source.value.document, documents))
