"""Mutants of the evaluator: small faults, put into its modules one at a time, in this process.

A mutant is one change of a syntax tree: a comparison flipped, a condition negated or fixed, a ``not`` or a finding
dropped, a word of refusal turned into one of permission. The module with the fault and whatever imports it are made
afresh, everything else is shared. Then the table of situations is asked; what answers it all the same is asked the
tests of the rules themselves. By hand: ``PYTHONPATH=tests python -m policy.mutating [MODULE ...]`` lists survivors.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import importlib
import inspect
import itertools
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeAlias

import pytest

import pawl.policy.evaluator
from pawl.policy.situation import Situation
from policy.situations import ROWS, situation_of

POLICY = Path(pawl.policy.evaluator.__file__).parent
HERE = Path(__file__).parent
TABLES: Mapping[str, tuple[str, ...]] = {
    "evaluator": ("test_evaluator", "test_canaries", "test_borders"),
    "situation": ("test_evaluator", "test_situations", "test_borders"),
    "verdict": ("test_verdict", "test_borders"),
    "checks.channel": ("test_evaluator", "test_checks"),
    "checks.evidence": ("test_evaluator", "test_checks", "test_situations"),
    "checks.freezes": ("test_checks", "test_situations"),
    "checks.rules": ("test_situations", "test_explain", "test_checks", "test_evaluator", "test_borders"),
    "kinds.approvals": ("test_kinds", "test_borders"),
    "kinds.bump": ("test_kinds", "test_borders"),
    "kinds.evidence": ("test_kinds", "test_borders"),
    "kinds.freeze": ("test_kind_freeze", "test_situations"),
    "kinds.require": ("test_rules", "test_explain", "test_situations"),
    "kinds.soak": ("test_kinds",),
    "kinds.withdrawn": ("test_kinds",),
    "waiving": ("test_waiving", "test_situations", "test_borders"),
    "leaving": ("test_leaving",),
    "gathering": ("test_facts", "test_situations"),
    "facts": ("test_facts", "test_kinds"),
    "checks.fit": ("test_fit", "test_borders"),
    "canaries": ("test_canaries", "test_borders"),
    "freshness": ("test_freshness", "test_borders"),
}
"""Which modules are mutated, and the tests that answer for what the table of situations does not reach."""

MANY = 150
"""Tests with more parameters are those that ask all of the table again."""
Answer: TypeAlias = tuple[int, tuple[str, ...]]
Site: TypeAlias = tuple[Any, str, int | None]
"""A node's place: its parent, the field, and the index in a list."""

_NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_BORDER: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt
}  # fmt: skip
_OTHERS = {"any": "all", "all": "any", "min": "max", "max": "min"}
_REFUSING = {"failed", "errored", "missing"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One fault; ``name`` says it without line numbers, so that it stays the same while the code around it moves."""

    module: str
    function: str
    name: str
    line: int
    code: CodeType
    source: str = ""

    @property
    def id(self) -> str:
        return f"{self.module}.{self.function}: {self.name}"

    def diff(self) -> str:
        """Return what differs from the module as it is."""
        before = ast.unparse(ast.parse(source_of(self.module))).splitlines()
        (after,) = (mutant.source for mutant in mutants(self.module, only=self.id, sources=True))
        lines = difflib.unified_diff(before, after.splitlines(), lineterm="", n=2)
        return "\n".join(itertools.islice(lines, 2, None))


@cache
def path_of(module: str) -> Path:
    """Return the file of a module of policy/."""
    return POLICY.joinpath(*module.split(".")).with_suffix(".py")


def source_of(module: str) -> str:
    """Return a module of policy/ as it is."""
    return path_of(module).read_text(encoding="utf-8")


# Where and how


def mutants(module: str, *, only: str | None = None, sources: bool = False) -> Iterator[Mutant]:
    """Yield every mutant of a module of policy/, or ``only`` one; with ``sources``, with what stands in it."""
    tree = ast.parse(source_of(module))
    seen: dict[str, int] = {}
    for (parent, field, index), function in list(_sites(tree)):
        holder = getattr(parent, field)
        node = holder[index] if index is not None else holder
        for how, changed in _changes(node, parent, field):
            said = f"{how} `{' '.join(ast.unparse(node).split())[:100]}`"
            count = seen[f"{function} {said}"] = seen.get(f"{function} {said}", 0) + 1
            name = said if count == 1 else f"{said} ({count})"
            if only not in {None, f"{module}.{function}: {name}"}:
                continue
            _put(parent, field, index, ast.fix_missing_locations(ast.copy_location(changed, node)))
            try:
                code = compile(tree, str(path_of(module)), "exec")
                source = ast.unparse(tree) if sources else ""
            finally:
                _put(parent, field, index, node)
            yield Mutant(module=module, function=function, name=name, line=node.lineno, code=code, source=source)


def _put(parent: Any, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def _sites(tree: ast.AST, function: str = "") -> Iterator[tuple[Site, str]]:
    """Yield the places of all that decides something, with the function that it is in; types decide nothing."""
    for field, value in ast.iter_fields(tree):
        if field in {"annotation", "returns", "decorator_list"} or isinstance(tree, ast.Subscript):
            continue
        for index, node in enumerate(value) if isinstance(value, list) else ((None, value),):
            if not isinstance(node, ast.AST) or _is_type_or_text(node):
                continue
            inside = function
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                inside = f"{function}.{node.name}" if function else node.name
            if hasattr(node, "lineno"):
                yield (tree, field, index), inside or "module"
            yield from _sites(node, inside)


def _is_type_or_text(node: ast.AST) -> bool:
    if isinstance(node, (ast.JoinedStr, ast.Raise, ast.Import, ast.ImportFrom)):
        return True
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    return isinstance(node, ast.AnnAssign) and "TypeAlias" in ast.unparse(node.annotation)


def _changes(node: Any, parent: Any, field: str) -> Iterator[tuple[str, Any]]:
    if isinstance(node, ast.expr):
        yield from _other_values(node, parent)
        if (field == "test" and isinstance(parent, (ast.If, ast.IfExp))) or field == "ifs":
            yield "negate", ast.UnaryOp(op=ast.Not(), operand=node)
            yield "always", ast.Constant(value=True)
            yield "never", ast.Constant(value=False)
    elif isinstance(node, ast.Expr) and isinstance(node.value, (ast.Yield, ast.YieldFrom, ast.Call)):
        empty: Any = ast.YieldFrom(value=ast.Tuple(elts=[], ctx=ast.Load()))
        yield "drop", ast.Expr(value=ast.Constant(value=None) if isinstance(node.value, ast.Call) else empty)
    elif isinstance(node, ast.FunctionDef):
        yield from _early(node)


def _other_values(node: ast.expr, parent: Any) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Compare(ops=[op], left=left, comparators=right):
            yield "flip", ast.Compare(left=left, ops=[_NEGATED[type(op)]()], comparators=right)
            if type(op) in _BORDER:
                yield "border", ast.Compare(left=left, ops=[_BORDER[type(op)]()], comparators=right)
        case ast.BoolOp(op=op, values=values):
            yield "swap", ast.BoolOp(op=ast.Or() if isinstance(op, ast.And) else ast.And(), values=values)
            for drop in range(len(values)):
                kept = [value for at, value in enumerate(values) if at != drop]
                yield f"without {drop + 1}", kept[0] if len(kept) == 1 else ast.BoolOp(op=op, values=kept)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "drop not", operand
        case ast.Constant(value=str(word)) if word in _REFUSING:
            yield "pass", ast.Constant(value="passed")
            yield "pass over", ast.Constant(value="not-applicable")
        case ast.Call(func=ast.Name(id=called), args=given, keywords=more) if called in _OTHERS:
            yield (
                _OTHERS[called],
                ast.Call(func=ast.Name(id=_OTHERS[called], ctx=ast.Load()), args=given, keywords=more),
            )
        case ast.BinOp(op=ast.BitAnd(), left=one, right=other):
            yield "swap", ast.BinOp(left=one, op=ast.BitOr(), right=other)
        case ast.BinOp(op=ast.Sub(), left=one, right=other):
            yield "swap", ast.BinOp(left=one, op=ast.Add(), right=other)
        case ast.BinOp(op=ast.Add(), left=one, right=other):
            yield "swap", ast.BinOp(left=one, op=ast.Sub(), right=other)
        case ast.Starred() if isinstance(parent, (ast.Tuple, ast.List)):
            yield "drop", ast.Starred(value=ast.Tuple(elts=[], ctx=ast.Load()), ctx=ast.Load())


def _early(node: ast.FunctionDef) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the function with an answer that it gives before it has looked at anything."""
    nodes = [inner for statement in node.body for inner in ast.walk(statement)]
    if any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in nodes):
        answers = ["return"]
    else:
        returns = ast.unparse(node.returns) if node.returns else "None"
        answers = _ANSWERS.get(returns, ["return None"] if "None" in returns else [])
        if returns.startswith("tuple[") and "None" not in returns:
            answers = ["return ()"]
    for answer in answers:
        body = [*ast.parse(f"if True:\n    {answer}").body, *node.body]
        copied = {name: value for name, value in ast.iter_fields(node) if name != "body"}
        yield f"begin with {answer}", ast.FunctionDef(body=body, **copied)


