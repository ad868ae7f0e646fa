"""Choosing: the smallest set that holds together, why each of its members moves, and why there is none.

Tables show what is chosen; the property holds it against trying everything out in small worlds.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pawl.ids import Name
from pawl.registry.channels import ChannelState, Pin
from pawl.registry.versions import satisfies
from pawl.releases import choosing, domains, explaining, resolving
from pawl.releases.choosing import Proposal, complete, unmet_after
from pawl.releases.explaining import Conflict
from pawl.releases.offers import Offer, Offers
from registry.make import Line, pin

Pins = Sequence[Pin]


def channel(*pins: Pin) -> ChannelState:
    """Return a channel with these pins, however many."""
    return replace(Line().state, pins={item.name: item for item in pins})


def offering(*pins: Pin) -> Offers:
    """Return offers in the order given."""
    return lambda name: tuple(Offer(pin=item) for item in pins if item.name == name)


def asking(*pins: Pin) -> dict[Name, Pin]:
    return {item.name: item for item in pins}


def refs(found: Proposal | Conflict) -> list[str]:
    assert isinstance(found, Proposal), found
    return [str(item.ref) for item in found.moves.values()]


# names are read as: a requires b, b requires c; u requires b too
A1, A2 = pin("a", "1.0.0", b=">=1,<2"), pin("a", "2.0.0", b=">=2,<3")
B1, B11, B2, B3 = pin("b"), pin("b", "1.1.0"), pin("b", "2.0.0"), pin("b", "2.5.0", c=">=1")
C1 = pin("c")
U1, U2 = pin("u", "1.0.0", b="<2"), pin("u", "2.0.0", b=">=2")
W1, W2 = pin("w", "1.0.0", u="<2"), pin("w", "2.0.0", u=">=2")

SETS: list[tuple[str, Pins, Pins, Pins, list[str], list[str]]] = [
    ("nothing else need move", [A1, B1], [B11], [B11], ["b@1.1.0"], []),
    ("what holds already", [A1, B1], [A2, B2], [A1], ["a@1.0.0"], []),
    (
        "what is required moves",
        [A1, B1],
        [B2, B11],
        [A2],
        ["a@2.0.0", "b@2.0.0"],
        ["b 1.0.0 -> 2.0.0 because a@2.0.0 requires >=2,<3"],
    ),
    (
        "what is required comes in",
        [],
        [B11, B1],
        [A1],
        ["a@1.0.0", "b@1.1.0"],
        ["b (new) -> 1.1.0 because a@1.0.0 requires >=1,<2"],
    ),
    (
        "what requires it moves",
        [A1, B1],
        [A2],
        [B2],
        ["b@2.0.0", "a@2.0.0"],
        ["a 1.0.0 -> 2.0.0 because a@1.0.0 requires b >=1,<2, and b@2.0.0 moves"],
    ),
    (
        "what requires what is required moves",
        [A1, B1, U1],
        [B2, U2],
        [A2],
        ["a@2.0.0", "b@2.0.0", "u@2.0.0"],
        [
            "b 1.0.0 -> 2.0.0 because a@2.0.0 requires >=2,<3",
            "u 1.0.0 -> 2.0.0 because u@1.0.0 requires b <2, and b@2.0.0 moves, which follows from a@2.0.0",
        ],
    ),
    (
        "a chain says where it begins and what lies between",
        [A1, B1, U1, W1],
        [B2, U2, W2],
        [A2],
        ["a@2.0.0", "b@2.0.0", "u@2.0.0", "w@2.0.0"],
        [
            "b 1.0.0 -> 2.0.0 because a@2.0.0 requires >=2,<3",
            "u 1.0.0 -> 2.0.0 because u@1.0.0 requires b <2, and b@2.0.0 moves, which follows from a@2.0.0",
            (
                "w 1.0.0 -> 2.0.0 because w@1.0.0 requires u <2, and u@2.0.0 moves, "
                "which follows from a@2.0.0, by way of b@2.0.0"
            ),
        ],
    ),
    (
        "an older version is taken where the newest would bring more along",
        [A1, B1],
        [B3, B2, C1],
        [A2],
        ["a@2.0.0", "b@2.0.0"],
        ["b 1.0.0 -> 2.0.0 because a@2.0.0 requires >=2,<3"],
    ),
    ("a pre-release that is pinned fits ranges", [pin("b", "1.5.0rc1")], [B11], [A1], ["a@1.0.0"], []),
    ("a pre-release that is asked for does too", [], [B11], [A1, pin("b", "1.5.0rc1")], ["a@1.0.0", "b@1.5.0rc1"], []),
    (
        "those that require each other move together",
        [pin("x", y="<2"), pin("y", x="<2")],
        [pin("y", "2.0.0", x=">=2")],
        [pin("x", "2.0.0", y=">=2")],
        ["x@2.0.0", "y@2.0.0"],
        ["y 1.0.0 -> 2.0.0 because x@2.0.0 requires >=2"],
    ),
]


@pytest.mark.parametrize(
    ("_", "pinned", "offers", "asked", "expected", "reasons"), SETS, ids=[case[0].replace(" ", "-") for case in SETS]
)
def test_sets(_: str, pinned: Pins, offers: Pins, asked: Pins, expected: list[str], reasons: list[str]) -> None:
    state = channel(*pinned)
    found = complete(state, asking(*asked), offering(*offers))
    assert isinstance(found, Proposal)
    assert refs(found) == expected
    assert [str(reason) for reason in found.reasons] == reasons
    assert found.smallest
    assert unmet_after(state, found.moves) == ()


def barred(item: Pin, bar: str, way: str | None = None) -> Offer:
    return Offer(pin=item, bar="withdrawn", why=bar, way=way)


CONFLICTS: list[tuple[str, Pins, Sequence[Offer], Pins, list[str], str]] = [
    (
        "nothing published",
        [],
        [],
        [A1],
        ["a@1.0.0 requires b >=1,<2, and was asked for", "no version of b was ever published"],
        "publish a version of b >=1,<2, or ask for versions that require less",
    ),
    (
        "no version in the range",
        [B1],
        [Offer(pin=B11), Offer(pin=B1)],
        [A2],
        ["a@2.0.0 requires b >=2,<3, and was asked for", "of b there is 1.1.0 and 1.0.0 (outside >=2,<3)"],
        "publish a version of b >=2,<3, or ask for versions that require less",
    ),
    (
        "what fits is barred",
        [B1],
        [barred(B3, "yanked", "restore it"), barred(pin("b", "9.0.0"), "revoked")],
        [A2],
        [
            "a@2.0.0 requires b >=2,<3, and was asked for",
            "of b there is 2.5.0 (yanked); 9.0.0 and 1.0.0 (outside >=2,<3)",
        ],
        "restore it",
    ),
    (
        "two that were asked for",
        [],
        [],
        [A1, B2],
        ["a@1.0.0 requires b >=1,<2, and was asked for", "b@2.0.0 was asked for (outside >=1,<2)"],
        "ask for versions that go together",
    ),
    (
        "a dependent that has no newer version",
        [B1, U1],
        [],
        [B2],
        ["of u there is 1.0.0 (requires b <2, and b@2.0.0 was asked for)"],
        (
            "publish a version of u that goes with what moves, or take it off: "
            'pawl remove u --channel staging --reason "..."'
        ),
    ),
    (
        "two ranges that have nothing in common",
        [],
        [Offer(pin=B2), Offer(pin=B1)],
        [A1, U2],
        [
            "a@1.0.0 requires b >=1,<2, and was asked for",
            "u@2.0.0 requires b >=2, and was asked for",
            "of b there is 2.0.0 (outside >=1,<2); 1.0.0 (outside >=2)",
        ],
        "publish a version of b that fits, or ask for versions that require less",
    ),
    (
        "a chain that ends in nothing",
        [],
        [Offer(pin=B3)],
        [A2],
        [
            "a@2.0.0 requires b >=2,<3, and was asked for",
            "of b there is 2.5.0 (requires c >=1)",
            "b@2.5.0 requires c >=1",
            "no version of c was ever published",
        ],
        "publish a version of b >=2,<3, or ask for versions that require less",
    ),
]


@pytest.mark.parametrize(
    ("_", "pinned", "offers", "asked", "sentences", "hint"),
    CONFLICTS,
    ids=[case[0].replace(" ", "-") for case in CONFLICTS],
)
def test_conflicts(_: str, pinned: Pins, offers: Sequence[Offer], asked: Pins, sentences: list[str], hint: str) -> None:
    def there(name: Name) -> tuple[Offer, ...]:
        return tuple(offer for offer in offers if offer.pin.name == name)

    found = complete(channel(*pinned), asking(*asked), there)
    assert isinstance(found, Conflict)
    first, *others = found.sentences
    words = " and ".join(str(item.ref) for item in asked)
    assert first == f"no set of versions on staging holds together with {words}"
    assert others == sentences
    assert found.hint == hint


def test_a_conflict_is_never_longer_than_a_screen() -> None:
    asked = [pin(f"a{number:02}", b=f">={number}") for number in range(1, 30)]
    versions = [Offer(pin=pin("b", f"{number}.0.0")) for number in range(25, 0, -1)]
    found = complete(channel(), asking(*asked), lambda name: tuple(versions) if name == "b" else ())
    assert isinstance(found, Conflict)
    assert len(found.sentences) == explaining.MAX_SENTENCES
    assert found.sentences[0].endswith("a01@1.0.0, a02@1.0.0, a03@1.0.0, a04@1.0.0 and 25 others")
    assert found.sentences[-1] == "19 more requirements stand behind these"


LARGER = (
    [pin("a")],
    [pin("b", "3.0.0", c=">=1"), pin("b", "2.0.0"), C1],
    [pin("a", "2.0.0", b=">=2")],
)
"""The newest b brings c along; resolvelib takes it."""
MISSED = (
    [pin("d")],
    [
        pin("b", "2.0.0", d="==2.*"),
        pin("c", "2.0.0", b="<3"),
        pin("c", a=">=1"),
        pin("d", "2.0.0", b=">=2", c=">=3"),
    ],
    [pin("a", c=">=1")],
)
"""There is a set, and resolvelib says that there is none."""
NONE = (
    [pin("a", "2.0.0"), pin("b", "2.0.0")],
    [
        pin("a", d=">=2"),
        pin("c", "2.0.0", d="==2.*"),
        pin("c", a="<2"),
        pin("d", "2.0.0", e="==2.*", c=">=1"),
        pin("d", e="==2.*"),
        pin("e", "2.0.0", b=">=3"),
    ],
    [pin("b", c=">=1")],
)
"""No set, and no name is left without a value until some are tried."""


def narrowed(world: tuple[Pins, Pins, Pins]) -> domains.Domains:
    pinned, offers, asked = world
    made = domains.Domains(domains.Versions(asking(*pinned), asking(*asked), offering(*offers)))
    assert made.follow(asking(*asked))
    return made


def test_what_resolvelib_finds_is_made_smaller() -> None:
    pinned, offers, asked = LARGER
    assert len(resolving.resolve(narrowed(LARGER)).moves or ()) == 2
    assert refs(complete(channel(*pinned), asking(*asked), offering(*offers))) == ["a@2.0.0", "b@2.0.0"]


def test_what_resolvelib_misses_is_found() -> None:
    pinned, offers, asked = MISSED
    assert resolving.resolve(narrowed(MISSED)).moves is None
    assert refs(complete(channel(*pinned), asking(*asked), offering(*offers))) == ["a@1.0.0", "c@1.0.0"]


def test_where_every_choice_fails_the_last_conflict_is_told() -> None:
    pinned, offers, asked = NONE
    found = complete(channel(*pinned), asking(*asked), offering(*offers))
    assert isinstance(found, Conflict)
    assert found.sentences[0] == "no set of versions on staging holds together with b@1.0.0"
    assert 3 <= len(found.sentences) <= explaining.MAX_SENTENCES
    assert found == complete(channel(*pinned), asking(*asked), offering(*offers))


def test_a_search_that_gives_up_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    pinned, offers, asked = LARGER
    monkeypatch.setattr(choosing, "MAX_TRIES", 0)
    found = complete(channel(*pinned), asking(*asked), offering(*offers))
    assert isinstance(found, Proposal)
    assert not found.smallest
    assert unmet_after(channel(*pinned), found.moves) == ()
    pinned, offers, asked = MISSED
    lost = complete(channel(*pinned), asking(*asked), offering(*offers))
    assert isinstance(lost, Conflict)
    assert lost.sentences == ("no set of versions on staging was found for a@1.0.0: gave up after 0 tries",)


def test_too_many_versions_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [pin("b", f"2.{number}.0") for number in range(9)]
    monkeypatch.setattr(domains, "MAX_VERSIONS", 5)
    found = complete(channel(A1, B1), asking(A2), offering(*many))
    assert isinstance(found, Conflict)
    assert found.sentences[0].endswith("gave up after looking at 5 versions")
    monkeypatch.setattr(domains, "MAX_OF_ONE", 3)
    assert refs(complete(channel(A1, B1), asking(A2), offering(*many))) == ["a@2.0.0", "b@2.0.0"]
    late = complete(channel(A1, B1), asking(A2), offering(*(pin("b", f"1.{n}.0") for n in range(1, 4)), B2))
    assert isinstance(late, Conflict)
    assert "2.0.0 (not tried, there are too many)" in str(late.sentences)


def test_rounds_of_resolvelib_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolving, "MAX_ROUNDS", 1)
    assert resolving.resolve(narrowed(LARGER)) == resolving.Resolved(moves=None)
    pinned, offers, asked = LARGER
    assert refs(complete(channel(*pinned), asking(*asked), offering(*offers))) == ["a@2.0.0", "b@2.0.0"]


def test_a_long_chain_comes_along() -> None:
    members = [pin(f"n{number}", **{f"n{number + 1}": ">=1"}) for number in range(60)]
    found = complete(channel(), asking(members[0]), offering(*members, pin("n60")))
    assert len(refs(found)) == 61
    assert isinstance(found, Proposal)
    assert str(found.reasons[-1]).endswith("n1@1.0.0, n2@1.0.0, n3@1.0.0, n4@1.0.0 and 3 more")


def test_only_what_is_connected_is_looked_at() -> None:
    others = [pin(f"o{number}", core=">=1") for number in range(1_000)]
    looked: list[Name] = []

    def offers(name: Name) -> tuple[Offer, ...]:
        looked.append(name)
        return offering(B2, *others)(name)

    found = complete(channel(A1, B1, pin("core"), *others), asking(pin("a", "2.0.0", b=">=2", core=">=1")), offers)
    assert refs(found) == ["a@2.0.0", "b@2.0.0"]
    assert set(looked) == {"b", "core"}


def test_resolvelib_is_loaded_where_more_must_move_and_not_before() -> None:
    code = "import sys, pawl.releases.choosing, pawl.operations.releasing.release; print('resolvelib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


LETTERS = "abcde"
SPECIFIERS = st.sampled_from([">=1", "<2", ">=2", "<3", "==1.*", "==2.*", ">=3", "!=2.*"])
World = tuple[Pins, Pins, Pins]


def holds(chosen: Mapping[Name, Pin]) -> bool:
    return all(served(member, chosen) for member in chosen.values())


def served(item: Pin, there: Mapping[Name, Pin]) -> bool:
    return all(name in there and satisfies(there[name].version, wanted) for name, wanted in item.requires.items())


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Draw at most five names at up to three versions that require each other anyhow, a channel, and what is asked."""
    letters = LETTERS[: draw(st.integers(2, 5))]
    every: list[Pin] = []
    for letter in letters:
        others = st.sampled_from([item for item in letters if item != letter])
        numbers = range(draw(st.integers(1, 3)), 0, -1)
        wanted = st.dictionaries(others, SPECIFIERS, max_size=2)
        every += [pin(letter, f"{number}.0.0", **draw(wanted)) for number in numbers]
    pinned = draw(st.lists(st.sampled_from(every), max_size=5, unique_by=lambda item: item.name))
    while not holds(asking(*pinned)):  # a channel holds together: what misses something is taken off
        there = asking(*pinned)
        pinned = [item for item in pinned if served(item, there)]
    asked = draw(st.lists(st.sampled_from(every), min_size=1, max_size=2, unique_by=lambda item: item.name))
    return pinned, every, asked


