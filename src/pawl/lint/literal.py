"""What of a message is the same for every input: the text that is always there, and how it ends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pawl.procedures.template import TEMPLATES


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """The parts of a template that no input decides."""

    always: str
    """Text that is in every rendering."""
    blank: bool
    """Whether every rendering is empty or of blanks only, unless an input brings more."""
    ends_blank: bool
    """Whether every rendering ends in white space."""


def literal_of(content: str, *, kind: str, declared: frozenset[str]) -> Literal:
    """Return what is fixed in a template that was read without a fault."""
    if kind == "jinja2":
        return _of_jinja(content)
    always = TEMPLATES[kind].render(content, declared, dict.fromkeys(declared, ""))
    shown = TEMPLATES[kind].render(content, declared, dict.fromkeys(declared, "x"))
    return Literal(always=always, blank=not shown.strip(), ends_blank=shown[-1:].isspace())


def _of_jinja(content: str) -> Literal:
    from jinja2 import nodes  # noqa: PLC0415 - only where a template is one

    body = _parser().parse(content).body
    parts = [part for node in body for part in (node.nodes if isinstance(node, nodes.Output) else [node])]
    texts = [part.data for part in parts if isinstance(part, nodes.TemplateData)]
    last = parts[-1] if parts else None
    return Literal(
        always="".join(texts),
        blank=all(_is_text(part) for part in parts) and not "".join(texts).strip(),
        ends_blank=isinstance(last, nodes.TemplateData) and last.data[-1:].isspace(),
    )


def _is_text(part: Any) -> bool:
    from jinja2 import nodes  # noqa: PLC0415 - as above

    return isinstance(part, nodes.TemplateData)


@lru_cache(maxsize=1)
def _parser() -> Any:
    """Only for reading the syntax, with the same white space as in rendering; nothing is rendered by it."""
    from jinja2 import Environment  # noqa: PLC0415 - as above

    return Environment(keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True)  # noqa: S701


def blank_lines_of(content: str) -> Iterable[int]:
    """Yield the numbers, from 1, of lines that end in blanks."""
    for number, line in enumerate(content.split("\n"), start=1):
        if line != line.rstrip(" \t"):
            yield number
