"""Reading what a rule demands, field by field: values that can be meant come out, everything else is a fault.

A rule in force is read in the same way as one that somebody writes, and without pydantic. A body with any fault gives
nothing, so a rule that was bent on the way is errored and refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from pawl.policy.durations import Duration, parse_duration
from pawl.problems import Fault

MAX_TEXT = 1_000
MAX_ITEMS = 50
_T = TypeVar("_T")


class BodyReader:
    """Takes the fields of one body and collects the faults; ``kind`` is the key that the body stands under."""

    def __init__(self, kind: str, body: Any) -> None:
        self._kind = kind
        self._body: Mapping[str, Any] = body if isinstance(body, Mapping) else {}
        self._known: list[str] = []
        self.faults: list[Fault] = []
        self._whole = isinstance(body, Mapping)
        if not self._whole:
            self._fault("expected an object with its fields")

    def finish(self) -> tuple[Fault, ...]:
        """Return all faults, with one for each field that nobody asked for."""
        for key in self._body:
            if key not in self._known:
                message = f"{self._kind}.{key}: there is no such field; there are {', '.join(self._known)}"
                self.faults.append(Fault(code="policy-field-unknown", message=message, at=(str(key),), on_key=True))
        return tuple(self.faults)

    def inner(self, name: str) -> BodyReader | None:
        """Return a reader of the object under ``name``, or ``None`` where there is none."""
        return BodyReader(f"{self._kind}.{name}", self._body[name]) if self._has(name) else None

    def take_inner(self, name: str, reader: BodyReader | None) -> None:
        """Add the faults of the object under ``name``."""
        if reader is not None:
            self.faults.extend(fault.under(name) for fault in reader.finish())

    def text(self, name: str, *, needed: bool = False) -> str | None:
        """Return a text in one line."""
        return self._read(name, _text, needed=needed)

    def read(self, name: str, parse: Callable[[str], _T], *, needed: bool = False) -> _T | None:
        """Return what ``parse`` makes of a text; its ``ValueError`` is the fault."""
        return self._read(name, lambda value: parse(_text(value)), needed=needed)

    def duration(self, name: str, *, needed: bool = False) -> Duration | None:
        return self.read(name, parse_duration, needed=needed)

    def number(self, name: str, *, least: int, most: int, default: int) -> int:
        def whole(value: Any) -> int:
            if type(value) is not int or not least <= value <= most:
                raise ValueError(f"expected a whole number from {least} to {most}")
            return value

        found = self._read(name, whole)
        return default if found is None else found

    def flag(self, name: str) -> bool:
        def truth(value: Any) -> bool:
            if type(value) is not bool:
                raise ValueError("expected true or false")
            return value

        return self._read(name, truth) or False

    def word(self, name: str, known: Sequence[str]) -> str | None:
        return self.read(name, lambda value: _one_of(value, known), needed=True)

    def words(
        self, name: str, *, known: Sequence[str] = (), default: tuple[str, ...] = (), needed: bool = False
    ) -> tuple[str, ...]:
        """Return a list of texts, each once; ``known`` are those that it can hold."""
        if not self._has(name):
            if needed:
                self._missing(name)
            return default
        value = self._body[name]
        if not isinstance(value, list) or not 0 < len(value) <= MAX_ITEMS:
            self._fault(f"expected a list of 1 to {MAX_ITEMS}", name)
            return default
        found: list[str] = []
        for index, item in enumerate(value):
            try:
                word = _one_of(_text(item), known) if known else _text(item)
            except ValueError as error:
                self._fault(str(error), name, index)
                continue
            if word in found:
                self._fault("it is there twice", name, index)
            found.append(word)
        return tuple(found)

    def labels(self, name: str) -> tuple[tuple[str, str], ...]:
        def pairs(value: Any) -> tuple[tuple[str, str], ...]:
            if not isinstance(value, Mapping) or not 0 < len(value) <= MAX_ITEMS:
                raise ValueError("expected labels with their values")
            return tuple(sorted((_text(key), _text(item)) for key, item in value.items()))

        return self._read(name, pairs) or ()

    def _has(self, name: str) -> bool:
        self._known.append(name)
        return name in self._body

    def _read(self, name: str, parse: Callable[[Any], _T], *, needed: bool = False) -> _T | None:
        if not self._has(name):
            if needed:
                self._missing(name)
            return None
        try:
            return parse(self._body[name])
        except ValueError as error:
            self._fault(str(error), name)
            return None

    def _missing(self, name: str) -> None:
        if self._whole:
            self.faults.append(Fault(code="policy-field-missing", message=f"{self._kind} needs {name}"))

    def _fault(self, why: str, *at: str | int) -> None:
        where = ".".join((self._kind, *(str(part) for part in at if isinstance(part, str))))
        self.faults.append(Fault(code="policy-field-invalid", message=f"{where}: {why}", at=at))


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_TEXT or not value.isprintable():
        raise ValueError(f"expected a text in one line of at most {MAX_TEXT} characters")
    return value


def _one_of(word: str, known: Sequence[str]) -> str:
    if word not in known:
        raise ValueError(f"{word[:80]!r} is none of {', '.join(known)}")
    return word
