"""Invariants 5, 6, 7, 9 and 10: random lives judged again from their journals, laws over the table of situations."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

from budgets import examples
from pawl.canonical import digest_of, timestamp
from pawl.conformance.evidence import EvidenceEntry, Key, newest
from pawl.conformance.outcomes import OUTCOMES
from pawl.ids import REGISTRY_JOURNAL, Channel, Name, parse_ref
from pawl.policy.evaluator import evaluate
from pawl.policy.rules import Rule
from pawl.policy.situation import Situation, SuiteEvidence
from pawl.policy.sources import read_policy, rules_from
from pawl.registry.catalog import fold_registry
from pawl.registry.channels import fold_channel
from pawl.registry.closure import closure_of
from pawl.registry.journal import Record
from pawl.workspace import Workspace
from policy.make import policy_document_of, rule
from policy.situations import ROWS, situation_of
from support import FIRST, SECOND, Shop, in_process, story

CHANNEL = Channel("staging")
FLOW, ON = "support/refund", ("--channel", CHANNEL, "--reason", "because")
COMMANDS: dict[str, tuple[str, ...]] = {
    "promote-1": ("promote", *FIRST, "--to", CHANNEL, "--reason", "one"),
    "promote-2": ("promote", *SECOND, FIRST[1], "--to", CHANNEL, "--reason", "two"),
    "rollback": ("rollback", FLOW, *ON),
    "rollback-to-1": ("rollback", FLOW, "--to", "1.0.0", *ON),
    "reject-2": ("reject", SECOND[0], *ON),
    "unreject": ("unreject", SECOND[0], *ON),
    "freeze": ("freeze", CHANNEL, "--until", "2199-01-01", "--reason", "because"),
    "unfreeze": ("unfreeze", CHANNEL, "--reason", "because"),
    "revoke-2": ("revoke", SECOND[0], "--reason", "because"),
    "approve": ("approve", SECOND[0], *ON),
    "drill": ("drill", CHANNEL, "--reason", "because"),
}
few = examples(4, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
LIVES = st.lists(st.sampled_from([*COMMANDS, "strict", "promote-2", "rollback"]), max_size=6)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace in which both versions are published and the first is pinned."""
    shop = Shop(tmp_path_factory.mktemp("template"))
    shop.start()
    shop.publish_first()
    shop.promote(*FIRST, to=CHANNEL)
    shop.second()
    shop.pawl("publish")
    return shop.root


def live(template: Path, folder: Path, words: list[str]) -> Workspace:
    """Copy the template and try each word, whatever comes of it."""
    if folder.exists():
        shutil.rmtree(folder, ignore_errors=True)  # an index may be closed at this moment
    shutil.copytree(template, folder)
    shop = Shop(folder)
    for word in words:
        if word == "strict":
            shop.write("registry/policies/refunds.yaml", story("policy-2.yaml"))
            shop.adopt()
        else:
            ended = in_process("-C", str(folder), *COMMANDS[word], "-o", "json")
            assert ended.code in {0, 1, 3, 4, 7, 8}, ended.out
    return Workspace(folder)


