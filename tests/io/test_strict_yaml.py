"""The strict YAML reader: what it takes, what it refuses, and the line and column it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pawl.io import strict_yaml
from pawl.io.strict_yaml import MAX_BYTES, MAX_DEPTH, Unreadable, load, locate
from support import soon

HERE = Path(__file__).parent
BROKEN = HERE / "broken"

# file, then (code, line, column) of every fault
CASES: dict[str, list[tuple[str, int, int]]] = {
    "after-astral": [("yaml-syntax", 1, 8)],
    "alias": [("alias", 2, 9)],
    "alias-as-key": [("alias", 2, 1)],
    "anchor": [("anchor", 2, 10)],
    "anchor-on-key": [("anchor", 1, 1)],
    "big-float": [("number-too-large", 1, 4)],
    "big-hexadecimal": [("number-too-large", 1, 4)],
    "big-integer": [("number-too-large", 1, 4)],
    "bom": [("byte-order-mark", 1, 1)],
    "bom-inside": [("control-character", 1, 8)],
    "boolean-key": [("non-string-key", 1, 1)],
    "comments-only": [("empty-document", 3, 1)],
    "conflict-marker-left-over": [("conflict-marker", 2, 1)],
    "conflict-markers": [("conflict-marker", 2, 1)],
    "conflict-markers-two": [("conflict-marker", 3, 1), ("conflict-marker", 8, 1)],
    "control-character": [("control-character", 1, 5)],
    "delete-character": [("control-character", 1, 5)],
    "directive": [("directive", 2, 1)],
    "directive-unknown": [("directive", 1, 1)],
    "duplicate-key": [("duplicate-key", 5, 3)],
    "duplicate-key-quoted": [("duplicate-key", 2, 1)],
    "empty": [("empty-document", 1, 1)],
    "empty-second-document": [("several-documents", 2, 1)],
    "escape-character": [("control-character", 1, 4)],
    "infinity": [("not-a-number", 1, 4)],
    "leading-zero": [("leading-zero", 2, 8)],
    "leading-zero-float": [("leading-zero", 1, 4)],
    "line-separator": [("control-character", 1, 5)],
    "list-as-key": [("non-string-key", 1, 3)],
    "list-on-key-line": [("yaml-syntax", 1, 4)],
    "lone-carriage-return": [("control-character", 1, 5)],
    "merge-key": [("merge-key", 3, 3)],
    "nan": [("not-a-number", 2, 4)],
    "next-line": [("control-character", 1, 5)],
    "no-colon": [("yaml-syntax", 2, 1)],
    "non-string-key": [("non-string-key", 2, 3)],
    "not-utf8": [("not-utf8", 2, 5)],
    "nul": [("control-character", 2, 5)],
    "null-key": [("non-string-key", 1, 1)],
    "root-list": [("not-a-mapping", 1, 1)],
    "root-null": [("not-a-mapping", 2, 1)],
    "root-text": [("not-a-mapping", 1, 1)],
    "several-faults": [
        ("anchor", 1, 4),
        ("alias", 2, 4),
        ("duplicate-key", 3, 1),
        ("non-string-key", 4, 1),
        ("tag", 5, 5),
        ("not-a-number", 5, 11),
    ],
    "surrogate": [("not-utf8", 1, 4)],
    "surrogate-escape": [("yaml-syntax", 1, 7)],
    "tab-after-dash": [("tab-indent", 2, 4)],
    "tab-in-literal-indent": [("tab-indent", 2, 1)],
    "tab-in-plain": [("tab-indent", 2, 1)],
    "tab-indent": [("tab-indent", 2, 1)],
    "tab-indent-flow": [("tab-indent", 2, 1)],
    "tag": [("tag", 2, 8)],
    "tag-bare": [("tag", 1, 7)],
    "tag-handle": [("tag", 1, 7)],
    "tag-local": [("tag", 1, 7)],
    "tag-python": [("tag", 1, 6)],
    "text-after-end": [("yaml-syntax", 3, 1)],
    "two-documents": [("several-documents", 2, 1)],
    "unclosed-list": [("yaml-syntax", 2, 2)],
    "unclosed-mapping": [("yaml-syntax", 2, 1)],
    "unclosed-quote": [("yaml-syntax", 2, 4)],
    "unknown-escape": [("yaml-syntax", 1, 11)],
    "unquoted-at": [("yaml-syntax", 1, 8)],
    "unquoted-colon": [("unquoted-colon", 1, 17)],
    "unquoted-colon-flow": [("unquoted-colon", 1, 15)],
    "unquoted-template": [("non-string-key", 1, 11)],
    "utf16": [("byte-order-mark", 1, 1)],
    "vanishing-float": [("number-too-large", 1, 4)],
    "wrong-indent": [("yaml-syntax", 3, 3)],
}


def try_to_read(data: bytes) -> list[tuple[str, int, int]] | None:
    try:
        load(data)
    except Unreadable as error:
        return [(fault.code, fault.line, fault.column) for fault in error.faults]
    return None


def faults_of(data: bytes) -> list[tuple[str, int, int]]:
    with pytest.raises(Unreadable, match=r"\d+:\d+: \S") as caught:
        load(data)
    return [(fault.code, fault.line, fault.column) for fault in caught.value.faults]


@pytest.mark.parametrize("name", sorted(CASES))
def test_broken_files_say_code_line_and_column(name: str) -> None:
    data = (BROKEN / f"{name}.yaml").read_bytes()
    assert CASES[name] == faults_of(data)
    with pytest.raises(Unreadable):
        locate(data)


def test_every_broken_file_is_in_the_table() -> None:
    assert sorted(CASES) == sorted(path.stem for path in BROKEN.glob("*.yaml"))


def test_both_lines_of_a_duplicate_key_are_named() -> None:
    with pytest.raises(Unreadable, match="line 3") as caught:
        load((BROKEN / "duplicate-key.yaml").read_bytes())
    assert caught.value.faults[0].line == 5


VALUES: list[tuple[str, Any]] = [
    ("no", "no"),
    ("on", "on"),
    ("Yes", "Yes"),
    ("y", "y"),
    ("22:30", "22:30"),
    ("2026-03-01", "2026-03-01"),
    ("1_000", "1_000"),
    ("1.2.3", "1.2.3"),
    ("1.10", 1.1),
    ("'1.10'", "1.10"),
    ("0b11", "0b11"),
    ("0o17", 15),
    ("-0o17", "-0o17"),
    ("0x1F", 31),
    ("0", 0),
    ("-0", 0),
    ("+12", 12),
    ("-12", -12),
    ("9007199254740991", 2**53 - 1),
    (".5", 0.5),
    ("5.", 5.0),
    ("1e3", 1000.0),
    ("-1.5E-2", -0.015),
    ("0e5", 0.0),
    (".", "."),
    ("-", None),
    ("+", "+"),
    ("~", None),
    ("null", None),
    ("NULL", None),
    ("nULL", "nULL"),
    ("", None),
    ("''", ""),
    ("True", True),
    ("FALSE", False),
    ("tRUE", "tRUE"),
    ('"true"', "true"),
    (".infinite", ".infinite"),
    ("nan", "nan"),
    ("<<", "<<"),
    ("=", "="),
    ("1e", "1e"),
    ("0x", "0x"),
    ("00:30", "00:30"),
    ("|\n  x\n  y", "x\ny"),
    (">-\n  x\n  y\n", "x y"),
    ('"\\u0000\\ufeff\\U0001F600"', "\x00\ufeff\U0001f600"),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_values_follow_the_core_schema(text: str, value: Any) -> None:
    if text == "-":
        assert load(b"a:\n  -\n") == {"a": [None]}
        return
    read = load(f"a: {text}\n".encode())["a"]
    assert (type(value), value) == (type(read), read.rstrip("\n") if text.startswith("|") else read)


def test_crlf_reads_as_lf() -> None:
    data = (HERE / "crlf.yaml").read_bytes()
    assert b"\r\n" in data
    assert load(data) == load(data.replace(b"\r\n", b"\n")) == {"kind": "prompt", "spec": {"content": "one\ntwo\n"}}


@pytest.mark.parametrize(
    "text",
    [
        "a:\t1\n",
        'a: "x\n\ty"\n',
        "a: |\n  x\n  \ty\n",
        "a: [1,\n\t# a comment\n 2]\n",
        "a: [1,\n\t\n 2]\n",
        'a: ["x\n\ty",\n "z"]\n',
        "--- # first\na: 1\n...\n",
        "? a\n: 1\n",
        'a: "%YAML 1.1"\n',
        "a: |\n  <<<<<<< HEAD\n  =======\n",
        "a: 'x\n=======\ny'\n",
        '"<<": 1\n',
    ],
)
def test_what_looks_like_a_fault_and_is_none(text: str) -> None:
    assert isinstance(load(text.encode()), dict)


def test_depth_ends_at_the_limit() -> None:
    levels = MAX_DEPTH - 1
    load(b"a: " + b"[" * levels + b"]" * levels)
    assert faults_of(b"a: " + b"[" * (levels + 1) + b"]" * (levels + 1)) == [("too-deep", 1, 3 + MAX_DEPTH)]
    load(b"".join(b" " * level + b"a:\n" for level in range(MAX_DEPTH)))
    assert [code for code, _, _ in faults_of(b"".join(b" " * level + b"a:\n" for level in range(MAX_DEPTH + 1)))]


def test_size_ends_at_the_limit() -> None:
    load(b"a: 1\n#" + b"x" * (MAX_BYTES - 6))
    assert faults_of(b"a: 1\n#" + b"x" * (MAX_BYTES - 5)) == [("too-large", 1, 1)]


HOSTILE: dict[str, bytes] = {
    "brackets": b"[" * 50_000,
    "braces": b"a: " + b"{" * 200_000,
    "nested pairs": b"[a, " * 60_000,
    "brackets on lines": b"a:\n" + b" [\n" * 80_000,
    "dashes": b"- " * 100_000,
    "questions": b"? " * 100_000,
    "keys": b"".join(b"k%x: 1\n" % number for number in range(25_000)),
    "numeric keys": b"".join(b"%d:\n" % number for number in range(30_000)),
    "flow keys": b"{" + b",".join(b"k%x" % number for number in range(30_000)) + b"}",
    "empty lists": b"a: [" + b"[]," * 80_000 + b"]",
    "digits": b"a: " + b"9" * 250_000,
    "decimals": b"a: 1." + b"9" * 250_000,
    "long scalar": b'a: "' + b"x" * 250_000 + b'"',
    "long plain": b"a: " + b"x " * 120_000,
    "blank lines": b"a: |\n" + b"\n" * 250_000,
    "tabs in quotes": b'a: "' + b"\n\tx" * 80_000 + b'"',
    "tabs and quotes": b"a: [" + b'\n\t"x\n\ty",' * 20_000 + b"]",
    "quoted lines": b"a:\n" + b' - "x\n\t y"\n' * 20_000,
    "nuls": b"\x00\n" * 100_000,
    "anchors": b"- &a 1\n" * 30_000,
    "billion laughs": b"a: &a [x,x]\n" + b"".join(b"b%d: &b%d [*a,*a,*a]\n" % (n, n) for n in range(1000)),
    "markers": b"<<<<<<< x\n" * 25_000,
    "blank directive": b" \t\n" * 80_000 + b"%",
    "long key": b"x" * 100_000 + b": 1",
    "colons": b"a: " + b"[:" * 100_000,
    "quotes": b'"a' * 100_000,
    "tags": b"a: " + b"!" * 200_000,
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_input_ends_quickly(name: str) -> None:
    with soon():
        faults = try_to_read(HOSTILE[name])
    assert faults is None or 1 <= len(faults) <= 100


@given(st.binary(max_size=200))
@example(b"%")
@example(b"a: \xf0\x9f\x98\x80\n")
@example(b"!")
@example(b"a: *")
@example(b"? ")
def test_any_bytes_read_or_are_unreadable(data: bytes) -> None:
    faults = try_to_read(data)
    lines = data.count(b"\n") + 2
    assert faults is None or faults
    assert all(1 <= line <= lines and column >= 1 for _, line, column in faults or [])


@given(st.lists(st.sampled_from([*"[]{}:,-?&*!|>'\"%@`#~ \n\t<=", "a", "1", ": ", "- ", "<<: ", "\n  "]), max_size=40))
def test_any_grammar_reads_or_is_unreadable(pieces: list[str]) -> None:
    data = "".join(pieces).encode()
    faults = try_to_read(data)
    assert faults is None or faults
    if faults is None:
        assert locate(data).of(()) >= (1, 1)


def test_a_missing_reader_is_said_and_not_replaced() -> None:
    code = (
        "import sys; sys.modules['_ruamel_yaml'] = None\n"
        "from pawl.errors import PawlError\n"
        "from pawl.io.strict_yaml import load\n"
        "try:\n    load(b'a: 1')\nexcept PawlError as error:\n    print(error.problems[0].code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "yaml-reader-missing\n"


def test_importing_the_reader_loads_no_parser() -> None:
    code = "import sys, pawl.io.strict_yaml; print('_ruamel_yaml' in sys.modules or 'ruamel.yaml' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


DOCUMENT = """\
kind: prompt
version: 1.10
spec:
  messages:
    - {role: system, content: "ä😀"}
    - role: user
      content: |
        hello
  empty:
  "quoted": 'x'
  list: []
