"""Hostile bytes out of good ones: by bytes, by words of the format, and by parts of the document.

All is drawn from the given ``Random``, so that the same seed makes the same input.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeAlias

Make: TypeAlias = Callable[[Random], bytes]

MOST_BYTES = 300_000
"""A little more than any source may have."""

TOKENS: tuple[bytes, ...] = (
    *(b"&a ", b"*a", b"<<: ", b"!!python/object:os.system ", b"!t ", b"%YAML 1.1\n", b"---\n", b"...\n", b"? ", b": "),
    *(
        b"- ",
        b"|\n",
        b">-\n",
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b"'",
        b"#",
        b"\t",
        b"\r\n",
        b"\r",
        b"\x00",
        b"\x0b",
        b"\x7f",
    ),
    *(
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\xc2\x85",
        b"\xe2\x80\xa8",
        b"\xf0\x9f\x98\x80",
        b"\xe2\x80\xae",
    ),
    *(b".nan", b"-.inf", b"1e999", b"1e-999", b"0x1F", b"0o17", b"9007199254740993", b"-0", b"1_000", b"22:30", b"no"),
    *(
        b"null",
        b"~",
        b"true",
        b"2026-02-30",
        b"1.10",
        b"{{ amount }}",
        b"{{",
        b"}}",
        b"{% for a in b %}",
        b"{% endfor %}",
    ),
    *(
        b"{% include 'x' %}",
        b"{{ ''.__class__ }}",
        b"{{ x|tojson }}",
        b"{{ 'a' * 999999999 }}",
        b"${{ inputs.a }}",
        b"${{",
    ),
    *(
        b"$ref",
        b'"#/$defs/a"',
        b"https://example.invalid/s.json",
        b"file:///etc/passwd",
        b"../../etc/passwd",
        b"\\ud800",
    ),
    *(
        b"(a+)+$",
        b"(?=a)",
        b"[^",
        b"{1,999999}",
        b"a{1000}{1000}",
        b"\\p{L}",
        b"has(inputs.a)",
        b"inputs.l.all(x, x > 0)",
    ),
    *(b"&&", b"||", b"!", b"?", b"size(", b"matches(", b"sha256:", b"support/refund@1.0.0", b"==", b">=1,<2", b"~=1.0"),
    *(b"<<<<<<< ours\n", b"=======\n", b">>>>>>> theirs\n", b"FREQ=DAILY;COUNT=5", b"P30D", b"PT24H", b"Z", b"+25:00"),
)
"""Words that a reader of one of these formats could stumble over."""

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**53 - 1, 2**53, -(2**63), 10**400, 0.5, -0.0, 1e308, 5e-324, float("nan")),
    *(
        float("inf"),
        "",
        " ",
        "a",
        "A" * 2_000,
        "\x00",
        "\ud800",
        "\U0001f600",
        "\u202e",
        "null",
        "1.0.0",
        "01.0.0",
        "1.10",
    ),
    *(
        "support/refund",
        "support/refund@1.0.0",
        "../x",
        "/etc/passwd",
        "sha256:" + "0" * 64,
        "sha256:",
        "2026-01-01T00:00:00Z",
    ),
    *(
        "0000-00-00",
        "9999-12-31T23:59:59Z",
        "P30D",
        "FREQ=DAILY",
        "{{ amount }}",
        "${{ inputs.amount }}",
        "(a+)+$",
        "#/x",
    ),
    *(
        "simple",
        "jinja2",
        "none",
        "prompt",
        "tool",
        "workflow",
        "object",
        "string",
        "promote",
        "constructor",
        "__proto__",
    ),
    *(
        [],
        {},
        [[]],
        {"": ""},
        [None],
        {"$ref": "#"},
        {"type": "object"},
        {"type": []},
        {"not": {}},
        [1, "1", 1.0, True],
    ),
)


def by_bytes(seeds: Sequence[bytes], tokens: Sequence[bytes] = TOKENS) -> Make:
    """Return a maker that changes a seed at a few places, byte by byte and word by word."""

    def make(rng: Random) -> bytes:
        data = bytearray(rng.choice(seeds))
        for _ in range(1 + int(rng.expovariate(0.6))):
            rng.choice(_CHANGES)(rng, data, seeds, tokens)
        return bytes(data[:MOST_BYTES])

    return make


def by_parts(documents: Sequence[Any]) -> Make:
    """Return a maker that changes parts of a document and writes it as JSON, which is YAML too."""
    keys = sorted({key for document in documents for key in _keys(document)}) or ["a"]

    def make(rng: Random) -> bytes:
        document = copy.deepcopy(rng.choice(documents))
        for _ in range(1 + int(rng.expovariate(0.8))):
            document = _changed(rng, document, documents, keys)
        return json.dumps(document).encode("ascii")

    return make


def mixed(*makers: Make) -> Make:
    """Return a maker that is one of some, each as often."""
    return lambda rng: rng.choice(makers)(rng)


def words(seeds: Sequence[str], alphabet: str) -> Make:
    """Return a maker of short texts: seeds with letters and words put in, taken out and repeated."""
    short = [token for token in TOKENS if len(token) < 24]
    near = by_bytes([seed.encode() for seed in seeds], [*short, *(letter.encode() for letter in alphabet)])

    def make(rng: Random) -> bytes:
        if rng.random() < 0.3:
            return "".join(rng.choices(alphabet, k=rng.randrange(0, 40))).encode()
        return near(rng)

    return make


def _spot(rng: Random, data: bytearray) -> int:
    return rng.randrange(len(data) + 1)


def _flip(rng: Random, data: bytearray, *_: object) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _insert(rng: Random, data: bytearray, *_: object) -> None:
    at = _spot(rng, data)
    data[at:at] = rng.randbytes(rng.randrange(1, 5))


def _delete(rng: Random, data: bytearray, *_: object) -> None:
    at = _spot(rng, data)
    del data[at : at + rng.choice((1, 1, 2, 8, 64, 1_000))]


def _truncate(rng: Random, data: bytearray, *_: object) -> None:
    del data[_spot(rng, data) :]


def _repeat(rng: Random, data: bytearray, *_: object) -> None:
    at, size = _spot(rng, data), rng.choice((1, 2, 4, 16, 64))
    piece = bytes(data[at : at + size])
    data[at:at] = piece * rng.choice((1, 2, 10, 100, 2_000))


def _swap_lines(rng: Random, data: bytearray, *_: object) -> None:
    lines = data.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    data[:] = b"\n".join(lines)


def _token(rng: Random, data: bytearray, _: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    at = _spot(rng, data)
    data[at : at + rng.choice((0, 0, 1, 3, 8))] = rng.choice(tokens) * rng.choice((1, 1, 1, 1, 2, 70, 3_000))


def _splice(rng: Random, data: bytearray, seeds: Sequence[bytes], _: Sequence[bytes]) -> None:
    other = rng.choice(seeds)
    start = rng.randrange(len(other) + 1)
    at = _spot(rng, data)
    data[at : at + rng.randrange(40)] = other[start : start + rng.randrange(400)]


_CHANGES: tuple[Callable[..., None], ...] = (
    *(_flip, _insert, _delete, _truncate, _repeat, _swap_lines, _token, _token, _token, _splice),
)


def _keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return {str(key) for key in value} | {key for item in value.values() for key in _keys(item)}
    return {key for item in value for key in _keys(item)} if isinstance(value, list) else set()


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every (container, key) of a document."""
    found: list[tuple[Any, Any]] = []
    left = [value]
    while left:
        here = left.pop()
        if isinstance(here, dict):
            found += [(here, key) for key in here]
            left += here.values()
        elif isinstance(here, list):
            found += [(here, index) for index in range(len(here))]
            left += here
    return found