def judged_again(workspace: Workspace, records: tuple[Record, ...], record: Record) -> Situation:
    """Return what a release was judged on, from what the journals and frozen files said at that moment alone."""
    before = fold_channel(CHANNEL, records[: record.serial - 1])
    known = [item for item in workspace.journal(REGISTRY_JOURNAL) if item.serial <= record.body["registry"]["serial"]]
    catalog = fold_registry(known)
    assert catalog.policy is not None
    after = fold_channel(CHANNEL, records[: record.serial]).pins
    moves = {Name(move["name"]): after[Name(move["name"])] for move in record.body["moves"]}
    asked = Situation(
        action="promote" if record.action == "promote" else "rollback",
        state=before,
        catalog=catalog,
        rules=rules_from(catalog.policy.rules),
        documents={},
        actor=record.actor,
        now=datetime.fromisoformat(record.at).astimezone(UTC),
        moves=moves,
        people=catalog.policy.people,
        authors=catalog.authors,
    )
    pins = {pin.digest: pin for pin in (*before.pins.values(), *after.values())}
    documents = {digest: workspace.procedure(pin).document for digest, pin in pins.items()}
    rows = [row for item in records[: record.serial] for row in item.body.get("evidence", ())]
    found = {}
    for name in asked.affected:
        closure = closure_of(name, after)
        found[name] = tuple(
            SuiteEvidence(suite=row["suite"], cases=len(row["cases"]), outcome=row["outcome"], reason="recorded",
                          at=row["finished_at"])
            for row in rows
            if (row["key"]["subject"], row["key"]["closure"]) == (closure.root.digest, closure.digest)
        )  # fmt: skip
    return replace(asked, documents=documents, evidence=found)


@few
@given(words=LIVES)
def test_5_what_was_pinned_is_allowed_when_judged_again(template: Path, tmp_path: Path, words: list[str]) -> None:
    """Allowed at that moment, on that policy number, with evidence for exactly that closure, from the journal alone."""
    workspace = live(template, tmp_path / "w", words)
    records = workspace.journal(CHANNEL)
    for record in records:
        if record.action in {"promote", "rollback"}:
            situation = judged_again(workspace, records, record)
            verdict = evaluate(situation)
            assert verdict.allowed, [finding.as_dict() for finding in verdict.failures]
            assert verdict.policy == record.body["policy"] == record.body["verdict"]["policy"]
            assert situation.evidence is not None
            assert all(situation.evidence[name] for name in situation.moves)


@few
@given(words=LIVES)
def test_7_what_was_rejected_comes_back_by_unreject_alone(template: Path, tmp_path: Path, words: list[str]) -> None:
    """A rejected or rolled-back digest does not come back by itself, under whatever number."""
    records = live(template, tmp_path / "w", words).journal(CHANNEL)
    away: set[str] = set()
    for record in records:
        moves = record.body.get("moves", ())
        if record.action in {"promote", "rollback"}:
            assert not away & {move["to"]["content"] for move in moves}
        if record.action == "rollback":
            away |= {move["from"]["content"] for move in moves if move["from"]}
        away |= {row["content"] for row in record.body.get("rejects", ()) if record.action == "reject"}
        if record.action == "unreject":
            away &= set(fold_channel(CHANNEL, records[: record.serial]).rejections)
        assert away <= set(fold_channel(CHANNEL, records[: record.serial]).rejections)


PARTS = ("subject", "closure", "suite", "runner")
KEY = Key(**{part: digest_of(part) for part in PARTS})
RESULTS = st.lists(
    st.tuples(st.sampled_from(OUTCOMES), st.integers(0, 4), st.sampled_from([None, None, *PARTS])), max_size=8
)


@given(results=RESULTS)
def test_9_evidence_counts_while_everything_matches_and_the_newest_decides(results: list[Any]) -> None:
    """A result of another subject, closure, suite or runner counts for nothing; a newer failure beats any pass."""
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    entries = [
        EvidenceEntry(
            file=f"{number}.json",
            digest=digest_of(number),
            key=replace(KEY, **{other: digest_of("other")}) if other else KEY,
            suite=Name("s"),
            about=parse_ref("a@1.0.0"),
            outcome=outcome,
            cases=("c",),
            partial=False,
            finished_at=timestamp(noon + timedelta(minutes=minute)),
        )
        for number, (outcome, minute, other) in enumerate(results)
    ]
    found = newest(entries, KEY, now=noon + timedelta(hours=1))
    matching = [(minute, outcome) for outcome, minute, other in results if other is None]
    assert (found is None) == (not matching)
    if found is not None:
        last = max(minute for minute, _ in matching)
        assert (found.outcome == "passed") == all(said == "passed" for minute, said in matching if minute == last)


