"""Why a set moves, and why no set does: explanations as values, in an order that never changes.

A *reason* belongs to each further move: who requires what the present version is not. A *conflict* names the
requirements that cannot hold together, who has them, and for each version that exists why it is of no use.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pawl.ids import Name, Ref, Version
from pawl.registry.channels import Pin
from pawl.registry.versions import satisfies
from pawl.releases.domains import Domains, Versions, meets
from pawl.releases.offers import Offer

MAX_SENTENCES = 10
MAX_LISTED = 4
"""How many versions, or members of a chain, are named before the rest is only counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why ``name`` moves along: ``by`` requires ``required`` in ``specifier``, which would not hold otherwise.

    Either ``required`` is ``name``, or ``by`` is ``name`` as it is pinned now and ``moved`` is what leaves its range.
    """

    name: Name
    before: Version | None
    after: Version
    by: Ref
    required: Name
    specifier: str
    moved: Ref | None
    chain: tuple[Ref, ...]
    """From what was asked for to what this move is for, each moved for the one before it."""

    def __str__(self) -> str:
        moves = f"{self.name} {self.before or '(new)'} -> {self.after} because {self.by} requires"
        why = f"{self.required} {self.specifier}, and {self.moved} moves" if self.moved else self.specifier
        if len(self.chain) == 1:
            return f"{moves} {why}"
        way = f", by way of {_few(self.chain[1:-1], 'more')}" if len(self.chain) > 2 else ""
        return f"{moves} {why}, which follows from {self.chain[0]}{way}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Why no set holds together. The first sentence says of what; ``hint`` is what can be done."""

    sentences: tuple[str, ...]
    hint: str


def reasons_for(versions: Versions, moves: Mapping[Name, Pin]) -> dict[Name, Reason]:
    """Return a reason for every move that something else forces, directly or by way of others, by what was asked for.

    Whatever gets none can stay where it is: nobody who moves requires otherwise, nor does it require so of them.
    """
    found: dict[Name, Reason] = {}
    chains: dict[Name, tuple[Ref, ...]] = {name: (pin.ref,) for name, pin in sorted(versions.asked.items())}
    waiting = deque(chains)
    while waiting:
        name = waiting.popleft()
        pin = versions.asked.get(name) or moves[name]
        touched = {*pin.requires, *versions.users.get(name, ())}
        for other in sorted(touched & (moves.keys() - chains.keys())):
            present = versions.pins.get(other)
            specifier, moved = pin.requires.get(other), None
            if specifier is None or meets(pin, other, present):
                if meets(present, name, pin) or present is None:
                    continue
                specifier, moved = present.requires[name], pin.ref
            found[other] = Reason(
                name=other,
                before=present.version if present else None,
                after=moves[other].version,
                by=present.ref if moved and present else pin.ref,
                required=name if moved else other,
                specifier=specifier,
                moved=moved,
                chain=chains[name],
            )
            chains[other] = (*chains[name], moves[other].ref)
            waiting.append(other)
    return found


def gave_up(channel: str, asked: Mapping[Name, Pin], why: str) -> Conflict:
    """Return the conflict of a search that came to its bounds: there may be a set, and nobody knows."""
    first = f"no set of versions on {channel} was found for {_refs(asked)}: {why}"
    return Conflict(sentences=(first,), hint="name more of the versions yourself, so that less is left to be found")


def conflict_of(channel: str, domains: Domains, causes: Iterable[tuple[Name, Pin | None, str | None]]) -> Conflict:
    """Return why there is no set: from the name that was left without a value, or from resolvelib's last ``causes``.

    A cause is who was wanted, by whom, and in which range, as in :class:`pawl.releases.resolving.Demand`.
    """
    telling = _Telling(domains, channel)
    if domains.empty is not None:
        telling.waiting[domains.empty] = []
    for name, by, specifier in causes if domains.empty is None else ():
        needs = telling.waiting.setdefault(name, [])
        if by is not None and specifier is not None:
            needs.append(_Need(by.ref, by.name, specifier))
    told = list(dict.fromkeys(telling.tell()))
    first = f"no set of versions on {channel} holds together with {_refs(domains.versions.asked)}"
    if len(told) >= MAX_SENTENCES:
        told = [*told[: MAX_SENTENCES - 2], f"{len(told) - MAX_SENTENCES + 2} more requirements stand behind these"]
    return Conflict(sentences=(first, *told), hint=telling.hint())


@dataclass(frozen=True, slots=True)
class _Need:
    by: Ref
    name: Name
    specifier: str


