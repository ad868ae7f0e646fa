"""Walking a workflow: a pure function from what has happened so far to the next call, or the end.

Agents drive a workflow; pawl only says what comes next. Results are the sequence of (step id, result) in the order in
which the calls were made, so a loop that comes to a step twice has two of them. Expressions see ``inputs``, ``steps``
(step id -> its newest result) and, once a call was made, ``result``: in a switch that of its own step, in the output of
an end that of the step before. Ends do not count against the budget.

Paths such as ``inputs.order.id`` are followed here, without CEL and with the same outcome.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pawl.errors import Faulty
from pawl.problems import Fault
from pawl.procedures.expressions import ExpressionError, Want, compile_expression
from pawl.procedures.interpolation import interpolate
from pawl.procedures.plain import Measure, to_plain
from pawl.procedures.schema import compile_schema, fill_defaults
from pawl.procedures.workflow import BEFORE_CALL, CALLS, VARIABLES, CallKind

MAX_STEPS = 10_000
"""What bounds a walk without a budget; ``check_workflow`` lets only graphs without loops go without one."""
MAX_PATH = 24
"""Longer paths are left to CEL, which has a limit of its own for them."""

Results: TypeAlias = Sequence[tuple[str, Any]]

_PATH = re.compile(r"(?:inputs|result|steps)(?:\.[A-Za-z_][A-Za-z0-9_]*)*\Z", re.ASCII)
_NO_FIELDS = frozenset({"false", "in", "null", "true"})
"""Words that CEL does not take as the name of a field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The call that a step makes."""

    step: str
    kind: CallKind
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """The end of a walk."""

    step: str
    outcome: str
    output: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """A whole walk: the steps that it came to, ends included, and the calls that it made."""

    path: tuple[str, ...]
    calls: tuple[Call, ...]
    outcome: str
    output: Any


def check_inputs(spec: Mapping[str, Any], inputs: Any) -> tuple[Fault, ...]:
    """Return what is wrong with the inputs of a workflow."""
    return compile_schema(spec.get("inputs") or {}, closed_root=True).faults(inputs, code="input-invalid")


def next_step(spec: Mapping[str, Any], inputs: Mapping[str, Any], results: Results) -> Call | End:
    """Return what comes after ``results``; raises ``Faulty`` where they are not its own or it cannot go on."""
    steps = {step["id"]: step for step in spec["steps"]}
    here = spec["steps"][0]
    known: dict[str, Any] = {}
    last: dict[str, Any] = {}
    measure = Measure()
    inputs = _inputs(spec, inputs, measure)
    _check_budget(spec, len(results))
    for step_id, result in results:
        if here.get("end") is not None:
            raise _fault("walk-ended", f"the walk ended at {here['id']}, and there is a result of {step_id} after it")
        if here["id"] != step_id:
            raise _fault("walk-unknown-result", f"a result of {here['id']} comes next, and this is one of {step_id}")
        known[step_id] = last["result"] = _result(step_id, result, measure)
        here = steps[_following(here, inputs, known, last["result"])]
    if here.get("end") is not None:
        return _end(here, inputs, known, last)
    _check_budget(spec, len(results) + 1)
    return _call(here, inputs, known)


def walk(spec: Mapping[str, Any], inputs: Mapping[str, Any], given: Mapping[str, Any]) -> Walk:
    """Walk to the end with scripted results by step id; ``Faulty`` where one is missing or the walk cannot go on.

    A step that a loop comes to again has the same result again.
    """
    steps = {step["id"]: step for step in spec["steps"]}
    here = spec["steps"][0]
    known: dict[str, Any] = {}
    last: dict[str, Any] = {}
    calls: list[Call] = []
    measure = Measure()
    inputs = _inputs(spec, inputs, measure)
    while here.get("end") is None:
        _check_budget(spec, len(calls) + 1)
        calls.append(_call(here, inputs, known))
        name = here["id"]
        if name not in given:
            hint = f"add it to the case, also where nothing looks at it: given: {{{name}: ...}}"
            raise _fault("walk-no-result", f"the walk comes to {name}, and no result is given for it", hint)
        if name not in known:
            known[name] = _result(name, given[name], measure)
        last["result"] = known[name]
        here = steps[_following(here, inputs, known, known[name])]
    end = _end(here, inputs, known, last)
    path = (*(call.step for call in calls), end.step)
    return Walk(path=path, calls=tuple(calls), outcome=end.outcome, output=end.output)


def _inputs(spec: Mapping[str, Any], inputs: Any, measure: Measure) -> Mapping[str, Any]:
    try:
        plain = to_plain(inputs, measure)
    except ValueError as error:
        raise _fault("input-invalid", f"the inputs are no JSON: {error}") from None
    if not isinstance(plain, dict):
        raise _fault("input-invalid", "the inputs must be a mapping from name to value")
    filled: Mapping[str, Any] = fill_defaults(spec.get("inputs") or {}, plain)
    return filled


def _result(step: str, result: Any, measure: Measure) -> Any:
    try:
        return to_plain(result, measure)
    except ValueError as error:
        raise _fault("walk-unknown-result", f"the result of {step} is no JSON: {error}") from None


def _check_budget(spec: Mapping[str, Any], calls: int) -> None:
    most = (spec.get("budget") or {}).get("max_steps") or MAX_STEPS
    if calls > most:
        raise _fault("walk-budget", f"the walk would make more than {most} calls, which is its budget")


def _following(step: Mapping[str, Any], inputs: Mapping[str, Any], known: Mapping[str, Any], result: Any) -> str:
    if step.get("then") is not None:
        following: str = step["then"]
        return following
    values = {"inputs": inputs, "result": result, "steps": known}
    for branch in step.get("switch") or ():
        when = branch.get("when")
        if when is None or _evaluate(step["id"], when, values, VARIABLES, "bool") is True:
            chosen: str = branch["then"]
            return chosen
    raise _fault("walk-no-branch", f"no branch of {step['id']} is taken")


def _call(step: Mapping[str, Any], inputs: Mapping[str, Any], known: Mapping[str, Any]) -> Call:
    kind = next(key for key in CALLS if step.get(key) is not None)
    values = {"inputs": inputs, "steps": known}
    arguments = _filled(step, step.get("with") or {}, values, BEFORE_CALL)
    return Call(step=step["id"], kind=kind, name=step[kind], arguments=arguments)


def _end(step: Mapping[str, Any], inputs: Mapping[str, Any], known: Mapping[str, Any], last: Mapping[str, Any]) -> End:
    end = step["end"]
    output = _filled(step, end.get("output"), {"inputs": inputs, "steps": known, **last}, VARIABLES)
    return End(step=step["id"], outcome=end["outcome"], output=output)


def _filled(step: Mapping[str, Any], value: Any, values: Mapping[str, Any], variables: Mapping[str, str]) -> Any:
    try:
        filled = interpolate(value, lambda text: _evaluate(step["id"], text, values, variables, "any"))
        # A copy: whoever gets it may change it, and the next step sees the inputs and results as they were.
        return to_plain(filled, Measure())
    except ValueError as error:
        raise _fault("walk-expression", f"{step['id']}: {error}") from None


def _evaluate(step: str, text: str, values: Mapping[str, Any], variables: Mapping[str, str], want: Want) -> Any:
    try:
        return evaluate_in_walk(text, values, variables=variables, want=want)
    except (ExpressionError, Faulty) as error:
        raise _fault("walk-expression", f"{step}: {text[:120]}: {error}") from None


def evaluate_in_walk(text: str, values: Mapping[str, Any], *, variables: Mapping[str, str], want: Want) -> Any:
    """Return the value of an expression over plain values; raises as ``compile_expression`` and ``evaluate`` do."""
    text = text.strip()
    parts = text.split(".") if _PATH.match(text) else []
    if not 0 < len(parts) <= MAX_PATH or parts[0] not in variables or not _NO_FIELDS.isdisjoint(parts):
        return compile_expression(text, variables=variables, want=want).evaluate(values)
    here: Any = values
    for number, part in enumerate(parts):
        if not isinstance(here, Mapping) or part not in here:
            way = ".".join(parts[:number])
            missing = f"it has no {part}" if isinstance(here, Mapping) else "it is no mapping"
            raise ExpressionError(f"{way}: {missing}" if way else f"there is no {part}")
        here = here[part]
    if want == "bool" and here is not True and here is not False:
        raise ExpressionError("it gave something else than true or false")
    return here


def _fault(code: str, message: str, hint: str | None = None) -> Faulty:
    return Faulty((Fault(code=code, message=message, hint=hint),))
