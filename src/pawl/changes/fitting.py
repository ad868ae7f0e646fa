"""Whether a caller still fits what it calls: the steps of a workflow beside the documents that they call.

- A step's arguments lie within the input schema of what it calls. A literal is judged as a call is; a path such as
  ``inputs.order_id`` by the schema that is declared for it; of any other expression nothing is said, and a text with
  expressions in it is a text.
- What can never be taken is an error. What can be refused, because not all that the path may hold is taken, is a
  warning, and so is what the limits of comparing leave open.
- What the expressions read of results, the called tool or prompt must be able to give. A field that no closed object
  declares is an error; one that an open object does not declare, or that can be absent, is a warning unless the
  workflow asks with ``has()``. That an input can be absent is told where the workflow is read.
- Steps that no walk comes to, and procedures that are not known here, are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

from pawl.changes.arguments import Arguments, Given, Taken
from pawl.changes.effort import Effort
from pawl.changes.forms import Forms
from pawl.changes.graphs import call_of
from pawl.changes.inclusion import Inclusion
from pawl.changes.judge import Judge
from pawl.changes.paths import Doubt, Path, Reached, Use, plain_path, reach, uses_of
from pawl.changes.source import Document, Schema
from pawl.errors import Faulty
from pawl.problems import Fault, Place, Severity
from pawl.procedures.interpolation import expressions_in
from pawl.procedures.schema import Validator, closed, compile_schema, fill_defaults
from pawl.procedures.workflow import graph, reachable

MAX_USES = 5_000
"""How many paths of one workflow are looked at."""
MAX_ERRORS = 200
"""After the step with this many errors nothing more is looked for: the caller does not fit."""
_SCHEMAS = {"tool": ("inputSchema", "outputSchema"), "prompt": ("inputs", "output"), "workflow": ("inputs", "")}
"""Kind -> the field of what it takes, and that of what it gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """A fault of a caller beside what it calls; ``callees`` are the names whose documents it rests on."""

    fault: Fault
    callees: frozenset[str]


def misfits(caller: Mapping[str, Any], callees: Mapping[str, Mapping[str, Any]]) -> tuple[Fault, ...]:
    """Return where a procedure does not fit the documents of what it calls, with places in its own document."""
    return tuple(found.fault for found in find_misfits(caller, callees))


def find_misfits(caller: Mapping[str, Any], callees: Mapping[str, Mapping[str, Any]]) -> tuple[Misfit, ...]:
    """Return the same with the names that each rests on. Only workflows call anything; never raises."""
    if caller.get("kind") != "workflow":
        return ()
    fitting = _Fitting(caller["spec"], {name: _Callee(document) for name, document in callees.items()})
    found: dict[tuple[str, str], Misfit] = {}
    for misfit in fitting.find():
        found.setdefault((misfit.fault.code, misfit.fault.message), misfit)
    return tuple(found.values())


class _Callee:
    """A document that is called, with its schemas made ready once."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.kind: str = document["kind"]
        self.name: str = document["name"]
        self.ref = f"{document['name']}@{document['version']}"
        self._spec: Mapping[str, Any] = document["spec"]
        self._takes, self._gives = _SCHEMAS.get(self.kind, ("", ""))

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """What it takes."""
        schema: Mapping[str, Any] = self._spec.get(self._takes) or {}
        return schema if self.kind == "tool" else closed(schema)

    @cached_property
    def validator(self) -> Validator:
        return compile_schema(self.schema)

    @cached_property
    def takes(self) -> Schema:
        return Document(self.schema, ("spec", self._takes)).schema

    @cached_property
    def gives(self) -> Schema | None:
        """What its results are; None where it promises nothing."""
        schema = self._spec.get(self._gives) if self._gives else None
        return None if schema is None else Document(schema, ("spec", self._gives)).schema

    def filled(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return arguments with the defaults that it fills in; a tool fills none."""
        filled: Mapping[str, Any] = arguments if self.kind == "tool" else fill_defaults(self.schema, arguments)
        return filled


