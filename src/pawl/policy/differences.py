"""What differs, as values: for each place that a false expression looked at, what is there and what is wanted.

The words for people are made in :mod:`pawl.policy.explain`; this is the same taken apart, for whoever marks the places
in a file. Best effort like it: what cannot be taken apart has no place, and nothing here changes an outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pawl.policy.explain import Absent, ask, label, listed, quoted, reach, shown, wrong_conditions
from pawl.policy.rules import Rule
from pawl.policy.scanning import Path, Quantifier, paths, quantifier
from pawl.policy.situation import Situation
from pawl.policy.verdict import Finding, Verdict
from pawl.problems import Place
from pawl.registry.closure import closure_of

MAX_DIFFERENCES = 12
_MAX_ITEMS = 60
_CALL = re.compile(r"(!?)\s*(has|size)\(\s*(.*?)\s*\)\s*(.*)\Z", re.DOTALL)
_REST = re.compile(r"\s*((?:==|!=|<=|>=|<|>|in\b).+|\.[A-Za-z]\w*\(.*)\Z", re.DOTALL)
OBJECTIONS = frozenset({"rule-failed", "rule-errored", "step-too-large", "withdrawn-refused"})
"""Codes of a rule's no that another content or another version can mend, whoever approves and however long it waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place that a rule looked at. ``wanted`` is known for simple comparisons only."""

    path: str
    """As the rule writes it, such as ``procedure.spec.budget.max_steps``."""
    found: str
    wanted: str | None = None
    at: Place | None = None
    """The place in the procedure's own document, if it is there that the rule looked."""

    def __str__(self) -> str:
        return f"{self.path} is {self.found}" + (f", and {self.wanted} is wanted" if self.wanted else "")

    def as_dict(self) -> dict[str, Any]:
        row = {"path": self.path, "found": self.found}
        return {**row, "wanted": self.wanted} if self.wanted else row


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection:
    """A rule that said no to one procedure, with the places that it looked at."""

    finding: Finding
    message: str
    """What the rule itself says."""
    differences: tuple[Difference, ...]

    def as_dict(self) -> dict[str, Any]:
        finding = self.finding
        fields = ("rule", "policy", "code", "subject", "differs")
        row = {name: value for name in fields if (value := getattr(finding, name)) is not None}
        return {**row, "message": self.message, "differences": [item.as_dict() for item in self.differences]}


def objections(situation: Situation, verdict: Verdict) -> tuple[Objection, ...]:
    """Return every rule that said no in ``verdict``, which was given on ``situation``."""
    rules = {rule.id: rule for rule in situation.rules}
    found = []
    for finding in verdict.failures:
        if finding.rule is not None:
            rule = rules.get(finding.rule)
            message = rule.message if rule is not None and rule.message else finding.message
            differs = _of_rule(rule, situation, finding) if rule is not None else ()
            found.append(Objection(finding=finding, message=message, differences=differs))
    return tuple(found)


def _of_rule(rule: Rule, situation: Situation, finding: Finding) -> tuple[Difference, ...]:
    name = (finding.subject or "").partition("@")[0]
    pin = next((pin for pin in situation.after.values() if pin.name == name), None)
    document = situation.documents.get(pin.digest) if pin is not None else None
    if pin is None or document is None:
        return ()
    if rule.kind == "bump" and isinstance(rule.body, Mapping):
        wanted = f"a {rule.body.get('largest')} step at most"
        return (Difference(path="procedure.version", found=pin.version, wanted=wanted, at=("version",)),)
    if rule.kind != "require" or not isinstance(rule.body, str):
        return ()
    present = situation.state.pins.get(pin.name)
    members = closure_of(pin.name, situation.after).members
    values = {
        "procedure": document,
        "closure": [situation.documents[member.digest] for member in members if member.digest in situation.documents],
        "channel": situation.state.channel,
        "action": situation.action,
        "actor": situation.acting,
        "current": situation.documents.get(present.digest) if present else None,
        "now": situation.now,
    }
    return differences(rule.body, values)


def differences(expression: str, values: Mapping[str, Any]) -> tuple[Difference, ...]:
    """Return what keeps a false ``expression`` from being true, place by place."""
    found: dict[tuple[str, str | None], Difference] = {}
    for condition, _ in wrong_conditions(expression, values):
        parsed = quantifier(condition)
        rows = _of_quantifier(parsed, values) if parsed is not None else None
        for row in rows or _of_condition(condition, values):
            found.setdefault((row.path, row.wanted), row)
    return tuple(found.values())[:MAX_DIFFERENCES]


def _of_condition(condition: str, values: Mapping[str, Any]) -> Iterator[Difference]:
    ways = paths(condition)
    for way in ways:
        value, _ = reach(way, values)
        sized = isinstance(value, str | list | Mapping) and condition.lstrip("! ").startswith("size(")
        size = f"of size {len(value)}" if sized and len(ways) == 1 else None
        yield _difference(way, size or _found(value), _wanted(condition, way))


def _difference(way: Path, found: str, wanted: str | None, *more: str | int) -> Difference:
    text = way.text + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in more)
    at = (*way.steps, *more) if way.root == "procedure" else None
    return Difference(path=text, found=found, wanted=wanted, at=at)


def _found(value: Any) -> str:
    return "absent" if isinstance(value, Absent) else shown(value)


def _wanted(condition: str, way: Path) -> str | None:
    """Return what a condition that is one simple comparison with ``way`` on its left wants of it."""
    text = " ".join(condition.split())
    call = _CALL.match(text)
    if call is not None and call[3] == way.text:
        if call[2] == "size":
            return f"size {call[4]}" if call[4] and not call[1] and _REST.match(call[4]) else None
        return None if call[4] else ("nothing" if call[1] else "a value")
    if text == way.text:
        return "true"
    if text in {f"!{way.text}", f"! {way.text}"}:
        return "false"
    rest = _REST.match(text[len(way.text) :]) if text.startswith(way.text) else None
    if rest is None or "||" in rest[1] or "?" in rest[1]:
        return None
    return rest[1].lstrip(".")[:_MAX_WANTED]


_MAX_WANTED = 160


def _of_quantifier(parsed: Quantifier, values: Mapping[str, Any]) -> list[Difference]:
    items, _ = reach(parsed.over, values)
    if not isinstance(items, list | tuple) or parsed.item in values:
        return []
    condition = quoted(parsed.condition)
    answers = [ask(parsed.condition, {**values, parsed.item: item}, item=parsed.item) for item in items[:_MAX_ITEMS]]
    if parsed.macro == "exists_one" or (parsed.macro == "all" and parsed.negated):
        return []
    if parsed.macro == "exists" and not parsed.negated:
        found = listed([label(index, item) for index, item in enumerate(items)]) or "empty"
        return [_difference(parsed.over, found, f"one that meets {condition}")]
    wrong = parsed.macro == "exists"
    word = "not to meet" if wrong else "to meet"
    return [
        _difference(parsed.over, label(index, items[index]), f"{word} {condition}", index)
        for index, answer in enumerate(answers)
        if (answer is True) == wrong
    ]
