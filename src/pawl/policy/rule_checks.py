"""What must hold of a rule beyond the type of each field, however it was read.

A rule that could never say no is worse than none: a glob that matches no name, a kind that does not exist and an
action that the rule's class is never asked about are all faults.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from pawl.ids import parse_channel
from pawl.policy.durations import parse_duration
from pawl.policy.globs import glob_fault
from pawl.policy.kinds.known import RULE_KINDS
from pawl.policy.rules import ACTIONS, PolicySource, Rule
from pawl.policy.skeletons import KNOWN_KINDS
from pawl.problems import Fault

_WORD = re.compile(r"[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?\Z")
_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z", re.ASCII)
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:[0-9]{2})\Z", re.ASCII
)
MAX_WORD = 128
MAX_WAIVER = timedelta(days=366)


def parse_moment(text: str) -> datetime:
    """Return a date (its 00:00 UTC) or an RFC 3339 time, in UTC; ``ValueError`` says what was expected."""
    if not _DATE.match(text) and not _TIME.match(text):
        raise ValueError(f"{text[:40]!r} is no date (2026-12-15) and no RFC 3339 time (2026-12-15T09:00:00Z)")
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            return moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{text[:40]!r} is no day of the calendar or no time of the day: {error}") from error


def head_faults(policy: str, owner: str) -> Iterator[Fault]:
    """Yield the faults of a policy's name and owner."""
    if len(policy) > MAX_WORD or not _WORD.match(policy):
        yield _invalid(f"policy: {policy[:80]!r} is not one lowercase word of a-z, 0-9, - and _", "policy")
    if len(owner) > MAX_WORD or not owner.strip() or not owner.isprintable():
        yield _invalid("owner: expected who keeps these rules, in one line", "owner")


def rule_faults(rule: Rule) -> Iterator[Fault]:
    """Yield the faults of one rule, placed in its document, without those of what it demands."""
    if len(rule.id) > MAX_WORD or not _ID.match(rule.id):
        yield _invalid(f"id: {rule.id[:80]!r} is not a word of letters, digits, -, _ and .", "id")
    if not rule.message.isprintable():
        yield _invalid("message: it holds characters that cannot be printed", "message")
    yield from _applies_faults(rule)
    yield from _kind_faults(rule)
    yield from _waiver_faults(rule)
    if rule.enforce_live and rule.rule_class != "safety":
        message = f"rule {rule.id} cannot have enforce_live: only safety rules hold for what is already live"
        hint = "make the rule's class safety, or leave enforce_live out"
        yield Fault(code="rule-enforce-live", message=message, at=("enforce_live",), hint=hint)
    asked = _asked(rule)
    kind = RULE_KINDS.get(rule.kind)
    about = kind.actions(rule.body) if kind else None
    if rule.applies.actions and about and not set(about) & set(rule.applies.actions):
        message = (
            f"rule {rule.id} can never apply: {rule.kind} is about {', '.join(about)}, "
            f"and its actions are {', '.join(rule.applies.actions)}"
        )
        yield Fault(code="rule-never-applies", message=message, at=("applies", "actions"))
    if rule.applies.actions and not asked & set(rule.applies.actions):
        message = (
            f"rule {rule.id} can never apply: as {_article(rule)} it is asked on {', '.join(sorted(asked))}, "
            f"and its actions are {', '.join(rule.applies.actions)}"
        )
        yield Fault(code="rule-never-applies", message=message, at=("applies", "actions"))


def _kind_faults(rule: Rule) -> Iterator[Fault]:
    """Yield what does not go with the kind of the rule: its class, its actions, ``enforce_live``."""
    kind = RULE_KINDS.get(rule.kind)
    if kind is None:
        return
    if rule.rule_class not in kind.classes:
        message = (
            f"rule {rule.id}: {rule.kind} is a matter of {' or '.join(kind.classes)}, and never holds a way back up"
        )
        yield Fault(code="rule-class", message=message, at=("class",), hint=f"class: {kind.classes[0]}")
    if rule.enforce_live and rule.rule_class == "safety" and not kind.live:
        message = f"rule {rule.id} cannot have enforce_live: {rule.kind} says nothing of what is live already"
        yield Fault(code="rule-enforce-live", message=message, at=("enforce_live",))
    asked = _asked(rule)
    for action in kind.actions(rule.body) or ():
        if action in ACTIONS and action not in asked:
            message = f"rule {rule.id} can never hold {action}: as {_article(rule)} it is not asked then"
            hint = "make the rule's class safety, or leave the action out"
            yield Fault(code="rule-never-applies", message=message, at=(rule.kind, "actions"), hint=hint)


