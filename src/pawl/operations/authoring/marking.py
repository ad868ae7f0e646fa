"""Marks: comments in a procedure's file above the places that today's rules object to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pawl.ids import Channel
from pawl.io.insert import add_comments
from pawl.operations.releasing.remedies import ask
from pawl.operations.session import Session
from pawl.operations.world import World
from pawl.policy.differences import OBJECTIONS, Difference, Objection, objections
from pawl.policy.verdict import Finding
from pawl.problems import Place, Problem
from pawl.registry.channels import Pin

MAX_MARKS = 50
_MAX_TEXT = 600
_TOLD = frozenset({"closure", "fit", "withdrawn"})
"""Checks beside rules whose no a new version would meet, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What one rule objects to at one place. ``line`` is that of the comment; ``None`` where there was no room."""

    rule: str
    policy: int
    channels: tuple[Channel, ...]
    message: str
    differs: str
    place: Place
    everywhere: bool
    """Whether it is so on all channels that were asked about."""
    line: int | None = None

    @property
    def text(self) -> str:
        """The comment, without its ``#``."""
        on = "" if self.everywhere else f" (on {', '.join(self.channels)})"
        said = f"{self.message.rstrip('. ')}; {self.differs}{on}"
        return f"pawl: {self.rule} (policy {self.policy}): {_one_line(said)}"

    def as_dict(self) -> dict[str, Any]:
        fields = ("rule", "policy", "line", "message", "differs")
        return {**{name: getattr(self, name) for name in fields}, "channels": list(self.channels)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Objected:
    """The marks of a document, not placed yet, and what else would stand in its way."""

    marks: tuple[Mark, ...]
    problems: tuple[Problem, ...]


def mark_line() -> re.Pattern[str]:
    """Return the pattern of a line that is nothing but a mark."""
    return re.compile(r"[ ]*# pawl: [A-Za-z0-9._-]+ \(policy [0-9]+\): .*")


def find_objections(
    session: Session, world: World, pin: Pin, document: Mapping[str, Any], channels: Sequence[Channel]
) -> Objected:
    """Ask the rules about a document that is not published, as ``pin`` would be, on each of the channels."""
    found: dict[tuple[str, int, Place, str, str], list[Channel]] = {}
    problems: dict[str, Problem] = {}
    for channel in channels:
        state = world.channel(channel)
        situation, verdict = ask(session, world, "promote", state, {pin.name: pin}, pin.name, {pin.digest: document})
        for objection in objections(situation, verdict):
            for place, differs in _places(objection):
                finding = objection.finding
                key = (finding.rule or "", finding.policy or 0, place, objection.message, differs)
                found.setdefault(key, []).append(channel)
        for finding in verdict.failures:
            if finding.check in _TOLD:
                problems.setdefault(finding.message, _warning(finding))
        rejection = state.rejections.get(pin.content)
        if rejection is not None and rejection.holds(session.at):
            message = f"this content stays off {channel} until it differs, as {rejection.ref}: {rejection.reason}"
            problems[message] = Problem(code="rejected", severity="warning", message=message)
    if not channels:
        message = "no policy is adopted, so no rule was asked"
        problems[message] = Problem(code="no-policy", severity="warning", message=message)
    marks = tuple(
        Mark(
            rule=rule,
            policy=policy,
            channels=tuple(dict.fromkeys(on)),
            message=message,
            differs=differs,
            place=place,
            everywhere=set(on) == set(channels),
        )
        for (rule, policy, place, message, differs), on in found.items()
    )
    return Objected(marks=marks[:MAX_MARKS], problems=tuple(problems.values()))


def _places(objection: Objection) -> Iterator[tuple[Place, str]]:
    """Yield each place in the document that a rule looked at, with what differs there; the top where it is none."""
    finding = objection.finding
    if finding.code not in OBJECTIONS:
        return
    differences = [item for item in objection.differences if item.at is not None]
    if len({item.at for item in differences}) == 1:
        yield differences[0].at or (), finding.differs or str(differences[0])
        return
    for item in _inmost(differences):
        yield item.at or (), str(item)
    if not differences:
        yield (), finding.differs or finding.message


def _inmost(differences: Sequence[Difference]) -> Iterator[Difference]:
    seen: set[Place] = set()
    for item in differences:
        if item.at is not None and item.at not in seen:
            seen.add(item.at)
            yield item


def place_marks(data: bytes, marks: Sequence[Mark]) -> tuple[bytes, tuple[Mark, ...]]:
    """Return a file with a comment for each mark, and the marks with their lines, in the order of the file."""
    if not marks:
        return data, ()
    changed, lines = add_comments(data, [(mark.place, mark.text) for mark in marks], top="kind")
    placed = [replace(mark, line=line) for mark, line in zip(marks, lines, strict=True)]
    return changed, tuple(sorted(placed, key=lambda mark: (mark.line is None, mark.line or 0)))


def _warning(finding: Finding) -> Problem:
    return replace(finding.problem(), severity="warning", hint=None)


def _one_line(text: str) -> str:
    """Return text that can stand in a comment: no line breaks, and nothing that readers of YAML refuse."""
    clean = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)
    return clean if len(clean) <= _MAX_TEXT else clean[: _MAX_TEXT - 1] + "…"
