"""From a row of situations.yaml to a situation; what a row does not say is well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pawl.ids import Channel, Name, Ref, parse_ref
from pawl.io.strict_yaml import load
from pawl.policy.rules import Rule
from pawl.policy.situation import MOVING, Situation, SuiteEvidence
from pawl.policy.sources import read_policy
from pawl.registry.channels import ChannelState, Pin
from pawl.registry.journal import Actor
from policy.grants import LATER, OTHER, Grants
from policy.make import policy_document_of
from registry.make import adopted, catalog, move, pin, published, withdrawn

ROWS: list[dict[str, Any]] = load((Path(__file__).parent / "situations.yaml").read_bytes())["situations"]
FIELDS = frozenset(
    {
        *(
            "id",
            "exit",
            "codes",
            "action",
            "policy",
            "rules",
            "adopted",
            "after",
            "live",
            "move",
            "withdrawn",
            "events",
        ),
        *(
            "labels",
            "actor",
            "kind",
            "people",
            "author",
            "documents",
            "evidence",
            "tests",
            "unread",
            "elsewhere",
            "now",
        ),
    }
)
VERBS = frozenset({"approve", "waive", "freeze", "unfreeze", "halt", "reject", "remove"})
PRODUCTION, STAGING = Channel("production"), Channel("staging")
NOON = "2026-03-01T12:00:00Z"
BEFORE = "2026-03-01T11:00:00Z"
"""When everything on the channels was done, where a row does not say it."""
VERSIONS = {
    Ref(member.name, member.version): member
    for member in (
        *(pin("a", version) for version in ("1.0.0", "1.5.0", "2.0.0", "3.0.0")),
        pin("a", "2.0.1", content="2.0.0"),
        pin("u", "1.0.0", a=">=1,<2"),
    )
}
PEOPLE = {
    "ada@example.invalid": ("release",),
    "ben@example.invalid": ("risk",),
    "cat@example.invalid": ("risk", "release"),
    "dan@example.invalid": (),
    "bot@example.invalid": ("risk", "agent"),
}


def person(name: str) -> Actor:
    return Actor(name=name.capitalize(), email=f"{name}@example.invalid", verified=name == "cat")


def situation_of(row: Mapping[str, Any]) -> Situation:
    """Return the situation that a row describes."""
    assert set(row) <= FIELDS, set(row) - FIELDS
    action, state = row.get("action", "promote"), _state(row)
    moves = _moves(row, action)
    known = {member.digest: _document(member, row) for member in VERSIONS.values()}
    elsewhere = _elsewhere(row)
    author = row.get("author", "eve")
    return Situation(
        action=action,
        state=state,
        catalog=_catalog(row),
        rules=_rules(row),
        documents={} if row.get("documents") == "none" else known,
        actor=person(row.get("actor", "ada")),
        actor_kind=row.get("kind", "human"),
        now=datetime.fromisoformat(row.get("now", NOON)).astimezone(UTC),
        moves=moves,
        subjects=() if action in MOVING else tuple(state.pins),
        upstream=_upstream(row["after"]) if "after" in row else None,
        upstream_name="before" if "after" in row else None,
        evidence=_evidence(row),
        unread_suites=tuple(row.get("unread", ())),
        people=None if row.get("people") == "none" else PEOPLE,
        authors={} if author == "none" else {member.digest: (person(author),) for member in VERSIONS.values()},
        channels={STAGING: elsewhere},
    )


def _version(ref: str) -> Pin:
    return VERSIONS[parse_ref(ref)]


def _state(row: Mapping[str, Any]) -> ChannelState:
    line = Grants(PRODUCTION)
    live = [_version(f"{name}@{version}") for name, version in row.get("live", {"a": "1.0.0"}).items()]
    if live:
        line.pinned(*(replace(member, tests=row.get("tests", {"s": 2})) for member in live), at=BEFORE)
    for event in row.get("events", ()):
        _happen(line, dict(event))
    return line.state


def _happen(line: Grants, event: dict[str, Any]) -> None:
    by, at = person(event.pop("by", "ada")), event.pop("at", BEFORE)
    (verb,) = VERBS & set(event)
    match verb:
        case "approve":
            member = _version(event.pop("approve"))
            kind = event.pop("kind", "human")
            line.approved(member, by=by, at=at, kind=kind, **_closure(event), **{"until": LATER, **event})
        case "waive":
            _waive(line, event, by=by, at=at)
        case "freeze":
            spares = {"labels": {}, "names": [], "roles": [], **event.get("spares", {})}
            fields = {"until": event.get("until"), "actions": event["freeze"], "spares": spares}
            line.add("freeze", at=at, freeze=fields)
        case "unfreeze":
            line.add("unfreeze", at=at, freezes=list(line.state.freezes))
        case "remove":
            name = Name(event["remove"])
            line.add("remove", at=at, moves=[move(name, line.state.pins[name], None)])
        case "halt":
            line.add("halt", at=at, name=event["halt"], version=None)
        case _:
            rejected = _version(event["reject"])
            row = {"ref": event["reject"], "content": rejected.content, "cause": "reject", "until": event.get("until")}
            line.add("reject", at=at, rejects=[row])


def _waive(line: Grants, event: dict[str, Any], *, by: Actor, at: str) -> None:
    member, kind = _version(event.pop("waive")), event.pop("kind", "human")
    approver = event.pop("approved_by", None)
    fields = {**event, **_closure(event)}
    if "versions" in fields:
        fields["digest"] = None
    if "review_by" in fields:
        fields["break_glass"] = True
    line.waived(member, by=by, at=at, kind=kind, **fields)
    if approver:
        line.consented(len(line.records), by=person(approver), at=at)


def _closure(event: dict[str, Any]) -> dict[str, Any]:
    return {"closure": OTHER} if event.pop("closure", None) else {}


def _elsewhere(row: Mapping[str, Any]) -> ChannelState:
    line = Grants(STAGING)
    for event in row.get("elsewhere", ()):
        if "version" in event:
            line.pinned(_version(f"a@{event['version']}"), at=event["at"])
        else:
            member = _version(f"a@{event['reject']}")
            rejects = {
                "ref": str(member.ref),
                "content": member.content,
                "cause": "reject",
                "until": event.get("until"),
            }
            line.add("reject", at=event["at"], rejects=[rejects])
    return line.state


def _upstream(versions: list[str]) -> ChannelState:
    line = Grants(Channel("before"))
    for version in versions:
        line.pinned(_version(f"a@{version}"))
    return line.state


def _catalog(row: Mapping[str, Any]) -> Any:
    steps: list[tuple[str, Mapping[str, Any]]] = [published(*VERSIONS.values())]
    if row.get("policy") != "none":
        steps.append(adopted(1, dict.fromkeys(row.get("adopted", ["production"]))))
    steps += (withdrawn(ref, level) for ref, level in row.get("withdrawn", {}).items())
    return catalog(*steps)


def _rules(row: Mapping[str, Any]) -> tuple[Rule, ...]:
    documents = [
        {"id": "R-1", "class": "safety", "level": "absolute", "message": "It holds.", **rule}
        for rule in row.get("rules", [{"require": "true"}])
    ]
    return read_policy(policy_document_of(*documents)).rules if documents else ()


def _moves(row: Mapping[str, Any], action: str) -> dict[Name, Pin | None]:
    if action not in MOVING:
        return {}
    asked: Mapping[str, str | None] = row.get("move", {"a": None if action == "remove" else "2.0.0"})
    return {Name(name): _version(f"{name}@{version}") if version else None for name, version in asked.items()}


def _document(member: Pin, row: Mapping[str, Any]) -> dict[str, Any]:
    labels = row.get("labels", {})
    return {"kind": "tool", "name": member.name, "version": member.version, "labels": labels, "spec": {}}


def _evidence(row: Mapping[str, Any]) -> dict[Name, tuple[SuiteEvidence, ...]] | None:
    suites = row.get("evidence", [{}])
    if suites == "none":
        return None
    found = tuple(
        SuiteEvidence(**{"suite": "s", "cases": 2, "outcome": "passed", "reason": "run", "at": BEFORE, **suite})
        for suite in suites
    )
    return {ref.name: found for ref in VERSIONS}
