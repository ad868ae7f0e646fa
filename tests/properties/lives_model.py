"""The few lines that random lives are compared with: names, numbers and sets; no journal, digest or verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pawl.ids import Channel, Name

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
STAGING, PRODUCTION = CHANNELS = (Channel("staging"), Channel("production"))
NAMES = (Name("p/a"), Name("p/b"))
CONTENT = {  # what each version says; two numbers that say the same are one content
    "p/a@1.0.0": "one",
    "p/a@2.0.0": "two",
    "p/a@2.0.1": "two",
    "p/b@1.0.0": "for one",
    "p/b@1.1.0": "for any",
    "p/b@2.0.0": "for two",
}
REQUIRES = {"p/b@1.0.0": ">=1,<2", "p/b@1.1.0": ">=1", "p/b@2.0.0": ">=2"}
REFS = tuple(CONTENT)
SETS = (("p/a@1.0.0", "p/b@1.0.0"), ("p/a@2.0.0", "p/b@2.0.0"), ("p/a@2.0.1", "p/b@1.1.0"))
SETTINGS = """\
format: 1
channels: {staging: {}, production: {after: staging}}
people:
  ada@example.invalid: [author]
  ben@example.invalid: [risk]
  cyd@example.invalid: [release]
"""
OPEN, STRICT, ASKING = "open", "strict", "asking"
_SAFETY = "{{id: R-1, class: safety, level: absolute, require: '{require}', message: As we say.}}"
_NEVER_ONE = '!(procedure.name == "p/a" && procedure.version == "1.0.0")'
_WAIVABLE = """\
  - id: W-1
    class: readiness
    level: waivable
    require: '!(procedure.name == "p/a" && procedure.version == "2.0.1")'
    message: Not this number.
    waiver: {at_most: P14D, roles: [release]}
  - id: A-1
    class: readiness
    level: waivable
    applies: {channels: [production]}
    approvals: {count: 1, roles: [risk]}
    message: Somebody of risk says yes.
"""


def document(ref: str) -> str:
    name, _, version = ref.partition("@")
    requires = f'{{p/a: "{REQUIRES[ref]}"}}' if ref in REQUIRES else "{}"
    return f"""kind: prompt
name: {name}
version: {version}
owner: us
requires: {requires}
spec:
  messages:
    - {{role: user, content: {CONTENT[ref]}}}
"""


def policy(rules: str) -> str:
    """Return one of the three policies: nothing is forbidden, one version is, or people are asked."""
    safety = _SAFETY.format(require=_NEVER_ONE if rules == STRICT else "true")
    return f"policy: house\nowner: us\nrules:\n  - {safety}\n{_WAIVABLE if rules == ASKING else ''}"


def suite(name: str, passes: bool = True) -> str:
    asked = "not-contains" if passes else "contains"
    return f"""suite: {name.replace("/", "-")}
about: {name}
cases:
  - {{id: renders, inputs: {{}}, assert: [{{type: {asked}, value: never}}]}}
"""


def said(ref: str) -> tuple[str, str]:
    return ref.partition("@")[0], CONTENT[ref]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """A freeze: what it holds, since when and until when."""

    actions: tuple[str, ...]
    at: str
    until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Yes:
    """Somebody's approval of a version with what it would require, under one policy."""

    who: str
    ref: str
    required: str | None
    policy: int
    at: str
    until: str

    def holds(self, at: str) -> bool:
        return self.at <= at < self.until


@dataclass(slots=True, kw_only=True)
class Waived:
    """A waiver of W-1 for one version, and when somebody said yes to it."""

    ref: str
    at: str
    until: str
    consents: list[str] = field(default_factory=list)

    def holds(self, at: str) -> bool:
        return self.at <= at < self.until and any(consent <= at for consent in self.consents)


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What is asked for on a channel: the pins as they would be, and those of them that are judged."""

    action: str
    channel: Channel
    moves: Mapping[str, str | None]
    pins: Mapping[str, str]
    covered: Sequence[str]


@dataclass
class Line:
    """A channel as a child would keep it."""

    pins: dict[str, str] = field(default_factory=dict)
    past: dict[str, list[str]] = field(default_factory=dict)
    rejected: dict[tuple[str, str], str | None] = field(default_factory=dict)
    halts: dict[str, str | None] = field(default_factory=dict)
    freezes: dict[int, Stop] = field(default_factory=dict)
    approvals: list[Yes] = field(default_factory=list)
    waivers: dict[int, Waived] = field(default_factory=dict)
    serial: int = 0

    def was_live(self, ref: str) -> bool:
        name = ref.partition("@")[0]
        return self.pins.get(name) == ref or ref in self.past.get(name, [])

    def earlier(self, name: str) -> list[str]:
        seen = [ref for ref in reversed(self.past.get(name, [])) if ref != self.pins.get(name)]
        return list(dict.fromkeys(seen))

    def move(self, name: str, ref: str | None) -> None:
        if name in self.pins:
            self.past.setdefault(name, []).append(self.pins.pop(name))
        if ref is not None:
            self.pins[name] = ref

    def rejects(self, ref: str, at: str) -> bool:
        until = self.rejected.get(said(ref), "")
        return until is None or at < until

    def halted(self, name: str) -> bool:
        return name in self.halts and self.halts[name] in {None, self.pins.get(name, "").partition("@")[2]}

    def in_force(self, at: str) -> dict[int, Stop]:
        return {serial: stop for serial, stop in self.freezes.items() if stop.until > at}


def with_moves(pins: Mapping[str, str], moves: Mapping[str, str | None]) -> dict[str, str]:
    """Return the pins as they would be after some moves."""
    return {name: ref for name, ref in {**pins, **moves}.items() if ref is not None}
