"""Showing a report: one JSON object, or lines for a person. Renderers decide nothing."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from pawl.operations.session import Report, Status
    from pawl.problems import Problem

Lines: TypeAlias = "Callable[[Mapping[str, Any]], Iterable[str]]"
_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}
_SIGNS = {
    "done": ("green", "done"),
    "passed": ("green", "passed"),
    "unchanged": ("cyan", "unchanged"),
    "would": ("yellow", "dry run: would be allowed, nothing was written"),
    "would-refuse": ("red", "dry run: would be refused, nothing was written"),
    "refused": ("red", "refused"),
    "failed": ("red", "failed"),
}


def as_json(command: str, report: Report) -> str:
    """Return the machine form of a report: exactly one JSON object."""
    return json_form(command, report.status, report.data, report.problems, report.exit_code)


def json_form(
    command: str, status: Status, data: Mapping[str, Any], problems: Iterable[Problem] = (), exit_code: int = 0
) -> str:
    """Return the machine form of what a report holds."""
    fields: dict[str, Any] = {
        "command": command,
        "status": status,
        "exit_code": exit_code,
        "problems": [problem.as_dict() for problem in problems],
    }
    return json.dumps({**data, **fields}, ensure_ascii=False, indent=2, default=_plain)


def as_text(report: Report, lines: Lines) -> str:
    """Return a report for a person: what it is about, its problems, and how it ended."""
    rows = (*lines(report.data), *(problem_text(problem) for problem in report.problems))
    return text_form(report.status, rows, report.exit_code)


def text_form(status: Status, rows: Iterable[str], exit_code: int = 0) -> str:
    """Return rows for a person, and how it ended."""
    colour, sign = _SIGNS[status]
    code = f" (exit {exit_code})" if exit_code else ""
    return "\n".join((*rows, paint(sign + code, colour, bold=True)))


def problem_text(problem: Problem) -> str:
    """Return a problem on one line, with its hint on the next."""
    place = ":".join(str(part) for part in (problem.path, problem.line, problem.column) if part is not None)
    head = paint(problem.severity, _COLOURS[problem.severity], bold=True)
    where = f"{place}: " if place else ""
    text = f"{clean(where)}{head}: {clean(problem.message)} [{problem.code}]"
    return f"{text}\n    {paint('next:', 'cyan')} {clean(problem.hint)}" if problem.hint else text


def clean(text: str) -> str:
    """Return foreign text for a terminal: control characters are shown, not obeyed."""
    return "".join(char if char.isprintable() or char == " " else repr(char)[1:-1] for char in text)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterable[str]:
    """Yield aligned rows under a head; nothing where there are no rows."""
    texts = [["" if cell is None else clean(str(cell)) for cell in row] for row in rows]
    if not texts:
        return
    widths = [max(len(row[index]) for row in [list(head), *texts]) for index in range(len(head))]
    yield paint(_aligned([word.upper() for word in head], widths), None, bold=True)
    for row in texts:
        yield _aligned(row, widths)


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def paint(text: str, colour: str | None, *, bold: bool = False) -> str:
    """Return text in colour where standard output is a terminal and nobody asked for none (NO_COLOR)."""
    if sys.stdout is None or not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    from click import style  # noqa: PLC0415 - only where somebody looks at colours

    return style(text, fg=colour, bold=bold)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


def write_answer(text: str) -> None:
    """Write to standard output. Where nobody can read it, what was done is done, and the exit code says so."""
    try:
        if sys.stdout is not None:
            sys.stdout.write(text + "\n")
            sys.stdout.flush()
    except (OSError, ValueError) as error:
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or the interpreter tries again when it ends, and fails
            sys.stderr.write(f"pawl: the answer could not be written ({error}); the exit code is the command's\n")
