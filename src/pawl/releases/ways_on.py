"""Ways on from a refusal: which versions to try instead, in which order, and what to type next. Pure.

- After a refused rollback these are the versions that were live on the channel: the nearest below the one that was
  asked for, and the nearest above it; what is pinned now comes last, since going there moves nothing.
- After a refused promotion they are the published final versions, newest first, those below the pinned one last;
  pre-releases only where one was asked for.
- Commands go from the mildest to the last resort: another version, looking further, a fixed new version, and ``halt``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pawl.ids import Channel, Name, Ref, Version
from pawl.policy.differences import Objection
from pawl.policy.verdict import Action
from pawl.problems import Problem
from pawl.registry.catalog import Published
from pawl.registry.channels import ChannelState, Pin
from pawl.registry.versions import is_prerelease, version_key

Side: TypeAlias = Literal["earlier", "later"]
MAX_CANDIDATES = 20
"""How many versions of a name are looked at for one refusal, on each side."""
_REASON = '--reason "..."'


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """A version that passes where the one that was asked for did not."""

    pin: Pin
    side: Side
    pinned: bool
    """Whether it is what the channel has now."""
    suites: bool
    """Whether its suites were asked, too."""

    def as_dict(self) -> dict[str, Any]:
        judged = "with its suites" if self.suites else "without running suites"
        row = {"version": self.pin.version, "digest": self.pin.digest}
        return {**row, "side": self.side, "pinned": self.pinned, "judged": judged}


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """What leads on for one name: the rules that said no, the nearest versions that pass, and the next commands."""

    name: Name
    version: Version | None
    """The one that was refused; ``None`` where a rollback found none to go to."""
    action: Action
    channel: Channel
    policy: int | None
    objections: tuple[Objection, ...]
    nearest: tuple[Nearest, ...]
    looked_at: int
    """How many versions were judged in search of the nearest."""
    fix: Version | None
    """The version to open a fixed one from, where fixing can help."""
    targets: bool
    """Whether there is anything to go back to that could be listed."""
    halt: bool
    """Whether something is served that could be stopped."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "version": self.version,
            "rules": [objection.as_dict() for objection in self.objections],
            "nearest": [nearest.as_dict() for nearest in self.nearest],
            "looked_at": self.looked_at,
            "next": [command for _, command in self._steps() if command],
        }

    def notes(self) -> Iterator[Problem]:
        """Yield a note for each step that leads on."""
        for message, command in self._steps():
            yield Problem(code="way-out", severity="note", message=message, hint=command)

    def _steps(self) -> Iterator[tuple[str, str | None]]:
        """Yield what to do with its command, the mildest first."""
        yield from self._other_versions()
        name, channel = self.name, self.channel
        if self.targets:
            yield f"every earlier version of {name} with its verdict", f"pawl targets {name} --channel {channel}"
        if self.fix is not None:
            ref = Ref(name, self.fix)
            message = f"a new version with the content of {ref}, marked where the rules object to it"
            yield message, f"pawl fix-forward {ref} --channel {channel}"
        if self.halt:
            yield (
                f"the last resort: {name} is served no more on {channel}",
                f"pawl halt {name} --channel {channel} {_REASON}",
            )

    def _other_versions(self) -> Iterator[tuple[str, str | None]]:
        moving = [nearest for nearest in self.nearest if not nearest.pinned]
        for nearest in moving:
            suites = "" if nearest.suites else " (judged without running suites)"
            which = f"the nearest {nearest.side} version that passes now is {nearest.pin.ref}{suites}"
            yield which, self._move(nearest)
        pinned = next((nearest.pin.ref for nearest in self.nearest if nearest.pinned), None)
        if pinned is not None:
            none = "" if moving else f"no earlier version of {self.name} passes policy {self.policy} now; "
            yield f"{none}{pinned}, which is pinned, passes: nothing has to move", None
        if not self.nearest and self.looked_at:
            kind = "other published" if self.action == "promote" else "earlier"
            yield f"no {kind} version of {self.name} passes policy {self.policy} now ({self.looked_at} looked at)", None

    def _move(self, nearest: Nearest) -> str:
        pin, channel = nearest.pin, self.channel
        if self.action == "promote":
            return f"pawl promote {pin.ref} --to {channel} {_REASON}"
        return f"pawl rollback {pin.name} --channel {channel} --to {pin.version} {_REASON}"


def earlier_and_later(state: ChannelState, name: Name, asked: Version) -> Iterator[tuple[Side, tuple[Pin, ...]]]:
    """Yield what was live on a channel below and above a version, nearest first and what is pinned now last."""
    present = state.pins.get(name)
    known = [past.pin for past in state.earlier(name)]
    for side in ("earlier", "later"):
        found = [pin for pin in known if pin.version != asked and side_of(pin.version, asked) == side]
        found.sort(key=lambda pin: version_key(pin.version), reverse=side == "earlier")
        last = [present] if present is not None and side_of(present.version, asked) == side else []
        yield side, (*found[: MAX_CANDIDATES - len(last)], *last)


def published_instead(
    versions: Iterable[Published], asked: Version | None, present: Version | None
) -> tuple[Published, ...]:
    """Return what could be promoted instead: newest first, what is below the pinned version last."""
    early = asked is not None and is_prerelease(asked)
    usable = [item for item in versions if item.version not in {asked, present}]
    usable = [item for item in usable if early or not is_prerelease(item.version)]
    usable.sort(key=lambda item: version_key(item.version), reverse=True)
    if present is not None:
        usable.sort(key=lambda item: side_of(item.version, present) == "earlier")
    return tuple(usable[:MAX_CANDIDATES])


def side_of(version: Version, other: Version) -> Side:
    return "earlier" if version_key(version) < version_key(other) else "later"
