"""Which versions a set could be made of, and why the others could not.

Pure: offers come from the catalog and from the channel's history. A version that is *barred* is never chosen by itself;
the reason stays with it, so that a conflict can say why what exists is of no use. Whatever is chosen is judged by the
evaluator afterwards; bars only keep out what it would refuse in any case, and pre-releases, which nobody gets unasked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pawl.ids import Name
from pawl.registry.catalog import Catalog, Published
from pawl.registry.channels import ChannelState, Pin
from pawl.registry.versions import is_prerelease, newest_first
from pawl.releases.planning import pin_of

Bar: TypeAlias = Literal["pre-release", "withdrawn", "rejected", "order", "never-live"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One version of a name, as it would be pinned. ``why`` is in words what ``bar`` says; both absent if usable."""

    pin: Pin
    bar: Bar | None = None
    why: str | None = None
    way: str | None = None
    """What lifts the bar, if anything does."""


Offers: TypeAlias = Callable[[Name], tuple[Offer, ...]]
"""Every version of a name, those to be tried first in front. The present pin is among them only by chance."""


def published(state: ChannelState, catalog: Catalog, upstream: ChannelState | None, now: str) -> Offers:
    """Return the offers of a promotion: published versions from the newest down.

    Barred are pre-releases, what is yanked, revoked or rejected here, and, where another channel comes first, what was
    never live there.
    """

    def offers(name: Name) -> tuple[Offer, ...]:
        there = {item.version: item for item in catalog.versions_of(name)}
        return tuple(offer(there[version]) for version in newest_first(there))

    def offer(item: Published) -> Offer:
        pin = pin_of(item)
        if is_prerelease(item.version):
            way = f"ask for {item.ref} too: a pre-release moves only where it is named"
            return Offer(pin=pin, bar="pre-release", why="a pre-release", way=way)
        if upstream is not None and not upstream.was_live(item.digest, item.name):
            way = f'promote it there first: pawl promote {item.ref} --to {upstream.channel} --reason "..."'
            return Offer(pin=pin, bar="order", why=f"never live on {upstream.channel}", way=way)
        return _held(pin, state, catalog, now) or Offer(pin=pin)

    return offers


def live_before(state: ChannelState, catalog: Catalog, now: str) -> Offers:
    """Return the offers of a rollback: what was live on the channel before, last live first.

    What was live came in by its exact name, so pre-releases are among it. Barred are what is yanked, revoked or
    rejected here, and what was never live here, which follows from the newest down.
    """

    def offers(name: Name) -> tuple[Offer, ...]:
        earlier = [past.pin for past in state.earlier(name)]
        were = {pin.digest for pin in earlier}
        others = {item.version: item for item in catalog.versions_of(name) if item.digest not in were}
        never = (pin_of(others[version]) for version in newest_first(others))
        return (
            *(_held(pin, state, catalog, now) or Offer(pin=pin) for pin in earlier),
            *(_new(pin, state) for pin in never),
        )

    return offers


def _new(pin: Pin, state: ChannelState) -> Offer:
    """What would be new to the channel is no way back."""
    way = f'to move on to it: pawl promote {pin.ref} --to {state.channel} --reason "..."'
    present = state.pins.get(pin.name)
    if present is not None and present.digest == pin.digest:
        return Offer(pin=pin)
    return Offer(pin=pin, bar="never-live", why=f"never live on {state.channel}", way=way)


def _held(pin: Pin, state: ChannelState, catalog: Catalog, now: str) -> Offer | None:
    withdrawal = catalog.withdrawal(pin.ref)
    if withdrawal is not None and withdrawal.level != "deprecated":
        way = f'pawl restore {pin.ref} --reason "..." takes it back' if withdrawal.level == "yanked" else None
        return Offer(pin=pin, bar="withdrawn", why=withdrawal.level, way=way)
    rejection = state.rejections.get(pin.content)
    if rejection is not None and rejection.holds(now):
        how = "rolled back" if rejection.cause == "rollback" else "rejected"
        way = f'if it may come back: pawl unreject {rejection.ref} --channel {state.channel} --reason "..."'
        return Offer(pin=pin, bar="rejected", why=f"{how} on {state.channel}", way=way)
    return None
