"""``template: jinja2``: a small part of Jinja2, allowed by its syntax tree, with bounds that the sandbox does not have.

- Allowed: text, output, if, for over inputs (loop.index, loop.first, loop.last), names, constants, lists, look-ups in
  mappings and lists, comparisons, and/or/not/in, ``~``, a few tests and filters. Everything else is refused when the
  file is read: calls, arithmetic, attributes of objects, set, include, import, macro, ...
- A value is put in as it is, or as canonical JSON if it is no text; nothing is escaped.
- Loop turns, the size of what a filter makes, the characters that filters and comparisons look at, and the size of
  the output are bounded while rendering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, meta, nodes, pass_context
from jinja2.runtime import Context, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from pawl.errors import Faulty
from pawl.problems import Fault
from pawl.procedures.interpolation import as_text
from pawl.procedures.template_guards import unguarded

MAX_TURNS = 100_000
MAX_SIZE = 4 * 1024 * 1024
"""Characters of the output, and of what any filter makes."""
MAX_WORK = 100_000_000
"""Characters and items that filters, joins and comparisons of one rendering look at and make."""
MAX_PARTS = 10_000
"""Nodes of one template."""
MAX_NUMBER = 1_000
MAX_JOINS = 64
_ITEM = 32
"""What looking at one item costs, in characters."""
_BUDGET = "pawl budget"
"""A variable that no template can name, because of its blank."""

_NODES: tuple[type[nodes.Node], ...] = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.If,
    nodes.For,
    nodes.Name,
    nodes.Const,
    nodes.List,
    nodes.Tuple,
    nodes.Getattr,
    nodes.Getitem,
    nodes.Compare,
    nodes.Operand,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.Concat,
    nodes.Filter,
    nodes.Test,
    nodes.Keyword,
)
_TESTS = frozenset({"defined", "none", "string", "number", "true", "false"})
_RESERVED = frozenset({"self", "super", "caller", "varargs", "kwargs"})
_LOOP = frozenset({"index", "first", "last"})


class _TooMuch(Exception):  # noqa: N818 - never leaves this module
    """A bound was exceeded."""


def _text(value: Any) -> str:
    if isinstance(value, Undefined):
        return str(value)  # raises, with the name
    return as_text(value)


def _replace(value: Any, old: str, new: str) -> str:
    text = _text(value)
    if len(text) + text.count(old) * max(0, len(new) - len(old)) > MAX_SIZE:
        raise _TooMuch(f"replace makes more than {MAX_SIZE} characters")
    return text.replace(old, new)


def _join(value: Iterable[Any], separator: str = "") -> str:
    texts = [_text(item) for item in value]
    if sum(map(len, texts)) + len(separator) * len(texts) > MAX_SIZE:
        raise _TooMuch(f"join makes more than {MAX_SIZE} characters")
    return separator.join(texts)


def _indent(value: Any, width: int = 4, first: bool = False, blank: bool = False) -> str:
    margin = " " * min(int(width), MAX_NUMBER)
    lines = _text(value).split("\n")
    if len(lines) * len(margin) > MAX_SIZE:
        raise _TooMuch(f"indent makes more than {MAX_SIZE} characters")
    rest = (margin + line if line or blank else line for line in lines[1:])
    return "\n".join(((margin if first else "") + lines[0], *rest))


def _unique(value: Sequence[Any]) -> list[Any]:
    seen: set[str] = set()
    found = []
    for item in value:
        key = _text(item) if not isinstance(item, str) else f"text {item}"
        if key not in seen:
            seen.add(key)
            found.append(item)
    return found


_BUILT_IN = ("default", "length", "round", "first", "last", "sort")
_FILTERS: Mapping[str, Callable[..., Any]] = {
    "lower": lambda value: _text(value).lower(),
    "upper": lambda value: _text(value).upper(),
    "trim": lambda value, characters=None: _text(value).strip(characters),
    "replace": _replace,
    "join": _join,
    "indent": _indent,
    "unique": _unique,
    "tojson": lambda value: as_text(value) if not isinstance(value, str) else _json_text(value),
}


def _json_text(value: str) -> str:
    from pawl.canonical import canonical_bytes  # noqa: PLC0415 - only where tojson meets a text

    return canonical_bytes(value).decode("utf-8")


@pass_context
def _counted(context: Context, value: Any) -> Iterator[Any]:
    """Count the turns of every loop of one rendering together."""
    budget: _Budget = context.parent[_BUDGET]
    if isinstance(value, Undefined):
        str(value)
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise _TooMuch("a for goes over lists only")
    for item in value:
        budget.turns -= 1
        if budget.turns < 0:
            raise _TooMuch(f"its loops turn more than {MAX_TURNS} times")
        yield item


@pass_context
def _charged(context: Context, value: Any) -> Any:
    """Count what an operation is about to look at, or has made; the value goes through unchanged."""
    budget: _Budget = context.parent[_BUDGET]
    waiting = [value]
    while waiting:
        here = waiting.pop()
        budget.work -= len(here) + _ITEM if isinstance(here, str) else _ITEM
        if budget.work < 0:
            raise _TooMuch(f"its filters and comparisons look at more than {MAX_WORK} characters")
        if isinstance(here, dict):
            waiting += [*here, *here.values()]
        elif isinstance(here, list | tuple):
            waiting += here
    return value


class _Budget:
    """What one rendering may still do."""

    __slots__ = ("turns", "work")

    def __init__(self) -> None:
        self.turns = MAX_TURNS
        self.work = MAX_WORK


class _Charging(NodeTransformer):
    """Puts ``_charged`` around what filters, joins and comparisons take, and around what they make."""

    def visit_Filter(self, node: nodes.Filter) -> nodes.Node:  # noqa: N802 - jinja2 finds it by this name
        self.generic_visit(node)
        node.node = _wrapped(node.node, "_charged") if node.node is not None else None
        return _wrapped(node, "_charged")

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        node.nodes = [_wrapped(part, "_text") for part in node.nodes]  # jinja2 would write True, not true
        return _wrapped(node, "_charged")

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        node.expr = _wrapped(node.expr, "_charged")
        for operand in node.ops:
            operand.expr = _wrapped(operand.expr, "_charged")
        return node


def _wrapped(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


class _Environment(ImmutableSandboxedEnvironment):
    """Look-ups see mappings and lists only: ``a.items`` is the key items, never the method."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(obj, Mapping) and isinstance(argument, str) and argument in obj:
            return obj[argument]
        if isinstance(obj, list | tuple) and isinstance(argument, int) and -len(obj) <= argument < len(obj):
            return obj[argument]
        if type(obj).__name__ == "LoopContext" and argument in _LOOP:
            return getattr(obj, argument)
        return self.undefined(obj=obj, name=argument)


