"""Offers: what a promotion and a rollback may take along, in which order, and why not the rest."""

from __future__ import annotations

from collections.abc import Mapping

from pawl.ids import Channel, Name
from pawl.registry.channels import ChannelState
from pawl.releases.offers import Offers, live_before, published
from registry.make import AT, Line, adopted, catalog, pin, withdrawn
from registry.make import published as publish

B1, B11, B12, RC = pin("b", "1.0.0"), pin("b", "1.1.0"), pin("b", "1.2.0"), pin("b", "1.3.0rc1")
ALL = publish(B1, RC, B12, B11)
LATER = "2027-01-01T00:00:00Z"


def shown(offers: Offers) -> list[str]:
    return [f"{offer.pin.version} {offer.why or 'usable'}" for offer in offers(Name("b"))]


def promotion(
    state: ChannelState, upstream: ChannelState | None, *steps: tuple[str, Mapping[str, object]], now: str = AT
) -> list[str]:
    return shown(published(state, catalog(ALL, adopted(1), *steps), upstream, now))


def test_a_promotion_takes_final_versions_from_the_newest_down() -> None:
    expected = ["1.3.0rc1 a pre-release", "1.2.0 usable", "1.1.0 usable", "1.0.0 usable"]
    assert promotion(Line().state, None) == expected
    assert promotion(Line().pinned(B1).state, None) == expected
    assert shown(published(Line().state, catalog(), None, AT)) == []


def test_a_promotion_takes_what_was_live_on_the_channel_before() -> None:
    dev = Line(Channel("dev")).pinned(B11).pinned(B1).state
    never = ["1.3.0rc1 a pre-release", "1.2.0 never live on dev"]
    assert promotion(Line().state, dev) == [*never, "1.1.0 usable", "1.0.0 usable"]


def test_a_promotion_takes_nothing_that_would_be_refused() -> None:
    for level, word in (("deprecated", "usable"), ("yanked", "yanked"), ("revoked", "revoked")):
        assert promotion(Line().state, None, withdrawn("b@1.2.0", level))[1] == f"1.2.0 {word}"
    assert promotion(Line().rejected(B12).state, None)[1] == "1.2.0 rejected on staging"
    ended = Line().rejected(B12, until="2026-06-01T00:00:00Z").state
    assert promotion(ended, None)[1] == "1.2.0 rejected on staging"
    assert promotion(ended, None, now=LATER)[1] == "1.2.0 usable"


def rollback(state: ChannelState, *steps: tuple[str, Mapping[str, object]]) -> list[str]:
    return shown(live_before(state, catalog(ALL, adopted(1), *steps), AT))


def test_a_rollback_takes_what_was_live_last_live_first() -> None:
    state = Line().pinned(B1).pinned(RC).pinned(B11).pinned(B12).pinned(B11).state
    assert rollback(state) == ["1.2.0 usable", "1.3.0rc1 usable", "1.0.0 usable", "1.1.0 usable"]
    assert rollback(Line().pinned(B1).state) == [
        "1.3.0rc1 never live on staging",
        "1.2.0 never live on staging",
        "1.1.0 never live on staging",
        "1.0.0 usable",
    ]


def test_a_rollback_takes_nothing_that_would_be_refused() -> None:
    state = Line().pinned(B12).pinned(B1).state
    assert rollback(state, withdrawn("b@1.2.0", "yanked"))[0] == "1.2.0 yanked"
    back = [{"ref": "b@1.2.0", "content": B12.content, "cause": "rollback", "until": None}]
    left = Line().pinned(B1).pinned(B12).pinned(B1, action="rollback", rejects=back).state
    assert rollback(left)[0] == "1.2.0 rolled back on staging"


def test_each_bar_that_can_be_lifted_says_how() -> None:
    dev = Line(Channel("dev")).pinned(B11).pinned(B12).pinned(B1).state
    known = catalog(ALL, adopted(1), withdrawn("b@1.1.0", "yanked"))
    forward = published(Line().rejected(B12).state, known, dev, AT)(Name("b"))
    assert [(offer.bar, offer.way) for offer in forward] == [
        ("pre-release", "ask for b@1.3.0rc1 too: a pre-release moves only where it is named"),
        ("rejected", 'if it may come back: pawl unreject b@1.2.0 --channel staging --reason "..."'),
        ("withdrawn", 'pawl restore b@1.1.0 --reason "..." takes it back'),
        (None, None),
    ]
    only = Line(Channel("dev")).pinned(B1).state
    assert published(Line().state, known, only, AT)(Name("b"))[1].way == (
        'promote it there first: pawl promote b@1.2.0 --to dev --reason "..."'
    )
    assert live_before(Line().pinned(B1).state, known, AT)(Name("b"))[1].way == (
        'to move on to it: pawl promote b@1.2.0 --to staging --reason "..."'
    )