"""


@pytest.mark.parametrize(
    ("place", "on_key", "expected"),
    [
        ((), False, (1, 1)),
        (("version",), False, (2, 10)),
        (("version",), True, (2, 1)),
        (("spec",), False, (3, 1)),
        (("spec", "messages"), False, (4, 3)),
        (("spec", "messages", 0), False, (5, 7)),
        (("spec", "messages", 0, "content"), False, (5, 31)),
        (("spec", "messages", 0, "content"), True, (5, 22)),
        (("spec", "messages", 1), False, (6, 7)),
        (("spec", "messages", 1, "content"), False, (7, 16)),
        (("spec", "messages", 1, "missing"), False, (6, 7)),
        (("spec", "messages", 1, "missing"), True, (6, 7)),
        (("spec", "messages", 7), False, (4, 3)),
        (("spec", "empty"), False, (9, 3)),
        (("spec", "empty", "deep", 1), False, (9, 3)),
        (("spec", "quoted"), True, (10, 3)),
        (("spec", "list"), False, (11, 9)),
        (("missing",), False, (1, 1)),
    ],
)
def test_places_have_lines_and_columns(place: tuple[str | int, ...], on_key: bool, expected: tuple[int, int]) -> None:
    assert locate(DOCUMENT.encode()).of(place, on_key=on_key) == expected


def test_scalars_are_shown_as_written() -> None:
    positions = locate(DOCUMENT.encode())
    assert positions.text(("version",)) == "1.10"
    assert positions.text(("spec", "quoted")) == "x"
    assert positions.text(("spec",)) is None
    assert positions.text(("nowhere",)) is None


def test_limits_are_those_of_the_formats() -> None:
    assert (strict_yaml.MAX_BYTES, strict_yaml.MAX_DEPTH) == (262_144, 64)
