"""Why a value does not fit its schema, in sentences for people; used only after the verdict has been given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pawl.problems import Fault, Place
from pawl.procedures.schema_tree import MAX_DEPTH, children, resolve_pointer, walk_schema
from pawl.procedures.words import TYPES, listed, shown

MAX_FAULTS = 50
MAX_EXPLAINED = 20_000


def explain(compiled: Any, schema: Any, value: Any, codes: Mapping[str, str]) -> tuple[Fault, ...]:
    """Return at most 50 faults of a value that was judged invalid; ``codes`` has required, undeclared and other."""
    if not _explainable(schema, value):
        message = "the value does not fit its schema, and is nested too deeply in a recursive one to say where"
        return (Fault(code=codes["other"], message=message),)
    found: dict[Fault, None] = {}
    for error in compiled.iter_errors(value):
        found.update((fault, None) for fault in _faults(error, codes))
        if len(found) >= MAX_FAULTS:
            break
    return tuple(found)[:MAX_FAULTS]


def _faults(error: Any, codes: Mapping[str, str]) -> Iterator[Fault]:
    place: Place = tuple(error.instance_path)
    where = ".".join(str(part) for part in place)
    inside = f" in {where}" if where else ""
    kind = error.kind
    match kind.name:
        case "required":
            yield Fault(code=codes["required"], message=f"{kind.property[:120]} is missing{inside}", at=place)
        case "additionalProperties" | "unevaluatedProperties" if getattr(kind, "unexpected", None):
            for name in kind.unexpected:
                message = f"{name[:120]} is not declared{inside}"
                yield Fault(code=codes["undeclared"], message=message, at=(*place, name), on_key=True)
        case _:
            message = _sentence(error)
            yield Fault(code=codes["other"], message=f"{where}: {message}" if where else message, at=place)


def _sentence(error: Any) -> str:
    kind, found = error.kind, shown(error.instance)
    several = type(kind).__name__.endswith("OneOfMultipleValid")
    match kind.name:
        case "type":
            text = (
                f"expected {' or '.join(words for name, words in TYPES.items() if name in kind.types)}, found {found}"
            )
        case "enum":
            text = f"expected one of {listed(_scalar(option) for option in kind.options)}; found {found}"
        case "const":
            text = f"expected {_scalar(kind.expected_value)}, found {found}"
        case "oneOf" if several:
            text = f"{found} fits more than one of the alternatives, and exactly one is allowed"
        case "anyOf" | "oneOf":
            text = f"{found} fits none of the alternatives"
        case "not":
            text = f"{found} is excluded here"
        case _:
            text = str(error.message)[:300]
    return text


def _scalar(value: Any) -> str:
    return value[:60] if isinstance(value, str) else shown(value).removeprefix("the number ")


def _explainable(schema: Any, value: Any) -> bool:
    """Whether looking for reasons is affordable: unlike judging, it branches anew at every level of a recursion."""
    references = sum(isinstance(node.schema, Mapping) and "$ref" in node.schema for node in walk_schema(schema))
    if references < 2 or not isinstance(value, dict | list | tuple):
        return True
    return bool(references ** min(_depth(value), MAX_DEPTH) <= MAX_EXPLAINED) or not recursive(schema)


def _depth(value: Any) -> int:
    layer, depth = [value], 0
    while layer:
        depth += 1
        inner = [item.values() if isinstance(item, dict) else item for item in layer]
        layer = [item for items in inner for item in items if isinstance(item, dict | list | tuple)]
    return depth


def recursive(schema: Any) -> bool:
    """Whether following references and parts can come to the same schema twice."""
    nodes = {node.at: node for node in walk_schema(schema)}
    state: dict[Place, bool] = {}
    waiting: list[tuple[Place, bool]] = [((), False)]
    while waiting:
        at, done = waiting.pop()
        if done:
            state[at] = True
        elif at not in state and at in nodes:
            state[at] = False
            waiting.append((at, True))
            following = [child.at for child in children(nodes[at])]
            reference = nodes[at].schema.get("$ref") if isinstance(nodes[at].schema, Mapping) else None
            target = resolve_pointer(schema, reference) if isinstance(reference, str) else None
            following += [target.at] if target is not None else []
            if any(state.get(place) is False for place in following):
                return True
            waiting.extend((place, False) for place in following)
    return False
