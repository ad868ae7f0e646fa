"""Frozen values without what ``dataclasses`` imports.

``dataclass`` here is the one of the standard library to type checkers, and in use: keyword-only or not, frozen, with
slots. It leaves out ``inspect``, which the standard library's brings along and which takes longer to import than all
that a reader of snapshots needs. Modules that such a reader imports take it from here; all others need not care.

Only what those modules use is there: frozen classes with slots and no bases, whose defaults are immutable.
``dataclasses.replace``, ``fields`` and ``asdict`` know such values, and equality, order, hash, ``repr`` and copies are
those of the standard library.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass
    from typing import Any

    __all__ = ["dataclass"]
else:

    def dataclass(*, frozen, slots, kw_only=False, eq=True, order=False):
        """Return what makes a class of annotated fields a frozen value; ``frozen`` and ``slots`` must be true."""
        if not (frozen and slots):
            raise TypeError("values are frozen and have slots")
        return lambda cls: _made(cls, kw_only=kw_only, eq=eq, order=order)


def _made(cls: type, *, kw_only: bool, eq: bool, order: bool) -> type:
    """Return the class again, with slots for its fields and the methods of a value that it does not write itself."""
    if cls.__bases__ != (object,):
        raise TypeError("values have no bases")
    names = tuple(cls.__annotations__)
    written = {key: item for key, item in cls.__dict__.items() if key not in {"__dict__", "__weakref__"}}
    defaults = {name: written.pop(name) for name in names if name in written}
    methods: dict[str, Any] = {
        "__slots__": names,
        "__qualname__": cls.__qualname__,
        "__match_args__": () if kw_only else names,
        "__init__": _first_init(names, defaults, kw_only=kw_only),
        "__repr__": _repr,
        "__setattr__": _frozen,
        "__delattr__": _frozen,
        "__getstate__": _state,
        "__setstate__": _restore,
        "__dataclass_fields__": _Fields(defaults, kw_only=kw_only),
    }
    if eq:
        methods |= {"__eq__": _equal, "__hash__": _hash}
    if order:
        methods |= {"__lt__": _less}
    return type(cls.__name__, (), {**methods, **written})


def _first_init(names: tuple[str, ...], defaults: dict[str, Any], *, kw_only: bool) -> Any:
    """Return what makes the real one when a class is used first: a process uses few of those that it imports."""

    def first(self: Any, *arguments: Any, **fields: Any) -> None:
        made = type(self).__init__ = _init(names, defaults, kw_only=kw_only)
        made(self, *arguments, **fields)

    return first


def _init(names: tuple[str, ...], defaults: dict[str, Any], *, kw_only: bool) -> Any:
    takes = ", ".join(f"{name}=defaults[{name!r}]" if name in defaults else name for name in names)
    sets = "\n".join(f"    set(self, {name!r}, {name})" for name in names)
    made: dict[str, Any] = {}
    code = f"def __init__(self, {'*, ' if kw_only else ''}{takes}):\n{sets}"
    exec(code, {"set": object.__setattr__, "defaults": defaults}, made)  # noqa: S102 - of the names of fields alone
    return made["__init__"]


def _values(value: Any) -> tuple[Any, ...]:
    return tuple(getattr(value, name) for name in value.__slots__)


def _repr(self: Any) -> str:
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
    return f"{type(self).__qualname__}({fields})"


def _equal(self: Any, other: object) -> Any:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _less(self: Any, other: object) -> Any:
    return _values(self) < _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _frozen(self: Any, name: str, *_: Any) -> None:
    from dataclasses import FrozenInstanceError  # noqa: PLC0415 - the import that this module is there to avoid

    raise FrozenInstanceError(f"cannot assign to field {name!r} of {type(self).__name__}")


def _state(self: Any) -> tuple[Any, ...]:
    return _values(self)


def _restore(self: Any, state: tuple[Any, ...]) -> None:
    for name, item in zip(self.__slots__, state, strict=True):
        object.__setattr__(self, name, item)


class _Fields:
    """What ``dataclasses`` asks a class for, made when it asks."""

    def __init__(self, defaults: dict[str, Any], *, kw_only: bool) -> None:
        self._defaults = defaults
        self._kw_only = kw_only

    def __get__(self, _: object, cls: type) -> Any:
        from dataclasses import field, make_dataclass  # noqa: PLC0415 - as above; whoever asks has imported it

        fields = [
            (name, kind, field(default=self._defaults[name]) if name in self._defaults else field())
            for name, kind in cls.__annotations__.items()
        ]
        twin: Any = make_dataclass(cls.__name__, fields, kw_only=self._kw_only, frozen=True)
        return twin.__dataclass_fields__
