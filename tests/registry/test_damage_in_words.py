"""Records and projections that no longer parse: where and why, in words, and the same way out everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import Shop

CONFLICT = "<<<<<<< ours\n{}\n=======\n[]\n>>>>>>> theirs\n"
DAMAGE: dict[str, tuple[bytes, str]] = {
    "a conflict": (CONFLICT.encode(), "line 1 is a conflict marker of Git's"),
    "a conflict inside": (
        b'{\n  "channel": "production",\n' + CONFLICT.encode(),
        "line 3 is a conflict marker of Git's",
    ),
    "empty": (b"", "it is no JSON: line 1, column 1"),
    "cut off": (b'{\n  "channel":', "it is no JSON: line 2, column 13"),
    "a line of signs": (b"{\n======= not one\n", "line 2 is a conflict marker of Git's"),
    "seven and more": (b"{\n<<<<<<<<\n", "it is no JSON: line 2, column 1"),
    "no UTF-8": (b'{"channel": "\xff"}', "it is no UTF-8"),
}


@pytest.mark.parametrize(("data", "why"), DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("path", ["registry/channels/production.json", "releases/production/000001.json"])
def test_what_does_not_parse_is_told_in_words(released: Shop, path: str, data: bytes, why: str) -> None:
    (released.root / path).write_bytes(data)
    found = {}
    for command in ("check", "verify"):
        answer = released.pawl(command, code=6)
        (found[command],) = [problem for problem in answer["problems"] if problem.get("path") == path]
        assert why in found[command]["message"]
        assert "Expecting" not in found[command]["message"]
    assert found["check"]["hint"] == found["verify"]["hint"]


def test_the_way_out_works(released: Shop) -> None:
    path = Path("registry/channels/production.json")
    before = released.read(str(path))
    released.write(str(path), CONFLICT)
    (released.root / path).unlink()
    released.pawl("halt", "support/refund", "--channel", "production", "--reason", "stop")
    released.pawl("verify")
    assert released.read(str(path)) != before
