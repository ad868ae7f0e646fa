"""``lint`` in registry.yaml: which profiles object, which prefixes hosts put before names, what is ignored and why.

An ignore names one code and gives a reason; ``files`` keeps it to some files. Values of what was found valid
(``settings_shape``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pawl.lint.profiles import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignore:
    """What is not reported, and why. ``files`` is a glob of paths; without it, every file."""

    code: str
    reason: str
    files: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LintSettings:
    """What lint holds procedures against."""

    profiles: tuple[Profile, ...] = ()
    prefixes: tuple[str, ...] = ()
    encoding: str | None = None
    """In which tokens are counted exactly, beside the estimate."""
    ignores: tuple[Ignore, ...] = ()


def lint_settings_of(lint: Mapping[str, Any]) -> LintSettings:
    """Return the settings in a document that was found valid."""
    return LintSettings(
        profiles=tuple(lint.get("profiles", ())),
        prefixes=tuple(lint.get("prefixes", ())),
        encoding=lint.get("encoding"),
        ignores=tuple(Ignore(**ignore) for ignore in lint.get("ignores", ())),
    )
