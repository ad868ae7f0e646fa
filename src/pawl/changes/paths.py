"""Paths in the expressions of a workflow, and where they lead in the schemas of what they speak of.

- A path is a chain of names from ``inputs``, ``result`` or ``steps``; a field by a text in brackets counts as well.
- What an expression asks for with ``has()`` or ``in`` is no read, and guards the reads of that very path: anywhere in
  the workflow, as how conditions depend on each other is for suites to tell.
- A union leads to what each of its alternatives has. Where a condition could declare more names, nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pawl.changes.facts import declared, pattern_texts
from pawl.changes.forms import Alternative, Forms, of_name
from pawl.changes.graphs import call_of
from pawl.changes.judge import matches
from pawl.changes.source import Schema, is_anything
from pawl.errors import Faulty
from pawl.problems import Place
from pawl.procedures.expression_tree import Call, Const, Loop, Name, Select, Tree, children
from pawl.procedures.expressions import Want, compile_expression
from pawl.procedures.interpolation import expressions_in
from pawl.procedures.workflow import BEFORE_CALL, VARIABLES

MAX_WAYS = 64
"""How many alternatives a path may lead to at once; beyond, nothing is said of it."""

Path: TypeAlias = tuple[str, ...]
"""``inputs`` and what follows, or ``steps``, a step and what follows of its result."""
Doubt: TypeAlias = Literal["never", "undeclared", "perhaps"]
"""What is wrong with a name: nothing gives it, nothing declares it in an open object, it can be absent."""

_PLAIN = re.compile(r"(?:inputs|result|steps)(?:\.[A-Za-z_][A-Za-z0-9_]*)*\Z", re.ASCII)
_DECLARING = frozenset({"anyOf", "oneOf", "if", "dependentSchemas", "unevaluatedProperties", "$ref", "$schema", "enum"})
"""Conditions behind which names may be declared that the facts beside them do not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A path where an expression speaks of it. ``asked``: only whether it is there."""

    step: str
    path: Path
    asked: bool
    at: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """Where a path leads: the schemas of the value, one for each way; none where that cannot be said.

    ``wrong``: the first thing that is wrong on the way, with how much of the path leads there.
    """

    schemas: tuple[Schema, ...]
    wrong: tuple[Doubt, int] | None = None


def plain_path(text: str) -> Path | None:
    """Return the path that an expression is and nothing else, or None."""
    text = text.strip()
    return tuple(text.split(".")) if _PLAIN.match(text) else None


def uses_of(spec: Mapping[str, Any], edges: Mapping[str, Sequence[str]]) -> Iterator[Use]:
    """Yield every path in the expressions of a workflow; ``result`` becomes the step whose result it is."""
    before: dict[str, dict[Any, str]] = {}
    """By what is called: of several steps that call the same, one is enough."""
    calls = {step["id"]: call_of(step) for step in spec["steps"]}
    for name, following in edges.items():
        for target in following:
            before.setdefault(target, {}).setdefault(calls[name], name)
    for index, step in enumerate(spec["steps"]):
        name, at = step["id"], ("steps", index)
        for text, place in expressions_in(step.get("with"), (*at, "with")):
            yield from _uses(text, BEFORE_CALL, "any", name, place, ())
        for number, branch in enumerate(step.get("switch") or ()):
            if branch.get("when") is not None:
                place = (*at, "switch", number, "when")
                yield from _uses(branch["when"], VARIABLES, "bool", name, place, (name,))
        output = (step.get("end") or {}).get("output")
        for text, place in expressions_in(output, (*at, "end", "output")):
            yield from _uses(text, VARIABLES, "any", name, place, tuple(before.get(name, {}).values()))


def _uses(
    text: str, variables: Mapping[str, str], want: Want, step: str, at: Place, results: Sequence[str]
) -> Iterator[Use]:
    plain = plain_path(text)
    found: list[tuple[Path, bool]] = [(plain, False)] if plain is not None else []
    if plain is None:
        try:
            tree = compile_expression(text.strip(), variables=variables, want=want).tree
        except Faulty:
            return
        found = list(_paths(tree, frozenset(variables)))
    for path, asked in dict.fromkeys(found):
        if path[0] != "result":
            yield Use(step=step, path=path, asked=asked, at=at)
            continue
        for origin in results:
            yield Use(step=step, path=("steps", origin, *path[1:]), asked=asked, at=at)


def _paths(tree: Tree, names: frozenset[str]) -> Iterator[tuple[Path, bool]]:
    """Yield the longest paths in an expression; loops hide what they rename."""
    match tree:
        case Select(operand=operand, field=field, test=True) if (path := _chain(operand, names)) is not None:
            yield (*path, field), True
        case Call(function="@in", arguments=(Const(text=str(field)), holder)) if (
            path := _chain(holder, names)
        ) is not None:
            yield (*path, field), True
        case Loop():
            yield from _paths(tree.over, names)
            inner = names - {*tree.variables, tree.accumulator}
            for part in (tree.start, tree.condition, tree.step, tree.result):
                yield from _paths(part, inner)
            return
        case _ if (path := _chain(tree, names)) is not None:
            yield path, False
            return
        case _:
            pass
    for child in children(tree):
        yield from _paths(child, names)


def _chain(tree: Tree, names: frozenset[str]) -> Path | None:
    fields: list[str] = []
    while True:
        match tree:
            case Name(name=name):
                return (name, *reversed(fields)) if name in names else None
            case Select(operand=operand, field=field, test=False):
                fields.append(field)
                tree = operand
            case Call(function="_[_]", arguments=(operand, Const(text=str(field)))):
                fields.append(field)
                tree = operand
            case _:
                return None


def reach(
    forms: Forms,
    schema: Schema,
    names: Sequence[str],
    *,
    guarded: frozenset[int] = frozenset(),
    filled: bool = False,
) -> Reached:
    """Follow names from a schema.

    ``guarded``: the numbers, from 1, of names that are asked for before they are read; of them nothing is wrong.
    ``filled``: defaults are there where nothing was given.
    """
    here: tuple[Schema, ...] = (schema,)
    wrong: tuple[Doubt, int] | None = None
    for number, name in enumerate(names, start=1):
        looks = [_look(forms, each, name, filled) for each in here]
        found = tuple(dict.fromkeys(inner for look in looks for inner in look.found))
        if not found or len(found) > MAX_WAYS:
            unsaid = bool(found) or number in guarded or any(look.hidden for look in looks)
            doubt: Doubt = "undeclared" if any(look.is_open for look in looks) else "never"
            return Reached(schemas=(), wrong=wrong or (None if unsaid else (doubt, number)))
        if (
            wrong is None
            and number not in guarded
            and any(look.perhaps or look.is_open or look.hidden for look in looks)
        ):
            wrong = ("perhaps", number)
        here = found
    return Reached(schemas=here, wrong=wrong)


@dataclass(slots=True)
class _Look:
    """What a schema has under one name."""

    found: list[Schema]
    perhaps: bool = False
    is_open: bool = False
    hidden: bool = False


def _look(forms: Forms, schema: Schema, name: str, filled: bool) -> _Look:
    look = _Look([])
    for alternative in forms.form(schema).alternatives:
        if alternative.kind != "object":
            look.perhaps = True
        elif alternative.members is not None:
            look.hidden = True
        else:
            _look_into(forms, alternative, name, filled, look)
    return look


def _look_into(forms: Forms, alternative: Alternative, name: str, filled: bool, look: _Look) -> None:
    facts = alternative.facts
    inner = of_name(facts, name)
    named = name in declared(facts) or any(matches(text, name) for text in pattern_texts(facts))
    if not named and is_anything(inner):
        hidden = any(condition.keyword in _DECLARING for condition in facts.conditions)
        look.hidden, look.is_open = look.hidden or hidden, look.is_open or not hidden
    elif not forms.form(inner).alternatives:
        look.perhaps = True
    else:
        look.found.append(inner)
        default = filled and any(isinstance(source.raw, Mapping) and "default" in source.raw for source in inner)
        look.perhaps = look.perhaps or (name not in facts.required and not default)
