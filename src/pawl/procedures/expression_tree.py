"""The syntax tree of a compiled CEL expression, read from the form in which the library serializes it.

The form is ``cel.expr.CheckedExpr`` inside of an ``Any``, in the wire format of protocol buffers. Only what is needed
here is read: the tree, and which expressions are mappings by their type. Comprehension macros are expanded in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

Field: TypeAlias = tuple[int, int | bytes]
"""A field's number with its value: an integer, or the bytes of a text or of a message."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_CONST, _NAME, _SELECT, _CALL, _LIST, _STRUCT, _LOOP = 3, 4, 5, 6, 7, 8, 9
_MAP_TYPE = 7
_FRESH_ID = 1 << 30
"""Beyond the ids that a parser gives to an expression of a few thousand characters."""


@dataclass(frozen=True, slots=True)
class Const:
    """A literal; ``text`` is ``None`` for all but texts, ``size`` is the length of texts and bytes."""

    text: str | None
    size: int


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, or a type's name."""

    name: str


@dataclass(frozen=True, slots=True)
class Select:
    """``operand.field``, or ``has(operand.field)``."""

    operand: Tree
    field: str
    test: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A function or an operator; the target of a method is the first argument."""

    function: str
    arguments: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Literal:
    """A list, mapping or message that is written out: all that stands inside of it."""

    items: tuple[Tree, ...]
    is_list: bool


@dataclass(frozen=True, slots=True)
class Loop:
    """A comprehension: ``all``, ``exists``, ``exists_one``, ``map`` or ``filter``."""

    variables: tuple[str, ...]
    over: Tree
    over_mapping: bool
    """Whether ``over`` is known to be a mapping by its type."""
    accumulator: str
    start: Tree
    condition: Tree
    step: Tree
    result: Tree

    @property
    def builds_list(self) -> bool:
        return isinstance(self.start, Literal) and self.start.is_list


Tree: TypeAlias = Const | Name | Select | Call | Literal | Loop


def children(tree: Tree) -> tuple[Tree, ...]:
    """Return what stands directly inside of a part of a tree."""
    match tree:
        case Const() | Name():
            return ()
        case Select(operand=operand):
            return (operand,)
        case Call(arguments=items) | Literal(items=items):
            return items
        case Loop():
            return (tree.over, tree.start, tree.condition, tree.step, tree.result)


def read_tree(serialized: bytes) -> Tree:
    """Return the tree; raises ``ValueError`` for a form that is not known."""
    checked = _message(_fields(serialized), 2)
    mappings: set[int] = set()
    for number, entry in _fields(checked):
        if number == 3 and isinstance(entry, bytes):
            fields = _fields(entry)
            if any(kind == _MAP_TYPE for kind, _ in _fields(_message(fields, 2))):
                mappings.add(_number(fields, 1))
    return _read(_message(_fields(checked), 4), frozenset(mappings))


def with_ordered_loops(serialized: bytes) -> bytes:
    """Return the expression with every list that is built from something built from a list.

    The library goes through a mapping in an order that differs from process to process, and the same question must
    have the same answer everywhere. ``range + []`` is the same list for a list, and an error for a mapping.
    """
    fresh = iter(range(_FRESH_ID, 1 << 31))

    def ordered(expression: bytes) -> bytes:
        return b"".join(_encode(number, rewrite(number, value)) for number, value in _fields(expression))

    def rewrite(number: int, value: int | bytes) -> int | bytes:
        if not isinstance(value, bytes) or number not in _CHILDREN:
            return value
        fields = _fields(value)
        builds = number == _LOOP and bool(_fields(_message(fields, 4))) and _has(_message(fields, 4), _LIST)
        written = b""
        for inner, part in fields:
            new: int | bytes = part
            if isinstance(part, bytes) and inner in _CHILDREN[number]:
                new = entry(part) if number == _STRUCT else ordered(part)
                if builds and inner == 2:
                    new = _plus_empty_list(new, fresh)
            written += _encode(inner, new)
        return written

    def entry(part: bytes) -> bytes:
        return b"".join(
            _encode(number, ordered(value) if isinstance(value, bytes) and number in {3, 4} else value)
            for number, value in _fields(part)
        )

    return _within(serialized, 2, lambda checked: _within(checked, 4, ordered))


_CHILDREN = {_SELECT: {1}, _CALL: {1, 3}, _LIST: {1}, _STRUCT: {2}, _LOOP: {2, 4, 5, 6, 7}}
"""Which fields of an expression's form hold expressions; those of a struct hold entries."""


