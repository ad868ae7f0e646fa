"""Templates of messages: a typed dictionary from the kind of template to what it can do.

Roles and the number of messages come from the file; a value never becomes more than text inside one message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pawl.problems import Fault, Place
from pawl.procedures import template_simple
from pawl.values import dataclass

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """One kind of template. ``declared`` are the names of the inputs, ``guaranteed`` those that always have a value."""

    check: Callable[[str, frozenset[str], frozenset[str]], tuple[Fault, ...]]
    warn: Callable[[str, frozenset[str]], tuple[Fault, ...]]
    used: Callable[[str, frozenset[str]], frozenset[str]]
    render: Callable[[str, frozenset[str], Mapping[str, Any]], str]


def _check_jinja(text: str, declared: frozenset[str], guaranteed: frozenset[str]) -> tuple[Fault, ...]:
    from pawl.procedures.template_jinja import check  # noqa: PLC0415 - jinja2 only where a template is one

    return check(text, declared, guaranteed)


def _used_jinja(text: str, declared: frozenset[str]) -> frozenset[str]:
    from pawl.procedures.template_jinja import used  # noqa: PLC0415 - as above

    return used(text, declared)


def _render_jinja(text: str, declared: frozenset[str], values: Mapping[str, Any]) -> str:
    from pawl.procedures.template_jinja import render  # noqa: PLC0415 - as above

    return render(text, declared, values)


TEMPLATES: Mapping[str, Template] = {
    "simple": Template(
        check=template_simple.check,
        warn=template_simple.warn,
        used=template_simple.used,
        render=template_simple.render,
    ),
    "jinja2": Template(check=_check_jinja, warn=lambda _text, _declared: (), used=_used_jinja, render=_render_jinja),
    "none": Template(
        check=lambda _text, _declared, _guaranteed: (),
        warn=lambda _text, _declared: (),
        used=lambda _text, _declared: frozenset(),
        render=lambda text, _declared, _values: text,
    ),
}


def check_template(
    text: str, *, kind: str, declared: frozenset[str], guaranteed: frozenset[str], at: Place
) -> tuple[Fault, ...]:
    """Return what is wrong with a template."""
    return tuple(fault.under(*at) for fault in TEMPLATES[kind].check(text, declared, guaranteed))


def template_warnings(text: str, *, kind: str, declared: frozenset[str], at: Place) -> tuple[Fault, ...]:
    """Return what is allowed and probably not meant."""
    return tuple(fault.under(*at) for fault in TEMPLATES[kind].warn(text, declared))


def used_inputs(text: str, kind: str, declared: frozenset[str]) -> frozenset[str]:
    """Return the inputs that a template speaks of."""
    return TEMPLATES[kind].used(text, declared)
