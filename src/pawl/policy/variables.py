"""What a rule's expression can speak of."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

VARIABLES: Mapping[str, str] = MappingProxyType(
    {
        "procedure": "map",
        "closure": "list",
        "channel": "string",
        "action": "string",
        "actor": "map",
        "current": "dyn",
        "now": "timestamp",
    }
)
"""Name -> type, as :mod:`pawl.procedures.expressions` knows types."""
