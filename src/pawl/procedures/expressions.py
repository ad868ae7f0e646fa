"""CEL expressions behind one adapter: typed at compile time, bounded, and closed towards errors.

- Only names that are declared can be spoken of; the types of variables are given by simple names.
- An evaluation error is never a value: cel-expr-python hands errors back as values whose ``bool()`` is true, so a
  result counts only by its type.
- Length and nesting are bounded before compiling; what an evaluation can cost is bounded before it starts
  (:mod:`pawl.procedures.expression_cost`), and the library bounds the turns of loops.
- The same values give the same result everywhere: no list is built from a mapping (its order differs between
  processes), and moments are taken apart in UTC or at a fixed offset (the zones of machines differ).
- A pattern stands in the expression as a text, so that it is read when the expression is.
- Values go in and come out as plain JSON; a text with U+0000 does not go in, as the library would cut it off there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from pawl.errors import Faulty
from pawl.problems import Fault
from pawl.procedures.expression_cost import cost_of, regex_size
from pawl.procedures.expression_tree import (
    Call,
    Const,
    Loop,
    Name,
    Select,
    Tree,
    children,
    read_tree,
    with_ordered_loops,
)
from pawl.procedures.plain import Measure, to_plain

MAX_LENGTH = 4_096
MAX_NESTING = 32
"""Levels of brackets, signs in a row, and ``?`` in one expression; what the library's parser takes, too."""
MAX_LOOPS = 3
"""Comprehensions inside of each other."""
MAX_REGEX = 400
"""Characters of a pattern, with its repetitions written out."""

Want: TypeAlias = Literal["bool", "any"]
_QUOTED = re.compile(r"""[rRbB]{0,2}("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""")
_ZONE = re.compile(r"(?:UTC|[+-]?\d\d:\d\d)\Z", re.ASCII)
_IN_ZONE = frozenset(
    f"get{part}"
    for part in (
        *("FullYear", "Month", "Date", "DayOfMonth", "DayOfWeek", "DayOfYear"),
        *("Hours", "Minutes", "Seconds", "Milliseconds"),
    )
)


class ExpressionError(Exception):
    """An expression could not be evaluated, or gave something else than it must."""


@dataclass(frozen=True, slots=True)
class Read:
    """A field of a variable that an expression speaks of, such as ``inputs.amount``."""

    variable: str
    field: str


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """A compiled expression."""

    text: str
    compiled: Any
    want: Want
    tree: Tree
    uses: frozenset[str]
    """The variables that it speaks of; no other is looked at."""
    reads: frozenset[Read]
    """The fields that it looks into."""
    asks: frozenset[Read]
    """The fields that it asks for with ``has()``."""

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """Return the plain JSON value, exactly True or False where a bool is wanted; ``ExpressionError`` otherwise."""
        data, sizes = self._variables(values)
        if cost_of(self.tree, sizes, whole_result=self.want == "any").too_high:
            raise ExpressionError("it could take too long on values as large as these")
        try:
            result = self.compiled.eval(data=data)
            kind = result.type()
            value = result.plain_value()
        except (RuntimeError, TypeError, ValueError, OverflowError, RecursionError, MemoryError) as error:
            raise ExpressionError(_reason(error)) from None
        if kind == _types()["error"] or kind == _types()["unknown"]:
            raise ExpressionError(_reason(value))
        if self.want == "any":
            return _json(value)
        if kind == _types()["bool"] and (value is True or value is False):
            return value
        raise ExpressionError(f"it gave {_type_name(value)}, and only true or false is an answer")

    def _variables(self, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Measure]]:
        data: dict[str, Any] = {}
        sizes: dict[str, Measure] = {}
        for name in self.uses & values.keys():
            value, measure = values[name], Measure()
            sizes[name] = measure
            if isinstance(value, datetime):
                if value.tzinfo is None:
                    raise ExpressionError(f"{name} is a moment without a time zone")
                data[name] = value
                continue
            try:
                data[name] = to_plain(value, measure)
            except ValueError as error:
                raise ExpressionError(f"{name} cannot be looked at: {error}") from None
            if measure.nul:
                raise ExpressionError(f"{name} cannot be looked at: a text in it has the character U+0000")
        return data, sizes