_ANSWERS = {
    "bool": ["return True", "return False"],
    "int": ["return 0"],
    "str": ["return ''"],
    "Said": ["return ('passed', '')", "return ('not-applicable', '')"],
}


# Fresh modules


@cache
def _everything() -> None:
    """Import all that may be made afresh, before anybody asks what imports what."""
    for module, tests in TABLES.items():
        for name in (f"pawl.policy.{module}", *(f"policy.{test}" for test in tests)):
            importlib.import_module(name)


@cache
def _imports(module: str) -> frozenset[str]:
    """Return which modules a module imports sooner or later, of those that can be made afresh."""
    found = importlib.import_module(module)
    tree = ast.parse(inspect.getsource(found))
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    names = {str(node.module) for node in froms}
    names |= {f"{node.module}.{alias.name}" for node in froms for alias in node.names}
    return frozenset(name for name in names if name in sys.modules and _ours(name) and name != module)


def _ours(name: str) -> bool:
    return name.startswith(("pawl.policy.", "policy."))


@cache
def _order(module: str, tops: tuple[str, ...]) -> tuple[str, ...]:
    """Return what must be made afresh between ``module`` and ``tops``, what is imported before what imports it."""
    order: list[str] = []
    reaches: dict[str, bool] = {module: True}

    def visit(name: str) -> bool:
        if name not in reaches:
            reaches[name] = False
            inner = [visit(imported) for imported in sorted(_imports(name))]
            reaches[name] = any(inner)
            if reaches[name]:
                order.append(name)
        return reaches[name]

    for top in tops:
        visit(top)
    return (module, *order)


@cache
def _code(module: str) -> CodeType:
    source = inspect.getsource(importlib.import_module(module))
    return compile(source, str(importlib.import_module(module).__file__), "exec")


def _make(name: str, code: CodeType) -> ModuleType:
    made = ModuleType(name)
    made.__file__, made.__package__ = code.co_filename, name.rpartition(".")[0]
    sys.modules[name] = made
    exec(code, made.__dict__)  # noqa: S102 - our own module with one fault
    return made


@contextlib.contextmanager
def infected(mutant: Mutant, *tops: str) -> Iterator[None]:
    """Have the modules with the fault, as far as ``tops`` need them, in the place of the real ones."""
    name = f"pawl.policy.{mutant.module}"
    order = _order(name, tops)
    real = {module: sys.modules[module] for module in order}
    try:
        for module in order:
            _put_in_place(module, _make(module, mutant.code if module == name else _code(module)))
        yield
    finally:
        for module, made in real.items():
            _put_in_place(module, made)


def _put_in_place(name: str, module: ModuleType) -> None:
    package, _, last = name.rpartition(".")
    sys.modules[name] = module
    setattr(sys.modules[package], last, module)


