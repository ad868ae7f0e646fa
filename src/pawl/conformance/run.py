"""Running suites: the edge that hands judging its way of observing implementations.

Without leave to run code, and for bindings that pawl does not run (``mcp:``, ``http:``), there is no observation but
a reason, and the case is skipped.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pawl.conformance.evidence import runner_digest
from pawl.conformance.implementations import implementation_digest
from pawl.conformance.judge import Observe, judge_case
from pawl.conformance.outcomes import NotReturned, Observation, SuiteResult
from pawl.conformance.runners import TIMEOUT, run_python
from pawl.conformance.suites import Suite, applies
from pawl.ids import Digest, Name
from pawl.procedures.procedure import Procedure


def run_suite(
    suite: Suite,
    procedure: Procedure,
    *,
    code: bool,
    root: Path,
    python_path: tuple[str, ...] = (),
    only: frozenset[str] | None = None,
    timeout: float = TIMEOUT,
    closure: Mapping[Name, Procedure] | None = None,
) -> SuiteResult:
    """Run a suite on a version; ``only`` keeps the cases of these ids, ``timeout`` is that of one implementation call.

    ``closure``: what the version requires, by name, which a workflow's calls are judged by; without it they are not.

    Raises ``ValueError`` where the suite is not about this version.
    """
    if not applies(suite, procedure):
        raise ValueError(f"the suite {suite.name} is not about {procedure.ref}")
    observe = observer(code=code, root=root, python_path=python_path, timeout=timeout)
    chosen = [case for case in suite.cases if only is None or case.id in only]
    return SuiteResult(
        suite=suite.name,
        suite_digest=suite.digest,
        about=procedure.ref,
        subject=procedure.digest,
        cases=tuple(judge_case(case, procedure, observe=observe, closure=closure) for case in chosen),
        partial=len(chosen) != len(suite.cases),
    )


def observer(*, code: bool, root: Path, python_path: tuple[str, ...], timeout: float = TIMEOUT) -> Observe:
    """Return the way to observe implementations, by their binding."""

    def observe(binding: Mapping[str, Any], arguments: Any) -> Observation:
        python = binding.get("python")
        if python is None:
            kinds = " and ".join(sorted(binding))
            return NotReturned(outcome="skipped", reason=f"pawl does not run bindings of the kind {kinds}")
        if not code:
            return NotReturned(outcome="skipped", reason=f"{python} was not run: running code is switched off")
        return run_python(python, arguments, root=root, python_path=python_path, timeout=timeout)

    return observe


def runner_digest_for(procedure: Procedure, *, root: Path, python_path: tuple[str, ...] = ()) -> Digest:
    """Return the digest of what a suite on this procedure is run by, its implementation included if it has one."""
    python = (procedure.spec.get("binding") or {}).get("python") if procedure.kind == "tool" else None
    if python is None:
        return runner_digest()
    return runner_digest({python: implementation_digest(python, root, python_path)})
