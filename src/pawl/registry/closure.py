"""Closures: a procedure and everything it requires, as pinned on one channel.

All functions take a *lookup*: what would be pinned together, by name. What is missing or does not fit is
reported as a value; nothing is ever chosen here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from pawl.canonical import digest_of
from pawl.ids import Digest, Name, Ref, Version
from pawl.registry.growing import Overlay, StoredPins
from pawl.registry.versions import satisfies
from pawl.values import dataclass


class Member(Protocol):
    """What closures are made of: a procedure, a published version or a pin."""

    @property
    def name(self) -> Name: ...
    @property
    def version(self) -> Version: ...
    @property
    def digest(self) -> Digest: ...
    @property
    def requires(self) -> Mapping[Name, str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmet:
    """A requirement that the set does not meet; ``found`` is the version that is there instead, if any."""

    by: Ref
    name: Name
    specifier: str
    found: Version | None

    def __str__(self) -> str:
        there = f"{self.name}@{self.found} is pinned" if self.found else f"{self.name} is not pinned"
        return f"{self.by} requires {self.name} {self.specifier}, but {there}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """``members`` holds the root first, then what it requires in the order of names."""

    root: Member
    members: tuple[Member, ...]
    unmet: tuple[Unmet, ...]

    @property
    def digest(self) -> Digest:
        """SHA-256 over the canonical JSON of all members' names, versions and digests."""
        return digest_of([[member.name, member.version, member.digest] for member in self.members])


def closure_of(name: Name, lookup: Mapping[Name, Member]) -> Closure:
    """Return the closure of ``name``, which must be in ``lookup``. Cycles end where they began."""
    root = lookup[name]
    found: dict[Name, Member] = {}
    unmet: list[Unmet] = []
    waiting = [root]
    while waiting:
        procedure = waiting.pop()
        if procedure.name in found:
            continue
        found[procedure.name] = procedure
        for wanted, specifier in sorted(procedure.requires.items()):
            there = lookup.get(wanted)
            if there is None or not satisfies(there.version, specifier):
                unmet.append(
                    Unmet(
                        by=Ref(procedure.name, procedure.version),
                        name=wanted,
                        specifier=specifier,
                        found=there.version if there else None,
                    )
                )
            if there is not None:
                waiting.append(there)
    rest = sorted((item for item in found.values() if item.name != name), key=lambda item: item.name)
    return Closure(root=root, members=(root, *rest), unmet=tuple(unmet))


def dependents_of(names: Iterable[Name], lookup: Mapping[Name, Member]) -> tuple[Name, ...]:
    """Return every name in ``lookup`` that requires one of ``names``, directly or through others, without ``names``."""
    users = users_in(lookup)
    start = set(names)
    found: set[Name] = set()
    waiting = list(start)
    while waiting:
        for user in users(waiting.pop()):
            if user not in found and user not in start:
                found.add(user)
                waiting.append(user)
    return tuple(sorted(found))


def users_in(lookup: Mapping[Name, Member]) -> Callable[[Name], Iterable[Name]]:
    """Return what says who requires a name; all members are looked at only where it is not stored."""
    if isinstance(lookup, StoredPins):
        return lookup.users_of
    if isinstance(lookup, Overlay):
        below, laid = users_in(lookup.base), _users_among(lookup.put.values())
        return lambda name: {*(user for user in below(name) if not lookup.touches(user)), *laid(name)}
    return _users_among(lookup.values())


def _users_among(members: Iterable[Member]) -> Callable[[Name], Iterable[Name]]:
    users: dict[Name, set[Name]] = {}
    for member in members:
        for wanted in member.requires:
            users.setdefault(wanted, set()).add(member.name)
    return lambda name: users.get(name, ())


def requirement_cycles(procedures: Mapping[Name, Member]) -> tuple[tuple[Name, ...], ...]:
    """Return each cycle of requirements once, as names from the smallest on; empty where there is none."""
    cycles: set[tuple[Name, ...]] = set()
    done: set[Name] = set()
    for start in sorted(procedures):
        stack: list[tuple[Name, list[Name]]] = [(start, _wanted(procedures, start))]
        path = [start]
        while stack:
            _, rest = stack[-1]
            if not rest:
                done.add(path.pop())
                stack.pop()
                continue
            following = rest.pop()
            if following in path:
                cycles.add(_turned(tuple(path[path.index(following) :])))
            elif following in procedures and following not in done:
                path.append(following)
                stack.append((following, _wanted(procedures, following)))
    return tuple(sorted(cycles))


def _wanted(procedures: Mapping[Name, Member], name: Name) -> list[Name]:
    return sorted(procedures[name].requires, reverse=True)


def _turned(cycle: tuple[Name, ...]) -> tuple[Name, ...]:
    first = cycle.index(min(cycle))
    return (*cycle[first:], *cycle[:first])
