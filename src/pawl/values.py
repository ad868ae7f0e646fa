"""Values without what ``dataclasses`` imports.

``dataclass``, ``field`` and ``replace`` are those of the standard library to type checkers, and in use. They leave out
``inspect``, which the standard library's bring along and which takes longer to import than all that a reader of
snapshots needs, and make the methods of a class only when they are needed first. Modules that such a reader or
``pawl resolve`` imports take them from here; all others need not care.

Only what those modules use is there: classes with slots. ``dataclasses.replace``, ``fields`` and ``asdict`` know such
values, and equality, order, hash, ``repr`` and copies are those of the standard library.
"""

from __future__ import annotations

from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass, field, replace
    from typing import Any

    __all__ = ["dataclass", "field", "replace"]
else:

    def dataclass(*, slots, frozen=False, kw_only=False, eq=True, order=False):
        """Return what makes a class of annotated fields a value; ``slots`` must be true."""
        if not slots:
            raise TypeError("values have slots")
        return lambda cls: _made(cls, frozen=frozen, kw_only=kw_only, eq=eq, order=order)

    def field(*, default_factory, init=True, compare=True, repr=True):  # noqa: A002 - as dataclasses has it
        """Return what makes the value of a field anew for each object."""
        return _Field(default_factory, init=init, compare=compare, shown=repr)

    def replace(value, /, **changes):
        """Return a value of the same class with some fields changed."""
        form = value.__form__
        taken = (name for name in form.types if name not in changes and form.takes(name))
        return type(value)(**{name: getattr(value, name) for name in taken}, **changes)


class _Field:
    def __init__(self, factory: Callable[[], Any], *, init: bool, compare: bool, shown: bool) -> None:
        self.factory = factory
        self.init = init
        self.compare = compare
        self.shown = shown


class _Form:
    """What a class is made of: its fields, those of its bases first."""

    def __init__(self, cls: Any, defaults: dict[str, Any], *, frozen: bool, kw_only: bool) -> None:
        inherited = [base.__form__ for base in cls.__mro__[1:] if "__form__" in base.__dict__]
        self.types: dict[str, Any] = {}
        self.defaults: dict[str, Any] = {}
        for form in reversed(inherited):
            self.types |= form.types
            self.defaults |= form.defaults
        self.types |= cls.__annotations__
        self.defaults |= defaults
        self.frozen = frozen
        self.kw_only = kw_only
        self.special = {name: item for name, item in self.defaults.items() if isinstance(item, _Field)}
        special = self.special
        compared = [name for name in self.types if name not in special or special[name].compare]
        self.key: Callable[[Any], Any] = attrgetter(*compared) if compared else lambda _: ()
        """What values are compared by."""
        self.shown = tuple(name for name in self.types if name not in special or special[name].shown)

    def takes(self, name: str) -> bool:
        """Whether a field is given when an object is made."""
        item = self.defaults.get(name)
        return item.init if isinstance(item, _Field) else True


def _made(cls: type, *, frozen: bool, kw_only: bool, eq: bool, order: bool) -> type:
    """Return the class again, with slots for its fields and the methods of a value that it does not write itself."""
    written = {key: item for key, item in cls.__dict__.items() if key not in {"__dict__", "__weakref__"}}
    own = tuple(cls.__annotations__)  # its own, not those of its bases
    form = _Form(cls, {name: written.pop(name) for name in own if name in written}, frozen=frozen, kw_only=kw_only)
    methods: dict[str, Any] = {
        "__slots__": own,
        "__qualname__": cls.__qualname__,
        "__match_args__": () if kw_only else tuple(form.types),
        "__form__": form,
        "__init__": _first_init(form),
        "__repr__": _repr,
        "__getstate__": _state,
        "__setstate__": _restore,
        "__dataclass_fields__": _Fields(),
    }
    if frozen:
        methods |= {"__setattr__": _frozen, "__delattr__": _frozen}
    if eq:
        methods |= {"__eq__": _equal, "__hash__": _hash if frozen else None}
    if order:
        methods |= {"__lt__": _less}
    return type(cls)(cls.__name__, cls.__bases__, {**methods, **written})


_PLAIN = 3
"""How many objects of a class are made without code of its own: many classes come to no more in a process."""


def _first_init(form: _Form) -> Any:
    """Return what makes the first objects of a class by hand, and then gives it an ``__init__`` that is code."""
    left = [None] * _PLAIN

    def first(self: Any, *arguments: Any, **fields: Any) -> None:
        if left and not arguments and not form.special and fields.keys() <= form.types.keys():
            given = {**form.defaults, **fields}
            if len(given) == len(form.types):
                left.pop()
                for name in form.types:
                    object.__setattr__(self, name, given[name])
                return
        owner: Any = next(base for base in type(self).__mro__ if base.__dict__.get("__form__") is form)
        made = owner.__init__ = _init(form)
        made(self, *arguments, **fields)

    return first


def _init(form: _Form) -> Any:
    """Return ``__init__`` of a form, whose names alone become code."""
    takes, sets = [], []
    for name in form.types:
        item = form.defaults.get(name)
        value = name
        if not isinstance(item, _Field):
            takes.append(f"{name}=defaults[{name!r}]" if name in form.defaults else name)
        else:
            made = f"defaults[{name!r}].factory()"
            if item.init:
                takes.append(f"{name}=missing")
                value = f"{made} if {name} is missing else {name}"
            else:
                value = made
        sets.append(f"    set(self, {name!r}, {value})")
    star = "*, " if form.kw_only and takes else ""
    code = f"def __init__(self, {star}{', '.join(takes)}):\n" + ("\n".join(sets) or "    pass")
    found: dict[str, Any] = {}
    exec(code, {"set": object.__setattr__, "defaults": form.defaults, "missing": object()}, found)  # noqa: S102
    return found["__init__"]


def _repr(self: Any) -> str:
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__form__.shown)
    return f"{type(self).__qualname__}({fields})"


def _equal(self: Any, other: object) -> Any:
    key = self.__form__.key
    return key(self) == key(other) if type(other) is type(self) else NotImplemented


def _less(self: Any, other: object) -> Any:
    key = self.__form__.key
    return key(self) < key(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(self.__form__.key(self))


def _frozen(self: Any, name: str, *_: Any) -> None:
    from dataclasses import FrozenInstanceError  # noqa: PLC0415 - the import that this module is there to avoid

    raise FrozenInstanceError(f"cannot assign to field {name!r} of {type(self).__name__}")


def _state(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, name) for name in self.__form__.types)


def _restore(self: Any, state: tuple[Any, ...]) -> None:
    for name, item in zip(self.__form__.types, state, strict=True):
        object.__setattr__(self, name, item)


class _Fields:
    """What ``dataclasses`` asks a class for, made when it asks first."""

    def __get__(self, _: object, cls: Any) -> Any:
        import dataclasses  # noqa: PLC0415 - as above; whoever asks has imported it

        form, fields = cls.__form__, []
        for name, kind in form.types.items():
            item = form.defaults.get(name, dataclasses.MISSING)
            if isinstance(item, _Field):
                made: Any = dataclasses.field(
                    default_factory=item.factory, init=item.init, compare=item.compare, repr=item.shown
                )
                fields.append((name, kind, made))
            else:
                fields.append((name, kind, dataclasses.field(default=item)))
        twin: Any = dataclasses.make_dataclass(cls.__name__, fields, kw_only=form.kw_only)
        cls.__dataclass_fields__ = twin.__dataclass_fields__  # asked for at every use of ``dataclasses.replace``
        return cls.__dataclass_fields__
