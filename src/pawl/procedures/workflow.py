"""Workflows as graphs: what must hold so that every walk is bounded and ends.

Rules: step ids are unique; the first step starts; a step makes one call or is an end; what follows a call is one
``then`` or one ``switch`` whose last branch is the default; targets exist; every reachable step can reach an end; a
loop needs ``budget.max_steps``, and the shortest way to an end fits into the budget; expressions compile and speak of
what can be there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

from pawl.errors import Faulty
from pawl.problems import Fault, Place
from pawl.procedures.expressions import Expression, Want, compile_expression
from pawl.procedures.interpolation import expressions_in, interpolation_faults
from pawl.procedures.workflow_reads import Use, read_faults

CallKind: TypeAlias = Literal["tool", "prompt", "workflow"]
CALLS: tuple[CallKind, ...] = get_args(CallKind)
VARIABLES: Mapping[str, str] = {"inputs": "map", "result": "dyn", "steps": "map"}
"""What a step's expressions can speak of: the inputs, the newest result of every step, and the result that was just
given: in a switch that of its own step, in the output of an end that of the step before it."""
BEFORE_CALL: Mapping[str, str] = {"inputs": "map", "steps": "map"}
"""What the arguments of a call can speak of."""
MAX_STEPS = 1_000
"""Steps in one workflow."""


def check_workflow(spec: Any, requires: Mapping[str, Any]) -> tuple[Fault, ...]:
    """Return everything that is wrong with a workflow's steps; unreachable steps are warnings. Takes any JSON."""
    del requires  # that what is used is required is checked for every kind in one place
    steps = spec.get("steps") if isinstance(spec, Mapping) else None
    if not isinstance(steps, list | tuple) or not all(isinstance(step, Mapping) for step in steps):
        return (Fault(code="workflow-steps", message="steps is a list of mappings", at=("steps",)),)
    if len(steps) > MAX_STEPS:
        message = f"a workflow has at most {MAX_STEPS} steps, this one has {len(steps)}"
        return (Fault(code="workflow-steps", message=message, at=("steps",)),)
    faults: list[Fault] = [*_ids(steps), *_budget(spec)]
    for index, step in enumerate(steps):
        faults += (fault.under("steps", index) for fault in _step(step))
    if not faults:
        faults += _targets(steps)
    found = list(_expressions(steps))
    sound = not faults
    faults += (fault for fault in found if isinstance(fault, Fault))
    if sound:
        faults += _ways(spec, steps)
        ends = frozenset(step["id"] for step in steps if step.get("end") is not None)
        faults += read_faults(spec, [use for use in found if isinstance(use, Use)], graph(spec), ends)
    return tuple(faults)


