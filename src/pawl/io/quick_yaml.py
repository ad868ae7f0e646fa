"""The strict YAML reader's way for files without a fault: the same document, or nothing at all.

It tells no fault from another. Whatever the strict reader would refuse, or might, ends it, and the strict reader then
says what is wrong and where.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pawl.io.scalars import NUMBER_STARTS, WORDS, ScalarError, resolve


class _Odd(Exception):  # noqa: N818 - no error: the other builder looks
    """Something that a file without faults does not hold."""


def quick_document(parser: Any, *, max_depth: int) -> dict[str, Any] | None:
    """Return the document in a stream of libyaml's events; None where the strict builder must look."""
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415 - ruamel is not needed by agents, who read snapshots

    next_event = parser.get_event
    try:
        next_event()
        if type(next_event()).__name__ != "DocumentStartEvent":
            return None
        root = next_event()
        if type(root).__name__ != "MappingStartEvent" or root.anchor is not None or root.ctag is not None:
            return None
        document = _reader(next_event, max_depth)(1)
        next_event()
        return document if type(next_event()).__name__ == "StreamEndEvent" else None
    except (_Odd, ScalarError, YAMLError):
        return None


def _reader(next_event: Callable[[], Any], max_depth: int) -> Callable[[int], dict[str, Any]]:
    """Return what reads a mapping whose start was seen, at a depth. Closures, since each event counts here."""
    from ruamel.yaml import events  # noqa: PLC0415 - as above

    scalar, mapping_end, sequence_end = events.ScalarEvent, events.MappingEndEvent, events.SequenceEndEvent

    def mapping(depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while type(event := next_event()) is scalar:
            key = _scalar(event)
            if type(key) is not str or key in values or (key == "<<" and not event.style):
                raise _Odd
            event = next_event()
            values[key] = _scalar(event) if type(event) is scalar else collection(event, depth + 1)
        if type(event) is not mapping_end:
            raise _Odd
        return values

    def sequence(depth: int) -> list[Any]:
        items: list[Any] = []
        while type(event := next_event()) is not sequence_end:
            items.append(_scalar(event) if type(event) is scalar else collection(event, depth + 1))
        return items

    readers: dict[Any, Callable[[int], Any]] = {
        events.MappingStartEvent: mapping,
        events.SequenceStartEvent: sequence,
    }

    def collection(event: Any, depth: int) -> Any:
        reader = readers.get(type(event))
        if reader is None or depth > max_depth or event.anchor is not None or event.ctag is not None:
            raise _Odd
        return reader(depth)

    return mapping


def _scalar(event: Any) -> Any:
    text = event.value
    if event.anchor is not None or event.ctag is not None:
        raise _Odd
    return resolve(text) if not event.style and (text in WORDS or text[0] in NUMBER_STARTS) else text
