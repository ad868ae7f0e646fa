"""Adding to a YAML file: comment lines above places, and a text field; everything else stays byte for byte.

What comes out is read again before it is returned: comments leave the document as it was, a field changes that field
alone. Where a comment cannot stand above its place without changing anything, it stands at the top of the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pawl.errors import InvalidError, NotFoundError
from pawl.io.dump import scalar_text
from pawl.io.edit import set_scalar
from pawl.io.strict_yaml import MAX_BYTES, Positions, Unreadable, load, locate
from pawl.problems import Place

_INDENT = re.compile(r" *")


def add_comments(data: bytes, comments: Sequence[tuple[Place, str]], *, top: str) -> tuple[bytes, list[int | None]]:
    """Return ``data`` with a comment line above each place, and the line of each comment, counted from 1.

    Comments whose place starts with nothing that the file has go under the field ``top``. A comment that would make the
    file larger than is read is left out, and its line is ``None``. Raises ``Unreadable`` for what is no strict YAML.
    """
    document, positions = load(data), locate(data)
    rows = [_row(positions, place, top) for place, _ in comments]
    for number in sorted(set(rows) - {0}):  # each by itself, so that one that cannot stand there takes no other along
        texts = [text for row, (_, text) in zip(rows, comments, strict=True) if row == number]
        if not _same(_inserted(data, {number: texts}), document):
            rows = [0 if row == number else row for row in rows]
    kept: list[int] = []
    room = MAX_BYTES - len(data)
    for index, (_, text) in enumerate(comments):
        room -= len(text.encode("utf-8")) + 80
        if room >= 0:
            kept.append(index)
    wanted: dict[int, list[str]] = {}
    for index in kept:
        wanted.setdefault(rows[index], []).append(comments[index][1])
    changed = _inserted(data, wanted)
    if not _same(changed, document):
        raise InvalidError("no comment can be added to this file", code="cannot-edit")
    return changed, _lines(rows, kept)


def _lines(rows: Sequence[int], kept: Sequence[int]) -> list[int | None]:
    ordered = sorted(kept, key=lambda index: (rows[index], index))
    found = {index: rows[index] + before + 1 for before, index in enumerate(ordered)}
    return [found.get(index) for index in range(len(rows))]


def _row(positions: Positions, place: Place, top: str) -> int:
    """Return the line, from 0, above which a comment on ``place`` goes."""
    if not place or positions.spot(place[:1]) is None:
        spot = positions.spot((top,))
        return spot.end[0] + 1 if spot is not None and spot.text is not None and spot.end[1] else 0
    row = positions.of(place, on_key=True)[0] - 1
    inside = positions.quoted_lines()
    while row in inside:
        row -= 1
    return row


def _inserted(data: bytes, comments: dict[int, list[str]]) -> bytes:
    lines = data.decode("utf-8").split("\n")
    ending = "\r" if lines[0].endswith("\r") else ""
    for row in sorted(comments, reverse=True):
        row_text = lines[row] if row < len(lines) else ""
        indent = _INDENT.match(row_text)
        margin = indent[0] if indent and row else ""
        if row == len(lines):  # below a last line that does not end
            lines[-1] += ending
        lines[row:row] = [f"{margin}# {text}{ending}" for text in comments[row]]
    return "\n".join(lines).encode("utf-8")


def _same(data: bytes, document: dict[str, Any]) -> bool:
    try:
        return load(data) == document
    except Unreadable:
        return False


def set_text(data: bytes, field: str, value: str, *, after: str) -> bytes:
    """Return ``data`` with a field of its root set to a text of one line; where there is none, it follows ``after``.

    Raises what ``set_scalar`` raises.
    """
    try:
        return set_scalar(data, (field,), value)
    except NotFoundError:
        document = load(data)
        if field in document:
            raise
    spot = locate(data).spot((after,))
    if spot is None or spot.text is None:
        raise NotFoundError(f"there is no {after} to write {field} after", code="no-such-place")
    lines = data.decode("utf-8").split("\n")
    ending = "\r" if lines[0].endswith("\r") else ""
    row, column = spot.end
    written = f"{field}: {scalar_text(value)}"
    margin = " " * (spot.key[1] if spot.key else 0)
    below = [*lines[: row + 1], f"{margin}{written}{ending}", *lines[row + 1 :]]
    beside = [*lines[:row], f"{lines[row][:column]}, {written}{lines[row][column:]}", *lines[row + 1 :]]
    for changed in ("\n".join(below).encode("utf-8"), "\n".join(beside).encode("utf-8")):
        if _same(changed, {**document, field: value}):
            return changed
    raise InvalidError(f"{field} cannot be added in the layout of this file", code="cannot-edit")


def without_comments(data: bytes, pattern: re.Pattern[str]) -> bytes:
    """Return ``data`` without the comment lines that ``pattern`` matches whole; lines that are no comments stay."""
    document, inside = load(data), locate(data).quoted_lines()
    lines = data.decode("utf-8").split("\n")
    kept = [line for row, line in enumerate(lines) if row in inside or not pattern.fullmatch(line.rstrip("\r"))]
    changed = "\n".join(kept).encode("utf-8")
    return changed if _same(changed, document) else data
