"""``template: jinja2``: a small part of Jinja2, allowed by its syntax tree, with bounds that the sandbox does not have.

- Allowed: text, output, if, for over inputs (loop.index, loop.first, loop.last), names, constants, lists, look-ups in
  mappings and lists, comparisons, and/or/not/in, ``~``, a few tests and filters. Everything else is refused when the
  file is read: calls, arithmetic, attributes of objects, set, include, import, macro, ...
- A value is put in as it is, or as canonical JSON if it is no text; nothing is escaped.
- Work and output are bounded while rendering: see ``template_filters``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from pawl.errors import Faulty
from pawl.problems import Fault
from pawl.procedures.template_filters import (
    BUDGET,
    FILTERS,
    MAX_NUMBER,
    MAX_SIZE,
    Budget,
    TooMuch,
    charged,
    counted,
    text_of,
)
from pawl.procedures.template_guards import unguarded

MAX_PARTS = 10_000
"""Nodes of one template."""
MAX_JOINS = 64

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
_WORDS: Mapping[type[nodes.Node], str] = {
    nodes.Call: "a call",
    nodes.BinExpr: "arithmetic",
    nodes.UnaryExpr: "arithmetic",
    nodes.CondExpr: "an inline if",
    nodes.Dict: "a mapping",
    nodes.Slice: "a slice",
    nodes.FilterBlock: "a filter block",
    nodes.ScopedEvalContextModifier: "autoescape",
}
"""What writers call it, where Jinja2's name of it is another."""
_STOPPED = (
    *(TemplateError, TypeError, ValueError, ArithmeticError, AttributeError, LookupError),
    *(RecursionError, MemoryError),
)
"""What a filter or Jinja2 raises on values that do not fit it."""


class _Charging(NodeTransformer):
    """Lets outputs, filters, joins and comparisons pay for what they look at and make, and loops for every turn."""

    def visit_Output(self, node: nodes.Output) -> nodes.Node:  # noqa: N802 - jinja2 finds it by this name
        self.generic_visit(node)
        node.nodes = [
            part if isinstance(part, nodes.TemplateData) else _wrapped(part, "_charged") for part in node.nodes
        ]
        return node

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802
        parts = sum(1 for inner in (*node.body, *filter(None, [node.test])) for _ in _walk(inner))
        self.generic_visit(node)
        node.iter = _wrapped(node.iter, "_counted", nodes.Const(parts))
        return node

    def visit_Filter(self, node: nodes.Filter) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        node.node = _wrapped(node.node, "_charged") if node.node is not None else None
        return _wrapped(node, "_charged")

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        # jinja2 would write True, not true
        node.nodes = [_wrapped(_wrapped(_wrapped(part, "_charged"), "_text"), "_charged") for part in node.nodes]
        return _wrapped(node, "_charged")

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        node.expr = _wrapped(node.expr, "_charged")
        for operand in node.ops:
            operand.expr = _wrapped(operand.expr, "_charged")
        return node


def _wrapped(node: nodes.Node, name: str, *arguments: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, [*arguments], [], None, None, lineno=node.lineno)


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
        finalize=text_of,
        cache_size=0,
    )
    filters = {name: known.function or environment.filters[name] for name, known in FILTERS.items()}
    environment.filters = {**filters, "_counted": counted, "_charged": charged, "_text": text_of}
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
        faults = list(_forbidden(parts))
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
        for chunk in _compiled(text).generate({**values, BUDGET: Budget()}):
            size += len(chunk)
            if size > MAX_SIZE:
                raise TooMuch(f"it makes more than {MAX_SIZE} characters")  # noqa: TRY301 - one way out for all
            chunks.append(chunk)
        return "".join(chunks)
    except TooMuch as error:
        raise Faulty((Fault(code="template-bounds", message=f"the template was stopped: {error}"),)) from None
    except _STOPPED as error:
        message = f"the template cannot be rendered with these inputs: {str(error)[:200]}"
        raise Faulty((Fault(code="template-value", message=message),)) from None


