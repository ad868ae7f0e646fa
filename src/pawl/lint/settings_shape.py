"""The shape of ``lint`` in registry.yaml, and what is wrong with it beyond its shape.

What is always an error cannot be ignored: such a file does not work anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from pawl.lint.codes import CODES, IGNORABLE
from pawl.lint.profiles import Profile
from pawl.problems import Fault
from pawl.procedures.models import Listed, Shape

_PREFIX = re.compile(r"[A-Za-z0-9_.-]{1,120}")
MAX_REASON = 500


def _prefix(text: str) -> str:
    if not _PREFIX.fullmatch(text):
        raise ValueError("a prefix is 1 to 120 characters of A-Z, a-z, 0-9, _, - and .")
    return text


def _reason(text: str) -> str:
    if not text.strip():
        raise ValueError("a reason says something, for whoever reads it next")
    return text


def _files(text: str) -> str:
    parts = text.split("/")
    if not text or text.startswith("/") or "\\" in text or ".." in parts or "**" in text or set(text) & set("?[]{}"):
        raise ValueError("a glob of paths in the workspace, in which * stands for any characters and is all there is")
    return text


class IgnoreDocument(Shape):
    """What is not reported, and why."""

    code: str = Field(description="The code of a finding of lint.")
    files: Annotated[str, AfterValidator(_files)] | None = Field(
        default=None, description="A glob of paths, such as procedures/support/*; without it, every file."
    )
    reason: Annotated[str, Field(max_length=MAX_REASON), AfterValidator(_reason)] = Field(
        description="Why, for whoever reads it next."
    )


class LintDocument(Shape):
    """What lint holds procedures against."""

    profiles: Listed[Profile] = Field(
        default=(), description="Who must take every procedure: what they refuse is an error. portable always warns."
    )
    prefixes: Listed[Annotated[str, AfterValidator(_prefix)]] = Field(
        default=(), description="What hosts put before the names of tools; the longest counts."
    )
    encoding: Literal["o200k_base", "cl100k_base"] | None = Field(
        default=None,
        description="Count tokens exactly in this encoding, beside the estimate; it takes the extra tokens.",
    )
    ignores: Listed[IgnoreDocument] = Field(
        default=(), description="Findings that are not reported, each with its reason."
    )


def lint_settings_faults(lint: Any) -> Iterator[Fault]:
    """Yield what is wrong with settings beyond their shape, with places below ``lint``.

    ``lint`` is as it stands in the file: where something in it has another shape, the rest is looked at nevertheless.
    """
    ignores = lint.get("ignores") if isinstance(lint, Mapping) else None
    for index, ignore in enumerate(ignores if isinstance(ignores, list) else ()):
        code = ignore.get("code") if isinstance(ignore, Mapping) else None
        if not isinstance(code, str):
            continue
        at = ("ignores", index, "code")
        if code not in CODES:
            close = get_close_matches(code, sorted(IGNORABLE), n=1)
            hint = f"did you mean {close[0]}?" if close else "docs/lint.md has the codes of lint"
            yield Fault(code="lint-code-unknown", message=f"{code[:80]!r} is no code", at=at, hint=hint)
        elif code not in IGNORABLE:
            message = f"{code} is no finding of lint, and cannot be ignored"
            hint = f"pawl check --explain {code} says what to do about it"
            yield Fault(code="lint-ignore-refused", message=message, at=at, hint=hint)
