"""Random lives against a naive model: whatever is asked in whatever order, pawl answers as the model says.

Drives the operations themselves, outside Git.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pawl.canonical import timestamp
from pawl.errors import InvalidError, NotFoundError, RefusedError, WithheldError
from pawl.ids import Channel, Name, parse_ref
from pawl.operations.authoring.publishing import publish
from pawl.operations.governing.interventions import halt, reject, restore, resume, unreject, withdraw
from pawl.operations.governing.policies import policy_adopt
from pawl.operations.observing.verifying import verify
from pawl.operations.releasing.release import Options, promote, remove, rollback
from pawl.operations.session import Report, Session
from pawl.policy.verdict import hardest
from pawl.registry.catalog import LEVELS, WithdrawalLevel
from pawl.registry.journal import Actor
from pawl.registry.versions import satisfies
from pawl.runs.views import open_channel
from pawl.workspace import Workspace
from properties.lives_model import (
    CHANNELS,
    NAMES,
    NOW,
    OPEN,
    PRODUCTION,
    REFS,
    REQUIRES,
    SETS,
    SETTINGS,
    STAGING,
    STRICT,
    Line,
    Move,
    document,
    policy,
    said,
    suite,
    with_moves,
)

ADA = Actor(name="Ada", email="ada@example.invalid")
OPTIONS = Options(reason="because")


class Lives(RuleBasedStateMachine):
    """Every rule asks pawl and the model the same thing."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="pawl-lives-"))
        self.workspace = Workspace(self.root)
        self.session = Session(workspace=self.workspace, actor=ADA, now=NOW, commit=False, run_code=False)
        self.published: set[str] = set()
        self.withdrawn: dict[str, WithdrawalLevel] = {}
        self.withdrawn_at: dict[str, str] = {}
        self.lines = {channel: Line() for channel in CHANNELS}
        self.policy, self.number = "", 0
        self.failing: set[str] = set()
        """Whose suites fail."""
        self.write("registry/registry.yaml", SETTINGS)
        for name in NAMES:
            self.write(f"conformance/{name}.yaml", suite(name))
        self.warned: set[str] = set()
        """What ``verify`` may warn of in the end."""
        self.adopt_rules(OPEN)

    @initialize(
        published=st.lists(st.sampled_from(REFS), min_size=4, unique=True).map(sorted),
        releases=st.lists(st.sampled_from(["first", "second", "ahead"]), max_size=3),
    )
    def begin(self, published: list[str], releases: list[str]) -> None:
        """Most lives begin with something published and released, or they would only hear that nothing is there."""
        for ref in sorted({"p/a@1.0.0", *published}):
            self.publish(ref)
        for word in releases:
            if word == "ahead":
                for ref in [*self.lines[CHANNELS[0]].pins.values()]:
                    self.promote(ref, CHANNELS[1])
            else:
                self.promote_set(SETS[0] if word == "first" else SETS[1])

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def teardown(self) -> None:
        report = verify(self.session)
        shutil.rmtree(self.root, ignore_errors=True)  # an index may be closed at this moment
        assert report.exit_code == 0, report.problems
        assert {problem.code for problem in report.problems} <= self.warned

    @property
    def at(self) -> str:
        return self.session.at

    # What the model says

    def unmet(self, pins: dict[str, str], name: str) -> bool:
        ref = pins[name]
        if ref not in REQUIRES:
            return False
        return "p/a" not in pins or not satisfies(parse_ref(pins["p/a"]).version, REQUIRES[ref])

    def judge(self, action: str, channel: Channel, moves: Mapping[str, str | None]) -> int:
        """Return the exit code that a move deserves; 0 lets it happen."""
        line = self.lines[channel]
        pins = with_moves(line.pins, moves)
        covered = [key for key in pins if key in moves or (key == "p/b" and "p/a" in moves)]
        codes: list[int] = []
        for key in covered:
            members = {key, "p/a"} & set(pins) if pins[key] in REQUIRES else {key}
            codes += [3] if self.unmet(pins, key) else []
            for member in members:
                level = self.withdrawn.get(pins[member])
                codes += [7] if level == "revoked" or (level == "yanked" and member in moves) else []
            if self.policy == STRICT and pins[key] == "p/a@1.0.0":
                codes.append(3)
        for ref in pins.values():
            codes += [7] if ref in moves.values() and line.rejects(ref, self.at) else []
            ahead = action == "promote" and channel == PRODUCTION and ref in moves.values()
            codes += [3] if ahead and not self.lines[STAGING].was_live(ref) else []
        asked = Move(action=action, channel=channel, moves=moves, pins=pins, covered=covered)
        return hardest([*codes, *self.further(asked)])

    def further(self, asked: Move) -> list[int]:
        """Return what else stands against a move."""
        return [4 for key in asked.covered if key in self.failing]

    def expect(self, act: Callable[[], Report], channel: Channel, code: int) -> bool:
        """Run a move; it must end with ``code`` and take one serial. True where it happened."""
        report = act()
        self.lines[channel].serial += 1
        assert (report.exit_code, report.status) == (code, "refused" if code else "done"), report.problems
        assert report.data["serial"] == self.lines[channel].serial
        return code == 0

    def unchanged(self, act: Callable[[], Report]) -> None:
        before = self.files()
        assert act().status == "unchanged"
        assert self.files() == before

    def missing(self, act: Callable[[], Report]) -> None:
        before = self.files()
        with pytest.raises(NotFoundError):
            act()
        assert self.files() == before

    def files(self) -> dict[str, bytes]:
        found = (path for folder in ("releases", "registry") for path in (self.root / folder).rglob("*.*"))
        return {str(path): path.read_bytes() for path in found if path.is_file()}

    # What can happen

    @rule(ref=st.sampled_from(REFS))
    def publish(self, ref: str) -> None:
        name = Name(ref.partition("@")[0])
        self.write(f"procedures/{name}.yaml", document(ref))
        if "p/b" in name and "p/a@1.0.0" not in self.published and not any("p/a@2" in item for item in self.published):
            if not (self.root / "procedures/p/a.yaml").exists():
                with pytest.raises(InvalidError):
                    publish(self.session, [name])
            (self.root / f"procedures/{name}.yaml").unlink()
            return
        needed = REQUIRES.get(ref)
        known = [*self.published]
        there = [parse_ref(item).version for item in known if item.startswith("p/a@")]
        source = (self.root / "procedures/p/a.yaml").read_text(encoding="utf-8") if needed else ""
        there += [parse_ref(item).version for item in REFS if needed and f"version: {item[4:]}\n" in source]
        if needed and not any(satisfies(version, needed) for version in there):
            with pytest.raises(InvalidError):
                publish(self.session, [name])
            (self.root / f"procedures/{name}.yaml").unlink()
        elif ref in self.published:
            self.unchanged(lambda: publish(self.session, [name]))
        else:
            assert publish(self.session, [name]).status == "done"
            self.published.add(ref)

    @precondition(lambda self: self.published)
    @rule(ref=st.sampled_from(REFS))
    def publish_other_bytes(self, ref: str) -> None:
        name = Name(ref.partition("@")[0])
        file = self.root / f"procedures/{name}.yaml"
        if ref not in self.published or not file.exists():
            return
        before = file.read_bytes()
        self.write(f"procedures/{name}.yaml", document(ref).replace("owner: us", "owner: them"))
        frozen = self.files()
        with pytest.raises(InvalidError):
            publish(self.session, [name])
        assert self.files() == frozen
        file.write_bytes(before)

    @rule(ref=st.sampled_from(REFS), channel=st.sampled_from(CHANNELS))
    def promote(self, ref: str, channel: Channel) -> None:
        def act() -> Report:
            return promote(self.session, [parse_ref(ref)], channel, OPTIONS)

        name, line = ref.partition("@")[0], self.lines[channel]
        if ref not in self.published:
            self.missing(act)
        elif line.pins.get(name) == ref:
            self.unchanged(act)
        elif self.expect(act, channel, self.judge("promote", channel, {name: ref})):
            line.move(name, ref)

    @rule(refs=st.sampled_from(SETS), channel=st.sampled_from(CHANNELS))
    def promote_set(self, refs: tuple[str, str], channel: Channel = STAGING) -> None:
        """Several move as one, or not at all."""
        line = self.lines[channel]

        def act() -> Report:
            return promote(self.session, [parse_ref(ref) for ref in refs], channel, OPTIONS)

        moves = {ref.partition("@")[0]: ref for ref in refs if ref not in line.pins.values()}
        if not set(refs) <= self.published:
            self.missing(act)
        elif not moves:
            self.unchanged(act)
        elif self.expect(act, channel, self.judge("promote", channel, moves)):
            for name, ref in moves.items():
                line.move(name, ref)

    @rule(ref=st.sampled_from(REFS), channel=st.sampled_from(CHANNELS))
    def rollback_to(self, ref: str, channel: Channel) -> None:
        wanted, line = parse_ref(ref), self.lines[channel]

        def act() -> Report:
            return rollback(self.session, [(wanted.name, wanted.version)], channel, OPTIONS)

        if wanted.name not in line.pins or not line.was_live(ref):
            self.missing(act)
        elif line.pins[wanted.name] == ref:
            self.unchanged(act)
        elif self.expect(act, channel, self.judge("rollback", channel, {wanted.name: ref})):
            line.rejected[said(line.pins[wanted.name])] = None
            line.move(wanted.name, ref)

    @rule(name=st.sampled_from(NAMES), channel=st.sampled_from(CHANNELS))
    def roll_back(self, name: Name, channel: Channel) -> None:
        line = self.lines[channel]

        def act() -> Report:
            return rollback(self.session, [(name, None)], channel, OPTIONS)

        if name not in line.pins:
            self.missing(act)
            return
        verdicts = {ref: self.judge("rollback", channel, {name: ref}) for ref in line.earlier(name)}
        target = next((ref for ref, code in verdicts.items() if code == 0), None)
        code = 0 if target else next(iter(verdicts.values()), 3)
        if self.expect(act, channel, code):
            line.rejected[said(line.pins[name])] = None
            line.move(name, target)

    @rule(name=st.sampled_from(NAMES), channel=st.sampled_from(CHANNELS))
    def remove(self, name: Name, channel: Channel) -> None:
        line = self.lines[channel]

        def act() -> Report:
            return remove(self.session, [name], channel, OPTIONS)

        if name not in line.pins:
            (self.unchanged if line.past.get(name) else self.missing)(act)
        elif self.expect(act, channel, 3 if name == "p/a" and "p/b" in line.pins else 0):
            line.move(name, None)

    def intervene(self, act: Callable[[], Report], channel: Channel) -> None:
        report = act()
        self.lines[channel].serial += 1
        assert (report.status, report.data["serial"]) == ("done", self.lines[channel].serial)

    @rule(ref=st.sampled_from(REFS), channel=st.sampled_from(CHANNELS), hours=st.sampled_from([None, None, 20]))
    def reject(self, ref: str, channel: Channel, hours: int | None) -> None:
        line = self.lines[channel]
        until = timestamp(self.session.now + timedelta(hours=hours)) if hours else None

        def act() -> Report:
            return reject(self.session, parse_ref(ref), channel, "no", until)

        if ref not in self.published:
            self.missing(act)
        elif line.rejects(ref, self.at) and line.rejected[said(ref)] == until:
            self.unchanged(act)
        else:
            self.intervene(act, channel)
            line.rejected[said(ref)] = until

    @rule(ref=st.sampled_from(REFS), channel=st.sampled_from(CHANNELS))
    def unreject(self, ref: str, channel: Channel) -> None:
        line = self.lines[channel]

        def act() -> Report:
            return unreject(self.session, parse_ref(ref), channel, "yes")

        if ref not in self.published:
            self.missing(act)
        elif said(ref) not in line.rejected:
            self.unchanged(act)
        else:
            self.intervene(act, channel)
            del line.rejected[said(ref)]

    @rule(ref=st.sampled_from(REFS), whole=st.booleans(), channel=st.sampled_from(CHANNELS))
    def halt(self, ref: str, whole: bool, channel: Channel) -> None:
        wanted, line = parse_ref(ref), self.lines[channel]
        version = None if whole else wanted.version

        def act() -> Report:
            return halt(self.session, wanted.name, version, channel, "stop")

        if wanted.name not in line.pins or (not whole and line.pins[wanted.name] != ref):
            self.missing(act)
        elif wanted.name in line.halts and line.halts[wanted.name] in {None, version}:
            self.unchanged(act)
        else:
            self.intervene(act, channel)
            line.halts[wanted.name] = version

    @rule(name=st.sampled_from(NAMES), channel=st.sampled_from(CHANNELS))
    def resume(self, name: Name, channel: Channel) -> None:
        line = self.lines[channel]

        def act() -> Report:
            return resume(self.session, name, None, channel, "go")

        if name in line.halts:
            self.intervene(act, channel)
            del line.halts[name]
        elif name in line.pins or name in line.past:
            self.unchanged(act)
        else:
            self.missing(act)

    @rule(ref=st.sampled_from(REFS), level=st.sampled_from([*LEVELS, "yanked"]))
    def withdraw(self, ref: str, level: WithdrawalLevel) -> None:
        def act() -> Report:
            return withdraw(self.session, parse_ref(ref), level, "leaks")

        before = self.withdrawn.get(ref)
        if ref not in self.published:
            self.missing(act)
        elif before == level:
            self.unchanged(act)
        elif before and LEVELS.index(before) > LEVELS.index(level):
            with pytest.raises(RefusedError):
                act()
        else:
            assert act().status == "done"
            self.withdrawn[ref], self.withdrawn_at[ref] = level, self.at

    @rule(ref=st.sampled_from(REFS))
    def restore(self, ref: str) -> None:
        def act() -> Report:
            return restore(self.session, parse_ref(ref), "mended")

        if ref not in self.published:
            self.missing(act)
        elif ref not in self.withdrawn:
            self.unchanged(act)
        elif self.withdrawn[ref] == "revoked":
            with pytest.raises(WithheldError):
                act()
        else:
            assert act().status == "done"
            del self.withdrawn[ref]

    @rule(rules=st.sampled_from([OPEN, STRICT]))
    def adopt(self, rules: str) -> None:
        self.adopt_rules(rules)

    def adopt_rules(self, rules: str) -> None:
        self.write("registry/policies/house.yaml", policy(rules))
        status = policy_adopt(self.session, "rules", again=True).status
        assert status == ("unchanged" if self.policy == rules else "done")
        self.number += self.policy != rules
        self.policy = rules

    # What always holds

    @invariant()
    def the_channels_are_as_the_model_says(self) -> None:
        for channel, line in self.lines.items():
            served = self.workspace.served(channel)
            assert {name: str(pin.ref) for name, pin in served.pins.items()} == line.pins
            assert served.head.serial == line.serial
            assert len(served.rejections) == len(line.rejected)
            assert {name: halted.version for name, halted in served.halts.items()} == line.halts
            folded = self.workspace.channel(channel)
            assert (folded.pins, folded.rejections, folded.halts) == (served.pins, served.rejections, served.halts)

    @invariant()
    def only_what_is_not_withheld_is_served(self) -> None:
        for channel, line in self.lines.items():
            if not line.serial:
                continue
            view = open_channel(self.workspace, channel)
            for name, ref in line.pins.items():
                members = [name, "p/a"] if ref in REQUIRES else [name]
                halts = [member for member in members if member in line.halts]
                halted = any(line.halts[member] in {None, line.pins[member].partition("@")[2]} for member in halts)
                own = name in halts and line.halts[name] in {None, ref.partition("@")[2]}
                revoked = any(self.withdrawn.get(line.pins[member]) == "revoked" for member in members)
                withheld = view.entry(Name(name), NOW).withheld
                if own or revoked:
                    assert withheld is not None
                    assert withheld.exit_code == 7
                elif not halted:
                    assert withheld is None
