"""The final versions of a name in the order of their numbers, gone through from any place among them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from pawl.ids import Version, numbers_of
from pawl.registry.versions import is_prerelease


class Finals(ABC):
    """Final versions of one name. Neither way goes through more of them than somebody takes."""

    @abstractmethod
    def below(self, version: Version | None) -> Iterator[Version]:
        """Yield those below a final version, the highest first; all without one."""

    @abstractmethod
    def above(self, version: Version | None) -> Iterator[Version]:
        """Yield those above a final version, the lowest first; all without one."""


class SortedFinals(Finals):
    """The same of any versions, whose pre-releases are passed over."""

    def __init__(self, versions: Iterable[Version]) -> None:
        self._versions = sorted((item for item in versions if not is_prerelease(item)), key=numbers_of)

    def below(self, version: Version | None) -> Iterator[Version]:
        if version is None:
            return reversed(self._versions)
        return reversed(self._versions[: bisect_left(self._versions, numbers_of(version), key=numbers_of)])

    def above(self, version: Version | None) -> Iterator[Version]:
        if version is None:
            return iter(self._versions)
        return iter(self._versions[bisect_right(self._versions, numbers_of(version), key=numbers_of) :])
