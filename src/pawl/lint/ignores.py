"""Taking out what registry.yaml says to ignore, and telling of ignores that nothing needs any more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pawl.lint.codes import IGNORABLE
from pawl.lint.settings import Ignore
from pawl.problems import Fault, Problem
from pawl.procedures.globs import glob_matches


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """A problem that is not reported, and the ignore that says why."""

    problem: Problem
    ignore: Ignore


class Applied(NamedTuple):
    """What ignores made of problems; ``unused`` has places in registry.yaml."""

    kept: tuple[Problem, ...]
    ignored: tuple[Ignored, ...]
    unused: tuple[Fault, ...]


def apply_ignores(problems: Iterable[Problem], ignores: Sequence[Ignore]) -> Applied:
    """Return what is left of problems; the first ignore that fits one takes it, and every one that fits is used."""
    kept: list[Problem] = []
    ignored: list[Ignored] = []
    used: set[int] = set()
    for problem in problems:
        fitting = [index for index, ignore in enumerate(ignores) if _fits(ignore, problem)]
        used.update(fitting)
        if fitting:
            ignored.append(Ignored(problem=problem, ignore=ignores[fitting[0]]))
        else:
            kept.append(problem)
    unused = (_unused(index, ignore) for index, ignore in enumerate(ignores) if index not in used)
    return Applied(tuple(kept), tuple(ignored), tuple(unused))


def _fits(ignore: Ignore, problem: Problem) -> bool:
    """Settings that were not read, and so not judged, still ignore nothing that must not be."""
    if ignore.code != problem.code or problem.code not in IGNORABLE:
        return False
    return ignore.files is None or (problem.path is not None and glob_matches(ignore.files, problem.path))


def _unused(index: int, ignore: Ignore) -> Fault:
    where = f" in {ignore.files}" if ignore.files else ""
    message = f"nothing with the code {ignore.code} is found{where} any more"
    at = ("lint", "ignores", index)
    return Fault(code="lint-ignore-unused", message=message, at=at, severity="warning", hint="take the entry out")