class _Fitting:
    def __init__(self, spec: Mapping[str, Any], callees: Mapping[str, _Callee]) -> None:
        self.spec = spec
        self.steps = {step["id"]: step for step in spec["steps"]}
        self.index = {step["id"]: index for index, step in enumerate(spec["steps"])}
        self.there = frozenset(reachable(spec))
        self.callees = callees
        self.uses: dict[str, list[Use]] = {}
        uses = tuple(islice(uses_of(spec, graph(spec)), MAX_USES))
        for use in uses:
            self.uses.setdefault(use.step, []).append(use)
        self.cut = len(uses) == MAX_USES
        self.asked = frozenset(use.path for use in uses if use.asked)
        self.judge = Judge(Effort())
        self.forms = Forms(self.judge)

    def find(self) -> Iterator[Misfit]:
        errors = 0
        for name in self.steps:
            for misfit in self._guarded(name) if name in self.there and errors < MAX_ERRORS else ():
                errors += misfit.fault.severity == "error"
                yield misfit
        if self.cut:
            message = f"the workflow speaks of more than {MAX_USES} fields, and only these were looked at"
            yield self._misfit("result-doubtful", message, ("steps",), frozenset(self.callees))

    def _guarded(self, name: str) -> Iterator[Misfit]:
        try:
            yield from self._of_step(name)
        except (Faulty, ValueError, RecursionError) as error:
            self.forms = Forms(self.judge)
            message = f"whether the step {name} fits what it calls cannot be told: {str(error)[:200]}"
            called = call_of(self.steps[name])
            callees = frozenset({called[1]} if called else ())
            yield self._misfit("call-doubtful", message, ("steps", self.index[name]), callees)

    def _of_step(self, name: str) -> Iterator[Misfit]:
        called = call_of(self.steps[name])
        callee = self.callees.get(called[1]) if called else None
        if called is not None and callee is not None:
            if callee.kind == called[0]:
                yield from self._arguments(name, callee)
            else:
                message = f"the step {name} calls the {called[0]} {callee.ref}, which is a {callee.kind}"
                at = ("steps", self.index[name], called[0])
                yield self._misfit("call-wrong-kind", message, at, frozenset({callee.name}))
        for use in self.uses.get(name, ()):
            if not use.asked:
                yield from self._read(use)

    def _arguments(self, name: str, callee: _Callee) -> Iterator[Misfit]:
        step = self.steps[name]
        at: Place = ("steps", self.index[name], *(("with",) if step.get("with") is not None else ()))
        arguments = callee.filled(step.get("with") or {})
        if not any(True for _ in expressions_in(arguments)):
            yield from self._literal(name, callee, arguments, at)
            return
        taken = Taken(ref=callee.ref, schema=callee.takes, validator=callee.validator)
        judged = Arguments(Inclusion(self.forms), name, taken, self._given)
        for found in judged.faults(arguments):
            yield self._misfit(found.code, found.message, (*at, *found.at), found.callees | {callee.name}, found.hint)

    def _literal(self, name: str, callee: _Callee, arguments: Mapping[str, Any], at: Place) -> Iterator[Misfit]:
        faults = callee.validator.faults(dict(arguments), code="call-misfit", missing="call-incomplete")
        for fault in faults:
            message = f"the step {name} calls {callee.ref}, which refuses it: {fault.message}"
            yield self._misfit(fault.code, message, (*at, *fault.at), frozenset({callee.name}))

    def _given(self, text: str) -> Given | None:
        """Return what an expression puts in, where it is a path whose schema is declared."""
        path = plain_path(text)
        if path is None:
            return None
        if path[0] == "inputs":
            reached = self._reach(self._inputs, path, 1)
            return Given(what=f"the input {'.'.join(path[1:])}" if path[1:] else "all inputs", schemas=reached.schemas)
        callee = self._origin(path)
        if callee is None or callee.gives is None:
            return None
        what = f"{text.strip()}, which {callee.ref} gives"
        schemas = self._reach(callee.gives, path, 2).schemas
        return Given(what=what, schemas=schemas, callees=frozenset({callee.name}))

    @cached_property
    def _inputs(self) -> Schema:
        return Document(closed(self.spec.get("inputs") or {}), ("spec", "inputs")).schema

    def _origin(self, path: Path) -> _Callee | None:
        called = call_of(self.steps[path[1]]) if len(path) > 1 and path[1] in self.steps else None
        callee = self.callees.get(called[1]) if called else None
        return callee if callee is not None and called is not None and callee.kind == called[0] else None

    def _reach(self, schema: Schema, path: Path, start: int) -> Reached:
        names = path[start:]
        asked = frozenset(number for number in range(1, len(names) + 1) if path[: start + number] in self.asked)
        return reach(self.forms, schema, names, guarded=asked, filled=path[0] == "inputs")

    def _read(self, use: Use) -> Iterator[Misfit]:
        callee = self._origin(use.path) if use.path[0] == "steps" and len(use.path) > 2 else None
        if callee is None or callee.gives is None:
            return
        wrong = self._reach(callee.gives, use.path, 2).wrong
        if wrong is None:
            return
        doubt, number = wrong
        field = ".".join(use.path[2 : 2 + number])
        whose = "its result" if use.path[1] == use.step else f"the result of {use.path[1]}"
        message = f"the step {use.step} reads {field[:200]} of {whose}, {_WHY[doubt].format(ref=callee.ref)}"
        hint = None if doubt == "never" else f"ask with has() for {field[:120]} first"
        code = "result-misfit" if doubt == "never" else "result-doubtful"
        yield self._misfit(code, message, use.at, frozenset({callee.name}), hint)

    def _misfit(self, code: str, message: str, at: Place, callees: frozenset[str], hint: str | None = None) -> Misfit:
        severity: Severity = "warning" if code.endswith("-doubtful") else "error"
        fault = Fault(code=code, message=message, at=at, severity=severity, hint=hint)
        return Misfit(fault=replace(fault, at=("spec", *at)), callees=callees)


_WHY: Mapping[Doubt, str] = {
    "never": "which {ref} never gives: a walk stops there",
    "undeclared": "which {ref} does not declare: a walk without it stops there",
    "perhaps": "which {ref} does not always give: a walk without it stops there",
}
