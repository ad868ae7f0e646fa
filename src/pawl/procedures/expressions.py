"""CEL expressions behind one adapter: typed at compile time, bounded, and closed towards errors.

- Only names that are declared can be spoken of; the types of variables are given by simple names.
- An evaluation error is never a value: cel-expr-python hands errors back as values whose ``bool()`` is true, so a
  result counts only by its type.
- Length, nesting and comprehensions are bounded before compiling, because the parser recurses and a comprehension over
  a list multiplies; the library bounds iterations at run time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from pawl.errors import Faulty
from pawl.problems import Fault

MAX_LENGTH = 4_096
MAX_NESTING = 32
MAX_COMPREHENSIONS = 3
MAX_VALUES = 100_000
"""How many values the variables of one evaluation may hold together."""

Want: TypeAlias = Literal["bool", "any"]
_COMPREHENSION = re.compile(r"\.\s*(?:all|exists|exists_one|existsOne|map|filter)\s*\(")
_QUOTED = re.compile(r"""[rRbB]{0,2}("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""")


class ExpressionError(Exception):
    """An expression could not be evaluated, or gave something else than it must."""


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """A compiled expression."""

    text: str
    compiled: Any
    want: Want

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """Return the plain JSON value, exactly True or False where a bool is wanted; ``ExpressionError`` otherwise."""
        try:
            result = self.compiled.eval(data={name: _plain(value, [MAX_VALUES]) for name, value in values.items()})
            kind = result.type().name()
        except (RuntimeError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise ExpressionError(_first_line(error)) from None
        if kind in {"*error*", "ERROR"} or "ERROR" in str(result.type()):
            raise ExpressionError(_first_line(result.value()))
        value = result.plain_value() if hasattr(result, "plain_value") else result.value()
        if self.want == "bool":
            if value is True or value is False:
                return value
            raise ExpressionError(f"it gave {type(value).__name__}, and only true or false is an answer")
        return _json(value)


def compile_expression(text: str, *, variables: Mapping[str, str], want: Want) -> Expression:
    """Return the compiled expression; raises ``Faulty`` for one that is too large, malformed or of the wrong type.

    ``variables``: name -> map, list, string, timestamp, bool, int or dyn.
    """
    return _compile(text, tuple(sorted(variables.items())), want)


@lru_cache(maxsize=4_096)
def _compile(text: str, variables: tuple[tuple[str, str], ...], want: Want) -> Expression:
    _check_size(text)
    try:
        compiled = _environment(variables).compile(text)
        kind = str(compiled.return_type())
    except (RuntimeError, ValueError, TypeError) as error:
        raise Faulty((_compile_fault(str(error), variables),)) from None
    if want == "bool" and kind not in {"BOOL", "DYN"}:
        message = f"the expression gives {kind}, and only true or false is an answer"
        raise Faulty((Fault(code="expression-not-bool", message=message),))
    return Expression(text, compiled, want)


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
    if len(_COMPREHENSION.findall(bare)) > MAX_COMPREHENSIONS:
        message = f"the expression goes through lists more than {MAX_COMPREHENSIONS} times"
        raise Faulty((Fault(code="expression-too-deep", message=message),))


@lru_cache(maxsize=64)
def _environment(variables: tuple[tuple[str, str], ...]) -> Any:
    from cel_expr_python import cel  # noqa: PLC0415 - only where an expression is met

    types = {
        "map": cel.Type.Map(cel.Type.STRING, cel.Type.DYN),
        "list": cel.Type.List(cel.Type.DYN),
        "string": cel.Type.STRING,
        "timestamp": cel.Type.TIMESTAMP,
        "bool": cel.Type.BOOL,
        "int": cel.Type.INT,
        "dyn": cel.Type.DYN,
    }
    return cel.NewEnv(variables={name: types[kind] for name, kind in variables})


_UNKNOWN = re.compile(r"undeclared reference to '([^']{1,200})'")
_PLACE = re.compile(r"<input>:\d+:(\d+): (.*)")


def _compile_fault(text: str, variables: tuple[tuple[str, str], ...]) -> Fault:
    unknown = _UNKNOWN.search(text)
    if unknown:
        name = unknown.group(1)
        known = ", ".join(name for name, _ in variables)
        message = f"{name} is no name that the expression can speak of"
        return Fault(code="expression-unknown-name", message=message, hint=f"there are {known}")
    place = _PLACE.search(text)
    if place:
        message = f"the expression does not read at column {place.group(1)}: {place.group(2)[:200]}"
        return Fault(code="expression-invalid", message=message)
    return Fault(code="expression-invalid", message=f"the expression does not read: {_first_line(text)}")


def _first_line(value: object) -> str:
    lines = str(value).strip().splitlines()
    return lines[0][:300] if lines else "it could not be evaluated"


def _plain(value: Any, budget: list[int]) -> Any:
    """Return a value in the types that the library takes, or raise ``ValueError`` beyond the budget."""
    budget[0] -= 1
    if budget[0] < 0:
        raise ValueError(f"the values hold more than {MAX_VALUES} parts")
    if isinstance(value, Mapping):
        return {key: _plain(item, budget) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(item, budget) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        raise ValueError(f"{value} does not fit into 64 bits")
    return value


def _json(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise ExpressionError("it gave a mapping whose keys are no texts, which JSON does not have")
        return {key: _json(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_json(item) for item in value]
    raise ExpressionError(f"it gave {type(value).__name__}, which JSON does not have")
