"""Targets: what pawl writes and reads again, with changed bytes, and with changed content under fitting digests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from hostile import seeds
from hostile.mutation import by_bytes, by_parts, mixed
from hostile.table import DECIDED, PROMISED, Target
from hostile.written import NOW
from pawl.canonical import record_bytes, sha256
from pawl.conformance.evidence import choose, entry_from_record, entry_of
from pawl.errors import PawlError
from pawl.ids import Channel, Digest
from pawl.policy.sources import rules_from
from pawl.registry.catalog import fold_registry
from pawl.registry.channels import fold_channel, projection, read_projection
from pawl.registry.channels_fold import follow
from pawl.registry.channels_projection import state_digest
from pawl.registry.channels_state import ChannelState, empty_channel
from pawl.registry.journal import EMPTY, Record, chain, unseal
from pawl.registry.snapshot import read_snapshot, snapshot_bytes
from pawl.runs.snapshot_view import procedure_of

MOST_SEALED = 50_000
ZEROS = "sha256:" + "0" * 64
JOURNALS = ("registry", "staging", "production")


def sealed(fields: Any) -> bytes:
    """Return a record, or a snapshot, with a digest that fits it, whatever else it says."""
    blank = record_bytes({**fields, "digest": ZEROS})
    return blank.replace(ZEROS.encode(), sha256(blank).encode(), 1)


def chained(journal: str, rows: list[Any]) -> tuple[Record, ...]:
    """Return records that follow each other, all with fitting digests and serials: the work of a patient enemy."""
    files: list[tuple[int, bytes]] = []
    previous = None
    for serial, row in enumerate(rows, 1):
        data = sealed({**row, "serial": serial, "previous": previous, "journal": journal, "format": 1})
        previous = json.loads(data)["digest"]
        files.append((serial, data))
    return chain(journal, files)


def _record(data: bytes) -> bool:
    for journal in JOURNALS:
        for serial in range(1, len(seeds.journal(journal)) + 1):
            try:
                unseal(data, journal=journal, serial=serial)
            except PawlError:
                continue
            assert data in seeds.files("releases/*/*.json"), "a changed record was taken"
            return True
    return False


def _sealed_record(data: bytes) -> bool:
    unseal(data, journal="production", serial=1)
    return True


def _journal(data: bytes) -> bool:
    given = json.loads(data)
    if not isinstance(given, dict) or not isinstance(given.get("records"), list):
        return False
    name = given.get("journal")
    rows = [row for row in given["records"] if isinstance(row, dict)]
    if name == "registry":
        catalog = fold_registry(chained("registry", rows))
        for policy in catalog.policies:
            rules_from(policy.rules)
        return True
    state = fold_channel(Channel("production"), chained("production", rows))
    record_bytes(projection(state))
    return True


def _trusted_journal(data: bytes) -> bool:
    """The same with the state of every record made to fit, as somebody who rewrites a journal would."""
    given = json.loads(data)
    if not isinstance(given, dict) or not isinstance(given.get("records"), list):
        return False
    channel = Channel("production")
    rows = [dict(row) for row in given["records"] if isinstance(row, dict)]
    if not rows:
        return False
    records = chained(channel, rows)
    state = _state_without_vouching(channel, records)
    try:
        rows[-1]["state"] = state_digest(state)
    except TypeError:  # keys that JSON cannot sort: nobody can make a digest of that
        return False
    records = chained(channel, rows)
    state = fold_channel(channel, records)
    again = read_projection(record_bytes(projection(state)), channel, records[-1])
    assert state_digest(again) == state_digest(state)
    for row in state.evidence:
        entry_from_record(row)
    return True


def _state_without_vouching(channel: Channel, records: tuple[Record, ...]) -> ChannelState:
    """Return the state after records, whatever state the newest one names."""
    state = empty_channel(channel)
    for record in records:
        try:
            state = follow(state, record)
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise ValueError(str(error)) from error
    return state


def _projection(data: bytes) -> bool:
    newest = unseal(seeds.files("releases/production/*.json")[0], journal="production", serial=_serial())
    read_projection(data, Channel("production"), newest)
    return True


def _serial() -> int:
    number: int = json.loads(seeds.files("releases/production/*.json")[0])["serial"]
    return number


def _changed_snapshot(data: bytes) -> bool:
    taken = _snapshot(data)
    assert data == sealed(example_snapshot()), "a changed snapshot was taken"
    return taken


def _snapshot(data: bytes) -> bool:
    snapshot = read_snapshot(data, channel=None)
    for name in snapshot.entries:
        if snapshot.entries[name].withheld is None:
            procedure_of(snapshot.entries[name])
    return True


def _evidence(data: bytes) -> bool:
    content = json.loads(data)
    entry = entry_of(content, file="a.json", digest=Digest(ZEROS))
    again = entry_from_record(entry.as_record())
    assert again == entry
    choose([entry, again], entry.key, now=NOW)
    return True


def _evidence_row(data: bytes) -> bool:
    row = json.loads(data)
    if not isinstance(row, dict):
        return False
    entry = entry_from_record(row)
    choose([entry], entry.key, now=NOW)
    return True


def _policy_rules(data: bytes) -> bool:
    return bool(rules_from(json.loads(data)))


def example_snapshot() -> dict[str, Any]:
    """Return a snapshot's fields as pawl makes them: three pins, one of them withheld."""
    blank = snapshot_bytes(
        channel=Channel("production"),
        serial=EMPTY.serial,
        head=None,
        policy=1,
        created="2026-06-01T00:00:00Z",
        expires="2027-06-01T00:00:00Z",
        entries={},
        revoked={"support/refund@0.9.0": "leaks"},
    )
    fields: dict[str, Any] = json.loads(blank)
    for document in seeds.documents(seeds.files("procedures/**/*.yaml")):
        fields["procedures"][document["name"]] = {
            "kind": document["kind"],
            "version": document["version"],
            "digest": ZEROS,
            "requires": document.get("requires", {}),
            "warnings": [],
            "document": document,
        }
    first = next(iter(fields["procedures"].values()))
    del first["document"]
    first["withheld"] = {"code": "revoked", "message": "it leaks", "exit_code": 7, "hint": None}
    return fields


