"""The strict JSON reader: as strict as the YAML one, with places."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.canonical import record_bytes
from pawl.io.strict_json import load
from pawl.io.text import Unreadable
from support import soon

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)

BROKEN: list[tuple[str, bytes, list[tuple[str, int, int]]]] = [
    ("duplicate key", b'{"a": 1,\n "b": {"c": 1,\n  "c": 2}}', [("duplicate-key", 3, 3)]),
    ("duplicate by escape", b'{"a": 1, "\\u0061": 2}', [("duplicate-key", 1, 10)]),
    (
        "several",
        b'{"a": NaN,\n "a": 1e999,\n "b": "a", "c": -0}',
        [("not-a-number", 1, 7), ("duplicate-key", 2, 2), ("number-too-large", 2, 7)],
    ),
    ("infinity", b"[-Infinity]", [("not-a-number", 1, 2)]),
    ("integer", b"[1, 9007199254740992]", [("number-too-large", 1, 5)]),
    ("digits", b"[" + b"9" * 10_000 + b"]", [("number-too-large", 1, 2)]),
    ("vanishing", b"[1e-999]", [("number-too-large", 1, 2)]),
    ("lone surrogate", b'["\\ud800"]', [("lone-surrogate", 1, 2)]),
    ("lone surrogate in a key", b'{"\\udc00": 1}', [("lone-surrogate", 1, 2)]),
    ("comma at the end of an object", b'{"a": 1,\n}', [("json-syntax", 1, 8)]),
    ("comma at the end of an array", b"[1,\n 2 ,\n\n ]", [("json-syntax", 2, 4)]),
    ("comma alone", b"[,]", [("json-syntax", 1, 2)]),
    ("a colon and no value", b'{"a":}', [("json-syntax", 1, 6)]),
    ("single quotes", b"{'a': 1}", [("json-syntax", 1, 2)]),
    ("comment", b"{} // x", [("json-syntax", 1, 4)]),
    ("empty", b"", [("json-syntax", 1, 1)]),
    ("control character", b'["a\nb"]', [("json-syntax", 1, 4)]),
    ("bom", b"\xef\xbb\xbf{}", [("byte-order-mark", 1, 1)]),
    ("not utf-8", b'{"a":\n "\xff"}', [("not-utf8", 2, 3)]),
    ("conflict", b'{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> b\n}', [("conflict-marker", 2, 1)]),
    ("deep", b"[" * 65 + b"]" * 65, [("too-deep", 1, 65)]),
    ("very deep", b"[" * 100_000, [("too-deep", 1, 65)]),
    ("deep objects", b'{"a":' * 70 + b"1" + b"}" * 70, [("too-deep", 1, 5 * 64 + 1)]),
    ("large", b"[" + b" " * 262_144, [("too-large", 1, 1)]),
]


def faults_of(data: bytes) -> list[tuple[str, int, int]] | None:
    try:
        load(data)
    except Unreadable as error:
        return [(fault.code, fault.line, fault.column) for fault in error.faults]
    return None


@pytest.mark.parametrize(("name", "data", "expected"), BROKEN, ids=[case[0] for case in BROKEN])
def test_broken_json_says_code_line_and_column(name: str, data: bytes, expected: list[tuple[str, int, int]]) -> None:
    assert expected == faults_of(data)


@given(JSON_VALUES)
def test_what_json_writes_is_read_equal(value: Any) -> None:
    assert load(record_bytes(value), max_depth=100) == json.loads(record_bytes(value)) == value


@pytest.mark.parametrize(
    "text", ['"\\ud83d\\ude00"', "[]", "1", "null", '{"a": "\u2028\x7f"}', '{"": {"": 1}}', '["a", "a"]']
)
def test_what_is_fine_is_read(text: str) -> None:
    assert load(text.encode()) == json.loads(text)


def test_limits_are_given_by_the_caller() -> None:
    assert load(b"[[1]]", max_bytes=5, max_depth=2) == [[1]]
    for limits in ({"max_bytes": 4}, {"max_depth": 1}):
        with pytest.raises(Unreadable):
            load(b"[[1]]", **limits)
    assert load(b"[" * 500 + b"]" * 500, max_depth=500)
    with pytest.raises(Unreadable):
        load(b"[" * 100_000 + b"]" * 100_000, max_bytes=10**6, max_depth=10**6)


@given(st.binary(max_size=100) | st.text('[]{}:,"\\1eNa \n').map(str.encode))
def test_any_bytes_read_or_are_unreadable(data: bytes) -> None:
    faults = faults_of(data)
    assert faults is None or faults


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": 1, "a": 2, "b": [' + b"1," * 100_000 + b"1]}",
        b"[" + b"NaN," * 50_000 + b"1]",
        b'["' + b"\\ud83d\\ude00" * 15_000 + b'"]',
        b'{"a":1,"a"' + b" " * 200_000 + b":1}",
        b'[NaN, "' + b"\\\\" * 100_000 + b'"]',
        b'[NaN, "' + b"\\\\" * 100_000,
        b"[" * 64 + b'"a",' * 50_000,
    ],
)
def test_hostile_input_ends_quickly(data: bytes) -> None:
    with soon(), pytest.raises(Unreadable) if b"\\ud83d" not in data else nullcontext():
        load(data)
