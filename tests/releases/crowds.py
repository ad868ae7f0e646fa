"""What several processes at once try, and how each try may end."""

from __future__ import annotations

import multiprocessing

from pawl.ids import Channel
from support import FIRST, SECOND

CONTEXT = multiprocessing.get_context("fork")
STAGING = Channel("staging")
WHY = ("--reason", "a crowd")
ON = ("--channel", "staging", *WHY)
WORDS: tuple[tuple[str, ...], ...] = (
    ("promote", *SECOND, "--to", "staging", *WHY),
    ("promote", *FIRST, "--to", "staging", *WHY),
    ("rollback", "support/refund", "--to", "1.0.0", *ON),
    ("rollback", "support/refund", "--to", "2.0.0", *ON),
    ("unreject", "support/refund@2.0.0", *ON),
    ("unreject", "support/refund@1.0.0", *ON),
    ("halt", "support/refund", *ON),
    ("resume", "support/refund", *ON),
    ("publish",),
)
FORESEEN = frozenset({0, 1, 3, 4, 5, 7})
"""Done or nothing to do; not there; refused; with fewer tests; lost a race; rejected. All else would be a fault."""
