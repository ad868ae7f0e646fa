"""Changes of tools: schemas, hints, effects, binding and text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from pawl.changes.document_rules import Report
from pawl.changes.every import unknown
from pawl.changes.schemas import compare_schemas
from pawl.changes.values import ABSENT, listed, same
from pawl.problems import Place
from pawl.procedures.call import DEFAULT_HINTS, effective_hints

_TEXTS = ("title", "description", "icons")
_SAFER: Mapping[str, bool] = {
    "readOnlyHint": True,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}
"""Of every hint, the value that claims less risk."""
_ONLY_IF_WRITING = ("destructiveHint", "idempotentHint")
_KNOWN = frozenset({"name", "inputSchema", "outputSchema", "annotations", "effects", "binding", *_TEXTS})
_KNOWN_HINTS = frozenset({"title", *DEFAULT_HINTS})
_AT: Place = ("spec",)


def compare_tools(report: Report, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Report changes between the specs of two tools."""
    at = (*_AT, "inputSchema")
    report.found += compare_schemas(old.get("inputSchema"), new.get("inputSchema"), side="input", at=at, headers=True)
    _output(report, old.get("outputSchema"), new.get("outputSchema"))
    _texts(report, old, new)
    _hints(report, old.get("annotations") or {}, new.get("annotations") or {})
    _effects(report, old.get("effects"), new.get("effects"))
    _binding(report, old.get("binding"), new.get("binding"))
    unknown(report, old, new, _KNOWN, _AT)


def _output(report: Report, old: Any, new: Any) -> None:
    at = (*_AT, "outputSchema")
    if old is None and new is not None:
        report.add("output-schema-added", at, new=new)
    elif old is not None and new is None:
        report.add("output-schema-removed", at, old=old)
    elif old is not None:
        report.found += compare_schemas(old, new, side="output", at=at)


def _texts(report: Report, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    for name in _TEXTS:
        left, right = old.get(name, ABSENT), new.get(name, ABSENT)
        if not same(left, right):
            report.add("tool-text", (*_AT, name), name=name, old=left, new=right)
    left, right = old.get("name", ABSENT), new.get("name", ABSENT)
    if not same(left, right):
        report.add("meta-changed:outside-name", (*_AT, "name"), old=left, new=right)


def _hints(report: Report, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    at = (*_AT, "annotations")
    left, right = old.get("title", ABSENT), new.get("title", ABSENT)
    if not same(left, right):
        report.add("tool-text", (*at, "title"), name="title", old=left, new=right)
    was, now = effective_hints(old), effective_hints(new)
    both_read = was["readOnlyHint"] and now["readOnlyHint"]
    for name in DEFAULT_HINTS:
        left, right = old.get(name, ABSENT), new.get(name, ABSENT)
        if same(left, right):
            continue
        before, after = was[name], now[name]
        if before == after or (name in _ONLY_IF_WRITING and both_read):
            report.add("hint-explicit", (*at, name), name=name, old=left, new=right)
        else:
            way = "claims-safer" if after == _SAFER[name] else "riskier"
            report.add(f"hint-changed:{way}", (*at, name), name=name, old=before, new=after)
    unknown(report, old, new, _KNOWN_HINTS, at)


def _effects(report: Report, old: Any, new: Any) -> None:
    at = (*_AT, "effects")
    if old is None and new is None:
        return
    if new is None:
        report.add("effects-added:unknown", at, old=old)
        return
    if old is None:
        report.add("effects-removed:known", at, new=new, name=listed(new) or "nothing")
        return
    added = [effect for effect in dict.fromkeys(new) if effect not in old]
    removed = [effect for effect in dict.fromkeys(old) if effect not in new]
    if added:
        report.add("effects-added", at, old=old, new=new, name=", ".join(added))
    if removed:
        report.add("effects-removed", at, old=old, new=new, name=", ".join(removed))


def _binding(report: Report, old: Any, new: Any) -> None:
    at = (*_AT, "binding")
    if same(old, new):
        return
    if not old or not new:
        report.add("binding-removed" if old else "binding-added", at, old=old or ABSENT, new=new or ABSENT)
        return
    moved = old.keys() != new.keys() or any(_place_of(key, old[key]) != _place_of(key, new[key]) for key in old)
    report.add("binding-moved" if moved else "binding-target", at, old=old, new=new)


def _place_of(kind: str, binding: Any) -> Any:
    """Return where an implementation is reached: a command, a host, or the workspace's own Python."""
    if kind == "mcp":
        return binding.get("command")
    if kind == "http":
        parts = urlsplit(binding.get("url", ""))
        return parts.scheme, parts.netloc
    return "python" if kind == "python" else binding
