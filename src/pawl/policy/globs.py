"""Globs over procedure names, as rules write them in ``applies.names``; matching is in ``procedures.globs``.

- ``*`` stands for any run of characters, none and ``/`` among them: ``support/refund*`` covers ``support/refund``,
  ``support/refund-draft`` and ``support/refund/retail``.
- There is nothing else: no ``**``, ``?`` or ``[...]``. They are refused, and so is a glob that no name can match.
- The whole name is compared, with regard to case; names are lowercase.
"""

from __future__ import annotations

import re

from pawl.ids import parse_name

_ALLOWED = re.compile(r"[a-z0-9_/*-]+\Z")


def glob_fault(glob: str) -> str | None:
    """Return what is wrong with a glob, as the end of a sentence, or ``None``."""
    if "**" in glob:
        return "is written with one *, which crosses / as well"
    if not _ALLOWED.match(glob):
        return "may hold a-z, 0-9, -, _, / and *, where * stands for any characters"
    try:
        # An `a` fits wherever anything fits, so this name exists if any does.
        parse_name(glob.replace("*", "a"))
    except ValueError:
        return "can match no name: names are lowercase segments of a-z, 0-9, - and _, joined by /"
    return None


def matching_example(glob: str) -> str:
    """Return a name that ``glob`` covers, for a glob without fault."""
    for filling in ("", "example"):
        try:
            return parse_name(glob.replace("*", filling))
        except ValueError:
            continue
    return glob.replace("*", "a")
