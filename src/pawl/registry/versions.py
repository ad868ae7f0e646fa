"""Comparing versions and testing them against specifiers (PEP 440, as ``packaging`` reads them).

A pre-release satisfies a range only where it is already pinned by its exact version; no choice picks one unasked.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from pawl.ids import Version

if TYPE_CHECKING:
    from packaging.version import Version as Parsed


@lru_cache(maxsize=65_536)
def version_key(version: Version) -> Parsed:
    """Return what versions are ordered by."""
    from packaging.version import Version as Parsed  # noqa: PLC0415 - slow, and serving seldom needs it

    return Parsed(version)


@lru_cache(maxsize=65_536)
def satisfies(version: Version, specifier: str) -> bool:
    """Whether a pinned version, pre-release or not, lies within a specifier."""
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415 - as above

    return SpecifierSet(specifier).contains(version_key(version), prereleases=True)


def is_prerelease(version: Version) -> bool:
    """Whether a version, in its canonical spelling, comes before the final one of its numbers."""
    return not version.replace(".", "").isdigit()


def newest_first(versions: Iterable[Version]) -> tuple[Version, ...]:
    return tuple(sorted(versions, key=version_key, reverse=True))