def _environment() -> _Environment:
    environment = _Environment(
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_text,
        cache_size=0,
    )
    built_in = {name: environment.filters[name] for name in _BUILT_IN}
    environment.filters = {**built_in, **_FILTERS, "_counted": _counted, "_charged": _charged, "_text": _text}
    environment.tests = {name: environment.tests[name] for name in _TESTS}
    environment.globals = {}
    return environment


_ENVIRONMENT = _environment()


def check(text: str, declared: frozenset[str], guaranteed: frozenset[str]) -> tuple[Fault, ...]:
    """Return everything in a template that is not allowed, not declared, or printed without surely having a value."""
    if "\r" in text:
        return (Fault(code="template-forbidden", message="a carriage return: Jinja2 would change it", hint="use LF"),)
    try:
        tree = _ENVIRONMENT.parse(text)
        parts = list(islice(_walk(tree), MAX_PARTS + 1))
        faults = [fault for node in parts if (fault := _forbidden(node)) is not None]
        if len(parts) > MAX_PARTS:
            faults = [Fault(code="template-bounds", message=f"the template has more than {MAX_PARTS} parts")]
        if not faults:
            unknown = meta.find_undeclared_variables(tree) - declared
            faults += [
                Fault(code="template-undeclared", message=f"the template uses {name}, which is no declared input")
                for name in sorted(unknown)
            ]
        if not faults:
            faults += unguarded(tree, declared - guaranteed)
            _compiled(text)
    except TemplateSyntaxError as error:
        message = f"the template does not read in line {error.lineno}: {(error.message or '')[:200]}"
        return (Fault(code="template-syntax", message=message),)
    except (RecursionError, SyntaxError, MemoryError):
        message = "the template is nested more deeply than it can be compiled"
        return (Fault(code="template-syntax", message=message),)
    except (TemplateError, ValueError) as error:
        return (Fault(code="template-syntax", message=f"the template does not read: {str(error)[:200]}"),)
    return tuple(faults)


