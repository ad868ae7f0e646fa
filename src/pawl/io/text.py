"""From foreign bytes to text: what every strict reader refuses before it looks at a grammar.

Size comes first, then a byte order mark, UTF-8, conflict markers and the characters that no file of ours may hold. Each
fault has the line and the column (in characters, from 1) at which an editor shows it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_FAULTS = 100
"""More faults than this in one file say nothing new; the reader stops there."""

_CONTROL = "\x00-\x08\x0b-\x1f\x7f"
_FORBIDDEN_IN_YAML = re.compile(f"[{_CONTROL}\x80-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_HARMLESS = bytes(sorted({*range(0x20, 0x7F), *b"\t\n"}))
_MARKER = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?=[ \n]|\Z)", re.MULTILINE)
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedFault:
    """Something wrong at a line and a column, both from 1, of a file that cannot be read."""

    code: str
    message: str
    line: int
    column: int
    hint: str | None = None


class Unreadable(Exception):  # noqa: N818 - like Faulty: edges turn it into problems with the file's path
    """A file is not what the strict readers take; ``faults`` has every reason found, in the order of the file."""

    def __init__(self, faults: tuple[LocatedFault, ...]) -> None:
        super().__init__("; ".join(f"{fault.line}:{fault.column}: {fault.message}" for fault in faults[:10]))
        self.faults = tuple(sorted(faults, key=lambda fault: (fault.line, fault.column)))


def place_of(text: str, index: int) -> tuple[int, int]:
    """Return line and column, both from 1, of the character at ``index``."""
    return text.count("\n", 0, index) + 1, index - (text.rfind("\n", 0, index) + 1) + 1


def decode(data: bytes, *, max_bytes: int) -> str:
    """Return UTF-8 ``data`` as text with LF line ends or raise ``Unreadable``; conflict markers are refused here."""
    if len(data) > max_bytes:
        raise _refusal("too-large", f"the file has {len(data)} bytes, at most {max_bytes} are read")
    if data.startswith(_BOMS):
        raise _refusal("byte-order-mark", "the file begins with a byte order mark: save it as UTF-8 without one")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        line, column = place_of(before, len(before))
        message = f"byte 0x{data[error.start]:02x} is no UTF-8: save the file as UTF-8"
        raise Unreadable((LocatedFault(code="not-utf8", message=message, line=line, column=column),)) from None
    text = text.replace("\r\n", "\n")
    _refuse_conflict_markers(text)
    return text


def refuse_characters(text: str) -> None:
    """Raise ``Unreadable`` for characters that YAML does not allow or that loaders read in different ways."""
    if text.isascii() and not text.encode("ascii").translate(None, _HARMLESS):
        return
    faults: list[LocatedFault] = []
    end = 0
    # one fault a line: a file of such characters would otherwise cost its length times itself
    while end >= 0 and len(faults) < MAX_FAULTS and (match := _FORBIDDEN_IN_YAML.search(text, end)):
        line, column = place_of(text, match.start())
        end = text.find("\n", match.end())
        message = f"the character U+{ord(match[0]):04X} cannot stand here as it is"
        hint = f'write it as "\\u{ord(match[0]):04x}" in double quotes if it is meant'
        faults.append(LocatedFault(code="control-character", message=message, line=line, column=column, hint=hint))
    if faults:
        raise Unreadable(tuple(faults))


def _refusal(code: str, message: str) -> Unreadable:
    return Unreadable((LocatedFault(code=code, message=message, line=1, column=1),))


def _refuse_conflict_markers(text: str) -> None:
    if not any(marker in text for marker in ("<<<<<<<", "=======", ">>>>>>>")):
        return
    found = list(_MARKER.finditer(text))
    opening = [match for match in found if match[0] == "<<<<<<<"]
    closing = [match for match in found if match[0] == ">>>>>>>"]
    faults = []
    for match in (opening or closing)[:MAX_FAULTS]:
        line, column = place_of(text, match.start())
        message = f"line {line} is a conflict marker ({match[0]}): the file holds an unfinished merge"
        hint = "finish the merge in Git, then look at the file again"
        faults.append(LocatedFault(code="conflict-marker", message=message, line=line, column=column, hint=hint))
    if faults:
        raise Unreadable(tuple(faults))
