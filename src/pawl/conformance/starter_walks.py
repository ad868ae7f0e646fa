"""Guessing scripted results with which a workflow comes to each of its ends. Pure, and bounded in its work.

What an expression compares tells what to try: ``result.total > 9`` asks for 9, 10 and 8 under ``total``. Walks are
tried with few choices that differ from the first ones before walks with many.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pawl.conformance.calls import impossible_results, refused_calls
from pawl.conformance.starter_values import Path, called_by, possible_results, put, unique
from pawl.errors import Faulty
from pawl.ids import Name
from pawl.problems import Fault
from pawl.procedures.interpolation import expressions_in
from pawl.procedures.procedure import Procedure
from pawl.procedures.schema import compile_schema, fill_defaults
from pawl.procedures.walk import check_inputs, walk
from pawl.procedures.workflow import graph

MAX_WALKS = 500
MAX_STEPS = 20_000
"""Steps of all walks together."""
MAX_OPTIONS = 24
"""Results that are tried for one step."""
MAX_PATH = 200
"""Steps of a walk that a case can spell out."""
_STRING = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\"""")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")
_CLAUSE = re.compile(r"&&|\|\||[?,]")
_PATH = r"((?:\.[A-Za-z_]\w*)*)(\s*\()?"
_RESULT = re.compile(rf"(?<![\w.])result{_PATH}")
_STEPS = re.compile(rf"(?<![\w.])steps(?:\.([A-Za-z_]\w*)|\[\s*['\"]([^'\"]+)['\"]\s*\]){_PATH}")
_INPUTS = re.compile(rf"(?<![\w.])inputs{_PATH}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Inputs and results by step id with which a walk takes a path."""

    inputs: Mapping[str, Any]
    given: dict[str, Any]
    path: tuple[str, ...]


def outcome_walks(
    spec: Mapping[str, Any], inputs: Sequence[Mapping[str, Any]], closure: Mapping[Name, Procedure]
) -> dict[str, Found]:
    """Return outcome -> the first walk found that ends so, for as many outcomes as bounded work finds.

    Of what is in ``closure`` no result is scripted that it could not return, and no call is made that it refuses.
    """
    options = _options(spec, closure)
    wanted = {step["end"]["outcome"] for step in spec["steps"] if step.get("end") is not None}
    found: dict[str, Found] = {}
    waiting: deque[tuple[int, ...]] = deque([()])
    walks = steps = 0
    while waiting and walks < MAX_WALKS and steps < MAX_STEPS and not wanted <= set(found):
        prefix = waiting.popleft()
        script = _Script(options, prefix[1:])
        first = prefix[0] if prefix else 0
        outcome, path = _ending(spec, inputs[first], script, closure)
        walks, steps = walks + 1, steps + script.asked
        if outcome is not None and outcome not in found:
            found[outcome] = Found(inputs=inputs[first], given=dict(script.results), path=path)
        taken = (first, *script.taken)
        sizes = (len(inputs), *script.sizes)
        for place in range(len(prefix), len(taken)):
            waiting.extend((*taken[:place], other) for other in range(1, sizes[place]))
    return found


def _ending(
    spec: Mapping[str, Any], inputs: Mapping[str, Any], script: _Script, closure: Mapping[Name, Procedure]
) -> tuple[str | None, tuple[str, ...]]:
    filled = fill_defaults(spec.get("inputs") or {}, inputs)
    if check_inputs(spec, filled):
        return None, ()
    try:
        walked = walk(spec, filled, script)
    except Faulty:
        return None, ()
    if refused_calls(walked.calls, closure) or impossible_results(spec, script.results, closure):
        return None, ()
    return walked.outcome, tuple(walked.path)


class _Script(Mapping[str, Any]):
    """Results by step id, chosen when a walk first asks for them: by the given choices, then always the first."""

    def __init__(self, options: Mapping[str, Sequence[Any]], choices: tuple[int, ...]) -> None:
        self.options = options
        self.choices = choices
        self.taken: list[int] = []
        self.sizes: list[int] = []
        self.results: dict[str, Any] = {}
        self.asked = 0

    def __getitem__(self, step: str) -> Any:
        self.asked += 1
        if self.asked > 4 * len(self.options) + 40:  # twice a step; results do not change, so it goes round for ever
            raise Faulty((Fault(code="walk-budget", message="the walk goes round"),))
        if step not in self.results:
            turn = len(self.taken)
            choice = self.choices[turn] if turn < len(self.choices) else 0
            self.taken.append(choice)
            self.sizes.append(len(self.options[step]))
            self.results[step] = self.options[step][choice]
        return self.results[step]

    def __iter__(self) -> Iterator[str]:
        return iter(self.options)

    def __len__(self) -> int:
        return len(self.options)


def way_to(spec: Mapping[str, Any], outcome: str) -> tuple[tuple[str, str], ...]:
    """Return the shortest way through the graph to an end of this outcome, as (step, the step that follows)."""
    edges = graph(spec)
    ends = {step["id"] for step in spec["steps"] if (step.get("end") or {}).get("outcome") == outcome}
    start = spec["steps"][0]["id"]
    before: dict[str, str | None] = {start: None}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        if here in ends:
            way: list[tuple[str, str]] = []
            while (earlier := before[here]) is not None:
                way.append((earlier, here))
                here = earlier
            return tuple(reversed(way))
        for target in edges[here]:
            if target not in before:
                before[target] = here
                waiting.append(target)
    return ()


def input_variants(
    spec: Mapping[str, Any], schema: Mapping[str, Any], inputs: Mapping[str, Any]
) -> tuple[Mapping[str, Any], ...]:
    """Return the inputs, and valid ones beside them that differ in what branches look at."""
    values: dict[Path, list[Any]] = {}
    for _, text in _branches(spec):
        for path, _, clause in _paths(_INPUTS, text):
            values.setdefault(path, []).extend(_tries(clause))
    validator = compile_schema(schema)
    variants: list[Mapping[str, Any]] = [inputs]
    for path, tries in values.items():
        for value in tries:
            changed = put(inputs, path, value)
            if path and changed not in variants and validator.is_valid(fill_defaults(schema, changed)):
                variants.append(changed)
    return tuple(variants[:MAX_OPTIONS])


def _options(spec: Mapping[str, Any], closure: Mapping[Name, Procedure]) -> dict[str, list[Any]]:
    """Return what to try as the result of each step that makes a call."""
    values: dict[str, dict[Path, list[Any]]] = {step["id"]: {} for step in spec["steps"] if step.get("end") is None}
    for owner, text in _branches(spec):
        for path, _, clause in _paths(_RESULT, text):
            values[owner].setdefault(path, []).extend(_tries(clause))
    for text in _texts(spec):
        for path, name, clause in _paths(_STEPS, text):
            if name in values:
                values[name].setdefault(path, []).extend(_tries(clause))
    prompts = {step["id"] for step in spec["steps"] if step.get("prompt") is not None}
    callees = {step["id"]: called_by(step, closure) for step in spec["steps"]}
    return {
        step: possible_results(_results(paths, "an answer" if step in prompts else {}), callees[step])
        for step, paths in values.items()
    }


def _results(paths: Mapping[Path, list[Any]], plain: Any) -> list[Any]:
    deep = {path: values for path, values in paths.items() if path}
    made: list[Any] = [] if deep else [plain]
    if deep:
        choices = [unique(values or [True]) for values in deep.values()]
        for values in itertools.islice(_fewest_first(choices), MAX_OPTIONS):
            result: Any = {}
            for path, value in sorted(zip(deep, values, strict=True), key=lambda item: len(item[0])):
                result = put(result, path, value)
            made.append(result)
    made += paths.get((), [])
    made.insert(2, {})  # for has(): nothing at all is there
    return unique(made)[:MAX_OPTIONS]


def _fewest_first(choices: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield every combination, those first that differ from the first one in few places."""
    first = tuple(values[0] for values in choices)
    yield first
    for count in range(1, len(choices) + 1):
        for places in itertools.combinations(range(len(choices)), count):
            for values in itertools.product(*(choices[place][1:] for place in places)):
                changed = dict(zip(places, values, strict=True))
                yield tuple(changed.get(place, value) for place, value in enumerate(first))


def _branches(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for step in spec["steps"]:
        for branch in step.get("switch") or ():
            if branch.get("when") is not None:
                yield step["id"], branch["when"]


def _texts(spec: Mapping[str, Any]) -> Iterator[str]:
    yield from (text for _, text in _branches(spec))
    for step in spec["steps"]:
        yield from (text for text, _ in expressions_in(step.get("with")))
        yield from (text for text, _ in expressions_in((step.get("end") or {}).get("output")))


def _paths(pattern: re.Pattern[str], text: str) -> Iterator[tuple[Path, str, str]]:
    """Yield each path below a variable, the step it names if any, and the part of the expression that it stands in.

    What is called is no part of a path.
    """
    for clause in _CLAUSE.split(text):
        for match in pattern.finditer(clause):
            *named, path, called = match.groups()
            parts = tuple(part for part in path.split(".") if part)
            yield parts[:-1] if called and parts else parts, next((name for name in named if name), ""), clause


def _tries(clause: str) -> list[Any]:
    """Return values that make a comparison come out in one way or the other, likely types first."""
    strings = [single or double for single, double in _STRING.findall(clause)]
    bare = _STRING.sub("''", clause)
    numbers = [json.loads(number) for number in _NUMBER.findall(bare) if not re.match(r"-?0\d", number)]
    around = [value for number in numbers for value in (number, number + 1, number - 1)]
    many = [["an item"], []] if re.search(r"\bsize\(|\bin\b|\.(exists|all|map|filter)\(", bare) else []
    return [*strings, *many, *around, True, False, *([""] if strings else [])]
