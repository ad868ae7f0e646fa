"""The walk: where two schemas differ, each place named by the rule that it falls under.

At every place the two inclusions decide whether anything can have been narrowed or widened at all; what is merely
written in another way is never reported as more than that. The walk goes down only while the texts differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from pawl.changes.facts import Facts
from pawl.changes.inclusion import Inclusion
from pawl.changes.rules import SCHEMA_RULES, affects, breaks
from pawl.changes.source import Schema, Source, Spot, is_anything, is_nothing, key_of
from pawl.changes.values import ABSENT, Change, Proof, Side, same, shown
from pawl.changes.witness import Step, Trail, Witnesses
from pawl.problems import Place

MAX_DEPTH = 64
MAX_PLACES = 10_000
MAX_WITNESSES = 200
MAX_CHANGES = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class Here:
    """A place on both sides. ``narrow`` and ``widen``: whether it can accept less, or more, than before."""

    old: Schema
    new: Schema
    trail: Trail = ()
    narrow: bool = True
    widen: bool = True
    depth: int = 0
    unsure: bool = False
    """Whether the place lies in one of several alternatives that overlap: another one may take what this one loses."""

    def down(self, step: Step, old: Schema, new: Schema) -> Here:
        """Return the place one step below."""
        return replace(self, old=old, new=new, trail=(*self.trail, step), depth=self.depth + 1)

    @property
    def spot(self) -> Spot:
        return next((schema[0].spot() for schema in (self.new, self.old) if schema), Spot(()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What the walk found: a rule's key, the place, and what fills its reason."""

    key: str
    spot: Spot
    old: Any = ABSENT
    new: Any = ABSENT
    name: str = ""
    keyword: str = ""
    says: tuple[str, str] | None = None
    """What stands for old and new in the reason, where it is not the values themselves."""
    shows: Callable[[Any], bool] = field(default=lambda _value: True)
    hints: Callable[[], Iterable[Any]] = field(default=tuple)
    usage: Callable[[], Any] | None = None


Descriptor = Callable[["Walk", Here], None]