def resealed(rng: Random, documents: list[dict[str, Any]]) -> bytes:
    """Return a spoilt document under a digest that fits it, where its content can be written at all."""
    data = by_parts(documents)(rng)
    fields = json.loads(data)
    if len(data) > MOST_SEALED:  # a deep one takes minutes to indent
        return data
    try:
        return sealed(fields) if isinstance(fields, dict) else data
    except ValueError:  # what only a foreign hand writes: NaN, half of a surrogate pair
        return data


def targets() -> Iterator[Target]:
    """Yield the targets of this module."""
    records = [row for name in JOURNALS for row in seeds.journal(name)]
    raw = seeds.files("releases/*/*.json")
    journals = [{"journal": name, "records": seeds.journal(name)} for name in JOURNALS]
    snapshot = example_snapshot()
    statements = seeds.files("releases/evidence/**/*.json")
    rows = [row for record in records for row in record.get("evidence", ())]
    rules = [row["rules"] for row in records if row["action"] == "adopt-policy"]
    projections = seeds.files("registry/channels/*.json")

    stored = (*PROMISED, ValueError)
    yield Target(name="record", make=by_bytes(raw), call=_record, share=150)
    sealed_records = lambda rng: resealed(rng, records)  # noqa: E731
    yield Target(name="record-sealed", make=sealed_records, call=_sealed_record, promised=stored, share=30)
    yield Target(name="journal", make=by_parts(journals), call=_journal, promised=stored, share=10)
    yield Target(name="journal-trusted", make=by_parts(journals[1:]), call=_trusted_journal, promised=stored, share=10)
    make = mixed(by_bytes(projections), by_parts([json.loads(data) for data in projections]))
    yield Target(name="projection", make=make, call=_projection, share=40)
    yield Target(name="snapshot", make=by_bytes([sealed(snapshot)]), call=_changed_snapshot, share=40)
    yield Target(
        name="snapshot-sealed", make=lambda rng: resealed(rng, [snapshot]), call=_snapshot, promised=DECIDED, share=20
    )
    yield Target(name="evidence", make=by_parts([json.loads(data) for data in statements]), call=_evidence, share=40)
    yield Target(name="evidence-row", make=by_parts(rows), call=_evidence_row, share=40)
    yield Target(name="policy-frozen", make=by_parts(rules), call=_policy_rules, share=10)
