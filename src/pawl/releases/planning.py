"""Making plans: from a decision to the records, files and state that carry it out. Pure: nothing is read or written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pawl.ids import REGISTRY_JOURNAL, Channel, Name, Ref, Serial
from pawl.policy.verdict import Verdict
from pawl.registry.catalog import Catalog, Published, WithdrawalLevel
from pawl.registry.channels import ChannelState, Pin, follow, state_digest
from pawl.registry.journal import Actor, Head, draft, seal
from pawl.registry.signatures import signed_bytes
from pawl.releases.plans import AppendRecord, FreezeVersion, Plan, Step, StoreEvidence, WriteProjection


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """Who, when and why: read once at the edge. ``at`` is RFC 3339 in UTC to the second."""

    actor: Actor
    at: str
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvidence:
    """A statement to be stored, as the bytes of its file, and its entry in the record that stores it."""

    name: str
    data: bytes
    entry: Mapping[str, Any]


def pin_of(published: Published) -> Pin:
    """Return a published version as it would stand on a channel; ``since`` and ``tests`` are filled by the release."""
    return Pin(
        kind=published.kind,
        name=published.name,
        version=published.version,
        digest=published.digest,
        content=published.content,
        file=published.file,
        requires=published.requires,
        since=Serial(0),
        tests={},
    )


def plan_publish(catalog: Catalog, versions: Sequence[tuple[Published, bytes]], stamp: Stamp) -> Plan:
    """Freeze all of ``versions`` together under one record."""
    body = {"published": [published.as_dict() for published, _ in versions]}
    record = seal(**_fields(REGISTRY_JOURNAL, catalog.head, "publish", stamp), body=body)
    names = ", ".join(str(published.ref) for published, _ in versions)
    return Plan(
        steps=(
            *(FreezeVersion(ref=published.ref, data=data) for published, data in versions),
            AppendRecord(record=record),
        ),
        message=_subject(f"publish {names}"),
        expects={REGISTRY_JOURNAL: catalog.head},
    )


def plan_withdraw(catalog: Catalog, ref: Ref, level: WithdrawalLevel, stamp: Stamp) -> Plan:
    return _registry_plan(catalog, "withdraw", {"ref": str(ref), "level": level}, stamp, f"{level} {ref}")


def plan_restore(catalog: Catalog, ref: Ref, stamp: Stamp) -> Plan:
    return _registry_plan(catalog, "restore", {"ref": str(ref)}, stamp, f"restore {ref}")


def plan_adopt(
    catalog: Catalog,
    rules: Mapping[str, Any],
    channels: Mapping[Channel, Channel | None],
    people: Mapping[str, Sequence[str]],
    stamp: Stamp,
    *,
    signers: str | None = None,
) -> Plan:
    """Put rules, channel settings, the roles of people and whose keys sign in force under the next policy number."""
    number = len(catalog.policies) + 1
    roles = {who: list(their) for who, their in people.items()}
    body = {"policy": number, "rules": rules, "channels": dict(channels), "people": roles}
    if signers is not None:
        body["signers"] = signers
    return _registry_plan(catalog, "adopt-policy", body, stamp, f"adopt policy {number}")


def plan_moves(
    *,
    action: str,
    state: ChannelState,
    catalog: Catalog,
    moves: Mapping[Name, Pin | None],
    verdict: Verdict,
    evidence: Sequence[NewEvidence],
    stamp: Stamp,
) -> Plan:
    """Move every name at once. ``action`` is promote, rollback or remove; a rollback rejects what it leaves."""
    rows = [
        {"name": name, "kind": kind_of(state, name, pin), "from": _pinned(state.pins.get(name)), "to": _pinned(pin)}
        for name, pin in moves.items()
    ]
    body: dict[str, Any] = {"moves": rows, "verdict": verdict.as_dict()}
    if action == "rollback":
        left = [state.pins[name] for name in moves if name in state.pins]
        body["rejects"] = [
            {"ref": str(pin.ref), "content": pin.content, "cause": "rollback", "until": None} for pin in left
        ]
    what = ", ".join(str(pin.ref) if pin else name for name, pin in moves.items())
    return _channel_plan(state, catalog, action, body, evidence, stamp, f"{action} {what} on {state.channel}")


def plan_refusal(
    *,
    attempt: Mapping[str, Any],
    state: ChannelState,
    catalog: Catalog,
    verdict: Verdict,
    evidence: Sequence[NewEvidence],
    stamp: Stamp,
) -> Plan:
    """Record that something was asked for and refused; the pins stay."""
    body = {"attempt": dict(attempt), "verdict": verdict.as_dict(), "exit_code": verdict.exit_code}
    what = f"refused to {attempt['action']} {', '.join(attempt['refs'])} on {state.channel}"
    return _channel_plan(state, catalog, "refused", body, evidence, stamp, what)


def plan_drill(
    *,
    state: ChannelState,
    catalog: Catalog,
    last: int,
    targets: Sequence[Mapping[str, Any]],
    evidence: Sequence[NewEvidence],
    stamp: Stamp,
) -> Plan:
    """Record which ways back were tried, what each came to, and the evidence for it; nothing else changes."""
    body = {"last": last, "drilled": [dict(target) for target in targets]}
    what = f"drill {len(targets)} ways back on {state.channel}"
    return _channel_plan(state, catalog, "drill", body, evidence, stamp, what)


def plan_intervention(
    action: str,
    body: Mapping[str, Any],
    *,
    state: ChannelState,
    catalog: Catalog,
    stamp: Stamp,
    what: str,
    signature: str | None = None,
) -> Plan:
    """Record an intervention, from a halt to a waiver; ``signature`` covers what ``intervention_bytes`` returns."""
    signed = body if signature is None else {**body, "signature": signature}
    return _channel_plan(state, catalog, action, signed, (), stamp, f"{action} {what} on {state.channel}")


def intervention_bytes(
    action: str, body: Mapping[str, Any], *, state: ChannelState, catalog: Catalog, stamp: Stamp
) -> bytes:
    """Return what the actor signs before the same intervention is planned."""
    return signed_bytes(
        journal=state.channel,
        after=state.head,
        action=action,
        at=stamp.at,
        actor=stamp.actor,
        reason=stamp.reason,
        body=_channel_body(catalog, body, ()),
    )


def kind_of(state: ChannelState, name: Name, pin: Pin | None) -> str:
    """Return the kind of a name that is, or would be, pinned."""
    return pin.kind if pin else state.pins[name].kind


def _pinned(pin: Pin | None) -> dict[str, Any] | None:
    if pin is None:
        return None
    return {key: value for key, value in pin.as_dict().items() if key != "since"}


def _registry_plan(catalog: Catalog, action: str, body: Mapping[str, Any], stamp: Stamp, what: str) -> Plan:
    record = seal(**_fields(REGISTRY_JOURNAL, catalog.head, action, stamp), body=body)
    return Plan(steps=(AppendRecord(record=record),), message=_subject(what), expects={REGISTRY_JOURNAL: catalog.head})


def _channel_plan(
    state: ChannelState,
    catalog: Catalog,
    action: str,
    body: Mapping[str, Any],
    evidence: Iterable[NewEvidence],
    stamp: Stamp,
    what: str,
) -> Plan:
    new = tuple(evidence)
    body = _channel_body(catalog, body, new)
    fields = _fields(state.channel, state.head, action, stamp)
    after = follow(state, draft(**fields, body=body))
    record = seal(**fields, body={**body, "state": state_digest(after)})
    steps: tuple[Step, ...] = (
        *(StoreEvidence(name=item.name, data=item.data) for item in new),
        AppendRecord(record=record),
        WriteProjection(state=replace(after, head=record.head)),
    )
    return Plan(
        steps=steps,
        message=_subject(f"{what} (serial {record.serial})"),
        expects={state.channel: state.head, REGISTRY_JOURNAL: catalog.head},
    )


def _channel_body(catalog: Catalog, body: Mapping[str, Any], evidence: Iterable[NewEvidence]) -> dict[str, Any]:
    policy = catalog.policy
    return {
        **body,
        "policy": policy.number if policy else None,
        "registry": catalog.head.as_dict(),
        "evidence": [item.entry for item in evidence],
    }


def _fields(journal: str, after: Head, action: str, stamp: Stamp) -> dict[str, Any]:
    return {
        "journal": journal,
        "after": after,
        "action": action,
        "at": stamp.at,
        "actor": stamp.actor,
        "reason": stamp.reason,
    }


def _subject(what: str) -> str:
    """Return a commit subject of bounded length."""
    line = f"pawl: {what}"
    return line if len(line) <= 120 else line[:117] + "..."
