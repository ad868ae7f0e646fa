"""Judging one case of one procedure: pure, given a way to observe what an implementation returns.

- Prompt: ``inputs`` are rendered and the assertions look at the messages. With an ``answer`` they look at it instead,
  and ``accepted`` and ``rejected`` are about the prompt's ``output`` schema; inputs that stand beside it must render.
  A rendering over the budget fails the case whatever it asserts.
- Tool: ``call`` is judged against the inputSchema. The implementation is run only where an assertion is about its
  result and the call was accepted; a result that breaks the outputSchema fails the case whatever it asserts.
- Workflow: ``inputs`` are judged against its closed schema, then it is walked with the results in ``given``. Given the
  closure, each call of the walk must be one that the required version takes, and each scripted result one that it
  could return.

A case that does not fit its procedure, or lacks a scripted result, is errored: a fault of the suite, and no pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pawl.conformance.assertions import ASSERTIONS, NOT_RUN, Assertion, Checked, Observed, check
from pawl.conformance.outcomes import CaseResult, NotReturned, Observation, fold
from pawl.conformance.plain import ABSENT
from pawl.conformance.suites import Case
from pawl.errors import Faulty
from pawl.ids import Name
from pawl.problems import Fault
from pawl.procedures.call import check_call, check_result
from pawl.procedures.procedure import Procedure
from pawl.procedures.render import BadInputs, render
from pawl.procedures.schema import fill_defaults

Observe = Callable[[Mapping[str, Any], Any], Observation]
"""Runs an implementation: its binding and the call's arguments in, what it returned out."""

SCRIPT_CODES = frozenset({"walk-no-result", "walk-unknown-result"})
"""Faults of a walk that lie in the script and not in the workflow."""
_TAKES = {
    "prompt": frozenset({"inputs", "answer"}),
    "tool": frozenset({"call"}),
    "workflow": frozenset({"inputs", "given"}),
}


def judge_case(
    case: Case, procedure: Procedure, *, observe: Observe, closure: Mapping[Name, Procedure] | None = None
) -> CaseResult:
    """Return what a case comes to. ``observe`` is asked at most once, and for tools only.

    ``closure``: what the procedure requires, by name; without it the calls of a workflow are not judged.
    """
    misfits = case_misfits(case, procedure)
    if misfits:
        return CaseResult(id=case.id, outcome="errored", reasons=misfits)
    try:
        results = tuple(_judged(case, procedure, observe, closure or {}))
    except (Faulty, ValueError, RecursionError) as error:
        # A schema that no longer compiles, say: nobody's answer, and no reason to lose the other cases.
        return CaseResult(id=case.id, outcome="errored", reasons=(f"the case could not be judged: {error}",))
    return CaseResult(
        id=case.id,
        outcome=fold(result.outcome for result in results),
        reasons=tuple(result.reason for result in results if result.reason),
    )


def _judged(case: Case, procedure: Procedure, observe: Observe, closure: Mapping[Name, Procedure]) -> Iterator[Checked]:
    match procedure.kind:
        case "prompt":
            return _prompt(case, procedure)
        case "tool":
            return _tool(case, procedure, observe)
        case _:
            return _workflow(case, procedure, closure)


def case_misfits(case: Case, procedure: Procedure) -> tuple[str, ...]:
    """Return why a case cannot be judged on this procedure, for each reason a sentence."""
    takes = _TAKES.get(procedure.kind)
    if takes is None:
        return (f"pawl judges no cases of the kind {procedure.kind}",)
    states = {"inputs": case.inputs is not None, "given": case.given is not None}
    states |= {"call": case.call is not ABSENT, "answer": case.answer is not ABSENT}
    reasons = [
        f"a {procedure.kind} case has no {field}: it takes {' and '.join(sorted(takes))}"
        for field, stated in states.items()
        if stated and field not in takes
    ]
    if procedure.kind == "tool" and not states["call"]:
        reasons.append("a tool case needs a call: the arguments")
    if procedure.kind == "workflow" and case.given:
        steps = {step["id"]: step for step in procedure.spec["steps"]}
        reasons += [
            f"given names {step}, which is no step of {procedure.ref}" for step in case.given if step not in steps
        ]
        reasons += [
            f"given names {step}, which is an end and has no result"
            for step in case.given
            if step in steps and steps[step].get("end") is not None
        ]
    return tuple(reasons)


