"""Front matter of foreign files: strict YAML between two lines that are exactly ``---``, then a body.

The same reader, the same limits and the true line numbers as for a file of ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pawl.io import strict_yaml
from pawl.io.text import LocatedFault, Unreadable, decode


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """A document, the body below it, and the line at which the body begins."""

    document: dict[str, Any] | None
    body: str
    body_line: int


def split(data: bytes, *, max_bytes: int = strict_yaml.MAX_BYTES) -> FrontMatter:
    """Return document and body of ``data``; ``document`` is None if the first line is not ``---``.

    Raises ``Unreadable`` if the front matter is never closed or is not strict YAML. CRLF reads as LF, in the body too.
    """
    text = decode(data, max_bytes=max_bytes)
    lines = text.split("\n")
    if lines[0] != "---":
        return FrontMatter(document=None, body=text, body_line=1)
    if "---" not in lines[1:]:
        message = "the front matter that begins here is never closed by a line that is exactly ---"
        raise Unreadable((LocatedFault(code="front-matter-open", message=message, line=1, column=1),))
    end = lines.index("---", 1)
    # the opening line stays as an empty one, so that every fault has the line it has in the file
    document = strict_yaml.load(("\n" + "\n".join(lines[1:end]) + "\n").encode("utf-8"))
    return FrontMatter(document=document, body="\n".join(lines[end + 1 :]), body_line=end + 2)
