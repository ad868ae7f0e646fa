"""The smallest valid procedure of each kind: what a rule's tests put their snippets over.

Skeletons hold only what a document of the kind cannot be without, so that a snippet says everything a rule looks at.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_CLOSED: Mapping[str, Any] = {"type": "object", "additionalProperties": False}

SKELETONS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "prompt": {
            "kind": "prompt",
            "name": "example",
            "version": "1.0.0",
            "spec": {"messages": [{"role": "system", "content": "Example."}]},
        },
        "tool": {
            "kind": "tool",
            "name": "example",
            "version": "1.0.0",
            "spec": {"description": "Example.", "inputSchema": _CLOSED},
        },
        "workflow": {
            "kind": "workflow",
            "name": "example",
            "version": "1.0.0",
            "spec": {"inputs": _CLOSED, "steps": [{"id": "done", "end": {"outcome": "done"}}]},
        },
    }
)
KNOWN_KINDS = tuple(SKELETONS)
"""The kinds that rules can speak of."""
