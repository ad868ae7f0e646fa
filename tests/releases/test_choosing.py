"""Choosing: what a rollback can go back to, what a promotion may take along, and sets that hold together."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.ids import Channel, Name
from pawl.registry.channels import ChannelState, Pin
from pawl.releases.choosing import complete, live_before, published, unmet_after
from registry.make import Line, adopted, catalog, pin, withdrawn
from registry.make import published as publish

A, B, C = Name("a"), Name("b"), Name("c")
Moves = Mapping[Name, Pin | None]


def refs(moves: Moves | None) -> list[str] | None:
    return None if moves is None else sorted(str(item.ref) if item else f"-{name}" for name, item in moves.items())


A1, A2 = pin("a", "1.0.0", b=">=1,<2"), pin("a", "2.0.0", b=">=2,<3")
B1, B11, B2 = pin("b", "1.0.0"), pin("b", "1.1.0"), pin("b", "2.0.0", c=">=1")
C1 = pin("c", "1.0.0")
U1, U2 = pin("u", "1.0.0", b=">=1,<2"), pin("u", "2.0.0", b=">=2")

ROLLBACKS: list[tuple[str, Line, Moves, list[str] | None]] = [
    ("nothing else moves", Line().pinned(B1).pinned(B11), {B: B1}, ["b@1.0.0"]),
    ("what it requires moves", Line().pinned(A1, B1).pinned(A2, B2, C1), {A: A1}, ["a@1.0.0", "b@1.0.0"]),
    ("what requires it moves", Line().pinned(A1, B1).pinned(A2, B2, C1), {B: B1}, ["a@1.0.0", "b@1.0.0"]),
    ("last live first", Line().pinned(A1, B1).pinned(B11).pinned(A2, B2, C1), {A: A1}, ["a@1.0.0", "b@1.1.0"]),
    (
        "what was never live is not taken",
        Line().pinned(A1, B1).pinned(A2, B2, C1),
        {A: pin("a", "0.9.0", b="<1")},
        None,
    ),
    (
        "two that require it",
        Line().pinned(A1, B1, U1).pinned(A2, B2, C1, U2),
        {B: B1},
        ["a@1.0.0", "b@1.0.0", "u@1.0.0"],
    ),
    (
        "by way of what both require",
        Line().pinned(A1, B1, U1).pinned(A2, B2, C1, U2),
        {A: A1},
        ["a@1.0.0", "b@1.0.0", "u@1.0.0"],
    ),
    ("what was asked for stays", Line().pinned(A1, B1).pinned(A2, B2, C1), {A: A1, B: B2}, None),
    ("back onto what was taken off", Line().pinned(A1, B1).removed("a").removed("b"), {A: A1}, ["a@1.0.0", "b@1.0.0"]),
]


@pytest.mark.parametrize(
    ("_", "line", "asked", "expected"), ROLLBACKS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_sets_that_go_back_together(_: str, line: Line, asked: Moves, expected: list[str] | None) -> None:
    state = line.state
    found = complete(state, asked, live_before(state))
    assert refs(found) == expected
    if found is not None:
        assert unmet_after(state, found) == ()
    assert (unmet_after(state, asked) == ()) == (refs(asked) == expected)


def test_candidates_of_a_rollback_are_the_present_pin_and_then_the_past() -> None:
    state = Line().pinned(B1).pinned(B11).pinned(B2).pinned(B11).state
    assert [str(item.ref) for item in live_before(state)(B)] == ["b@1.1.0", "b@2.0.0", "b@1.0.0"]
    assert list(live_before(state)(C)) == []


NEW, CANDIDATE = pin("b", "1.2.0"), pin("b", "1.3.0rc1")


def names(state: ChannelState, upstream: ChannelState | None, *steps: tuple[str, Mapping[str, object]]) -> list[str]:
    known = catalog(publish(B1, B11, CANDIDATE, NEW), adopted(1), *steps)
    return [str(item.version) for item in published(state, known, upstream)(B)]


def test_candidates_of_a_promotion() -> None:
    empty = Line().state
    assert names(empty, None) == ["1.2.0", "1.1.0", "1.0.0"]
    assert names(Line().pinned(B1).state, None)[0] == "1.0.0"
    assert names(empty, Line(Channel("dev")).pinned(B11).pinned(B1).state) == ["1.1.0", "1.0.0"]
    assert names(Line().rejected(NEW).state, None) == ["1.1.0", "1.0.0"]
    for level, versions in (("deprecated", 3), ("yanked", 2), ("revoked", 2)):
        assert len(names(empty, None, withdrawn("b@1.2.0", level))) == versions


def test_no_choice_picks_a_prerelease_that_nobody_asked_for() -> None:
    known = catalog(publish(pin("b", "1.0.0rc1")))
    state = Line().state
    assert complete(state, {A: A1}, published(state, known, None)) is None
    pinned = Line().pinned(pin("b", "1.0.1rc1")).state
    found = complete(pinned, {A: A1}, published(pinned, known, None))
    assert refs(found) == ["a@1.0.0"]


def test_a_whole_chain_comes_along() -> None:
    members = [pin(f"n{number}", "1.0.0", **{f"n{number + 1}": ">=1"}) for number in range(60)]
    last = pin("n60")
    known = catalog(publish(*members, last))
    state = Line().state
    found = complete(state, {members[0].name: members[0]}, published(state, known, None))
    assert found is not None
    assert len(found) == 61


VERSIONS = ("1.0.0", "2.0.0")
SPECIFIERS = st.sampled_from([">=1", "<2", ">=2", "==1.*"])


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Line, list[Pin]]:
    """Draw a handful of names at two versions each, requiring each other anyhow, and what is pinned of them."""
    letters = "abcd"
    every = []
    for letter in letters:
        for version in VERSIONS:
            others = draw(st.dictionaries(st.sampled_from([item for item in letters if item != letter]), SPECIFIERS,
                                          max_size=2))  # fmt: skip
            every.append(pin(letter, version, **others))
    line = Line()
    chosen = draw(st.lists(st.sampled_from(every), max_size=4, unique_by=lambda item: item.name))
    return (line.pinned(*chosen) if chosen else line), every


@given(world=worlds(), data=st.data())
def test_what_is_proposed_keeps_what_was_asked_and_holds_together(
    world: tuple[Line, list[Pin]], data: st.DataObject
) -> None:
    line, every = world
    state = line.state
    wanted = data.draw(st.sampled_from(every))
    found = complete(state, {wanted.name: wanted}, published(state, catalog(publish(*every)), None))
    if found is not None:
        assert found[wanted.name] == wanted
        assert unmet_after(state, found) == ()
        assert all(item is not None for item in found.values())
