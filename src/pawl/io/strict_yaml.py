"""The strict YAML reader: YAML 1.2 core values, one document, a mapping at its root, nothing that loaders disagree on.

It is the event stream of libyaml (the C part of ruamel.yaml, named here; there is no other loader to fall back to) and
a builder of our own. Depth is checked on the events as they come, because tree builders have crashed on deep input.
Every fault of the file is collected; a fault of the grammar ends the reading. What has no fault is built by a quicker
builder, which gives up on everything odd.

Refused: duplicate keys, keys that are no strings, anchors, aliases, tags, merge keys, directives, second documents, tab
indentation, control characters, a byte order mark, anything but UTF-8, numbers that would lose digits, files over
``MAX_BYTES`` and more than ``MAX_DEPTH`` levels. CRLF reads as LF.
"""

from __future__ import annotations

import re
from typing import Any

from pawl.errors import PawlError
from pawl.io.positions import Positions, survey
from pawl.io.quick_yaml import quick_document
from pawl.io.scalars import ScalarError, resolve
from pawl.io.text import MAX_FAULTS, LocatedFault, Unreadable, decode, refuse_characters
from pawl.io.yaml_syntax import syntax_fault

__all__ = ["MAX_BYTES", "MAX_DEPTH", "LocatedFault", "Positions", "Unreadable", "load", "locate"]

MAX_BYTES = 256 * 1024
MAX_DEPTH = 64

_DIRECTIVE = re.compile(r"\A(?:[ \t]*(?:#[^\n]*)?\n)*%")
_BLANK_END = re.compile(r"\n +\Z")
_QUESTION = re.compile(r"(?:\A|[\s{\[,])\?(?=\S)")
_TAB_INDENT = re.compile(r" *\t[ \t]*[^ \t#]")


class _Stop(Exception):  # noqa: N818 - ends a reading that cannot go on; the reason is among the faults
    """The rest of the file is not worth reading."""


def load(data: bytes) -> dict[str, Any]:
    """Return the document in ``data`` as plain values or raise ``Unreadable`` with every fault found."""
    text = _readable(data)
    # what loaders read in different ways, and libyaml without a word, is left to the builder that sees it
    doubtful = _BLANK_END.search(text) or ("?" in text and _QUESTION.search(text))
    document = None if doubtful else quick_document(_parser(text), max_depth=MAX_DEPTH)
    if document is None:
        document = _Builder(text).document()
    if "\t" in text:
        _refuse_tab_indents(text)
    return document


def locate(data: bytes) -> Positions:
    """Return the positions of the document in ``data`` or raise ``Unreadable`` if it cannot be read."""
    load(data)
    return survey(_parser(_readable(data)))


def _readable(data: bytes) -> str:
    text = decode(data, max_bytes=MAX_BYTES)
    refuse_characters(text)
    if directive := _DIRECTIVE.match(text):
        message = "directives are refused: loaders disagree on them, and the language is always YAML 1.2"
        line = text.count("\n", 0, directive.end()) + 1
        raise Unreadable((LocatedFault(code="directive", message=message, line=line, column=1),))
    return text


def _parser(text: str) -> Any:
    try:
        from _ruamel_yaml import CParser  # noqa: PLC0415 - ruamel is not needed by agents, who read snapshots
    except ImportError as error:
        message = "the C part of ruamel.yaml is missing, and there is no other YAML reader to fall back to"
        raise PawlError(message, code="yaml-reader-missing", hint='install "ruamel.yaml[oldlibyaml]"') from error
    return CParser(text.encode("utf-8"))


def _refuse_tab_indents(text: str) -> None:
    """Raise for tabs that libyaml lets through: it takes them as indentation inside { } and [ ]."""
    lines = [number for number, line in enumerate(text.split("\n")) if _TAB_INDENT.match(line)]
    if not lines:
        return
    quoted = survey(_parser(text)).quoted_lines()
    faults = [
        LocatedFault(code="tab-indent", message="a tab is used as indentation: use spaces", line=line + 1, column=1)
        for line in lines
        if line not in quoted
    ]
    if faults:
        raise Unreadable(tuple(faults[:MAX_FAULTS]))