@lru_cache(maxsize=1_024)
def check_once(text: str, declared: frozenset[str]) -> tuple[Fault, ...]:
    """Return what forbids rendering a template at all: it is a program, so it is looked at before it runs."""
    return check(text, declared, declared)


@lru_cache(maxsize=1_024)
def _compiled(text: str) -> Template:
    return _ENVIRONMENT.from_string(_Charging().visit(_ENVIRONMENT.parse(text)))


def _walk(node: nodes.Node) -> Iterator[nodes.Node]:
    """Yield a node and all below it, in the order of the text."""
    waiting = [node]
    while waiting:
        here = waiting.pop()
        yield here
        waiting.extend(reversed(list(here.iter_child_nodes())))


def _forbidden(parts: Sequence[nodes.Node]) -> Iterator[Fault]:
    looked_into = {id(node.node) for node in parts if isinstance(node, nodes.Getattr | nodes.Getitem)}
    line = 1
    for node in parts:
        line = node.lineno or line
        if isinstance(node, nodes.Name) and node.name == "loop" and id(node) not in looked_into:
            why: str | None = f"loop alone is no value; it has {', '.join(sorted(_LOOP))}"
        else:
            why = _node_fault(node) or _for_fault(node)
        if why is not None:
            yield Fault(code="template-forbidden", message=f"line {line}: {why}")


def _node_fault(node: nodes.Node) -> str | None:
    why = None
    if not isinstance(node, _NODES):
        word = next((word for kind, word in _WORDS.items() if isinstance(node, kind)), type(node).__name__.lower())
        why = f"{word} is not allowed in a template"
    elif isinstance(node, nodes.Filter):
        why = _filter_fault(node)
    elif isinstance(node, nodes.Test) and node.name not in _TESTS:
        why = f"the test {node.name} is not allowed; there are {', '.join(sorted(_TESTS))}"
    elif isinstance(node, nodes.Test) and (node.args or node.kwargs or node.dyn_args or node.dyn_kwargs):
        why = f"the test {node.name} takes nothing"
    elif isinstance(node, nodes.Const) and isinstance(node.value, int | float) and abs(node.value) > MAX_NUMBER:
        why = f"the number {str(node.value)[:20]} is larger than {MAX_NUMBER}"
    elif isinstance(node, nodes.Concat) and len(node.nodes) > MAX_JOINS:
        why = f"more than {MAX_JOINS} parts are joined with ~"
    elif isinstance(node, nodes.Getattr | nodes.Getitem):
        why = _lookup_fault(node)
    elif isinstance(node, nodes.Name) and node.name in _RESERVED:
        why = f"{node.name} is a name of Jinja2's own"
    return why


def _for_fault(node: nodes.Node) -> str | None:
    if not isinstance(node, nodes.For):
        return None
    if node.recursive:
        return "a recursive loop is not allowed"
    if not isinstance(node.iter, nodes.Name | nodes.Getattr | nodes.Getitem | nodes.Filter):
        return "a for goes over an input or a part of one"
    return None


def _filter_fault(node: nodes.Filter) -> str | None:
    known = FILTERS.get(node.name)
    if known is None:
        return f"the filter {node.name} is not allowed; there are {', '.join(FILTERS)}"
    if node.node is None:
        return "a filter block is not allowed"
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        return "arguments are written out, without stars"
    named = [keyword.key for keyword in node.kwargs]
    if not set(named) <= set(known.takes[len(node.args) :]) or len(node.args) > len(known.takes):
        return f"the filter {node.name} takes {', '.join(known.takes) or 'nothing'}"
    if len(node.args) + len(named) < known.needs:
        return f"the filter {node.name} needs {', '.join(known.takes)}"
    return None


def _lookup_fault(node: nodes.Getattr | nodes.Getitem) -> str | None:
    name = node.attr if isinstance(node, nodes.Getattr) else getattr(node.arg, "value", None)
    if isinstance(name, str) and name.startswith("_"):
        return f"the name {name[:40]} is not looked up"
    if isinstance(node.node, nodes.Name) and node.node.name == "loop" and name not in _LOOP:
        return f"loop has {', '.join(sorted(_LOOP))} only"
    return None
