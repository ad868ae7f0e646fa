"""Plans as data: one record, everything that it speaks of before it, and the heads that it was made from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pawl.canonical import sha256
from pawl.ids import REGISTRY_JOURNAL, Channel, Name, Version, parse_ref
from pawl.policy.verdict import Finding, Verdict
from pawl.registry.channels import ChannelState, Pin, fold_channel, projection
from pawl.registry.journal import Record, chain
from pawl.releases.planning import (
    NewEvidence,
    Stamp,
    pin_of,
    plan_adopt,
    plan_intervention,
    plan_moves,
    plan_publish,
    plan_refusal,
    plan_restore,
    plan_withdraw,
)
from pawl.releases.plans import AppendRecord, Plan, StoreEvidence, WriteProjection
from registry.make import ADA, AT, STAGING, Line, adopted, catalog, pin, publication, published, withdrawn

A1, A2, B1 = pin("a", "1.0.0"), pin("a", "2.0.0"), pin("b")
STAMP = Stamp(actor=ADA, at=AT, reason="because")
CATALOG = catalog(published(A1, A2, B1), adopted(1))
YES = Verdict(
    action="promote",
    channel=STAGING,
    policy=1,
    findings=(Finding(check="c", status="passed", code="c", message="m", exit_code=3),),
)
NO = replace(YES, findings=(Finding(check="c", status="failed", code="c", message="m", exit_code=7),))
ROW = {"file": "a/1.0.0/s.staging-000001.json", "digest": sha256(b"x")}
NEW = NewEvidence(name=str(ROW["file"]), data=b"{}\n", entry=ROW)


def after(line: Line, plan: Plan) -> ChannelState:
    """Return the state that a plan's record leads to, folded anew from bytes; the plan's projection must say it."""
    record = plan.record
    assert record is not None
    files = [*line.files, (record.serial, record.data)]
    state = fold_channel(line.channel, chain(line.channel, files))
    step = plan.steps[-1]
    assert isinstance(step, WriteProjection)
    assert projection(step.state) == projection(state)
    return state


def moves(line: Line, action: str = "promote", /, **pins: Pin | None) -> Plan:
    wanted = {Name(name): item for name, item in pins.items()}
    return plan_moves(
        action=action, state=line.state, catalog=CATALOG, moves=wanted, verdict=YES, evidence=(NEW,), stamp=STAMP
    )


def test_several_move_under_one_record() -> None:
    line = Line()
    plan = moves(line, a=A1, b=B1)
    assert sorted(after(line, plan).pins) == ["a", "b"]
    assert len([step for step in plan.steps if isinstance(step, AppendRecord)]) == 1
    assert after(line, plan).evidence == (ROW,)
    assert plan.message == "pawl: promote a@1.0.0, b@1.0.0 on staging (serial 1)"


def test_what_a_record_speaks_of_is_written_before_it_and_the_projection_after_it() -> None:
    kinds = [type(step) for step in moves(Line(), a=A1).steps]
    assert kinds == [StoreEvidence, AppendRecord, WriteProjection]
    assert [type(step).__name__ for step in plan_publish(CATALOG, [(publication(A1), b"x")], STAMP).steps] == [
        "FreezeVersion",
        "AppendRecord",
    ]


def test_a_plan_names_the_heads_it_was_made_from() -> None:
    line = Line().pinned(A1)
    plan = moves(line, a=A2)
    assert plan.expects == {STAGING: line.state.head, REGISTRY_JOURNAL: CATALOG.head}
    record = plan.record
    assert record is not None
    assert (record.serial, record.previous) == (2, line.records[0].digest)
    assert record.body["registry"] == CATALOG.head.as_dict()
    assert record.body["policy"] == 1


def test_a_rollback_has_a_higher_serial_points_back_and_rejects_what_it_leaves() -> None:
    line = Line().pinned(A1).pinned(A2)
    state = after(line, moves(line, "rollback", a=A1))
    assert (state.head.serial, state.pins[Name("a")].version, state.pins[Name("a")].since) == (3, "1.0.0", 3)
    assert list(state.rejections) == [A2.content]
    assert state.rejections[A2.content].cause == "rollback"
    assert after(line, moves(line, "promote", a=A1)).rejections == {}


def test_a_removal_takes_the_pin_off() -> None:
    line = Line().pinned(A1)
    state = after(line, moves(line, "remove", a=None))
    assert (state.pins, state.was_live(A1.digest, Name("a"))) == ({}, True)


def test_a_refusal_takes_a_serial_and_moves_nothing() -> None:
    line = Line().pinned(A1)
    attempt = {"action": "promote", "refs": ["a@2.0.0"]}
    plan = plan_refusal(attempt=attempt, state=line.state, catalog=CATALOG, verdict=NO, evidence=(NEW,), stamp=STAMP)
    state = after(line, plan)
    assert (state.head.serial, state.pins) == (2, line.state.pins)
    record = plan.record
    assert record is not None
    assert (record.action, record.body["exit_code"], record.body["attempt"]) == ("refused", 7, attempt)


def test_interventions_lead_to_what_they_say() -> None:
    line = Line().pinned(A1)
    plan = plan_intervention(
        "halt", {"name": "a", "version": None}, state=line.state, catalog=CATALOG, stamp=STAMP, what="a"
    )
    assert after(line, plan).halted(Name("a")) is not None
    with pytest.raises(KeyError):
        plan_intervention("resume", {"name": "a"}, state=line.state, catalog=CATALOG, stamp=STAMP, what="a")


def test_registry_plans() -> None:
    ref = parse_ref("a@1.0.0")
    yanked = catalog(published(A1), withdrawn("a@1.0.0", "yanked"))
    plans: list[tuple[Plan, str]] = [
        (plan_withdraw(CATALOG, ref, "yanked", STAMP), "withdraw"),
        (plan_restore(yanked, ref, STAMP), "restore"),
        (plan_adopt(CATALOG, {}, {Channel("staging"): None}, {}, STAMP), "adopt-policy"),
        (plan_publish(CATALOG, [(publication(pin("n")), b"n")], STAMP), "publish"),
    ]
    for plan, action in plans:
        record = plan.record
        assert isinstance(record, Record)
        assert (record.action, record.journal, record.reason) == (action, REGISTRY_JOURNAL, "because")
        assert set(plan.expects) == {REGISTRY_JOURNAL}
        assert len(plan.lines()) == len(plan.steps)
    adopted_plan = plans[2][0].record
    assert adopted_plan is not None
    assert adopted_plan.body["policy"] == 2


def test_the_same_question_makes_the_same_plan() -> None:
    assert moves(Line(), a=A1) == moves(Line(), a=A1)


def test_nothing_is_a_plan_too() -> None:
    assert Plan().empty
    assert Plan().record is None
    assert Plan().lines() == ()


def test_a_subject_stays_short() -> None:
    many = {f"n{number:03d}": pin(f"n{number:03d}") for number in range(100)}
    plan = moves(Line(), "promote", **many)
    assert len(plan.message) == 120
    assert plan.message.endswith("...")


def test_a_published_version_becomes_the_pin_it_is() -> None:
    made = pin_of(publication(A1))
    assert made == A1
    assert made.version == Version("1.0.0")
