"""One consistent set by resolvelib, over what is left of each name's values. Imported only where a set is looked for.

A name is a node of resolvelib, a pin a candidate. What moves demands what it requires, and that what is pinned and
requires it accepts it. What stays demands nothing: the channel holds together as it is, and whatever leaves that sends
its own demand. So only nodes that have to do with the moves are ever visited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from resolvelib import AbstractProvider, BaseReporter, ResolutionImpossible, ResolutionTooDeep, Resolver
from resolvelib.structs import RequirementInformation

from pawl.ids import Digest, Name
from pawl.registry.channels import Pin
from pawl.registry.versions import satisfies
from pawl.releases.domains import Domains, meets

MAX_ROUNDS = 1_000
"""How many rounds resolvelib gets: at least one for each node that it visits."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What ``by`` wants of ``name``: a version in ``specifier``, or without one that it accepts ``by`` beside it."""

    name: Name
    by: Pin | None = None
    specifier: str | None = None

    def accepts(self, pin: Pin) -> bool:
        if self.specifier is not None:
            return satisfies(pin.version, self.specifier)
        return self.by is None or meets(pin, self.by.name, self.by)


_Information: TypeAlias = RequirementInformation[Demand, Pin]


class _Provider(AbstractProvider[Demand, Pin, Name]):
    def __init__(self, domains: Domains) -> None:
        self._domains = domains

    def identify(self, requirement_or_candidate: Demand | Pin) -> Name:
        return requirement_or_candidate.name

    def get_preference(
        self,
        identifier: Name,
        resolutions: Mapping[Name, Pin],
        candidates: Mapping[Name, Iterator[Pin]],
        information: Mapping[Name, Iterator[_Information]],
        backtrack_causes: Sequence[_Information],
    ) -> tuple[bool, int, Name]:
        del resolutions, candidates, information, backtrack_causes
        asked = self._domains.versions.asked
        return identifier not in asked, len(self._domains.of(identifier)), identifier

    def find_matches(
        self,
        identifier: Name,
        requirements: Mapping[Name, Iterator[Demand]],
        incompatibilities: Mapping[Name, Iterator[Pin]],
    ) -> list[Pin]:
        bad: set[Digest] = {pin.digest for pin in incompatibilities[identifier]}
        demands = list(requirements[identifier])
        return [
            pin
            for pin in self._domains.of(identifier)
            if pin is not None and pin.digest not in bad and all(demand.accepts(pin) for demand in demands)
        ]

    def is_satisfied_by(self, requirement: Demand, candidate: Pin) -> bool:
        return requirement.accepts(candidate)

    def get_dependencies(self, candidate: Pin) -> Iterable[Demand]:
        versions = self._domains.versions
        name = candidate.name
        if versions.stays(name, candidate):
            return
        for wanted, specifier in sorted(candidate.requires.items()):
            yield Demand(wanted, candidate, specifier)
        for user in sorted(versions.users.get(name, ())):
            if user not in versions.asked and not meets(versions.pins[user], name, candidate):
                yield Demand(user, candidate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """The further moves of a consistent set, or the causes of the last conflict: who was wanted, by whom, how.

    Neither is proof: there may be a smaller set, and in rare cases a set where none was found.
    """

    moves: Mapping[Name, Pin] | None
    causes: tuple[tuple[Name, Pin | None, str | None], ...] = ()


def resolve(domains: Domains) -> Resolved:
    """Ask resolvelib for a set in which every name has one of the values that are left of it."""
    asked = domains.versions.asked
    resolver = Resolver(_Provider(domains), BaseReporter[Demand, Pin, Name]())
    try:
        result = resolver.resolve([Demand(name) for name in sorted(asked)], max_rounds=MAX_ROUNDS)
    except ResolutionImpossible as error:
        wants = [cause.requirement for cause in error.causes]
        return Resolved(moves=None, causes=tuple((want.name, want.by, want.specifier) for want in wants))
    except (ResolutionTooDeep, RecursionError):
        return Resolved(moves=None)
    return Resolved(moves=domains.versions.moves(result.mapping.items()))