def _plus_empty_list(expression: bytes, fresh: Iterator[int]) -> bytes:
    empty = _encode(2, next(fresh)) + _encode(_LIST, b"")
    call = _encode(2, b"_+_") + _encode(3, expression) + _encode(3, empty)
    return _encode(2, next(fresh)) + _encode(_CALL, call)


def _within(message: bytes, number: int, change: Callable[[bytes], bytes]) -> bytes:
    return b"".join(
        _encode(found, change(value) if found == number and isinstance(value, bytes) else value)
        for found, value in _fields(message)
    )


def _read(expression: bytes, mappings: frozenset[int]) -> Tree:
    for number, value in _fields(expression):
        if number in {_CONST, _NAME, _SELECT, _CALL, _LIST, _STRUCT, _LOOP} and isinstance(value, bytes):
            return _read_form(number, value, mappings)
    raise ValueError("an expression of no known form")


def _read_form(form: int, message: bytes, mappings: frozenset[int]) -> Tree:
    fields = _fields(message)

    def every(numbers: set[int], among: list[Field]) -> tuple[Tree, ...]:
        return tuple(_read(part, mappings) for number, part in among if number in numbers and isinstance(part, bytes))

    match form:
        case 4:
            return Name(_message(fields, 1).decode())
        case 5:
            return Select(_read(_message(fields, 1), mappings), _message(fields, 2).decode(), _has(message, 3))
        case 6:
            return Call(_message(fields, 2).decode(), every({1}, fields) + every({3}, fields))
        case 7 | 8:
            entries = [fields]
            if form == _STRUCT:
                entries = [_fields(part) for number, part in fields if number == 2 and isinstance(part, bytes)]
            inside = {1} if form == _LIST else {3, 4}
            return Literal(tuple(tree for entry in entries for tree in every(inside, entry)), form == _LIST)
        case 9:
            return _read_loop(fields, mappings)
        case _:
            return _const(fields)


def _read_loop(fields: list[Field], mappings: frozenset[int]) -> Loop:
    over, *parts = (_message(fields, number) for number in (2, 4, 5, 6, 7))
    start, condition, step, result = (_read(part, mappings) for part in parts)
    return Loop(
        variables=tuple(part.decode() for number, part in fields if number in {1, 8} and isinstance(part, bytes)),
        over=_read(over, mappings),
        over_mapping=_number(_fields(over), 2) in mappings,
        accumulator=_message(fields, 3).decode(),
        start=start,
        condition=condition,
        step=step,
        result=result,
    )


def _const(fields: list[Field]) -> Const:
    for number, value in fields:
        if number == 6 and isinstance(value, bytes):
            return Const(value.decode(), len(value))
        if number == 7 and isinstance(value, bytes):
            return Const(None, len(value))
    return Const(None, 0)


def _message(fields: list[Field], number: int) -> bytes:
    for found, value in fields:
        if found == number and isinstance(value, bytes):
            return value
    return b""


def _number(fields: list[Field], number: int) -> int:
    return next((value for found, value in fields if found == number and isinstance(value, int)), 0)


def _has(message: bytes, number: int) -> bool:
    return any(found == number for found, _ in _fields(message))


def _fields(message: bytes) -> list[Field]:
    fields: list[Field] = []
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == _VARINT:
            number, at = _varint(message, at)
            fields.append((key >> 3, number))
            continue
        length = 8 if kind == _FIXED64 else 4
        if kind == _BYTES:
            length, at = _varint(message, at)
        elif kind not in {_FIXED64, _FIXED32}:
            raise ValueError("an expression that is not serialized as protocol buffers are")
        if at + length > len(message):
            raise ValueError("an expression that was cut off")
        # A fixed number is told from bytes by its key when it is written again.
        fields.append((key >> 3 if kind == _BYTES else -key, message[at : at + length]))
        at += length
    return fields


def _varint(message: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        if at >= len(message) or shift > 63:
            raise ValueError("an expression that was cut off")
        byte = message[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, at


def _encode(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return _encode_varint(number << 3 | _VARINT) + _encode_varint(value)
    if number < 0:
        return _encode_varint(-number) + value
    return _encode_varint(number << 3 | _BYTES) + _encode_varint(len(value)) + value


def _encode_varint(number: int) -> bytes:
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)
