"""JSON Schemas of what commands print with ``-o json``: what all have in common, and what each adds.

A report that ends in an error before anything was decided has the common fields only; so the fields of a command are
required where its status says that it came to an answer. The schemas are open, so that later versions can say more;
the tests see to it that no field of today is missing in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from pawl.conformance.outcomes import OUTCOMES
from pawl.operations.reviewing.diff_schema import BASE, LEVEL, PROCEDURES, ROW
from pawl.procedures.models import DIALECT

Fields = Mapping[str, Mapping[str, Any]]

_TEXT = {"type": "string"}
_WHOLE = {"type": "integer", "minimum": 0}
_FLAG = {"type": "boolean"}
_TEXTS = {"type": "array", "items": _TEXT}
_OBJECT = {"type": "object"}
_OBJECTS = {"type": "array", "items": _OBJECT}
_DIGEST = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
_VERSION = {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+((a|b|rc)[0-9]+)?$"}
_TIME = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"}


def _or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


PROBLEM: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "code": {**_TEXT, "description": "Stable; docs/problems.md explains each."},
        "severity": {"enum": ["error", "warning", "note"]},
        "message": _TEXT,
        "path": _TEXT,
        "line": {"type": "integer", "minimum": 1},
        "column": {"type": "integer", "minimum": 1},
        "rule": _TEXT,
        "hint": _TEXT,
    },
    "required": ["code", "severity", "message"],
    "additionalProperties": False,
}
_STATUS = ("done", "unchanged", "would", "would-refuse", "refused", "passed", "failed")
_WRITTEN: Fields = {"serial": _or_null(_WHOLE), "files": _TEXTS, "commit": _or_null(_TEXT)}
_MOVE = {
    "type": "object",
    "properties": {
        "name": _TEXT,
        "from": _or_null(_VERSION),
        "to": _or_null(_VERSION),
        "from_digest": _or_null(_DIGEST),
        "to_digest": _or_null(_DIGEST),
    },
    "required": ["name", "from", "to", "from_digest", "to_digest"],
}
_VERDICT = {
    "type": "object",
    "properties": {
        "action": _TEXT,
        "channel": _TEXT,
        "policy": _or_null(_WHOLE),
        "allowed": _FLAG,
        "findings": _OBJECTS,
    },
    "required": ["action", "channel", "policy", "allowed", "findings"],
}
_RELEASE: Fields = {
    "action": _TEXT,
    "channel": _TEXT,
    "policy": _or_null(_WHOLE),
    "dry_run": _FLAG,
    "moves": {"type": "array", "items": _MOVE},
}
_TALLY = {
    "type": "object",
    "properties": dict.fromkeys((*OUTCOMES, "total"), _WHOLE),
    "required": [*OUTCOMES, "total"],
    "additionalProperties": False,
}
_SUITES: Fields = {"suites": _OBJECTS, "tally": _TALLY}
_SERVED: Fields = {
    "name": _TEXT,
    "kind": _TEXT,
    "version": _VERSION,
    "digest": _DIGEST,
}
_ON_CHANNEL: Fields = {"channel": _TEXT, "serial": _WHOLE}
_RUN: Fields = {
    "run_id": _TEXT,
    "agent": _TEXT,
    "session": _or_null(_TEXT),
    "channel": _TEXT,
    "serial": _WHOLE,
    "snapshot": _TEXT,
    "policy": _or_null(_WHOLE),
    "started_at": _TIME,
    "ended_at": _or_null(_TIME),
    "outcome": _or_null(_TEXT),
    "finished": _FLAG,
}
_IDENTITY = {
    "type": "object",
    "properties": {
        "name": _TEXT,
        "email": _or_null(_TEXT),
        "kind": {"enum": ["human", "agent", "service", "unknown"]},
        "verified": _FLAG,
    },
    "required": ["name", "email", "kind", "verified"],
}
_PROSPECT = {
    "type": "object",
    "properties": {
        "channel": _TEXT,
        "policy": _or_null(_WHOLE),
        "verdict": {"enum": ["allowed", "refused", "nothing"]},
        "exit_code": _WHOLE,
        "refs": _TEXTS,
        "findings": _OBJECTS,
        "needs": _TEXTS,
    },
    "required": ["channel", "policy", "verdict", "exit_code", "refs", "findings", "needs"],
}
_MARK = {
    "type": "object",
    "properties": {
        "rule": _TEXT,
        "policy": _WHOLE,
        "channels": _TEXTS,
        "line": _or_null({"type": "integer", "minimum": 1}),
        "message": _TEXT,
        "differs": _TEXT,
    },
    "required": ["rule", "policy", "channels", "line", "message", "differs"],
}
_PUSHED: Fields = {
    "pushed": _or_null(
        {
            "type": "object",
            "properties": {
                "remote": _TEXT,
                "branch": _TEXT,
                "commit": _TEXT,
                "tries": {"type": "integer", "minimum": 1},
            },
            "required": ["remote", "branch", "commit", "tries"],
        }
    )
}
"""What every command says that was asked to push; null where there was nothing to push."""
_PUBLISHED: Fields = {"published": _OBJECTS}
_FILES: Fields = {"files": _TEXTS}
_INTERVENTION: Fields = {"channel": _TEXT}

ANSWERS: Mapping[str, Fields] = MappingProxyType(
    {
        "init": {"root": _TEXT, **_FILES},
        "new": _FILES,
        "check": {
            "folder": _TEXT,
            "files": _WHOLE,
            "read": _WHOLE,
            "unread": _WHOLE,
            "procedures": _WHOLE,
            "base": BASE,
            "scope": {"enum": ["all", "changed"]},
            "tested": _TEXTS,
            "new_versions": _TEXTS,
            "changes": _OBJECTS,
            "ignored": _OBJECTS,
            "channels": {"type": "array", "items": _PROSPECT},
            **_SUITES,
        },
        "check explain": {"explanation": _OBJECT},
        "test": _SUITES,
        "diff": {"base": BASE, "required": LEVEL},
        "bump": {"name": _TEXT, "from": _VERSION, "to": _VERSION, "base": _or_null(_VERSION), "path": _TEXT},
        "fix-forward": {
            "name": _TEXT,
            "from": _VERSION,
            "to": _VERSION,
            "path": _TEXT,
            "marks": {"type": "array", "items": _MARK},
            "next": _TEXTS,
        },
        "publish": _PUBLISHED,
        "import mcp": {"found": _WHOLE, "new": _WHOLE, "changed": _WHOLE, "same": _WHOLE, "refused": _WHOLE},
        "promote": _RELEASE,
        "rollback": _RELEASE,
        "remove": _RELEASE,
        "targets": {"name": _TEXT, **_ON_CHANNEL, "pinned": _or_null(_VERSION), "targets": _OBJECTS},
        "why": {
            "name": _TEXT,
            "version": _VERSION,
            "digest": _DIGEST,
            "channel": _TEXT,
            "action": {"enum": ["promote", "rollback"]},
            "serial": _WHOLE,
            "policy": _or_null(_WHOLE),
            "pinned": _or_null(_VERSION),
            "closure": _OBJECTS,
            "verdict": _VERDICT,
            "tree": _OBJECTS,
            "evidence": _OBJECTS,
        },
        "drill": {
            "channel": _TEXT,
            "policy": _or_null(_WHOLE),
            "last": _WHOLE,
            "pins": _OBJECTS,
            "dry_run": _FLAG,
            "suites_run": _WHOLE,
            "ways_back": _OBJECT,
        },
        "audit": {"channels": _OBJECTS, "require_way_back": _or_null(_WHOLE)},
        "halt": _INTERVENTION,
        "resume": _INTERVENTION,
        "reject": _INTERVENTION,
        "unreject": _INTERVENTION,
        "approve": _INTERVENTION,
        "waive": _INTERVENTION,
        "freeze": _INTERVENTION,
        "unfreeze": _INTERVENTION,
        "deprecate": {"ref": _TEXT},
        "yank": {"ref": _TEXT},
        "revoke": {"ref": _TEXT},
        "restore": {"ref": _TEXT},
        "policy show": {"policy": _WHOLE, "in_force": _FLAG, "channels": _OBJECT, "rules": _OBJECTS},
        "policy test": {"rules": _WHOLE, "tests": _OBJECTS},
        "policy plan": {
            "policy": _or_null(_WHOLE),
            "next": _WHOLE,
            "rules_added": _TEXTS,
            "rules_removed": _TEXTS,
            "rules_changed": _TEXTS,
            "rules_changed_fields": _OBJECTS,
            "at": _TIME,
            "loosened": _OBJECTS,
            "channels_changed": _FLAG,
            "people_changed": _FLAG,
            "signers": _OBJECTS,
            "people": _OBJECTS,
            "channels": _OBJECTS,
            "changes": _OBJECTS,
            "no_way_back": _OBJECTS,
            "approvals": _OBJECTS,
            "waivers": _OBJECTS,
            "must_act": _OBJECTS,
        },
        "policy adopt": {"policy": _WHOLE},
        "status": {"policy": _or_null(_WHOLE), "registry_serial": _WHOLE, "published": _WHOLE, "channels": _OBJECTS},
        "list": {"procedures": _OBJECTS},
        "show": {"name": _TEXT},
        "history": {"channel": _TEXT, "records": _OBJECTS},
        "verify": {"versions": _WHOLE, "records": _WHOLE, "statements": _WHOLE},
        "snapshot": {**_ON_CHANNEL, "digest": _DIGEST, "procedures": _WHOLE, "withheld": _OBJECT},
        "resolve": {**_SERVED, **_ON_CHANNEL, "policy": _or_null(_WHOLE), "stale": _FLAG},
        "render": {**_SERVED, "messages": _OBJECTS, "tokens": _OBJECT},
        "run start": {"run_id": _TEXT, **_ON_CHANNEL, "snapshot": _TEXT, "pins": _OBJECT},
        "run use": {"run_id": _TEXT, "seq": _WHOLE, **_SERVED, **_ON_CHANNEL, "stale": _FLAG},
        "run end": _RUN,
        "runs list": {"runs": _OBJECTS},
        "runs show": {**_RUN, "pins": _OBJECT, "uses": _OBJECTS},
        "runs affected": {"ref": _TEXT, "used": _OBJECTS, "pinned_only": _OBJECTS},
    }
)
"""Command -> the fields of its answer. ``demo`` and ``schema`` print for people and editors, not with -o json."""

_RELEASED: Fields = {"verdict": _VERDICT, "remedies": _OBJECTS, "plan": _TEXTS, **_WRITTEN}
_WITHDRAWN: Fields = {"level": _or_null(_TEXT), **_WRITTEN}
_TAKEN_BACK: Fields = {**_WITHDRAWN, "pinned_on": _TEXTS}
_INTERVENED: Fields = {"action": _TEXT, **_WRITTEN}
_GRANTED: Fields = {**_INTERVENED, "by": _IDENTITY, "signed": _FLAG, "dry_run": _FLAG}
_DONE: Mapping[str, Fields] = MappingProxyType(
    {
        **dict.fromkeys(("promote", "rollback", "remove"), _RELEASED),
        **dict.fromkeys(("halt", "resume", "reject", "unreject"), _INTERVENED),
        **dict.fromkeys(("deprecate", "yank", "revoke"), _TAKEN_BACK),
        **dict.fromkeys(("approve", "waive", "freeze", "unfreeze"), _GRANTED),
        "restore": _WITHDRAWN,
        "publish": {"plan": _TEXTS, "dry_run": _FLAG, **_WRITTEN},
        "drill": {"plan": _TEXTS, **_WRITTEN},
        "policy adopt": {
            "rules": _TEXTS,
            "rules_changed_fields": _OBJECTS,
            "signers": _OBJECTS,
            "people": _OBJECTS,
            "channel_changes": _OBJECTS,
            "channels": _OBJECT,
            "breaking": _OBJECTS,
            **_WRITTEN,
        },
    }
)
"""What an answer says too where something was done, or would be."""

_MAYBE: Mapping[str, Fields] = MappingProxyType(
    {
        "import mcp": {"tools": _OBJECTS},
        "diff": {**ROW, "procedures": PROCEDURES},
        "fix-forward": {"kept": _TEXT},
        "resolve": {"remedies": _OBJECTS, "verdict": _VERDICT},
        "halt": {"name": _TEXT, "version": _or_null(_VERSION)},
        "resume": {"name": _TEXT},
        "reject": {"rejects": _OBJECTS},
        "unreject": {"ref": _TEXT, "unrejects": _TEXTS},
        "approve": {"policy": _WHOLE, "until": _TIME, "approvals": _OBJECTS, "waivers": _OBJECTS},
        "waive": {"waiver": _OBJECT, "counts": _FLAG},
        "freeze": {"freeze": _OBJECT},
        "unfreeze": {"freezes": {"type": "array", "items": _WHOLE}},
        "policy show": {"adopted": _OBJECT, "people": _OBJECT, "signers": _or_null(_TEXT)},
        "show": {
            "versions": _OBJECTS,
            **_SERVED,
            "file": _DIGEST,
            "serial": _WHOLE,
            "published": _TIME,
            "withdrawn": _or_null(_OBJECT),
            "pinned_on": _TEXTS,
            "document": _OBJECT,
        },
        "history": {"at": _TIME, "pins": _OBJECT, "serial": _WHOLE, "policy": _or_null(_WHOLE)},
        "targets": {"policy": _or_null(_WHOLE)},
        "snapshot": {
            "policy": _or_null(_WHOLE),
            "expires": _or_null(_TIME),
            "out": _TEXT,
            "snapshot": _OBJECT,
        },
        "render": {**_ON_CHANNEL, "policy": _or_null(_WHOLE), "stale": _FLAG},
        "run use": {"document": _OBJECT},
    }
)
"""What an answer says too, depending on what was asked."""


def output_schema(command: str) -> dict[str, Any]:
    """Return the schema of one command's JSON."""
    fields, done = ANSWERS[command], _DONE.get(command, {})
    common: dict[str, Any] = {
        "command": {"const": command},
        "status": {"enum": list(_STATUS)},
        "exit_code": _WHOLE,
        "problems": {"type": "array", "items": PROBLEM},
    }
    answered: dict[str, Any] = {"properties": {"exit_code": {"const": 0}}}
    judged = {"properties": {"exit_code": {"const": 0}, "status": {"enum": ["done", "would"]}}}
    return {
        "$schema": DIALECT,
        "title": f"pawl {command} -o json",
        "type": "object",
        "properties": {**common, **fields, **done, **_MAYBE.get(command, {}), **(_PUSHED if done else {})},
        "required": list(common),
        "allOf": [
            {"if": answered, "then": {"required": list(fields)}},
            {"if": judged, "then": {"required": list(done)}},
        ],
    }


def _of(command: str) -> Callable[[], dict[str, Any]]:
    return lambda: output_schema(command)


OUTPUT_SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = MappingProxyType(
    {f"output/{command.replace(' ', '-')}": _of(command) for command in ANSWERS}
)
