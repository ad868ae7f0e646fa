"""From faults to problems: the reader of a file adds its path, the line and the column."""

from __future__ import annotations

from collections.abc import Iterable

from pawl.io.strict_yaml import Positions, locate
from pawl.io.text import Unreadable
from pawl.problems import Fault, Problem


def problems_of(path: str, data: bytes, faults: Iterable[Fault]) -> tuple[Problem, ...]:
    """Return the problems for ``faults`` of the document in ``data``.

    JSON is placed as well, since it is nearly always YAML too; what cannot be placed has its path and no line. A number
    is shown as it is written, so that ``1.10`` does not appear as 1.1.
    """
    found = tuple(faults)
    positions = _positions(data) if found else None
    return tuple(_problem(path, fault, positions) for fault in found)


def unreadable_problems(path: str, error: Unreadable) -> tuple[Problem, ...]:
    """Return the problems of a file that cannot be read."""
    return tuple(
        Problem(
            code=fault.code, message=fault.message, path=path, line=fault.line, column=fault.column, hint=fault.hint
        )
        for fault in error.faults
    )


def _positions(data: bytes) -> Positions | None:
    try:
        return locate(data)
    except Unreadable:
        return None


def _problem(path: str, fault: Fault, positions: Positions | None) -> Problem:
    line, column = positions.of(fault.at, on_key=fault.on_key) if positions else (None, None)
    message = fault.message
    written = positions.number_text(fault.at) if positions and not fault.on_key else None
    if written is not None and written not in message:
        message = f"{message} (written {written})"
    return Problem(
        code=fault.code,
        message=message,
        severity=fault.severity,
        path=path,
        line=line,
        column=column,
        hint=fault.hint,
    )
