"""Channels as folds: pins, what was live, rejections and halts; projections that only the newest record vouches for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.canonical import digest_of, record_bytes
from pawl.errors import IntegrityError
from pawl.ids import Channel, Name, Version
from pawl.registry.channels import ChannelState, Halt, fold_channel, projection, read_projection, state_digest
from registry.make import AT, STAGING, Line, link, move, pin

A = Name("a")
V1, V2, V3 = (pin("a", f"{number}.0.0") for number in (1, 2, 3))


def refs(state: ChannelState) -> list[str]:
    return [str(past.pin.ref) for past in state.earlier(A)]


EARLIER: list[tuple[list[Any], list[str]]] = [
    ([V1], []),
    ([V1, V2], ["a@1.0.0"]),
    ([V1, V2, V3], ["a@2.0.0", "a@1.0.0"]),
    ([V1, V2, V1], ["a@2.0.0"]),
    ([V1, V2, V1, V2], ["a@1.0.0"]),
    ([V1, V2, V3, V1], ["a@3.0.0", "a@2.0.0"]),
    ([V2, V3, V1], ["a@3.0.0", "a@2.0.0"]),  # last live first, whatever the numbers say
    ([V1, V2, None], ["a@2.0.0", "a@1.0.0"]),
    ([V1, None, V2], ["a@1.0.0"]),
    ([V1, None, V1], []),
]


@pytest.mark.parametrize(("life", "earlier"), EARLIER, ids=lambda life: " ".join(map(str, life))[:60])
def test_earlier_versions_last_live_first_each_once(life: list[Any], earlier: list[str]) -> None:
    line = Line()
    for member in life:
        line = line.pinned(member) if member else line.removed("a")
    assert refs(line.state) == earlier
    for member in (V1, V2, V3):
        assert line.state.was_live(member.digest, A) == (member in life)
        assert not line.state.was_live(member.digest, Name("b"))


def test_what_was_live_says_from_when_until_when() -> None:
    state = Line().pinned(V1).halted("a").pinned(V2).pinned(V1).state
    assert [(past.pin.since, past.until, past.pin.version) for past in state.past[A]] == [
        (1, 3, "1.0.0"),
        (3, 4, "2.0.0"),
    ]
    assert state.pins[A].since == 4


def test_a_rejection_knows_the_content_and_ends_when_it_says() -> None:
    rejected = pin("a", "1.0.0", content="same")
    state = Line().rejected(rejected, until="2026-03-01T12:00:00Z").state
    rejection = state.rejections[pin("a", "9.0.0", content="same").content]
    assert (rejection.ref, rejection.cause, rejection.by) == ("a@1.0.0", "reject", "Ada <ada@example.invalid>")
    moments = ["2026-03-01T11:59:59Z", "2026-03-01T12:00:00Z", "2027-01-01T00:00:00Z"]
    assert [rejection.holds(now) for now in moments] == [True, False, False]
    assert Line().rejected(rejected).state.rejections[rejected.content].holds("9999-01-01T00:00:00Z")


def test_a_rollback_rejects_and_an_unreject_takes_it_back() -> None:
    row = {"ref": str(V2.ref), "content": V2.content, "cause": "rollback", "until": None}
    line = Line().pinned(V1).pinned(V2).pinned(V1, action="rollback", rejects=[row])
    assert line.state.rejections[V2.content].cause == "rollback"
    assert line.state.pins[A].version == "1.0.0"
    assert line.add("unreject", ref="a@2.0.0", unrejects=[V2.content]).state.rejections == {}


HALTS = [  # what was halted, what is pinned now, whether that is halted
    (None, "1.0.0", True),
    (None, "2.0.0", True),
    (None, None, True),
    ("1.0.0", "1.0.0", True),
    ("1.0.0", "2.0.0", False),
    ("1.0.0", None, False),
]


@pytest.mark.parametrize(("version", "pinned", "halted"), HALTS)
def test_a_halt_is_of_a_name_or_of_one_version(version: str | None, pinned: str | None, halted: bool) -> None:
    line = Line().pinned(V1).halted("a", version)
    if pinned is None:
        line.removed("a")
    elif pinned == "2.0.0":
        line.pinned(V2)
    found = line.state.halted(A)
    assert found == (Halt(version=Version(version) if version else None, reason="because",
                          by="Ada <ada@example.invalid>", at=AT, serial=line.records[1].serial)
                     if halted else None)  # fmt: skip
    assert line.add("resume", name="a").state.halts == {}


EVIDENCE: dict[str, Any] = {"registry": {"serial": 0, "digest": None}, "evidence": []}
IMPOSSIBLE: list[tuple[str, str, dict[str, Any]]] = [
    ("moved from what is not pinned", "promote", {"moves": [move("a", V2, V3)]}),
    ("moved from nothing where something is", "promote", {"moves": [move("a", None, V3)]}),
    ("removed what is not there", "remove", {"moves": [move("b", V1, None)]}),
    ("a pin that lacks", "promote", {"moves": [{"name": "a", "from": move("a", V1, V2)["from"], "to": {}}]}),
    ("resumed and never halted", "resume", {"name": "a"}),
    ("unrejected and never rejected", "unreject", {"unrejects": [V1.content]}),
    ("a refusal of nothing", "refused", {"attempt": None}),
    ("an unknown action", "forget", {}),
    ("a registry's action", "publish", {"published": []}),
]


@pytest.mark.parametrize(("_", "action", "body"), IMPOSSIBLE, ids=lambda value: value if isinstance(value, str) else "")
def test_what_cannot_follow_is_damage(_: str, action: str, body: dict[str, Any]) -> None:
    line = Line().pinned(V1)
    records = link(STAGING, [(action, {**body, **EVIDENCE, "state": state_digest(line.state)})], line.records)
    with pytest.raises(IntegrityError) as found:
        fold_channel(STAGING, records)
    assert "record 2 of the journal staging" in found.value.message


def test_a_record_that_names_another_state_is_damage() -> None:
    line = Line().pinned(V1)
    body = {"moves": [move("a", V1, V2)], **EVIDENCE, "state": state_digest(line.state)}
    with pytest.raises(IntegrityError, match="state"):
        fold_channel(STAGING, link(STAGING, [("promote", body)], line.records))


def life(steps: list[tuple[str, int]]) -> Line:
    """Write a journal from any steps, leaving out those that make no sense."""
    line = Line()
    for word, number in steps:
        state = line.state
        name = "ab"[number % 2]
        member = pin(name, f"{number}.0.0")
        present = state.pins.get(Name(name))
        if word == "pin" and (present is None or present.digest != member.digest):
            line.pinned(member)
        elif word == "remove" and present:
            line.removed(name)
        elif word == "reject":
            line.rejected(member)
        elif word == "unreject" and member.content in state.rejections:
            line.add("unreject", unrejects=[member.content])
        elif word == "halt":
            line.halted(name, str(member.version) if number > 3 else None)
        elif word == "resume" and Name(name) in state.halts:
            line.add("resume", name=name)
    return line


WORDS = st.sampled_from(["pin", "pin", "remove", "reject", "unreject", "halt", "resume"])
LIVES = st.lists(st.tuples(WORDS, st.integers(1, 6)), max_size=10)


@given(steps=LIVES)
def test_a_projection_says_the_whole_state(steps: list[tuple[str, int]]) -> None:
    line = life(steps)
    state = fold_channel(STAGING, line.read_again())
    if line.records:
        read = read_projection(record_bytes(projection(state)), STAGING, line.records[-1])
        assert (read.pins, read.rejections, read.halts) == (state.pins, state.rejections, state.halts)
        assert (read.head, state_digest(read)) == (state.head, state_digest(state))


@given(steps=LIVES)
def test_the_state_digest_is_the_canonical_one(steps: list[tuple[str, int]]) -> None:
    state = life(steps).state
    fields = projection(state)
    assert state_digest(state) == digest_of({key: fields[key] for key in ("pins", "rejections", "halts")})


def changed(fields: dict[str, Any], *place: str, to: Any) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(json.dumps(fields))
    here = whole
    for key in place[:-1]:
        here = here[key]
    here[place[-1]] = to
    return whole


def test_a_projection_that_was_edited_is_refused() -> None:
    line = Line().pinned(V1).rejected(V2).halted("a")
    fields = projection(line.state)
    newest = line.records[-1]
    read_projection(record_bytes(fields), STAGING, newest)
    edits = [
        changed(fields, "pins", "a", "version", to="2.0.0"),
        changed(fields, "pins", "a", "digest", to=V2.digest),
        changed(fields, "pins", "a", "requires", to={"b": ">=1"}),
        changed(fields, "pins", "a", "tests", to={"s": 1}),
        changed(fields, "pins", to={}),
        changed(fields, "pins", "a", "more", to=1),
        changed(fields, "pins", "a", to=None),
        changed(fields, "rejections", to={}),
        changed(fields, "rejections", V2.content, "until", to="2020-01-01T00:00:00Z"),
        changed(fields, "halts", to={}),
        changed(fields, "halts", "a", "version", to="9.0.0"),
        changed(fields, "serial", to=2),
        changed(fields, "head", to=V1.digest),
        changed(fields, "channel", to="production"),
        changed(fields, "format", to=2),
        changed(fields, "more", to=1),
        {key: value for key, value in fields.items() if key != "registry"},
    ]
    for edit in edits:
        with pytest.raises(IntegrityError) as found:
            read_projection(record_bytes(edit), STAGING, newest)
        assert found.value.problems[0].code == "projection-damaged"
    with pytest.raises(IntegrityError):
        read_projection(record_bytes(fields), Channel("production"), newest)
    with pytest.raises(IntegrityError):
        read_projection(record_bytes(fields), STAGING, line.records[0])
    with pytest.raises(IntegrityError):
        read_projection(b"[" * 100_000, STAGING, newest)


def test_the_registry_that_a_projection_names_is_the_one_of_its_record() -> None:
    line = Line().pinned(V1)
    edit = changed(projection(line.state), "registry", to={"serial": 9, "digest": V1.digest})
    with pytest.raises(IntegrityError):
        read_projection(record_bytes(edit), STAGING, line.records[-1])
