"""``template: simple``: ``{{ name }}`` of a declared input is replaced, everything else is kept byte for byte.

One pass: a value that was put in is never looked at again. There is no escape; literal ``{{ x }}`` beside an input x
needs another name for the input.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pawl.errors import Faulty
from pawl.problems import Fault
from pawl.procedures.interpolation import as_text

_PLACEHOLDER = re.compile(r"\{\{[ \t]*([A-Za-z_][A-Za-z0-9_-]*)[ \t]*\}\}")


def used(text: str, declared: frozenset[str]) -> frozenset[str]:
    return frozenset(name for name in _PLACEHOLDER.findall(text) if name in declared)


def check(text: str, declared: frozenset[str], guaranteed: frozenset[str]) -> tuple[Fault, ...]:
    faults = []
    for name in sorted(used(text, declared) - guaranteed):
        message = (
            f"the optional input {name} is printed and has no default: a legal call without it could not be served"
        )
        hint = f"require {name}, or give it a default"
        faults.append(Fault(code="prompt-input-unguarded", message=message, hint=hint))
    return tuple(faults)


def warn(text: str, declared: frozenset[str]) -> tuple[Fault, ...]:
    unknown = dict.fromkeys(name for name in _PLACEHOLDER.findall(text) if name not in declared)
    return tuple(
        Fault(
            code="prompt-placeholder-unknown",
            message=f"{{{{ {name} }}}} is no declared input and stays as it is",
            severity="warning",
        )
        for name in unknown
    )


def render(text: str, declared: frozenset[str], values: Mapping[str, Any]) -> str:
    """Return the text with declared names replaced; ``Faulty`` where one that is printed has no value."""

    def put(found: re.Match[str]) -> str:
        name = found.group(1)
        if name not in declared:
            return found.group()
        if name not in values:
            raise Faulty((Fault(code="input-missing", message=f"{name} is printed and was not given", at=(name,)),))
        return as_text(values[name])

    return _PLACEHOLDER.sub(put, text)