class _Builder:
    def __init__(self, text: str) -> None:
        self._text = text
        self._next = _parser(text).get_event
        self._faults: list[LocatedFault] = []
        self._lines: list[str] = text.split("\n") if _QUESTION.search(text) else []

    def document(self) -> dict[str, Any]:
        from ruamel.yaml.error import YAMLError  # noqa: PLC0415 - see _parser

        value: Any = None
        try:
            value = self._root()
        except _Stop:
            pass
        except YAMLError as error:
            self._faults.append(syntax_fault(error, self._text))
        if self._faults:
            raise Unreadable(tuple(self._faults))
        assert isinstance(value, dict)  # noqa: S101 - _root reports every other root as a fault
        return value

    def _root(self) -> Any:
        self._next()
        started = self._next()
        if type(started).__name__ == "StreamEndEvent":
            self._add("empty-document", "the file is empty: a mapping (key: value) is expected", started)
            raise _Stop
        event = self._next()
        value = self._node(event, 1)
        if not isinstance(value, dict) and not self._faults:
            self._add("not-a-mapping", "the file must be a mapping (key: value) at its root", event)
        self._next()
        following = self._next()
        if type(following).__name__ != "StreamEndEvent":
            self._add("several-documents", "a second document begins here: one file holds one document", following)
        return value

    def _node(self, event: Any, depth: int) -> Any:
        kind = type(event).__name__
        if kind == "AliasEvent":
            self._add("alias", f"aliases are refused: write the value of *{event.anchor} out here", event)
            return None
        if event.anchor is not None:
            self._add("anchor", f"anchors are refused (&{event.anchor}): write values out where they are used", event)
        if event.tag is not None:
            message = f"tags are refused ({_tag(event.tag)}): the type follows from how a value is written"
            self._add("tag", message, event)
        if kind == "ScalarEvent":
            self._refuse_doubtful(event)
            return event.value if event.style else self._plain(event)
        if depth > MAX_DEPTH:
            self._add("too-deep", f"more than {MAX_DEPTH} levels are not read", event)
            raise _Stop
        if kind == "MappingStartEvent":
            return self._mapping(depth)
        items = []
        while type(inner := self._next()).__name__ != "SequenceEndEvent":
            items.append(self._node(inner, depth + 1))
        return items

    def _mapping(self, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        marks: dict[str, Any] = {}
        while type(event := self._next()).__name__ != "MappingEndEvent":
            key = self._key(event, depth)
            value = self._node(self._next(), depth + 1)
            if key is None:
                continue
            if key in marks:
                line = marks[key].line + 1
                message = f"the key {key[:80]!r} stands here and on line {line}: keep one of them"
                self._add("duplicate-key", message, event)
                continue
            marks[key] = event.start_mark
            values[key] = value
        return values

    def _key(self, event: Any, depth: int) -> str | None:
        """Return the key, or None after its fault was noted."""
        faults = len(self._faults)
        value = self._node(event, depth + 1)
        if len(self._faults) > faults:
            return None
        if not isinstance(value, str):
            written = getattr(event, "value", "")
            told = f"the key {written[:80]} reads as {_KINDS[type(value)]}" if written else "this key is no text"
            hint = "text that begins with { or [ must stand in quotes" if isinstance(value, dict | list) else None
            self._add("non-string-key", f"{told}: keys are strings, put it in quotes", event, hint)
            return None
        if value == "<<" and not event.style:
            self._add("merge-key", "merge keys (<<) are refused: write the fields out here", event)
            return None
        return value

    def _refuse_doubtful(self, event: Any) -> None:
        """Refuse ``{?a: 1}``, in which ? begins a key for some and belongs to it for others, and a text block whose
        last line is of spaces alone and has no end."""
        # what is left out has no place of its own: libyaml puts it behind the end of a file
        if event.value and not event.style and self._lines and self._before(event) == "?":
            self._add("yaml-syntax", "? is read in different ways here: put the whole text in quotes", event)
        elif event.style in {"|", ">"} and event.value.endswith(" ") and _BLANK_END.search(self._text):
            message = "this text ends in a line of spaces without a line end, which is read in different ways"
            self._add("yaml-syntax", message, event, "end the file with a line end")

    def _before(self, event: Any) -> str:
        line, column = int(event.start_mark.line), int(event.start_mark.column)
        return self._lines[line][max(0, column - 1) : column]

    def _plain(self, event: Any) -> Any:
        try:
            return resolve(event.value)
        except ScalarError as error:
            self._add(error.code, str(error), event, error.hint)
            return None

    def _add(self, code: str, message: str, event: Any, hint: str | None = None) -> None:
        mark = event.start_mark
        fault = LocatedFault(code=code, message=message, line=mark.line + 1, column=mark.column + 1, hint=hint)
        self._faults.append(fault)
        if len(self._faults) >= MAX_FAULTS:
            raise _Stop


def _tag(tag: str) -> str:
    return tag.replace("tag:yaml.org,2002:", "!!")[:80]


_KINDS = {int: "a number", float: "a number", bool: "a boolean", type(None): "null", dict: "a mapping", list: "a list"}