def compile_expression(text: str, *, variables: Mapping[str, str], want: Want) -> Expression:
    """Return the compiled expression; raises ``Faulty`` for one that is too large, malformed or of the wrong type.

    ``variables``: name -> map, list, string, timestamp, bool, int, double or dyn.
    """
    return _compile(text, tuple(sorted(variables.items())), want)


@lru_cache(maxsize=4_096)
def _compile(text: str, variables: tuple[tuple[str, str], ...], want: Want) -> Expression:
    _check_size(text)
    environment = _environment(variables)
    try:
        compiled = environment.compile(text)
        kind = str(compiled.return_type())
        serialized = compiled.serialize()
        tree = read_tree(serialized)
    except (RuntimeError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise Faulty((_compile_fault(str(error), variables),)) from None
    faults = tuple(_tree_faults(tree))
    if want == "bool" and kind not in {"BOOL", "DYN"}:
        message = f"the expression gives {kind}, and only true or false is an answer"
        faults += (Fault(code="expression-not-bool", message=message),)
    if faults:
        raise Faulty(faults)
    if any(isinstance(part, Loop) and part.builds_list for part in _parts(tree)):
        compiled = environment.deserialize(with_ordered_loops(serialized))
    names = dict(variables)
    found = list(_reads(tree, frozenset(names)))
    return Expression(
        text=text,
        compiled=compiled,
        want=want,
        tree=tree,
        uses=frozenset(part.name for part in _parts(tree) if isinstance(part, Name) and part.name in names),
        reads=frozenset(read for read, tested in found if not tested),
        asks=frozenset(read for read, tested in found if tested),
    )


def _check_size(text: str) -> None:
    if len(text) > MAX_LENGTH:
        message = f"the expression has {len(text)} characters; at most {MAX_LENGTH} are read"
        raise Faulty((Fault(code="expression-too-long", message=message),))
    if any((ord(char) < 32 and char not in "\t\n\r") or 0xD800 <= ord(char) <= 0xDFFF for char in text):
        raise Faulty((Fault(code="expression-invalid", message="the expression has control characters"),))
    bare = _QUOTED.sub('""', text)
    depth = deepest = 0
    for char in bare:
        depth += (char in "([{") - (char in ")]}")
        deepest = max(deepest, depth)
    runs = max((len(run) for run in re.findall(r"[!\-\s]*[!\-]", bare)), default=0)
    if deepest > MAX_NESTING or runs > MAX_NESTING or bare.count("?") > MAX_NESTING:
        message = f"the expression is nested deeper than {MAX_NESTING} levels"
        raise Faulty((Fault(code="expression-too-deep", message=message),))


def _tree_faults(tree: Tree, loops: int = 0) -> Iterator[Fault]:
    if isinstance(tree, Loop):
        loops += 1
        if loops > MAX_LOOPS:
            message = f"the expression goes through lists inside of each other, more than {MAX_LOOPS} deep"
            yield Fault(code="expression-too-deep", message=message)
            return
        if tree.over_mapping and tree.builds_list:
            message = "map and filter go through a mapping here, whose entries have no order; only lists can be used"
            yield Fault(code="expression-invalid", message=message, hint="all, exists and exists_one take mappings")
    if isinstance(tree, Call):
        yield from _call_faults(tree)
    for child in children(tree):
        yield from _tree_faults(child, loops)


def _call_faults(call: Call) -> Iterator[Fault]:
    last = call.arguments[-1] if call.arguments else None
    if call.function == "matches":
        yield from _pattern_faults(last)
    elif call.function in _IN_ZONE and len(call.arguments) == 2 and not _ZONE.match(_text(last)):
        message = f'{call.function} takes "UTC" or an offset such as "+01:00"; what a zone is differs by machine'
        yield Fault(code="expression-invalid", message=message)


def _text(tree: Tree | None) -> str:
    return tree.text or "" if isinstance(tree, Const) else ""


def _pattern_faults(pattern: Tree | None) -> Iterator[Fault]:
    if not isinstance(pattern, Const) or pattern.text is None:
        message = "the pattern of matches must stand in the expression as a text"
        yield Fault(code="expression-invalid", message=message)
    elif regex_size(pattern.text) > MAX_REGEX:
        message = f"the pattern of matches is longer than {MAX_REGEX}, repetitions written out"
        yield Fault(code="expression-invalid", message=message)
    else:
        found = _pattern_check().eval(data={"pattern": pattern.text})
        if found.type() != _types()["bool"]:
            yield Fault(code="expression-invalid", message=f"the pattern of matches: {_reason(found.value())}")


@lru_cache(maxsize=1)
def _pattern_check() -> Any:
    return _environment((("pattern", "string"),)).compile("''.matches(pattern)")


@lru_cache(maxsize=1)
def _types() -> Mapping[str, Any]:
    from cel_expr_python import cel  # noqa: PLC0415 - only where an expression is met

    return {
        "map": cel.Type.Map(cel.Type.STRING, cel.Type.DYN),
        "list": cel.Type.List(cel.Type.DYN),
        "string": cel.Type.STRING,
        "timestamp": cel.Type.TIMESTAMP,
        "bool": cel.Type.BOOL,
        "int": cel.Type.INT,
        "double": cel.Type.DOUBLE,
        "dyn": cel.Type.DYN,
        "error": cel.Type.ERROR,
        "unknown": cel.Type.UNKNOWN,
    }


@lru_cache(maxsize=64)
def _environment(variables: tuple[tuple[str, str], ...]) -> Any:
    from cel_expr_python import cel  # noqa: PLC0415 - only where an expression is met

    return cel.NewEnv(variables={name: _types()[kind] for name, kind in variables})


def _parts(tree: Tree) -> Iterator[Tree]:
    yield tree
    for child in children(tree):
        yield from _parts(child)


def _reads(tree: Tree, names: frozenset[str]) -> Iterator[tuple[Read, bool]]:
    """Yield what is read of variables, and whether only its being there is asked for; loops hide what they rename."""
    match tree:
        case Select(operand=Name(name=name), field=field, test=test) if name in names:
            yield Read(name, field), test
        case Call(function="_[_]", arguments=(Name(name=name), Const(text=str(field)))) if name in names:
            yield Read(name, field), False
        case Call(function="@in", arguments=(Const(text=str(field)), Name(name=name))) if name in names:
            yield Read(name, field), True
        case Loop():
            yield from _reads(tree.over, names)
            inner = names - {*tree.variables, tree.accumulator}
            for part in (tree.condition, tree.step, tree.result):
                yield from _reads(part, inner)
            return
        case _:
            pass
    for child in children(tree):
        yield from _reads(child, names)


_UNKNOWN = re.compile(r"undeclared reference to '([^']{1,200})'")
_PLACE = re.compile(r"<input>:(\d+):(\d+): (.*)")


def _compile_fault(text: str, variables: tuple[tuple[str, str], ...]) -> Fault:
    unknown = _UNKNOWN.search(text)
    if unknown:
        name = unknown.group(1)
        known = ", ".join(name for name, _ in variables)
        message = f"{name} is no name that the expression can speak of"
        return Fault(code="expression-unknown-name", message=message, hint=f"there are {known}")
    if "recursion" in text:
        message = f"the expression is nested deeper than {MAX_NESTING} levels"
        return Fault(code="expression-too-deep", message=message)
    place = _PLACE.search(text)
    if place:
        line, column, said = place.groups()
        where = f"column {column}" if line == "1" else f"line {line}, column {column}"
        return Fault(code="expression-invalid", message=f"the expression does not read at {where}: {said[:200]}")
    return Fault(code="expression-invalid", message=f"the expression does not read: {_reason(text)}")


def _reason(value: object) -> str:
    text = str(value).strip()
    if "_+_(map, list)" in text:
        return "map and filter go through a mapping here, whose entries have no order; only lists can be used"
    if isinstance(value, MemoryError):
        return "it needs more memory than there is"
    lines = text.splitlines()
    return lines[0][:300] if lines else "it could not be evaluated"


def _json(value: Any) -> Any:
    try:
        return _sorted(to_plain(value, Measure()))
    except ValueError as error:
        raise ExpressionError(f"it gave a value that JSON does not have: {error}") from None


def _sorted(value: Any) -> Any:
    """Return mappings with their keys in order: the library's order differs between processes."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _type_name(value: Any) -> str:
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    words |= {dict: "a mapping", list: "a list", type(None): "null"}
    return words.get(type(value), f"a {type(value).__name__}")
