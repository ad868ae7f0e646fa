"""Changes of prompts: inputs, output, messages, template, model and budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from pawl.changes.document_rules import Report
from pawl.changes.every import unknown
from pawl.changes.schemas import compare_schemas
from pawl.changes.values import ABSENT, same
from pawl.problems import Place
from pawl.procedures.schema import closed
from pawl.procedures.template import check_template, used_inputs

FREE_TEXT: Mapping[str, Any] = {"type": "string"}
"""What a prompt without ``output`` answers."""
_KNOWN = frozenset({"inputs", "output", "messages", "template", "model", "budget"})
_AT: Place = ("spec",)
_UNGUARDED = "prompt-input-unguarded"


def compare_prompts(report: Report, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Report changes between the specs of two prompts."""
    inputs = (closed(old.get("inputs") or {}), closed(new.get("inputs") or {}))
    report.found += compare_schemas(*inputs, side="input", at=(*_AT, "inputs"))
    _output(report, old.get("output"), new.get("output"))
    _messages(report, old.get("messages") or (), new.get("messages") or ())
    _template(report, old, new)
    _unguarded(report, old, new)
    _model(report, old.get("model", ABSENT), new.get("model", ABSENT))
    _budget(report, old, new)
    unknown(report, old, new, _KNOWN, _AT)


def _output(report: Report, old: Any, new: Any) -> None:
    at = (*_AT, "output")
    if old is None and new is None:
        return
    left, right = (FREE_TEXT if schema is None else schema for schema in (old, new))
    found = compare_schemas(left, right, side="output", at=at)
    report.found += found
    if any(change.level in ("major", "minor") for change in found):
        return
    if old is None:
        report.add("output-schema-added", at, new=new)
    elif new is None:
        report.add("output-schema-removed:text", at, old=old)


def _messages(report: Report, old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> None:
    at = (*_AT, "messages")
    roles = [[message["role"] for message in messages] for messages in (old, new)]
    for index, message in enumerate(new):
        if message["role"] not in roles[0] and message["role"] not in roles[1][:index]:
            report.add("role-added", (*at, index, "role"), name=message["role"], new=message["role"])
    known = [role for role in roles[1] if role in roles[0]]
    if known != roles[0]:
        report.add("messages-changed", at, old=roles[0], new=roles[1])
    matcher = SequenceMatcher(a=roles[0], b=roles[1], autojunk=False)
    for block in matcher.get_matching_blocks():
        for offset in range(block.size):
            left, right = old[block.a + offset]["content"], new[block.b + offset]["content"]
            if not same(left, right):
                path = (*at, block.b + offset, "content")
                report.add("message-text", path, old=left, new=right)


def _template(report: Report, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    left, right = old.get("template", "simple"), new.get("template", "simple")
    if left == right:
        return
    stricter = right == "jinja2" and not _prints_only_guaranteed(new)
    key = "template-changed:stricter" if stricter else "template-changed"
    report.add(key, (*_AT, "template"), old=left, new=right)


def _prints_only_guaranteed(spec: Mapping[str, Any]) -> bool:
    """Whether a jinja2 template does nothing but print inputs that always have a value."""
    declared, guaranteed = names_of(spec)
    for message in spec.get("messages") or ():
        text = message["content"]
        faults = check_template(text, kind="jinja2", declared=declared, guaranteed=guaranteed, at=())
        if faults or "{%" in text or not used_inputs(text, "jinja2", declared) <= guaranteed:
            return False
    return True


def names_of(spec: Mapping[str, Any]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the declared inputs, and those that always have a value."""
    inputs = spec.get("inputs") or {}
    properties = inputs.get("properties") or {}
    with_default = {name for name, item in properties.items() if isinstance(item, Mapping) and "default" in item}
    return frozenset(properties), frozenset(inputs.get("required") or ()) | with_default


def _unguarded(report: Report, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    before = set().union(*_unguarded_names(old).values())
    for index, names in _unguarded_names(new).items():
        for name in sorted(names - before):
            report.add("input-unguarded", (*_AT, "messages", index, "content"), name=name)
        before |= names


def _unguarded_names(spec: Mapping[str, Any]) -> dict[int, set[str]]:
    """Return message -> the optional inputs that it prints where they may have no value."""
    declared, guaranteed = names_of(spec)
    kind = spec.get("template", "simple")
    found: dict[int, set[str]] = {}
    for index, message in enumerate(spec.get("messages") or ()):
        text = message["content"]
        codes = {
            fault.code for fault in check_template(text, kind=kind, declared=declared, guaranteed=guaranteed, at=())
        }
        if _UNGUARDED not in codes:
            continue
        for name in sorted(used_inputs(text, kind, declared) - guaranteed):
            faults = check_template(text, kind=kind, declared=declared, guaranteed=declared - {name}, at=())
            if any(fault.code == _UNGUARDED for fault in faults):
                found.setdefault(index, set()).add(name)
    return found


def _model(report: Report, old: Any, new: Any) -> None:
    at = (*_AT, "model")
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        if not same(old, new):
            report.add("model-changed", at, name="model", old=old, new=new)
        return
    for name in dict.fromkeys((*old, *new)):
        left, right = old.get(name, ABSENT), new.get(name, ABSENT)
        if not same(left, right):
            report.add("model-changed", (*at, name), name=name, old=left, new=right)


def _budget(report: Report, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    left, right = ((spec.get("budget") or {}).get("tokens") for spec in (old, new))
    if left == right:
        return
    at = (*_AT, "budget", "tokens")
    before, after = (ABSENT if limit is None else limit for limit in (left, right))
    if right is None or (left is not None and right > left):
        report.add("budget-raised", at, old=before, new=after)
        return
    takes_any = bool(names_of(old)[0]) or closed(old.get("inputs") or {}).get("additionalProperties") is not False
    report.add("budget-lowered" if takes_any else "budget-lowered:no-inputs", at, old=before, new=after)
