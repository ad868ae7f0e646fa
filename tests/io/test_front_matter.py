"""Front matter: the strict reader between two lines, with true line numbers."""

from __future__ import annotations

import pytest

from pawl.io.front_matter import FrontMatter, split
from pawl.io.text import Unreadable


def test_document_and_body() -> None:
    expected = FrontMatter(document={"name": "a"}, body="# Title\n---\nmore\n", body_line=4)
    assert split(b"---\nname: a\n---\n# Title\n---\nmore\n") == expected
    assert split(b"---\r\nname: a\r\n---\r\n# Title\r\n---\r\nmore\r\n") == expected
    assert split(b"# Title\n---\na: 1\n---\n") == FrontMatter(
        document=None, body="# Title\n---\na: 1\n---\n", body_line=1
    )
    assert split(b"") == FrontMatter(document=None, body="", body_line=1)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"---\nname: a\nname: b\n---\n", ("duplicate-key", 3, 1)),
        (b"---\nname: a\n--- \nbody\n", ("front-matter-open", 1, 1)),
        (b"---\n---\nbody\n", ("empty-document", 3, 1)),
        (b"---\n- a\n---\n", ("not-a-mapping", 2, 1)),
        (b"---\na: \xff\n---\n", ("not-utf8", 2, 4)),
        (b"---\n%YAML 1.1\n---\n", ("directive", 2, 1)),
        (b"---\na: 1\n---\n" + b"x" * 262_144, ("too-large", 1, 1)),
    ],
)
def test_faults_have_the_lines_of_the_file(data: bytes, expected: tuple[str, int, int]) -> None:
    with pytest.raises(Unreadable) as caught:
        split(data)
    assert [expected] == [(fault.code, fault.line, fault.column) for fault in caught.value.faults]
