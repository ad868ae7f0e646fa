"""What a problem's code means, why it matters, and what to do about it."""

from __future__ import annotations

from dataclasses import asdict
from difflib import get_close_matches

from pawl.errors import NotFoundError
from pawl.lint.codes import CODES, explain
from pawl.operations.session import Report


def explained(code: str) -> Report:
    """Return everything that is known of a code, in capitals too; ``NotFoundError`` names those that look like it."""
    code = code.strip().casefold()
    found = explain(code)
    if found is None:
        close = get_close_matches(code, CODES, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else "docs/problems.md lists every code"
        raise NotFoundError(f"there is no code {code[:80]!r}", code="code-unknown", hint=hint)
    return Report(status="done", data={"explanation": {**asdict(found), "text": found.text()}})
