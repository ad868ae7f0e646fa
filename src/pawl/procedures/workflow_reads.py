"""What the expressions of a workflow speak of: inputs that are declared, and results that can be there.

A name that no walk can ever have is an error. What only some walks have is a warning, unless the workflow asks for it
with ``has()`` somewhere: how conditions depend on each other is for suites to tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pawl.problems import Fault, Place
from pawl.procedures.expressions import Expression

_COMPOSED = frozenset(
    {"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties", "not"}
)
"""Keywords at the root that can declare properties elsewhere, or demand them."""
_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """An expression where it stands. ``after``: whether the result of its own step is there already."""

    expression: Expression
    step: str
    after: bool
    at: Place


def read_faults(
    spec: Mapping[str, Any], uses: Sequence[Use], edges: Mapping[str, Sequence[str]], ends: frozenset[str]
) -> Iterator[Fault]:
    """Yield what is wrong with what expressions speak of; takes a graph without faults."""
    yield from _input_faults(spec.get("inputs"), uses)
    yield from _result_faults(next(iter(edges)), uses, edges, ends)


def _input_faults(schema: Any, uses: Sequence[Use]) -> Iterator[Fault]:
    schema = {} if schema is None else schema
    if not isinstance(schema, Mapping) or not _COMPOSED.isdisjoint(schema):
        return
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, Mapping) or not isinstance(required, list | tuple):
        return
    is_open = any(schema.get(key, False) is not False for key in ("additionalProperties", "unevaluatedProperties"))
    asked = {ask.field for use in uses for ask in use.expression.asks if ask.variable == "inputs"}
    for use in uses:
        named = {read.field for read in use.expression.reads | use.expression.asks if read.variable == "inputs"}
        read = {read.field for read in use.expression.reads if read.variable == "inputs"}
        for field in sorted(named):
            if field not in properties:
                if not is_open:
                    message = f"there is no input {field[:120]}"
                    hint = f"the inputs are {', '.join(list(properties)[:_SHOWN])}" if properties else None
                    yield Fault(code="expression-unknown-name", message=message, at=use.at, hint=hint)
            elif field in read - asked and field not in required and not _has_default(properties[field]):
                message = f"the input {field[:120]} is optional and has no default: without it, a walk stops here"
                hint = f"ask with has(inputs.{field[:120]}) first, require it, or give it a default"
                yield Fault(code="workflow-unguarded", message=message, at=use.at, severity="warning", hint=hint)


def _has_default(schema: Any) -> bool:
    return isinstance(schema, Mapping) and "default" in schema


def _result_faults(
    start: str, uses: Sequence[Use], edges: Mapping[str, Sequence[str]], ends: frozenset[str]
) -> Iterator[Fault]:
    asked = {ask.field for use in uses for ask in use.expression.asks if ask.variable == "steps"}
    there = _reach(edges, [start])
    behind: dict[str, frozenset[str]] = {}
    around: dict[str, frozenset[str]] = {}
    for use in uses:
        if "result" in use.expression.uses and not use.after and use.step == start:
            message = "there is no result before the first step"
            yield Fault(code="expression-unknown-name", message=message, at=use.at)
        for read in sorted(use.expression.reads | use.expression.asks, key=lambda read: read.field):
            if read.variable != "steps":
                continue
            name = read.field
            if name not in edges or name in ends:
                yield _no_result(name, use, edges, ends)
                continue
            if use.step not in there or (use.after and name == use.step):
                continue
            if name not in behind:
                behind[name] = _reach(edges, edges[name])
                around[name] = _reach(edges, [start], without=name)
            if name not in there or use.step not in behind[name]:
                message = f"no walk comes to {name[:120]} before {use.step}, so it has no result here"
                yield Fault(code="expression-unknown-name", message=message, at=use.at)
            elif use.step in around[name] and name not in asked:
                message = f"a walk can come to {use.step} without a result of {name[:120]}, and stops there"
                hint = f"ask with has(steps.{name[:120]}) first"
                yield Fault(code="workflow-unguarded", message=message, at=use.at, severity="warning", hint=hint)


def _no_result(name: str, use: Use, edges: Mapping[str, Sequence[str]], ends: frozenset[str]) -> Fault:
    message = f"{name} is an end and has no result" if name in ends else f"there is no step {name[:120]}"
    calls = [step for step in edges if step not in ends]
    hint = f"the steps with a result are {', '.join(calls[:_SHOWN])}" if calls else None
    return Fault(code="expression-unknown-name", message=message, at=use.at, hint=hint)


def _reach(edges: Mapping[str, Sequence[str]], starts: Sequence[str], *, without: str | None = None) -> frozenset[str]:
    """Return the steps that can be come to from ``starts``, these included, never going on from ``without``."""
    seen: set[str] = set()
    waiting = list(starts)
    while waiting:
        here = waiting.pop()
        if here not in seen:
            seen.add(here)
            if here != without:
                waiting.extend(edges[here])
    return frozenset(seen)
