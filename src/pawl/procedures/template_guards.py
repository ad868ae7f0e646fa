"""Which optional inputs a Jinja2 template uses where they may have no value: a legal call would then fail."""

from __future__ import annotations

from collections.abc import Iterator

from jinja2 import nodes

from pawl.problems import Fault


def unguarded(tree: nodes.Node, optional: frozenset[str]) -> Iterator[Fault]:
    """Yield a fault for every optional input that is used outside of what makes sure that it has a value."""
    found = dict.fromkeys(_prints(tree, optional))
    for name in found:
        message = f"the optional input {name} is used where it may have no value"
        hint = f"put it inside {{% if {name} is defined %}}, write {name}|default(...), or give it a default"
        yield Fault(code="prompt-input-unguarded", message=message, hint=hint)


def _prints(node: nodes.Node, optional: frozenset[str]) -> Iterator[str]:
    if isinstance(node, nodes.Name):
        if node.ctx == "load" and node.name in optional:
            yield node.name
        return
    if isinstance(node, nodes.Test) and node.name == "defined":
        return
    if isinstance(node, nodes.Filter) and node.name == "default" and isinstance(node.node, nodes.Name):
        for argument in (*node.args, *node.kwargs):
            yield from _prints(argument, optional)
        return
    if isinstance(node, nodes.If):
        yield from _prints(node.test, optional)
        for child in node.body:
            yield from _prints(child, optional - _defined(node.test))
        for child in (*node.elif_, *node.else_):
            yield from _prints(child, optional)
        return
    if isinstance(node, nodes.And):
        yield from _prints(node.left, optional)
        yield from _prints(node.right, optional - _defined(node.left))
        return
    for child in node.iter_child_nodes():
        yield from _prints(child, optional)


def _defined(test: nodes.Node) -> frozenset[str]:
    """Return the names that surely have a value where ``test`` holds."""
    if isinstance(test, nodes.Test) and test.name == "defined" and isinstance(test.node, nodes.Name):
        return frozenset({test.node.name})
    if isinstance(test, nodes.And):
        return _defined(test.left) | _defined(test.right)
    return frozenset()
