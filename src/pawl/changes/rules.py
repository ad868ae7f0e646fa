"""The table of rules: every code, the bump that it requires on each side, and what follows from it.

A code can have variants (``code:variant``) where the level depends on more than the side. ``narrows`` and ``widens``
say in which direction the accepted set moves, which decides who breaks: callers wherever the level is major,
implementers where they may receive more than before (input) or can promise less than before (output).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pawl.changes.values import Level, Side

Direction: TypeAlias = Literal["narrows", "widens", "both", "adds", "neither"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One row; ``reasons`` are for input and output, or one for both, with {name}, {old}, {new} and {keyword}."""

    input: Level
    output: Level
    direction: Direction
    reasons: tuple[str, str]
    flags: tuple[str, ...] = ()


def _narrows(reason: str, answer: str) -> Rule:
    return Rule(input="major", output="minor", direction="narrows", reasons=(reason, answer))


def _widens(reason: str, answer: str) -> Rule:
    return Rule(input="minor", output="major", direction="widens", reasons=(reason, answer))


def _both(reason: str, answer: str, *, flags: tuple[str, ...] = ()) -> Rule:
    return Rule(input="major", output="major", direction="both", reasons=(reason, answer), flags=flags)


def _text(reason: str) -> Rule:
    return Rule(input="patch", output="patch", direction="neither", reasons=(reason, reason), flags=("text",))


def _default(reason: str) -> Rule:
    return Rule(input="minor", output="minor", direction="neither", reasons=(reason, reason), flags=("behaviour",))


_ADDED = "calls may now carry {name}; implementations of the old version do not know it"
_GONE = "{name} is gone: a caller that still uses it is refused or silently ignored"

