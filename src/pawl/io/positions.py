"""Where the values of a YAML document stand in its file.

Built in a second pass, only when something must be placed; reading does not pay for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pawl.io.scalars import ScalarError, resolve
from pawl.problems import Place


@dataclass(slots=True, kw_only=True)
class Spot:
    """One node: the marks of its key (if a mapping holds it), of its start and of its end; marks count from 0."""

    start: tuple[int, int]
    end: tuple[int, int]
    key: tuple[int, int] | None = None
    text: str | None = None
    style: str = ""
    block: bool = False
    children: dict[str | int, Spot] | None = None

    @property
    def shown(self) -> tuple[int, int]:
        """Where to point: at a block that hangs under a key, or at a value that is not there, the key says more."""
        if self.key is not None and (self.block or (self.text == "" and not self.style)):
            return self.key
        return self.start


class Positions:
    """Lines and columns, from 1, of the places of one document."""

    def __init__(self, root: Spot) -> None:
        self._root = root

    def of(self, place: Place, *, on_key: bool = False) -> tuple[int, int]:
        """Return line and column of ``place``, or of its nearest ancestor that exists."""
        spot, found = self._nearest(place)
        line, column = spot.key if on_key and found and spot.key is not None else spot.shown
        return line + 1, column + 1

    def text(self, place: Place) -> str | None:
        """Return the scalar at ``place`` as it is written, without its quotes; None where there is no scalar."""
        spot, found = self._nearest(place)
        return spot.text if found else None

    def number_text(self, place: Place) -> str | None:
        """Return the source of an unquoted number that reads differently from how it is written (``1.10``)."""
        spot, found = self._nearest(place)
        if not found or spot.text is None or spot.style:
            return None
        try:
            value = resolve(spot.text)
        except ScalarError:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return spot.text if repr(value) != spot.text else None

    def spot(self, place: Place) -> Spot | None:
        """Return the node at ``place``, if there is one."""
        spot, found = self._nearest(place)
        return spot if found else None

    def quoted_lines(self) -> frozenset[int]:
        """Return the lines, from 0, that continue a quoted or literal scalar begun on an earlier line."""
        lines: set[int] = set()
        waiting = [self._root]
        while waiting:
            spot = waiting.pop()
            if spot.style:
                lines.update(range(spot.start[0] + 1, spot.end[0] + (spot.end[1] > 0)))
            waiting.extend((spot.children or {}).values())
        return frozenset(lines)

    def _nearest(self, place: Place) -> tuple[Spot, bool]:
        spot = self._root
        for part in place:
            below = (spot.children or {}).get(part)
            if below is None:
                return spot, False
            spot = below
        return spot, True


def survey(parser: Any) -> Positions:
    """Return the positions of the one document that ``parser`` streams; it has been read without a fault before."""
    parser.get_event()
    parser.get_event()
    return Positions(_spot(parser, parser.get_event(), None))


def _spot(parser: Any, event: Any, key: tuple[int, int] | None) -> Spot:
    start = (event.start_mark.line, event.start_mark.column)
    end = (event.end_mark.line, event.end_mark.column)
    text: str | None = getattr(event, "value", None)
    if text is not None:
        return Spot(start=start, end=end, key=key, text=text, style=event.style or "")
    children: dict[str | int, Spot] = {}
    if type(event).__name__ == "MappingStartEvent":
        while type(inner := parser.get_event()).__name__ != "MappingEndEvent":
            mark = (inner.start_mark.line, inner.start_mark.column)
            children[inner.value] = _spot(parser, parser.get_event(), mark)
    else:
        while type(inner := parser.get_event()).__name__ != "SequenceEndEvent":
            children[len(children)] = _spot(parser, inner, None)
    closed = (inner.end_mark.line, inner.end_mark.column)
    return Spot(start=start, end=closed, key=key, block=not event.flow_style, children=children)
