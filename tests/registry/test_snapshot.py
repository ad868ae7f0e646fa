"""Snapshots: whole or refused."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.canonical import record_bytes, sha256
from pawl.errors import IntegrityError, InvalidError, PawlError
from pawl.ids import Name, Serial, Version
from pawl.registry.snapshot import Entry, Withheld, read_snapshot, snapshot_bytes
from registry.make import AT, STAGING, pin

ZEROS = "sha256:" + "0" * 64


def entry(name: str, **fields: Any) -> Entry:
    member = pin(name)
    values: dict[str, Any] = {"document": {"spec": {"digest": "not the seal"}, "digest": member.digest}}
    return Entry(
        kind="tool", name=member.name, version=member.version, digest=member.digest, requires={}, **{**values, **fields}
    )


WITHHELD = Withheld(code="revoked", message="leaks", exit_code=7)
ENTRIES = {
    Name("a"): entry("a", warnings=("deprecated",)),
    Name("b"): entry("b", document=None, withheld=WITHHELD),
}


def sealed(expires: str | None = "2026-04-01T00:00:00Z", **fields: Any) -> bytes:
    values: dict[str, Any] = {
        "channel": STAGING,
        "serial": Serial(7),
        "head": pin("x").digest,
        "policy": 2,
        "created": AT,
        "entries": ENTRIES,
        "revoked": {"a@0.9.0": "leaks"},
    }
    return snapshot_bytes(**{**values, **fields}, expires=expires)


def forged(**fields: Any) -> bytes:
    """Return a snapshot with other fields, sealed by somebody who knows how."""
    blank = record_bytes({**json.loads(sealed()), **fields, "digest": ZEROS})
    mark = f'\n  "digest": "{ZEROS}"'.encode()
    assert blank.count(mark) == 1
    return blank.replace(mark, f'\n  "digest": "{sha256(blank)}"'.encode())


def test_it_reads_back_whole() -> None:
    found = read_snapshot(sealed(), channel=STAGING)
    assert (found.channel, found.serial, found.policy, found.created) == (STAGING, 7, 2, AT)
    assert {name: item.as_dict() for name, item in found.entries.items()} == {
        name: item.as_dict() for name, item in ENTRIES.items()
    }
    assert found.entries[Name("b")].withheld == WITHHELD
    assert found.entries[Name("a")].version == Version("1.0.0")
    assert dict(found.revoked) == {"a@0.9.0": "leaks"}
    assert read_snapshot(sealed(), channel=None).digest == found.digest


def test_the_same_state_makes_the_same_bytes_in_any_order() -> None:
    assert sealed() == sealed(entries=dict(reversed(ENTRIES.items())))


def test_what_is_withheld_is_listed_without_a_body() -> None:
    rows = json.loads(sealed())["procedures"]
    assert "document" not in rows["b"]
    assert rows["b"]["withheld"]["code"] == "revoked"


END = "2026-04-01T00:00:00Z"
EXPIRY = [
    (None, "9999-01-01T00:00:00Z", False),
    (END, "2026-03-31T23:59:59Z", False),
    (END, END, True),
    (END, "2026-05-01T00:00:00Z", True),
]


@pytest.mark.parametrize(("expires", "now", "stale"), EXPIRY)
def test_past_its_time_it_is_stale(expires: str | None, now: str, stale: bool) -> None:
    moment = datetime.fromisoformat(now).timestamp()
    assert read_snapshot(sealed(expires), channel=STAGING).stale(moment) == stale


def test_every_changed_byte_is_found() -> None:
    data = sealed()
    for place in range(len(data)):
        for bit in (1, 0x80):
            changed = bytearray(data)
            changed[place] ^= bit
            with pytest.raises(IntegrityError):
                read_snapshot(bytes(changed), channel=STAGING)


def test_no_part_of_it_is_one() -> None:
    data = sealed()
    for length in range(0, len(data), 7):
        with pytest.raises(IntegrityError):
            read_snapshot(data[:length], channel=STAGING)
    with pytest.raises(IntegrityError):
        read_snapshot(data + b"\n", channel=STAGING)


UNKNOWN: list[tuple[dict[str, Any], type[PawlError]]] = [
    ({"format": 2}, InvalidError),
    ({"format": "1"}, InvalidError),
    ({"channel": "production"}, InvalidError),
    ({"procedures": []}, IntegrityError),
    ({"procedures": {"a": None}}, IntegrityError),
    ({"procedures": {"a": {"kind": "tool"}}}, IntegrityError),
    ({"procedures": {"a": {**json.loads(sealed())["procedures"]["b"], "withheld": {"why": 1}}}}, IntegrityError),
    ({"revoked": None}, IntegrityError),
]


@pytest.mark.parametrize(("fields", "error"), UNKNOWN, ids=lambda value: str(value)[:50])
def test_a_seal_alone_makes_no_snapshot(fields: dict[str, Any], error: type[PawlError]) -> None:
    with pytest.raises(error):
        read_snapshot(forged(**fields), channel=STAGING)
    read_snapshot(forged(), channel=STAGING)


@given(data=st.binary(max_size=100) | st.recursive(
    st.none() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["digest", "format", "x"]), inner),
    max_leaves=6,
).map(record_bytes))  # fmt: skip
def test_nothing_else_is_ever_a_snapshot(data: bytes) -> None:
    with pytest.raises(PawlError):
        read_snapshot(data, channel=STAGING)


def test_deep_nesting_is_damage_and_no_crash() -> None:
    with pytest.raises(IntegrityError):
        read_snapshot(b"[" * 100_000, channel=STAGING)
