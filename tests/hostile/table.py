"""What a target is: where hostile bytes go in, what may come out, and how much of anything it may take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from pawl.errors import Faulty, PawlError
from pawl.io.text import Unreadable
from pawl.procedures.expressions import ExpressionError

PROMISED: tuple[type[Exception], ...] = (PawlError, Faulty, Unreadable)
"""The errors by which pawl refuses."""
DECIDED: tuple[type[Exception], ...] = (*PROMISED, ExpressionError, ValueError)
"""Those by which its pure functions do: their docstrings promise ``ValueError`` with a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One reader. ``call`` returns whether it took the input, or raises one of ``promised``; all else is a finding."""

    name: str
    make: Callable[[Random], bytes]
    call: Callable[[bytes], bool]
    promised: tuple[type[Exception], ...] = PROMISED
    share: float = 1.0
    """How many of all inputs it gets, relative to the others: cheap ones carry most."""
    seconds: float = 5.0
    """Of the processor, for one input."""
    megabytes: float = 300.0
    """By which one input may raise the most memory that was ever used."""
    free: tuple[str, ...] = ()
    """Folders that it may write in, and audit events that it may cause."""


def input_of(target: Target, seed: int, index: int) -> bytes:
    """Return one input again: it is decided by the target's name, the seed and its number."""
    return target.make(Random(f"{seed}:{target.name}:{index}"))  # noqa: S311 - nothing secret