SCHEMA_RULES: Mapping[str, Rule] = {
    "property-added": Rule(
        input="minor", output="minor", direction="adds", reasons=(_ADDED, "answers may now carry {name}")
    ),
    "property-added:closed": Rule(
        input="minor",
        output="major",
        direction="adds",
        reasons=(_ADDED, "consumers of the old version refuse an answer with {name}"),
    ),
    "property-added:unfit-input": Rule(
        input="major",
        output="minor",
        direction="adds",
        reasons=("values that the old version took under {name} are refused", "answers may now carry {name}"),
    ),
    "property-added:unfit-output": Rule(
        input="minor",
        output="major",
        direction="adds",
        reasons=(_ADDED, "answers may carry values under {name} that the old version never gave"),
    ),
    "property-added:unfit": Rule(
        input="major",
        output="major",
        direction="adds",
        reasons=(
            "values that the old version took under {name} are refused",
            "answers may carry values under {name} that the old version never gave",
        ),
    ),
    "property-required": _narrows("calls without {name} are refused", "{name} is now always in the answer"),
    "property-required:added": Rule(
        input="major",
        output="minor",
        direction="both",
        reasons=("calls without the new {name} are refused", "the new {name} is always in the answer"),
    ),
    "property-required:added-closed": Rule(
        input="major",
        output="major",
        direction="both",
        reasons=("calls without the new {name} are refused", "consumers of the old version refuse {name}"),
    ),
    "property-optional": _widens("calls without {name} are now legal", "{name} can be missing from the answer"),
    "property-removed": Rule(
        input="major",
        output="major",
        direction="neither",
        reasons=(_GONE, "{name} is no longer promised: who reads it finds nothing"),
    ),
    "property-renamed": Rule(
        input="major",
        output="major",
        direction="both",
        reasons=(
            "{old} is now called {new}: calls that send {old} no longer reach it",
            "{old} is now called {new}: who reads {old} finds nothing",
        ),
    ),
    "object-closed": _narrows("names that are not declared are refused", "no other names can be in the answer"),
    "object-opened": _widens(
        "names that are not declared are now accepted", "answers may now carry names that nobody declared"
    ),
    "map-widened": _widens("values of more kinds are accepted here", "answers may hold values here that were excluded"),
    "map-narrowed": _narrows("values that were accepted here are refused", "answers hold fewer kinds of values here"),
    "type-widened": _widens("{new} is accepted where {old} was", "answers may be {new} where {old} was promised"),
    "type-narrowed": _narrows("only {new} is accepted where {old} was", "answers are {new} where {old} was promised"),
    "type-changed": _both("{new} is accepted in place of {old}", "answers are {new} in place of {old}"),
    "enum-widened": _widens("now accepted: {new}", "answers may now be: {new}"),
    "enum-narrowed": _narrows("now refused: {old}", "no longer given: {old}"),
    "enum-order": _text("the same values in another order or spelling; a model may prefer the first"),
    "bound-relaxed": _widens(
        "{keyword} goes from {old} to {new}: more is accepted",
        "{keyword} goes from {old} to {new}: answers may be outside what was promised",
    ),
    "bound-tightened": _narrows(
        "{keyword} goes from {old} to {new}: some calls that were legal are refused",
        "{keyword} goes from {old} to {new}: answers keep within less",
    ),
    "pattern-added": _narrows("texts that do not match {new} are refused", "texts in answers now match {new}"),
    "pattern-removed": _widens("texts need no longer match {old}", "texts in answers need no longer match {old}"),
    "pattern-changed": _both(
        "texts must match {new} in place of {old}", "texts in answers match {new} in place of {old}"
    ),
    "format-added": _narrows("texts must be of {keyword} {new}", "texts in answers are of {keyword} {new}"),
    "format-removed": _widens(
        "texts need not be of {keyword} {old}", "texts in answers need not be of {keyword} {old}"
    ),
    "format-changed": _both(
        "texts must be of {keyword} {new} in place of {old}",
        "texts in answers are of {keyword} {new} in place of {old}",
    ),
    "union-widened": _widens("one form more is accepted: {new}", "answers may have one form more: {new}"),
    "union-narrowed": _narrows("a form that was accepted is refused: {old}", "answers have one form less: {old}"),
    "condition-added": _narrows(
        "calls that do not meet the new {keyword} are refused", "answers now meet {keyword} as well"
    ),
    "condition-removed": _widens("calls need not meet {keyword} any more", "answers need not meet {keyword} any more"),
    "condition-changed": _both(
        "{keyword} is on both sides and differs; which calls that refuses cannot be decided",
        "{keyword} is on both sides and differs; what that promises cannot be decided",
        flags=("undecided",),
    ),
    "undecided": _both(
        "it cannot be shown that {keyword} still accepts every call that was legal",
        "it cannot be shown that {keyword} still keeps every promise about answers",
        flags=("undecided",),
    ),
    "undecided:growth": Rule(
        input="minor",
        output="minor",
        direction="neither",
        reasons=(
            "every call that was legal still is; whether more is accepted cannot be decided at {keyword}",
            "every promise about answers still holds; whether more is promised cannot be decided at {keyword}",
        ),
        flags=("undecided",),
    ),
    "ref-moved": Rule(
        input="patch",
        output="patch",
        direction="neither",
        reasons=("definitions were renamed, inlined or split; the meaning is the same",) * 2,
    ),
    "schema-respelled": Rule(
        input="patch",
        output="patch",
        direction="neither",
        reasons=("written in another way; the meaning is the same",) * 2,
    ),
    "dialect-changed": Rule(
        input="patch",
        output="patch",
        direction="neither",
        reasons=("$schema differs and the meaning is the same in both dialects",) * 2,
    ),
    "dialect-changed:meaning": _both(
        "$schema differs, and with it what the schema means", "$schema differs, and with it what the schema means"
    ),
    "default-added": _default("who leaves it out now gets {new}"),
    "default-changed": _default("who leaves it out gets {new} in place of {old}"),
    "default-removed": _default("who leaves it out no longer gets {old}"),
    "schema-text": _text("a model reads another {keyword}"),
    "header-changed": Rule(
        input="major",
        output="patch",
        direction="neither",
        reasons=("servers refuse calls without the header that they expect",) * 2,
    ),
}


def breaks(level: Level, side: Side | None, direction: Direction) -> tuple[str, ...]:
    """Return who breaks by a change of a schema."""
    found = ["callers"] if level == "major" else []
    more = direction in ("widens", "both", "adds")
    less = direction in ("narrows", "both")
    if (side == "input" and more) or (side == "output" and less):
        found.append("implementers")
    return tuple(found)


def affects(flags: tuple[str, ...], broken: tuple[str, ...], level: Level) -> tuple[str, ...]:
    """Return whom a change concerns: who breaks, who reads it, who decides by it."""
    parties = set(broken)
    if level in ("major", "minor") and not flags:
        parties.add("callers")
    if "text" in flags:
        parties.add("models")
    if "behaviour" in flags:
        parties.add("runs")
    if "safety" in flags:
        parties.add("policy")
    return tuple(party for party in ("callers", "implementers", "models", "policy", "runs") if party in parties)
