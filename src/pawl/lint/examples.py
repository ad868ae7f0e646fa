"""Examples for ``--explain``: why each code of lint matters, what has it, and what has not.

Each example is the spec of a procedure, or its head where the code is about that, and holds what the code needs to see.
Those of a closure are specs by name. Tests read all of them and look for the code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias, cast

from pawl.lint.examples_prompts import PROMPTS
from pawl.lint.examples_schemas import SCHEMAS
from pawl.lint.examples_tools import TOOLS

About: TypeAlias = Literal["prompt", "tool", "workflow", "closure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Why a code matters, in sentences, and two texts in YAML."""

    about: About
    why: str
    bad: str
    good: str


def _read(table: str) -> Mapping[str, Example]:
    found = {}
    for block in table.strip("\n").split("\n=== "):
        head, _, rest = block.removeprefix("=== ").partition("\n")
        code, about = head.split()
        why, *texts = rest.split("\n---\n")
        bad, good = (text.strip("\n") + "\n" for text in texts)
        found[code] = Example(about=cast(About, about), why=" ".join(why.split("\n")), bad=bad, good=good)
    return found


EXAMPLES: Mapping[str, Example] = MappingProxyType({**_read(SCHEMAS), **_read(TOOLS), **_read(PROMPTS)})
"""Code -> example."""