def _prompt(case: Case, procedure: Procedure) -> Iterator[Checked]:
    if case.answer is not ABSENT and case.inputs is None:
        yield from _checks(case.assertions, _answered(case.answer, procedure))
        return
    try:
        rendered = render(procedure, case.inputs or {})
    except BadInputs as error:
        if case.answer is ABSENT:
            yield from _checks(case.assertions, Observed(accepted=False, refusals=_sentences(error.faults)))
        else:
            yield from (_failed(f"the inputs beside the answer are refused: {why}") for why in _sentences(error.faults))
        return
    except Faulty as error:
        yield from map(_failed, _sentences(error.faults))
        return
    if case.answer is ABSENT:
        yield from _checks(case.assertions, Observed(accepted=True, messages=tuple(rendered.messages)))
    else:
        yield from _checks(case.assertions, _answered(case.answer, procedure))


def _answered(answer: Any, procedure: Procedure) -> Observed:
    from pawl.conformance.calls import answer_faults  # noqa: PLC0415 - few prompts have recorded answers

    faults = answer_faults(procedure, answer)
    return Observed(accepted=not faults, refusals=_sentences(faults), subject=answer)


def _tool(case: Case, procedure: Procedure, observe: Observe) -> Iterator[Checked]:
    refusals = _sentences(check_call(procedure, case.call))
    about_result = [item for item in case.assertions if _needs_result(item)]
    if refusals or not about_result:
        missing = "the implementation was not run"
        yield from _checks(case.assertions, Observed(accepted=not refusals, refusals=refusals, missing=missing))
        return
    yield from _checks([item for item in case.assertions if not _needs_result(item)], Observed(accepted=True))
    binding = procedure.spec.get("binding")
    if not binding:
        reason = f"{procedure.ref} has no binding, so there is no result to look at"
        yield Checked(outcome="skipped", reason=reason)
        return
    observation = observe(binding, case.call)
    if isinstance(observation, NotReturned):
        yield Checked(outcome=observation.outcome, reason=observation.reason)
        return
    broken = _sentences(check_result(procedure, observation.value))
    yield from (_failed(f"the result does not meet the outputSchema: {why}") for why in broken)
    yield from _checks(about_result, Observed(accepted=True, subject=observation.value))


def _workflow(case: Case, procedure: Procedure, closure: Mapping[Name, Procedure]) -> Iterator[Checked]:
    from pawl.conformance.calls import impossible_results, refused_calls  # noqa: PLC0415 - for workflows alone
    from pawl.procedures.walk import check_inputs, walk  # noqa: PLC0415 - as above

    inputs = fill_defaults(procedure.spec.get("inputs") or {}, case.inputs or {})
    refusals = _sentences(check_inputs(procedure.spec, inputs))
    if refusals:
        yield from _checks(case.assertions, Observed(accepted=False, refusals=refusals))
        return
    impossible = impossible_results(procedure.spec, case.given or {}, closure)
    if impossible:
        yield from (Checked(outcome="errored", reason=reason) for reason in impossible)
        return
    try:
        walked = walk(procedure.spec, inputs, case.given or {})
    except Faulty as error:
        for fault, sentence in zip(error.faults, _sentences(error.faults), strict=True):
            yield Checked(outcome="errored" if fault.code in SCRIPT_CODES else "failed", reason=sentence)
        return
    yield from map(_failed, refused_calls(walked.calls, closure))
    end = next(step["end"] for step in procedure.spec["steps"] if step["id"] == walked.path[-1])
    observed = Observed(
        accepted=True,
        subject=walked.output if "output" in end else ABSENT,
        missing=f"the end {walked.path[-1]} gives no output",
        outcome=walked.outcome,
        path=tuple(walked.path),
        calls=walked.calls,
    )
    yield from _checks(case.assertions, observed)


def _needs_result(assertion: Assertion) -> bool:
    return assertion.type not in NOT_RUN and ASSERTIONS[assertion.type].looks_at != "verdict"


def _checks(assertions: Sequence[Assertion], observed: Observed) -> Iterator[Checked]:
    return (check(assertion, observed) for assertion in assertions)


def _failed(reason: str) -> Checked:
    return Checked(outcome="failed", reason=reason)


def _sentences(faults: Sequence[Fault]) -> tuple[str, ...]:
    return tuple(f"{fault.message} ({fault.hint})" if fault.hint else fault.message for fault in faults)
