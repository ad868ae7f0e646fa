"""Lives that are governed: people say yes, rules are waived, channels stand still, clocks step, caches are lost.

Each of the ten invariants of a release is held against the model on the way, beside what ``lives`` holds already.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from pawl.canonical import timestamp
from pawl.errors import RefusedError, WithheldError
from pawl.ids import Channel, Name, Serial, parse_ref
from pawl.operations.governing.approving import approve
from pawl.operations.governing.freezing import Wanted, freeze, unfreeze
from pawl.operations.governing.waiving import Asked, consent, waive
from pawl.operations.observing.verifying import verify
from pawl.operations.releasing.drilling import LAST, DrillOptions, drill
from pawl.operations.releasing.release import Options, promote, rollback
from pawl.operations.releasing.targets import targets
from pawl.operations.session import Report, Session
from pawl.registry.journal import Actor
from pawl.runs.run import ChannelHandle, Run
from pawl.runs.views import open_channel
from pawl.workspace import Workspace
from properties.lives import Lives
from properties.lives_model import (
    ASKING,
    CHANNELS,
    NAMES,
    OPEN,
    PRODUCTION,
    REFS,
    REQUIRES,
    STRICT,
    Line,
    Move,
    Stop,
    Waived,
    Yes,
    suite,
)

PEOPLE = {who: Actor(name=who, email=f"{who.lower()}@example.invalid") for who in ("Ben", "Cyd")}
HELD = (("promote",), ("promote", "rollback"))
STEPS = (timedelta(0), timedelta(seconds=1), timedelta(days=1), timedelta(days=31), timedelta(hours=-1))
SPOILT = b"\x00spoilt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Began:
    """What a run found when it began."""

    pins: Mapping[str, str]
    stopped: set[str]


class GovernedLives(Lives):
    """The same lives with everything that stands between asking and moving."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[tuple[Run, Channel, Began]] = []

    # What the model says

    def further(self, asked: Move) -> list[int]:
        line = self.lines[asked.channel]
        codes = super().further(asked)
        for stop in line.in_force(self.at).values():
            held = asked.action in stop.actions
            codes += [7 for key in asked.covered if held and not self.leaves(line, asked, key, stop.at)]
        if self.policy == ASKING and asked.action == "promote":
            for ref in (asked.pins[key] for key in asked.covered):
                waived = any(item.ref == ref and item.holds(self.at) for item in line.waivers.values())
                codes += [3] if ref == "p/a@2.0.1" and not waived else []
                wanting = asked.channel == PRODUCTION and not self.approved(line, "Ben", ref, asked.pins)
                codes += [8] if wanting else []
        return codes

    def leaves(self, line: Line, asked: Move, key: str, since: str) -> bool:
        """Whether a move takes something off the channel that must not stay there, so that no freeze holds it."""
        needed = [key, *(["p/a"] if asked.pins[key] in REQUIRES and "p/a" in asked.pins else [])]
        own = [key] if key in asked.moves else [member for member in needed if member in asked.moves]
        names = asked.moves if asked.action == "rollback" else own
        return any(self.must_not_stay(line, asked.action, name, since) for name in names)

    def must_not_stay(self, line: Line, action: str, name: str, since: str) -> bool:
        ref = line.pins.get(name)
        if ref is None:
            return False
        members = [ref, *([line.pins["p/a"]] if ref in REQUIRES and "p/a" in line.pins else [])]
        if any(self.withdrawn.get(member) == "revoked" for member in members):
            return True
        if self.withdrawn.get(ref) == "yanked" and (action == "rollback" or self.withdrawn_at[ref] < since):
            return True
        if action == "rollback" and (line.halted(name) or line.rejects(ref, self.at)):
            return True
        return self.policy == STRICT and ref == "p/a@1.0.0"

    def approved(self, line: Line, who: str, ref: str, pins: Mapping[str, str]) -> bool:
        required = pins.get("p/a") if ref in REQUIRES else None
        asked = (who, ref, required, self.number)
        return any(
            (yes.who, yes.ref, yes.required, yes.policy) == asked and yes.holds(self.at) for yes in line.approvals
        )

    def later(self, **more: int) -> str:
        return timestamp(self.session.now + timedelta(**more))

    def of(self, who: str) -> Session:
        return replace(self.session, actor=PEOPLE[who])

    def recorded(self, report: Report, channel: Channel, code: int) -> None:
        """A record that people leave is one whether it counts or not."""
        self.lines[channel].serial += 1
        assert (report.exit_code, report.status) == (code, "refused" if code else "done"), report.problems
        assert report.data["serial"] == self.lines[channel].serial

    # What people do

    @rule(rules=st.sampled_from([OPEN, STRICT, ASKING]))
    def adopt(self, rules: str) -> None:
        self.adopt_rules(rules)

    @rule(ref=st.sampled_from(REFS), channel=st.sampled_from(CHANNELS), who=st.sampled_from(["Ben", "Ben", "Cyd"]))
    def approve(self, ref: str, channel: Channel, who: str) -> None:
        wanted, line = parse_ref(ref), self.lines[channel]

        def act() -> Report:
            return approve(self.of(who), [wanted], channel, "yes", until=None, dry_run=False)

        pins = {**line.pins, wanted.name: ref}
        counts = who == "Ben" or self.policy != ASKING or channel != PRODUCTION
        if ref not in self.published:
            self.missing(act)
        elif counts and self.approved(line, who, ref, pins):
            self.unchanged(act)
        else:
            self.recorded(act(), channel, 0 if counts else 8)
            required = pins.get("p/a") if ref in REQUIRES else None
            until = self.later(days=30)
            line.approvals.append(Yes(who=who, ref=ref, required=required, policy=self.number, at=self.at, until=until))

    @rule(ref=st.sampled_from(REFS), channel=st.sampled_from(CHANNELS))
    def waive(self, ref: str, channel: Channel) -> None:
        wanted, line, until = parse_ref(ref), self.lines[channel], self.later(days=7)
        asked = Asked(
            rule="W-1",
            name=wanted.name,
            version=wanted.version,
            versions=None,
            actions=["promote"],
            until=self.session.now + timedelta(days=7),
            owner="us",
        )

        def act() -> Report:
            return waive(self.session, asked, channel, "this once", dry_run=False)

        if self.policy != ASKING:
            with pytest.raises(RefusedError):
                act()
        elif ref not in self.published:
            self.missing(act)
        elif any((item.ref, item.until) == (ref, until) for item in line.waivers.values()):
            self.unchanged(act)
        else:
            self.recorded(act(), channel, 0)
            line.waivers[line.serial] = Waived(ref=ref, at=self.at, until=until)

    @precondition(lambda self: any(line.waivers for line in self.lines.values()))
    @rule(channel=st.sampled_from(CHANNELS), which=st.integers(0, 3))
    def consent(self, channel: Channel, which: int) -> None:
        line = self.lines[channel]
        if not line.waivers:
            return
        serial = sorted(line.waivers)[which % len(line.waivers)]
        waiver = line.waivers[serial]

        def act() -> Report:
            return consent(self.of("Cyd"), [Serial(serial)], channel, "yes", dry_run=False)

        counts = self.policy == ASKING and waiver.at <= self.at < waiver.until
        if counts and waiver.holds(self.at):
            self.unchanged(act)
        else:
            self.recorded(act(), channel, 0 if counts else 8)
            waiver.consents.append(self.at)

    @rule(channel=st.sampled_from(CHANNELS), actions=st.sampled_from(HELD), hours=st.sampled_from([1, 30]))
    def freeze(self, channel: Channel, actions: tuple[str, ...], hours: int) -> None:
        line = self.lines[channel]
        until = self.session.now + timedelta(hours=hours)

        def act() -> Report:
            return freeze(self.session, channel, "still", Wanted(until=until, actions=actions, labels={}))

        if any((stop.actions, stop.until) == (actions, timestamp(until)) for stop in line.freezes.values()):
            self.unchanged(act)
        else:
            self.recorded(act(), channel, 0)
            line.freezes[line.serial] = Stop(actions=actions, at=self.at, until=timestamp(until))

    @rule(channel=st.sampled_from(CHANNELS))
    def unfreeze(self, channel: Channel) -> None:
        line = self.lines[channel]

        def act() -> Report:
            return unfreeze(self.session, channel, None, "on")

        lifted = line.in_force(self.at)
        if lifted:
            self.recorded(act(), channel, 0)
            line.freezes = {serial: stop for serial, stop in line.freezes.items() if serial not in lifted}
        else:
            self.unchanged(act)

    @rule(name=st.sampled_from(NAMES))
    def turn_a_suite(self, name: Name) -> None:
        """From now on it fails, or passes again: evidence of the other one counts for nothing."""
        self.failing ^= {name}
        self.write(f"conformance/{name}.yaml", suite(name, passes=name not in self.failing))

    @rule(channel=st.sampled_from(CHANNELS))
    def drill(self, channel: Channel) -> None:
        line = self.lines[channel]
        tried = {name: line.earlier(name)[:LAST] for name in line.pins}
        report = drill(self.session, channel, [], DrillOptions())
        if not any(tried.values()):
            assert (report.exit_code, report.data.get("serial")) == (1, None)
            return
        line.serial += 1
        assert report.data["serial"] == line.serial
        for row in report.data["pins"]:
            self.check_targets(channel, row["name"], row["targets"], tried[row["name"]])

    # What is only asked

    @rule(name=st.sampled_from(NAMES), channel=st.sampled_from(CHANNELS))
    def look_back(self, name: Name, channel: Channel) -> None:
        line = self.lines[channel]
        if name in line.pins:
            rows = targets(self.session, name, channel).data["targets"]
            self.check_targets(channel, name, rows, line.earlier(name))

    def check_targets(
        self, channel: Channel, name: str, rows: Sequence[Mapping[str, object]], refs: Sequence[str]
    ) -> None:
        assert [f"{name}@{row['version']}" for row in rows] == list(refs)
        for row, ref in zip(rows, refs, strict=True):
            if not row["with"]:  # with others it is another move
                code = self.judge("rollback", channel, {name: ref})
                assert (row["exit_code"], row["allowed"]) == (code, code == 0), (ref, row)

    @rule(ref=st.sampled_from(REFS), channel=st.sampled_from(CHANNELS), back=st.booleans())
    def ask_first(self, ref: str, channel: Channel, back: bool) -> None:
        """A dry run says what the real one would, and writes nothing."""
        wanted, line, options = parse_ref(ref), self.lines[channel], Options(reason="why", dry_run=True)
        pinned = line.pins.get(wanted.name)
        if ref not in self.published or pinned == ref or (back and not (pinned and line.was_live(ref))):
            return
        code = self.judge("rollback" if back else "promote", channel, {wanted.name: ref})
        before = self.files()
        if back:
            report = rollback(self.session, [(wanted.name, wanted.version)], channel, options)
        else:
            report = promote(self.session, [wanted], channel, options)
        assert (report.exit_code, report.status) == (code, "would-refuse" if code else "would"), report.problems
        assert self.files() == before

    # What befalls a workspace

    @rule(step=st.sampled_from(STEPS))
    def the_clock_steps(self, step: timedelta) -> None:
        if step < timedelta(0):
            self.warned.add("clock-back")
        self.session = replace(self.session, now=self.session.now + step)

    @rule(channel=st.sampled_from(CHANNELS))
    def lose_a_projection(self, channel: Channel) -> None:
        (self.root / f"registry/channels/{channel}.json").unlink(missing_ok=True)
        self.warned.add("projection-missing")

    @rule(spoil=st.booleans(), again=st.booleans())
    def lose_what_is_remembered(self, spoil: bool, again: bool) -> None:
        """Whatever is below .pawl is gone or says nothing, for a process that was at work or for a new one."""
        for path in self.remembered():
            if spoil:
                path.write_bytes(SPOILT)
        if not spoil:
            shutil.rmtree(self.root / ".pawl", ignore_errors=True)
        if again or spoil:
            self.reopen()

    def remembered(self) -> Iterator[Path]:
        private = self.root / ".pawl"
        return (
            path for path in sorted(private.rglob("*")) if path.is_file() and path.name not in {"lock", ".gitignore"}
        )

    @rule()
    def reopen(self) -> None:
        self.workspace = Workspace(self.root)
        self.session = replace(self.session, workspace=self.workspace)

    @rule(data=st.data())
    def change_a_byte(self, data: st.DataObject) -> None:
        """Whichever byte of a record or a published version is another one, it is found."""
        folders = ("releases", "registry/versions")
        files = sorted(path for folder in folders for path in (self.root / folder).rglob("*.*") if path.is_file())
        path = data.draw(st.sampled_from(files), label="file")
        whole = path.read_bytes()
        at = data.draw(st.integers(0, len(whole) - 1), label="byte")
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert verify(self.session).exit_code != 0
        path.write_bytes(whole)
        assert verify(self.session).exit_code == 0

    # What runs see

    @precondition(lambda self: len(self.runs) < 2)
    @rule(channel=st.sampled_from(CHANNELS))
    def start_a_run(self, channel: Channel) -> None:
        line = self.lines[channel]
        if line.serial:
            handle = ChannelHandle(open_channel(self.workspace, channel), None)
            began = Began(pins=dict(line.pins), stopped=self.stopped(channel, line.pins))
            self.runs.append((handle.run(agent="a"), channel, began))

    @precondition(lambda self: self.runs)
    @rule()
    def end_a_run(self) -> None:
        self.runs.pop(0)[0].end("done")

    def stopped(self, channel: Channel, pins: Mapping[str, str], *, whole: bool = True) -> set[str]:
        """Return what of some pins is halted or revoked now: itself, or with ``whole`` also in what it requires."""
        halts = self.lines[channel].halts
        off = {name for name, ref in pins.items() if name in halts and halts[name] in {None, ref.partition("@")[2]}}
        off |= {name for name, ref in pins.items() if self.withdrawn.get(ref) == "revoked"}
        return off | {name for name, ref in pins.items() if whole and ref in REQUIRES and "p/a" in off}

    @invariant()
    def a_run_has_what_it_began_with_until_it_is_stopped(self) -> None:
        """What is stopped reaches a run at its next checkpoint, and each use of it is one."""
        for run, channel, began in self.runs:
            for name in self.stopped(channel, began.pins, whole=False):
                with pytest.raises(WithheldError):
                    run.prompt(name)
            for name in set(began.pins) - began.stopped - self.stopped(channel, began.pins):
                assert f"{name}@{run.prompt(name).served.version}" == began.pins[name]
            if self.stopped(channel, began.pins) - began.stopped:
                with pytest.raises(WithheldError):
                    run.checkpoint()
