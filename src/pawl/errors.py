"""One small tree of errors, by whose fault it is.

Each class has a stable default code; ``problems`` carries every fault found, not only the first. What exit code an
error becomes is decided in one table in ``cli/``.
"""

from __future__ import annotations

import re
from json import JSONDecodeError

from pawl.problems import Fault, Problem

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from typing import ClassVar

_MARKER = r"(<{7}|>{7}|={7}|\|{7})(\s|\Z)"


class PawlError(Exception):
    """Base of everything that pawl raises on purpose."""

    code: ClassVar[str] = "error"

    def __init__(
        self, message: str, *, code: str | None = None, hint: str | None = None, problems: tuple[Problem, ...] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.problems = problems or (Problem(code=code or self.code, message=message, hint=hint),)


class UsageError(PawlError):
    """The command or call itself is wrong."""

    code = "usage"


class InvalidError(PawlError):
    """A file or value that came from outside is not what it must be."""

    code = "invalid"


class NotFoundError(PawlError):
    """Something that was named does not exist."""

    code = "not-found"


class RefusedError(PawlError):
    """Policy, channel order or an unsatisfied closure says no."""

    code = "refused"


class EvidenceError(PawlError):
    """Conformance evidence is missing, stale, failing or inconclusive."""

    code = "evidence-missing"


class ConflictError(PawlError):
    """Somebody else moved the state; nothing was written."""

    code = "conflict"


class IntegrityError(PawlError):
    """Stored bytes are not those that were recorded."""

    code = "integrity"


class WithheldError(PawlError):
    """Frozen, held, halted, rejected or withdrawn: it exists and is not given out."""

    code = "withheld"


class ApprovalError(PawlError):
    """An approval is needed first."""

    code = "approval-needed"


def why_unreadable(error: Exception) -> str:
    """Return in words why stored data is not what was stored; Python's own words for it say little to a reader."""
    match error:
        case KeyError():
            return f"it lacks {error}"
        case RecursionError():
            return "it is nested deeper than anything that was stored"
        case TypeError() | AttributeError():
            return "it has another shape than what was stored"
        case JSONDecodeError():
            return _why_no_json(error)
        case _:
            return "it is no UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)


def _why_no_json(error: JSONDecodeError) -> str:
    """Say where; a merge that was not finished is what most often leaves such a file behind."""
    marked = next((at for at, line in enumerate(error.doc.split("\n"), 1) if re.match(_MARKER, line)), None)
    if marked is not None:
        return f"line {marked} is a conflict marker of Git's"
    return f"it is no JSON: line {error.lineno}, column {error.colno}"


class Faulty(Exception):  # noqa: N818 - it never leaves the library: edges turn it into InvalidError with file and line
    """Raised by pure readers: the document has these faults. Edges add the file and the lines."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("; ".join(fault.message for fault in faults))
        self.faults = faults
