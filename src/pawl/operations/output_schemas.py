"""JSON Schemas of what commands print with ``-o json``: what all have in common, and what each adds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from pawl.procedures.models import DIALECT

PROBLEM: Mapping[str, Any] = MappingProxyType(
    {
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": "Stable; explained in docs/problems.md."},
            "severity": {"enum": ["error", "warning", "note"]},
            "message": {"type": "string"},
            "path": {"type": "string"},
            "line": {"type": "integer", "minimum": 1},
            "column": {"type": "integer", "minimum": 1},
            "rule": {"type": "string"},
            "hint": {"type": "string"},
        },
        "required": ["code", "severity", "message"],
        "additionalProperties": False,
    }
)