def graph(spec: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return step id -> the ids that can follow it, in order; ends have none."""
    return {step["id"]: tuple(dict.fromkeys(target for target, _ in targets(step))) for step in spec["steps"]}


def targets(step: Mapping[str, Any]) -> Iterator[tuple[str, Place]]:
    """Yield every step that can follow, with the place inside the step that says so."""
    if step.get("then") is not None:
        yield step["then"], ("then",)
    for index, branch in enumerate(step.get("switch") or ()):
        yield branch["then"], ("switch", index, "then")


def reachable(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """Return every step that a walk can come to, in the order of the file."""
    edges = graph(spec)
    seen: set[str] = set()
    waiting = [spec["steps"][0]["id"]]
    while waiting:
        here = waiting.pop()
        if here not in seen:
            seen.add(here)
            waiting.extend(edges.get(here, ()))
    return tuple(step["id"] for step in spec["steps"] if step["id"] in seen)


def reachable_outcomes(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """Return every outcome that a walk can end with, in the order of the file."""
    ids = set(reachable(spec))
    ends = (step["end"]["outcome"] for step in spec["steps"] if step.get("end") is not None and step["id"] in ids)
    return tuple(dict.fromkeys(ends))


def has_loop(spec: Mapping[str, Any]) -> bool:
    """Whether a walk can come to a step twice."""
    edges = graph(spec)
    state: dict[str, int] = {}
    for start in reachable(spec):
        waiting = [(start, False)]
        while waiting:
            here, done = waiting.pop()
            if done:
                state[here] = 2
            elif state.get(here) is None:
                state[here] = 1
                waiting.append((here, True))
                if any(state.get(following) == 1 for following in edges[here]):
                    return True
                waiting.extend((following, False) for following in edges[here])
    return False


def _ids(steps: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    first: dict[Any, int] = {}
    for index, step in enumerate(steps):
        name = step.get("id")
        if not isinstance(name, str):
            yield Fault(code="workflow-step", message="a step has an id", at=("steps", index))
        elif name in first:
            message = f"the step {name} is there twice, first as number {first[name] + 1}"
            yield Fault(code="workflow-step-twice", message=message, at=("steps", index, "id"))
        else:
            first[name] = index
    if not steps:
        yield Fault(code="workflow-steps", message="a workflow has at least one step", at=("steps",))


def _step(step: Mapping[str, Any]) -> Iterator[Fault]:
    arguments = step.get("with")
    if arguments is not None and not isinstance(arguments, Mapping):
        yield Fault(code="workflow-step", message="with is a mapping from argument to value", at=("with",))
    what = [key for key in (*CALLS, "end") if step.get(key) is not None]
    if len(what) != 1:
        found = f"this has {' and '.join(what)}" if what else "this has none of them"
        message = f"a step has one of tool, prompt, workflow and end; {found}"
        yield Fault(code="workflow-step", message=message)
        return
    follows = [key for key in ("then", "switch") if step.get(key) is not None]
    if what == ["end"]:
        yield from _end(step, [*follows, *(["with"] if arguments is not None else [])])
        return
    if not isinstance(step[what[0]], str):
        yield Fault(code="workflow-step", message=f"{what[0]} names a procedure", at=(what[0],))
    if len(follows) != 1:
        message = "what follows a call is one then or one switch" + (
            "; this has both" if follows else "; this has neither"
        )
        yield Fault(code="workflow-next", message=message)
    elif follows == ["switch"]:
        yield from _switch(step["switch"])
    elif not isinstance(step["then"], str):
        yield Fault(code="workflow-next", message="then names a step", at=("then",))


def _end(step: Mapping[str, Any], misplaced: Sequence[str]) -> Iterator[Fault]:
    for key in misplaced:
        message = f"nothing is called at an end and nothing follows it, so it has no {key}"
        yield Fault(code="workflow-end", message=message, at=(key,), on_key=True)
    end = step["end"]
    outcome = end.get("outcome") if isinstance(end, Mapping) else None
    if not isinstance(outcome, str) or not outcome:
        there = isinstance(end, Mapping) and "outcome" in end
        yield Fault(
            code="workflow-end", message="an end names its outcome", at=("end", "outcome") if there else ("end",)
        )
    elif "${{" in outcome:
        message = "an outcome is a text as it is, so that all outcomes are known; values go into output"
        yield Fault(code="workflow-end", message=message, at=("end", "outcome"))


def _budget(spec: Mapping[str, Any]) -> Iterator[Fault]:
    budget = spec.get("budget")
    most = budget.get("max_steps") if isinstance(budget, Mapping) else None
    if budget is not None and (not isinstance(most, int) or isinstance(most, bool) or most < 1):
        message = "a budget is max_steps: the calls that a walk can make, a whole number from 1"
        there = isinstance(budget, Mapping) and "max_steps" in budget
        yield Fault(code="workflow-budget", message=message, at=("budget", "max_steps") if there else ("budget",))


def _switch(branches: Any) -> Iterator[Fault]:
    if not isinstance(branches, list | tuple) or not branches:
        yield Fault(code="workflow-switch", message="a switch is a list of branches", at=("switch",))
        return
    for index, branch in enumerate(branches):
        at = ("switch", index)
        if not isinstance(branch, Mapping) or not isinstance(branch.get("then"), str):
            yield Fault(code="workflow-switch", message="a branch names the step that follows in then", at=at)
        elif branch.get("when") is None and index < len(branches) - 1:
            message = "a branch without when is the default and stands last: those behind it are never taken"
            yield Fault(code="workflow-switch", message=message, at=at)
        elif branch.get("when") is not None and index == len(branches) - 1:
            message = "the last branch has no when: a switch needs a default for what no branch foresees"
            yield Fault(code="workflow-switch-default", message=message, at=at, hint="add: - {then: STEP}")


def _targets(steps: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    known = {step["id"]: True for step in steps}
    for index, step in enumerate(steps):
        for target, at in targets(step):
            if target not in known:
                message = f"there is no step {target}"
                hint = f"the steps are {', '.join(list(known)[:12])}"
                yield Fault(code="workflow-target", message=message, at=("steps", index, *at), hint=hint)


def expressions_of(spec: Mapping[str, Any]) -> Iterator[Use]:
    """Yield every expression of a workflow that was found valid, with its place."""
    return (found for found in _expressions(spec["steps"]) if isinstance(found, Use))


def _expressions(steps: Sequence[Mapping[str, Any]]) -> Iterator[Fault | Use]:
    """Yield every expression that compiles, and what is wrong with those that do not; takes steps with faults."""
    for index, step in enumerate(steps):
        at: Place = ("steps", index)
        name = step.get("id")
        name = name if isinstance(name, str) else ""
        yield from _embedded(step.get("with"), BEFORE_CALL, name, (*at, "with"))
        branches = step.get("switch")
        for number, branch in enumerate(branches if isinstance(branches, list | tuple) else ()):
            when = branch.get("when") if isinstance(branch, Mapping) else None
            if when is not None:
                place = (*at, "switch", number, "when")
                for found in _compiled(when, VARIABLES, "bool", place):
                    yield found if isinstance(found, Fault) else Use(expression=found, step=name, after=True, at=place)
        end = step.get("end")
        if isinstance(end, Mapping):
            yield from _embedded(end.get("output"), VARIABLES, name, (*at, "end", "output"))


def _embedded(value: Any, variables: Mapping[str, str], step: str, at: Place) -> Iterator[Fault | Use]:
    yield from interpolation_faults(value, at)
    for text, place in expressions_in(value, at):
        for found in _compiled(text, variables, "any", place):
            yield found if isinstance(found, Fault) else Use(expression=found, step=step, after=False, at=place)


def _compiled(text: Any, variables: Mapping[str, str], want: Want, at: Place) -> Iterator[Fault | Expression]:
    if not isinstance(text, str):
        yield Fault(code="expression-invalid", message="an expression is a text", at=at)
    elif "${{" in text and want == "bool":
        message = "when is an expression as it is, without ${{ and }} around it"
        yield Fault(code="expression-invalid", message=message, at=at)
    else:
        try:
            yield compile_expression(text.strip(), variables=variables, want=want)
        except Faulty as error:
            yield from (fault.under(*at) for fault in error.faults)


def _ways(spec: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    index = {step["id"]: number for number, step in enumerate(steps)}
    edges = graph(spec)
    there = set(reachable(spec))
    distance = _distance_to_end(steps, edges)
    for step in steps:
        name, at = step["id"], ("steps", index[step["id"]])
        if name not in there:
            message = f"no walk comes to the step {name}"
            yield Fault(code="workflow-unreachable", message=message, at=at, severity="warning")
        elif name not in distance:
            yield Fault(code="workflow-no-end", message=f"from the step {name} no end can be reached", at=at)
    budget = spec.get("budget")
    most = budget.get("max_steps") if isinstance(budget, Mapping) else None
    if most is None and has_loop(spec):
        message = "a walk can come to a step twice, and nothing bounds it"
        yield Fault(code="workflow-loop-unbounded", message=message, at=("steps",), hint="add budget: {max_steps: N}")
    shortest = distance.get(steps[0]["id"])
    if isinstance(most, int) and shortest is not None and shortest > most:
        message = f"the shortest walk makes {shortest} calls, and the budget allows {most}"
        yield Fault(code="workflow-budget", message=message, at=("budget", "max_steps"))


def _distance_to_end(steps: Sequence[Mapping[str, Any]], edges: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return step id -> the fewest calls from it, itself included, until an end."""
    before: dict[str, list[str]] = {}
    for name, following in edges.items():
        for target in following:
            before.setdefault(target, []).append(name)
    distance = {step["id"]: 0 for step in steps if step.get("end") is not None}
    layer = list(distance)
    while layer:
        upper = [name for target in layer for name in before.get(target, ()) if name not in distance]
        for target in layer:
            for name in before.get(target, ()):
                distance.setdefault(name, distance[target] + 1)
        layer = list(dict.fromkeys(upper))
    return distance
