"""The value that everything speaks about: one version of one procedure."""

from __future__ import annotations

from collections.abc import Mapping

from pawl.ids import Digest, Name, Ref, Version
from pawl.values import dataclass

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Procedure:
    """A procedure that was read and found valid, or that a verified digest vouches for.

    ``document`` is the parsed file: plain dictionaries and lists that nobody changes. Two procedures are the same when
    their digests are.
    """

    kind: str
    name: Name
    version: Version
    document: Mapping[str, Any]
    digest: Digest

    @property
    def ref(self) -> Ref:
        return Ref(self.name, self.version)

    @property
    def spec(self) -> Mapping[str, Any]:
        spec: Mapping[str, Any] = self.document["spec"]
        return spec

    @property
    def requires(self) -> Mapping[Name, str]:
        """Name -> version specifier, as written."""
        requires: Mapping[Name, str] = self.document.get("requires") or {}
        return requires

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Procedure) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)
