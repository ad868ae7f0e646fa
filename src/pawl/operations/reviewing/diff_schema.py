"""JSON Schemas of what a diff says: one change, both sides, and whom it concerns; check says changes in them too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pawl.changes.values import LEVELS, Proof, Side

Schema = Mapping[str, Any]

_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_NOTHING: Schema = {"type": "null"}
_VERSION: Schema = {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+((a|b|rc)[0-9]+)?$"}
_DIGEST: Schema = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
_POINTER: Schema = {"type": "string", "pattern": "^(/([^~/]|~[01])*)*$", "description": "a JSON Pointer, RFC 6901"}
_WHO: Schema = {"type": "array", "items": {"enum": ["callers", "implementers", "models", "policy", "runs"]}}
_FLAGS: Schema = {"type": "array", "items": {"enum": ["text", "behaviour", "safety", "undecided"]}}


def _object(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _or_null(schema: Schema) -> dict[str, Any]:
    return {"anyOf": [schema, _NOTHING]}


LEVEL: Schema = {"enum": list(LEVELS)}
CHANGE: Schema = _object(
    {
        "code": _TEXT,
        "path": _POINTER,
        "level": {"enum": [level for level in LEVELS if level != "none"]},
        "flags": _FLAGS,
        "breaks": _WHO,
        "affects": _WHO,
        "proof": {"enum": list(get_args(Proof))},
        "reason": _TEXT,
    },
    {"side": {"enum": list(get_args(Side))}, "at": _POINTER, "old": {}, "new": {}, "witness": {}},
)
_SIDE = _object({"name": _TEXT, "version": _VERSION, "digest": _DIGEST, "where": _TEXT})
_PINNED = _object({"channel": _TEXT, "version": _VERSION})
_USER = _object(
    {
        "channel": _TEXT,
        "kind": _TEXT,
        "ref": _TEXT,
        "requires": _or_null(_TEXT),
        "through": _TEXTS,
        "still_met": _or_null({"type": "boolean"}),
    }
)
ROW: Mapping[str, Schema] = {
    "name": _TEXT,
    "kind": _TEXT,
    "state": {"enum": ["added", "changed", "removed", "same"]},
    "from": _or_null(_SIDE),
    "to": _or_null(_SIDE),
    "required": LEVEL,
    "changes": {"type": "array", "items": CHANGE},
    "smallest": _or_null(_VERSION),
    "enough": _or_null({"type": "boolean"}),
    "pinned": {"type": "array", "items": _PINNED},
    "used_by": {"type": "array", "items": _USER},
}
"""What is said of one procedure."""
PROCEDURES: Schema = {"type": "array", "items": _object(ROW)}
BASE: Schema = _or_null(
    _object({"ref": _TEXT, "commit": {"type": "string", "pattern": "^([0-9a-f]{40}|[0-9a-f]{64})$"}})
)
