"""Values are those of ``dataclasses`` in everything but what is imported for them."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from pawl.ids import Name, Ref, Version
from pawl.problems import Fault
from pawl.procedures.schema import Validator
from pawl.values import dataclass, field, replace


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Theirs:
    code: str
    at: tuple[str, ...] = ()
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ours:
    """A value."""

    code: str
    at: tuple[str, ...] = ()
    hint: str | None = None

    @property
    def place(self) -> str:
        return "/".join(self.at)


GIVEN: list[dict[str, Any]] = [{"code": "a"}, {"code": "a", "at": ("x", "y")}, {"code": "b", "hint": "h"}]


@pytest.mark.parametrize("fields", GIVEN)
def test_fields_defaults_equality_hash_and_repr_are_the_same(fields: dict[str, Any]) -> None:
    ours, theirs = Ours(**fields), Theirs(**fields)
    assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
    assert repr(ours).removeprefix("Ours") == repr(theirs).removeprefix("Theirs")
    assert ours == Ours(**fields)
    assert hash(ours) == hash(Ours(**fields))
    assert ours != dataclasses.replace(ours, code="other")
    assert ours != object()
    assert [field.name for field in dataclasses.fields(ours)] == [field.name for field in dataclasses.fields(theirs)]
    assert dataclasses.replace(ours, hint="new") == replace(ours, hint="new") == Ours(**{**fields, "hint": "new"})
    assert (Ours.__name__, Ours.__qualname__, Ours.__module__, Ours.__doc__) == ("Ours", "Ours", __name__, "A value.")


def test_copies_and_pickles_are_equal() -> None:
    value = Ours(code="a", at=("x",))
    assert [copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))] == [value] * 3  # noqa: S301
    assert value.place == "x"


def test_nothing_changes_a_value() -> None:
    value: Any = Ours(code="a")
    for name in ("code", "unknown"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, name, "b")
    with pytest.raises(dataclasses.FrozenInstanceError):
        del value.code
    assert not hasattr(value, "__dict__")


@pytest.mark.parametrize("call", [Ours, lambda: Ours("a"), lambda: Ours(code="a", more=1)])  # type: ignore[call-arg]
def test_wrong_fields_are_a_type_error(call: Any) -> None:
    with pytest.raises(TypeError):
        call()


def test_order_and_positions_where_a_class_asks_for_them() -> None:
    first, second = Ref(Name("a"), Version("1.0.0")), Ref(Name("b"), Version("0.1.0"))
    assert sorted([second, first]) == [first, second]
    match first:
        case Ref(name, version):
            assert (name, version) == ("a", "1.0.0")
    with pytest.raises(TypeError):
        Fault(code="a", message="b") < Fault(code="a", message="c")  # type: ignore[operator]  # noqa: B015


def test_without_equality_a_value_is_itself() -> None:
    one, other = Validator(None), Validator(None)
    assert one != other
    assert len({one, other}) == 2


@dataclass(slots=True)
class Basket:
    """A value that changes, with what is made anew for each."""

    owner: str
    things: list[str] = field(default_factory=list)
    _seen: dict[str, int] = field(default_factory=dict, init=False, compare=False, repr=False)

    def note(self, thing: str) -> None:
        self.things.append(thing)
        self._seen[thing] = self._seen.get(thing, 0) + 1


@dataclass(frozen=True, slots=True)
class Place:
    root: str


@dataclass(frozen=True, slots=True)
class Room(Place):
    """A value with a base, and nothing of its own."""


@dataclass(frozen=True, slots=True)
class Shelf(Room):
    number: int = 1


def test_what_is_made_anew_is_not_shared() -> None:
    one, other = Basket("a"), Basket("a")
    one.note("x")
    assert (one.things, other.things) == (["x"], [])
    assert Basket("a", ["x"]) == one != other
    assert repr(one) == "Basket(owner='a', things=['x'])"
    one.owner = "b"
    with pytest.raises(TypeError):
        hash(one)
    assert replace(one, owner="c") == dataclasses.replace(one, owner="c")
    changed = replace(one, owner="c")
    assert (changed.owner, changed.things) == ("c", ["x"])
    changed.note("y")
    assert one.things == ["x", "y"], "as the standard library, replace shares what it is not told"
    with pytest.raises(TypeError):
        Basket("a", _seen={})  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Basket()  # type: ignore[call-arg]


def test_fields_of_bases_come_first() -> None:
    shelf = Shelf("r", 2)
    assert (shelf.root, shelf.number) == ("r", 2)
    assert Shelf("r") == Shelf("r", 1)
    assert [field.name for field in dataclasses.fields(Shelf)] == ["root", "number"]
    assert Room("r") == Room("r")
    assert Room("r") != Place("r")
    assert repr(Room("r")) == "Room(root='r')"
    assert not hasattr(Room("r"), "__dict__")
    assert pickle.loads(pickle.dumps(shelf)) == shelf  # noqa: S301
    with pytest.raises(dataclasses.FrozenInstanceError):
        shelf.root = "s"  # type: ignore[misc]


def test_without_slots_it_is_refused() -> None:
    make: Any = dataclass
    with pytest.raises(TypeError):
        make(frozen=True, slots=False)
