"""The forms of output: a typed dictionary from a form's name to its renderer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pawl.cli.output import Lines, as_json, as_text
from pawl.operations.session import Report

Render = Callable[[str, Report, Lines], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One form; ``everywhere``: every command has it, not only check and test."""

    render: Render
    everywhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One form that was asked for, and the file that it goes to; standard output without one."""

    kind: str
    file: str | None


def _text(_command: str, report: Report, lines: Lines) -> str:
    return as_text(report, lines)


def _json(command: str, report: Report, _lines: Lines) -> str:
    return as_json(command, report)


def _github(_command: str, report: Report, _lines: Lines) -> str:
    from pawl.cli.reports import github  # noqa: PLC0415 - only CI asks for it

    return github(report)


def _junit(command: str, report: Report, _lines: Lines) -> str:
    from pawl.cli.reports import junit  # noqa: PLC0415 - as above

    return junit(command, report)


def _sarif(command: str, report: Report, _lines: Lines) -> str:
    from pawl.cli.reports import sarif  # noqa: PLC0415 - as above

    return sarif(command, report)


def _markdown(command: str, report: Report, _lines: Lines) -> str:
    from pawl.cli.reports import markdown  # noqa: PLC0415 - as above

    return markdown(command, report)


FORMATS: Mapping[str, Form] = {
    "text": Form(render=_text, everywhere=True),
    "json": Form(render=_json, everywhere=True),
    "github": Form(render=_github),
    "junit": Form(render=_junit),
    "sarif": Form(render=_sarif),
    "markdown": Form(render=_markdown),
}


def parse_output(text: str, *, several: bool) -> Output:
    """Return what ``-o TEXT`` asks for, or raise ``ValueError``."""
    kind, equals, file = text.partition("=")
    known = [name for name, form in FORMATS.items() if several or form.everywhere]
    if kind not in known:
        raise ValueError(f"{kind!r} is no form of output here; there are {', '.join(known)}")
    if equals and not (several and file):
        raise ValueError(
            f"-o {text}: " + ("a file name is missing" if several else "a file goes with check and test only")
        )
    return Output(kind=kind, file=file or None)