def _waiver_faults(rule: Rule) -> Iterator[Fault]:
    terms = rule.waiver
    if terms is None:
        return
    if rule.level != "waivable":
        message = f"rule {rule.id} is {rule.level}, so it says nothing of waivers"
        yield Fault(code="rule-waiver", message=message, at=("waiver",), hint="level: waivable")
    for field, text in (("at_most", terms.at_most), ("break_glass", terms.break_glass)):
        if text is not None and (why := _length_fault(text)) is not None:
            yield _invalid(f"waiver.{field}: {why}", "waiver", field)
    for index, role in enumerate(terms.roles):
        if not role.strip() or not role.isprintable():
            yield _invalid("waiver.roles: expected the names of roles", "waiver", "roles", index)


def duplicate_faults(sources: Sequence[PolicySource]) -> tuple[tuple[int, Fault], ...]:
    """Return each name or id that an earlier source or rule has, with the index of the source it is in."""
    found: list[tuple[int, Fault]] = []
    names: set[str] = set()
    ids: dict[str, Rule] = {}
    for number, source in enumerate(sources):
        if source.name in names:
            message = f"another source is called {source.name} too: the name of a policy is there once"
            found.append((number, Fault(code="policy-duplicate", message=message, at=("policy",))))
        names.add(source.name)
        for index, rule in enumerate(source.rules):
            first = ids.setdefault(rule.id.casefold(), rule)
            if first is not rule:
                message = f"rule {rule.id} is there twice, first as {first.id} in policy {first.policy}"
                hint = "refusals, waivers and history name rules by id: give each its own"
                at = ("rules", index, "id")
                found.append((number, Fault(code="rule-duplicate", message=message, at=at, hint=hint)))
    return tuple(found)


def _applies_faults(rule: Rule) -> Iterator[Fault]:
    applies = rule.applies
    parts: tuple[tuple[str, tuple[str, ...], Callable[[str], str | None]], ...] = (
        ("kinds", applies.kinds, lambda kind: _unknown(kind, KNOWN_KINDS)),
        ("channels", applies.channels, _channel_fault),
        ("actions", applies.actions, lambda action: _unknown(action, ACTIONS)),
    )
    for part, values, wrong in parts:
        for index, value in enumerate(values):
            if (why := wrong(value)) is not None:
                yield _invalid(f"rule {rule.id} applies to {part}: {why}", "applies", part, index)
    for index, glob in enumerate(applies.names):
        if (why := glob_fault(glob)) is not None:
            message = f"rule {rule.id} applies to names: {glob[:80]!r} {why}"
            yield Fault(code="glob-invalid", message=message, at=("applies", "names", index))


def _asked(rule: Rule) -> frozenset[str]:
    """Return the actions on which a rule of this class is asked at all."""
    if rule.rule_class == "readiness":
        return frozenset({"promote"})
    return frozenset(ACTIONS) if rule.enforce_live else frozenset(ACTIONS) - {"resolve"}


def _article(rule: Rule) -> str:
    return f"a {rule.rule_class} rule" + (
        "" if rule.enforce_live or rule.rule_class != "safety" else " without enforce_live"
    )


def _length_fault(text: str) -> str | None:
    try:
        length = parse_duration(text)
    except ValueError as error:
        return str(error)
    return None if length.exact <= MAX_WAIVER else f"a waiver lasts {MAX_WAIVER.days} days at most"


def _unknown(word: str, known: Iterable[str]) -> str | None:
    return None if word in known else f"{word[:80]!r} is none of {', '.join(known)}"


def _channel_fault(channel: str) -> str | None:
    try:
        parse_channel(channel)
    except ValueError as error:
        return str(error)
    return None


def _invalid(message: str, *at: str | int) -> Fault:
    return Fault(code="policy-field-invalid", message=message, at=at)
