"""Which fields of a rule changed, and which of these changes let more through than before, by what each demands.

What can be compared is compared: counts, roles, lengths of time, lists. What cannot (an expression, the time of a
freeze, another kind of demand) is named whenever it changes, so that a looser demand never passes for an equal one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from pawl.policy.durations import duration_words, parse_duration
from pawl.policy.kinds.approvals import read_approvals
from pawl.policy.kinds.bump import STEPS, read_bump
from pawl.policy.kinds.evidence import read_evidence
from pawl.policy.kinds.freeze import read_freeze
from pawl.policy.kinds.soak import read_soak
from pawl.policy.kinds.withdrawn import read_withdrawn
from pawl.policy.rules import DEFAULT_TERMS, Applies, Rule, moment_text

_PARTS = ("kinds", "names", "channels", "actions")


def changed_fields(old: Rule, new: Rule) -> tuple[dict[str, Any], ...]:
    """Return each field that differs with ``old`` and ``new``, without the message; ``None`` is a field left out."""
    before, after = dict(_fields(old)), dict(_fields(new))
    return tuple(
        {"field": name, "old": before.get(name), "new": after.get(name)}
        for name in dict.fromkeys((*before, *after))
        if before.get(name) != after.get(name)
    )


def softened(old: Rule, new: Rule) -> Iterator[str]:
    """Yield how ``new`` lets more through than ``old`` by what it demands, where it applies and how it is waived."""
    yield from _applies(old.applies, new.applies)
    if old.kind != new.kind:
        yield f"it demanded {old.kind} and would demand {new.kind}, which cannot be compared"
    elif old.body != new.body:
        compare = _BODIES.get(old.kind, _unlike)
        yield from compare(old.body, new.body)
    if old.level == new.level == "waivable":
        yield from _waiver(old, new)


def _fields(rule: Rule) -> Iterator[tuple[str, Any]]:
    yield from (("policy", rule.policy), ("owner", rule.owner), ("class", rule.rule_class), ("level", rule.level))
    for part in _PARTS:
        yield f"applies.{part}", list(getattr(rule.applies, part))
    yield "applies.labels", dict(rule.applies.labels)
    if isinstance(rule.body, Mapping):
        for key, value in rule.body.items():
            yield f"{rule.kind}.{key}", value
    else:
        yield rule.kind, rule.body
    yield "effective_on", moment_text(rule.effective_on) if rule.effective_on else None
    yield "enforce_live", rule.enforce_live
    if rule.waiver is not None:
        for key, value in asdict(rule.waiver).items():
            yield f"waiver.{key}", list(value) if isinstance(value, tuple) else value


def _applies(old: Applies, new: Applies) -> Iterator[str]:
    for part in _PARTS:
        before, after = getattr(old, part), getattr(new, part)
        if after and (not before or set(before) - set(after)):
            yield f"it would apply to {part} {', '.join(after)} only, and did to {', '.join(before) or 'all'}"
    if set(new.labels) - set(old.labels):
        yield f"it would apply to labels {_labels(new)} only, and did to {_labels(old) or 'all'}"


def _labels(applies: Applies) -> str:
    return ", ".join(f"{key}: {value}" for key, value in applies.labels)


def _unlike(_old: Any, _new: Any) -> Iterator[str]:
    yield "what it demands would be another, which cannot be compared"


def _require(old: Any, new: Any) -> Iterator[str]:
    yield f"its require would be another, which cannot be compared: {old} -> {new}"


def _approvals(old: Any, new: Any) -> Iterator[str]:
    before, after = read_approvals(old)[0], read_approvals(new)[0]
    if before is None or after is None:
        yield from _unlike(old, new)
        return
    if after.count < before.count:
        yield f"it needed {before.count} approvals and would need {after.count}"
    yield from _wider("approvals of roles", before.roles, after.roles)
    yield from _wider("approvals of kinds", before.kinds, after.kinds)
    if before.verified and not after.verified:
        yield "no signature would have to vouch for an approval"
    if after.any_policy and not before.any_policy:
        yield "approvals of older policies would count"
    yield from _longer("an approval", before.max_age, after.max_age)


def _evidence(old: Any, new: Any) -> Iterator[str]:
    before, after = read_evidence(old)[0], read_evidence(new)[0]
    yield from _longer("a result", before.max_age if before else None, after.max_age if after else None)


def _soak(old: Any, new: Any) -> Iterator[str]:
    before, after = read_soak(old)[0], read_soak(new)[0]
    if before is None or after is None:
        yield from _unlike(old, new)
        return
    if after.channel != before.channel:
        yield f"it would soak on {after.channel} and not on {before.channel}"
    if after.at_least < before.at_least:
        yield f"it soaked for {duration_words(before.at_least)} and would for {duration_words(after.at_least)}"


def _bump(old: Any, new: Any) -> Iterator[str]:
    before, after = read_bump(old)[0], read_bump(new)[0]
    if before is None or after is None:
        yield from _unlike(old, new)
    elif STEPS.index(after) > STEPS.index(before):
        yield f"the largest step was {before} and would be {after}"


def _withdrawn(old: Any, new: Any) -> Iterator[str]:
    if gone := set(read_withdrawn(old)[0]) - set(read_withdrawn(new)[0]):
        yield f"it would no longer refuse what is {' or '.join(sorted(gone))}"


def _freeze(old: Any, new: Any) -> Iterator[str]:
    before, after = read_freeze(old)[0], read_freeze(new)[0]
    if before is None or after is None:
        yield from _unlike(old, new)
        return
    if after.duration.exact < before.duration.exact:
        now, then = duration_words(before.duration.exact), duration_words(after.duration.exact)
        yield f"it froze for {now} and would for {then}"
    if gone := set(before.actions) - set(after.actions):
        yield f"it would no longer freeze {' and '.join(sorted(gone))}"
    if any(old.get(key) != new.get(key) for key in ("start", "time_zone", "recurrence")):
        yield "it would freeze at other times, which cannot be compared"
    if after.spares != before.spares:
        yield "it would spare others, which cannot be compared"


def _waiver(old: Rule, new: Rule) -> Iterator[str]:
    before, after = old.waiver or DEFAULT_TERMS, new.waiver or DEFAULT_TERMS
    yield from _longer("a waiver", _length(before.at_most), _length(after.at_most))
    yield from _wider("waivers approved by roles", before.roles, after.roles)
    if before.verified and not after.verified:
        yield "no signature would have to vouch for who approves a waiver"
    if after.break_glass and not before.break_glass:
        yield f"a waiver would count before anybody approved it, for {after.break_glass}"
    elif after.break_glass and before.break_glass:
        yield from _longer("a waiver that nobody approved", _length(before.break_glass), _length(after.break_glass))


def _length(text: str) -> timedelta:
    return parse_duration(text).exact


def _wider(what: str, old: Iterable[str], new: Iterable[str]) -> Iterator[str]:
    before, after = set(old), set(new)
    if before and (not after or after - before):
        yield f"{what} {', '.join(sorted(after)) or 'of any name'} would count, and did of {', '.join(sorted(before))}"


def _longer(what: str, old: timedelta | None, new: timedelta | None) -> Iterator[str]:
    if old is not None and (new is None or new > old):
        yield f"{what} counted for {duration_words(old)} and would for {duration_words(new) if new else 'ever'}"


_BODIES: Mapping[str, Callable[[Any, Any], Iterator[str]]] = MappingProxyType(
    {
        "require": _require,
        "approvals": _approvals,
        "evidence": _evidence,
        "soak": _soak,
        "bump": _bump,
        "withdrawn": _withdrawn,
        "freeze": _freeze,
    }
)
