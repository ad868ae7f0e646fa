"""Values for starters that what a workflow requires can return, and takes. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pawl.conformance.calls import can_return, refuses_argument
from pawl.ids import Name
from pawl.procedures.examples import example
from pawl.procedures.procedure import Procedure
from pawl.procedures.schema import closed, compile_schema, fill_defaults
from pawl.procedures.workflow import CALLS

Path = tuple[str, ...]
_GIVES = {"tool": "outputSchema", "prompt": "output"}
_START, _END = "${{ inputs.", " }}"


def called_by(step: Mapping[str, Any], closure: Mapping[Name, Procedure]) -> Procedure | None:
    """Return what a step calls, if it is known and of the step's kind."""
    called = next(((kind, step[kind]) for kind in CALLS if step.get(kind) is not None), None)
    callee = closure.get(Name(called[1])) if called is not None else None
    return callee if callee is not None and called is not None and callee.kind == called[0] else None


def possible_results(options: Sequence[Any], callee: Procedure | None) -> list[Any]:
    """Return results that can be returned, each as near to one of ``options`` as an example lets it be."""
    schema = callee.spec.get(_GIVES.get(callee.kind, "")) if callee is not None else None
    if callee is None or schema is None:
        return list(options)
    made = _example(schema)
    found = []
    for option in options:
        if can_return(callee, option):
            found.append(option)
        elif isinstance(option, dict) and isinstance(made, dict):
            near: Any = made
            for path, value in _leaves(option):
                changed = put(near, path, value)
                near = changed if can_return(callee, changed) else near
            found.append(near)
    found += [made] if made is not None and can_return(callee, made) else []
    return unique(found) or list(options)


def suited_inputs(
    spec: Mapping[str, Any], schema: Mapping[str, Any], inputs: Mapping[str, Any], closure: Mapping[Name, Procedure]
) -> Mapping[str, Any]:
    """Return inputs with values that the called versions take, where an input is handed on as it is."""
    validator = compile_schema(schema)
    for step in spec["steps"]:
        callee = called_by(step, closure)
        if callee is None:
            continue
        wanted = _example(
            callee.spec["inputSchema"] if callee.kind == "tool" else closed(callee.spec.get("inputs") or {})
        )
        handed = {name: _handed_on(text) for name, text in (step.get("with") or {}).items()}
        for name, path in handed.items():
            if not path or name not in (wanted or {}) or not refuses_argument(callee, name, _get(inputs, path)):
                continue
            changed = put(inputs, path, wanted[name])
            inputs = changed if validator.is_valid(fill_defaults(schema, changed)) else inputs
    return inputs


def put(value: Any, path: Path, new: Any) -> Any:
    """Return ``value`` with ``new`` at a path of names."""
    if not path:
        return new
    held = dict(value) if isinstance(value, Mapping) else {}
    held[path[0]] = put(held.get(path[0]), path[1:], new)
    return held


def unique(values: Sequence[Any]) -> list[Any]:
    """Return values without repetitions, in their order."""
    kept: dict[str, Any] = {}
    for value in values:
        kept.setdefault(json.dumps(value, sort_keys=True), value)
    return list(kept.values())


def _example(schema: Mapping[str, Any]) -> Any:
    try:
        return example(schema)
    except ValueError:
        return None


def _leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _leaves(inner, (*path, name))
    elif path:
        yield path, value


def _handed_on(text: Any) -> Path:
    if not isinstance(text, str) or not text.startswith(_START) or not text.endswith(_END):
        return ()
    names = tuple(text[len(_START) : -len(_END)].split("."))
    return names if all(name.isidentifier() for name in names) else ()


def _get(value: Any, path: Path) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