# Who kills them


@cache
def situations() -> tuple[tuple[Mapping[str, Any], Mapping[str, Any], Answer], ...]:
    """Return each row with the fields of its situation and the answer of the table."""
    names = [item.name for item in fields(Situation) if item.init]
    found = []
    for row in ROWS:
        situation = situation_of(row)
        given = {name: getattr(situation, name) for name in names}
        found.append((row, given, (row["exit"], tuple(row.get("codes", ())))))
    return tuple(found)


def answer(evaluator: ModuleType, given: Mapping[str, Any]) -> Answer:
    """Return what an evaluator says."""
    verdict = evaluator.evaluate(sys.modules["pawl.policy.situation"].Situation(**given))
    return verdict.exit_code, tuple(sorted({finding.code for finding in verdict.failures}))


def killed_by(mutant: Mutant) -> str | None:
    """Return what tells a mutant from the evaluator, or ``None`` where nothing does. What never ends is told, too."""
    _everything()
    with _at_most(20):
        try:
            found = _killed_by_table(mutant)
        except Exception as error:  # noqa: BLE001 - a mutant can fail in any way, and then it was seen
            return f"{type(error).__name__} in the table"
        return found or _killed_by_tests(mutant)


def _killed_by_table(mutant: Mutant) -> str | None:
    with infected(mutant, "pawl.policy.evaluator"):
        evaluator: Any = sys.modules["pawl.policy.evaluator"]
        rows = situations()
        if mutant.module == "canaries":
            rows = rows[:12]  # they are asked anew for every row
        else:  # the table alone must see it
            evaluator.canary_findings = lambda *_: ()
        for row, given, wanted in rows:
            if answer(evaluator, given) != wanted:
                return str(row["id"])
    return None


def _killed_by_tests(mutant: Mutant) -> str | None:
    for module in TABLES[mutant.module]:
        test = "?"
        try:
            with infected(mutant, "pawl.policy.evaluator", f"policy.{module}"):
                for name, act in tests_of(sys.modules[f"policy.{module}"]):
                    test = name
                    act()
        except Exception as error:  # noqa: BLE001 - as above
            return f"{module}.{test} ({type(error).__name__})"
    return None


def tests_of(module: ModuleType) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the tests of a module that need no fixture, each with its parameters."""
    for name, test in list(vars(module).items()):
        if not name.startswith("test_") or not inspect.isfunction(test) or hasattr(test, "hypothesis"):
            continue
        sets: list[list[dict[str, Any]]] = [
            list(_parameters(mark.args[0], mark.args[1]))
            for mark in getattr(test, "pytestmark", ())
            if mark.name == "parametrize"
        ]
        if any(len(one) > MANY for one in sets):
            continue
        needed = set(inspect.signature(test).parameters)
        for chosen in itertools.product(*sets):
            values = {key: value for one in chosen for key, value in one.items()}
            if set(values) | {"monkeypatch"} >= needed:
                yield name, _call(test, values, patches="monkeypatch" in needed)


def _parameters(names: str | tuple[str, ...], rows: Any) -> Iterator[dict[str, Any]]:
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    for row in rows:
        values = getattr(row, "values", row) if type(row).__name__ == "ParameterSet" else row
        yield dict(zip(keys, (values,) if len(keys) == 1 and values is row else values, strict=True))


def _call(test: Callable[..., object], values: Mapping[str, Any], *, patches: bool) -> Callable[[], object]:
    def act() -> None:
        with pytest.MonkeyPatch.context() as monkeypatch:
            test(**values, **({"monkeypatch": monkeypatch} if patches else {}))

    return act


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    def stop(_number: int, _frame: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def main(words: list[str]) -> None:
    """Write every survivor with its diff."""
    for module in words or TABLES:
        count = left = 0
        for mutant in mutants(module):
            count += 1
            if killed_by(mutant) is None:
                left += 1
                sys.stdout.write(f"--- {mutant.id} (line {mutant.line})\n{mutant.diff()}\n")
        sys.stdout.write(f"=== {module}: {count} mutants, {left} survive\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
