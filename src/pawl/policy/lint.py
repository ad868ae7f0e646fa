"""What is allowed in a policy and probably not meant: warnings, which never change an exit code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from types import MappingProxyType

from pawl.policy.rules import PolicySource, Rule
from pawl.policy.scanning import paths
from pawl.problems import Fault
from pawl.procedures.globs import glob_matches

_FIELDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "procedure": frozenset(
            {
                "kind",
                "name",
                "version",
                "summary",
                "owner",
                "labels",
                "requires",
                "changes",
                "extensions",
                "spec",
            }
        ),
        "actor": frozenset({"name", "email", "verified", "kind", "roles"}),
    }
)


def policy_warnings(source: PolicySource) -> tuple[Fault, ...]:
    """Return what is allowed and probably not meant: fields that no document has, and rules without a message."""
    found: list[Fault] = []
    for index, rule in enumerate(source.rules):
        if not rule.message:
            message = f"rule {rule.id} has no message: say what must hold, for the person who is refused"
            found.append(Fault(code="rule-message-missing", message=message, at=("rules", index), severity="warning"))
        for path in paths(rule.body) if rule.kind == "require" else ():
            known = _FIELDS.get(path.root)
            first = path.steps[0] if path.steps else None
            if known is not None and isinstance(first, str) and first not in known:
                message = f"rule {rule.id} looks at {path.root}.{first}, which no document has"
                hint = f"{path.root} has {', '.join(sorted(known))}"
                at = ("rules", index, rule.kind)
                found.append(Fault(code="rule-field-unknown", message=message, at=at, severity="warning", hint=hint))
    return tuple(found)


def unmatched_rules(
    rules: Iterable[Rule], procedures: Iterable[tuple[str, str]], channels: Iterable[str]
) -> tuple[Fault, ...]:
    """Return a warning for each part of a rule that fits nothing here, placed as in a source's document.

    ``procedures`` are pairs of kind and name. A rule about a kind of which there is none yet is only a note: kinds
    cannot be misspelt, globs and channels can.
    """
    known, places = tuple(procedures), frozenset(channels)
    found: list[Fault] = []
    for index, rule in enumerate(rules):
        found += (fault.under("rules", index, "applies") for fault in _unmatched(rule, known, places))
        waits_for = rule.body.get("channel") if rule.kind == "soak" and isinstance(rule.body, Mapping) else None
        if waits_for is not None and waits_for not in places:
            message = f"rule {rule.id} waits for time on {waits_for}, and there is no such channel here"
            at = ("rules", index, rule.kind, "channel")
            found.append(Fault(code="rule-unmatched", message=message, at=at, severity="warning"))
    return tuple(found)


def _unmatched(rule: Rule, procedures: tuple[tuple[str, str], ...], channels: frozenset[str]) -> Iterator[Fault]:
    applies = rule.applies
    kinds = " or ".join(applies.kinds) or "procedure"
    names = [name for kind, name in procedures if not applies.kinds or kind in applies.kinds]
    for index, glob in enumerate(applies.names):
        if not any(glob_matches(glob, name) for name in names):
            close = get_close_matches(glob.replace("*", ""), names, n=1)
            hint = f"did you mean {close[0]}?" if close else None
            yield _warning(rule, f"no {kinds} here matches {glob}", "names", index, hint=hint)
    if not names and applies.kinds and not applies.names:
        yield Fault(
            code="rule-unmatched",
            message=f"rule {rule.id} has nothing to look at yet: there is no {kinds} here",
            at=("kinds",),
            severity="note",
        )
    for index, channel in enumerate(applies.channels):
        if channel not in channels:
            hint = f"the channels are {', '.join(sorted(channels))}" if channels else None
            yield _warning(rule, f"there is no channel {channel} here", "channels", index, hint=hint)


def _warning(rule: Rule, what: str, *at: str | int, hint: str | None) -> Fault:
    message = f"rule {rule.id} applies to less than it says: {what}"
    return Fault(code="rule-unmatched", message=message, at=at, severity="warning", hint=hint)