def _changed(rng: Random, document: Any, documents: Sequence[Any], keys: Sequence[str]) -> Any:
    places = _places(document)
    if not places or rng.random() < 0.01:
        return copy.deepcopy(rng.choice(VALUES))
    holder, key = rng.choice(places)
    match rng.randrange(9):
        case 0 | 1 | 2:
            holder[key] = copy.deepcopy(rng.choice(VALUES))
        case 3:
            del holder[key]
        case 4 if isinstance(holder, dict):
            holder[rng.choice(keys)] = holder.pop(key)
        case 5:
            other, place = rng.choice(_places(rng.choice(documents)) or [([None], 0)])
            holder[key] = copy.deepcopy(other[place])
        case 6 if isinstance(holder, dict):
            holder[rng.choice(keys)] = copy.deepcopy(rng.choice(VALUES))
        case 7:
            for _ in range(rng.choice((1, 2, 10, 70, 200))):
                holder[key] = [holder[key]] if rng.random() < 0.5 else {rng.choice(keys): holder[key]}
        case _:
            if isinstance(holder[key], list) and holder[key]:
                holder[key] = holder[key] * rng.choice((2, 3, 50))
            elif isinstance(holder[key], str):
                holder[key] = make_text(rng, holder[key])
    return document


def make_text(rng: Random, text: str) -> str:
    """Return a text with a hostile word in it."""
    at = rng.randrange(len(text) + 1)
    word = rng.choice(TOKENS).decode("utf-8", "replace")
    return text[:at] + word * rng.choice((1, 1, 1, 2, 100)) + text[at + rng.choice((0, 0, 1, 4)) :]
