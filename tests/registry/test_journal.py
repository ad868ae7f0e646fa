"""Journals: every byte of a record counts, and a chain without a link is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.canonical import record_bytes
from pawl.errors import IntegrityError
from pawl.ids import Serial
from pawl.registry.anchors import check_anchor
from pawl.registry.journal import EMPTY, Actor, Record, chain, is_sealed_by, seal, unseal
from registry.make import STAGING, Line, adopted, link, pin, published

Files = list[tuple[int, bytes]]
TEXT = st.text(st.characters(codec="utf-8"), max_size=20)


def journal(length: int = 4) -> Files:
    line = Line()
    for number in range(length):
        line.pinned(pin("a", f"1.0.{number}"))
    return line.files


def missing_first(files: Files) -> Files:
    return files[1:]


def missing_inside(files: Files) -> Files:
    return [*files[:1], *files[2:]]


def renumbered(files: Files) -> Files:
    return [(serial, data) for (serial, _), (_, data) in pairwise(files)]


def swapped(files: Files) -> Files:
    return [files[0], (2, files[2][1]), (3, files[1][1]), files[3]]


def duplicated(files: Files) -> Files:
    return [*files, (5, files[3][1])]


def given_twice(files: Files) -> Files:
    return [*files, files[3]]


def truncated(files: Files) -> Files:
    return [*files[:3], (4, files[3][1][:-9])]


def emptied(files: Files) -> Files:
    return [*files[:3], (4, b"")]


def from_zero(files: Files) -> Files:
    return [(serial - 1, data) for serial, data in files]


def longer(files: Files) -> Files:
    return [*files[:3], (4, files[3][1] + b"\n")]


def resealed(files: Files) -> Files:
    """Somebody who knows the format changes record 2 and seals it again: the next one no longer follows it."""
    old = unseal(files[1][1], journal=STAGING, serial=2)
    first = unseal(files[0][1], journal=STAGING, serial=1)
    new = seal(
        journal=STAGING, after=first.head, action=old.action, at=old.at, actor=old.actor, reason="!", body=old.body
    )
    return [files[0], (2, new.data), *files[2:]]


FAULTS: list[tuple[Callable[[Files], Files], int]] = [
    (missing_first, 1),
    (missing_inside, 2),
    (renumbered, 1),
    (swapped, 2),
    (duplicated, 5),
    (given_twice, 5),
    (truncated, 4),
    (emptied, 4),
    (from_zero, 1),
    (longer, 4),
    (resealed, 3),
]


@pytest.mark.parametrize(("damage", "at"), FAULTS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_chain_that_does_not_fit_names_its_first_misfit(damage: Callable[[Files], Files], at: int) -> None:
    with pytest.raises(IntegrityError) as found:
        chain(STAGING, damage(journal()))
    assert f"record {at} of the journal staging" in found.value.message
    assert found.value.problems[0].path == f"releases/staging/{at:06d}.json"
    assert found.value.problems[0].hint


def test_a_journal_may_be_empty_and_any_beginning_of_one_is_one() -> None:
    files = journal()
    for length in range(len(files) + 1):
        assert [record.serial for record in chain(STAGING, files[:length])] == list(range(1, length + 1))


def test_every_bit_of_a_record_counts() -> None:
    data = link(STAGING, [("halt", {"name": "a", "version": None, "note": "\u00fc {} \\ \u2028"})])[0].data
    for place in range(len(data)):
        for bit in (1, 2, 4, 0x80):
            changed = bytearray(data)
            changed[place] ^= bit
            with pytest.raises(IntegrityError):
                unseal(bytes(changed), journal=STAGING, serial=1)


def test_a_record_belongs_to_one_journal_and_one_number() -> None:
    data = journal(1)[0][1]
    for other, serial in (("production", 1), (STAGING, 2), ("registry", 1)):
        with pytest.raises(IntegrityError):
            unseal(data, journal=other, serial=serial)


def _resealed(fields: dict[str, Any]) -> bytes:
    """Seal any fields as a record is sealed, whatever they are."""
    from pawl.canonical import sha256  # noqa: PLC0415 - to forge what nobody else may

    zeros = "sha256:" + "0" * 64
    blank = record_bytes({**fields, "digest": zeros})
    return blank.replace(zeros.encode(), sha256(blank).encode(), 1)


STRANGE: list[dict[str, Any]] = [
    {"format": 2},
    {"format": "1"},
    {"serial": "1"},
    {"serial": None},
    {"actor": None},
    {"actor": {"name": "Ada"}},
    {"actor": ["Ada", None, False]},
]


@pytest.mark.parametrize("fields", STRANGE, ids=str)
def test_a_seal_alone_makes_no_record(fields: dict[str, Any]) -> None:
    whole = json.loads(journal(1)[0][1])
    with pytest.raises(IntegrityError):
        unseal(_resealed({**whole, **fields}), journal=STAGING, serial=1)
    for key in whole:
        if key != "digest":
            lacking = {name: value for name, value in whole.items() if name != key}
            try:
                unseal(_resealed(lacking), journal=STAGING, serial=1)
            except IntegrityError:
                continue
            assert key in {"moves", "rejects", "registry", "evidence", "state"}, key


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(body=st.dictionaries(TEXT, JSON, max_size=4), reason=st.none() | TEXT, name=TEXT)
def test_what_is_sealed_reads_back_whole(body: dict[str, Any], reason: str | None, name: str) -> None:
    clean = {key: value for key, value in body.items() if key not in json.loads(journal(1)[0][1])}
    record = seal(
        journal=STAGING, after=EMPTY, action="halt", at="2026-01-01T00:00:00Z", actor=Actor(name=name), reason=reason,
        body=clean,
    )  # fmt: skip
    assert unseal(record.data, journal=STAGING, serial=1) == record


@given(data=st.binary(max_size=200) | JSON.map(record_bytes))
def test_nothing_else_is_ever_a_record(data: bytes) -> None:
    with pytest.raises(IntegrityError):
        unseal(data, journal=STAGING, serial=1)


def test_deep_nesting_is_damage_and_no_crash() -> None:
    with pytest.raises(IntegrityError):
        unseal(b"[" * 200_000, journal=STAGING, serial=1)


def anchored_to(records: tuple[Record, ...], serial: int) -> Line:
    line = Line()
    body: dict[str, Any] = {"attempt": {"action": "promote"}, "evidence": []}
    line.records = link(
        line.channel,
        [("refused", {**body, "registry": records[serial - 1].head.as_dict(), "state": Line().add("refused", **body)
          .records[0].body["state"]})],
    )  # fmt: skip
    return line


def test_a_registry_that_was_cut_behind_what_a_channel_knows_is_seen() -> None:
    records = link("registry", [adopted(1), published(pin("a")), published(pin("b"))])
    line = anchored_to(records, 2)
    check_anchor(records, line.state)
    check_anchor(records[:2], line.state)
    for cut in (0, 1):
        with pytest.raises(IntegrityError) as found:
            check_anchor(records[:cut], line.state)
        assert found.value.problems[0].code == "journal-truncated"


def test_a_registry_that_was_written_anew_is_seen() -> None:
    records = link("registry", [adopted(1), published(pin("a"))])
    line = anchored_to(records, 2)
    other = link("registry", [adopted(1), published(pin("b")), published(pin("a"))])
    with pytest.raises(IntegrityError):
        check_anchor(other, line.state)


def test_a_channel_without_records_is_anchored_nowhere() -> None:
    check_anchor((), Line().state)
    assert EMPTY.serial == Serial(0)


@given(st.integers(min_value=0, max_value=3), st.data())
def test_a_record_is_known_again_by_its_bytes_alone(number: int, data: st.DataObject) -> None:
    files = journal()
    serial, sealed = files[number]
    digest = unseal(sealed, journal=STAGING, serial=serial).digest
    assert is_sealed_by(sealed, digest)
    assert not is_sealed_by(sealed, None)
    assert not any(is_sealed_by(other, digest) for at, other in files if at != serial)
    place = data.draw(st.integers(min_value=0, max_value=len(sealed) - 1))
    changed = sealed[:place] + bytes([sealed[place] ^ data.draw(st.integers(1, 255))]) + sealed[place + 1 :]
    assert not is_sealed_by(changed, digest)
    assert not is_sealed_by(sealed + digest.encode(), digest)