def sizes(world: World) -> Iterator[int]:
    """Yield how many further moves each consistent set has, by trying everything out."""
    pinned, every, asked = world
    pins, wanted = asking(*pinned), asking(*asked)
    values: list[list[Pin | None]] = []
    for letter in LETTERS:
        name = Name(letter)
        absent: list[Pin | None] = [] if name in pins else [None]
        values.append([wanted[name]] if name in wanted else [*absent, *(item for item in every if item.name == name)])
    for row in product(*values):
        chosen = {item.name: item for item in row if item}
        if holds(chosen):
            yield sum(name not in wanted and item is not pins.get(name) for name, item in chosen.items())


@given(world=worlds())
@example(world=LARGER)
@example(world=MISSED)
@example(world=NONE)
def test_the_smallest_set_is_found_whenever_there_is_one(world: World) -> None:
    """Asked stays, nothing is left unmet, no set has fewer further moves; a conflict only where nothing holds."""
    pinned, every, asked = world
    state = channel(*pinned)
    smallest = min(sizes((pinned, [*every, *pinned, *asked], asked)), default=None)
    found = complete(state, asking(*asked), offering(*every))
    if isinstance(found, Conflict):
        assert smallest is None
        assert 2 <= len(found.sentences) <= explaining.MAX_SENTENCES
        assert found.hint
        return
    assert {item.name: found.moves[item.name] for item in asked} == asking(*asked)
    assert unmet_after(state, found.moves) == ()
    further = {name: item for name, item in found.moves.items() if item not in asked}
    assert (len(further), True) == (smallest, found.smallest)
    assert [reason.name for reason in found.reasons] == sorted(further)
    assert all(str(reason) for reason in found.reasons)
    assert all(item is not state.pins.get(name) for name, item in further.items())
