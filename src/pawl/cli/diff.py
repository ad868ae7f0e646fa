"""pawl diff."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import click

from pawl.cli.command import NAME_OR_REF, pawl_command
from pawl.cli.output import clean, paint, table
from pawl.cli.text_diff import Line, cut, short, value_lines
from pawl.ids import Name, Version
from pawl.operations.session import Report, Session

MAX_LINES = 3_000
MAX_CHANGES = 200
"""Changes of one procedure that a person is shown; JSON has all."""
MAX_VALUE = 160
_LEVELS = {"major": "red", "minor": "yellow", "patch": "green"}
_SIGNS = {"-": "red", "+": "green", "@": "cyan", "~": "yellow"}


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield a diff for a person: every change with its reason, then whom it concerns and the bump it requires."""
    rows = _every_line(data)
    yield from islice(rows, MAX_LINES)
    if next(rows, None) is not None:
        yield "more is left out here: name one procedure, or see all with -o json"


def _every_line(data: Mapping[str, Any]) -> Iterator[str]:
    if "procedures" in data:
        head = ("procedure", "from", "to", "required", "lowest", "enough", "changes")
        yield from table(head, (_summary(row) for row in data["procedures"]))
        for row in data["procedures"]:
            if row["changes"]:
                yield ""
                yield from procedure_lines(row)
        if data["procedures"]:
            yield ""
        yield f"{_counted(len(data['procedures']))} from {_base(data)}; required: {data['required']}"
    elif "changes" in data:
        yield from procedure_lines(data)


def _counted(count: int) -> str:
    return "1 procedure differs" if count == 1 else f"{count or 'no'} procedures differ"


def _base(data: Mapping[str, Any]) -> str:
    base = data["base"]
    return f"{clean(base['ref'])} ({base['commit'][:12]})" if base else "what is published"


def _summary(row: Mapping[str, Any]) -> Sequence[object]:
    sides = [side["version"] if side else "-" for side in (row["from"], row["to"])]
    lowest, enough = row["smallest"] or "-", {True: "yes", False: "no", None: "-"}[row["enough"]]
    changes = len(row["changes"]) if row["state"] == "changed" else row["state"]
    return row["name"], *sides, row["required"], lowest, enough, changes


def procedure_lines(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield what changed in one procedure."""
    yield paint(_title(row), None, bold=True)
    widths = [max((len(change[key]) for change in row["changes"]), default=0) for key in ("level", "code")]
    for change in row["changes"][:MAX_CHANGES]:
        yield from _change(change, *widths)
    if len(row["changes"]) > MAX_CHANGES:
        yield f"and {len(row['changes']) - MAX_CHANGES} more changes, see all with -o json"
    yield from affected_lines(row)
    yield f"required: {_required(row)}"


def _title(row: Mapping[str, Any]) -> str:
    return f"{row['kind']} {' -> '.join(_where(side) for side in (row['from'], row['to']))}"


def _where(side: Mapping[str, Any] | None) -> str:
    if side is None:
        return "nothing"
    named = side["where"].endswith(f"@{side['version']}")
    return clean(side["where"]) if named else f"{clean(side['where'])} ({side['version']})"


def _required(row: Mapping[str, Any]) -> str:
    if row["state"] in {"added", "removed"}:
        return "none"
    asked = row["required"] != "none" or row["enough"] is False
    lowest = f", so {row['smallest']} or higher" if row["smallest"] and asked else ""
    if row["enough"] is not False:
        return f"{row['required']}{lowest}"
    wrong = f": {row['to']['version']} is too low"
    return f"{row['required']}{lowest or ', and no higher number is left'}{wrong}"


def _change(change: Mapping[str, Any], level_width: int, code_width: int) -> Iterator[str]:
    level = paint(change["level"].ljust(level_width), _LEVELS[change["level"]], bold=True)
    flags = f"  ({', '.join(change['flags'])})" if change["flags"] else ""
    path = cut(clean(change["path"] or "/"), MAX_VALUE)
    yield f"{level}  {change['code'].ljust(code_width)}  {path}{flags}"
    yield f"    {clean(change['reason'])}"
    yield from (f"    {words}" for words in _who(change))
    yield from (_painted(line) for line in value_lines(change))
    if "witness" in change:
        yield f"    for example: {cut(clean(short(change['witness'])), MAX_VALUE)}"


def _who(change: Mapping[str, Any]) -> Iterator[str]:
    breaks = change["breaks"]
    also = [who for who in change["affects"] if who not in breaks]
    parts = [f"breaks {', '.join(breaks)}" if breaks else "", f"concerns {', '.join(also)}" if also else ""]
    if any(parts):
        yield "; ".join(part for part in parts if part)


def _painted(line: Line) -> str:
    sign, text = line
    if sign == "@":
        return paint(f"    @@ {text}", _SIGNS[sign])
    return paint(f"    {sign} {text}".rstrip(), _SIGNS[sign]) if sign in _SIGNS else f"    {sign} {text}".rstrip()


def affected_lines(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield where a procedure is pinned, and what is pinned there and requires it."""
    if row["pinned"]:
        yield "pinned: " + ", ".join(f"{pin['channel']} {pin['version']}" for pin in row["pinned"])
    for user in row["used_by"]:
        how = f"requires {user['requires']}" if user["requires"] else f"through {', '.join(user['through'])}"
        met = {True: "", False: paint(" which the new version is outside of", "red"), None: ""}[user["still_met"]]
        yield f"used by: {user['kind']} {user['ref']} on {user['channel']}, {how}{met}"


@pawl_command("diff", lines=lines)
@click.argument("old", metavar="[NAME[@VERSION]]", type=NAME_OR_REF, required=False)
@click.argument("new", metavar="[NAME[@VERSION]]", type=NAME_OR_REF, required=False)
@click.option("--base", metavar="REF", help="Compare with the files as they stand at this Git revision.")
def command(
    session: Session,
    old: tuple[Name, Version | None] | None,
    new: tuple[Name, Version | None] | None,
    base: str | None,
) -> Report:
    """Show every change between two versions, or from one to the work tree, and the bump it requires.

    A bare first NAME means the published version that the other side follows; a bare second one, or none, the file in
    the work tree. Without a NAME it is every procedure of the work tree that differs. --base compares with a Git
    revision in place of the first NAME's version.
    """
    from pawl.operations.reviewing.comparing import diff  # noqa: PLC0415 - not for shells that complete

    return diff(session, old, new, base=base)