@dataclass(slots=True, eq=False)
class Walk:
    """One side of one comparison under way."""

    side: Side
    inclusion: Inclusion
    witnesses: Witnesses
    describe: Descriptor
    """Compares two normal forms; it calls back for what it finds and for the places below."""
    headers: bool = False
    """Whether ``x-mcp-header`` means something on this side."""
    found: list[Change] = field(default_factory=list)
    places: int = 0
    searches: int = 0
    stopped: bool = False
    _told: set[tuple[str, Place]] = field(default_factory=set)
    _under_way: set[tuple[frozenset[Source], frozenset[Source]]] = field(default_factory=set)
    _quiet: set[tuple[frozenset[Source], frozenset[Source], bool, bool]] = field(default_factory=set)

    def place(self, here: Here) -> None:
        """Report what differs at a place and below."""
        if self.inclusion.twins(here.old, here.new):
            return
        pair = (key_of(here.old), key_of(here.new))
        quiet = (*pair, here.narrow, here.widen)
        if pair in self._under_way or quiet in self._quiet:
            return
        self.places += 1
        if self._exhausted():
            return
        if here.depth >= MAX_DEPTH:
            self.emit(here, Finding(key="undecided", spot=here.spot, keyword=_last(here.spot.use)))
            return
        before = len(self.found)
        self._under_way.add(pair)
        self.describe(self, self._bounded(here))
        self._under_way.discard(pair)
        if len(self.found) == before:
            self._quiet.add(quiet)

    def _exhausted(self) -> bool:
        """Whether the walk has to stop; what it has not seen is undecided, which is said once."""
        over = self.places > MAX_PLACES or len(self.found) >= MAX_CHANGES or not self.inclusion.forms.effort.spend(5)
        if over and not self.stopped:
            self.stopped = True
            here = Here(self.witnesses.old, self.witnesses.new)
            self.emit(here, Finding(key="undecided", spot=here.spot, keyword="the rest of this schema"))
        return self.stopped

    def _bounded(self, here: Here) -> Here:
        self.inclusion.above = here.depth
        narrow = here.narrow and not self.inclusion.holds(here.old, here.new, claim=True)
        widen = here.widen and not self.inclusion.holds(here.new, here.old)
        return replace(here, narrow=narrow, widen=widen)

    def emit(self, here: Here, finding: Finding) -> None:
        """Report a change, unless the inclusions have shown that its direction did not happen."""
        rule = SCHEMA_RULES[finding.key]
        if rule.direction == "narrows" and not here.narrow:
            return
        if rule.direction == "widens" and not here.widen:
            return
        if rule.direction == "both" and finding.name == "" and not (here.narrow or here.widen):
            return
        told = (finding.key, finding.spot.use)
        if "undecided" in rule.flags and told in self._told:
            return
        self._told.add(told)
        level = rule.input if self.side == "input" else rule.output
        proof, witness = self._proof(here, finding)
        unsure = here.unsure and proof == "rule" and rule.direction in ("narrows", "widens", "both")
        flags = (*rule.flags, "undecided") if unsure else rule.flags
        broken = breaks(level, self.side, rule.direction)
        says = finding.says or (shown(finding.old), shown(finding.new))
        reason = rule.reasons[0 if self.side == "input" else 1].format(
            name=finding.name, keyword=finding.keyword, old=says[0], new=says[1]
        )
        change = Change(
            code=finding.key.partition(":")[0],
            side=self.side,
            path=finding.spot.use,
            at=finding.spot.at,
            old=finding.old,
            new=finding.new,
            level=level,
            flags=flags,
            breaks=broken,
            affects=affects(rule.flags, broken, level),
            proof="undecided" if unsure else proof,
            witness=witness,
            reason=f"{reason}, unless another branch covers it, which cannot be decided" if unsure else reason,
        )
        self.found.append(change)

    def _proof(self, here: Here, finding: Finding) -> tuple[Proof, Any]:
        rule = SCHEMA_RULES[finding.key]
        otherwise: Proof = "undecided" if "undecided" in rule.flags else "rule"
        if finding.usage is not None:
            used = finding.usage()
            return ("usage", used) if used is not ABSENT else (otherwise, ABSENT)
        bare = finding.key == "property-added"  # beside an open object: by sets alone that is a narrowing
        if rule.direction == "neither" or bare or self.searches >= MAX_WITNESSES or otherwise == "undecided":
            return otherwise, ABSENT
        level = rule.input if self.side == "input" else rule.output
        narrows = rule.direction == "narrows" or (rule.direction != "widens" and self._loses(level == "major"))
        self.searches += 1
        witness = self.witnesses.find(
            here.trail, here.old, here.new, narrows=narrows, shows=finding.shows, hints=finding.hints()
        )
        return ("witness", witness) if witness is not ABSENT else (otherwise, ABSENT)

    def _loses(self, major: bool) -> bool:
        """Whether what has to be shown is that something was lost: legal calls on the input side."""
        return (self.side == "input") == major

    def notes(self, here: Here, old: Facts, new: Facts) -> None:
        """Compare what is only read, and defaults."""
        for name in dict.fromkeys((*old.notes, *new.notes)):
            left, right = (list(facts.notes.get(name, {}).values()) for facts in (old, new))
            if name == "default":
                self._default(here, left[:1], right[:1])
            elif not _equal(left, right):
                spot = next(
                    (
                        spot
                        for index, spot in enumerate(right)
                        if index >= len(left) or not same(left[index][2], spot[2])
                    ),
                    right[0] if right else left[0],
                )
                header = name == "x-mcp-header" and self.headers
                self.emit(
                    here,
                    Finding(
                        key="header-changed" if header else "schema-text",
                        spot=spot,
                        keyword=name,
                        old=left[0].value if left else ABSENT,
                        new=right[0].value if right else ABSENT,
                    ),
                )

    def _default(self, here: Here, left: list[Spot], right: list[Spot]) -> None:
        if _equal(left, right):
            return
        key = "default-changed" if left and right else "default-added" if right else "default-removed"
        old, new = (spots[0].value if spots else ABSENT for spots in (left, right))
        self.emit(here, Finding(key=key, spot=(right or left)[0], old=old, new=new, keyword="default"))

    def relation(self, old: Schema, new: Schema, depth: int) -> tuple[bool, bool]:
        """Return whether a place can accept less, and whether it can accept more."""
        self.inclusion.above = depth
        return not self.inclusion.holds(old, new, claim=True), not self.inclusion.holds(new, old)

    def parts(self, here: Here, step: Step, old: Schema, new: Schema, spot: Spot, keyword: str) -> None:
        """Compare a part that one side may not speak of: then it is narrowed or widened as a whole."""
        if is_anything(old) == is_anything(new) and is_nothing(old) == is_nothing(new):
            self.place(here.down(step, old, new))
            return
        narrow, widen = self.relation(old, new, here.depth + 1)
        below = here.down(step, old, new)
        below = replace(below, narrow=here.narrow and narrow, widen=here.widen and widen)
        values = {"old": _value(old), "new": _value(new)}
        closes = keyword.endswith("Properties") and step.kind == "rest"
        if narrow:
            key = "object-closed" if closes and is_anything(old) and is_nothing(new) else "map-narrowed"
            self.emit(below, Finding(key=key, spot=spot, keyword=keyword, old=values["old"], new=values["new"]))
        if widen:
            key = "object-opened" if closes and is_nothing(old) and is_anything(new) else "map-widened"
            self.emit(below, Finding(key=key, spot=spot, keyword=keyword, old=values["old"], new=values["new"]))


def _value(schema: Schema) -> Any:
    return schema[0].raw if schema else ABSENT


def _equal(left: list[Spot], right: list[Spot]) -> bool:
    return len(left) == len(right) and all(same(one.value, other.value) for one, other in zip(left, right, strict=True))


def _last(place: Place) -> str:
    return str(place[-1]) if place else "the schema"