@dataclass(slots=True)
class _Telling:
    """Tells of one name after another; ``waiting`` holds those to come with what is known to be required of them."""

    domains: Domains
    channel: str
    waiting: dict[Name, list[_Need]] = field(default_factory=dict)
    told: dict[Name, list[_Need]] = field(default_factory=dict)
    barred: list[Offer] = field(default_factory=list)
    """Versions that fit and may not be used."""

    def tell(self) -> Iterator[str]:
        while self.waiting and len(self.told) < MAX_SENTENCES:
            name = next(iter(self.waiting))
            needs = list(dict.fromkeys([*self.waiting.pop(name), *self._needs(name)]))
            self.told[name] = needs
            yield from (f"{need.by} requires {name} {need.specifier}{self._standing(need)}" for need in needs)
            yield from self._versions(name, needs)
            for need in needs:
                self._ask(need.name)

    def _needs(self, name: Name) -> Iterator[_Need]:
        """Yield what those require of ``name`` for whom its values were struck out."""
        for by in sorted({by for (of, _), by in self.domains.blame.items() if of == name}):
            values = [value for value in self.domains.of(by) if value is not None]
            if values and all(name in value.requires for value in values):
                yield from (_Need(value.ref, by, value.requires[name]) for value in values[:2])

    def _standing(self, need: _Need) -> str:
        asked = self.domains.versions.asked
        if need.name in asked:
            return ", and was asked for"
        pin = self.domains.versions.pins.get(need.name)
        return ", and is pinned" if pin is not None and pin.ref == need.by else ""

    def _ask(self, name: Name, *needs: _Need) -> None:
        if name not in self.told and name not in self.domains.versions.asked:
            self.waiting.setdefault(name, []).extend(needs)

    def _versions(self, name: Name, needs: Sequence[_Need]) -> Iterator[str]:
        versions = self.domains.versions
        asked = versions.asked.get(name)
        if asked is not None:
            why = self._why(Offer(pin=asked), needs)
            if self.waiting.keys().isdisjoint(asked.requires):  # else who it requires is told of next
                yield f"{asked.ref} was asked for ({why})"
            return
        rows = {offer.pin.version: offer for offer in versions.offers(name)}
        present = versions.pins.get(name)
        if present is not None:
            rows[present.version] = Offer(pin=present)
        if not rows:
            yield f"no version of {name} was ever published"
            return
        groups: dict[str, list[str]] = {}
        for offer in rows.values():
            groups.setdefault(self._why(offer, needs), []).append(offer.pin.version)
        yield f"of {name} there is " + "; ".join(f"{_few(there, 'others')} ({why})" for why, there in groups.items())

    def _why(self, offer: Offer, needs: Sequence[_Need]) -> str:
        pin = offer.pin
        stands_against = next(self._against(pin, needs), None)
        if stands_against is not None:
            return stands_against
        if offer.bar is not None:
            self.barred.append(offer)
            return str(offer.why)
        culprit = self.domains.blame.get((pin.name, pin.digest))
        if culprit is None:
            tried = any(value and value.digest == pin.digest for value in self.domains.versions.of(pin.name))
            return "fits" if tried else "not tried, there are too many"
        if culprit not in pin.requires:
            return f"goes with no version of {culprit} that is left"
        self._ask(culprit, _Need(pin.ref, pin.name, pin.requires[culprit]))
        return f"requires {culprit} {pin.requires[culprit]}"

    def _against(self, pin: Pin, needs: Sequence[_Need]) -> Iterator[str]:
        yield from (f"outside {need.specifier}" for need in needs if not satisfies(pin.version, need.specifier))
        asked = self.domains.versions.asked
        for wanted, specifier in sorted(pin.requires.items()):
            if wanted in asked and not satisfies(asked[wanted].version, specifier):
                yield f"requires {wanted} {specifier}, and {asked[wanted].ref} was asked for"
            for need in needs:
                if need.name == wanted and not satisfies(need.by.version, specifier):
                    yield f"requires {wanted} {specifier}, which is not {need.by.version}"

    def hint(self) -> str:
        """Return what can be done about the first name that was told of."""
        lifted = next((offer.way for offer in self.barred if offer.way), None)
        if lifted is not None:
            return lifted
        name, needs = next((row for row in self.told.items() if row[0] not in self.domains.versions.asked), (None, []))
        if name is None:
            return "ask for versions that go together"
        if name in self.domains.versions.pins and not needs:
            take_off = f'pawl remove {name} --channel {self.channel} --reason "..."'
            return f"publish a version of {name} that goes with what moves, or take it off: {take_off}"
        specifiers = {need.specifier for need in needs}
        wanted = specifiers.pop() if len(specifiers) == 1 else "that fits"
        return f"publish a version of {name} {wanted}, or ask for versions that require less"


def _refs(asked: Mapping[Name, Pin]) -> str:
    return _few([str(pin.ref) for _, pin in sorted(asked.items())], "others")


def _few(items: Sequence[object], rest: str) -> str:
    shown = [str(item) for item in items[:MAX_LISTED]]
    if len(items) > MAX_LISTED:
        shown.append(f"{len(items) - MAX_LISTED} {rest}")
    return ", ".join(shown[:-1]) + " and " + shown[-1] if len(shown) > 1 else shown[0]
