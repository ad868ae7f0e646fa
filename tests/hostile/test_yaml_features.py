"""Every feature of YAML, each in a case of our own: the value that it reads as, or the code that refuses it."""

from __future__ import annotations

from typing import Any

import pytest

from pawl.io import strict_yaml

VALUES: dict[str, tuple[str, Any]] = {
    "plain words": ("a: b c\n", "b c"),
    "plain over lines": ("a: b\n  c\n\n  d\n", "b c\nd"),
    "plain with a hash inside": ("a: b#c\n", "b#c"),
    "comment": ("a: b # c\n", "b"),
    "comment lines": ("# x\na: # y\n  # z\n  b\n", "b"),
    "single quotes": ("a: 'it''s \\n'\n", "it's \\n"),
    "double quotes": ('a: "x\\ty\\u00e9\\x41"\n', "x\ty\u00e9A"),
    "quoted over lines": ('a: "b\n  c\\\n  d"\n', "b cd"),
    "literal": ("a: |\n  x\n   y\n", "x\n y\n"),
    "literal stripped": ("a: |-\n  x\n\n", "x"),
    "literal kept": ("a: |+\n  x\n\n", "x\n\n"),
    "literal with an indent given": ("a: |1\n  x\n", " x\n"),
    "literal without a line end": ("a: |\n  x", "x"),
    "literal with spaces at its end": ("a: |\n  x  \n", "x  \n"),
    "folded": ("a: >\n  x\n  y\n\n  z\n", "x y\nz\n"),
    "folded with deeper lines": ("a: >\n  x\n    y\n  z\n", "x\n  y\nz\n"),
    "block list": ("a:\n  - b\n  - c\n", ["b", "c"]),
    "block list at the key's column": ("a:\n- b\n- c\n", ["b", "c"]),
    "list of lists": ("a:\n  - - b\n    - c\n  - []\n", [["b", "c"], []]),
    "list of mappings": ("a:\n  - b: 1\n    c: 2\n  - d: 3\n", [{"b": 1, "c": 2}, {"d": 3}]),
    "flow list": ("a: [b, [c], {d: e}, ]\n", ["b", ["c"], {"d": "e"}]),
    "flow mapping": ('a: {b: 1, "c": 2, d: {}}\n', {"b": 1, "c": 2, "d": {}}),
    "flow over lines": ("a: [b,\n  c,\n  # d\n  e]\n", ["b", "c", "e"]),
    "json": ('{"a": {"b": [1, true, null, "c"]}}', {"b": [1, True, None, "c"]}),
    "json without spaces": ('{"a":{"b":1}}', {"b": 1}),
    "single pair in a list": ("a: [b: c]\n", [{"b": "c"}]),
    "explicit key": ("? a\n: b\n", "b"),
    "explicit key of a list of pairs": ("a:\n  ? b\n  : - c\n", {"b": ["c"]}),
    "question mark before a key that ends the file": ("a: 1\n? ?s", 1),
    "question mark in a text": ("a: what?now\n", "what?now"),
    "nothing": ("a:\n", None),
    "null": ("a: null\n", None),
    "tilde": ("a: ~\n", None),
    "true": ("a: [true, True, TRUE]\n", [True, True, True]),
    "words of YAML 1.1": ("a: [yes, no, on, off, y, n]\n", ["yes", "no", "on", "off", "y", "n"]),
    "integers": ("a: [0, 7, -7, +7]\n", [0, 7, -7, 7]),
    "floats": ("a: [0.5, -1.5e3, 1E2]\n", [0.5, -1500.0, 100.0]),
    "hexadecimal and octal": ("a: [0x1F, 0o17]\n", [31, 15]),
    "sexagesimal": ("a: 22:30\n", "22:30"),
    "date": ("a: 2026-12-15\n", "2026-12-15"),
    "version": ("a: 1.2.3\n", "1.2.3"),
    "underscores": ("a: 1_000\n", "1_000"),
    "binary of YAML 1.1": ("a: 0b11\n", "0b11"),
    "document start": ("---\na: b\n", "b"),
    "document end": ("a: b\n...\n", "b"),
    "dashes in a text": ("a: b---c\n", "b---c"),
    "windows line ends": ("a: |\r\n  x\r\n  y\r\n", "x\ny\n"),
    "non-ASCII": ("a: \u00e4\u4e2d\U0001f600\n", "\u00e4\u4e2d\U0001f600"),
    "tab between": ("a:\tb\t# c\n", "b"),
    "tab in quotes": ('a: "b\tc"\n', "b\tc"),
    "merge key in quotes": ("a: {'<<': 1}\n", {"<<": 1}),
    "asterisk in a text": ("a: b*c\n", "b*c"),
    "exclamation mark in a text": ("a: b!c\n", "b!c"),
    "empty quotes": ("a: ''\n", ""),
}
REFUSED: dict[str, tuple[str, str]] = {
    "anchor": ("a: &b c\n", "anchor"),
    "anchor on a mapping": ("a: &b\n  c: d\n", "anchor"),
    "alias": ("a: *b\n", "alias"),
    "tag": ("a: !!str 1\n", "tag"),
    "local tag": ("a: !b c\n", "tag"),
    "verbatim tag": ("a: !<tag:yaml.org,2002:str> 1\n", "tag"),
    "bare tag": ("a: ! b\n", "tag"),
    "merge key": ("a: {<<: {b: c}}\n", "merge-key"),
    "directive": ("%YAML 1.2\n---\na: b\n", "directive"),
    "two documents": ("a: b\n---\nc: d\n", "several-documents"),
    "no document": ("# nothing\n", "empty-document"),
    "list at the root": ("- a\n", "not-a-mapping"),
    "text at the root": ("a\n", "not-a-mapping"),
    "duplicate key": ("a: 1\na: 2\n", "duplicate-key"),
    "duplicate key by another spelling": ("a: 1\n'a': 2\n", "duplicate-key"),
    "number as a key": ("1: a\n", "non-string-key"),
    "truth as a key": ("true: a\n", "non-string-key"),
    "nothing as a key": ("? \n: a\n", "non-string-key"),
    "surrogate pair as two escapes": ('a: "\\ud83d\\ude00"\n', "yaml-syntax"),
    "tab at the beginning of a text block": ("a: |\n  \tx\n", "tab-indent"),
    "list as a key": ("[a]: b\n", "non-string-key"),
    "mapping as a key": ("? {a: b}\n: c\n", "non-string-key"),
    "not a number": ("a: .nan\n", "not-a-number"),
    "infinity": ("a: -.inf\n", "not-a-number"),
    "tab as indentation": ("a:\n\tb: c\n", "tab-indent"),
    "tab as indentation in brackets": ("a: [\n\tb]\n", "tab-indent"),
    "question mark before a key": ("{?a: 1}\n", "yaml-syntax"),
    "question mark before an item": ("a: [b, ?c]\n", "yaml-syntax"),
    "spaces at the end of a text block": ("a: |\n  x\n   ", "yaml-syntax"),
    "unclosed quotes": ('a: "b\n', "yaml-syntax"),
    "unclosed brackets": ("a: [b\n", "yaml-syntax"),
    "byte order mark": ("\ufeffa: b\n", "byte-order-mark"),
    "control character": ("a: b\x07\n", "control-character"),
    "next line": ("a: b\u0085c\n", "control-character"),
}


@pytest.mark.parametrize("name", VALUES)
def test_it_reads_as(name: str) -> None:
    text, value = VALUES[name]
    found = strict_yaml.load(text.encode())["a"]
    assert value == found
    assert type(value) is type(found)


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str) -> None:
    text, code = REFUSED[name]
    with pytest.raises(strict_yaml.Unreadable) as refused:
        strict_yaml.load(text.encode())
    assert code == refused.value.faults[0].code
    assert all(fault.line >= 1 and fault.column >= 1 for fault in refused.value.faults)
