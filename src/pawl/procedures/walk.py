"""Walking a workflow: a pure function from what has happened so far to the next call, or the end.

Agents drive a workflow; pawl only says what comes next. Results are the sequence of (step id, result) in the order in
which the calls were made, so a loop that comes to a step twice has two of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pawl.errors import Faulty
from pawl.problems import Fault
from pawl.procedures.expressions import ExpressionError, compile_expression
from pawl.procedures.interpolation import interpolate
from pawl.procedures.schema import compile_schema
from pawl.procedures.workflow import BEFORE_CALL, CALLS, VARIABLES, CallKind

MAX_STEPS = 10_000
"""What bounds a walk without a budget; ``check_workflow`` lets only graphs without loops go without one."""

Results: TypeAlias = Sequence[tuple[str, Any]]


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
    _check_budget(spec, len(results))
    for step_id, result in results:
        if here.get("end") is not None:
            raise _fault("walk-ended", f"the walk ended at {here['id']}, and there is a result of {step_id} after it")
        if here["id"] != step_id:
            raise _fault("walk-unknown-result", f"a result of {here['id']} comes next, and this is one of {step_id}")
        known[step_id] = result
        here = steps[_following(here, inputs, known, result)]
    if here.get("end") is not None:
        return _end(here, inputs, known)
    _check_budget(spec, len(results) + 1)
    return _call(here, inputs, known)


def walk(spec: Mapping[str, Any], inputs: Mapping[str, Any], given: Mapping[str, Any]) -> Walk:
    """Walk to the end with scripted results by step id; ``Faulty`` where one is missing or the walk cannot go on."""
    steps = {step["id"]: step for step in spec["steps"]}
    here = spec["steps"][0]
    known: dict[str, Any] = {}
    calls: list[Call] = []
    while here.get("end") is None:
        _check_budget(spec, len(calls) + 1)
        calls.append(_call(here, inputs, known))
        name = here["id"]
        if name not in given:
            hint = f"add it to the case: given: {{{name}: ...}}"
            raise _fault("walk-no-result", f"the walk comes to {name}, and no result is given for it", hint)
        known[name] = given[name]
        here = steps[_following(here, inputs, known, given[name])]
    end = _end(here, inputs, known)
    path = (*(call.step for call in calls), end.step)
    return Walk(path=path, calls=tuple(calls), outcome=end.outcome, output=end.output)


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
    return Call(
        step=step["id"], kind=kind, name=step[kind], arguments=_filled(step, step.get("with") or {}, inputs, known)
    )


def _end(step: Mapping[str, Any], inputs: Mapping[str, Any], known: Mapping[str, Any]) -> End:
    end = step["end"]
    return End(step=step["id"], outcome=end["outcome"], output=_filled(step, end.get("output"), inputs, known))


def _filled(step: Mapping[str, Any], value: Any, inputs: Mapping[str, Any], known: Mapping[str, Any]) -> Any:
    values = {"inputs": inputs, "steps": known}
    return interpolate(value, lambda text: _evaluate(step["id"], text, values, BEFORE_CALL, "any"))


def _evaluate(
    step: str, text: str, values: Mapping[str, Any], variables: Mapping[str, str], want: Literal["bool", "any"]
) -> Any:
    found, value = _simple_path(text, values) if want == "any" else (False, None)
    if found:
        return value
    try:
        return compile_expression(text, variables=variables, want=want).evaluate(values)
    except ExpressionError as error:
        raise _fault("walk-expression", f"{step}: {text[:120]}: {error}") from None
    except Faulty as error:
        raise _fault("walk-expression", f"{step}: {text[:120]}: {error}") from None


_WORDS = frozenset(
    {
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    }
)


def _simple_path(text: str, values: Mapping[str, Any]) -> tuple[bool, Any]:
    """Return (True, value) for a path such as inputs.order.id that leads to one; the usual case needs no CEL."""
    here: Any = values
    for part in text.split("."):
        if not (part.isidentifier() and part.isascii()) or part in _WORDS or not isinstance(here, Mapping):
            return False, None
        if part not in here:
            return False, None
        here = here[part]
    return True, here


def _fault(code: str, message: str, hint: str | None = None) -> Faulty:
    return Faulty((Fault(code=code, message=message, hint=hint),))
