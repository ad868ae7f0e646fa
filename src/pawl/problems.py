"""Faults and problems: what is wrong, as values.

Deciding code returns *faults*: a stable code, one sentence, and the place inside the document. The edge that read the
document turns them into *problems*, which also know the file, the line and the column. Only errors change an exit code.
"""

from __future__ import annotations

from pawl.values import dataclass

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from typing import Any, Literal, TypeAlias

    Severity: TypeAlias = Literal["error", "warning", "note"]
else:
    Severity = str
Place: TypeAlias = tuple[str | int, ...]
"""A path into a document: mapping keys and sequence indexes from the root down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something wrong at a place in a document, before anybody knows which file it came from."""

    code: str
    message: str
    at: Place = ()
    on_key: bool = False
    """Whether the fault lies in the key at ``at`` and not in the value behind it."""
    severity: Severity = "error"
    hint: str | None = None

    def under(self, *prefix: str | int) -> Fault:
        """Return the same fault in a document that holds this one at ``prefix``."""
        return Fault(
            code=self.code,
            message=self.message,
            at=(*prefix, *self.at),
            on_key=self.on_key,
            severity=self.severity,
            hint=self.hint,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One row of ``problems[]`` in every command's output; ``line`` and ``column`` count from 1."""

    code: str
    message: str
    severity: Severity = "error"
    path: str | None = None
    line: int | None = None
    column: int | None = None
    rule: str | None = None
    hint: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form: what is absent is left out."""
        fields = ("code", "severity", "message", "path", "line", "column", "rule", "hint")
        return {name: value for name in fields if (value := getattr(self, name)) is not None}


def pointer(place: Place) -> str:
    """Return ``place`` as a JSON Pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in place)