def used(text: str, declared: frozenset[str]) -> frozenset[str]:
    """Return the declared inputs that a template speaks of."""
    return frozenset(meta.find_undeclared_variables(_ENVIRONMENT.parse(text))) & declared


def render(text: str, declared: frozenset[str], values: Mapping[str, Any]) -> str:
    """Return the rendered text; ``Faulty`` where a value is missing or a bound is exceeded."""
    if faults := check_once(text, declared):
        raise Faulty(faults)
    try:
        chunks = []
        size = 0
        for chunk in _compiled(text).generate({**values, _BUDGET: _Budget()}):
            size += len(chunk)
            if size > MAX_SIZE:
                raise _TooMuch(f"it makes more than {MAX_SIZE} characters")  # noqa: TRY301 - one way out for all
            chunks.append(chunk)
        return "".join(chunks)
    except _TooMuch as error:
        raise Faulty((Fault(code="template-bounds", message=f"the template was stopped: {error}"),)) from None
    except (TemplateError, TypeError, ValueError, KeyError, RecursionError, OverflowError, MemoryError) as error:
        message = f"the template cannot be rendered with these inputs: {str(error)[:200]}"
        raise Faulty((Fault(code="template-value", message=message),)) from None


@lru_cache(maxsize=1_024)
def check_once(text: str, declared: frozenset[str]) -> tuple[Fault, ...]:
    """Return what forbids rendering a template at all: it is a program, so it is looked at before it runs."""
    return check(text, declared, declared)


@lru_cache(maxsize=1_024)
def _compiled(text: str) -> Template:
    tree = _ENVIRONMENT.parse(text)
    _Charging().visit(tree)
    for loop in tree.find_all(nodes.For):
        loop.iter = _wrapped(loop.iter, "_counted")
    return _ENVIRONMENT.from_string(tree)


def _walk(node: nodes.Node) -> Iterator[nodes.Node]:
    waiting = [node]
    while waiting:
        here = waiting.pop()
        yield here
        waiting.extend(here.iter_child_nodes())


def _forbidden(node: nodes.Node) -> Fault | None:
    why = None
    if not isinstance(node, _NODES):
        why = f"{type(node).__name__} is not allowed in a template"
    elif isinstance(node, nodes.Filter):
        why = _filter_fault(node)
    elif isinstance(node, nodes.Test) and node.name not in _TESTS:
        why = f"the test {node.name} is not allowed; there are {', '.join(sorted(_TESTS))}"
    elif isinstance(node, nodes.Const) and isinstance(node.value, int | float) and abs(node.value) > MAX_NUMBER:
        why = f"the number {str(node.value)[:20]} is larger than {MAX_NUMBER}"
    elif isinstance(node, nodes.Concat) and len(node.nodes) > MAX_JOINS:
        why = f"more than {MAX_JOINS} parts are joined with ~"
    elif isinstance(node, nodes.Getattr | nodes.Getitem):
        why = _lookup_fault(node)
    elif isinstance(node, nodes.Name) and node.name in _RESERVED:
        why = f"{node.name} is a name of Jinja2's own"
    elif isinstance(node, nodes.For) and node.recursive:
        why = "a recursive loop is not allowed"
    elif isinstance(node, nodes.For) and not isinstance(
        node.iter, nodes.Name | nodes.Getattr | nodes.Getitem | nodes.Filter
    ):
        why = "a for goes over an input or a part of one"
    if why is None:
        return None
    return Fault(code="template-forbidden", message=f"line {node.lineno}: {why}")


def _filter_fault(node: nodes.Filter) -> str | None:
    known = (*_BUILT_IN, *_FILTERS)
    if node.name not in known:
        return f"the filter {node.name} is not allowed; there are {', '.join(sorted(known))}"
    if node.node is None:
        return "a filter block is not allowed"
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        return "arguments are written out, without stars"
    if node.name == "sort" and any(keyword.key == "attribute" for keyword in node.kwargs):
        return "sort takes no attribute"
    return None


def _lookup_fault(node: nodes.Getattr | nodes.Getitem) -> str | None:
    name = node.attr if isinstance(node, nodes.Getattr) else getattr(node.arg, "value", None)
    if isinstance(name, str) and name.startswith("_"):
        return f"the name {name[:40]} is not looked up"
    if isinstance(node.node, nodes.Name) and node.node.name == "loop" and name not in _LOOP:
        return f"loop has {', '.join(sorted(_LOOP))} only"
    return None
