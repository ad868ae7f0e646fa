"""Closures: what is missing or does not fit is reported with who wants it; circles end where they began."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.ids import Name, Version
from pawl.registry.closure import closure_of, dependents_of, requirement_cycles
from registry.make import Item, item, together

UNMET: list[tuple[str, list[Item], list[str]]] = [
    ("nothing is required", [item("a")], []),
    ("met", [item("a", b=">=1,<2"), item("b", "1.9.0")], []),
    ("met by a pinned pre-release", [item("a", b=">=1,<2"), item("b", "1.5.0rc1")], []),
    ("missing", [item("a", b=">=1")], ["a@1.0.0 requires b >=1, but b is not pinned"]),
    ("too old", [item("a", b=">=1"), item("b", "0.9.0")], ["a@1.0.0 requires b >=1, but b@0.9.0 is pinned"]),
    ("a pre-release of the bound", [item("a", b="<2"), item("b", "2.0.0a1")], [
        "a@1.0.0 requires b <2, but b@2.0.0a1 is pinned"]),
    ("deeper", [item("a", b=">=1"), item("b", c="==2.*"), item("c", "3.0.0")], [
        "b@1.0.0 requires c ==2.*, but c@3.0.0 is pinned"]),
    ("two of them", [item("a", b=">=2", c=">=1"), item("b")], [
        "a@1.0.0 requires b >=2, but b@1.0.0 is pinned", "a@1.0.0 requires c >=1, but c is not pinned"]),
    ("by two", [item("a", b=">=1", c=">=1"), item("b", d=">=2"), item("c", d="<1"), item("d")], [
        "b@1.0.0 requires d >=2, but d@1.0.0 is pinned", "c@1.0.0 requires d <1, but d@1.0.0 is pinned"]),
    ("in a circle", [item("a", b=">=1"), item("b", a=">=2")], ["b@1.0.0 requires a >=2, but a@1.0.0 is pinned"]),
    ("beside it", [item("a"), item("z", y=">=1")], []),
]  # fmt: skip


@pytest.mark.parametrize(("_", "items", "sentences"), UNMET, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_not_met_is_said(_: str, items: list[Item], sentences: list[str]) -> None:
    assert sorted(str(unmet) for unmet in closure_of(Name("a"), together(*items)).unmet) == sentences


def test_members_are_the_root_and_then_the_names_in_order() -> None:
    items = together(item("m", z=">=1", b=">=1"), item("b"), item("z", c=">=1"), item("c", m=">=1"), item("other"))
    assert [member.name for member in closure_of(Name("m"), items).members] == ["m", "b", "c", "z"]


def test_the_digest_is_that_of_exactly_these_members() -> None:
    items = (item("a", b=">=1"), item("b"))
    digest = closure_of(Name("a"), together(*items)).digest
    assert closure_of(Name("a"), together(*items, item("beside"))).digest == digest
    assert closure_of(Name("a"), together(items[0], item("b", "1.0.1"))).digest != digest
    assert closure_of(Name("a"), together(items[0])).digest != digest
    assert closure_of(Name("b"), together(*items)).digest != digest


DEPENDENTS: list[tuple[list[Item], str, list[str]]] = [
    ([item("a"), item("b", a=">=1"), item("c", b=">=1"), item("d")], "a", ["b", "c"]),
    ([item("b", a=">=1")], "a", ["b"]),
    ([item("a", b=">=1"), item("b", a=">=1")], "a", ["b"]),
    ([item("a", a=">=1")], "a", []),
    ([item("a"), item("b", a=">=9")], "a", ["b"]),
]


@pytest.mark.parametrize(("items", "changed", "users"), DEPENDENTS)
def test_dependents(items: list[Item], changed: str, users: list[str]) -> None:
    assert list(dependents_of([Name(changed)], together(*items))) == users


CYCLES: list[tuple[list[Item], list[tuple[str, ...]]]] = [
    ([item("a", b=">=1"), item("b", c=">=1"), item("c")], []),
    ([item("a", a=">=1")], [("a",)]),
    ([item("b", c=">=1"), item("c", b=">=1")], [("b", "c")]),
    ([item("a", b=">=1"), item("b", c=">=1"), item("c", b=">=1")], [("b", "c")]),
    ([item("a", b=">=1"), item("b", c=">=1"), item("c", a=">=1")], [("a", "b", "c")]),
    ([item("a", b=">=1"), item("b", a=">=1"), item("y", z=">=1"), item("z", y=">=1")], [("a", "b"), ("y", "z")]),
    ([item("a", gone=">=1")], []),
]


@pytest.mark.parametrize(("items", "cycles"), CYCLES)
def test_cycles_are_found_once_each(items: list[Item], cycles: list[tuple[str, ...]]) -> None:
    assert list(requirement_cycles(together(*items))) == cycles


NAMES = [Name(letter) for letter in "abcdef"]
GRAPHS = st.fixed_dictionaries({name: st.sets(st.sampled_from(NAMES), max_size=3) for name in NAMES})


@given(graph=GRAPHS)
def test_closures_and_dependents_are_two_ways_to_see_one_graph(graph: dict[Name, set[Name]]) -> None:
    items = together(*(item(name, **dict.fromkeys(wanted, ">=1")) for name, wanted in graph.items()))
    closures = {name: {member.name for member in closure_of(name, items).members} for name in NAMES}
    for name in NAMES:
        assert set(dependents_of([name], items)) == {user for user in NAMES if name in closures[user]} - {name}
    reached = {name: set().union(*(closures[wanted] for wanted in graph[name])) for name in NAMES}
    in_cycles = {name for cycle in requirement_cycles(items) for name in cycle}
    assert in_cycles <= {name for name in NAMES if name in reached[name]}
    assert bool(in_cycles) == any(name in reached[name] for name in NAMES)


def test_a_long_chain_takes_no_stack_and_little_time() -> None:
    count = 3_000
    names = [f"n{number}" for number in range(count)]
    items = together(*(item(name, **{after: ">=1"}) for name, after in zip(names, [*names[1:], "n0"], strict=True)))
    assert len(closure_of(Name("n0"), items).members) == count
    assert len(dependents_of([Name("n5")], items)) == count - 1
    assert [len(cycle) for cycle in requirement_cycles(items)] == [count]
    assert items[Name("n1")].version == Version("1.0.0")
