"""``template: simple``: ``{{ name }}`` of a declared input is replaced, everything else is kept byte for byte.

One pass: a value that was put in is never looked at again. There is no escape; literal ``{{ x }}`` beside an input x
needs another name for the input.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pawl.errors import Faulty
from pawl.problems import Fault
from pawl.procedures.words import as_text

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from typing import Any

MAX_RENDERED = 4 * 1024 * 1024
"""Characters of all messages together, and of what is put into one."""
_PLACEHOLDER = re.compile(r"\{\{([^{}\n]*)\}\}")
"""Any name that is declared counts, so whatever could be one is looked at; linear, since nothing in it overlaps."""
_SINGLE_NAME = r"[^\W\d][\w-]*"
_BLANKS = " \t"


def used(text: str, declared: frozenset[str]) -> frozenset[str]:
    return declared.intersection(_names(text))


def _names(text: str) -> list[str]:
    return [inside.strip(_BLANKS) for inside in _PLACEHOLDER.findall(text)]


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
    unknown = dict.fromkeys(name for name in _names(text) if name not in declared and re.fullmatch(_SINGLE_NAME, name))
    return tuple(_unknown(name, declared) for name in unknown)


def _unknown(name: str, declared: frozenset[str]) -> Fault:
    from difflib import get_close_matches  # noqa: PLC0415 - only where something may be wrong

    close = get_close_matches(name, sorted(declared), n=1)
    message = f"{{{{ {name[:120]} }}}} is no declared input and stays as it is"
    hint = f"did you mean {close[0]}?" if close else None
    return Fault(code="prompt-placeholder-unknown", message=message, severity="warning", hint=hint)


def render(text: str, declared: frozenset[str], values: Mapping[str, Any]) -> str:
    """Return the text with declared names replaced; ``Faulty`` where one that is printed has no value."""

    room = MAX_RENDERED

    def put(found: re.Match[str]) -> str:
        name = found.group(1).strip(_BLANKS)
        if name not in declared:
            return found.group()
        if name not in values:
            raise Faulty((Fault(code="input-missing", message=f"{name} is printed and was not given", at=(name,)),))
        value = as_text(values[name])
        nonlocal room
        room -= len(value)
        if room < 0:
            message = f"more than {MAX_RENDERED} characters would be put into one message"
            raise Faulty((Fault(code="prompt-too-large", message=message),))
        return value

    return _PLACEHOLDER.sub(put, text)
