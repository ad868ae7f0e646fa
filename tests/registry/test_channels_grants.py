"""Approvals, waivers and freezes in the state of a channel; what never was there changes no byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.canonical import digest_of, record_bytes
from pawl.errors import IntegrityError
from pawl.ids import Serial
from pawl.registry.channels import fold_channel, projection, read_projection, state_digest
from pawl.registry.channels_grants import Identity
from pawl.registry.journal import Actor, chain
from policy.grants import ADA, BEN, CAT, LATER, OTHER, Grants, closure_digest
from registry.make import AT, STAGING, link, pin

V1, V2 = pin("a", "1.0.0"), pin("a", "2.0.0")


def test_what_is_not_there_is_not_written() -> None:
    line = Grants().pinned(V1)
    assert set(projection(line.state)) == {
        "format", "channel", "serial", "head", "registry", "pins", "rejections", "halts",
    }  # fmt: skip
    assert state_digest(line.state) == digest_of({"pins": {"a": line.state.pins[V1.name].as_dict()},
                                                  "rejections": {}, "halts": {}})  # fmt: skip
    lifted = Grants().pinned(V1).frozen().add("unfreeze", freezes=[2])
    assert state_digest(lifted.state) == state_digest(line.state)


def test_an_approval_says_what_it_is_for() -> None:
    (found,) = Grants().approved(V1).state.approvals[V1.digest]
    assert (found.ref, found.closure, found.policy) == ("a@1.0.0", closure_digest(V1), 1)
    assert (str(found.by), found.by.kind, found.at, found.until) == ("Ben <ben@example.invalid>", "human", AT, LATER)
    assert (found.reason, found.serial) == ("because", 1)


def test_of_each_person_the_newest_approval_stays_and_ended_ones_too() -> None:
    line = Grants().approved(V1).approved(V1, by=CAT).approved(V1, until=AT).approved(V2)
    assert [(item.by.name, item.until) for item in line.state.approvals[V1.digest]] == [("Cat", LATER), ("Ben", AT)]
    assert len(line.state.approvals[V2.digest]) == 1
    other = Grants().approved(V1).approved(V1, closure=OTHER)
    assert [item.closure for item in other.state.approvals[V1.digest]] == [closure_digest(V1), OTHER]


def test_a_waiver_waits_for_a_second_person() -> None:
    line = Grants().waived(V1)
    assert line.state.waivers[Serial(1)].approved_by == ()
    line.consented(1).consented(1, by=CAT)
    waiver = line.state.waivers[Serial(1)]
    assert [(item.by.name, item.serial) for item in waiver.approved_by] == [("Ben", 2), ("Cat", 3)]
    assert (waiver.rule, waiver.covers, waiver.by.name, waiver.owner) == ("R-1", f"a {V1.digest}", "Ada", "payments")
    ranged = Grants().waived(V1, digest=None, versions=">=1,<2").state.waivers[Serial(1)]
    assert ranged.covers == "a >=1,<2"


def test_a_freeze_lasts_until_it_is_lifted() -> None:
    line = Grants().frozen(spares={"roles": ["release"], "labels": {"risk": "low"}}).frozen(until=LATER)
    assert [(item.until, item.actions) for item in line.state.freezes.values()] == [
        (None, ("promote",)),
        (LATER, ("promote",)),
    ]
    assert line.state.freezes[Serial(1)].spares.labels == (("risk", "low"),)
    assert set(line.add("unfreeze", freezes=[1]).state.freezes) == {2}


def test_times_on_a_channel_are_those_of_the_records() -> None:
    line = Grants().pinned(V1, at="2026-03-01T00:00:00Z").pinned(V2, at="2026-03-02T00:00:00Z")
    line.frozen().pinned(V1, at="2026-03-04T00:00:00Z")
    assert line.state.live_times(V1.digest, V1.name) == (
        ("2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"),
        ("2026-03-04T00:00:00Z", None),
    )
    assert line.state.live_times(V2.digest, V2.name) == (("2026-03-02T00:00:00Z", "2026-03-04T00:00:00Z"),)
    assert line.state.live_times(OTHER, V1.name) == ()
    read = read_projection(record_bytes(projection(line.state)), STAGING, line.records[-1])
    assert read.live_times(V1.digest, V1.name) == ()


STEPS = st.sampled_from(["pin", "approve", "approve-other", "waive", "waive-range", "consent", "freeze", "unfreeze"])


def life(steps: list[str]) -> Grants:
    line = Grants().pinned(V1)
    for step in steps:
        if step == "pin":
            line.pinned(V2 if line.state.pins[V1.name].digest == V1.digest else V1)
        elif step.startswith("approve"):
            line.approved(V1, by=BEN if step == "approve" else CAT)
        elif step == "waive":
            line.waived(V1, break_glass=True, review_by=LATER)
        elif step == "waive-range":
            line.waived(V1, digest=None, versions=">=1")
        elif step == "consent" and line.state.waivers:
            line.consented(*line.state.waivers)
        elif step == "freeze":
            line.frozen(spares={"labels": {"a": "b"}, "names": ["a*"], "roles": ["risk"]}, until=LATER)
        elif step == "unfreeze" and line.state.freezes:
            line.add("unfreeze", freezes=list(line.state.freezes))
    return line


@given(steps=st.lists(STEPS, max_size=8))
def test_a_projection_says_the_whole_state(steps: list[str]) -> None:
    line = life(steps)
    state = fold_channel(STAGING, chain(STAGING, [(record.serial, record.data) for record in line.records]))
    read = read_projection(record_bytes(projection(state)), STAGING, line.records[-1])
    assert (read.pins, read.approvals, read.waivers, read.freezes) == (
        state.pins,
        state.approvals,
        state.waivers,
        state.freezes,
    )
    assert state_digest(read) == state_digest(state)


EDITS: list[tuple[tuple[Any, ...], Any]] = [
    (("approvals",), {}),
    (("approvals", V1.digest, 0, "until"), "2030-01-01T00:00:00Z"),
    (("approvals", V1.digest, 0, "by", "kind"), "robot"),
    (("approvals", V1.digest, 0, "by", "verified"), True),
    (("approvals", V1.digest, 0, "more"), 1),
    (("waivers",), {}),
    (("waivers", "3", "approved_by"), []),
    (("waivers", "3", "digest"), OTHER),
    (("waivers", "3", "review_by"), AT),
    (("waivers", "x"), {}),
    (("freezes",), {}),
    (("freezes", "5", "until"), AT),
    (("freezes", "5", "spares", "roles"), ["risk"]),
    (("freezes", "5", "actions"), ["rollback"]),
]


@pytest.mark.parametrize(("place", "value"), EDITS)
def test_an_edited_projection_is_refused(place: tuple[Any, ...], value: Any) -> None:
    line = Grants().pinned(V1).approved(V1).waived(V1).consented(3).frozen()
    fields: Any = json.loads(record_bytes(projection(line.state)))
    here = fields
    for key in place[:-1]:
        here = here[key]
    here[place[-1]] = value
    with pytest.raises(IntegrityError) as found:
        read_projection(record_bytes(fields), STAGING, line.records[-1])
    assert found.value.problems[0].code == "projection-damaged"


def test_an_empty_part_that_is_written_is_refused() -> None:
    line = Grants().pinned(V1)
    with pytest.raises(IntegrityError):
        read_projection(record_bytes({**projection(line.state), "waivers": {}}), STAGING, line.records[-1])


APPROVED = {"ref": "a@1.0.0", "digest": V1.digest, "closure": OTHER, "policy": 1, "until": LATER}
WAIVED: dict[str, Any] = {
    "rule": "R-1", "name": "a", "digest": V1.digest, "closure": None, "versions": None,
    "actions": ["promote"], "owner": "x", "until": LATER, "break_glass": False, "review_by": None,
}  # fmt: skip
FROZEN: dict[str, Any] = {
    "until": None,
    "actions": ["promote"],
    "spares": {"labels": {}, "names": [], "roles": []},
}
IMPOSSIBLE: list[tuple[str, dict[str, Any]]] = [
    ("approve", {"actor_kind": "human"}),
    ("approve", {"actor_kind": "human", "approvals": []}),
    ("approve", {"approvals": [APPROVED]}),
    ("approve", {"actor_kind": "robot", "approvals": [APPROVED]}),
    ("approve", {"actor_kind": "human", "approvals": [{**APPROVED, "until": None}]}),
    ("approve", {"actor_kind": "human", "approvals": [{**APPROVED, "until": "2026-04-01"}]}),
    ("approve", {"actor_kind": "human", "approvals": [{**APPROVED, "until": "2026-04-01T12:00:00+02:00"}]}),
    ("approve", {"actor_kind": "human", "approvals": [{**APPROVED, "policy": "1"}]}),
    ("approve", {"actor_kind": "human", "approvals": [{**APPROVED, "digest": "x"}]}),
    ("approve", {"actor_kind": "human", "approvals": [{**APPROVED, "ref": "a"}]}),
    ("approve", {"actor_kind": "human", "approvals": [{"ref": "a@1.0.0"}]}),
    ("approve", {"actor_kind": "human", "waivers": [7]}),
    ("waive", {**WAIVED, "digest": None}),
    ("waive", {**WAIVED, "versions": ">=1"}),
    ("waive", {**WAIVED, "digest": None, "versions": ">=1", "closure": OTHER}),
    ("waive", {**WAIVED, "until": None}),
    ("waive", {**WAIVED, "break_glass": True}),
    ("waive", {**WAIVED, "review_by": LATER}),
    ("waive", {**WAIVED, "break_glass": 1, "review_by": LATER}),
    ("waive", {**WAIVED, "actions": []}),
    ("waive", {**WAIVED, "actions": ["remove"]}),
    ("waive", {**WAIVED, "actions": "promote"}),
    ("waive", {**WAIVED, "name": "A"}),
    ("waive", {**WAIVED, "owner": ""}),
    ("freeze", {**FROZEN, "actions": []}),
    ("freeze", {**FROZEN, "actions": ["resolve"]}),
    ("freeze", {**FROZEN, "until": "tomorrow"}),
    ("freeze", {"until": None, "actions": ["promote"]}),
    ("freeze", {**FROZEN, "spares": []}),
    ("unfreeze", {"freezes": []}),
    ("unfreeze", {"freezes": [1]}),
    ("unfreeze", {}),
]


KEYS = {"waive": "waiver", "freeze": "freeze"}
"""What the body of a record is below."""


@pytest.mark.parametrize(("action", "body"), IMPOSSIBLE)
def test_what_cannot_follow_is_damage(action: str, body: dict[str, Any]) -> None:
    line = Grants().pinned(V1)
    body = {"actor_kind": "human", KEYS[action]: body} if action in KEYS else body
    whole = {**body, "registry": {"serial": 0, "digest": None}, "evidence": [], "state": state_digest(line.state)}
    with pytest.raises(IntegrityError, match="record 2 of the journal staging") as found:
        fold_channel(STAGING, link(STAGING, [(action, whole)], line.records))
    assert "does not apply" in found.value.message


@pytest.mark.parametrize("body", [WAIVED, FROZEN])
def test_the_bodies_that_the_table_bends_are_good_ones(body: dict[str, Any]) -> None:
    action = "waive" if body is WAIVED else "freeze"
    whole: dict[str, Any] = {"actor_kind": "human", KEYS[action]: body}
    line = Grants().add(action, **whole)
    assert line.add("approve", actor_kind="human", approvals=[APPROVED]).state.head.serial == 2


SAME = [
    (Actor(name="Ada", email="ada@example.invalid"), True),
    (Actor(name="Somebody", email="ADA@example.invalid"), True),
    (Actor(name="ada", email="private@example.invalid"), True),
    (Actor(name="ada"), True),
    (Actor(name="Ben", email="ben@example.invalid"), False),
    (Actor(name="Ben"), False),
]


@pytest.mark.parametrize(("other", "same"), SAME)
def test_who_may_be_the_same_person(other: Actor, same: bool) -> None:
    ada = Identity(name=ADA.name, email=ADA.email, kind="human", verified=False)
    assert ada.is_same(other) == same
    assert not Identity(name="Ada", email=None, kind="human", verified=False).is_same(Actor(name="Ben"))
