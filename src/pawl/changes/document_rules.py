"""The table of rules for everything but schemas: what a procedure's document says beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pawl.changes.rules import affects
from pawl.changes.values import ABSENT, Change, Level, shown
from pawl.problems import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRule:
    """One row; ``reason`` has {name}, {old} and {new}."""

    level: Level
    reason: str
    flags: tuple[str, ...] = ()


def _rule(level: Level, reason: str, *flags: str) -> DocumentRule:
    return DocumentRule(level=level, reason=reason, flags=flags)


DOCUMENT_RULES: Mapping[str, DocumentRule] = {
    "hint-explicit": _rule("patch", "{name} is written out as {new}, which it was already"),
    "hint-changed:riskier": _rule("minor", "riskier: {name} goes from {old} to {new}", "safety"),
    "hint-changed:claims-safer": _rule("minor", "claims-safer: {name} goes from {old} to {new}", "safety"),
    "effects-added": _rule("major", "it may now touch {name}, which the old version promised not to", "safety"),
    "effects-added:unknown": _rule("major", "what it touches is no longer promised: any effect is possible", "safety"),
    "effects-removed": _rule("minor", "it no longer touches {name}"),
    "effects-removed:known": _rule("minor", "what it touches is now promised: {name}"),
    "binding-added": _rule("minor", "pawl can now make the call itself"),
    "binding-removed": _rule("major", "pawl can no longer make the call itself"),
    "binding-target": _rule("patch", "another function or tool serves the call, at the same place", "behaviour"),
    "binding-moved": _rule("patch", "the call is served from another place", "safety", "behaviour"),
    "tool-text": _rule("patch", "a model or a person reads another {name}", "text"),
    "output-schema-added": _rule(
        "minor", "answers are now promised to follow a schema; clients begin to validate them"
    ),
    "output-schema-removed": _rule("major", "answers are no longer promised to follow a schema"),
    "output-schema-removed:text": _rule("minor", "answers are free text, as they were"),
    "kind-changed": _rule("major", "{old} and {new} are not comparable: nothing that was promised still holds"),
    "meta-changed": _rule("patch", "{name} is other text"),
    "meta-changed:safety": _rule("patch", "policy reads {name}", "safety"),
    "meta-changed:outside-name": _rule("major", "it is known elsewhere under another name: who calls {old} fails"),
    "requires-added": _rule("minor", "callers now get {name} with it"),
    "requires-removed": _rule("minor", "callers no longer get {name} with it"),
    "requires-widened": _rule("minor", "more versions of {name} fit: {new} in place of {old}"),
    "requires-narrowed": _rule("minor", "fewer versions of {name} fit: {new} in place of {old}"),
    "requires-moved": _rule("minor", "no version of {name} fits both {old} and {new}", "behaviour"),
    "undecided": _rule("major", "{name} differs and this version of pawl does not know what it means", "undecided"),
    "message-text": _rule("patch", "a model reads another text", "text"),
    "messages-changed": _rule("minor", "messages were added, removed or reordered, or their roles changed", "text"),
    "role-added": _rule("major", "messages of the role {name} are new: a caller may be unable to send them"),
    "input-unguarded": _rule("major", "{name} is printed and may have no value: calls without it fail"),
    "template-changed": _rule("minor", "the template is read as {new} in place of {old}"),
    "template-changed:stricter": _rule(
        "major", "the template is a {new} program that can fail for calls that were served"
    ),
    "model-changed": _rule("minor", "callers are handed other values for {name}", "behaviour"),
    "budget-raised": _rule("minor", "the budget goes from {old} to {new}"),
    "budget-raised:workflow": _rule(
        "minor", "walks may take more steps: the budget goes from {old} to {new}", "safety"
    ),
    "budget-lowered": _rule("major", "the budget goes from {old} to {new}: legal inputs may be refused"),
    "budget-lowered:no-inputs": _rule("patch", "the budget goes from {old} to {new}, and there is only one text"),
    "budget-lowered:walk": _rule("major", "the budget goes from {old} to {new}: walks can be cut off"),
    "budget-lowered:fits": _rule("minor", "the budget goes from {old} to {new}, and the longest walk still fits"),
    "outcome-added": _rule("major", "it can now end with {name}, which callers do not know"),
    "outcome-removed": _rule("minor", "it no longer ends with {name}"),
    "step-added": _rule("minor", "the step {name} is new and touches nothing new"),
    "step-added:wider": _rule("major", "the step {name} is new and may touch what nothing touched before", "safety"),
    "step-removed": _rule("major", "the step {name} is gone: suites, evidence and open runs name it"),
    "step-target": _rule("major", "the step {name} now runs {new} in place of {old}"),
    "guard-lost": _rule("major", "{new} was reached only through {name} and can now be reached around it", "safety"),
    "branch-changed": _rule("minor", "what follows {name} is decided in another way", "behaviour"),
    "step-arguments": _rule("minor", "{name} is given or gives other values", "behaviour"),
}


@dataclass(slots=True)
class Report:
    """Collects changes of a document."""

    found: list[Change] = field(default_factory=list)

    def add(self, key: str, path: Place, *, name: str = "", old: Any = ABSENT, new: Any = ABSENT) -> None:
        """Report a change by its rule."""
        rule = DOCUMENT_RULES[key]
        broken = ("callers",) if rule.level == "major" else ()
        reason = rule.reason.format(name=name, old=_plain(old), new=_plain(new))
        change = Change(
            code=key.partition(":")[0],
            path=path,
            old=old,
            new=new,
            level=rule.level,
            flags=rule.flags,
            breaks=broken,
            affects=affects(rule.flags, broken, rule.level),
            proof="undecided" if "undecided" in rule.flags else "rule",
            reason=reason,
        )
        self.found.append(change)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) and len(value) <= 80 else shown(value)