BACK = st.sampled_from([row for row in ROWS if row.get("action") == "rollback" and row.get("policy") != "none"])
SLOW_RULES: list[dict[str, Any]] = [
    {"soak": {"channel": "staging", "at_least": "P365D"}},
    {"evidence": {"max_age": "PT1S"}},
    {"approvals": {"count": 20}},
    {"bump": {"largest": "patch"}},
    {"require": "false"},
    {"freeze": {"start": "2026-02-28", "duration": "P9D", "time_zone": "UTC", "reason": "r"}},
]


def more(situation: Situation, *rows: dict[str, Any]) -> Situation:
    made: list[Rule] = []
    for number, row in enumerate(rows):
        document = {"require": None, **row, "id": f"MORE-{number}"}
        made.append(rule_of({key: value for key, value in document.items() if value is not None}))
    return replace(situation, rules=(*situation.rules, *made))


def rule_of(fields: dict[str, Any]) -> Rule:
    whole = {"class": "safety", "level": "absolute", "message": "It holds.", **fields}
    return read_policy(policy_document_of(whole)).rules[0]


@given(row=BACK, slow=st.lists(st.sampled_from(SLOW_RULES), min_size=1), days=st.integers(0, 3000))
def test_6_nothing_that_takes_time_blocks_a_way_back(row: Any, slow: list[dict[str, Any]], days: int) -> None:
    """Soak, sample size, evidence age, approvals and other readiness say nothing on the way back."""
    situation = situation_of(row)
    aged = None
    if situation.evidence is not None:
        at = timestamp(situation.now - timedelta(days=days))
        aged = {name: tuple(replace(suite, at=at) for suite in suites) for name, suites in situation.evidence.items()}
    waiting = more(replace(situation, evidence=aged), *({**item, "class": "readiness"} for item in slow))
    assert evaluate(waiting).exit_code == evaluate(situation).exit_code


@given(row=BACK, level=st.sampled_from(["waivable", "absolute"]))
def test_6_no_way_back_leads_to_what_breaks_a_safety_rule(row: Any, level: str) -> None:
    situation = situation_of(row)
    targets = {pin.version for pin in situation.moves.values() if pin}
    assume(targets)
    for version in targets:
        said = {"require": f'procedure.version != "{version}"', "level": level}
        assert not evaluate(more(situation, said)).allowed


@given(row=BACK, levels=st.sampled_from(["revoked", "yanked"]))
def test_6_what_is_live_and_must_not_be_is_left(row: Any, levels: str) -> None:
    """A live version that breaks a rule, or is withdrawn, makes no way back worse."""
    situation = situation_of(row)
    assume(evaluate(situation).allowed)
    for name in situation.moves:
        pin = situation.state.pins.get(name)
        if pin is not None and pin.digest not in {member.digest for member in situation.after.values()}:
            broken = f'!(procedure.name == "{pin.name}" && procedure.version == "{pin.version}")'
            assert evaluate(more(situation, {"require": broken})).allowed
            withdrawn = {**row.get("withdrawn", {}), str(pin.ref): levels}
            assert evaluate(situation_of({**row, "withdrawn": withdrawn})).allowed


@given(row=st.sampled_from(ROWS))
def test_10_every_gate_asks_its_canaries_and_says_the_same_again(row: Any) -> None:
    situation = situation_of(row)
    first, again = evaluate(situation), evaluate(situation_of(row))
    assert first == again
    asked = [finding for finding in first.findings if finding.check == "canary"]
    assert [finding.code for finding in asked] == ["canaries-refused"] * (situation.action in {"promote", "rollback"})
    bent = rule(id="BENT", require="true", tests=[{"procedure": {"name": "x"}, "expect": "denied"}])
    if asked:
        assert evaluate(replace(situation, rules=(*situation.rules, bent))).exit_code == 6
