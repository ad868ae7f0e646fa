"""Changing one scalar of a YAML file and nothing else: comments, layout and line ends stay byte for byte.

The new text is spliced in at the scalar's own position, and the result is read again before it is returned: it must be
the old document with that one value changed.
"""

from __future__ import annotations

import copy
import re
from typing import Any

from pawl.errors import InvalidError, NotFoundError
from pawl.io.dump import scalar_text
from pawl.io.positions import Spot
from pawl.io.scalars import ScalarError, resolve
from pawl.io.strict_yaml import Unreadable, load, locate
from pawl.problems import Place, pointer

_BLOCK_HEADER = re.compile(r"^[|>][-+0-9]*")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-")


def set_scalar(data: bytes, place: Place, value: str) -> bytes:
    """Return ``data`` with the scalar at ``place`` replaced by the string ``value``.

    Raises ``Unreadable`` if ``data`` is not strict YAML, ``NotFoundError`` if no scalar stands at ``place`` and
    ``InvalidError`` if the change cannot be made without touching more than that scalar.
    """
    spot = locate(data).spot(place)
    if spot is None or spot.text is None or not place:
        raise NotFoundError(f"no scalar stands at {pointer(place)}", code="no-such-place")
    if spot.text == "" and not spot.style:
        raise InvalidError(f"nothing is written at {pointer(place)}: write a value there first", code="cannot-edit")
    lines = data.decode("utf-8").split("\n")
    before = "\n".join([*lines[: spot.start[0]], lines[spot.start[0]][: spot.start[1]]])
    after = _rest(lines, spot)
    changed = (before + _written(spot, value) + after).encode("utf-8")
    try:
        same = load(changed) == _with(load(data), place, value)
    except Unreadable:
        same = False
    if not same:
        raise InvalidError(f"the value at {pointer(place)} cannot be replaced in its layout", code="cannot-edit")
    return changed


def _rest(lines: list[str], spot: Spot) -> str:
    line, column = spot.end
    if spot.style not in {"|", ">"}:
        return "\n".join([lines[line][column:], *lines[line + 1 :]])
    # a block scalar ends where the next line with something else begins; what follows its | or >, and blank lines, stay
    last = line if column == 0 else line + 1
    while last - 1 > spot.start[0] and not lines[last - 1].strip():
        last -= 1
    header = _BLOCK_HEADER.sub("", lines[spot.start[0]][spot.start[1] :])
    return "\n".join([header, *lines[last:]])


def _written(spot: Spot, value: str) -> str:
    if not spot.style and value and _PLAIN.issuperset(value) and value[0] not in ".-" and _is_text(value):
        return value
    if spot.style == "'" and "\n" not in value and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    return scalar_text(value)


def _is_text(value: str) -> bool:
    try:
        return isinstance(resolve(value), str)
    except ScalarError:
        return False


def _with(document: dict[str, Any], place: Place, value: str) -> dict[str, Any]:
    changed: Any = copy.deepcopy(document)
    inner = changed
    for part in place[:-1]:
        inner = inner[part]
    inner[place[-1]] = value
    return dict(changed)
