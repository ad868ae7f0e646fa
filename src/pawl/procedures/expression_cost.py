"""What an expression can cost at most, told before it is evaluated from its tree and the size of its variables.

The library bounds the turns of loops and nothing else: within them, comparisons of long lists, concatenations of texts
and lists that are built item by item multiply to minutes and gigabytes. A bound goes down the tree with how often an
expression is evaluated, and up with how large its value can be.

The items of a list are together as large as the list. So inside of a loop an item counts with its share (``work``),
as long as what is done to it grows with its size and no faster; ``peak`` bounds a single item.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pawl.procedures.expression_tree import Call, Const, Literal, Loop, Name, Select, Tree
from pawl.procedures.plain import Measure

MAX_TURNS = 10_000
"""The turns that the library lets all loops of one evaluation make together."""
MAX_WORK = 50_000_000
"""In comparisons of two values: about a second and a half where every bound is met."""
MAX_BYTES = 128 * 1024 * 1024
"""What may be allocated on the way."""

_TEXT_PER_WORK = 64
"""Characters that are compared or copied in the time in which two values are."""
_SOUGHT_PER_WORK = 32
"""Characters of a sought text that are compared at every place of the searched one in the same time."""
_ITEM_BYTES = 16
_REGEX_WORK = 60
"""A pattern is compiled anew at every call; this is for each of its characters and repetitions."""
_PATTERN_WORK = 0.25
"""For each character searched and each character of the pattern, where the matcher keeps track of every position."""
_PLAIN_PATTERN_WORK = 0.125
"""For each character searched where the pattern is letters and alternatives, which takes one step."""

_PLAIN_PATTERN = re.compile(r"(?:\(\?i\))?[^\\.\[{*+?]*\Z")
_REPEAT = re.compile(r"\{(\d+)(?:,(\d*))?\}")
_COMPARISONS = frozenset({"_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"})
_SEARCHES = frozenset({"contains", "startsWith", "endsWith"})
_STEPS = frozenset({"_&&_", "_||_", "!_", "@not_strictly_false", "_-_", "_*_", "_/_", "_%_", "-_"})
_SCANS = frozenset({"size", "@in", "matches", "int", "uint", "double", "bool", "type", "timestamp", "duration"})
_SIMPLE = _STEPS | _COMPARISONS | _SEARCHES | _SCANS
_BRANCHES = frozenset({"_?_:_", "_[_]"})


@dataclass(frozen=True, slots=True)
class _Size:
    work: float
    peak: float
    count: int = 0
    text: int = 0

    def __add__(self, other: _Size) -> _Size:
        return _Size(
            self.work + other.work, self.peak + other.peak, max(self.count, other.count), max(self.text, other.text)
        )


_SMALL = _Size(1, 1)


@dataclass(slots=True)
class Cost:
    """What an evaluation comes to at most."""

    work: float = 0
    bytes: float = 0

    @property
    def too_high(self) -> bool:
        return self.work > MAX_WORK or self.bytes > MAX_BYTES


def cost_of(tree: Tree, sizes: Mapping[str, Measure], *, whole_result: bool) -> Cost:
    """Return the bound. ``sizes``: of each variable; ``whole_result``: whether the result is read, and not its type."""
    cost = Cost()
    scope = {name: _of(measure) for name, measure in sizes.items()}
    result = _visit(tree, scope, 1.0, cost)
    if whole_result:
        cost.work += result.work
        cost.bytes += result.work * _TEXT_PER_WORK
    return cost


def regex_size(pattern: str) -> int:
    """Return the size of a pattern with its repetitions written out, as far as the library takes them."""
    size = len(pattern)
    for low, high in _REPEAT.findall(pattern):
        size += max(int(low[:9]), int(high[:9] or 0))
    return size


def _of(measure: Measure) -> _Size:
    work = 1 + measure.parts + measure.text / _TEXT_PER_WORK
    return _Size(work, work, measure.widest, measure.longest)


def _visit(tree: Tree, scope: Mapping[str, _Size], times: float, cost: Cost) -> _Size:
    match tree:
        case Const(size=size):
            work = 1 + size / _TEXT_PER_WORK
            return _Size(work, work, 0, size)
        case Name(name=name):
            cost.work += times
            return scope.get(name, _SMALL)
        case Select(operand=operand, test=test):
            cost.work += times
            found = _visit(operand, scope, times, cost)
            return _SMALL if test else found
        case Literal(items=items):
            whole = _Size(1, 1, len(items))
            for item in items:
                whole += _visit(item, scope, times, cost)
            _charge(cost, times, _Size(len(items) + 1, len(items) + 1), allocates=len(items) * _ITEM_BYTES)
            return whole
        case Call():
            return _call(tree, [_visit(item, scope, times, cost) for item in tree.arguments], times, cost)
        case Loop():
            return _loop(tree, scope, times, cost)


def _loop(loop: Loop, scope: Mapping[str, _Size], times: float, cost: Cost) -> _Size:
    over = _visit(loop.over, scope, times, cost)
    turns = max(min(MAX_TURNS, over.count), 1)
    item = _Size(over.work / turns, over.peak, over.count, over.text)
    inner = {**scope, **dict.fromkeys(loop.variables, item), loop.accumulator: _Size(0, 0)}
    _visit(loop.condition, inner, times * turns, cost)
    step = _visit(loop.step, inner, times * turns, cost)
    if not loop.builds_list:
        return _SMALL
    # What was built so far is copied at every turn.
    cost.bytes += min(times * turns, MAX_TURNS) * turns * _ITEM_BYTES
    return _Size(step.work * turns, step.peak * turns, max(turns, step.count), step.text)


def _call(call: Call, arguments: list[_Size], times: float, cost: Cost) -> _Size:
    name = call.function
    every = sum(arguments, _Size(0, 0))
    if name in _BRANCHES:
        _charge(cost, times, _SMALL)
        return every
    if name in _SIMPLE:
        _charge(cost, times, _SMALL + _work(call, arguments, every))
        return _SMALL
    # Concatenation, conversion and whatever else makes a new value from its arguments.
    count, text = sum(size.count for size in arguments), sum(size.text for size in arguments)
    _charge(cost, times, _SMALL + every, allocates=text + count * _ITEM_BYTES)
    return _Size(every.work + 1, every.peak + 1, count, text)


def _work(call: Call, arguments: list[_Size], every: _Size) -> _Size:
    """Return what a function does that gives a truth value or a number."""
    name = call.function
    if name in _STEPS:
        return _SMALL
    if name in _COMPARISONS:
        return _Size(min(size.work for size in arguments), min(size.peak for size in arguments))
    if name in _SEARCHES and len(arguments) == 2:
        searched, sought = arguments
        work = searched.text / _TEXT_PER_WORK * (1 + sought.text / _SOUGHT_PER_WORK)
        return _Size(work, work)
    if name == "matches":
        return _match(arguments[0], call.arguments[-1])
    return every


def _match(searched: _Size, pattern: Tree) -> _Size:
    if not isinstance(pattern, Const) or pattern.text is None:
        return _Size(MAX_WORK + 1, MAX_WORK + 1)
    size = regex_size(pattern.text)
    each = _TEXT_PER_WORK * (_PLAIN_PATTERN_WORK if _PLAIN_PATTERN.match(pattern.text) else size * _PATTERN_WORK)
    least = min(searched.peak, 1 + searched.text / _TEXT_PER_WORK)
    compiling = _REGEX_WORK * size
    return _Size(min(searched.work, least) * each + compiling, least * each + compiling)


def _charge(cost: Cost, times: float, size: _Size, *, allocates: float = 0) -> None:
    turns = min(times, MAX_TURNS)
    work = min(times * size.work, turns * size.peak)
    cost.work += work
    cost.bytes += min(turns * allocates, work * _TEXT_PER_WORK)
